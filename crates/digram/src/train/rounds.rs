//! The training loop, one round after the other.

use super::arena::{Arena, BOUNDARY};
use super::neighbours::{NONE, Neighbour, Neighbours};
use super::order::{TokenKey, TokenOrder};
use super::pairs::Pairs;
use super::queue::{Key, Queue};
use super::ticker::Ticker;
use super::{Ties, TrainOptions, Trained};
use crate::Result;

/// Sizes that change the work but not the result; tests set them.
pub(super) struct Tuning {
    /// Pairs of a lower count are left out of the table at first. Never below `min_count` in effect.
    pub(super) first_threshold: u64,
}

/// The state of a training.
pub(super) struct Trainer<'t, 'c> {
    pub(super) arena: Arena,
    pub(super) pairs: Pairs,
    pub(super) queue: Queue,
    /// The neighbours of the new token at each of its positions, as indices into `left` and `right`, or `NONE`. Of two new
    /// tokens side by side, only the first one has the other.
    beside: Vec<(u32, u32)>,
    /// Pairs that are in the table but not in the queue yet.
    pub(super) new_slots: Vec<u32>,
    ties: Ties,
    /// The suffix order and the key of each token; only for `Ties::SmallestTokens`.
    order: Option<(TokenOrder, Vec<TokenKey>)>,
    pub(super) left: Neighbours,
    pub(super) right: Neighbours,
    min_count: u64,
    pub(super) max_token_length: u64,
    /// The table holds all pairs that count at least this, and may be merged.
    pub(super) threshold: u64,
    pub(super) ticker: &'t mut Ticker<'c>,
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
            beside: Vec::new(),
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
            while let Some(slot) = self.next_pair()? {
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
        trained.exhausted = true;
        for (_, left, right) in self.arena.pairs() {
            self.ticker.work(1)?;
            let length = u64::from(self.arena.length(left)) + u64::from(self.arena.length(right));
            if length <= self.max_token_length {
                trained.exhausted = false;
                break;
            }
        }
        Ok(trained)
    }

    fn next_pair(&mut self) -> Result<Option<u32>> {
        let Trainer { pairs, queue, arena, ties, order, ticker, .. } = self;
        queue.pop(pairs, ticker, |pairs, slot| tie_key(*ties, arena, order.as_ref(), pairs, slot))
    }

    /// Puts the new pairs into the queue, now that their positions are written.
    pub(super) fn enqueue_new(&mut self) {
        let Trainer { pairs, queue, arena, ties, order, new_slots, .. } = self;
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
        self.replace(slot, left_length, length, new)?;
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
        let kept = |n: &Neighbour| n.added >= self.threshold && u64::from(self.arena.length(n.token)) <= longest;
        let (mut lists, mut positions) = (0, 0);
        for neighbour in self.left.list.iter().chain(&self.right.list).filter(|n| kept(n)) {
            lists += 1;
            positions += neighbour.positions as usize;
        }
        if lists > 0 {
            self.pairs.make_room(lists, positions, slot, &self.arena, self.ticker)?;
            for x in self.left.list.iter_mut().filter(|n| kept(n)) {
                let (slot, place) = self.pairs.insert(x.token, new, x.added, x.positions);
                self.new_slots.push(slot);
                x.place = Some(place);
            }
            for y in self.right.list.iter_mut().filter(|n| kept(n)) {
                let (slot, place) = self.pairs.insert(new, y.token, y.added, y.positions);
                self.new_slots.push(slot);
                y.place = Some(place);
            }
            self.ticker.work(lists)?;
            self.write_positions(slot)?;
            self.enqueue_new();
        }
        self.pairs.free(slot);
        self.left.clear();
        self.right.clear();
        Ok(())
    }

    /// Replaces the pair of `slot` by `new` in the sequence, and adds up by neighbour what other pairs lose and gain.
    /// Moves the positions where it was replaced to the front of the pair's list, and notes the neighbours there.
    fn replace(&mut self, slot: u32, left_length: u32, length: u32, new: u32) -> Result<()> {
        let Trainer { arena, pairs, left: lefts, right: rights, beside, ticker, .. } = self;
        let (left, right) = (pairs.get(slot).left, pairs.get(slot).right);
        lefts.add_token();
        rights.add_token();
        beside.clear();
        let positions = pairs.positions_mut(slot);
        for i in 0..positions.len() {
            ticker.work(1)?;
            let position = positions[i];
            if !arena.holds(position, left, left_length, right) {
                continue;
            }
            let weight = arena.weight(position);
            let (x, y) = (arena.before(position), arena.at(position + length));
            arena.merge(position, left_length, length, new);
            positions[beside.len()] = position;
            let mut indices = (NONE, NONE);
            if x == new {
                let last = beside.last_mut().expect("the token before was made in this round");
                rights.list[last.1 as usize].lose(weight);
                last.1 = rights.index(new);
                rights.list[last.1 as usize].gain(weight);
            } else if x != BOUNDARY {
                indices.0 = lefts.index(x);
                let x = &mut lefts.list[indices.0 as usize];
                x.removed += weight;
                x.gain(weight);
            }
            if y != BOUNDARY {
                indices.1 = rights.index(y);
                let y = &mut rights.list[indices.1 as usize];
                y.removed += weight;
                y.gain(weight);
            }
            beside.push(indices);
        }
        Ok(())
    }

    /// Writes the positions of the new pairs that are kept: the list of `slot` begins with the positions of the new
    /// token, and `beside` has its neighbours there.
    fn write_positions(&mut self, slot: u32) -> Result<()> {
        let Trainer { arena, pairs, left: lefts, right: rights, beside, ticker, .. } = self;
        for (i, &(x, y)) in beside.iter().enumerate() {
            ticker.work(1)?;
            let position = pairs.position(slot, i);
            if x != NONE {
                let x = &mut lefts.list[x as usize];
                if let Some(place) = x.next_place() {
                    pairs.write(place, position - arena.length(x.token));
                }
            }
            if y != NONE
                && let Some(place) = rights.list[y as usize].next_place()
            {
                pairs.write(place, position);
            }
        }
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
