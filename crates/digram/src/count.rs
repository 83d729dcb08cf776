//! Piece counts: how often each distinct piece occurs, which is all that training needs to know of a corpus.
//!
//! Counts are 64-bit and add up (`merge`), so a corpus may be counted in parts, on threads or on machines. Pieces keep
//! the order of their first appearance: "a's, then b's" when b is merged into a. Only `Ties::FirstSeen` looks at it.
//!
//! A [`Counter`] cuts documents into [`parts`], also a single large one, where its split pattern surely begins a piece. Each
//! thread counts the pieces of the parts that it takes in a [`tally`] of its own. [`RunningCounts`] keeps these from call
//! to call, and puts them together when somebody looks.

use crate::{Error, Result};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher;

mod documents;
mod files;
mod key;
mod parts;
mod running;
mod runs;
mod spilled;
mod tally;

pub use documents::Counter;
pub use files::ReadError;
pub use running::{Counts, CountsReader, RunningCounts};
pub use spilled::{Limit, Listing};

/// Pieces that are added between two looks at whether to stop: some milliseconds.
const BETWEEN_STOPS: usize = 1 << 16;

/// Distinct pieces with their counts, in order of first appearance.
#[derive(Clone, Default)]
pub struct PieceCounts {
    /// All pieces, end to end.
    bytes: Vec<u8>,
    /// Where piece i ends in `bytes`.
    ends: Vec<usize>,
    counts: Vec<u64>,
    /// Made when a piece is first looked for.
    index: Option<Index>,
}

/// Hashes and numbers of pieces, by the hash.
#[derive(Clone, Default)]
struct Index {
    slots: HashTable<(u64, usize)>,
    hasher: RandomState,
}

impl PieceCounts {
    /// No pieces.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of distinct pieces.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The number of bytes in the distinct pieces together.
    pub fn distinct_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of piece `i`, in order of first appearance. Panics past the end, as a slice does.
    pub fn piece(&self, i: usize) -> &[u8] {
        piece_at(&self.bytes, &self.ends, i)
    }

    /// How often piece `i` was counted.
    pub fn count(&self, i: usize) -> u64 {
        self.counts[i]
    }

    /// All pieces and counts, in order of first appearance.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        (0..self.len()).map(|i| (self.piece(i), self.counts[i]))
    }

    /// The memory that it takes, about.
    fn memory(&self) -> usize {
        let index = self.index.as_ref().map_or(0, |index| index.slots.allocation_size());
        self.bytes.capacity()
            + size_of::<usize>() * self.ends.capacity()
            + size_of::<u64>() * self.counts.capacity()
            + index
    }

    /// Calls `each` with the number of every piece, the piece and its count, in the order of the pieces as byte strings.
    fn for_each_by_piece(&self, mut each: impl FnMut(usize, &[u8], u64) -> Result<()>) -> Result<()> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by_key(|&i| self.piece(i));
        order.into_iter().try_for_each(|i| each(i, self.piece(i), self.counts[i]))
    }

    /// Makes room for more pieces and more bytes of them.
    fn reserve(&mut self, pieces: usize, bytes: usize) {
        self.bytes.reserve(bytes);
        self.ends.reserve(pieces);
        self.counts.reserve(pieces);
    }

    /// Puts a piece that is not here behind the others.
    fn push(&mut self, piece: &[u8], n: u64) {
        debug_assert!(self.index.is_none());
        self.bytes.extend_from_slice(piece);
        self.ends.push(self.bytes.len());
        self.counts.push(n);
    }

    /// Counts `piece` `n` more times. An empty piece, or `n` of 0, changes nothing.
    pub fn add(&mut self, piece: &[u8], n: u64) -> Result<()> {
        if piece.is_empty() || n == 0 {
            return Ok(());
        }
        let (bytes, ends) = (&self.bytes, &self.ends);
        let Index { slots, hasher } = self.index.get_or_insert_with(|| {
            let hasher = RandomState::default();
            let mut slots = HashTable::with_capacity(ends.len());
            for i in 0..ends.len() {
                let hash = hasher.hash_one(piece_at(bytes, ends, i));
                slots.insert_unique(hash, (hash, i), |slot| slot.0);
            }
            Index { slots, hasher }
        });
        let hash = hasher.hash_one(piece);
        let same = |slot: &(u64, usize)| slot.0 == hash && piece_at(bytes, ends, slot.1) == piece;
        match slots.entry(hash, same, |slot| slot.0) {
            Entry::Occupied(slot) => {
                let count = &mut self.counts[slot.get().1];
                *count = count.checked_add(n).ok_or(Error::CountOverflow)?;
            }
            Entry::Vacant(slot) => {
                slot.insert((hash, self.counts.len()));
                self.bytes.extend_from_slice(piece);
                self.ends.push(self.bytes.len());
                self.counts.push(n);
            }
        }
        Ok(())
    }

    /// Adds all counts of `other`; its new pieces come after the ones here.
    pub fn merge(&mut self, other: &PieceCounts) -> Result<()> {
        other.iter().try_for_each(|(piece, n)| self.add(piece, n))
    }
}

fn piece_at<'a>(bytes: &'a [u8], ends: &[usize], i: usize) -> &'a [u8] {
    let start = if i == 0 { 0 } else { ends[i - 1] };
    &bytes[start..ends[i]]
}

#[cfg(test)]
mod tests;
