//! The training loop: counting pairs, and one round after the other.

use super::arena::{Arena, BOUNDARY};
use super::order::{TokenKey, TokenOrder};
use super::pairs::Pairs;
use super::queue::{Key, Queue};
use super::ticker::Ticker;
use super::{Ties, TrainOptions, Trained};
use crate::{Error, Result};

/// Sizes that change the work but not the result; tests set them.
pub(super) struct Tuning {
    /// Pairs of a lower count are left out of the table at first. Never below `min_count` in effect.
    pub(super) first_threshold: u64,
}

/// The state of a training.
pub(super) struct Trainer<'t, 'c> {
    arena: Arena,
    pairs: Pairs,
    queue: Queue,
    /// Pairs that are in the table but not in the queue yet.
    new_slots: Vec<u32>,
    ties: Ties,
    /// The suffix order and the key of each token; only for `Ties::SmallestTokens`.
    order: Option<(TokenOrder, Vec<TokenKey>)>,
    left: Neighbours,
    right: Neighbours,
    min_count: u64,
    max_token_length: u64,
    /// The table holds all pairs that count at least this, and may be merged.
    threshold: u64,
    ticker: &'t mut Ticker<'c>,
}

impl<'t, 'c> Trainer<'t, 'c> {
    pub(super) fn new(arena: Arena, options: &TrainOptions, ticker: &'t mut Ticker<'c>) -> Result<Self> {
        let order = match options.ties {
            Ties::SmallestTokens => {
                let order = TokenOrder::new(&arena, ticker)?;
                let keys = base_keys(&arena, ticker)?;
                Some((order, keys))
            }
            Ties::SmallestIds | Ties::FirstSeen => None,
        };
        Ok(Trainer {
            left: Neighbours::new(arena.tokens()),
            right: Neighbours::new(arena.tokens()),
            arena,
            pairs: Pairs::default(),
            queue: Queue::default(),
            new_slots: Vec::new(),
            ties: options.ties,
            order,
            min_count: options.min_count,
            max_token_length: options.max_token_length.unwrap_or(u64::MAX),
            threshold: 0,
            ticker,
        })
    }

    /// Learns at most `planned` merges.
    pub(super) fn run(mut self, planned: u64, tuning: &Tuning) -> Result<Trained> {
        let mut trained = Trained::default();
        if planned == 0 {
            return Ok(trained);
        }
        let mut best_left = u64::MAX;
        self.threshold = tuning.first_threshold;
        loop {
            // The table has become empty, or is not there yet: all pairs left have counts below the last threshold and
            // at most `best_left`. Those far below it can wait again.
            self.threshold = self.threshold.min(best_left / 8).max(self.min_count);
            best_left = self.count_pairs()?;
            while let Some(slot) = self.next_pair() {
                let pair = self.pairs.get(slot);
                trained.merges.push((pair.left, pair.right));
                trained.merge_counts.push(pair.count);
                self.ticker.progress.best_count = pair.count;
                self.merge(slot)?;
                self.ticker.progress.merges += 1;
                if trained.merges.len() as u64 == planned {
                    return Ok(trained);
                }
            }
            if self.threshold == self.min_count {
                break;
            }
            best_left = best_left.min(self.threshold - 1);
        }
        let allowed = |left, right| self.joined_length(left, right) <= self.max_token_length;
        trained.exhausted = !self.arena.pairs().any(|(_, left, right)| allowed(left, right));
        Ok(trained)
    }

    fn next_pair(&mut self) -> Option<u32> {
        let Trainer {
            pairs,
            queue,
            arena,
            ties,
            order,
            ..
        } = self;
        queue.pop(pairs, |pairs, slot| tie_key(*ties, arena, order.as_ref(), pairs, slot))
    }

    fn joined_length(&self, left: u32, right: u32) -> u64 {
        u64::from(self.arena.length(left)) + u64::from(self.arena.length(right))
    }

    /// Builds the table and the queue anew from the sequence: all pairs of `threshold` or more. Returns the highest
    /// count of all pairs that may be merged.
    ///
    /// Positions are sorted by their left token, by counting; within one left token, pairs are counted by an array
    /// over the right tokens. No hashing, and time linear in the sequence and the vocabulary.
    fn count_pairs(&mut self) -> Result<u64> {
        let mut ends = vec![0usize; self.arena.tokens() + 1];
        for (_, left, _) in self.arena.pairs() {
            ends[left as usize + 1] += 1;
            self.ticker.work(1)?;
        }
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let total = ends[ends.len() - 1];
        let mut positions = vec![0u32; total];
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
        for (left, &end) in (0..).zip(&ends[..ends.len() - 1]) {
            let positions = &positions[start..end];
            best = best.max(self.count_pairs_of(left, positions)?);
            start = end;
        }
        Ok(best)
    }

