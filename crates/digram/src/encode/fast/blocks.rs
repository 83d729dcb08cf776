//! The pieces of a text, block by block.

use super::super::{BETWEEN_STOPS, Encoder};
use super::ids::{Appended, Ids};
use super::line::Hit;
use super::misses::{Kind, Miss};
use super::room::Room;
use super::spare::Lent;
use super::view::BLOCK;
use crate::split::Splitter;
use crate::vocabulary::Vocabulary;
use crate::{Error, Result};
use std::mem::MaybeUninit;

/// Pieces without an entry that are merged together: so many that waiting for memory is shared. A piece that comes again
/// among them is merged again.
const ENOUGH: usize = 32;

/// Encodes the pieces of one document.
pub(in crate::encode) struct Pieces<'a> {
    pub(in crate::encode) vocabulary: &'a Vocabulary,
    splitter: &'a Splitter,
    pub(super) room: Lent<'a>,
    pub(in crate::encode) stop: &'a dyn Fn() -> bool,
    /// Bytes until the next look at `stop`.
    left: usize,
    /// Bytes between two looks: none where a piece may take time that grows with the text.
    between: usize,
}

impl<'a> Pieces<'a> {
    pub(in crate::encode) fn new(encoder: &'a Encoder, stop: &'a dyn Fn() -> bool) -> Self {
        let between = if encoder.splitter.may_be_slow() { 0 } else { BETWEEN_STOPS };
        Self {
            vocabulary: &encoder.vocabulary,
            splitter: &encoder.splitter,
            room: Lent::of(&encoder.spare),
            stop,
            left: between,
            between,
        }
    }

    /// Asks now and then whether to stop, before pieces of so many bytes.
    pub(in crate::encode) fn look(&mut self, bytes: usize) -> Result<()> {
        self.left = self.left.saturating_sub(bytes);
        if self.left == 0 {
            self.left = self.between;
            if (self.stop)() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    /// The ids of a piece that begins at byte `offset` of its document, onto the end of `out`.
    pub(in crate::encode) fn append(&mut self, piece: &[u8], offset: usize, out: &mut Vec<u32>) -> Result<()> {
        self.append_piece(piece, offset, &mut Appended(out))
    }

    /// The same, to wherever ids go.
    pub(in crate::encode) fn append_piece(&mut self, piece: &[u8], offset: usize, ids: &mut impl Ids) -> Result<()> {
        match piece.len() {
            0 => self.look(0),
            end => {
                self.append_ends(piece, 0, &[end], offset, Kind::Piece, ids)?;
                self.settle(piece, offset, Kind::Piece, ids)
            }
        }
    }

    /// The ids of a text that begins at byte `base` of its document, and is split by a scanner.
    pub(in crate::encode) fn append_text(&mut self, text: &str, base: usize, ids: &mut impl Ids) -> Result<()> {
        let text = text.as_bytes();
        ids.expect(text.len());
        let mut ends = std::mem::take(&mut self.room.get().ends);
        let mut at = 0;
        while at < text.len() {
            ends.clear();
            self.splitter.next_ends(text, at, &mut ends);
            self.append_ends(text, at, &ends, base, Kind::Piece, ids)?;
            at = ends[ends.len() - 1];
        }
        self.room.get().ends = ends;
        self.settle(text, base, Kind::Piece, ids)
    }

    /// The ids of the pieces or parts that begin at byte `start` of a text and have these ends, some hundreds: those
    /// under their keys. Those of the ones that are not there come as soon as they are some, or when [`Self::settle`]
    /// is called, which must be before another text.
    #[inline]
    pub(super) fn append_ends<I: Ids>(
        &mut self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        base: usize,
        kind: Kind,
        ids: &mut I,
    ) -> Result<()> {
        let Some(&end) = ends.last() else { return Ok(()) };
        self.look(end - start)?;
        let apart = !matches!(kind, Kind::Piece) && self.vocabulary.has_odd_pieces();
        let room = self.room.get();
        let mut from = start;
        for block in ends.chunks(BLOCK) {
            if apart {
                room.append_block::<I, true>(text, from, block, ids);
            } else {
                room.append_block::<I, false>(text, from, block, ids);
            }
            from = block[block.len() - 1];
        }
        for key in room.far.wanted.drain(..) {
            room.cache.bring_near(key);
        }
        if room.misses.len() < ENOUGH { Ok(()) } else { self.settle(text, base, kind, ids) }
    }
}

impl Room {
    /// The ids of a block at most of pieces, as far as they have entries: of parts, where these have entries of their own.
    #[inline]
    fn append_block<I: Ids, const PARTS: bool>(&mut self, text: &[u8], start: usize, ends: &[usize], ids: &mut I) {
        let cache = self.cache.view();
        let mut room = [MaybeUninit::uninit(); BLOCK];
        let asked = cache.ask::<PARTS>(text, start, ends, &mut room);
        let mut at = 0;
        for (i, &(key, line)) in asked.iter().enumerate() {
            let piece = || if i == 0 { start } else { ends[i - 1] }..ends[i];
            let many = match cache.get(key, line, &mut self.far) {
                Some(Hit::Few(few, first, count)) => {
                    at = ids.few(at, few, first, count);
                    continue;
                }
                Some(Hit::Apart(place, count)) => cache.apart(key, place, count, &text[piece()]),
                None => None,
            };
            match many {
                Some(many) => at = ids.many(at, many),
                None => self.misses.push(Miss::new(key, piece(), ids.gap(at))),
            }
        }
        ids.end_block(at);
    }
}
