//! What is read of a cache: a copy, which loops keep in registers.

use super::apart::Apart;
use super::key::Key;
use super::line::{Entry, Hit, Line, REACH};
use super::pages::Table;
use crate::prefetch::prefetch;
use std::mem::MaybeUninit;

/// Pieces whose lines are asked for before the first is looked at.
pub(super) const BLOCK: usize = 64;

#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    lines: &'a [Line],
    apart: &'a Apart,
}

/// A key, and the line that its entry may be in.
pub(super) type Asked<'a> = (Key, &'a Line);

/// Pieces that were found in another line than their own.
#[derive(Debug, Default)]
pub(super) struct Far {
    found: usize,
    /// Some of them, that are to be brought near.
    pub wanted: Vec<Key>,
}

/// Of so many pieces found far one is brought near, and so many at a time at most.
const FAR_AS_WANTED: usize = 2;
const MOST_WANTED: usize = 8;

impl<'a> View<'a> {
    /// Of a power of two of lines.
    #[inline]
    pub(super) fn new(lines: &'a Table<Line>, apart: &'a Apart) -> Self {
        debug_assert!(lines.len().is_power_of_two());
        Self { lines, apart }
    }

    /// The line of a hash, or so many after it; behind the last is the first.
    #[inline]
    fn line(self, hash: u64, after: usize) -> &'a Line {
        // SAFETY: there are lines, a power of two of them, so no number is beyond the mask, which is below their number.
        #[allow(unsafe_code)]
        unsafe {
            self.lines.get_unchecked((hash as usize).wrapping_add(after) & (self.lines.len() - 1))
        }
    }

    /// The keys of the pieces that begin at byte `start` and have these ends, and their lines, which the processor is
    /// told to fetch (and mostly fetches with their neighbours).
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
            let line = self.line(key.hash(), 0);
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

    /// What stands under a key, in its line or in one of the next.
    #[inline]
    pub(super) fn get(self, key: Key, line: &'a Line, far: &mut Far) -> Option<Hit<'a>> {
        let entry = match line.find(key) {
            Some(entry) => entry,
            None if line.is_full() => self.beyond(key, far)?,
            None => return None,
        };
        Some(entry.hit())
    }

    /// Only what found its own line full, and all up to where it is, is in another one.
    #[inline(never)]
    fn beyond(self, key: Key, far: &mut Far) -> Option<&'a Entry> {
        let hash = key.hash();
        for step in 1..REACH {
            let line = self.line(hash, step);
            if let Some(entry) = line.find(key) {
                far.found += 1;
                if far.found.is_multiple_of(FAR_AS_WANTED) && far.wanted.len() < MOST_WANTED {
                    far.wanted.push(key);
                }
                return Some(entry);
            }
            if !line.is_full() {
                break;
            }
        }
        None
    }

    /// Ids that stand apart, of a piece with that key; none where they are gone, or are another piece's.
    #[cold]
    pub(super) fn apart(self, key: Key, place: u64, count: usize, piece: &[u8]) -> Option<&'a [u32]> {
        self.apart.get(place, count, if key.is_hashed() { piece } else { &[] })
    }
}