    /// `count_pairs` for one left token, whose positions are given.
    fn count_pairs_of(&mut self, left: u32, positions: &[u32]) -> Result<u64> {
        let length = self.arena.length(left);
        for &position in positions {
            let neighbour = self.right.get(self.arena.at(position + length));
            let count = neighbour.added.checked_add(self.arena.weight(position));
            neighbour.added = count.ok_or(Error::CountOverflow)?;
            neighbour.positions += 1;
            self.ticker.work(1)?;
        }
        let mut best = 0;
        for i in 0..self.right.list.len() {
            let Neighbour {
                token,
                added,
                positions,
                ..
            } = self.right.list[i];
            if self.joined_length(left, token) <= self.max_token_length {
                best = best.max(added);
                if added >= self.threshold {
                    self.right.list[i].kept = true;
                    self.right.list[i].place = self.add_pair(left, token, added, positions);
                }
            }
        }
        for &position in positions {
            if let Some(place) = self.right.next_place(self.arena.at(position + length)) {
                self.pairs.write(place, position);
            }
            self.ticker.work(1)?;
        }
        self.enqueue_new();
        self.right.clear();
        Ok(best)
    }

    /// Puts a pair into the table, and notes it for `enqueue_new`. Returns where its positions go.
    fn add_pair(&mut self, left: u32, right: u32, count: u64, positions: u32) -> usize {
        let (slot, place) = self.pairs.insert(left, right, count, positions);
        self.new_slots.push(slot);
        place
    }

    /// Puts the new pairs into the queue, now that their positions are written.
    fn enqueue_new(&mut self) {
        let Trainer {
            pairs,
            queue,
            arena,
            ties,
            order,
            new_slots,
            ..
        } = self;
        for slot in new_slots.drain(..) {
            let count = pairs.get(slot).count;
            queue.push(slot, count, || tie_key(*ties, arena, order.as_ref(), pairs, slot));
        }
    }

    /// One round: replaces the pair everywhere by a new token, and brings the table up to date.
    ///
    /// The pair `l r` in `x l r y` gives way to `x n y`: (x, l) and (r, y) lose an occurrence, (x, n) and (n, y) gain
    /// one. Occurrences are visited from left to right, as the definition replaces them, and losses and gains are added
    /// up by neighbour first, so that the table is asked once a neighbour. In runs (`l r l r`, or `l l l l` with
    /// l = r) the left neighbour may be a new token already: then it is the occurrence before, which has booked the loss
    /// between the two, and (n, l) which it gained there becomes (n, n).
    ///
    /// A new pair that counts less than the threshold need not enter the table: all its occurrences arise in this round,
    /// so its count only falls from here on.
    fn merge(&mut self, slot: u32) -> Result<()> {
        let (left, right) = (self.pairs.get(slot).left, self.pairs.get(slot).right);
        let left_length = self.arena.length(left);
        let length = left_length + self.arena.length(right);
        let new = self.arena.add_token(length)?;
        self.pairs.remove(slot);
        let merged = self.replace(slot, left_length, length, new)?;
        if let Some((order, keys)) = &mut self.order {
            keys.push(order.key(self.pairs.position(slot, 0), length));
        }

        for x in &self.left.list {
            self.pairs.subtract(x.token, left, x.removed, self.threshold);
        }
        for y in &self.right.list {
            self.pairs.subtract(right, y.token, y.removed, self.threshold);
        }
        self.ticker.work(self.left.list.len() + self.right.list.len())?;

        let longest = self.max_token_length.saturating_sub(u64::from(length));
        let (mut lists, mut positions) = (0, 0);
        for neighbour in self.left.list.iter_mut().chain(&mut self.right.list) {
            neighbour.kept =
                neighbour.added >= self.threshold && u64::from(self.arena.length(neighbour.token)) <= longest;
            if neighbour.kept {
                lists += 1;
                positions += neighbour.positions as usize;
            }
        }
        if lists > 0 {
            self.pairs.make_room(lists, positions, slot, &self.arena, self.ticker)?;
            self.add_new_pairs(slot, merged, new, length)?;
        }
        self.pairs.free(slot);
        self.left.clear();
        self.right.clear();
        Ok(())
    }

    /// Replaces the pair of `slot` by `new` in the sequence, and adds up by neighbour what other pairs lose and gain.
    /// Moves the positions where it was replaced to the front of the pair's list, and returns their number.
    fn replace(&mut self, slot: u32, left_length: u32, length: u32, new: u32) -> Result<usize> {
        let Trainer {
            arena,
            pairs,
            left: lefts,
            right: rights,
            ticker,
            ..
        } = self;
        let (left, right) = (pairs.get(slot).left, pairs.get(slot).right);
        lefts.add_token();
        rights.add_token();
        let positions = pairs.positions_mut(slot);
        let mut merged = 0;
        for i in 0..positions.len() {
            let position = positions[i];
            ticker.work(1)?;
            if !arena.holds(position, left, left_length, right) {
                continue;
            }
            let weight = arena.weight(position);
            let (x, y) = (arena.before(position), arena.at(position + length));
            if x == new {
                rights.get(left).lose(weight);
                rights.get(new).gain(weight);
            } else if x != BOUNDARY {
                let x = lefts.get(x);
                x.removed += weight;
                x.gain(weight);
            }
            if y != BOUNDARY {
                let y = rights.get(y);
                y.removed += weight;
                y.gain(weight);
            }
            arena.merge(position, left_length, length, new);
            positions[merged] = position;
            merged += 1;
        }
        Ok(merged)
    }

