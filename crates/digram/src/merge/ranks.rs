//! Pairs of ids to ranks, for the kernels that ask most: one load an answer, mostly.
//!
//! A slot of 64 bits holds both ids and the rank, so a pair that has no rule, which is the usual answer, is known from the
//! cache line that its hash names. Before that, a map of one bit for several hashes says of most pairs that they have none:
//! it stays in the second-level cache, where the table of a hundred thousand rules does not. Ids of the new tokens stand apart, by rank: they are wanted once a merge, not once a
//! question. (gigatoken has a table of this form, keyed by ids with the new id as the value; ranks as the value serve
//! vocabularies whose ids do not ascend with ranks, too.)

use crate::prefetch::prefetch;

/// Bits of an id, and of a rank.
const BITS: u32 = 21;
const RANK_BITS: u32 = 64 - 2 * BITS;

/// Ranks are below this, and so is what stands for none.
pub const NO_RANK: u32 = (1 << RANK_BITS) - 1;

const EMPTY: u64 = u64::MAX;

/// Bits of the map for each slot of the table.
const BITS_PER_SLOT: usize = 4;

/// Slots that are looked at for one pair at most. A table in which a pair would be farther from its place is not made:
/// a file may hold pairs that were chosen to fall together.
const FARTHEST: usize = 64;

/// Ranks of pairs of ids. Neither ids nor ranks may be large, and a rank makes one id only.
#[derive(Debug, Default)]
pub struct PairRanks {
    /// left id, right id, rank, from the top; a power of two of them, at most half used, and one that stays empty. (On large
    /// pages it is no faster: the places that are asked are few enough for the translation cache.)
    slots: Vec<u64>,
    /// The number of slots that may be used, less one.
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
    slot: usize,
}

impl Place {
    /// Of no pair.
    pub const NONE: Self = Self { key: 0, slot: usize::MAX };
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
            new.make_room((2 * n).next_power_of_two().max(16));
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
        if (left | right) >> BITS != 0 || self.slots.is_empty() {
            return NO_RANK;
        }
        let key = key(left, right);
        let bit = self.bit(key);
        if self.any[bit / 64] >> (bit % 64) & 1 == 0 {
            return NO_RANK;
        }
        self.rank_from(key, self.place_of(key))
    }

    #[inline]
    fn rank_from(&self, key: u64, mut at: usize) -> u32 {
        loop {
            let slot = self.slots[at & self.mask];
            if slot >> RANK_BITS == key {
                return slot as u32 & NO_RANK;
            }
            if slot == EMPTY {
                return NO_RANK;
            }
            at += 1;
        }
    }

    /// Where a pair is looked for; the processor is told to fetch it. `NONE` in its place where it is not `wanted`.
    #[inline]
    pub fn place(&self, left: u32, right: u32, wanted: bool) -> Place {
        if self.slots.is_empty() {
            return Place::NONE;
        }
        let key = key(left, right);
        let bit = self.bit(key);
        let may = wanted & ((left | right) >> BITS == 0);
        // Without a branch: nothing tells beforehand which way it would go.
        let may = u64::from(may) & self.any.get(bit / 64).map_or(0, |word| word >> (bit % 64));
        let slot = if may & 1 == 1 { self.place_of(key) } else { self.slots.len().wrapping_sub(1) };
        if let Some(slot) = self.slots.get(slot) {
            prefetch(slot);
        }
        Place { key, slot }
    }

    /// The rank of the pair of a place, or `NO_RANK`.
    #[inline]
    pub fn rank_at(&self, place: Place) -> u32 {
        let Some(&slot) = self.slots.get(place.slot) else { return NO_RANK };
        if slot >> RANK_BITS == place.key {
            return slot as u32 & NO_RANK;
        }
        if slot == EMPTY { NO_RANK } else { self.rank_from(place.key, place.slot + 1) }
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
        let room = self.slots.len().saturating_sub(1);
        if 2 * (self.used + 1) > room {
            let mut larger = Self::default();
            larger.make_room((2 * room).max(16));
            for &slot in self.slots.iter().filter(|&&slot| slot != EMPTY) {
                larger.put(slot)?;
            }
            (self.slots, self.mask, self.any) = (larger.slots, larger.mask, larger.any);
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
        self.slots.iter().filter(|&&slot| slot != EMPTY).map(move |&slot| {
            let rank = slot as u32 & NO_RANK;
            (id(slot >> (BITS + RANK_BITS)), id(slot >> RANK_BITS), rank, self.ids[rank as usize])
        })
    }

    /// The slot of a pair, or the one that it would have.
    fn find(&self, key: u64) -> Option<usize> {
        let places = (0..FARTHEST).map(|step| (self.place_of(key) + step) & self.mask);
        places.into_iter().find(|&at| self.slots[at] == EMPTY || self.slots[at] >> RANK_BITS == key)
    }

    /// Puts a pair into its slot; returns what was there.
    fn put(&mut self, slot: u64) -> Result<u64, TooLarge> {
        let key = slot >> RANK_BITS;
        let (at, bit) = (self.find(key).ok_or(TooLarge)?, self.bit(key));
        self.any[bit / 64] |= 1 << (bit % 64);
        Ok(std::mem::replace(&mut self.slots[at], slot))
    }

    fn make_room(&mut self, slots: usize) {
        self.slots = vec![EMPTY; slots + 1];
        self.mask = slots - 1;
        self.any = vec![0; slots * BITS_PER_SLOT / 64];
    }

    #[inline]
    fn place_of(&self, key: u64) -> usize {
        (hash(key) >> 32) as usize & self.mask
    }

    #[inline]
    fn bit(&self, key: u64) -> usize {
        const SPARE: u32 = BITS_PER_SLOT.trailing_zeros();
        (hash(key) >> (32 - SPARE)) as usize & (self.mask << SPARE | (BITS_PER_SLOT - 1))
    }
}

/// Fibonacci hashing: bits 30 and up of the product, of which places are made, depend on all bits of a key below them, which
/// are both ids mostly.
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
        let together = (0..1 << 21).filter(|&right| table.place_of(key(7, right)) < 4);
        let together: Vec<u32> = together.collect();
        assert!(together.len() > FARTHEST);
        let refused = together.iter().zip(0..).any(|(&right, rank)| table.set((7, right), rank, rank).is_err());
        assert!(refused);
    }
}
