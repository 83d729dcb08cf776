//! Pieces to ids at speed: in blocks, through a cache.
//!
//! Nearly all pieces of a text are ones that stood in it before. So each piece of up to 255 bytes is looked for in a
//! [`cache`], which holds its ids, whatever way they were found; what is not there is merged, and kept. Pieces come
//! some hundreds at a time from the splitter: the cache lines of a block are asked for before the first one is looked
//! at, and the [`misses`] of all are merged together.
//!
//! A text that nothing splits, and a piece that is too long for an entry, is cut into [`parts`] where no merge can join
//! them ([`unsplit`]).
//!
//! A cache is lent to one call at a time by the tokenizer's [`spare`] ones, so no thread waits for another. What a cache holds
//! never shows: ids depend on the piece alone.

mod apart;
mod blocks;
mod cache;
mod ids;
mod key;
mod line;
mod misses;
mod parts;
mod room;
mod spare;
mod unsplit;
mod view;

use crate::pages;

pub(super) use blocks::Pieces;
pub(super) use ids::{Appended, Counted, Ids, Listed};
pub(super) use spare::Spare;
pub(super) use unsplit::Unsplit;

#[cfg(test)]
mod tests;
