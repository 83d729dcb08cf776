//! Piece counts: how often each distinct piece occurs, which is all that training needs to know of a corpus.
//!
//! Counts are 64-bit and add up (`merge`), so a corpus may be counted in parts, on threads or on machines. Pieces keep
//! the order of their first appearance: "a's, then b's" when b is merged into a. Only `Ties::FirstSeen` looks at it.

use crate::split::Splitter;
use crate::{Error, Result};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use key::{Key, Keys};

mod documents;
mod front;
mod key;

pub use documents::Counter;

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
    /// Keys and indices of pieces, by the hash of the key.
    slots: HashTable<Slot>,
    keys: Keys,
}

#[derive(Clone)]
struct Slot {
    key: Key,
    index: usize,
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
        let key = self.keys.key(piece);
        let index = self.index_of(key, self.keys.hash(key), piece);
        self.add_to(index, n)
    }

    /// The index of `piece`, whose key and hash are given; a new one has count 0.
    #[inline]
    fn index_of(&mut self, key: Key, hash: u64, piece: &[u8]) -> usize {
        let (keys, bytes, ends) = (&self.keys, &self.bytes, &self.ends);
        let same = |slot: &Slot| slot.key == key && (key.is_the_piece() || piece_at(bytes, ends, slot.index) == piece);
        match self.slots.entry(hash, same, |slot| keys.hash(slot.key)) {
            Entry::Occupied(slot) => slot.get().index,
            Entry::Vacant(slot) => {
                let index = self.counts.len();
                slot.insert(Slot { key, index });
                self.bytes.extend_from_slice(piece);
                self.ends.push(self.bytes.len());
                self.counts.push(0);
                index
            }
        }
    }

    /// Counts piece `index` `n` more times.
    #[inline]
    fn add_to(&mut self, index: usize, n: u64) -> Result<()> {
        let count = &mut self.counts[index];
        *count = count.checked_add(n).ok_or(Error::CountOverflow)?;
        Ok(())
    }

    /// Counts `n` more times a piece that was cut elsewhere. Where bytes outside any well-formed character stand in it, it
    /// is cut there too, as in a document: so no token crosses such a place, wherever the pieces come from.
    pub fn add_cut(&mut self, piece: &[u8], n: u64) -> Result<()> {
        Splitter::none().for_each_piece(piece, |part| self.add(&piece[part], n))
    }

    /// Adds all counts of `other`; its new pieces come after the ones here.
    pub fn merge(&mut self, other: &PieceCounts) -> Result<()> {
        self.merge_until(other, &|| false)
    }

    /// As [`Self::merge`], but `Interrupted` soon after `stop` returns true; then a part of `other` was added.
    pub fn merge_until(&mut self, other: &PieceCounts, stop: &dyn Fn() -> bool) -> Result<()> {
        for (i, (piece, n)) in other.iter().enumerate() {
            if i.is_multiple_of(BETWEEN_STOPS) && stop() {
                return Err(Error::Interrupted);
            }
            self.add(piece, n)?;
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
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn list(counts: &PieceCounts) -> Vec<(Vec<u8>, u64)> {
        counts.iter().map(|(piece, n)| (piece.to_vec(), n)).collect()
    }

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
    fn adding_up_ends_when_it_is_asked_to() {
        let (mut all, mut other) = (PieceCounts::new(), PieceCounts::new());
        for i in 0..3 * BETWEEN_STOPS {
            other.add(&i.to_le_bytes(), 1).unwrap();
        }
        let asked = std::cell::Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) == 2;
        assert_eq!(all.merge_until(&other, &stop), Err(Error::Interrupted));
        assert_eq!(all.len(), 2 * BETWEEN_STOPS);
    }

    #[test]
    fn pieces_from_elsewhere_are_cut_at_ill_formed_bytes() {
        let mut counts = PieceCounts::new();
        counts.add_cut(b"a\xFF\xFEb", 3).unwrap();
        counts.add_cut(b"", 3).unwrap();
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(&b"a"[..], 3), (b"\xFF\xFE", 3), (b"b", 3)]);
    }

    #[test]
    fn a_count_past_64_bits_is_an_error() {
        let mut counts = PieceCounts::new();
        counts.add(b"a", u64::MAX).unwrap();
        assert_eq!(counts.add(b"a", 1), Err(Error::CountOverflow));
    }

    proptest! {
        #[test]
        fn pieces_of_all_lengths_are_told_apart(
            pieces in proptest::collection::vec(proptest::collection::vec(0_u8..2, 0..20), 0..200)
        ) {
            let (mut counts, mut twin, mut order) = (PieceCounts::new(), HashMap::new(), Vec::new());
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                counts.add(piece, 3).unwrap();
                *twin.entry(piece.clone()).or_insert_with(|| { order.push(piece.clone()); 0 }) += 3;
            }
            let expected: Vec<_> = order.into_iter().map(|piece| { let n = twin[&piece]; (piece, n) }).collect();
            prop_assert_eq!(list(&counts), expected);
        }
    }
}
