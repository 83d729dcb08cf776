//! What the tests of splitting share.

mod pieces;

use digram::split::Splitter;
pub use pieces::pieces;

/// The pieces of a text, as text.
pub fn strings<'a>(splitter: &Splitter, text: &'a str) -> Vec<&'a str> {
    pieces(splitter, text.as_bytes()).unwrap().into_iter().map(|piece| &text[piece]).collect()
}
