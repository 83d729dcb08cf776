//! Which pair is next: the highest count, then the tie rule.
//!
//! The best count never rises: a round makes only pairs that contain the new token, each at most as frequent as the
//! merged pair was, and lowers the others. So the queue goes down through buckets of equal count, and only the current
//! bucket is a heap, by the key of the tie rule. A pair sits in the bucket of a count it once had; when it is met there
//! with a lower one, it moves on. Each such move is paid for by a round that lowered its count.

use super::pairs::Pairs;
use super::ticker::Ticker;
use crate::Result;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What decides among equal counts: the smallest wins.
pub(super) type Key = (u64, u64);

/// The slots of all pairs in the table, each once, and of some that are gone.
#[derive(Default)]
pub(super) struct Queue {
    /// Count -> slots of pairs that had it when they came here; all below `count`.
    buckets: BTreeMap<u64, Vec<u32>>,
    /// The best count.
    count: u64,
    heap: BinaryHeap<Reverse<(Key, u32)>>,
}

impl Queue {
    /// Forgets everything; the counts that follow may be higher again.
    pub(super) fn clear(&mut self) {
        *self = Queue { count: u64::MAX, ..Queue::default() };
    }

    /// Adds a pair. Its count is at most that of the last pair popped.
    pub(super) fn push(&mut self, slot: u32, count: u64, key: impl FnOnce() -> Key) {
        debug_assert!(count <= self.count, "a new pair is at most as frequent as the merged one");
        if count == self.count {
            self.heap.push(Reverse((key(), slot)));
        } else {
            self.buckets.entry(count).or_default().push(slot);
        }
    }

    /// Takes out the next pair.
    ///
    /// A key is taken when the pair comes into the heap and stays true: while the count is the same, no occurrence was
    /// lost, so the first one is the same too.
    pub(super) fn pop(
        &mut self,
        pairs: &mut Pairs,
        ticker: &mut Ticker<'_>,
        mut key: impl FnMut(&mut Pairs, u32) -> Key,
    ) -> Result<Option<u32>> {
        loop {
            while let Some(Reverse((_, slot))) = self.heap.pop() {
                ticker.work(1)?;
                if self.is_current(pairs, slot) {
                    return Ok(Some(slot));
                }
            }
            let Some((count, slots)) = self.buckets.pop_last() else {
                return Ok(None);
            };
            self.count = count;
            let mut entries = std::mem::take(&mut self.heap).into_vec();
            for slot in slots {
                ticker.work(1)?;
                if self.is_current(pairs, slot) {
                    entries.push(Reverse((key(pairs, slot), slot)));
                }
            }
            self.heap = entries.into();
        }
    }

    /// Whether the pair has the best count; if not, moves it to where it belongs.
    fn is_current(&mut self, pairs: &mut Pairs, slot: u32) -> bool {
        let count = pairs.get(slot).count;
        if count == self.count {
            return true;
        }
        if count == 0 {
            pairs.free(slot);
        } else {
            self.buckets.entry(count).or_default().push(slot);
        }
        false
    }
}
