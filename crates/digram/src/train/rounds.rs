//! The training loop, one round after the other.

use super::arena::{Arena, BOUNDARY};
use super::neighbours::{NONE, Neighbour, Neighbours};
use super::pairs::Pairs;
use super::queue::Queue;
use super::replay::replay;
use super::rules::Shapes;
use super::ticker::Ticker;
use super::ties::TieKeys;
use super::{Alphabet, TrainOptions};
use crate::Result;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

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
    pub(super) beside: Vec<(u32, u32)>,
    /// Pairs that are in the table but not in the queue yet.
    pub(super) new_slots: Vec<u32>,
    ties: TieKeys,
    /// The forbidden merges, if there are any.
    pub(super) shapes: Option<Shapes>,
    /// The pairs that the caller did not allow.
    pub(super) refused: HashSet<(u32, u32), FixedState>,
    /// The strings of the base symbols, where the caller is asked.
    spelt: Option<Vec<Vec<u8>>>,
    pub(super) left: Neighbours,
    pub(super) right: Neighbours,
    min_count: u64,
    pub(super) max_token_length: u64,
    /// The table holds all pairs that count at least this, and may be merged.
    pub(super) threshold: u64,
    pub(super) ticker: &'t mut Ticker<'c>,
}

impl<'t, 'c> Trainer<'t, 'c> {
    pub(super) fn new(
        arena: Arena,
        options: &TrainOptions,
        characters: &[char],
        ticker: &'t mut Ticker<'c>,
    ) -> Result<Self> {
        let spelt = || match options.alphabet {
            Alphabet::Bytes => (0..=255).map(|byte| vec![byte]).collect(),
            Alphabet::Characters => characters.iter().map(|character| character.to_string().into_bytes()).collect(),
        };
        Ok(Trainer {
            left: Neighbours::new(arena.tokens()),
            right: Neighbours::new(arena.tokens()),
            ties: TieKeys::new(options, &arena, ticker)?,
            shapes: Shapes::new(options.rules, options.alphabet, characters),
            refused: HashSet::default(),
            spelt: options.ask.then(spelt),
            arena,
            pairs: Pairs::default(),
            queue: Queue::default(),
            beside: Vec::new(),
            new_slots: Vec::new(),
            min_count: options.min_count,
            max_token_length: options.max_token_length.unwrap_or(u64::MAX),
            threshold: 0,
            ticker,
        })
    }

    /// Makes the merges that come before learning.
    pub(super) fn begin(&mut self, merges: &[(u32, u32)]) -> Result<()> {
        let counts = self.go_on(merges)?;
        for (&(left, right), &count) in merges.iter().zip(&counts) {
            self.ticker.learn(left, right, count);
            self.ticker.progress.merges += 1;
        }
        Ok(())
    }

    /// Makes merges that are known already, and returns how often.
    pub(super) fn go_on(&mut self, merges: &[(u32, u32)]) -> Result<Vec<u64>> {
        let first = self.arena.tokens() as u32;
        let replayed = replay(&mut self.arena, merges, self.ticker)?;
        for (id, (&(left, right), &position)) in (first..).zip(merges.iter().zip(&replayed.positions)) {
            self.add_token(left, right, position.map(|position| (position, self.arena.length(id))));
            self.left.add_token();
            self.right.add_token();
        }
        Ok(replayed.counts)
    }

    /// Notes what has to be known about the token that joins two, of which an occurrence is given, with its length.
    pub(super) fn add_token(&mut self, left: u32, right: u32, occurrence: Option<(u32, u32)>) {
        if let Some(shapes) = &mut self.shapes {
            shapes.add(left, right);
        }
        self.ties.add_token(occurrence);
    }

    /// Learns merges until there are `planned`. Returns whether no pair was left.
    pub(super) fn run(mut self, planned: u64, tuning: &Tuning) -> Result<bool> {
        Ok(!self.learn(planned, tuning)? && self.is_exhausted()?)
    }

