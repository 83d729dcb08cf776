//! The kinds of ASCII characters by two look-ups of half a byte each, for processors that look up sixteen bytes at a time.
//!
//! A kind is a bit, and a set of columns (low half) in a set of rows (high half) of the table of ASCII characters: a byte has
//! those kinds that both its halves have. A processor looks a half up as one of sixteen bytes of a register.

use super::tables::special;
use crate::split::unicode::{LOWER, NUMBER, OTHER, SPACE, Set, UPPER};

pub(super) struct Nibbles {
    pub low: [u8; 16],
    pub high: [u8; 16],
}

/// `@A..O` and `` `a..o `` without the first; `P..Z` and `p..z`.
const LETTERS: [u8; 2] = [1 << 0, 1 << 1];
const DIGIT: u8 = 1 << 2;
/// Tabulator to carriage return.
const CONTROL: u8 = 1 << 3;
const BLANK: u8 = 1 << 4;
const BREAK: u8 = 1 << 5;
const APOSTROPHE: u8 = 1 << 6;
const SLASH: u8 = 1 << 7;

pub(super) const KINDS: Nibbles = nibbles(&[
    (LETTERS[0], &[4, 6], 1..16),
    (LETTERS[1], &[5, 7], 0..11),
    (DIGIT, &[3], 0..10),
    (CONTROL, &[0], 9..14),
    (BLANK, &[2], 0..1),
    (BREAK, &[0], 10..11),
    (BREAK, &[0], 13..14),
    (APOSTROPHE, &[2], 7..8),
    (SLASH, &[2], 15..16),
]);

/// `s t`, and `d m`.
const ONE: [u8; 2] = [1 << 0, 1 << 1];
const ELL: u8 = 1 << 2;
const VR: u8 = 1 << 3;
const E: u8 = 1 << 4;

/// Of each [`Contraction`](super::Contraction).
pub(super) const CONTRACTIONS: [Nibbles; 4] =
    [contractions(&[], &[]), contractions(&[6], &[7]), contractions(&[4, 6], &[5, 7]), contractions(&[4, 6], &[5, 7])];

/// Controls that are no white space: in the first row, in the second, and the last character.
const CONTROLS: [u8; 3] = [1 << 5, 1 << 6, 1 << 7];

const fn contractions(a_to_o: &'static [usize], p_to_z: &'static [usize]) -> Nibbles {
    nibbles(&[
        (CONTROLS[0], &[0], 0..9),
        (CONTROLS[0], &[0], 14..16),
        (CONTROLS[1], &[1], 0..16),
        (CONTROLS[2], &[7], 15..16),
        (ONE[0], p_to_z, 3..5),
        (ONE[1], a_to_o, 4..5),
        (ONE[1], a_to_o, 13..14),
        (ELL, a_to_o, 12..13),
        (VR, p_to_z, 2..3),
        (VR, p_to_z, 6..7),
        (E, a_to_o, 5..6),
    ])
}

/// The two tables of some kinds, each with its rows and columns.
const fn nibbles(kinds: &[(u8, &[usize], std::ops::Range<usize>)]) -> Nibbles {
    let mut tables = Nibbles { low: [0; 16], high: [0; 16] };
    let mut i = 0;
    while i < kinds.len() {
        let (kind, rows, columns) = (kinds[i].0, kinds[i].1, &kinds[i].2);
        let mut row = 0;
        while row < rows.len() {
            tables.high[rows[row]] |= kind;
            row += 1;
        }
        let mut column = columns.start;
        while column < columns.end {
            tables.low[column] |= kind;
            column += 1;
        }
        i += 1;
    }
    tables
}

/// The ASCII characters of some classes: `small` are the bytes with bit 5, `any` gives those of some [`KINDS`], `other` those of
/// some [`CONTRACTIONS`].
#[inline(always)]
pub(super) fn class(set: Set, small: u64, any: impl Fn(u8) -> u64, other: impl Fn(u8) -> u64) -> u64 {
    let controls = if set & OTHER == 0 { 0 } else { other(CONTROLS[0] | CONTROLS[1] | CONTROLS[2]) };
    let mut kinds = 0;
    if set & NUMBER != 0 {
        kinds |= DIGIT;
    }
    if set & SPACE != 0 {
        kinds |= CONTROL | BLANK;
    }
    let letters = LETTERS[0] | LETTERS[1];
    controls
        | match set & (UPPER | LOWER) {
            0 => any(kinds),
            UPPER => (any(letters) & !small) | any(kinds),
            LOWER => (any(letters) & small) | any(kinds),
            _ => any(kinds | letters),
        }
}

/// The bytes that are one of these, see [`special`]; `any` gives those of some [`KINDS`], `of_contractions` those of
/// [`CONTRACTIONS`].
#[inline(always)]
pub(super) fn special(what: u8, any: impl Fn(u8) -> u64, of_contractions: impl Fn(u8) -> u64) -> u64 {
    match what {
        special::BREAK => any(BREAK),
        special::SPACE => any(BLANK),
        special::APOSTROPHE => any(APOSTROPHE),
        special::SLASH => any(SLASH),
        special::ONE => of_contractions(ONE[0] | ONE[1]),
        special::ELL => of_contractions(ELL),
        special::VR => of_contractions(VR),
        special::E => of_contractions(E),
        _ => unreachable!("one of them at a time"),
    }
}
