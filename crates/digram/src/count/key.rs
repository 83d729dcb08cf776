//! Keys of pieces in the table: almost all pieces are at most fifteen bytes, so a key usually is the piece.

use foldhash::fast::RandomState;
use std::hash::BuildHasher;
use std::sync::LazyLock;

/// What the table compares before, and mostly instead of, the bytes of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    /// Up to fifteen bytes: the piece, padded with zeros, its length in the last byte.
    /// Longer: a hash, and 255 in the last byte.
    words: [u64; 2],
}

/// The longest piece that is its own key.
const SHORT: usize = 15;
const LONG: u64 = 0xFF << 56;

/// Numbers that differ from process to process, so that no text can be made whose pieces fall into one slot. No result
/// depends on them: pieces keep the order in which they appeared.
static SEEDS: LazyLock<[u64; 4]> = LazyLock::new(|| {
    let state = RandomState::default();
    [1_u64, 2, 3, 4].map(|i| state.hash_one(i))
});

/// Makes keys and hashes them. All tables of a process hash alike.
#[derive(Clone)]
pub(super) struct Keys {
    seeds: [u64; 4],
}

impl Default for Keys {
    fn default() -> Self {
        Keys { seeds: *SEEDS }
    }
}

impl Keys {
    /// The key of a piece that is not empty.
    #[inline]
    pub(super) fn key(&self, piece: &[u8]) -> Key {
        if piece.len() > SHORT {
            return Key { words: [self.long_hash(piece), LONG] };
        }
        let (low, high) = match piece.len() {
            len @ 9.. => (first_word(piece), first_word(&piece[len - 8..]) >> (8 * (16 - len))),
            8 => (first_word(piece), 0),
            len @ 4.. => (first_half(piece) | first_half(&piece[len - 4..]) << (8 * (len - 4)), 0),
            // The first, the middle and the last of one to three bytes; some of them are the same byte.
            len => {
                let byte = |i: usize| u64::from(piece[i]) << (8 * i);
                (byte(0) | byte(len / 2) | byte(len - 1), 0)
            }
        };
        Key { words: [low, high | (piece.len() as u64) << 56] }
    }

    /// A hash of a key.
    #[inline]
    pub(super) fn hash(&self, key: Key) -> u64 {
        let [low, high] = key.words;
        fold(fold(low ^ self.seeds[0], self.seeds[1]) ^ high ^ self.seeds[2], self.seeds[3])
    }

    fn long_hash(&self, piece: &[u8]) -> u64 {
        foldhash::fast::FixedState::with_seed(self.seeds[0]).hash_one(piece)
    }
}

impl Key {
    /// Whether equal keys mean equal pieces.
    #[inline]
    pub(super) fn is_the_piece(self) -> bool {
        self.words[1] != LONG
    }
}

fn first_word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("eight bytes"))
}

fn first_half(bytes: &[u8]) -> u64 {
    u32::from_le_bytes(*bytes.first_chunk().expect("four bytes")).into()
}

/// Both halves of the 128-bit product, folded.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_short_key_is_the_piece(piece in proptest::collection::vec(any::<u8>(), 1..=SHORT)) {
            let key = Keys::default().key(&piece);
            let mut bytes = [0; 16];
            bytes[..piece.len()].copy_from_slice(&piece);
            bytes[15] = piece.len() as u8;
            let expected = [first_word(&bytes), first_word(&bytes[8..])];
            prop_assert_eq!(key, Key { words: expected });
            prop_assert!(key.is_the_piece());
        }

        #[test]
        fn a_long_key_is_a_hash(piece in proptest::collection::vec(any::<u8>(), 16..40)) {
            prop_assert!(!Keys::default().key(&piece).is_the_piece());
        }
    }
}
