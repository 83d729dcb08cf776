//! Counting pairs: the table and the queue from the sequence as it is.

use super::rounds::Trainer;
use crate::pages;
use crate::{Error, Result};

impl Trainer<'_, '_> {
    /// Builds the table and the queue anew: all pairs that may be merged and count at least the threshold. Returns the
    /// highest count of all pairs that may be merged.
    ///
    /// Positions are sorted by their left token, by counting; within one left token, pairs are counted by an array
    /// over the right tokens. No hashing, and time linear in the sequence and the vocabulary.
    pub(super) fn count_pairs(&mut self) -> Result<u64> {
        let mut ends = vec![0usize; self.arena.tokens() + 1];
        for (_, left, _) in self.arena.pairs() {
            ends[left as usize + 1] += 1;
            self.ticker.work(1)?;
        }
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let total = ends[ends.len() - 1];
        let mut positions = pages::with_capacity(total);
        positions.resize(total, 0_u32);
        // ends[left] is where its next position goes; afterwards it is where its positions end.
        for (position, left, _) in self.arena.pairs() {
            positions[ends[left as usize]] = position;
            ends[left as usize] += 1;
            self.ticker.work(1)?;
        }
        self.pairs.clear(total + total / 2);
        self.queue.clear();
        let mut best = 0;
        let mut start = 0;
        let mut rights = Vec::new();
        for (left, &end) in (0..).zip(&ends[..ends.len() - 1]) {
            if start < end {
                best = best.max(self.count_pairs_of(left, &positions[start..end], &mut rights)?);
            }
            start = end;
        }
        Ok(best)
    }

    /// `count_pairs` for one left token, whose positions are given. `rights` is scratch: the right neighbour at each.
    fn count_pairs_of(&mut self, left: u32, positions: &[u32], rights: &mut Vec<u32>) -> Result<u64> {
        let length = self.arena.length(left);
        rights.clear();
        for (i, &position) in positions.iter().enumerate() {
            self.arena.prefetch(positions, i);
            let index = self.right.index(self.arena.at(position + length));
            let neighbour = &mut self.right.list[index as usize];
            let count = neighbour.added.checked_add(self.arena.weight(position));
            neighbour.added = count.ok_or(Error::CountOverflow)?;
            neighbour.positions += 1;
            rights.push(index);
            self.ticker.work(1)?;
        }
        let mut best = 0;
        for i in 0..self.right.list.len() {
            if self.may_merge(left, self.right.list[i].token) {
                let neighbour = &mut self.right.list[i];
                best = best.max(neighbour.added);
                if neighbour.added >= self.threshold {
                    let (slot, place) = self.pairs.insert(left, neighbour.token, neighbour.added, neighbour.positions);
                    self.new_slots.push(slot);
                    neighbour.place = Some(place);
                }
            }
            self.ticker.work(1)?;
        }
        if !self.new_slots.is_empty() {
            for (&position, &index) in positions.iter().zip(&*rights) {
                if let Some(place) = self.right.list[index as usize].next_place() {
                    self.pairs.write(place, position);
                }
                self.ticker.work(1)?;
            }
            self.enqueue_new();
        }
        self.right.clear();
        Ok(best)
    }
}