    /// Adds the pairs of the new token that are to be kept, with their positions: `merged` of them are at the front of
    /// the list of `slot`.
    fn add_new_pairs(&mut self, slot: u32, merged: usize, new: u32, length: u32) -> Result<()> {
        for i in 0..self.left.list.len() {
            let Neighbour {
                token,
                added,
                positions,
                kept,
                ..
            } = self.left.list[i];
            if kept {
                self.left.list[i].place = self.add_pair(token, new, added, positions);
            }
        }
        for i in 0..self.right.list.len() {
            let Neighbour {
                token,
                added,
                positions,
                kept,
                ..
            } = self.right.list[i];
            if kept {
                self.right.list[i].place = self.add_pair(new, token, added, positions);
            }
        }
        for i in 0..merged {
            let position = self.pairs.position(slot, i);
            let (x, y) = (self.arena.before(position), self.arena.at(position + length));
            // (new, new) is booked once, as a right neighbour.
            if x != BOUNDARY && x != new {
                if let Some(place) = self.left.next_place(x) {
                    self.pairs.write(place, position - self.arena.length(x));
                }
            }
            if y != BOUNDARY {
                if let Some(place) = self.right.next_place(y) {
                    self.pairs.write(place, position);
                }
            }
            self.ticker.work(1)?;
        }
        self.enqueue_new();
        Ok(())
    }
}

/// What decides between pairs of equal count.
fn tie_key(
    ties: Ties,
    arena: &Arena,
    order: Option<&(TokenOrder, Vec<TokenKey>)>,
    pairs: &mut Pairs,
    slot: u32,
) -> Key {
    let (left, right) = (pairs.get(slot).left, pairs.get(slot).right);
    match (ties, order) {
        (Ties::FirstSeen, _) => (u64::from(pairs.first_position(slot, arena)), 0),
        (Ties::SmallestTokens, Some((_, keys))) => (keys[left as usize], keys[right as usize]),
        _ => (u64::from(left), u64::from(right)),
    }
}

/// The neighbours on one side of what a round merges (or of one left token, in `count_pairs`), each once.
struct Neighbours {
    /// Token -> its place in `list`, or `NONE`.
    index: Vec<u32>,
    list: Vec<Neighbour>,
}

#[derive(Clone, Copy)]
struct Neighbour {
    token: u32,
    /// The positions of its pair with the new token.
    positions: u32,
    /// What its pair with the old token loses.
    removed: u64,
    /// What its pair with the new token counts.
    added: u64,
    /// Whether its pair with the new token enters the table; then its next position goes to `place`.
    kept: bool,
    place: usize,
}

const NONE: u32 = u32::MAX;

impl Neighbours {
    fn new(tokens: usize) -> Self {
        Neighbours {
            index: vec![NONE; tokens],
            list: Vec::new(),
        }
    }

    fn add_token(&mut self) {
        self.index.push(NONE);
    }

    fn get(&mut self, token: u32) -> &mut Neighbour {
        let place = &mut self.index[token as usize];
        if *place == NONE {
            *place = self.list.len() as u32;
            self.list.push(Neighbour {
                token,
                positions: 0,
                removed: 0,
                added: 0,
                kept: false,
                place: 0,
            });
        }
        &mut self.list[*place as usize]
    }

    /// Where the next position of the pair with `token` goes, if it is kept. The token is in the list.
    fn next_place(&mut self, token: u32) -> Option<usize> {
        let neighbour = &mut self.list[self.index[token as usize] as usize];
        let place = neighbour.place;
        neighbour.place += 1;
        neighbour.kept.then_some(place)
    }

    fn clear(&mut self) {
        for neighbour in self.list.drain(..) {
            self.index[neighbour.token as usize] = NONE;
        }
    }
}

impl Neighbour {
    fn gain(&mut self, weight: u64) {
        self.added += weight;
        self.positions += 1;
    }

    fn lose(&mut self, weight: u64) {
        self.added -= weight;
        self.positions -= 1;
    }
}

/// The keys of the base symbols: the suffixes that begin with a smaller symbol, or with a boundary, come before.
fn base_keys(arena: &Arena, ticker: &mut Ticker<'_>) -> Result<Vec<TokenKey>> {
    let mut occurrences = vec![0u64; arena.tokens()];
    let mut first = 0;
    for &cell in arena.cells() {
        match occurrences.get_mut(cell as usize) {
            Some(count) => *count += 1,
            None => first += 1,
        }
        ticker.work(1)?;
    }
    let key = |count| {
        let key = first << 32 | 1;
        first += count;
        key
    };
    Ok(occurrences.into_iter().map(key).collect())
}
