//! What pieces of up to 255 bytes came to.
//!
//! A table of lines, as gigatoken has one: two entries to a cache line, 16 bytes for the piece and its length, 16 for
//! up to four ids, so a hit compares two words and copies four ids without asking how many they are; the number is in
//! bits that ids have to spare. More ids than four stand [`apart`](super::apart), and so do the bytes of pieces of more
//! than 15, which are found by a hash.
//!
//! A piece is in the line that its hash names, or, where that is full, in one of the next, up to the sixteenth: while
//! there is room, nothing that was kept is lost. (With two lines for each piece, pieces that fell together drove each
//! other out of a table that was half empty. A second line anywhere in the table keeps more, but was waited for each
//! time.) A table that is half full becomes four times as large. At its largest it is kept three quarters full: a hand
//! goes round, and what it meets goes. (With five eighths new text took a tenth longer, with seven eighths known text a
//! third.) In three rounds of four it passes over pieces of one id, which mostly are tokens: of them a text has more
//! than of all others. What is looked for in other lines than its own comes nearer, now and then: in a full table those
//! who came first, not those who come often, have the best places.

use super::apart::Apart;
use super::key::Key;
use super::line::{ENTRIES, Entry, Hit, Line, REACH};
use super::pages::Table;
use super::view::View;

/// Lines at first, and at most: 64 kB, and 32 MB. (With 16 MB new text took a seventh longer, once a hundred megabytes
/// of other text had gone by; that is as far as those rivals go that keep least.)
const FEWEST_LINES: usize = 1 << 10;
const MOST_LINES: usize = 1 << 19;

/// Entries of the largest table.
const MOST_USED: usize = MOST_LINES * ENTRIES / 4 * 3;

/// How many times larger a table becomes: what is new in it is written once, and what was there is moved fewer times.
const GROWTH: usize = 4;

/// Rounds of the hand, of which one stops at pieces of one id.
const ROUNDS: usize = 4;

/// Lines that the hand goes over in search of a piece of several ids, at most.
const MOST_PASSED: usize = 256;

/// Lines after a free place that are looked at for an entry that belongs there, at most.
const CLOSED_UP: usize = 16 * REACH;

/// Where an entry is, or would be: a line, and which of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Taken(usize, usize),
    Free(usize, usize),
    /// All lines that it may be in are full; the first of them.
    None(usize),
}

#[derive(Debug)]
pub(super) struct Cache {
    /// A power of two of them.
    lines: Table<Line>,
    used: usize,
    /// Which entry of a line gives way next.
    next: usize,
    /// The line that the hand is at, counted from the beginning of the first round.
    hand: usize,
    apart: Apart,
}

impl Cache {
    pub(super) fn new() -> Self {
        let lines = Table::with_room(FEWEST_LINES, MOST_LINES);
        Self { lines, used: 0, next: 0, hand: 0, apart: Apart::default() }
    }

