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
        // A character ends in its block: what is taken from the front is not looked at.
        let byte = |i: usize| chunk[(at + i) & 63];
        classes[at] = match tables.of_three([byte(0), byte(1), byte(2)]) {
            Some(class) => class,
            None => tables.of_four([byte(0), byte(1), byte(2), byte(3)]),
        };
        long &= long - 1;
    }
    classes
}
