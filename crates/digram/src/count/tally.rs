//! The table of one thread: pieces, how often each was counted, and where each was first met.
//!
//! Two entries to a cache line, 32 bytes each: a piece of up to 15 bytes is its own key, as in the encoder's cache, with
//! its count beside it; a longer one has a hash for a key, and its bytes stand apart. Pieces come in blocks: the lines of
//! all are asked for before the first is looked at, so that the waits for memory overlap.

use super::key::{Key, LONGEST};
use super::{BETWEEN_STOPS, PieceCounts};
use crate::pages::{Table, Zero};
use crate::prefetch::prefetch;
use crate::{Error, Result};
use foldhash::fast::{FixedState, RandomState};
use std::hash::BuildHasher;
use std::sync::LazyLock;

/// Pieces whose lines are asked for before the first is looked at.
const BLOCK: usize = 64;

/// Places in the table that are asked for before they are looked at, where their order is known.
const AHEAD: usize = 16;

/// Lines at first: 32 kB.
const FEWEST_LINES: usize = 1 << 9;

/// In the place of a length: the piece is longer than 15 bytes; the low bits are its number among these, from 1.
const LONG: u64 = 0xFF << 56;

/// Numbers that differ from process to process, so that no text can be made whose pieces fall into one line. No result
/// depends on them.
static SEEDS: LazyLock<[u64; 2]> = LazyLock::new(|| {
    let state = RandomState::default();
    [1_u64, 2].map(|i| state.hash_one(i))
});

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    low: u64,
    high: u64,
    count: u64,
    position: u64,
}

impl Entry {
    /// The key that it is found by.
    #[inline]
    fn key(&self) -> Key {
        let high = if self.high >= LONG { LONG } else { self.high };
        Key { low: self.low, high }
    }

    #[inline]
    fn differs(&self, key: Key) -> bool {
        (self.low ^ key.low) | (self.high ^ key.high) != 0
    }

    #[inline]
    fn is_free(&self) -> bool {
        self.high == 0
    }
}

/// Two entries in one cache line; the first is taken first.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([Entry; 2]);

// SAFETY: numbers alone.
#[allow(unsafe_code)]
unsafe impl Zero for Line {}

/// Distinct pieces with counts and the positions where they were first met. All tables of a process hash alike.
#[derive(Debug)]
pub(super) struct Tally {
    /// A power of two of them.
    lines: Table<Line>,
    /// The bits of a hash that are left out.
    shift: u32,
    /// Distinct pieces.
    used: usize,
    /// The pieces of more than 15 bytes, end to end, and where each ends.
    long: Vec<u8>,
    long_ends: Vec<usize>,
    seeds: [u64; 2],
}

impl Default for Tally {
    fn default() -> Self {
        let lines = Table::<Line>::zeros(0);
        Tally { shift: 64, lines, used: 0, long: Vec::new(), long_ends: Vec::new(), seeds: *SEEDS }
    }
}

/// Distinct pieces that so many lines hold: seven in ten entries.
fn room(lines: usize) -> usize {
    lines * 7 / 5
}

