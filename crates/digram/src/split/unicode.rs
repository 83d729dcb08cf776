//! Unicode classes for the scanners: one table look-up a character.
//!
//! The table is made at first use from the general regex engine's own classes, so a scanner and the regex of the same
//! pattern agree on every character by construction. They are the classes of Unicode 16 (a test asserts it).

use regex_syntax::hir::{Class, HirKind};
use std::sync::LazyLock;

/// A set of classes, one bit each; every character is in exactly one class.
pub(super) type Set = u8;

/// `\p{Lu}` and `\p{Lt}`, which no pattern here tells apart.
pub(super) const UPPER: Set = 1 << 0;
/// `\p{Ll}`
pub(super) const LOWER: Set = 1 << 1;
/// `\p{Lm}` and `\p{Lo}`
pub(super) const UNCASED: Set = 1 << 2;
/// `\p{M}`
pub(super) const MARK: Set = 1 << 3;
/// `\p{N}`
pub(super) const NUMBER: Set = 1 << 4;
/// `\s`, that is White_Space
pub(super) const SPACE: Set = 1 << 5;
/// Everything else: punctuation, symbols, controls, unassigned code points.
pub(super) const OTHER: Set = 1 << 6;
/// `\p{L}`
pub(super) const LETTER: Set = UPPER | LOWER | UNCASED;
/// `[^\s\p{L}\p{N}]`
pub(super) const SYMBOL: Set = MARK | OTHER;
/// Only in [`han_classes`]: `\p{Han}`
pub(super) const HAN: Set = 1 << 7;
/// Only in [`deepseek_classes`], where `NUMBER`, `SPACE` and `OTHER` are used too: `[\p{L}\p{M}]`
pub(super) const WORD: Set = 1 << 0;
/// Likewise: `[\p{P}\p{S}]`
pub(super) const PUNCTUATION: Set = 1 << 1;
/// Likewise: of Chinese characters and kana, as the pattern has them, those of `[\p{L}\p{M}]`.
pub(super) const CJK_WORD: Set = 1 << 2;
/// Those of `[\p{P}\p{S}]`: two or three marks of kana.
pub(super) const CJK_PUNCTUATION: Set = 1 << 3;
/// And the rest, which is unassigned.
pub(super) const CJK_OTHER: Set = 1 << 7;
/// All of them.
pub(super) const CJK: Set = CJK_WORD | CJK_PUNCTUATION | CJK_OTHER;

/// A block of the table covers this many code points.
const BLOCK: usize = 1 << 8;

/// The class of every code point, in two stages: code point / 256 to a block, and the block's 256 classes.
pub(super) struct Classes {
    /// By byte; 0 for the bytes of longer characters.
    ascii: [Set; 256],
    block_of: Box<[u16]>,
    blocks: Box<[[Set; BLOCK]]>,
}

/// For each set, a class of the regex engine that it stands for; every other character is `OTHER`.
const SETS: [(&str, Set); 6] = [
    (r"[\p{Lu}\p{Lt}]", UPPER),
    (r"\p{Ll}", LOWER),
    (r"[\p{Lm}\p{Lo}]", UNCASED),
    (r"\p{M}", MARK),
    (r"\p{N}", NUMBER),
    (r"\s", SPACE),
];

/// The table, made at first use.
pub(super) fn classes() -> &'static Classes {
    static CLASSES: LazyLock<Classes> = LazyLock::new(|| Classes::of_sets(&SETS));
    &CLASSES
}

/// As [`classes`], with the bit `HAN` for `\p{Han}`: alone where the character is a letter there; beside `NUMBER` or `OTHER`
/// where it is a number, a symbol or a mark.
pub(super) fn han_classes() -> &'static Classes {
    static CLASSES: LazyLock<Classes> = LazyLock::new(|| {
        let han = [
            (r"[\p{Han}&&\p{L}]", HAN),
            (r"[\p{Han}&&\p{N}]", HAN | NUMBER),
            (r"[\p{Han}&&[^\p{L}\p{N}]]", HAN | OTHER),
        ];
        Classes::of_sets(&[&SETS[..], &han].concat())
    });
    &CLASSES
}

/// The classes of `deepseek`: `WORD`, `PUNCTUATION`, those of `CJK`, `NUMBER`, `SPACE` and `OTHER`.
pub(super) fn deepseek_classes() -> &'static Classes {
    static CLASSES: LazyLock<Classes> = LazyLock::new(|| {
        Classes::of_sets(&[
            (r"[\p{L}\p{M}]", WORD),
            (r"[\p{P}\p{S}]", PUNCTUATION),
            (r"\p{N}", NUMBER),
            (r"\s", SPACE),
            (r"[\u{4E00}-\u{9FA5}\u{3040}-\u{30FF}]", CJK_OTHER),
            (r"[[\u{4E00}-\u{9FA5}\u{3040}-\u{30FF}]&&[\p{L}\p{M}]]", CJK_WORD),
            (r"[[\u{4E00}-\u{9FA5}\u{3040}-\u{30FF}]&&[\p{P}\p{S}]]", CJK_PUNCTUATION),
        ])
    });
    &CLASSES
}

