//! Pairs of ids to ranks, for the kernels that ask most: one cache line an answer, mostly, and no branch.
//!
//! A slot of 64 bits holds both ids and the rank. Slots stand in lines of eight, and a pair may be in any slot of the
//! line that its hash names: all eight are compared, so nothing depends on where it is or whether it is there, which
//! nobody can foretell. (A place for each pair and a walk from there compares fewer, and took two fifths longer: every
//! other walk ended where the processor had not guessed.) Before that, a map of one bit for several hashes says of most
//! pairs that they have none: it stays in the second-level cache, where the table of a hundred thousand rules does not.
//! Ids of the new tokens stand apart, by rank: they are wanted once a merge, not once a question. (gigatoken has a table
//! that is keyed by ids with the new id as the value; ranks as the value serve vocabularies whose ids do not ascend with
//! ranks, too.)

use crate::prefetch::prefetch;

/// Bits of an id, and of a rank.
const BITS: u32 = 21;
const RANK_BITS: u32 = 64 - 2 * BITS;

/// Ranks are below this, and so is what stands for none.
pub const NO_RANK: u32 = (1 << RANK_BITS) - 1;

const EMPTY: u64 = u64::MAX;

/// Slots of a line.
const SLOTS: usize = 8;

/// How much of a table may be used at most: three fifths. (With half, the 280,000 rules of Llama 3 and the 151,000 of
/// Qwen 3 just need a table twice as large, and took 3 to 8 % longer; with three quarters, cl100k took a quarter
/// longer: more lines are full.)
const FULL: (usize, usize) = (3, 5);

/// Bits of the map for each line of the table.
const BITS_PER_LINE: usize = 32;

/// Lines that are looked at for one pair at most: the next ones, where the first is full, which is rare. A table in which
/// a pair would be farther from its place is not made: a file may hold pairs that were chosen to fall together.
const FARTHEST: usize = 8;

/// Slots, filled from the first on.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u64; SLOTS]);

impl Line {
    const EMPTY: Self = Self([EMPTY; SLOTS]);

    /// The rank of a pair, or `NO_RANK`.
    #[inline]
    fn rank(&self, key: u64) -> u32 {
        // Of the slot with this key alone, what is missing from its rank to NO_RANK.
        let missing = |slot: u64| if slot >> RANK_BITS == key { !slot } else { 0 };
        let missing = self.0.iter().fold(0, |all, &slot| all | missing(slot));
        !missing as u32 & NO_RANK
    }

    fn is_full(&self) -> bool {
        self.0[SLOTS - 1] != EMPTY
    }
}

/// Ranks of pairs of ids. Neither ids nor ranks may be large, and a rank makes one id only.
#[derive(Debug, Default)]
pub struct PairRanks {
    /// left id, right id, rank, from the top of each slot; a power of two of lines, and one that stays empty. (On large
    /// pages it is no faster: the places that are asked are few enough for the translation cache.)
    lines: Vec<Line>,
    /// The number of lines that may be used, less one.
    mask: usize,
    used: usize,
    /// A bit for each value of the upper bits of a hash: whether there is a pair that has them.
    any: Vec<u64>,
    /// The new id of each rank.
    ids: Vec<u32>,
    /// What is added to each rank to have its id, where that is the same for all: then no table is asked.
    step: Option<u32>,
    /// The ranks of pairs of ids below 256, the bytes of most vocabularies, by both: every piece begins with these.
    low: Vec<u32>,
}

/// Where a pair is looked for first.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    key: u64,
    line: usize,
}

impl Place {
    /// Of no pair.
    pub const NONE: Self = Self { key: 0, line: usize::MAX };
}

/// A pair or rank that the table cannot hold.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge;

/// No id: of a rank without a rule.
const NO_ID: u32 = u32::MAX;

