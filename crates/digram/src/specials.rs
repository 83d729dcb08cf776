//! Special tokens: finding their markers in a document and cutting them out.

use crate::{Error, Result};
use aho_corasick::{AhoCorasick, Input, MatchKind};
use hashbrown::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Finds any of a list of markers: the leftmost, and of those that begin there the longest. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct SpecialMatcher {
    /// `None` where there is no marker.
    automaton: Option<AhoCorasick>,
    /// For each distinct marker, its first index in the list given.
    which: Arc<[usize]>,
}

/// A stretch of a document between two cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// Text without markers, never empty.
    Text(Range<usize>),
    /// A marker, and its index in the list that the matcher was built from.
    Special(Range<usize>, usize),
}

impl SpecialMatcher {
    /// A matcher that finds nothing.
    pub fn none() -> Self {
        SpecialMatcher { automaton: None, which: Arc::new([]) }
    }

    /// A matcher of `markers`; of equal ones the first counts. [`Error::Argument`] for an empty marker.
    pub fn new<M: AsRef<[u8]>>(markers: &[M]) -> Result<Self> {
        let mut first = HashMap::new();
        let (mut distinct, mut which) = (Vec::new(), Vec::new());
        for (i, marker) in markers.iter().map(AsRef::as_ref).enumerate() {
            if marker.is_empty() {
                return Err(Error::Argument(format!("special token {i} is empty: give each special token a text")));
            }
            if first.insert(marker, i).is_none() {
                distinct.push(marker);
                which.push(i);
            }
        }
        if distinct.is_empty() {
            return Ok(Self::none());
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&distinct)
            .map_err(|e| Error::Argument(format!("the special tokens are too many or too long to search for: {e}")))?;
        Ok(SpecialMatcher { automaton: Some(automaton), which: which.into() })
    }

    /// Whether there is no marker to find.
    pub fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }

    /// The first marker in `document` that begins at or after byte `from`, and its index in the list given.
    pub fn find(&self, document: &[u8], from: usize) -> Option<(Range<usize>, usize)> {
        let automaton = self.automaton.as_ref()?;
        if from > document.len() {
            return None;
        }
        let found = automaton.find(Input::new(document).range(from..))?;
        Some((found.range(), self.which[found.pattern().as_usize()]))
    }

    /// Calls `each` with the stretches of `document` in order: markers, and the text between them. Joined they are the
    /// document. Returns the first error of `each`.
    pub fn for_each_stretch(&self, document: &[u8], mut each: impl FnMut(Stretch) -> Result<()>) -> Result<()> {
        let mut done = 0;
        while let Some((range, which)) = self.find(document, done) {
            if range.start > done {
                each(Stretch::Text(done..range.start))?;
            }
            done = range.end;
            each(Stretch::Special(range, which))?;
        }
        if done < document.len() {
            each(Stretch::Text(done..document.len()))?;
        }
        Ok(())
    }
}
