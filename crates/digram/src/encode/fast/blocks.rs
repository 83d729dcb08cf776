//! The pieces of a text, block by block.

use super::super::{BETWEEN_STOPS, Encoder};
use super::cache::{FEW, Hit, Key, LONGEST};
use super::pages;
use super::spare::Lent;
use crate::merge::{Scratch, merge_symbols_until};
use crate::split::Splitter;
use crate::vocabulary::Vocabulary;
use crate::{Error, Result};
use std::ops::Range;

/// Pieces whose cache lines are asked for before the first is looked at.
const BLOCK: usize = 64;

/// Text that an id mostly stands for: room is made for ids accordingly.
const BYTES_PER_ID: usize = 4;

/// Encodes the pieces of one document.
pub(in crate::encode) struct Pieces<'a> {
    pub(in crate::encode) vocabulary: &'a Vocabulary,
    splitter: &'a Splitter,
    pub(super) cache: Lent<'a>,
    pub(in crate::encode) scratch: Scratch,
    /// Memory for a piece as it is merged.
    pub(super) written: Vec<u8>,
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
            cache: Lent::of(&encoder.spare),
            scratch: Scratch::default(),
            written: Vec::new(),
            stop,
            left: between,
            between,
        }
    }

    /// Asks now and then whether to stop, before a piece of so many bytes.
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
        self.look(piece.len())?;
        match piece.len() {
            0 => Ok(()),
            1..=LONGEST => self.append_short(piece, offset, false, out),
            _ => self.append_long(piece, 0..piece.len(), offset, &mut Listed::new(out)),
        }
    }

    /// A piece or a part of one that an entry can hold.
    fn append_short(&mut self, piece: &[u8], offset: usize, is_part: bool, out: &mut Vec<u32>) -> Result<()> {
        let key = Key::of(piece, 0, piece.len());
        match self.append_kept(key, out) {
            true => Ok(()),
            false => self.append_new(key, piece, offset, is_part, out),
        }
    }

    /// The ids under a key; false where it has no entry.
    pub(super) fn append_kept(&mut self, key: Key, out: &mut Vec<u32>) -> bool {
        match self.cache.get().get(key) {
            Some(Hit::Few(ids, count)) => out.extend_from_slice(&ids[..count]),
            Some(Hit::Many(ids)) => out.extend_from_slice(ids),
            None => return false,
        }
        true
    }

    /// What has no entry, and has one under `key` then. An entry serves pieces, which are taken whole where they are tokens,
    /// and parts, which are merged: where the two differ there is none.
    #[cold]
    pub(super) fn append_new(
        &mut self,
        key: Key,
        piece: &[u8],
        offset: usize,
        is_part: bool,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let from = out.len();
        match self.append_unkept(piece, offset, out)? {
            Some(whole) if out[from..] != [whole] => {
                if !is_part {
                    out.truncate(from);
                    out.push(whole);
                }
            }
            _ => self.cache.get().insert(key, &out[from..]),
        }
        Ok(())
    }

    /// What merging makes of a piece or a part, found by looking it up where that is sure to be the same. Returns the token
    /// that is spelt so.
    pub(super) fn append_unkept(&mut self, piece: &[u8], offset: usize, out: &mut Vec<u32>) -> Result<Option<u32>> {
        let whole = self.vocabulary.whole_piece(piece);
        match whole {
            Some(id) if !self.vocabulary.takes_whole() => out.push(id),
            _ => self.append_by_merging(piece, offset, out)?,
        }
        Ok(whole)
    }

    fn append_by_merging(&mut self, piece: &[u8], offset: usize, out: &mut Vec<u32>) -> Result<()> {
        let from = out.len();
        self.vocabulary.append_symbols(piece, offset, out)?;
        merge_symbols_until(self.vocabulary, out, from, &mut self.scratch, self.stop)
    }

    /// A piece that no entry can hold: it is a token, or is cut where no merge joins two characters (see [`Joints`]).
    ///
    /// [`Joints`]: crate::vocabulary::Joints
    #[cold]
    fn append_long(&mut self, text: &[u8], piece: Range<usize>, base: usize, ids: &mut impl Ids) -> Result<()> {
        if let Some(id) = self.vocabulary.whole_piece(&text[piece.clone()]) {
            ids.many(&[id]);
            return Ok(());
        }
        // Its parts come in blocks of their own, each with all of the room that ids of a block have.
        ids.end_block();
        let joints = self.vocabulary.joints();
        let (mut ends, mut start, mut at) = ([0; BLOCK], piece.start, piece.start);
        while at < piece.end {
            let mut count = 0;
            while count < BLOCK && at < piece.end {
                at = piece.start + joints.next_cut(&text[piece.clone()], at - piece.start);
                ends[count] = at;
                count += 1;
            }
            self.append_ends(text, start, &ends[..count], ids, |pieces, from, end, ids| {
                let part = &text[from..end];
                ids.made(|out| match part.len() {
                    ..=LONGEST => pieces.append_short(part, base + from, true, out),
                    _ => pieces.append_by_merging(part, base + from, out),
                })
            })?;
            start = at;
        }
        Ok(())
    }

    /// The ids of a text that begins at byte `base` of its document, and is split by a scanner.
    pub(in crate::encode) fn append_text(&mut self, text: &str, base: usize, ids: &mut impl Ids) -> Result<()> {
        let text = text.as_bytes();
        ids.expect(text.len());
        let mut ends = Vec::new();
        let mut at = 0;
        while at < text.len() {
            ends.clear();
            self.splitter.next_ends(text, at, &mut ends);
            self.append_ends(text, at, &ends, ids, |pieces, from, end, ids| match end - from {
                ..=LONGEST => ids.made(|out| pieces.append_short(&text[from..end], base + from, false, out)),
                _ => pieces.append_long(text, from..end, base, ids),
            })?;
            at = ends[ends.len() - 1];
        }
        Ok(())
    }

    /// The ids of the pieces or parts that begin at byte `start` of a text and have these ends: those under their keys, or
    /// what `missed` finds.
    #[inline]
    pub(super) fn append_ends<I: Ids>(
        &mut self,
        text: &[u8],
        mut start: usize,
        ends: &[usize],
        ids: &mut I,
        missed: impl Fn(&mut Self, usize, usize, &mut I) -> Result<()>,
    ) -> Result<()> {
        for block in ends.chunks(BLOCK) {
            let end = block[block.len() - 1];
            self.look(end - start)?;
            self.append_block(text, start, block, ids, &missed)?;
            start = end;
        }
        Ok(())
    }

    /// The same of a block of them at most.
    #[inline]
    fn append_block<I: Ids>(
        &mut self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        ids: &mut I,
        missed: &impl Fn(&mut Self, usize, usize, &mut I) -> Result<()>,
    ) -> Result<()> {
        let mut keys = [(Key::default(), 0); BLOCK];
        let keys = &mut keys[..ends.len()];
        let mut from = start;
        let cache = self.cache.get();
        for (slot, &end) in keys.iter_mut().zip(ends) {
            let key = Key::of(text, from, end);
            *slot = (key, cache.line(key));
            from = end;
        }
        let mut done = 0;
        loop {
            // A loop of its own, without a call: nothing has to be loaded again.
            let cache = self.cache.get();
            while let Some(&(key, line)) = keys.get(done) {
                match cache.get_at(line, key) {
                    Some(Hit::Few(few, count)) => ids.few(few, count),
                    Some(Hit::Many(many)) => ids.many(many),
                    None => break,
                }
                done += 1;
            }
            let Some(&end) = ends.get(done) else { break };
            let from = if done == 0 { start } else { ends[done - 1] };
            missed(self, from, end, ids)?;
            done += 1;
        }
        ids.end_block();
        Ok(())
    }
}