impl Tally {
    /// The number of distinct pieces.
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Is empty then, and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.lines.fill(Line::default());
        self.used = 0;
        self.long.clear();
        self.long_ends.clear();
    }

    /// The most memory that it takes to count some more pieces of so many bytes together: while a table is doubled, the old
    /// one is there too.
    pub(super) fn memory_with(&self, pieces: usize, bytes: usize) -> usize {
        let mut lines = self.lines.len();
        while room(lines) < self.used + pieces {
            lines = (2 * lines).max(FEWEST_LINES);
        }
        let old = if lines == self.lines.len() { 0 } else { self.lines.len() };
        let long =
            |used: usize, capacity: usize, more| if used + more > capacity { 3 * (used + more) } else { capacity };
        size_of::<Line>() * (lines + old)
            + long(self.long.len(), self.long.capacity(), bytes)
            + size_of::<usize>() * long(self.long_ends.len(), self.long_ends.capacity(), bytes / LONGEST)
    }

    /// Doubles the table until it holds so many more pieces.
    fn reserve(&mut self, more: usize) {
        while room(self.lines.len()) < self.used + more {
            let lines = Table::zeros((2 * self.lines.len()).max(FEWEST_LINES));
            let old = std::mem::replace(&mut self.lines, lines);
            self.shift = 64 - self.lines.len().trailing_zeros();
            for entry in old.iter().flat_map(|line| &line.0).filter(|entry| !entry.is_free()) {
                let mut line = self.line_of(entry.key());
                *loop {
                    match self.lines[line].0.iter_mut().find(|entry| entry.is_free()) {
                        Some(free) => break free,
                        None => line = (line + 1) & (self.lines.len() - 1),
                    }
                } = *entry;
            }
        }
    }

    #[inline]
    fn line_of(&self, key: Key) -> usize {
        (key.hash(self.seeds) >> self.shift) as usize
    }

    /// The key of a piece of more than 15 bytes.
    fn long_key(&self, piece: &[u8]) -> Key {
        Key { low: FixedState::with_seed(self.seeds[0]).hash_one(piece), high: LONG }
    }

    /// Counts each of the pieces of `text` that begin at byte `start` and have these ends once more; `position` is that of
    /// the first byte of the text.
    #[inline]
    pub(super) fn count(&mut self, text: &[u8], mut start: usize, ends: &[usize], position: u64) -> Result<()> {
        self.reserve(ends.len());
        let mut overflow = false;
        for block in ends.chunks(BLOCK) {
            let mut keys = [(Key::default(), 0); BLOCK];
            let mut from = start;
            for (slot, &end) in keys.iter_mut().zip(block) {
                let mut key = Key::of(text, from, end);
                if end - from > LONGEST {
                    key = self.long_key(&text[from..end]);
                }
                let line = self.line_of(key);
                prefetch(self.line_at(line));
                *slot = (key, line);
                from = end;
            }
            for (&(key, line), &end) in keys.iter().zip(block) {
                let line_mask = self.lines.len() - 1;
                let entries = &mut self.lines[line & line_mask].0;
                // By a number, not by a branch that nobody can foretell.
                let entry = &mut entries[usize::from(entries[0].differs(key))];
                if entry.differs(key) {
                    overflow |= !self.add_at(line, key, &text[start..end], 1, position + start as u64);
                } else {
                    entry.count = entry.count.wrapping_add(1);
                    overflow |= entry.count == 0;
                }
                start = end;
            }
        }
        if overflow { Err(Error::CountOverflow) } else { Ok(()) }
    }

    #[inline]
    fn line_at(&self, line: usize) -> &Line {
        &self.lines[line & (self.lines.len() - 1)]
    }

    /// Counts a piece, which is not empty, `n` more times. It was met at `position`.
    pub(super) fn add(&mut self, piece: &[u8], n: u64, position: u64) -> Result<()> {
        let key = if piece.len() > LONGEST { self.long_key(piece) } else { Key::of(piece, 0, piece.len()) };
        self.reserve(1);
        let added = self.add_at(self.line_of(key), key, piece, n, position);
        if added { Ok(()) } else { Err(Error::CountOverflow) }
    }

    /// The same from its first line on; false where the count is too large. A new piece has room.
    #[inline(never)]
    fn add_at(&mut self, mut line: usize, key: Key, piece: &[u8], n: u64, position: u64) -> bool {
        let mask = self.lines.len() - 1;
        let entry = loop {
            let same = |entry: &Entry| match key.high {
                LONG => {
                    let piece_of = |entry: &Entry| long_piece(&self.long, &self.long_ends, entry.high);
                    entry.high > LONG && entry.low == key.low && piece_of(entry) == piece
                }
                _ => !entry.differs(key),
            };
            match self.lines[line & mask].0.iter().position(|entry| entry.is_free() || same(entry)) {
                Some(place) => break &mut self.lines[line & mask].0[place],
                None => line += 1,
            }
        };
        if entry.is_free() {
            let mut high = key.high;
            if high == LONG {
                self.long.extend_from_slice(piece);
                self.long_ends.push(self.long.len());
                high |= self.long_ends.len() as u64;
            }
            *entry = Entry { low: key.low, high, count: n, position };
            self.used += 1;
            return true;
        }
        entry.position = entry.position.min(position);
        let sum = entry.count.checked_add(n);
        entry.count = sum.unwrap_or(u64::MAX);
        sum.is_some()
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.lines.iter().flat_map(|line| &line.0).filter(|entry| !entry.is_free())
    }

    /// Calls `each` with the piece of an entry.
    fn with_piece<T>(&self, entry: &Entry, each: impl FnOnce(&[u8]) -> T) -> T {
        if entry.high > LONG {
            return each(long_piece(&self.long, &self.long_ends, entry.high));
        }
        let (bytes, length) = entry.key().piece();
        each(&bytes[..length])
    }

    /// Adds what another table holds, of its line `line` on, which goes up with it: after [`Error::Interrupted`] one may go on
    /// there.
    pub(super) fn merge(&mut self, other: &Tally, line: &mut usize, stop: &dyn Fn() -> bool) -> Result<()> {
        while let Some(entries) = other.lines.get(*line) {
            if line.is_multiple_of(BETWEEN_STOPS) && stop() {
                return Err(Error::Interrupted);
            }
            *line += 1;
            self.reserve(entries.0.len());
            // Both tables hash alike, so the lines that are written to come in order too.
            for entry in entries.0.iter().filter(|entry| !entry.is_free()) {
                let key = entry.key();
                let piece = if key.high == LONG { long_piece(&other.long, &other.long_ends, entry.high) } else { &[] };
                if !self.add_at(self.line_of(key), key, piece, entry.count, entry.position) {
                    return Err(Error::CountOverflow);
                }
            }
        }
        Ok(())
    }

    /// Calls `each` with every piece, its count and its position, in the order of the positions.
    pub(super) fn for_each_by_position(&self, mut each: impl FnMut(&[u8], u64, u64) -> Result<()>) -> Result<()> {
        let mut order: Vec<(u64, usize)> = Vec::with_capacity(self.used);
        for (i, line) in self.lines.iter().enumerate() {
            let [first, second] = &line.0;
            if !first.is_free() {
                order.push((first.position, 2 * i));
            }
            if !second.is_free() {
                order.push((second.position, 2 * i + 1));
            }
        }
        sort(&mut order);
        for (i, &(position, place)) in order.iter().enumerate() {
            if let Some(&(_, ahead)) = order.get(i + AHEAD) {
                prefetch(self.line_at(ahead / 2));
            }
            let entry = &self.lines[place / 2].0[place % 2];
            self.with_piece(entry, |piece| each(piece, entry.count, position))?;
        }
        Ok(())
    }

    /// The same in the order of the pieces as byte strings.
    pub(super) fn for_each_by_piece(&self, mut each: impl FnMut(&[u8], u64, u64) -> Result<()>) -> Result<()> {
        let first_bytes = |entry| {
            self.with_piece(entry, |piece| {
                let mut bytes = [0; 8];
                let length = piece.len().min(8);
                bytes[..length].copy_from_slice(&piece[..length]);
                u64::from_be_bytes(bytes)
            })
        };
        let mut order: Vec<(u64, &Entry)> = Vec::with_capacity(self.used);
        order.extend(self.entries().map(|entry| (first_bytes(entry), entry)));
        order.sort_unstable_by(|(first, one), (second, other)| {
            let whole = || self.with_piece(one, |one| self.with_piece(other, |other| one.cmp(other)));
            first.cmp(second).then_with(whole)
        });
        let mut one = |entry: &Entry| self.with_piece(entry, |piece| each(piece, entry.count, entry.position));
        order.into_iter().try_for_each(|(_, entry)| one(entry))
    }

    /// Adds all but the first `done` to `counts`, in the order of the positions; `done` goes up with it: after
    /// [`Error::Interrupted`] one may go on there.
    pub(super) fn add_to(&self, counts: &mut PieceCounts, done: &mut usize, stop: &dyn Fn() -> bool) -> Result<()> {
        // Those that are there came from here, so that the others are new.
        let all_new = counts.len() == *done;
        if *done == 0 && all_new {
            *counts = PieceCounts::new();
            counts.reserve(self.used, self.long.len() + 8 * (self.used - self.long_ends.len()));
        }
        let (skipped, mut number) = (*done, 0);
        self.for_each_by_position(|piece, n, _| {
            number += 1;
            if number <= skipped {
                return Ok(());
            }
            if number.is_multiple_of(BETWEEN_STOPS) && stop() {
                return Err(Error::Interrupted);
            }
            if all_new {
                counts.push(piece, n);
            } else {
                counts.add(piece, n)?;
            }
            *done += 1;
            Ok(())
        })
    }
}

