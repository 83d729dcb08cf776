//! What pieces of up to 15 bytes came to.
//!
//! A set-associative table, as gigatoken has one: two entries to a cache line, 16 bytes for the piece and its length, 16 for
//! up to four ids, so a hit compares two words and copies four ids without asking how many they are; the number is in bits that ids have to spare. More ids than four
//! stand apart.
//!
//! A piece has two lines that it may stand in, next to each other: mostly it is in the first; the second keeps pieces that
//! fall together from driving each other out. (A second line anywhere in the table keeps more, but was waited for each
//! time.) A table that is half full is doubled (a fuller one of half the
//! size took a fifth longer: too many pieces were in their second line); at its largest, new pieces take the place of old ones.

use super::long::LongParts;
use super::pages::{Table, Zero};
use crate::prefetch::prefetch;
use std::mem::MaybeUninit;

/// The longest piece that has an entry, in bytes.
pub(super) const LONGEST: usize = 15;

/// Pieces whose lines are asked for before the first is looked at.
pub(super) const BLOCK: usize = 64;

/// Ids within an entry.
pub(super) const FEW: usize = 4;

/// Lines at first, and at most: 64 kB, and 16 MB.
const FEWEST_LINES: usize = 1 << 10;
const MOST_LINES: usize = 1 << 18;

/// Ids of entries with more than four, at most: 1 MB.
const MOST_MANY: usize = 1 << 18;

/// A piece as two words: its bytes, and above the last of them its length, in bits 56 to 60; bit 61 says that it is a
/// part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    low: u64,
    high: u64,
}

/// Where the length is, in the second word.
const LENGTH: u64 = 0x1F << 56;

/// What a length makes of sixteen bytes.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Shape {
    /// Which bits of both words are the piece's.
    low: u64,
    high: u64,
    /// What is added above them.
    length: u64,
}

/// By length, and the last one for all that are too long.
const SHAPES: [Shape; LONGEST + 2] = {
    // What no entry has: bytes, of a piece without length.
    let mut shapes = [Shape { low: 0, high: 0, length: 1 }; LONGEST + 2];
    let mut length = 1;
    while length <= LONGEST {
        let bits = u128::MAX >> (128 - 8 * length);
        shapes[length] = Shape { low: bits as u64, high: (bits >> 64) as u64, length: (length as u64) << 56 };
        length += 1;
    }
    shapes
};

impl Key {
    /// The key of `text[from..end]`, which is not empty; of pieces that are too long one that no entry has.
    #[inline]
    pub(super) fn of(text: &[u8], from: usize, end: usize) -> Self {
        let words = match text.len().checked_sub(16) {
            // SAFETY: sixteen bytes are there.
            #[allow(unsafe_code, reason = "one comparison instead of three for each piece of a text")]
            Some(last) if from <= last => unsafe { text.as_ptr().add(from).cast::<[u64; 2]>().read_unaligned() },
            _ => Self::last(text, from),
        };
        let [low, high] = words.map(u64::from_le);
        let shape = SHAPES[(end - from).min(LONGEST + 1)];
        Self { low: low & shape.low, high: high & shape.high | shape.length }
    }

    /// The last bytes of a text, fewer than 16, and zeros: two words, the first byte at the bottom in memory.
    #[cold]
    fn last(text: &[u8], from: usize) -> [u64; 2] {
        let mut padded = [0; 16];
        padded[..text.len() - from].copy_from_slice(&text[from..]);
        let (words, _) = padded.as_chunks();
        [0, 1].map(|i| u64::from_ne_bytes(words[i]))
    }

    /// Whether an entry can hold the piece: it is not too long.
    #[inline]
    pub(super) fn may_have_an_entry(self) -> bool {
        self.high & LENGTH != 0
    }

    /// The key of the same bytes as a part of a piece, where a vocabulary gives a piece and a part of these bytes different ids.
    #[inline]
    fn of_part(self) -> Self {
        Self { high: self.high | 1 << 61, ..self }
    }

    #[inline]
    fn hash(self) -> u64 {
        // Both halves of a product: the lower bits of what comes out depend on all bits of both words.
        let product = u128::from(self.low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(self.high ^ 0xE703_7ED1_A0B4_28DB);
        (product as u64) ^ (product >> 64) as u64
    }
}

/// A piece and its ids.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: Key,
    /// The ids, the number of them in the four highest bits of the first; or, of `MANY`, the number alone there, where they
    /// begin among those that stand apart, and how many they are.
    ids: [u32; FEW],
}

