//! What pieces of up to 15 bytes came to.
//!
//! A set-associative table, as gigatoken has one: two entries to a cache line, 16 bytes for the piece and its length, 16 for
//! up to four ids, so a hit compares two words and copies four ids without asking how many they are. More ids than four
//! stand apart.
//!
//! A piece has two lines that it may stand in, next to each other: mostly it is in the first; the second keeps pieces that
//! fall together from driving each other out. (A second line anywhere in the table keeps more, but was waited for each
//! time.) A table that is half full is doubled; at its largest, new pieces take the place of old ones.

use super::long::LongParts;
use super::pages::{Table, Zero};

/// The longest piece that has an entry, in bytes.
pub(super) const LONGEST: usize = 15;

/// Ids within an entry.
pub(super) const FEW: usize = 4;

/// Lines at first, and at most: 64 kB, and 16 MB.
const FEWEST_LINES: usize = 1 << 10;
const MOST_LINES: usize = 1 << 18;

/// Ids of entries with more than four, at most: 1 MB.
const MOST_MANY: usize = 1 << 18;

/// A piece as two words: its bytes, and above the last of them its length, in bits 56 to 60.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    low: u64,
    high: u64,
}

/// What a length makes of sixteen bytes.
#[derive(Clone, Copy)]
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
        let length = (end - from).min(LONGEST + 1);
        let mut padded = [0; 16];
        let bytes: &[u8; 16] = match text.get(from..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) => bytes,
            None => {
                let rest = &text[from..];
                padded[..rest.len()].copy_from_slice(rest);
                &padded
            }
        };
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let shape = SHAPES[length];
        Self { low: word(0) & shape.low, high: word(8) & shape.high | shape.length }
    }

    #[inline]
    fn hash(self) -> u64 {
        // Both halves of a product: all bits of both words are in the upper ones of what comes out.
        let product = u128::from(self.low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(self.high ^ 0xE703_7ED1_A0B4_28DB);
        (product as u64) ^ (product >> 64) as u64
    }
}

/// A piece and its ids; the number of them is in the four highest bits.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    low: u64,
    high: u64,
    /// The ids, or, of many, where they begin among those that stand apart, and how many they are.
    ids: [u32; FEW],
}

/// In the place of a number of ids: they stand apart.
const MANY: u64 = 15;

/// Two entries in one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([Entry; 2]);

// SAFETY: numbers alone.
#[allow(unsafe_code)]
unsafe impl Zero for Line {}

impl Line {
    #[inline]
    fn find(&self, key: Key) -> Option<&Entry> {
        // The number of ids is shifted out.
        let differs = |entry: &Entry| (entry.low ^ key.low) | (entry.high ^ key.high) << 4 != 0;
        let [first, second] = &self.0;
        let entry = if differs(first) { second } else { first };
        (!differs(entry)).then_some(entry)
    }

    /// Entries come from the first to the second.
    #[inline]
    fn is_full(&self) -> bool {
        self.0[1].high != 0
    }
}

/// What a cache says of a piece.
pub(super) enum Hit<'a> {
    /// Up to four ids, and how many.
    Few(&'a [u32; FEW], usize),
    Many(&'a [u32]),
}

#[derive(Debug)]
pub(super) struct Cache {
    /// A power of two of them.
    lines: Table<Line>,
    /// The bits of a hash that are left out.
    shift: u32,
    used: usize,
    /// Which entry of a full line goes next.
    next: usize,
    many: Vec<u32>,
    /// Parts that are too long for an entry.
    pub(super) long: LongParts,
}

impl Cache {
    pub(super) fn new() -> Self {
        let lines = Table::<Line>::zeros(FEWEST_LINES);
        Self {
            shift: 64 - lines.len().trailing_zeros(),
            lines,
            used: 0,
            next: 0,
            many: Vec::new(),
            long: LongParts::default(),
        }
    }

    /// A line by its number, of which the lower bits count.
    #[inline]
    fn line_at(&self, line: usize) -> &Line {
        let mask = self.lines.len() - 1;
        // SAFETY: there are lines, a power of two of them, so no number is beyond the mask, which is below their number.
        #[allow(unsafe_code)]
        unsafe {
            self.lines.get_unchecked(line & mask)
        }
    }

    /// The first line of a key.
    #[inline]
    fn line_of(&self, key: Key) -> usize {
        (key.hash() >> self.shift) as usize
    }

    /// The first line of a key; the processor is told to fetch it (and mostly fetches its neighbour, too).
    #[inline]
    pub(super) fn line(&self, key: Key) -> usize {
        let line = self.line_of(key);
        prefetch(self.line_at(line));
        line
    }

    /// The ids of a piece whose first line is known, if it has an entry there. A line that was known before others came in
    /// may be another one by now.
    #[inline]
    pub(super) fn get_at(&self, line: usize, key: Key) -> Option<Hit<'_>> {
        let first = self.line_at(line);
        let entry = match first.find(key) {
            // Only what found its first line full is in the second.
            None if first.is_full() => self.line_at(line ^ 1).find(key)?,
            found => found?,
        };
        let count = entry.high >> 60;
        Some(match count {
            MANY => Hit::Many(&self.many[entry.ids[0] as usize..][..entry.ids[1] as usize]),
            _ => Hit::Few(&entry.ids, count as usize),
        })
    }

    /// The ids of a piece, if it has an entry.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<Hit<'_>> {
        self.get_at(self.line_of(key), key)
    }

    /// Keeps the ids of a piece that has no entry.
    pub(super) fn insert(&mut self, key: Key, ids: &[u32]) {
        debug_assert!(key.high >> 56 != 0 && self.get(key).is_none());
        let mut entry = Entry { low: key.low, high: key.high | (ids.len() as u64) << 60, ids: [0; FEW] };
        if let Some(few) = entry.ids.get_mut(..ids.len()) {
            few.copy_from_slice(ids);
        } else {
            if self.many.len() + ids.len() > MOST_MANY {
                *self = Self::new();
            }
            entry.high = key.high | MANY << 60;
            entry.ids = [self.many.len() as u32, ids.len() as u32, 0, 0];
            self.many.extend_from_slice(ids);
        }
        if self.used > self.lines.len() && self.lines.len() < MOST_LINES {
            self.grow();
        }
        self.put(entry);
    }

    fn put(&mut self, entry: Entry) {
        let line = self.line_of(Key { low: entry.low, high: entry.high << 4 >> 4 });
        for line in [line, line ^ 1] {
            if let Some(free) = self.lines[line].0.iter_mut().find(|entry| entry.high == 0) {
                *free = entry;
                self.used += 1;
                return;
            }
        }
        self.lines[line ^ self.next >> 1 & 1].0[self.next & 1] = entry;
        self.next = self.next.wrapping_add(1);
    }

    fn grow(&mut self) {
        let lines = Table::zeros(2 * self.lines.len());
        let old = std::mem::replace(&mut self.lines, lines);
        self.shift -= 1;
        self.used = 0;
        for entry in old.iter().flat_map(|line| line.0).filter(|entry| entry.high != 0) {
            self.put(entry);
        }
    }
}

/// Tells the processor that a line will be wanted.
#[inline]
#[allow(unsafe_code)] // there is no safe way to say it
fn prefetch(line: &Line) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint about an address, which is that of a reference; nothing is read or written.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(line).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn ids(cache: &Cache, piece: &[u8]) -> Option<Vec<u32>> {
        match cache.get(Key::of(piece, 0, piece.len()))? {
            Hit::Few(ids, count) => Some(ids[..count].to_vec()),
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
            prop_assert_eq!(alone.high >> 56 == 0, end - from > LONGEST);
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