impl PairRanks {
    /// An empty table with room for `n` pairs.
    pub fn with_capacity(n: usize) -> Self {
        let mut new = Self::default();
        if n > 0 {
            new.make_room((FULL.1 * n).div_ceil(FULL.0 * SLOTS));
        }
        new
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Whether there is no pair at all.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The rank of a pair, or `NO_RANK`.
    #[inline]
    pub fn rank(&self, left: u32, right: u32) -> u32 {
        if (left | right) >> BITS != 0 || self.lines.is_empty() {
            return NO_RANK;
        }
        let key = key(left, right);
        let bit = self.bit(key);
        if self.any[bit / 64] >> (bit % 64) & 1 == 0 {
            return NO_RANK;
        }
        self.rank_in(key, self.place_of(key))
    }

    #[inline]
    fn rank_in(&self, key: u64, line: usize) -> u32 {
        let rank = self.lines[line].rank(key);
        // One branch for both, which is hardly ever taken: whether there is a rule alone would be a guess.
        if (rank == NO_RANK) & self.lines[line].is_full() { self.rank_beyond(key, line) } else { rank }
    }

    /// In the lines after a full one.
    #[cold]
    fn rank_beyond(&self, key: u64, line: usize) -> u32 {
        for step in 1..FARTHEST {
            let line = &self.lines[(line + step) & self.mask];
            let rank = line.rank(key);
            if rank != NO_RANK || !line.is_full() {
                return rank;
            }
        }
        NO_RANK
    }

    /// Where a pair is looked for; the processor is told to fetch it. `NONE` in its place where it is not `wanted`.
    #[inline]
    pub fn place(&self, left: u32, right: u32, wanted: bool) -> Place {
        if self.lines.is_empty() {
            return Place::NONE;
        }
        let key = key(left, right);
        let bit = self.bit(key);
        let may = wanted & ((left | right) >> BITS == 0);
        // Without a branch: nothing tells beforehand which way it would go.
        let may = u64::from(may) & self.any.get(bit / 64).map_or(0, |word| word >> (bit % 64));
        // The empty line has no pair, not even of ids that are too large.
        let line = if may & 1 == 1 { self.place_of(key) } else { self.lines.len().wrapping_sub(1) };
        if let Some(line) = self.lines.get(line) {
            prefetch(line);
        }
        Place { key, line }
    }

    /// The rank of the pair of a place, or `NO_RANK`.
    #[inline]
    pub fn rank_at(&self, place: Place) -> u32 {
        if place.line < self.lines.len() { self.rank_in(place.key, place.line) } else { NO_RANK }
    }

    /// [`Self::rank`], sooner where both ids are small.
    #[inline]
    pub fn rank_of_low(&self, left: u32, right: u32) -> u32 {
        match self.low.get((left << 8 | right) as usize) {
            Some(&rank) if left < 256 && right < 256 => rank,
            _ => self.rank(left, right),
        }
    }

    /// What a rank makes. Panics where the rank is no pair's.
    #[inline]
    pub fn id(&self, rank: u32) -> u32 {
        match self.step {
            Some(step) => rank.wrapping_add(step),
            None => self.ids[rank as usize],
        }
    }

    /// Gives a pair a rank and a new id, in the place of an earlier one.
    pub fn set(&mut self, (left, right): (u32, u32), rank: u32, id: u32) -> Result<(), TooLarge> {
        if (left | right) >> BITS != 0 || rank >= NO_RANK {
            return Err(TooLarge);
        }
        match self.ids.get(rank as usize) {
            Some(&other) if other != id && other != NO_ID => return Err(TooLarge),
            None => self.ids.resize(rank as usize + 1, NO_ID),
            _ => {}
        }
        let step = id.wrapping_sub(rank);
        self.step = if self.used == 0 { Some(step) } else { self.step.filter(|&other| other == step) };
        let room = self.lines.len().saturating_sub(1);
        if FULL.1 * (self.used + 1) > FULL.0 * SLOTS * room {
            let mut larger = Self::default();
            larger.make_room(2 * room);
            for &slot in self.slots() {
                larger.put(slot)?;
            }
            (self.lines, self.mask, self.any) = (larger.lines, larger.mask, larger.any);
        }
        let key = key(left, right);
        self.used += usize::from(self.put(key << RANK_BITS | u64::from(rank))? == EMPTY);
        if left < 256 && right < 256 {
            self.low.resize(1 << 16, NO_RANK);
            self.low[(left << 8 | right) as usize] = rank;
        }
        self.ids[rank as usize] = id;
        Ok(())
    }

    /// (left id, right id, rank, new id) of each pair, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u32, u32)> {
        let id = |bits: u64| bits as u32 & ((1 << BITS) - 1);
        self.slots().map(move |&slot| {
            let rank = slot as u32 & NO_RANK;
            (id(slot >> (BITS + RANK_BITS)), id(slot >> RANK_BITS), rank, self.ids[rank as usize])
        })
    }

    /// The slots that are used.
    fn slots(&self) -> impl Iterator<Item = &u64> {
        self.lines.iter().flat_map(|line| &line.0).filter(|&&slot| slot != EMPTY)
    }

