//! The pair table: (left, right) -> count and positions.
//!
//! All position lists lie in one pool of 32-bit cells, each after a header of two cells: the slot of its pair and its
//! length. Lists are written once, in ascending order, in the round that creates their pair. Later rounds leave stale
//! positions behind; when the pool is full it is compacted in place, which drops the lists of gone pairs and all stale
//! positions, so that it holds at most the live ones (fewer than there are tokens in the sequence) and a half more.

use super::arena::Arena;
use super::ticker::Ticker;
use crate::Result;
use crate::pages;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher;

/// Cells of the pool before a list: the slot of its pair, and its length.
const HEADER: usize = 2;
/// A `Pair::list` that is nowhere.
const NO_LIST: usize = usize::MAX;

/// One pair of neighbours that may still be merged.
pub(super) struct Pair {
    pub(super) left: u32,
    pub(super) right: u32,
    /// Occurrences, each as often as its piece was counted; 0 when the pair is gone but still in the queue.
    pub(super) count: u64,
    /// Where its positions begin in the pool.
    list: usize,
    /// Positions before this one in the list are stale.
    first: u32,
}

/// The pairs that may still be merged, with their positions.
#[derive(Default)]
pub(super) struct Pairs {
    slots: Vec<Pair>,
    free: Vec<u32>,
    index: HashTable<u32>,
    hasher: FixedState,
    pool: Vec<u32>,
}

impl Pairs {
    /// Forgets all pairs and makes room for lists of `positions` together.
    pub(super) fn clear(&mut self, positions: usize) {
        self.slots.clear();
        self.free.clear();
        self.index.clear();
        self.pool.clear();
        if self.pool.capacity() < positions {
            self.pool = pages::with_capacity(positions);
        }
    }

    pub(super) fn get(&self, slot: u32) -> &Pair {
        &self.slots[slot as usize]
    }

    /// The positions of a pair, stale ones among them.
    pub(super) fn positions_mut(&mut self, slot: u32) -> &mut [u32] {
        let (list, length) = (self.slots[slot as usize].list, self.list_length(slot));
        &mut self.pool[list..list + length]
    }

    /// Position `i` of a pair.
    pub(super) fn position(&self, slot: u32, i: usize) -> u32 {
        self.pool[self.slots[slot as usize].list + i]
    }

    fn list_length(&self, slot: u32) -> usize {
        self.pool[self.slots[slot as usize].list - 1] as usize
    }

    /// The first position where the pair still stands. There must be one.
    pub(super) fn first_position(&mut self, slot: u32, arena: &Arena) -> u32 {
        let pair = &mut self.slots[slot as usize];
        let length = arena.length(pair.left);
        loop {
            let position = self.pool[pair.list + pair.first as usize];
            if arena.holds(position, pair.left, length, pair.right) {
                return position;
            }
            pair.first += 1;
        }
    }

