//! Merge rules: which two neighbours become which token, and when.
//!
//! Two kinds serve the three semantics of the specification. A [`PairTable`] holds merges by pair of ids, and
//! also ranked bytes: every split of a token into two tokens is a pair with the token's rank. A [`PassTable`] holds an
//! ordered token list in which a string occurs more than once; there a pair has several entries, and the next one that the
//! pass has not reached yet counts.

use crate::merge::ranks::{NO_RANK, PairRanks};
use crate::merge::{Merge, Rules};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The key of a pair of ids.
pub(crate) fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// Rules by pair of ids.
#[derive(Debug)]
pub enum PairTable {
    /// As nearly all vocabularies have them.
    Ranks(PairRanks),
    /// Where ids or ranks are too large for that, or a rank makes several ids.
    Wide(HashMap<u64, Merge, FixedState>),
}

impl Default for PairTable {
    fn default() -> Self {
        Self::Ranks(PairRanks::default())
    }
}

impl PairTable {
    pub(crate) fn with_capacity(n: usize) -> Self {
        Self::Ranks(PairRanks::with_capacity(n))
    }

    /// A rule for each triple (left id, right id, new id), of the rank that `rank` gives for the new id.
    pub(crate) fn of(triples: &[(u32, u32, u32)], rank: impl Fn(u32) -> u32) -> Self {
        let mut table = Self::with_capacity(triples.len());
        triples.iter().for_each(|&(left, right, id)| table.set(left, right, Merge { rank: rank(id), id }));
        table
    }

    /// The number of pairs that have a rule.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Ranks(ranks) => ranks.len(),
            Self::Wide(map) => map.len(),
        }
    }

    /// (left id, right id, new id) of each rule, by rank, then by ids.
    pub(crate) fn triples(&self) -> Vec<(u32, u32, u32)> {
        let parts = |key: u64| ((key >> 32) as u32, key as u32);
        let mut rules: Vec<_> = match self {
            Self::Ranks(ranks) => ranks.iter().map(|(left, right, rank, id)| (rank, (left, right), id)).collect(),
            Self::Wide(map) => map.iter().map(|(&key, merge)| (merge.rank, parts(key), merge.id)).collect(),
        };
        rules.sort_unstable();
        rules.into_iter().map(|(_, (left, right), id)| (left, right, id)).collect()
    }

    /// Calls `each` with the parts of every rule, in no order.
    pub(crate) fn for_each_pair(&self, each: &mut dyn FnMut(u32, u32)) {
        match self {
            Self::Ranks(ranks) => ranks.iter().for_each(|(left, right, ..)| each(left, right)),
            Self::Wide(map) => map.keys().for_each(|&key| each((key >> 32) as u32, key as u32)),
        }
    }

    /// Adds a rule, in the place of an earlier one for the same pair.
    pub(crate) fn set(&mut self, left: u32, right: u32, merge: Merge) {
        match self {
            Self::Ranks(ranks) => {
                if ranks.set((left, right), merge.rank, merge.id).is_err() {
                    let rules = ranks.iter().map(|(left, right, rank, id)| (key(left, right), Merge { rank, id }));
                    *self = Self::Wide(rules.collect());
                    self.set(left, right, merge);
                }
            }
            Self::Wide(map) => _ = map.insert(key(left, right), merge),
        }
    }

    /// Adds a rule; false, and no change, where the pair has one already.
    pub(crate) fn add(&mut self, left: u32, right: u32, merge: Merge) -> bool {
        let new = self.merge(left, right, 0).is_none();
        if new {
            self.set(left, right, merge);
        }
        new
    }
}

impl Rules for PairTable {
    #[inline]
    fn merge(&self, left: u32, right: u32, _reached: u32) -> Option<Merge> {
        match self {
            Self::Ranks(ranks) => match ranks.rank(left, right) {
                NO_RANK => None,
                rank => Some(Merge { rank, id: ranks.id(rank) }),
            },
            Self::Wide(map) => map.get(&key(left, right)).copied(),
        }
    }

    fn ranks(&self) -> Option<&PairRanks> {
        match self {
            Self::Ranks(ranks) => Some(ranks),
            Self::Wide(_) => None,
        }
    }
}

/// Rules of an ordered token list with repeated strings.
#[derive(Debug)]
pub struct PassTable {
    /// id -> the first id that spells the same.
    pub(crate) spelling: Vec<u32>,
    /// Pair of spellings -> the spelling they make.
    pub(crate) joined: HashMap<u64, u32, FixedState>,
    /// Spelling -> its entries, ascending.
    pub(crate) entries: HashMap<u32, Vec<u32>, FixedState>,
}

impl Rules for PassTable {
    fn merge(&self, left: u32, right: u32, reached: u32) -> Option<Merge> {
        // Ids that are not in the list (the unknown token, byte tokens) never merge.
        let spelling = |id: u32| self.spelling.get(id as usize).copied();
        let spelt = self.joined.get(&key(spelling(left)?, spelling(right)?))?;
        let entries = &self.entries[spelt];
        // Both parts stand in the sequence, so both are entries before `reached`: only the pass decides.
        let next = *entries.get(entries.partition_point(|&entry| entry < reached))?;
        Some(Merge { rank: next, id: next })
    }
}