    /// The slot of a pair, or the one that it would have.
    fn find(&mut self, key: u64) -> Option<&mut u64> {
        let first = self.place_of(key);
        let places =
            (0..FARTHEST).map(|step| (first + step) & self.mask).flat_map(|line| (0..SLOTS).map(move |at| (line, at)));
        let (line, at) = places.into_iter().find(|&(line, at)| {
            let slot = self.lines[line].0[at];
            slot == EMPTY || slot >> RANK_BITS == key
        })?;
        Some(&mut self.lines[line].0[at])
    }

    /// Puts a pair into its slot; returns what was there.
    fn put(&mut self, slot: u64) -> Result<u64, TooLarge> {
        let key = slot >> RANK_BITS;
        let before = std::mem::replace(self.find(key).ok_or(TooLarge)?, slot);
        let bit = self.bit(key);
        self.any[bit / 64] |= 1 << (bit % 64);
        Ok(before)
    }

    /// Makes a table of so many lines, or some more.
    fn make_room(&mut self, lines: usize) {
        let lines = lines.next_power_of_two().max(2);
        self.lines = vec![Line::EMPTY; lines + 1];
        self.mask = lines - 1;
        self.any = vec![0; lines * BITS_PER_LINE / 64];
    }

    #[inline]
    fn place_of(&self, key: u64) -> usize {
        (hash(key) >> 32) as usize & self.mask
    }

    #[inline]
    fn bit(&self, key: u64) -> usize {
        const SPARE: u32 = BITS_PER_LINE.trailing_zeros();
        (hash(key) >> (32 - SPARE)) as usize & (self.mask << SPARE | (BITS_PER_LINE - 1))
    }
}

/// Fibonacci hashing: bits 30 and up of the product, of which places are made, depend on all bits of a key below them,
/// which are both ids mostly.
#[inline]
fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << BITS | u64::from(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn as_a_map(pairs in prop::collection::vec((0u32..40, 0u32..40, 0u32..300), 0..400), n in 0usize..100) {
            let (mut table, mut map) = (PairRanks::with_capacity(n), HashMap::new());
            for (left, right, rank) in pairs {
                for left in [left, left << 15] {
                    table.set((left, right), rank, rank + 7).unwrap();
                    map.insert((left, right), rank);
                }
            }
            prop_assert_eq!(table.len(), map.len());
            for pair in (0..41).flat_map(|left| (0..41).flat_map(move |right| [(left, right), (left << 15, right)])) {
                prop_assert_eq!(table.rank(pair.0, pair.1), map.get(&pair).copied().unwrap_or(NO_RANK));
                prop_assert_eq!(table.rank_at(table.place(pair.0, pair.1, true)), table.rank(pair.0, pair.1));
                prop_assert_eq!(table.rank_at(table.place(pair.0, pair.1, false)), NO_RANK);
                prop_assert_eq!(table.rank_of_low(pair.0, pair.1), table.rank(pair.0, pair.1));
            }
            let all: HashMap<_, _> = table.iter().map(|(left, right, rank, id)| {
                assert_eq!(id, table.id(rank));
                ((left, right), rank)
            }).collect();
            prop_assert_eq!(all, map);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut table = PairRanks::default();
        assert_eq!(table.rank(1, 2), NO_RANK);
        let most = (1 << BITS) - 1;
        table.set((most, most), NO_RANK - 1, u32::MAX - 1).unwrap();
        assert_eq!(table.rank(most, most), NO_RANK - 1);
        assert_eq!(table.rank(most + 1, most), NO_RANK);
        assert_eq!(table.rank(most, u32::MAX), NO_RANK);
        assert_eq!(table.set((most + 1, 0), 0, 0), Err(TooLarge));
        assert_eq!(table.set((0, most + 1), 0, 0), Err(TooLarge));
        assert_eq!(table.set((0, 0), NO_RANK, 0), Err(TooLarge));
        assert_eq!(table.set((0, 0), NO_RANK - 1, 5), Err(TooLarge), "a rank that makes another id");
    }

    #[test]
    fn pairs_that_fall_together_are_refused_in_time() {
        let mut table = PairRanks::with_capacity(1 << 14);
        // All pairs whose place is one of the first few.
        let together = (0..1 << 21).filter(|&right| table.place_of(key(7, right)) == 1);
        let together: Vec<u32> = together.collect();
        assert!(together.len() > FARTHEST * SLOTS);
        let refused = together.iter().zip(0..).any(|(&right, rank)| table.set((7, right), rank, rank).is_err());
        assert!(refused);
    }
}