    /// What is read of it.
    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        View::new(&self.lines, &self.apart)
    }

    /// Keeps the ids of a piece, under its key, if they are not there; unless they are very many.
    pub(super) fn insert(&mut self, key: Key, piece: &[u8], ids: &[u32]) {
        debug_assert!(key.may_have_an_entry());
        let place = self.find(key);
        if let Place::Taken(line, at) = place {
            match self.lines[line].0[at].hit() {
                Hit::Apart(place, count) if self.view().apart(key, place, count, piece).is_none() => {}
                _ => return,
            }
        }
        let few = if key.is_hashed() { None } else { Entry::with(key, ids) };
        let bytes = if key.is_hashed() { piece } else { &[] };
        let apart = |cache: &mut Self| Some(Entry::apart(key, cache.apart.keep(ids, bytes)?, ids.len()));
        let Some(entry) = few.or_else(|| apart(self)) else { return };
        match place {
            Place::Taken(line, at) => self.lines[line].0[at] = entry,
            _ if self.make_room() => self.put(entry, self.find(key)),
            _ => self.put(entry, place),
        }
    }

    /// Sees to it that there is room for one more; whether anything moved.
    fn make_room(&mut self) -> bool {
        let full = if self.lines.len() < MOST_LINES { self.lines.len() * ENTRIES / 2 } else { MOST_USED };
        if self.used < full {
            return false;
        }
        if self.lines.len() < MOST_LINES {
            self.grow()
        } else {
            self.remove_one()
        }
        true
    }

    /// Puts the piece of a key into its own line, if it is in another one; what stood there takes its place.
    pub(super) fn bring_near(&mut self, key: Key) {
        let (own, Place::Taken(line, at)) = (self.own_line(key), self.find(key)) else { return };
        self.next = self.next.wrapping_add(1);
        for other in [self.next % ENTRIES, (self.next + 1) % ENTRIES] {
            let entry = self.lines[own].0[other];
            if line != own && self.distance(self.own_line(entry.key), line) < REACH {
                self.lines[own].0[other] = self.lines[line].0[at];
                self.lines[line].0[at] = entry;
                return;
            }
        }
    }

    #[inline]
    fn own_line(&self, key: Key) -> usize {
        key.hash() as usize & (self.lines.len() - 1)
    }

    #[inline]
    fn after(&self, line: usize, steps: usize) -> usize {
        (line + steps) & (self.lines.len() - 1)
    }

    /// How many lines the second is after the first.
    fn distance(&self, first: usize, second: usize) -> usize {
        second.wrapping_sub(first) & (self.lines.len() - 1)
    }

    /// Where the entry of a key is, or would be.
    fn find(&self, key: Key) -> Place {
        let own = self.own_line(key);
        for step in 0..REACH {
            let line = self.after(own, step);
            if let Some(at) = self.lines[line].0.iter().position(|entry| entry.key == key || entry.is_free()) {
                let free = self.lines[line].0[at].is_free();
                return if free { Place::Free(line, at) } else { Place::Taken(line, at) };
            }
        }
        Place::None(own)
    }

    /// Puts an entry where it was said that it would be.
    fn put(&mut self, entry: Entry, place: Place) {
        let (line, at) = match place {
            Place::Free(line, at) => {
                self.used += 1;
                (line, at)
            }
            Place::Taken(line, at) => (line, at),
            // All of its lines by turns: else what once filled them would stay, and only two of what comes later.
            Place::None(own) => {
                self.next = self.next.wrapping_add(1);
                (self.after(own, self.next / ENTRIES % REACH), self.next % ENTRIES)
            }
        };
        self.lines[line].0[at] = entry;
    }

    fn grow(&mut self) {
        let old = self.lines.to_vec();
        self.lines.lengthen((GROWTH * old.len()).min(MOST_LINES));
        self.lines[..old.len()].fill(Line::default());
        self.used = 0;
        for entry in old.iter().flat_map(|line| line.0).filter(|entry| !entry.is_free()) {
            self.put(entry, self.find(entry.key));
        }
    }

    /// Removes the next entry that the hand stops at.
    fn remove_one(&mut self) {
        for passed in 0..=self.lines.len() {
            let round = self.hand / self.lines.len();
            let (line, all) = (self.after(self.hand, 0), passed >= MOST_PASSED || round.is_multiple_of(ROUNDS));
            self.hand = self.hand.wrapping_add(1);
            let goes = |entry: &Entry| !entry.is_free() && (all || !entry.is_one());
            if let Some(at) = self.lines[line].0.iter().rposition(goes) {
                self.remove(line, at);
                return;
            }
        }
    }

    /// Takes an entry out, and moves up what stands behind it because this place was taken.
    fn remove(&mut self, line: usize, at: usize) {
        let (mut hole, mut full) = (line, self.take_out(line, at));
        self.used -= 1;
        for step in 1..CLOSED_UP {
            // Nothing comes past a line that had room, nor from farther than the last line it may be in.
            let line = self.after(line, step);
            let steps = self.distance(hole, line);
            if !full || steps >= REACH {
                return;
            }
            let comes = |entry: &Entry| !entry.is_free() && self.distance(self.own_line(entry.key), line) >= steps;
            match self.lines[line].0.iter().position(comes) {
                Some(at) => {
                    self.lines[hole].0[ENTRIES - 1] = self.lines[line].0[at];
                    (hole, full) = (line, self.take_out(line, at));
                }
                None => full = self.lines[line].is_full(),
            }
        }
        // What is farther behind may not be found any more: it is merged again, and kept again.
    }

    /// Takes an entry out of its line; whether that was full.
    fn take_out(&mut self, line: usize, at: usize) -> bool {
        let entries = &mut self.lines[line].0;
        let full = !entries[ENTRIES - 1].is_free();
        entries.copy_within(at + 1.., at);
        entries[ENTRIES - 1] = Entry::default();
        full
    }
}

#[cfg(test)]
mod tests;
