//! The masks against the scanners, with the instructions of every tier that this processor has.

use super::{Tier, next_ends_by};
use crate::split::scanner::{Cl100k, Gpt2, O200k, Scanner};
use crate::split::unicode;
use proptest::prelude::*;

const SCANNERS: [Scanner; 5] = [
    Scanner::Gpt2(Gpt2::GPT2),
    Scanner::Cl100k(Cl100k::CL100K),
    Scanner::Cl100k(Cl100k::CLASSIC),
    Scanner::Cl100k(Cl100k::QWEN2),
    Scanner::O200k(O200k::O200K),
];

#[track_caller]
fn check(text: &str) {
    let (text, classes) = (text.as_bytes(), unicode::classes());
    for scanner in SCANNERS {
        let piece_end = |at| scanner.piece_end(classes, text, at);
        let mut expected = Vec::new();
        while expected.last().copied().unwrap_or(0) < text.len() {
            expected.push(piece_end(expected.last().copied().unwrap_or(0)));
        }
        for tier in Tier::available() {
            let mut ends = Vec::new();
            while ends.last().copied().unwrap_or(0) < text.len() {
                let from = ends.last().copied().unwrap_or(0);
                next_ends_by(tier, scanner.rules().expect("has masks"), text, from, &mut ends, &piece_end);
            }
            assert_eq!(ends, expected, "{:?} by {scanner:?} and {tier:?}", str::from_utf8(text));
        }
    }
}

/// Characters that the patterns treat in a way of their own, and one or two of every class.
const CRITICAL: &str = "aAsStTdDmMlLvVeErRzZ''''ſKkK\u{1C5}\u{1C8}ʰʼªºß中アคא\u{301}\u{20DD}\u{903}0159²½Ⅷ٣\r\r\n\n   \t\u{B}\u{C}\u{1C}\u{1F}\u{85}\u{A0}\u{1680}\
                        \u{180E}\u{2003}\u{2028}\u{2029}\u{202F}\u{3000}\u{200B}\u{200D}\u{FEFF}//!?-_<|>。’👍🏽\u{1FAE8}éÉñдДǅﬆﬅİıΣςσ\0\u{7F}\u{E000}\u{FFFD}\
                        \u{10400}\u{10428}\u{20000}\u{1D7D8}\u{E0100}\u{10FFFF}";

fn critical_text() -> impl Strategy<Value = String> {
    let characters: Vec<char> = CRITICAL.chars().collect();
    let one = proptest::sample::select(characters.clone()).prop_map(String::from);
    let few = proptest::sample::select(vec![
        "'s",
        "'S",
        "'ſ",
        "'ll",
        "'lL",
        "'Ve",
        "'RE",
        "'d",
        "'l",
        "'s's",
        "\r\n",
        "  ",
        "\n\n",
        " \n ",
        "AB",
        "ab",
        "123",
        "//",
        "\n/",
        "中\u{301}",
        "中A",
        "A中",
        " a",
        " !",
        "0123456789",
    ])
    .prop_map(String::from);
    let long = (proptest::sample::select(characters), 20..90_usize).prop_map(|(c, n)| c.to_string().repeat(n));
    let word = "[a-z]{1,9} ".prop_map(String::from);
    proptest::collection::vec(prop_oneof![8 => one, 4 => few, 1 => long, 4 => word], 0..120)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn masks_agree_with_the_scanners_on_random_texts(text in critical_text()) {
        check(&text);
    }
}