    /// Adds a pair that is not in the table, with room for its positions: its slot, and where in the pool to write.
    pub(super) fn insert(&mut self, left: u32, right: u32, count: u64, positions: u32) -> (u32, usize) {
        let list = self.pool.len() + HEADER;
        let pair = Pair { left, right, count, list, first: 0 };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = pair;
                slot
            }
            None => {
                self.slots.push(pair);
                self.slots.len() as u32 - 1
            }
        };
        self.pool.extend([slot, positions]);
        self.pool.resize(list + positions as usize, 0);
        let (slots, hasher) = (&self.slots, &self.hasher);
        let hash = |&slot: &u32| hash(hasher, slots[slot as usize].left, slots[slot as usize].right);
        self.index.insert_unique(hash(&slot), slot, hash);
        (slot, list)
    }

    /// Writes one position of a new list.
    pub(super) fn write(&mut self, place: usize, position: u32) {
        self.pool[place] = position;
    }

    /// Takes `count` from a pair, if it is in the table, and forgets it when fewer than `threshold` are left.
    pub(super) fn subtract(&mut self, left: u32, right: u32, count: u64, threshold: u64) {
        let slots = &mut self.slots;
        let hash = hash(&self.hasher, left, right);
        let same = |&slot: &u32| slots[slot as usize].left == left && slots[slot as usize].right == right;
        if let Ok(found) = self.index.find_entry(hash, same) {
            let pair = &mut slots[*found.get() as usize];
            pair.count -= count;
            if pair.count < threshold {
                (pair.count, pair.list) = (0, NO_LIST);
                found.remove();
            }
        }
    }

    /// Takes a pair out of the table; its positions stay until `free`.
    pub(super) fn remove(&mut self, slot: u32) {
        let slots = &self.slots;
        let Pair { left, right, .. } = slots[slot as usize];
        let hash_of = |&slot: &u32| hash(&self.hasher, slots[slot as usize].left, slots[slot as usize].right);
        if let Entry::Occupied(found) = self.index.entry(hash(&self.hasher, left, right), |&s| s == slot, hash_of) {
            found.remove();
        }
    }

    /// The slot of a pair, if it is in the table.
    pub(super) fn find(&self, left: u32, right: u32) -> Option<u32> {
        let same = |&slot: &u32| self.slots[slot as usize].left == left && self.slots[slot as usize].right == right;
        self.index.find(hash(&self.hasher, left, right), same).copied()
    }

    /// As `free`, of a slot that is still in the queue, which frees it.
    pub(super) fn forget(&mut self, slot: u32) {
        let pair = &mut self.slots[slot as usize];
        (pair.count, pair.list) = (0, NO_LIST);
    }

    /// Gives a slot back that is neither in the table nor in the queue.
    pub(super) fn free(&mut self, slot: u32) {
        self.slots[slot as usize].list = NO_LIST;
        self.free.push(slot);
    }

    /// Makes room for `lists` more lists of `positions` together, by compacting the pool when it is full. Keeps all
    /// positions of `busy`, whose round is under way.
    pub(super) fn make_room(
        &mut self,
        lists: usize,
        positions: usize,
        busy: u32,
        arena: &Arena,
        ticker: &mut Ticker<'_>,
    ) -> Result<()> {
        let needed = lists * HEADER + positions;
        if self.pool.len() + needed > self.pool.capacity() {
            self.compact(busy, arena, ticker)?;
            // Compacting is paid for by the writes since the last time, which are a third of the pool or more.
            let wanted = (self.pool.len() + needed) / 2 * 3;
            if wanted > self.pool.capacity() {
                let more = wanted - self.pool.len();
                pages::reserve_exact(&mut self.pool, more);
            }
        }
        Ok(())
    }

    fn compact(&mut self, busy: u32, arena: &Arena, ticker: &mut Ticker<'_>) -> Result<()> {
        let (mut from, mut to) = (0, 0);
        while from < self.pool.len() {
            let (slot, length) = (self.pool[from], self.pool[from + 1] as usize);
            let list = from + HEADER;
            from = list + length;
            ticker.work(length + 1)?;
            let pair = &mut self.slots[slot as usize];
            if pair.list != list {
                continue;
            }
            let (start, left_length) = (to + HEADER, arena.length(pair.left));
            let mut end = start;
            for i in list..from {
                arena.prefetch_cells(&self.pool[..from], i);
                let position = self.pool[i];
                if slot == busy || arena.holds(position, pair.left, left_length, pair.right) {
                    self.pool[end] = position;
                    end += 1;
                }
            }
            (pair.list, pair.first) = (start, 0);
            (self.pool[to], self.pool[to + 1]) = (slot, (end - start) as u32);
            to = end;
        }
        self.pool.truncate(to);
        Ok(())
    }
}

fn hash(hasher: &FixedState, left: u32, right: u32) -> u64 {
    hasher.hash_one(u64::from(left) << 32 | u64::from(right))
}