/// Sorts by the first number of each pair, which differ: digit by digit, the last one first, where they are many. (Places in
/// a table are of no order, so the sort of the standard library takes n log n comparisons, of which half are foretold wrongly.)
fn sort(pairs: &mut Vec<(u64, usize)>) {
    const DIGIT: u32 = 11;
    if pairs.len() < 1 << DIGIT {
        return pairs.sort_unstable();
    }
    let bits = u64::BITS - pairs.iter().fold(0, |all, (number, _)| all | number).leading_zeros();
    let mut other = vec![(0, 0); pairs.len()];
    for shift in (0..bits).step_by(DIGIT as usize) {
        let digit = |number: u64| (number >> shift) as usize & ((1 << DIGIT) - 1);
        let mut places = [0_usize; 1 << DIGIT];
        for &(number, _) in &*pairs {
            places[digit(number)] += 1;
        }
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        for &pair in &*pairs {
            let place = &mut places[digit(pair.0)];
            other[*place] = pair;
            *place += 1;
        }
        std::mem::swap(pairs, &mut other);
    }
}

/// A piece of more than 15 bytes, by the upper word of its entry.
#[inline]
fn long_piece<'a>(long: &'a [u8], ends: &[usize], high: u64) -> &'a [u8] {
    let number = (high ^ LONG) as usize;
    let start = if number == 1 { 0 } else { ends[number - 2] };
    &long[start..ends[number - 1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

        #[test]
        fn pairs_are_sorted_by_their_first_numbers(
            mut pairs in prop::collection::vec((any::<u64>(), any::<usize>()), 0..6000),
            bits in 1_u32..64,
        ) {
            pairs.iter_mut().for_each(|pair| pair.0 >>= bits);
            pairs.sort_unstable();
            pairs.dedup_by_key(|pair| pair.0);
            let expected = pairs.clone();
            pairs.sort_unstable_by_key(|pair| pair.1);
            sort(&mut pairs);
            prop_assert_eq!(pairs, expected);
        }
    }
}
