//! What a piece is known by.

use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// The longest piece whose bytes are its key.
pub(super) const LONGEST: usize = 15;

/// The longest piece that is kept, in bytes. Longer ones hardly ever come again.
pub(super) const LONGEST_KEPT: usize = 255;

/// A piece as two words: its bytes, and above the last of them its length, in bits 56 to 60. Of a longer piece, a hash and the
/// length, and bit 62. Bit 61 says that it is a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    low: u64,
    high: u64,
}

/// Where the length is, in the second word.
const LENGTH: u64 = 0x1F << 56;

/// In the second word of a longer piece.
const LONG: u64 = 1 << 62;

const HASHER: FixedState = FixedState::with_seed(0);

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

/// By length.
const SHAPES: [Shape; LONGEST + 1] = {
    let mut shapes = [Shape { low: 0, high: 0, length: 0 }; LONGEST + 1];
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
        if end - from > LONGEST {
            return Self::of_long(&text[from..end]);
        }
        let words = match text.len().checked_sub(16) {
            // SAFETY: sixteen bytes are there.
            #[allow(unsafe_code, reason = "one comparison instead of three for each piece of a text")]
            Some(last) if from <= last => unsafe { text.as_ptr().add(from).cast::<[u64; 2]>().read_unaligned() },
            _ => Self::last(text, from),
        };
        let [low, high] = words.map(u64::from_le);
        let shape = SHAPES[end - from];
        Self { low: low & shape.low, high: high & shape.high | shape.length }
    }

    /// Two pieces may have the same: the bytes of each are kept beside its ids.
    #[inline(never)]
    fn of_long(piece: &[u8]) -> Self {
        if piece.len() > LONGEST_KEPT {
            return Self { low: 0, high: 1 };
        }
        Self { low: HASHER.hash_one(piece), high: LONG | piece.len() as u64 }
    }

    /// The last bytes of a text, fewer than 16, and zeros: two words, the first byte at the bottom in memory.
    #[inline]
    fn last(text: &[u8], from: usize) -> [u64; 2] {
        if let Some(last) = text.last_chunk::<16>() {
            let last = u128::from_le_bytes(*last) >> (8 * (from + 16 - text.len()));
            return [last as u64, (last >> 64) as u64].map(u64::to_le);
        }
        Self::only(text, from)
    }

    /// The same of a text of fewer than 16 bytes.
    #[cold]
    fn only(text: &[u8], from: usize) -> [u64; 2] {
        let mut padded = [0; 16];
        padded[..text.len() - from].copy_from_slice(&text[from..]);
        let (words, _) = padded.as_chunks();
        [0, 1].map(|i| u64::from_ne_bytes(words[i]))
    }

    /// Whether an entry can hold the piece: it is not too long.
    #[inline]
    pub(super) fn may_have_an_entry(self) -> bool {
        self.high & (LENGTH | LONG) != 0
    }

    /// Whether another piece may have the same key.
    #[inline]
    pub(super) fn is_hashed(self) -> bool {
        self.high & LONG != 0
    }

    /// Of no piece.
    #[inline]
    pub(super) fn is_none(self) -> bool {
        self.high == 0
    }

    /// The key of the same bytes as a part of a piece, where a vocabulary gives a piece and a part of these bytes
    /// different ids.
    #[inline]
    pub(super) fn of_part(self) -> Self {
        Self { high: self.high | 1 << 61, ..self }
    }

    #[inline]
    pub(super) fn hash(self) -> u64 {
        // Both halves of a product: the lower bits of what comes out depend on all bits of both words.
        let product = u128::from(self.low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(self.high ^ 0xE703_7ED1_A0B4_28DB);
        (product as u64) ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_is_of_its_piece_alone(text in prop::collection::vec(any::<u8>(), 1..600), from: prop::sample::Index, n in 1usize..300) {
            let from = from.index(text.len());
            for n in [n % 20 + 1, n] {
                let end = (from + n).min(text.len());
                let alone = Key::of(&text[from..end], 0, end - from);
                prop_assert_eq!(Key::of(&text, from, end), alone);
                prop_assert_eq!(alone.may_have_an_entry(), end - from <= LONGEST_KEPT);
                prop_assert_eq!(alone.of_part().may_have_an_entry(), end - from <= LONGEST_KEPT);
                prop_assert!(!alone.is_none() && alone != alone.of_part());
                prop_assert_eq!(alone.is_hashed(), end - from > LONGEST && end - from <= LONGEST_KEPT);
            }
        }

        #[test]
        fn short_pieces_have_different_keys(one in prop::collection::vec(0u8..3, 1..=LONGEST), other in prop::collection::vec(0u8..3, 1..=LONGEST)) {
            prop_assert_eq!(Key::of(&one, 0, one.len()) == Key::of(&other, 0, other.len()), one == other);
        }
    }
}
