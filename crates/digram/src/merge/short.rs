//! Pieces of up to 64 symbols whose rules are in one table: no list is moved, no memory is written but registers and the
//! stack.
//!
//! Each symbol that lives on is a bit; the next and the previous one are found by counting zeros. Each waits with the rank
//! of the pair that it begins, and its place below that, so one minimum over all names the lowest rank, leftmost first.
//!
//! A merge asks for two ranks, and mostly has to wait for them: the table is larger than the nearer caches. So pieces that come
//! together are merged side by side, each a step at a time: a step asks for its two slots to be fetched, and the next step,
//! after all other pieces had theirs, finds them there.

use super::ranks::{NO_RANK, PairRanks, Place};
use std::ops::Range;

/// Nothing to merge: sorts after every rank.
const NONE: u32 = u32::MAX;

/// Symbols of a piece that is merged side by side with others, at most.
pub(crate) const SIDE_BY_SIDE: usize = 16;

/// Pieces side by side.
const LANES: usize = 12;

/// A piece that is being merged. N is a power of two up to 64.
#[derive(Clone, Copy, Debug)]
struct Lane<const N: usize> {
    symbols: [u32; N],
    /// Rank and place of the pair that begins at each symbol; one more place for what is not wanted.
    waiting: [u32; N],
    live: u64,
    /// The pairs that the last merge made, and whose ranks were asked for: where they begin, and their places in the table.
    right: (usize, Place),
    left: (usize, Place),
}

impl<const N: usize> Lane<N> {
    const NEW: Self =
        Self { symbols: [0; N], waiting: [NONE; N], live: 0, right: (0, Place::NONE), left: (0, Place::NONE) };

    /// Without a branch: whether there is a rule, nothing tells beforehand.
    #[inline]
    fn waiting_with(rank: u32, at: usize) -> u32 {
        let none = u32::from(rank == NO_RANK).wrapping_neg();
        (rank * N as u32) | at as u32 | none
    }

    /// Begins with the symbols of a piece.
    #[inline]
    fn begin(&mut self, ranks: &PairRanks, symbols: &[u32]) {
        const { assert!(N.is_power_of_two() && N <= 64 && NO_RANK < u32::MAX / 64) }
        let n = symbols.len();
        assert!((1..=N).contains(&n));
        self.symbols[..n].copy_from_slice(symbols);
        self.waiting = [NONE; N];
        for at in 1..n {
            let rank = ranks.rank_of_low(symbols[at - 1], symbols[at]);
            self.waiting[at - 1] = Self::waiting_with(rank, at - 1);
        }
        self.live = u64::MAX >> (64 - n);
        // The last symbol begins no pair: to ask for none there changes nothing.
        (self.right, self.left) = ((n - 1, Place::NONE), (n - 1, Place::NONE));
    }

    /// Takes the ranks that the last step asked for.
    #[inline]
    fn answer(&mut self, ranks: &PairRanks) {
        for (at, place) in [self.right, self.left] {
            self.waiting[at % N] = Self::waiting_with(ranks.rank_at(place), at);
        }
    }

    /// Merges the pair of the lowest rank, and asks for those of the pairs that this makes; false where there is none.
    #[inline]
    fn step(&mut self, ranks: &PairRanks) -> bool {
        let first = self.waiting.iter().fold(NONE, |first, &pair| first.min(pair));
        if first == NONE {
            return false;
        }
        let at = first as usize % N;
        let after = self.live & (u64::MAX << at << 1);
        let gone = after.trailing_zeros() as usize % N;
        let (after, before) = (after & after.wrapping_sub(1), self.live & ((1 << at) - 1));
        self.live ^= 1 << gone;
        let id = ranks.id(first / N as u32);
        self.symbols[at] = id;
        self.waiting[gone] = NONE;
        self.waiting[at] = NONE;
        let next = self.symbols[after.trailing_zeros() as usize % N];
        self.right = (at, ranks.place(id, next, after != 0));
        let previous = 63 - (before | 1).leading_zeros() as usize;
        // Without a symbol before it: what is gone begins no pair.
        let place = ranks.place(self.symbols[previous % N], id, before != 0);
        self.left = (if before != 0 { previous } else { gone }, place);
        true
    }

    /// Writes the ids to the front of the symbols; returns how many there are.
    #[inline]
    fn end(&self, symbols: &mut [u32]) -> usize {
        let (mut kept, mut live) = (0, self.live);
        while live != 0 {
            symbols[kept] = self.symbols[live.trailing_zeros() as usize % N];
            live &= live - 1;
            kept += 1;
        }
        kept
    }
}

/// Merges `symbols`, of which there are 1 to N; returns how many ids there are. They stand at the front.
#[inline]
pub(super) fn merge<const N: usize>(ranks: &PairRanks, symbols: &mut [u32]) -> usize {
    let mut lane = Lane::<N>::NEW;
    lane.begin(ranks, symbols);
    while lane.step(ranks) {
        lane.answer(ranks);
    }
    lane.end(symbols)
}

/// Memory for pieces side by side.
#[derive(Debug)]
pub(crate) struct Lanes([(usize, Lane<SIDE_BY_SIDE>); LANES]);

impl Default for Lanes {
    fn default() -> Self {
        Self([(0, Lane::NEW); LANES])
    }
}

impl Lanes {
    /// Merges the pieces of `all` whose symbols are `symbols[piece]`, 2 to `SIDE_BY_SIDE` of them: their ids are at the front
    /// then, and the range is shorter. Pieces of other lengths stay as they are.
    pub(crate) fn merge<T>(
        &mut self,
        ranks: &PairRanks,
        symbols: &mut [u32],
        all: &mut [T],
        piece: impl Fn(&mut T) -> Option<&mut Range<usize>>,
    ) {
        if ranks.is_empty() {
            return;
        }
        let lanes = &mut self.0;
        let (mut next, mut active) = (0, 0);
        // Begins with the next piece; false where none is left.
        let mut begin = |lane: &mut (usize, Lane<SIDE_BY_SIDE>), symbols: &[u32], all: &mut [T]| {
            while let Some(one) = all.get_mut(next) {
                next += 1;
                if let Some(range) = piece(one)
                    && (2..=SIDE_BY_SIDE).contains(&range.len())
                {
                    lane.0 = next - 1;
                    lane.1.begin(ranks, &symbols[range.clone()]);
                    return true;
                }
            }
            false
        };
        while active < LANES && begin(&mut lanes[active], symbols, all) {
            active += 1;
        }
        while active > 0 {
            for (_, lane) in &mut lanes[..active] {
                lane.answer(ranks);
            }
            let mut at = 0;
            while at < active {
                if !lanes[at].1.step(ranks) {
                    let range = piece(&mut all[lanes[at].0]).expect("it has begun");
                    range.end = range.start + lanes[at].1.end(&mut symbols[range.clone()]);
                    if !begin(&mut lanes[at], symbols, all) {
                        active -= 1;
                        lanes.swap(at, active);
                        continue;
                    }
                }
                at += 1;
            }
        }
    }
}