/// In the place of a number of ids: they stand apart.
const MANY: u32 = 15;

/// Bits of an id below the number of ids.
const ID_BITS: u32 = 28;

/// Two entries in one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Line([Entry; 2]);

// SAFETY: numbers alone.
#[allow(unsafe_code)]
unsafe impl Zero for Line {}

impl Line {
    #[inline]
    fn find(&self, key: Key) -> Option<&Entry> {
        // Both are looked at: which of them it is, nothing tells beforehand.
        let [first, second] = &self.0;
        let entry = if first.key == key { first } else { second };
        (entry.key == key).then_some(entry)
    }

    /// Entries come from the first to the second.
    #[inline]
    fn is_full(&self) -> bool {
        self.0[1].key.high != 0
    }
}

/// What a cache says of a piece.
pub(super) enum Hit<'a> {
    /// Up to four ids, the first of them as it is, and how many they are.
    Few(&'a [u32; FEW], u32, usize),
    Many(&'a [u32]),
}

#[derive(Debug)]
pub(super) struct Cache {
    /// A power of two of them.
    lines: Table<Line>,
    used: usize,
    /// Which entry of a full line goes next.
    next: usize,
    many: Vec<u32>,
    /// Parts that are too long for an entry.
    pub(super) long: LongParts,
}

impl Cache {
    pub(super) fn new() -> Self {
        Self {
            lines: Table::with_room(FEWEST_LINES, MOST_LINES),
            used: 0,
            next: 0,
            many: Vec::new(),
            long: LongParts::default(),
        }
    }

    /// What is read of it.
    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        View { lines: &self.lines, many: &self.many }
    }

    /// The ids of a piece, if it has an entry.
    pub(super) fn get(&self, key: Key) -> Option<Hit<'_>> {
        let view = self.view();
        view.get(key, view.line(key.hash()))
    }

    /// Keeps the ids of a piece that has no entry.
    pub(super) fn insert(&mut self, key: Key, ids: &[u32]) {
        debug_assert!(key.may_have_an_entry() && self.get(key).is_none());
        let mut entry = Entry { key, ids: [0; FEW] };
        match entry.ids.get_mut(..ids.len()) {
            Some(few) if ids.iter().all(|id| id >> ID_BITS == 0) => {
                few.copy_from_slice(ids);
                entry.ids[0] |= (ids.len() as u32) << ID_BITS;
            }
            _ => {
                if self.many.len() + ids.len() > MOST_MANY {
                    *self = Self::new();
                }
                entry.ids = [MANY << ID_BITS, self.many.len() as u32, ids.len() as u32, 0];
                self.many.extend_from_slice(ids);
            }
        }
        if self.used > self.lines.len() && self.lines.len() < MOST_LINES {
            self.grow();
        }
        self.put(entry);
    }

    fn put(&mut self, entry: Entry) {
        let line = entry.key.hash() as usize & (self.lines.len() - 1);
        for line in [line, line ^ 1] {
            if let Some(free) = self.lines[line].0.iter_mut().find(|entry| entry.key.high == 0) {
                *free = entry;
                self.used += 1;
                return;
            }
        }
        self.lines[line ^ self.next >> 1 & 1].0[self.next & 1] = entry;
        self.next = self.next.wrapping_add(1);
    }

    /// Two lines next to each other have all entries that may be in either: they go to the same two, or to two in the new half.
    fn grow(&mut self) {
        let old = self.lines.len();
        self.lines.lengthen(2 * old);
        self.used = 0;
        for at in (0..old).step_by(2) {
            let two = [self.lines[at], self.lines[at + 1]];
            self.lines[at..at + 2].fill(Line::default());
            for entry in two.iter().flat_map(|line| line.0).filter(|entry| entry.key.high != 0) {
                self.put(entry);
            }
        }
    }
}

/// What is read of a cache: a copy, which loops keep in registers.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    lines: &'a [Line],
    many: &'a [u32],
}

/// A key, and the line that its entry may be in.
pub(super) type Asked<'a> = (Key, &'a Line);

