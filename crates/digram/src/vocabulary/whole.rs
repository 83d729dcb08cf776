//! Ids of written tokens by their bytes.

use super::Tokens;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// The number of bits for tokens.
const BITS: u32 = 1 << 16;

/// Tokens of up to so many bytes mostly are looked up where most pieces are tokens: bits would tell nothing.
const SHORT: usize = 15;

/// Tokens by their bytes.
#[derive(Debug, Default)]
pub(super) struct Whole {
    table: HashTable<u32>,
    hasher: FixedState,
    /// The most bytes of one.
    pub longest: usize,
    /// Tokens of more than so many bytes have a bit, for their length and their first eight bytes. Nearly all pieces of that
    /// length are none of them, and known by this to be none.
    short: usize,
    bits: Vec<u64>,
}

/// The bit of a token or piece.
fn bit(bytes: &[u8]) -> usize {
    let mut first = [0; 8];
    let n = bytes.len().min(8);
    first[..n].copy_from_slice(&bytes[..n]);
    let mixed = (u64::from_le_bytes(first) ^ (bytes.len() as u64) << 56).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (64 - BITS.trailing_zeros())) as usize
}

impl Whole {
    pub fn with_capacity(n: usize) -> Self {
        Self { table: HashTable::with_capacity(n), short: SHORT, ..Self::default() }
    }

    /// All of `ids`, whose bytes differ.
    pub fn of(tokens: &Tokens, ids: impl Iterator<Item = u32>) -> Self {
        let mut whole = Self::with_capacity(tokens.len());
        ids.for_each(|id| whole.add(tokens, id));
        whole
    }

    /// The same where few of all pieces are tokens.
    pub fn rare(tokens: &Tokens, ids: impl Iterator<Item = u32>) -> Self {
        let mut whole = Self::default();
        ids.for_each(|id| whole.add(tokens, id));
        whole
    }

    pub fn add(&mut self, tokens: &Tokens, id: u32) {
        if let Some(bytes) = tokens.written(id) {
            let hasher = &self.hasher;
            let hash = |&id: &u32| hasher.hash_one(tokens.written(id).expect("only written tokens are added"));
            self.longest = self.longest.max(bytes.len());
            if bytes.len() > self.short {
                let bit = bit(bytes);
                self.bits.resize(BITS as usize / 64, 0);
                self.bits[bit / 64] |= 1 << (bit % 64);
            }
            self.table.insert_unique(hasher.hash_one(bytes), id, hash);
        }
    }

    /// Forgets the tokens that `keep` does not name.
    pub fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.table.retain(|&mut id| keep(id));
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// All of them, in no order.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.table.iter().copied()
    }

    pub fn get(&self, tokens: &Tokens, piece: &[u8]) -> Option<u32> {
        if piece.len() > self.longest {
            return None;
        }
        if piece.len() > self.short {
            let bit = bit(piece);
            if self.bits.get(bit / 64).is_none_or(|word| word >> (bit % 64) & 1 == 0) {
                return None;
            }
        }
        self.table.find(self.hasher.hash_one(piece), |&id| tokens.written(id) == Some(piece)).copied()
    }
}
