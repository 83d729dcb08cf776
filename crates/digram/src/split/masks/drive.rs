//! From block to block.

use super::Rules;
use super::algebra::{Block, Carry, Shape, begins};
use super::tables::Tables;
use crate::prefetch::prefetch;
use std::mem::MaybeUninit;

/// Pieces that are asked for at a time, about.
const AT_ONCE: usize = 256;

/// Bytes from a block to those that are asked for meanwhile: a text that is not in the cache comes in bursts of pieces, and
/// the processor's own guesses begin anew with each. (Without it, waiting for the text was a fifth of the time of new text.)
const SOON: usize = 1024;

/// What a block and the piece behind it can add beyond that.
const ROOM: usize = AT_ONCE + 65;

/// What stays the same from block to block.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub tables: &'static Tables,
    pub rules: Rules,
    pub text: &'a [u8],
    pub piece_end: &'a dyn Fn(usize) -> usize,
}

/// Calls the function of a tier that was compiled for the family of the request.
macro_rules! for_family {
    ($by_family:ident, $request:ident, $from:ident, $ends:ident) => {
        match $request.rules.family {
            Family::Gpt2 => $by_family::<{ Family::Gpt2 as u8 }>($request, $from, $ends),
            Family::Cl100k => $by_family::<{ Family::Cl100k as u8 }>($request, $from, $ends),
            Family::O200k => $by_family::<{ Family::O200k as u8 }>($request, $from, $ends),
            Family::DeepSeek => $by_family::<{ Family::DeepSeek as u8 }>($request, $from, $ends),
        }
    };
}
pub(super) use for_family;

/// What the instructions of a processor do.
pub(super) trait Engine: Copy {
    type Block: Block;

    /// The block that begins at byte `at` of the text, which is longer.
    fn block(self, text: &[u8], at: usize) -> (Self::Block, Shape);

    /// Writes `base` plus the place of each bit of `bits`, lowest first, and anything behind them.
    fn write(self, bits: u64, base: usize, out: &mut [MaybeUninit<usize>; 64]);
}

/// See [`super::next_ends`].
#[inline(always)]
pub(super) fn next_ends<const FAMILY: u8, E: Engine>(engine: E, request: Request, from: usize, ends: &mut Vec<usize>) {
    let Request { rules, text, piece_end, .. } = request;
    ends.reserve(ROOM);
    let enough = ends.len() + AT_ONCE;
    // Where the block begins, and where the piece does that is not yet at its end.
    let (mut at, mut start, mut carry) = (from, from, Carry::default());
    while ends.len() < enough {
        if let Some(byte) = text.get(at + SOON) {
            prefetch(byte);
        }
        let (block, shape) = engine.block(text, at);
        let found = begins::<FAMILY>(&block, shape, carry, rules);
        let count = found.begins.count_ones() as usize;
        let room = ends.spare_capacity_mut().first_chunk_mut().expect("so much was reserved");
        engine.write(found.begins, at, room);
        // SAFETY: `write` has written as many numbers as there are bits, 64 at most, for which there was room.
        #[allow(unsafe_code)]
        unsafe {
            ends.set_len(ends.len() + count);
        }
        if count != 0 {
            start = at + 63 - found.begins.leading_zeros() as usize;
        }
        if shape.last && found.all {
            ends.push(text.len());
            return;
        }
        carry = found.carry;
        if carry.any() != 0 {
            at += shape.len() as usize;
        } else if count != 0 {
            at = start;
        } else {
            start = piece_end(start);
            ends.push(start);
            if start == text.len() {
                return;
            }
            at = start;
        }
    }
}
