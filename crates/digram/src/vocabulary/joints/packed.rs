//! Characters as words.

/// A character as its UTF-8 bytes, the first one lowest. Of a tail or a head it has only some of the bytes.
pub(super) type Packed = u32;

/// The number of bytes of the character that starts with this byte; 0 where none does.
#[inline]
pub(super) const fn length_of(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xC0 => 0,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..0xF8 => 4,
        0xF8.. => 0,
    }
}

/// The length and the bytes of the character at `at`; none where no whole one stands there. Its code point need not exist:
/// what counts is which bytes belong together.
#[inline]
pub(super) fn character(bytes: &[u8], at: usize) -> Option<(usize, Packed)> {
    let first = bytes[at];
    if first < 0x80 {
        return Some((1, u32::from(first)));
    }
    let word = match bytes.get(at..at + 4) {
        Some(four) => u32::from_le_bytes(four.try_into().expect("four bytes")),
        None => packed(&bytes[at..]),
    };
    // The bytes after the first one are 10xxxxxx.
    let (length, mask, tails) = match length_of(first) {
        3 => (3, 0xFF_FFFF, 0x80_8000),
        2 => (2, 0xFFFF, 0x8000),
        4 => (4, u32::MAX, 0x8080_8000),
        _ => return None,
    };
    let whole = word & mask & 0xC0C0_C000 == tails;
    whole.then_some((length, word & mask))
}

/// Up to four bytes.
pub(super) fn packed(bytes: &[u8]) -> Packed {
    bytes.iter().take(4).rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

/// The number of its bytes.
#[inline]
pub(super) fn byte_length(packed: Packed) -> usize {
    4 - (packed | 1).leading_zeros() as usize / 8
}

/// The last of its bytes.
#[inline]
pub(super) fn last_byte(packed: Packed) -> u8 {
    packed.to_le_bytes()[byte_length(packed) - 1]
}

/// Whether it is a whole character, not only its tail or its head.
pub(super) fn is_whole(packed: Packed) -> bool {
    length_of(packed as u8) == byte_length(packed)
}

/// Whether a byte continues a character.
pub(super) fn is_tail(byte: &u8) -> bool {
    byte & 0xC0 == 0x80
}
