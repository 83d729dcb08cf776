//! Pieces to ids at speed: in blocks, through a cache.
//!
//! Nearly all pieces of a text are ones that stood in it before. So each piece of up to 15 bytes is looked for in a
//! [`cache`], which holds its ids, whatever way they were found; what is not there is looked up among the tokens, else
//! merged, and kept. Pieces come some hundreds at a time from the splitter: all their cache lines are asked for before the
//! first one is looked at.
//!
//! A text that nothing splits, and a piece that is too long for an entry, is cut into [`parts`] where no merge can join
//! them ([`unsplit`]).
//!
//! A cache is lent to one call at a time by the tokenizer's [`spare`] ones, so no thread waits for another. What a cache holds
//! never shows: ids depend on the piece alone.

mod blocks;
mod cache;
mod long;
pub(super) mod pages;
mod parts;
mod spare;
mod unsplit;

pub(super) use blocks::{Counted, Ids, Listed, Pieces};
pub(super) use spare::Spare;
pub(super) use unsplit::Unsplit;

#[cfg(test)]
mod tests;
