//! Longer characters one by one, for the tiers that have no vectors for that.

use super::tables::Tables;
use crate::split::unicode::Set;

/// The 64 bytes of `text` from byte `at` on; where there are fewer, in `rest`, with bytes 0 behind them.
#[inline(always)]
pub(super) fn chunk_at<'a>(text: &'a [u8], at: usize, rest: &'a mut [u8; 64]) -> &'a [u8; 64] {
    let left = &text[at..];
    match left.first_chunk() {
        Some(chunk) => chunk,
        None => {
            rest[..left.len()].copy_from_slice(left);
            rest
        }
    }
}

/// The classes of the characters of `chunk` that begin at the bits of `long`, at their first bytes; 0 elsewhere.
#[inline(always)]
pub(super) fn long_classes(tables: &Tables, chunk: &[u8; 64], mut long: u64) -> [Set; 64] {
    let mut classes = [0; 64];
    while long != 0 {
        let at = long.trailing_zeros() as usize;
        // The character's bytes from the top down: they end in the block.
        let from = at.min(60);
        let four = u32::from_be_bytes(chunk[from..from + 4].try_into().expect("four bytes")) << (8 * (at - from));
        let (shift, most) = match four >> 24 {
            ..0xE0 => (16, 0x7FF),
            ..0xF0 => (8, 0xFFFF),
            _ => (0, 0x1F_FFFF),
        };
        let own = four >> shift;
        let code_point = (own & 0x3F) | (own >> 2 & 0xFC0) | (own >> 4 & 0x3_F000) | (own >> 6 & 0xFC_0000);
        classes[at] = tables.flat.get((code_point & most) as usize).copied().unwrap_or(0);
        long &= long - 1;
    }
    classes
}
