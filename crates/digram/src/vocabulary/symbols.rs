//! Base symbols: how a piece begins, before anything is merged.

use super::{NONE, Unknown};
use crate::error::Place;
use crate::{Error, Result};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::ops::Range;

/// The code points of the Basic Multilingual Plane.
pub(super) const BASIC: usize = 1 << 16;

/// What stands in for a symbol that has no token: its bytes' tokens where all of them are there, else one token, else
/// nothing, which is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fallback {
    /// The token of each byte; `u32::MAX` where there is none.
    pub bytes: Option<Box<[u32; 256]>>,
    /// The unknown token.
    pub token: Option<u32>,
    /// Whether a run of unknown symbols is one unknown token.
    pub fuse: bool,
}

impl From<Unknown> for Fallback {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Error => Self::default(),
            Unknown::Token(id) => Self { token: Some(id), ..Self::default() },
            Unknown::Bytes(ids) => Self { bytes: Some(ids), ..Self::default() },
        }
    }
}

#[derive(Debug)]
pub(super) enum Symbols {
    /// Byte -> id, `NONE` where the vocabulary lacks the byte.
    Bytes(Box<[u32; 256]>, Fallback),
    Characters(Characters, Fallback),
}

/// Characters and their ids.
#[derive(Debug, Default)]
pub(super) struct Characters {
    /// By code point, those of the Basic Multilingual Plane up to the highest that has an id; `NONE` for the others.
    basic: Vec<u32>,
    others: HashMap<char, u32, FixedState>,
}

impl Characters {
    pub(super) fn insert(&mut self, character: char, id: u32) {
        let code = character as usize;
        if code >= BASIC {
            self.others.insert(character, id);
            return;
        }
        if code >= self.basic.len() {
            self.basic.resize(code + 1, NONE);
        }
        self.basic[code] = id;
    }

    /// The id of a character, or `NONE`.
    #[inline]
    fn get(&self, character: char) -> u32 {
        match self.basic.get(character as usize) {
            Some(&id) => id,
            None => self.others.get(&character).copied().unwrap_or(NONE),
        }
    }

    /// The characters with an id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (char, u32)> {
        let basic = (0..).zip(&self.basic).filter_map(|(code, &id)| Some((char::from_u32(code)?, id)));
        basic.chain(self.others.iter().map(|(&character, &id)| (character, id))).filter(|&(_, id)| id != NONE)
    }
}

impl FromIterator<(char, u32)> for Characters {
    /// Of a repeated character the last id counts.
    fn from_iter<I: IntoIterator<Item = (char, u32)>>(all: I) -> Self {
        let mut characters = Self::default();
        all.into_iter().for_each(|(character, id)| characters.insert(character, id));
        characters
    }
}

/// A symbol that stands in for text that has no token: its place in the list of symbols, and the bytes of the piece.
pub(crate) type StandIn = (usize, Range<usize>);

/// Appends symbols; unknown ones wait until it is known whether their run goes on.
struct Unknowns<'a, F> {
    fallback: &'a Fallback,
    waiting: Option<(u32, Range<usize>)>,
    stands_in: F,
}

impl<F: FnMut(StandIn)> Unknowns<'_, F> {
    fn known(&mut self, id: u32, out: &mut Vec<u32>) {
        self.end_run(out);
        out.push(id);
    }

    fn end_run(&mut self, out: &mut Vec<u32>) {
        if let Some((token, range)) = self.waiting.take() {
            (self.stands_in)((out.len(), range));
            out.push(token);
        }
    }

    /// The symbol `bytes`, `at` bytes into its piece. False where nothing stands in.
    fn unknown(&mut self, bytes: &[u8], at: usize, out: &mut Vec<u32>) -> bool {
        if let Some(ids) = &self.fallback.bytes
            && bytes.iter().all(|&byte| ids[usize::from(byte)] != NONE)
        {
            // What waits goes on waiting, as in tokenizers: it matters only where some byte tokens are missing.
            for (i, &byte) in bytes.iter().enumerate() {
                (self.stands_in)((out.len(), at + i..at + i + 1));
                out.push(ids[usize::from(byte)]);
            }
            return true;
        }
        let Some(token) = self.fallback.token else {
            return false;
        };
        if !self.fallback.fuse {
            self.end_run(out);
        }
        let start = self.waiting.take().map_or(at, |(_, range)| range.start);
        self.waiting = Some((token, start..at + bytes.len()));
        true
    }
}

impl Symbols {
    /// What stands in for a symbol that has no token.
    pub(super) fn fallback(&self) -> &Fallback {
        match self {
            Self::Bytes(_, fallback) | Self::Characters(_, fallback) => fallback,
        }
    }

    /// Appends the base symbols of `piece`, which starts at byte `offset` of its document; tells `stands_in` of those that
    /// are not the text they stand for.
    pub(super) fn append(
        &self,
        piece: &[u8],
        offset: usize,
        out: &mut Vec<u32>,
        stands_in: impl FnMut(StandIn),
    ) -> Result<()> {
        match self {
            Self::Bytes(ids, fallback) => {
                let from = out.len();
                out.extend(piece.iter().map(|&byte| ids[byte as usize]));
                let Some(first) = out[from..].iter().position(|&id| id == NONE) else {
                    return Ok(());
                };
                out.truncate(from + first);
                let mut unknowns = Unknowns { fallback, waiting: None, stands_in };
                for (i, &byte) in piece.iter().enumerate().skip(first) {
                    match ids[byte as usize] {
                        NONE if unknowns.unknown(&[byte], i, out) => {}
                        NONE => return Err(Error::UnknownByte { byte, place: Place::Byte(offset + i) }),
                        id => unknowns.known(id, out),
                    }
                }
                unknowns.end_run(out);
                Ok(())
            }
            Self::Characters(characters, unknown) => {
                let mut unknowns = Unknowns { fallback: unknown, waiting: None, stands_in };
                let mut at = 0;
                for chunk in piece.utf8_chunks() {
                    for symbol in chunk.valid().chars() {
                        let bytes = &mut [0; 4];
                        match characters.get(symbol) {
                            NONE if unknowns.unknown(symbol.encode_utf8(bytes).as_bytes(), at, out) => {}
                            NONE => {
                                let place = Place::Byte(offset + at);
                                return Err(Error::UnknownCharacter { symbol, place });
                            }
                            id => unknowns.known(id, out),
                        }
                        at += symbol.len_utf8();
                    }
                    // Bytes outside any character: each is one unknown symbol.
                    for &byte in chunk.invalid() {
                        if !unknowns.unknown(&[byte], at, out) {
                            return Err(Error::UnknownByte { byte, place: Place::Byte(offset + at) });
                        }
                        at += 1;
                    }
                }
                unknowns.end_run(out);
                Ok(())
            }
        }
    }
}
