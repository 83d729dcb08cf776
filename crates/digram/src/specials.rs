//! Special tokens: finding their markers in a document and cutting them out.

use crate::error::Place;
use crate::{Error, Result};
use aho_corasick::{AhoCorasick, Input, MatchKind};
use daachorse::{DoubleArrayAhoCorasick, DoubleArrayAhoCorasickBuilder};
use hashbrown::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Finds any of a list of markers: the leftmost, and of those that begin there the longest. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct SpecialMatcher {
    /// `None` where there is no marker.
    automaton: Option<Automaton>,
    /// For each distinct marker, its first index in the list given.
    which: Arc<[usize]>,
    /// The distinct markers in order.
    sorted: Arc<[Box<[u8]>]>,
    /// The length of the longest one, in bytes.
    longest: usize,
}

/// The error for a marker that stands at `place` where it must not.
pub(crate) fn disallowed(document: &[u8], place: Range<usize>) -> Error {
    let marker = String::from_utf8_lossy(&document[place.clone()]).into_owned();
    Error::DisallowedSpecial { marker, place: Place::Byte(place.start) }
}

/// More markers than this go to the automaton for many.
const FEW: usize = 256;

/// And so do markers of which one has more bytes than this; that of no published vocabulary has half of it.
const SHORT: usize = 64;

/// For few and short markers the one with vectorised search. To build it takes time with the square of their number
/// (100,000 take five seconds), and of the length of a marker that repeats itself (100,000 times "x" take minutes); the
/// other takes a tenth of a second, and scans four times slower.
#[derive(Clone)]
enum Automaton {
    Few(AhoCorasick),
    Many(Arc<DoubleArrayAhoCorasick<u32>>),
}

impl Automaton {
    fn new(markers: &[&[u8]]) -> std::result::Result<Self, String> {
        if markers.len() <= FEW && markers.iter().all(|marker| marker.len() <= SHORT) {
            let builder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(markers);
            builder.map(Self::Few).map_err(|error| error.to_string())
        } else {
            let builder = DoubleArrayAhoCorasickBuilder::new().match_kind(daachorse::MatchKind::LeftmostLongest);
            builder.build(markers).map(|automaton| Self::Many(Arc::new(automaton))).map_err(|error| error.to_string())
        }
    }

    fn find(&self, document: &[u8], from: usize) -> Option<(Range<usize>, usize)> {
        match self {
            Self::Few(automaton) => {
                let found = automaton.find(Input::new(document).range(from..))?;
                Some((found.range(), found.pattern().as_usize()))
            }
            Self::Many(automaton) => {
                let found = automaton.leftmost_find_iter(&document[from..]).next()?;
                Some((from + found.start()..from + found.end(), found.value() as usize))
            }
        }
    }
}

impl std::fmt::Debug for Automaton {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Few(_) => "Few",
            Self::Many(_) => "Many",
        })
    }
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
        SpecialMatcher { automaton: None, which: Arc::new([]), sorted: Arc::new([]), longest: 0 }
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
        let automaton = Automaton::new(&distinct)
            .map_err(|e| Error::Argument(format!("the special tokens are too many or too long to search for: {e}")))?;
        distinct.sort_unstable();
        let longest = distinct.iter().map(|marker| marker.len()).max().unwrap_or(0);
        let sorted = distinct.into_iter().map(Box::from).collect();
        Ok(SpecialMatcher { automaton: Some(automaton), which: which.into(), sorted, longest })
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
        let (range, found) = automaton.find(document, from)?;
        Some((range, self.which[found]))
    }

    /// [`Error::DisallowedSpecial`] where a marker is in `document`.
    pub fn refuse(&self, document: &[u8]) -> Result<()> {
        self.find(document, 0).map_or(Ok(()), |(place, _)| Err(disallowed(document, place)))
    }

    /// The length of the longest marker in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Whether all markers are UTF-8: then none begins or ends within a character.
    pub(crate) fn is_text(&self) -> bool {
        self.sorted.iter().all(|marker| std::str::from_utf8(marker).is_ok())
    }

    /// The first place at or after byte `from` where a marker may begin that goes on behind the end of `document`: there the
    /// rest is the beginning of one, and shorter. The end of `document` where there is none.
    pub fn may_begin(&self, document: &[u8], from: usize) -> usize {
        let first = from.max((document.len() + 1).saturating_sub(self.longest));
        let begins = |&at: &usize| {
            let rest = &document[at..];
            // The markers that begin with `rest` follow it in order, and it itself comes first among them.
            let next = self.sorted.partition_point(|marker| **marker <= *rest);
            self.sorted.get(next).is_some_and(|marker| marker.starts_with(rest))
        };
        (first..document.len()).find(begins).unwrap_or(document.len())
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
