//! Whether a text is composed already (NFC), at the speed of memory for most texts.
//!
//! The quick check of Unicode Standard Annex #15 looks up two properties of every character. Nearly all characters have
//! none that matters: they may not be the second part of a composition, are their own composition, and are no marks that
//! have to be in order. Below U+0300 there are no others, and one bit each tells of those in the Basic Multilingual Plane.

use std::sync::LazyLock;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The first byte of U+0300. Bytes below it belong to plain characters, unless a higher one begins the character.
const MARKS: u8 = 0xCC;

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// By code point: whether a character is plain.
static PLAIN: LazyLock<Box<[u64; 1 << 10]>> = LazyLock::new(|| {
    let mut plain = Box::new([0; 1 << 10]);
    for character in (0..1 << 16).filter_map(char::from_u32) {
        if is_composed(character) && canonical_combining_class(character) == 0 {
            plain[character as usize / 64] |= 1 << (character as u32 % 64);
        }
    }
    plain
});

fn is_composed(character: char) -> bool {
    is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes
}

/// Whether the quick check says that a text is composed: `is_nfc_quick(text.chars()) == IsNormalized::Yes`.
pub(super) fn is_nfc(text: &str) -> bool {
    let bytes = text.as_bytes();
    let plain = &**PLAIN;
    // The combining class of the character before.
    let (mut at, mut before) = (0, 0);
    while at < bytes.len() {
        if let Some(block) = bytes[at..].first_chunk::<BLOCK>()
            && block.iter().fold(0, |most, &byte| byte.max(most)) < MARKS
        {
            (at, before) = (at + BLOCK, 0);
            continue;
        }
        let end = (at + BLOCK).min(bytes.len());
        while at < end {
            if bytes[at] < MARKS {
                (at, before) = (at + 1, 0);
                continue;
            }
            let character = text[at..].chars().next().expect("not at the end");
            at += character.len_utf8();
            let code = character as usize;
            if plain.get(code / 64).is_some_and(|word| word >> (code % 64) & 1 == 1) {
                before = 0;
                continue;
            }
            let class = canonical_combining_class(character);
            if !is_composed(character) || (class != 0 && before > class) {
                return false;
            }
            before = class;
        }
    }
    true
}

/// Bytes of a text that are composed together, about.
const WINDOW: usize = 256;

/// A text, composed: what is so already is copied. It is cut between two ASCII characters, of which nothing changes on
/// account of what stands beyond the cut.
pub(super) fn nfc(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while from < bytes.len() {
        let least = (from + WINDOW).min(bytes.len());
        let mut places = (least..bytes.len()).filter(|&to| bytes[to - 1] < 0x80 && bytes[to] < 0x80);
        let to = places.next().unwrap_or(bytes.len());
        match &text[from..to] {
            part if is_nfc(part) => out.push_str(part),
            part => out.extend(part.nfc()),
        }
        from = to;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str) {
        assert_eq!(is_nfc(text), is_nfc_quick(text.chars()) == IsNormalized::Yes, "{text:?}");
    }

    #[test]
    fn each_character_after_marks() {
        for character in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let alone = is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes;
            assert_eq!(is_nfc(character.encode_utf8(&mut [0; 4])), alone, "{character:?}");
            if canonical_combining_class(character) != 0 || !alone {
                for before in ["a", "x\u{315}", "\u{e01}\u{e48}", "\u{5d0}\u{5b0}", "é"] {
                    check(&format!("{before}{character}"));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn as_the_quick_check(text in "[a-z éÀ中가かゞ\u{300}\u{315}\u{323}\u{3099}\u{e01}\u{e48}\u{94d}\u{915}😀\u{1d15e}]{0,90}", plain in 0usize..130) {
            let text = format!("{}{text}", "é ab".repeat(plain));
            check(&text);
            let text = text.repeat(3);
            assert_eq!(nfc(&text), text.nfc().collect::<String>());
        }
    }
}
