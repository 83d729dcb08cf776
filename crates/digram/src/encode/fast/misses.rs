//! Pieces that have no entry in the cache: merged together, kept, and put where they are missing.

use super::blocks::Pieces;
use super::ids::{Appended, Ids};
use super::key::{Key, LONGEST};
use super::unsplit::Unsplit;
use crate::Result;
use crate::merge::{Rules, SIDE_BY_SIDE, merge_symbols_until};
use std::mem::replace;
use std::ops::Range;

/// Parts of a long piece that are looked for together.
const AT_ONCE: usize = 32;

/// What pieces are.
#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    /// Of the split: taken whole where they are tokens.
    Piece,
    /// Of a piece that was cut where no merge joins: merged, whatever they spell.
    Part,
    /// Of a text without a split, in which spaces stand for another character.
    Unsplit(&'a Unsplit),
}

/// A piece that has no entry.
pub(in crate::encode) struct Miss {
    key: Key,
    /// Where it is in its text.
    piece: Range<usize>,
    /// Before which id its own are missing.
    pub(super) gap: usize,
    /// Where its symbols are, and its ids when they are merged.
    pub(super) made: Range<usize>,
    /// Whether it is still to be merged.
    waits: bool,
}

impl Miss {
    #[inline]
    pub(super) fn new(key: Key, piece: Range<usize>, gap: usize) -> Self {
        Self { key, piece, gap, made: 0..0, waits: false }
    }
}

impl Pieces<'_> {
    /// The ids of the pieces of a text that had no entry, to their places. The text begins at byte `base` of its document.
    pub(super) fn settle(&mut self, text: &[u8], base: usize, kind: Kind, ids: &mut impl Ids) -> Result<()> {
        let room = self.room.get();
        if room.misses.is_empty() {
            return Ok(());
        }
        // Pieces within pieces come here meanwhile.
        let (inner, mut made) = room.spare.pop().unwrap_or_default();
        let mut misses = replace(&mut room.misses, inner);
        let result = self.make(text, base, kind, &mut misses, &mut made);
        if result.is_ok() {
            ids.fill(&misses, &made);
        }
        misses.clear();
        made.clear();
        let room = self.room.get();
        let mut inner = replace(&mut room.misses, misses);
        inner.clear(); // of what was stopped in between
        room.spare.push((inner, made));
        result
    }

    /// Makes the ids of `misses`, each at its place in `made`, and keeps them.
    fn make(&mut self, text: &[u8], base: usize, kind: Kind, misses: &mut [Miss], made: &mut Vec<u32>) -> Result<()> {
        for miss in &mut *misses {
            let start = made.len();
            if miss.piece.len() <= LONGEST {
                self.begin(text, base, kind, miss, made)?;
            } else {
                self.append_long(text, miss.piece.clone(), base, kind, made)?;
            }
            miss.made = start..made.len();
        }
        let room = self.room.get();
        if let Some(ranks) = self.vocabulary.ranks() {
            room.lanes.merge(ranks, made, misses, |miss| miss.waits.then_some(&mut miss.made));
        }
        for miss in misses.iter().filter(|miss| miss.key.may_have_an_entry()) {
            room.cache.insert(miss.key, &text[miss.piece.clone()], &made[miss.made.clone()]);
        }
        Ok(())
    }

    /// The symbols of a short piece, to be merged with those of others; or its ids, where that is not how it goes.
    fn begin(&mut self, text: &[u8], base: usize, kind: Kind, miss: &mut Miss, made: &mut Vec<u32>) -> Result<()> {
        let (from, offset, piece) = (made.len(), base + miss.piece.start, &text[miss.piece.clone()]);
        match kind {
            Kind::Piece | Kind::Part => {
                if matches!(kind, Kind::Piece)
                    && let Some(id) = self.vocabulary.odd_piece(piece)
                {
                    made.push(id);
                    return Ok(());
                }
                self.vocabulary.append_symbols(piece, offset, made)?;
            }
            Kind::Unsplit(unsplit) => {
                let written = &mut self.room.get().written;
                unsplit.write(piece, written);
                self.vocabulary.append_symbols(written, offset, made)?;
            }
        }
        miss.waits = self.vocabulary.ranks().is_some() && made.len() - from <= SIDE_BY_SIDE;
        if !miss.waits {
            self.merge(made, from)?;
        }
        Ok(())
    }

    /// Merges `symbols[from..]` by themselves, in place.
    pub(in crate::encode) fn merge(&mut self, symbols: &mut Vec<u32>, from: usize) -> Result<()> {
        merge_symbols_until(self.vocabulary, symbols, from, &mut self.room.get().scratch, self.stop)
    }

    /// The ids of a piece or part of any length, by itself.
    fn append_long(
        &mut self,
        text: &[u8],
        piece: Range<usize>,
        base: usize,
        kind: Kind,
        made: &mut Vec<u32>,
    ) -> Result<()> {
        let (bytes, from) = (&text[piece.clone()], made.len());
        match kind {
            Kind::Piece => match self.vocabulary.whole_piece(bytes) {
                Some(id) => made.push(id),
                None => self.append_parts(text, piece.clone(), base, made)?,
            },
            Kind::Part => {
                self.vocabulary.append_symbols(bytes, base + piece.start, made)?;
                self.merge(made, from)?;
            }
            Kind::Unsplit(unsplit) => {
                let written = &mut self.room.get().written;
                unsplit.write(bytes, written);
                self.vocabulary.append_symbols(written, base + piece.start, made)?;
                self.merge(made, from)?;
            }
        }
        Ok(())
    }

    /// The ids of a long piece that is no token: it is cut where no merge joins two characters (see [`Joints`]).
    ///
    /// [`Joints`]: crate::vocabulary::Joints
    fn append_parts(&mut self, text: &[u8], piece: Range<usize>, base: usize, made: &mut Vec<u32>) -> Result<()> {
        let joints = self.vocabulary.joints();
        let (bytes, base) = (&text[piece.clone()], base + piece.start);
        let (mut cuts, mut ends, mut start) = (joints.cuts(bytes, 0), [0; AT_ONCE], 0);
        while start < bytes.len() {
            let count = ends.iter_mut().zip(&mut cuts).map(|(end, cut)| *end = cut).count();
            self.append_ends(bytes, start, &ends[..count], base, Kind::Part, &mut Appended(made))?;
            start = ends[count - 1];
        }
        self.settle(bytes, base, Kind::Part, &mut Appended(made))
    }
}
