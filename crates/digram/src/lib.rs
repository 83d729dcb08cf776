//! The engine of digram: byte-pair encoding over bytes or characters, exact by specification.
//!
//! Text goes through four rooms, and each knows only the ones before it:
//! [`split`] cuts a document into pieces, [`count`] counts them, [`train`] learns merges from the counts,
//! [`vocabulary`] holds what was learnt and [`encode`] applies it. Nothing here knows Python or a file format.

pub mod count;
pub mod error;
pub mod train;

pub use error::{Error, Result};
