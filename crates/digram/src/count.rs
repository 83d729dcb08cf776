//! Piece counts: how often each distinct piece occurs, which is all that training needs to know of a corpus.
//!
//! Counts are 64-bit and add up (`merge`), so a corpus may be counted in parts, on threads or on machines. Pieces keep
//! the order of their first appearance: "a's, then b's" when b is merged into a. Only `Ties::FirstSeen` looks at it.

use crate::specials::{SpecialMatcher, Stretch};
use crate::split::Splitter;
use crate::{Error, Result};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Distinct pieces with their counts, in order of first appearance.
#[derive(Clone, Default)]
pub struct PieceCounts {
    /// All pieces, end to end.
    bytes: Vec<u8>,
    /// Where piece i ends in `bytes`.
    ends: Vec<usize>,
    counts: Vec<u64>,
    /// Indices of pieces, by hash of their bytes.
    index: HashTable<usize>,
    hasher: FixedState,
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

    /// Counts `piece` `n` more times. An empty piece, or `n` of 0, changes nothing.
    pub fn add(&mut self, piece: &[u8], n: u64) -> Result<()> {
        if piece.is_empty() || n == 0 {
            return Ok(());
        }
        let (hasher, bytes, ends) = (&self.hasher, &self.bytes, &self.ends);
        let same = |&i: &usize| piece_at(bytes, ends, i) == piece;
        let rehash = |&i: &usize| hasher.hash_one(piece_at(bytes, ends, i));
        match self.index.entry(hasher.hash_one(piece), same, rehash) {
            hashbrown::hash_table::Entry::Occupied(slot) => {
                let count = &mut self.counts[*slot.get()];
                *count = count.checked_add(n).ok_or(Error::CountOverflow)?;
            }
            hashbrown::hash_table::Entry::Vacant(slot) => {
                slot.insert(self.counts.len());
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

/// Documents to piece counts: special tokens are cut out first, then the text between them is split.
#[derive(Clone, Debug)]
pub struct Counter {
    splitter: Splitter,
    specials: SpecialMatcher,
}

impl Counter {
    /// Counts the pieces that `splitter` makes of the text between the markers of `specials`.
    pub fn new(splitter: Splitter, specials: SpecialMatcher) -> Self {
        Counter { splitter, specials }
    }

    /// Adds the pieces of one document to `into`.
    ///
    /// Each special token ends a piece and is itself not counted; of markers that begin at the same place the longest is
    /// taken, and the text between two is split as a text of its own. After an error `into` holds a part of the pieces.
    pub fn count_document(&self, document: &[u8], into: &mut PieceCounts) -> Result<()> {
        self.specials.for_each_stretch(document, |stretch| match stretch {
            Stretch::Text(text) => self
                .splitter
                .for_each_piece_within(document, text, |piece| into.add(&document[piece], 1)),
            Stretch::Special(..) => Ok(()),
        })
    }

    /// Adds the pieces of all `documents` to `into`, on the threads of the current rayon pool.
    ///
    /// The result, order of first appearance included, is that of counting one document after the other. An error comes
    /// with the index of its document, the smallest one that has an error; `into` then holds a part of the pieces. When
    /// `stop` returns true, the count ends soon with [`Error::Interrupted`].
    pub fn count_batch(
        &self,
        documents: &[&[u8]],
        into: &mut PieceCounts,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> std::result::Result<(), (usize, Error)> {
        for (i, document) in documents.iter().enumerate() {
            if stop() {
                return Err((i, Error::Interrupted));
            }
            self.count_document(document, into).map_err(|e| (i, e))?;
        }
        Ok(())
    }
}

fn piece_at<'a>(bytes: &'a [u8], ends: &[usize], i: usize) -> &'a [u8] {
    let start = if i == 0 { 0 } else { ends[i - 1] };
    &bytes[start..ends[i]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_in_order_of_first_appearance_and_sums() {
        let (mut a, mut b) = (PieceCounts::new(), PieceCounts::new());
        for piece in ["to", "be", "or", "to"] {
            a.add(piece.as_bytes(), 1).unwrap();
        }
        b.add(b"not", 1 << 40).unwrap();
        b.add(b"be", 2).unwrap();
        a.merge(&b).unwrap();
        let all: Vec<_> = a.iter().map(|(p, n)| (std::str::from_utf8(p).unwrap(), n)).collect();
        assert_eq!(all, [("to", 2), ("be", 3), ("or", 1), ("not", 1 << 40)]);
    }

    #[test]
    fn a_count_past_64_bits_is_an_error() {
        let mut counts = PieceCounts::new();
        counts.add(b"a", u64::MAX).unwrap();
        assert_eq!(counts.add(b"a", 1), Err(Error::CountOverflow));
    }
}
