//! Pieces of up to 15 bytes as two words, as the encoder's cache has them: that is what the table compares.

/// The longest piece that is its own key, in bytes.
pub(in crate::count) const LONGEST: usize = 15;

/// A piece as two words: its bytes, and above the last of them its length, in bits 56 to 60.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::count) struct Key {
    pub(in crate::count) low: u64,
    pub(in crate::count) high: u64,
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
    pub(in crate::count) fn of(text: &[u8], from: usize, end: usize) -> Self {
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

    /// The piece, padded with zeros to sixteen bytes, and its length: of a key of up to 15 bytes.
    #[inline]
    pub(in crate::count) fn piece(self) -> ([u8; 16], usize) {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.low.to_le_bytes());
        bytes[8..].copy_from_slice(&(self.high & ((1 << 56) - 1)).to_le_bytes());
        (bytes, (self.high >> 56 & 15) as usize)
    }

    /// A hash, by two numbers: both halves of a product, so that all bits of both words are in the upper ones of what comes out.
    #[inline]
    pub(in crate::count) fn hash(self, [first, second]: [u64; 2]) -> u64 {
        let product = u128::from(self.low ^ first) * u128::from(self.high ^ second);
        (product as u64) ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_is_of_its_piece_alone(text in prop::collection::vec(any::<u8>(), 1..60), from: prop::sample::Index, n in 1usize..20) {
            let from = from.index(text.len());
            let end = (from + n).min(text.len());
            let piece = &text[from..end];
            let key = Key::of(&text, from, end);
            prop_assert_eq!(key, Key::of(piece, 0, piece.len()));
            prop_assert_eq!(key.high >> 56 == 0, piece.len() > LONGEST);
            if piece.len() <= LONGEST {
                let (bytes, length) = key.piece();
                prop_assert_eq!(&bytes[..length], piece);
            }
        }
    }
}