    /// Learns merges until there are `planned`, and returns true, or until no pair counts enough.
    pub(super) fn learn(&mut self, planned: u64, tuning: &Tuning) -> Result<bool> {
        if self.ticker.progress.merges == planned {
            return Ok(true);
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
                let (left, right, count) = (pair.left, pair.right, pair.count);
                if !self.is_allowed(left, right)? {
                    self.pairs.remove(slot);
                    self.pairs.free(slot);
                    self.refused.insert((left, right));
                    continue;
                }
                self.ticker.learn(left, right, count);
                self.merge(slot)?;
                self.pairs.free(slot);
                self.ticker.progress.merges += 1;
                if self.ticker.progress.merges == planned {
                    return Ok(true);
                }
            }
            if self.threshold == self.min_count {
                return Ok(false);
            }
            best_left = best_left.min(self.threshold - 1);
        }
    }

    /// Whether no pair is left that may be merged, whatever it counts.
    pub(super) fn is_exhausted(&mut self) -> Result<bool> {
        for (_, left, right) in self.arena.pairs() {
            self.ticker.work(1)?;
            if self.may_merge(left, right) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a pair may be merged, as far as it is known without asking.
    pub(super) fn may_merge(&self, left: u32, right: u32) -> bool {
        u64::from(self.arena.length(left)) + u64::from(self.arena.length(right)) <= self.max_token_length
            && self.shapes.as_ref().is_none_or(|shapes| shapes.allow(left, right))
            && !self.refused.contains(&(left, right))
    }

    /// Asks the caller, where the caller wants to be asked.
    fn is_allowed(&mut self, left: u32, right: u32) -> Result<bool> {
        let Some(base) = &self.spelt else {
            return Ok(true);
        };
        let merges = &self.ticker.learned.merges;
        let spell = |token: u32| {
            let (mut string, mut stack) = (Vec::new(), vec![token]);
            while let Some(token) = stack.pop() {
                match base.get(token as usize) {
                    Some(symbol) => string.extend_from_slice(symbol),
                    None => {
                        let (left, right) = merges[token as usize - base.len()];
                        stack.extend([right, left]);
                    }
                }
            }
            string
        };
        let (left, right) = (spell(left), spell(right));
        self.ticker.allows(&left, &right)
    }

    /// Takes the next pair out of the queue.
    pub(super) fn next_pair(&mut self) -> Result<Option<u32>> {
        let Trainer { pairs, queue, arena, ties, ticker, .. } = self;
        queue.pop(pairs, ticker, |pairs, slot| ties.key(arena, pairs, slot))
    }

    /// Puts the new pairs into the queue, now that their positions are written.
    pub(super) fn enqueue_new(&mut self) {
        let Trainer { pairs, queue, arena, ties, new_slots, .. } = self;
        for slot in new_slots.drain(..) {
            let count = pairs.get(slot).count;
            queue.push(slot, count, || ties.key(arena, pairs, slot));
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
    /// The slot is free then, for whoever took it out of the queue.
    pub(super) fn merge(&mut self, slot: u32) -> Result<()> {
        let (left, right) = (self.pairs.get(slot).left, self.pairs.get(slot).right);
        let left_length = self.arena.length(left);
        let length = left_length + self.arena.length(right);
        let new = self.arena.add_token(length)?;
        self.pairs.remove(slot);
        self.replace(slot, left_length, length, new)?;
        self.add_token(left, right, Some((self.pairs.position(slot, 0), length)));

        for x in &self.left.list {
            self.pairs.subtract(x.token, left, x.removed, self.threshold);
        }
        for y in &self.right.list {
            self.pairs.subtract(right, y.token, y.removed, self.threshold);
        }
        self.ticker.work(self.left.list.len() + self.right.list.len())?;

        let longest = self.max_token_length.saturating_sub(u64::from(length));
        let kept = |n: &Neighbour| n.added >= self.threshold && u64::from(self.arena.length(n.token)) <= longest;
        if let Some(shapes) = &self.shapes {
            // What may not be merged need not be known.
            let shut = |n: &Neighbour, before| kept(n) && !shapes.allow_beside(n.token, new, before);
            self.left.list.iter_mut().for_each(|n| n.added = if shut(n, true) { 0 } else { n.added });
            self.right.list.iter_mut().for_each(|n| n.added = if shut(n, false) { 0 } else { n.added });
        }
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
            arena.prefetch(positions, i);
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
