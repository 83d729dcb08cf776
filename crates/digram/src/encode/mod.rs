//! Documents -> ids: special tokens that the caller trusts are cut out, the rest is split, each piece is merged.

mod batch;
mod decode;

pub use batch::{Batch, RUN, work_of};

use crate::error::{Error, Place, Result};
use crate::merge::{Scratch, merge_symbols_until};
use crate::specials::{SpecialMatcher, Stretch};
use crate::split::Splitter;
use crate::vocabulary::{Special, Vocabulary};
use hashbrown::HashMap;

/// A frozen tokenizer: vocabulary, split pattern, special tokens. Share it between threads freely.
#[derive(Debug)]
pub struct Encoder {
    vocabulary: Vocabulary,
    splitter: Splitter,
    /// Marker -> id.
    specials: HashMap<String, u32>,
    /// All markers.
    all: Allowed,
}

/// Special tokens that a call lets through: what finds them, and their ids.
#[derive(Clone, Debug)]
pub struct Allowed {
    matcher: SpecialMatcher,
    ids: Vec<u32>,
}

/// What a call does with special tokens in the text. By default all text is ordinary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Markers that become their ids; the longest wins.
    pub allowed: Option<&'a Allowed>,
    /// Markers that are an error.
    pub disallowed: Option<&'a SpecialMatcher>,
}

/// How many bytes of pieces are encoded between two looks at whether to stop.
const BETWEEN_STOPS: usize = 1 << 20;

impl Encoder {
    /// Puts a tokenizer together. `specials` are the ones that the vocabulary was built with.
    ///
    /// # Errors
    /// `Vocabulary` where a marker is given two ids.
    pub fn new(vocabulary: Vocabulary, splitter: Splitter, specials: &[Special]) -> Result<Self> {
        let mut by_marker = HashMap::new();
        for (marker, id) in specials {
            if by_marker.insert(marker.clone(), *id).is_some_and(|other| other != *id) {
                return Err(Error::Vocabulary(format!("the special token {marker:?} is given two ids")));
            }
        }
        let all = Allowed::of(by_marker.iter().map(|(marker, id)| (marker.as_str(), *id)))?;
        Ok(Self { vocabulary, splitter, specials: by_marker, all })
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The splitter.
    pub fn splitter(&self) -> &Splitter {
        &self.splitter
    }

    /// All special tokens, to be allowed.
    pub fn all_specials(&self) -> &Allowed {
        &self.all
    }

    /// Some special tokens, to be allowed.
    ///
    /// # Errors
    /// `Argument`, naming a marker that is no special token of this vocabulary.
    pub fn some_specials(&self, markers: &[&str]) -> Result<Allowed> {
        let ids: Result<Vec<_>> = markers
            .iter()
            .map(|&marker| match self.specials.get(marker) {
                Some(&id) => Ok((marker, id)),
                None => Err(Error::Argument(format!(
                    "{marker:?} is not a special token of this vocabulary, so it cannot be allowed"
                ))),
            })
            .collect();
        Allowed::of(ids?.into_iter())
    }

    /// Appends the ids of `document` to `out`.
    ///
    /// # Errors
    /// `UnknownCharacter`, `UnknownByte`, `DisallowedSpecial`, `Backtracking`, with the place in bytes of the document;
    /// `Interrupted` once `stop` returns true. `out` may then hold some ids.
    pub fn encode(&self, document: &[u8], options: Options, out: &mut Vec<u32>, stop: &dyn Fn() -> bool) -> Result<()> {
        let mut pieces = Pieces::new(self, document, stop);
        self.for_each_part(document, options, |part| match part {
            Part::Special(id) => {
                out.push(id);
                Ok(())
            }
            Part::Piece(piece) => pieces.append(piece, out),
        })
    }

    /// The number of ids of `document`, without a list of them.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn count(&self, document: &[u8], options: Options, stop: &dyn Fn() -> bool) -> Result<u64> {
        let mut pieces = Pieces::new(self, document, stop);
        let (mut count, mut ids) = (0, Vec::new());
        self.for_each_part(document, options, |part| {
            match part {
                Part::Special(_) => count += 1,
                Part::Piece(piece) => {
                    ids.clear();
                    pieces.append(piece, &mut ids)?;
                    count += ids.len() as u64;
                }
            }
            Ok(())
        })?;
        Ok(count)
    }

    /// Cuts a document into allowed special tokens and pieces.
    fn for_each_part(&self, document: &[u8], options: Options, mut each: impl FnMut(Part) -> Result<()>) -> Result<()> {
        if let Some((place, _)) = options.disallowed.and_then(|markers| markers.find(document, 0)) {
            let marker = String::from_utf8_lossy(&document[place.clone()]).into_owned();
            return Err(Error::DisallowedSpecial { marker, place: Place::Byte(place.start) });
        }
        let Some(allowed) = options.allowed else {
            return self.splitter.for_each_piece(document, |piece| each(Part::Piece(piece)));
        };
        allowed.matcher.for_each_stretch(document, |stretch| match stretch {
            Stretch::Special(_, which) => each(Part::Special(allowed.ids[which])),
            Stretch::Text(text) => {
                self.splitter.for_each_piece_within(document, text, |piece| each(Part::Piece(piece)))
            }
        })
    }
}

impl Allowed {
    fn of<'a>(specials: impl Iterator<Item = (&'a str, u32)>) -> Result<Self> {
        let (markers, ids): (Vec<_>, Vec<_>) = specials.unzip();
        Ok(Self { matcher: SpecialMatcher::new(&markers)?, ids })
    }
}

enum Part {
    Special(u32),
    Piece(std::ops::Range<usize>),
}

/// Encodes the pieces of one document.
struct Pieces<'a> {
    vocabulary: &'a Vocabulary,
    document: &'a [u8],
    scratch: Scratch,
    stop: &'a dyn Fn() -> bool,
    /// Bytes until the next look at `stop`.
    left: usize,
    /// Bytes between two looks: none where a piece may take time that grows with the text.
    between: usize,
}

impl<'a> Pieces<'a> {
    fn new(encoder: &'a Encoder, document: &'a [u8], stop: &'a dyn Fn() -> bool) -> Self {
        let between = if encoder.splitter.may_be_slow() { 0 } else { BETWEEN_STOPS };
        Self { vocabulary: &encoder.vocabulary, document, scratch: Scratch::default(), stop, left: between, between }
    }

    fn append(&mut self, piece: std::ops::Range<usize>, out: &mut Vec<u32>) -> Result<()> {
        self.left = self.left.saturating_sub(piece.len());
        if self.left == 0 {
            self.left = self.between;
            if (self.stop)() {
                return Err(Error::Interrupted);
            }
        }
        let (bytes, offset, from) = (&self.document[piece.clone()], piece.start, out.len());
        if let Some(id) = self.vocabulary.whole_piece(bytes) {
            out.push(id);
            return Ok(());
        }
        self.vocabulary.append_symbols(bytes, offset, out)?;
        merge_symbols_until(self.vocabulary, out, from, &mut self.scratch, self.stop)
    }
}
