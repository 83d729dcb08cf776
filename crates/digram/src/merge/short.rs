//! Pieces of up to 64 symbols whose rules are in one table: no list is moved, no memory is written but registers and the
//! stack.
//!
//! Each symbol that lives on is a bit; the next and the previous one are found by counting zeros. Each waits with the rank
//! of the pair that it begins, and its place below that, so one minimum over all names the lowest rank, leftmost first.

use super::ranks::{NO_RANK, PairRanks};

/// Nothing to merge: sorts after every rank.
const NONE: u32 = u32::MAX;

/// Merges `symbols`, of which there are at most N, a power of two up to 64; returns how many ids there are. They stand at the
/// front.
#[inline]
pub(super) fn merge<const N: usize>(ranks: &PairRanks, symbols: &mut [u32]) -> usize {
    const { assert!(N.is_power_of_two() && N <= 64 && NO_RANK < u32::MAX / 64) }
    let n = symbols.len();
    assert!(n <= N);
    let waiting_with = |rank: u32, at: usize| if rank == NO_RANK { NONE } else { (rank * N as u32) | at as u32 };
    let waiting_at = |left: u32, right: u32, at: usize| waiting_with(ranks.rank(left, right), at);
    let mut waiting = [NONE; N];
    for at in 1..n {
        waiting[at - 1] = waiting_with(ranks.rank_of_low(symbols[at - 1], symbols[at]), at - 1);
    }
    let mut live = u64::MAX >> (64 - n);
    loop {
        let first = waiting.iter().fold(NONE, |first, &pair| first.min(pair));
        if first == NONE {
            break;
        }
        let at = first as usize % N;
        let after = live & (u64::MAX << at << 1);
        let gone = after.trailing_zeros() as usize % N;
        let (after, before) = (after & after.wrapping_sub(1), live & ((1 << at) - 1));
        live ^= 1 << gone;
        let id = ranks.id(first / N as u32);
        symbols[at] = id;
        waiting[gone] = NONE;
        waiting[at] = NONE;
        if after != 0 {
            waiting[at] = waiting_at(id, symbols[after.trailing_zeros() as usize], at);
        }
        if before != 0 {
            let previous = 63 - before.leading_zeros() as usize;
            waiting[previous] = waiting_at(symbols[previous], id, previous);
        }
    }
    let mut kept = 0;
    while live != 0 {
        symbols[kept] = symbols[live.trailing_zeros() as usize];
        live &= live - 1;
        kept += 1;
    }
    kept
}