/// Where ids go.
pub(in crate::encode) trait Ids {
    /// The first `count` of four.
    fn few(&mut self, ids: &[u32; FEW], count: usize);
    fn many(&mut self, ids: &[u32]);
    /// Those that `make` puts onto the end of its list.
    fn made(&mut self, make: impl FnOnce(&mut Vec<u32>) -> Result<()>) -> Result<()>;
    /// Called before a text of so many bytes.
    fn expect(&mut self, _bytes: usize) {}
    /// Called after each block.
    fn end_block(&mut self) {}
}

/// Ids onto the end of a list. Those of a block are put together first: a copy of four ids need not ask how many there are.
pub(in crate::encode) struct Listed<'a> {
    out: &'a mut Vec<u32>,
    block: [u32; FEW * (BLOCK + 1)],
    length: usize,
}

impl<'a> Listed<'a> {
    pub(in crate::encode) fn new(out: &'a mut Vec<u32>) -> Self {
        Self { out, block: [0; FEW * (BLOCK + 1)], length: 0 }
    }
}

impl Ids for Listed<'_> {
    #[inline]
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        self.block[self.length..][..FEW].copy_from_slice(ids);
        self.length += count;
    }

    fn expect(&mut self, bytes: usize) {
        pages::reserve(self.out, bytes / BYTES_PER_ID);
    }

    fn many(&mut self, ids: &[u32]) {
        self.end_block();
        self.out.extend_from_slice(ids);
    }

    fn made(&mut self, make: impl FnOnce(&mut Vec<u32>) -> Result<()>) -> Result<()> {
        self.end_block();
        make(self.out)
    }

    fn end_block(&mut self) {
        self.out.extend_from_slice(&self.block[..self.length]);
        self.length = 0;
    }
}

/// The number of ids.
#[derive(Default)]
pub(in crate::encode) struct Counted {
    pub(in crate::encode) count: u64,
    made: Vec<u32>,
}

impl Ids for Counted {
    #[inline]
    fn few(&mut self, _ids: &[u32; FEW], count: usize) {
        self.count += count as u64;
    }

    fn many(&mut self, ids: &[u32]) {
        self.count += ids.len() as u64;
    }

    fn made(&mut self, make: impl FnOnce(&mut Vec<u32>) -> Result<()>) -> Result<()> {
        self.made.clear();
        make(&mut self.made)?;
        self.count += self.made.len() as u64;
        Ok(())
    }
}
