//! Text to pieces: a split pattern cuts each document, and merges never cross a piece.
//!
//! Patterns of known families are recognised by their exact text and served by hand-written scanners, whose time is
//! linear in the text whatever it holds; any other pattern goes to a general regex engine. In both cases the pieces,
//! joined, are the document: text that no alternative matches becomes pieces of its own, and so do bytes that are not
//! UTF-8.

mod general;
mod patterns;

pub use patterns::{CL100K, CL100K_CLASSIC, GPT2, GPT2_TIKTOKEN, NAMED, O200K, named};

use crate::Result;
use general::General;
use std::ops::Range;
use std::sync::Arc;

/// Cuts documents into pieces. Cloning is cheap, and clones may be used on many threads at once.
#[derive(Clone, Debug)]
pub struct Splitter {
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    None,
    General(Arc<General>),
}

impl Splitter {
    /// No pattern: a document is one piece.
    pub fn none() -> Self {
        Splitter { engine: Engine::None }
    }

    /// Cuts by `pattern`, any regular expression with Unicode classes, look-around, possessive quantifiers and
    /// back-references. [`Error::Pattern`](crate::Error::Pattern) says where it does not compile.
    pub fn new(pattern: &str) -> Result<Self> {
        let engine = Engine::General(Arc::new(General::new(pattern)?));
        Ok(Splitter { engine })
    }

    /// What does the work: `"none"`, `"scanner:gpt2"`, `"scanner:cl100k"`, `"scanner:cl100k-classic"`,
    /// `"scanner:o200k"` or `"regex"`.
    pub fn engine(&self) -> &'static str {
        match &self.engine {
            Engine::None => "none",
            Engine::General(_) => "regex",
        }
    }

    /// The pattern as given; `None` where there is none.
    pub fn pattern(&self) -> Option<&str> {
        match &self.engine {
            Engine::None => None,
            Engine::General(general) => Some(general.pattern()),
        }
    }

    /// Calls `each` with the byte range of every piece of `document`, in order; none is empty, and joined they are the
    /// document.
    ///
    /// Bytes that are not UTF-8 are allowed: each longest stretch of bytes outside any well-formed character is a piece
    /// of its own, and the text between is split by itself, as a text with its own beginning and end.
    ///
    /// Returns the first error of `each`, or [`Error::Backtracking`](crate::Error::Backtracking) where a pattern without
    /// a scanner needs more steps than the engine allows; the scanners have no such limit.
    pub fn for_each_piece(&self, document: &[u8], each: impl FnMut(Range<usize>) -> Result<()>) -> Result<()> {
        self.for_each_piece_within(document, 0..document.len(), each)
    }

    /// As [`for_each_piece`](Self::for_each_piece), for the bytes `stretch` of `document` alone, as a text with its own
    /// beginning and end; the ranges and the place in an error are those of the document. Panics if `stretch` is not
    /// inside `document`, as a slice does.
    pub fn for_each_piece_within(
        &self,
        document: &[u8],
        stretch: Range<usize>,
        mut each: impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let mut at = stretch.start;
        let document = &document[stretch];
        if let Ok(text) = std::str::from_utf8(document) {
            return self.split_text(text, at, &mut each);
        }
        let mut ill_formed: Option<Range<usize>> = None;
        for chunk in document.utf8_chunks() {
            if !chunk.valid().is_empty() {
                if let Some(range) = ill_formed.take() {
                    each(range)?;
                }
                self.split_text(chunk.valid(), at, &mut each)?;
                at += chunk.valid().len();
            }
            let end = at + chunk.invalid().len();
            if end > at {
                ill_formed.get_or_insert(at..end).end = end;
            }
            at = end;
        }
        ill_formed.map_or(Ok(()), each)
    }

    /// The pieces of one well-formed text that begins at byte `base` of its document.
    fn split_text(&self, text: &str, base: usize, each: &mut impl FnMut(Range<usize>) -> Result<()>) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        match &self.engine {
            Engine::None => each(base..base + text.len()),
            Engine::General(general) => general.split(text, base, each),
        }
    }
}