impl Classes {
    /// The table in which the last of the sets that a character is in counts.
    fn of_sets(sets: &[(&str, Set)]) -> Self {
        let mut flat = vec![OTHER; 0x11_0000];
        for &(pattern, set) in sets {
            for (first, last) in class_ranges(pattern) {
                flat[first as usize..=last as usize].fill(set);
            }
        }
        Self::of_flat(&flat)
    }

    /// The table of the classes of all code points, in their order; none is 0.
    pub(super) fn of_flat(flat: &[Set]) -> Self {
        let mut ascii = [0; 256];
        ascii[..128].copy_from_slice(&flat[..128]);
        let mut blocks: Vec<[Set; BLOCK]> = Vec::new();
        let block_of = flat
            .as_chunks::<BLOCK>()
            .0
            .iter()
            .map(|block| {
                let known = blocks.iter().position(|b| b == block);
                known.unwrap_or_else(|| {
                    blocks.push(*block);
                    blocks.len() - 1
                }) as u16
            })
            .collect();
        Classes { ascii, block_of, blocks: blocks.into() }
    }

    /// The class of a character.
    #[inline]
    pub(super) fn of(&self, code_point: u32) -> Set {
        self.blocks[usize::from(self.block_of[(code_point >> 8) as usize])][(code_point & 0xFF) as usize]
    }

    /// The class of the character that begins at byte `at` of `text`, and its length in bytes. `text` is UTF-8 and `at`
    /// the beginning of a character in it.
    #[inline]
    pub(super) fn at(&self, text: &[u8], at: usize) -> (Set, usize) {
        match self.ascii[usize::from(text[at])] {
            0 => self.at_long(text, at),
            class => (class, 1),
        }
    }

    /// [`at`](Self::at) for a character of two to four bytes.
    fn at_long(&self, text: &[u8], at: usize) -> (Set, usize) {
        let low = |i: usize| u32::from(text[at + i] & 0x3F);
        match u32::from(text[at]) {
            lead @ ..0xE0 => (self.of((lead & 0x1F) << 6 | low(1)), 2),
            lead @ ..0xF0 => (self.of((lead & 0x0F) << 12 | low(1) << 6 | low(2)), 3),
            lead => (self.of((lead & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3)), 4),
        }
    }

    /// The class of the character that ends before byte `at` of `text`, and its length in bytes. `text` is UTF-8 and a
    /// character ends there.
    #[inline]
    pub(super) fn before(&self, text: &[u8], at: usize) -> (Set, usize) {
        match self.ascii[usize::from(text[at - 1])] {
            0 => {
                let mut start = at - 2;
                while text[start] & 0xC0 == 0x80 {
                    start -= 1;
                }
                self.at_long(text, start)
            }
            class => (class, 1),
        }
    }

    /// Whether a character of `set` begins at byte `at`; false at the end of `text`.
    #[inline]
    pub(super) fn is_at(&self, text: &[u8], at: usize, set: Set) -> bool {
        at < text.len() && self.at(text, at).0 & set != 0
    }

    /// The end of the longest run of characters of `set` that begins at byte `at` of `text`.
    #[inline]
    pub(super) fn run(&self, text: &[u8], mut at: usize, set: Set) -> usize {
        while at < text.len() {
            let (class, len) = self.at(text, at);
            if class & set == 0 {
                break;
            }
            at += len;
        }
        at
    }
}

/// The code points of a class, as the regex engine sees it.
pub(crate) fn class_ranges(pattern: &str) -> Vec<(char, char)> {
    let hir = regex_syntax::parse(pattern).expect("a class of the regex engine");
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => class.ranges().iter().map(|r| (r.start(), r.end())).collect(),
        other => unreachable!("{pattern} is a Unicode class, not {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_unicode_16() {
        let c = classes();
        // Assigned in 16.0: Garay capital letter A, Todhri letter A, Garay digit zero.
        assert_eq!(c.of(0x10D50), UPPER);
        assert_eq!(c.of(0x105C0), UNCASED);
        assert_eq!(c.of(0x10D40), NUMBER);
        // Assigned in 17.0: Sidetic letter N01, the first ideograph of extension J, Tolong Siki letter I.
        for later in [0x10940, 0x323B0, 0x11DB0] {
            assert_eq!(c.of(later), OTHER, "U+{later:04X} is unassigned in Unicode 16");
        }
    }

    #[test]
    fn the_classes_are_disjoint_and_the_table_holds_them() {
        let c = classes();
        for (pattern, set) in [
            (r"\p{L}", LETTER),
            (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER | UNCASED | MARK),
            (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER | UNCASED | MARK),
            (r"\p{N}", NUMBER),
            (r"\s", SPACE),
            (r"[^\s\p{L}\p{N}]", SYMBOL),
        ] {
            let mut expected = vec![false; 0x11_0000];
            for (first, last) in class_ranges(pattern) {
                expected[first as usize..=last as usize].fill(true);
            }
            for character in '\0'..=char::MAX {
                assert_eq!(c.of(character.into()) & set != 0, expected[character as usize], "{pattern} {character:?}");
            }
        }
    }

    #[test]
    fn characters_of_every_length_are_decoded() {
        let c = classes();
        for character in ('\0'..=char::MAX).step_by(7).chain(['\u{7F}', '\u{80}', '\u{7FF}', '\u{800}', '\u{FFFF}']) {
            let mut buffer = [0; 4];
            let text = character.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(c.at(text, 0), (c.of(character.into()), text.len()), "{character:?}");
        }
    }
}