impl<'a> View<'a> {
    #[inline]
    fn line(self, hash: u64) -> &'a Line {
        // SAFETY: there are lines, a power of two of them, so no number is beyond the mask, which is below their number.
        #[allow(unsafe_code)]
        unsafe {
            self.lines.get_unchecked(hash as usize & (self.lines.len() - 1))
        }
    }

    /// The keys of the pieces that begin at byte `start` and have these ends, and their lines, which the processor is told to fetch
    /// (and mostly fetches with their neighbours).
    ///
    /// `PARTS`: parts of pieces, which have entries of their own.
    #[inline]
    pub(super) fn ask<'r, const PARTS: bool>(
        self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        room: &'r mut [MaybeUninit<Asked<'a>>; BLOCK],
    ) -> &'r [Asked<'a>] {
        let mut from = start;
        let asked = &mut room[..ends.len()];
        for (asked, &end) in asked.iter_mut().zip(ends) {
            let mut key = Key::of(text, from, end);
            if PARTS {
                key = key.of_part();
            }
            let line = self.line(key.hash());
            prefetch(line);
            asked.write((key, line));
            from = end;
        }
        // SAFETY: all of them were written: they are as many as the ends.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts(asked.as_ptr().cast(), asked.len())
        }
    }

    /// The ids of a piece, if it has an entry in its line or the next one.
    #[inline]
    pub(super) fn get(self, key: Key, line: &'a Line) -> Option<Hit<'a>> {
        let entry = match line.find(key) {
            None => self.next_to(key, line)?,
            Some(entry) => entry,
        };
        let [first, ..] = entry.ids;
        Some(match first >> ID_BITS {
            MANY => self.many(entry),
            count => Hit::Few(&entry.ids, first & ((1 << ID_BITS) - 1), count as usize),
        })
    }

    /// Only what found its first line full is in the second.
    #[inline]
    fn next_to(self, key: Key, line: &Line) -> Option<&'a Entry> {
        if line.is_full() { self.line(key.hash() ^ 1).find(key) } else { None }
    }

    #[cold]
    fn many(self, entry: &Entry) -> Hit<'a> {
        Hit::Many(&self.many[entry.ids[1] as usize..][..entry.ids[2] as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn ids(cache: &Cache, piece: &[u8]) -> Option<Vec<u32>> {
        match cache.get(Key::of(piece, 0, piece.len()))? {
            Hit::Few(ids, first, count) => Some([&[first], &ids[1..]].concat()[..count].to_vec()),
            Hit::Many(ids) => Some(ids.to_vec()),
        }
    }

    proptest! {
        #[test]
        fn what_is_there_is_what_was_put(pieces in prop::collection::vec(("[ab]{1,18}", 0usize..9), 0..400)) {
            let (mut cache, mut map, mut forgotten) = (Cache::new(), HashMap::new(), 0);
            for (n, (piece, count)) in pieces.iter().enumerate() {
                let kept = ids(&cache, piece.as_bytes());
                prop_assert!(kept.is_none() || kept.as_ref() == map.get(piece));
                forgotten += usize::from(kept.is_none() && map.contains_key(piece));
                if kept.is_none() && piece.len() <= LONGEST {
                    let ids: Vec<u32> = (0..*count as u32).map(|i| i + n as u32).collect();
                    cache.insert(Key::of(piece.as_bytes(), 0, piece.len()), &ids);
                    map.insert(piece.clone(), ids);
                }
            }
            prop_assert!(forgotten < 10, "{} forgotten among so few", forgotten);
        }

        #[test]
        fn a_key_is_of_its_piece_alone(text in prop::collection::vec(any::<u8>(), 1..60), from: prop::sample::Index, n in 1usize..20) {
            let from = from.index(text.len());
            let end = (from + n).min(text.len());
            let alone = Key::of(&text[from..end], 0, end - from);
            prop_assert_eq!(Key::of(&text, from, end), alone);
            prop_assert_eq!(alone.may_have_an_entry(), end - from <= LONGEST);
            prop_assert_eq!(alone.of_part().may_have_an_entry(), end - from <= LONGEST);
        }
    }

    #[test]
    fn a_full_cache_keeps_its_bound_and_never_errs() {
        let mut cache = Cache::new();
        for n in 0..600_000u32 {
            let piece = n.to_string();
            let many = if n % 30 == 0 { 6 } else { 1 };
            assert_eq!(ids(&cache, piece.as_bytes()), None);
            cache.insert(Key::of(piece.as_bytes(), 0, piece.len()), &vec![n; many]);
            assert_eq!(ids(&cache, piece.as_bytes()), Some(vec![n; many]));
        }
        assert!(cache.lines.len() == MOST_LINES && cache.many.len() <= MOST_MANY);
        let there = (0..600_000u32).filter_map(|n| Some((n, ids(&cache, n.to_string().as_bytes())?)));
        let there: Vec<_> = there.collect();
        assert!(there.iter().all(|(n, ids)| ids.iter().all(|id| id == n)));
        assert!(there.len() > 50_000, "{}", there.len());
    }
}
