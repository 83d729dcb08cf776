//! The engine of digram: byte-pair encoding over bytes or characters, exact by specification.
//!
//! Text goes through four rooms, and each knows only the ones before it:
//! [`split`] cuts a document into pieces, [`count`] counts them, [`train`] learns merges from the counts,
//! [`vocabulary`] holds what was learnt and [`encode`] applies it. Where a vocabulary's text is changed on the way, `align`
//! keeps what it came from. Nothing here knows Python or a file format.

mod align;
pub mod count;
pub mod encode;
pub mod error;
pub mod merge;
pub mod normalize;
mod pages;
mod prefetch;
pub mod specials;
pub mod split;
pub mod text;
pub mod train;
pub mod vocabulary;

pub use error::{Error, Result};
