//! Pieces of any length, such as a document without a split: rank by rank, each from left to right.
//!
//! A heap of ten million pairs misses the cache at every step. Here the pairs of one rank stand in a list of positions,
//! visited in ascending order, so that memory is walked through, not jumped about in: an ordinary vocabulary makes only
//! pairs of higher ranks while a rank is visited. Where a vocabulary is not canonical a merge may make a
//! pair of the same or a lower rank; such pairs wait in a small heap and go first.
//!
//! The sequence stays in its array. A token of several cells has its id in the first; its second and its last cell hold
//! its number of cells, marked, so both neighbours are found in one step. (The trainer's arena is the same idea
//! with the lengths in a table by id; here ids without a known length, such as the unknown token's, may occur.)

use super::{Merge, Rules};
use crate::{Error, Result};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Marks a cell that is no start of a token. Ids and lengths are below it.
const INNER: u32 = 1 << 31;

struct Cells<'a>(&'a mut [u32]);

impl Cells<'_> {
    /// Where the token after the one at `at` starts, or the end.
    fn after(&self, at: usize) -> usize {
        match self.0.get(at + 1) {
            Some(&cell) if cell & INNER != 0 => at + (cell & !INNER) as usize,
            _ => at + 1,
        }
    }

    /// Where the token before the one at `at` starts; `at` is not 0.
    fn before(&self, at: usize) -> usize {
        match self.0[at - 1] {
            cell if cell & INNER != 0 => at - (cell & !INNER) as usize,
            _ => at - 1,
        }
    }

    /// The rule for the token at `at` and the one after it, if it is the start of a token.
    fn rule<R: Rules>(&self, rules: &R, at: usize, reached: u32) -> Option<Merge> {
        let left = self.0[at];
        if left & INNER != 0 {
            return None;
        }
        rules.merge(left, *self.0.get(self.after(at))?, reached)
    }

    /// Makes one token of the token at `at` and the next one.
    fn join(&mut self, at: usize, id: u32) {
        let right = self.after(at);
        let end = self.after(right);
        let length = INNER | (end - at) as u32;
        self.0[at] = id;
        self.0[right] = INNER; // no start any more, wherever in the new token it lies
        self.0[at + 1] = length;
        self.0[end - 1] = length;
    }
}

/// Positions by rank; each list is written in runs that ascend.
#[derive(Default)]
struct Waiting {
    lists: HashMap<u32, Vec<u32>, FixedState>,
    ranks: BinaryHeap<Reverse<u32>>,
}

impl Waiting {
    fn add(&mut self, rank: u32, at: usize) {
        let list = self.lists.entry(rank).or_insert_with(|| {
            self.ranks.push(Reverse(rank));
            Vec::new()
        });
        list.push(at as u32);
    }

    fn lowest(&mut self) -> Option<(u32, Vec<u32>)> {
        let Reverse(rank) = self.ranks.pop()?;
        let mut list = self.lists.remove(&rank).expect("a rank in the heap has a list");
        list.sort(); // merges the runs
        Some((rank, list))
    }
}

/// Pairs looked at, or merged, between two looks at whether to stop: some milliseconds.
const BETWEEN_STOPS: u32 = 1 << 16;

/// Merges `symbols`, fewer than 2^31; returns how many ids there are. They stand at the front. `Interrupted` soon after
/// `stop` returns true.
pub(super) fn merge<R: Rules>(rules: &R, symbols: &mut [u32], stop: &dyn Fn() -> bool) -> Result<usize> {
    let mut work = 0u32;
    let mut waiting = Waiting::default();
    for (at, pair) in symbols.windows(2).enumerate() {
        if at.is_multiple_of(BETWEEN_STOPS as usize) && stop() {
            return Err(Error::Interrupted);
        }
        if let Some(merge) = rules.merge(pair[0], pair[1], 0) {
            waiting.add(merge.rank, at);
        }
    }
    let mut cells = Cells(symbols);
    // Pairs that came up at or below the rank being visited: (rank, position).
    let mut urgent: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    while let Some((visited, list)) = waiting.lowest() {
        let mut list = list.into_iter().peekable();
        loop {
            let listed = list.peek().map(|&at| (visited, at));
            let (rank, at) = match (listed, urgent.peek()) {
                (None, None) => break,
                (Some(listed), None) => listed,
                (Some(listed), Some(&Reverse(first))) if listed <= first => listed,
                (_, Some(&Reverse(first))) => first,
            };
            if listed == Some((rank, at)) {
                list.next();
            } else {
                urgent.pop();
            }
            work = work.wrapping_add(1);
            if work.is_multiple_of(BETWEEN_STOPS) && stop() {
                return Err(Error::Interrupted);
            }
            let at = at as usize;
            // Stale where the token is gone or has another neighbour by now.
            let Some(merge) = cells.rule(rules, at, rank).filter(|merge| merge.rank == rank) else {
                continue;
            };
            cells.join(at, merge.id);
            let mut renew = |left: usize| {
                if let Some(merge) = cells.rule(rules, left, rank + 1) {
                    if merge.rank > visited {
                        waiting.add(merge.rank, left);
                    } else {
                        urgent.push(Reverse((merge.rank, left as u32)));
                    }
                }
            };
            // The left pair first: lists then ascend within a round.
            if at > 0 {
                renew(cells.before(at));
            }
            renew(at);
        }
    }
    let (mut at, mut kept) = (0, 0);
    while at < cells.0.len() {
        let next = cells.after(at);
        cells.0[kept] = cells.0[at];
        kept += 1;
        at = next;
    }
    Ok(kept)
}
