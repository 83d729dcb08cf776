//! The masks against the scanners, with the instructions of every tier that this processor has.
//!
//! That the scanners agree with the regex engine is for `tests/split.rs` to say, which goes through the best tier.

use super::{Classification, Tier, nibbles, tables};
use crate::split::scanner::{Cl100k, Contractions, Gpt2, Gpt2Numbers, O200k, Scanner};
use crate::split::unicode::{LOWER, NUMBER, OTHER, SPACE, UPPER};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Members of every family, in wide use or with parameters of their own.
const SCANNERS: [Scanner; 14] = [
    Scanner::Gpt2(Gpt2::GPT2),
    Scanner::Gpt2(Gpt2 { numbers: Gpt2Numbers::Apart(1), ..Gpt2::GPT2 }),
    Scanner::Gpt2(Gpt2 { numbers: Gpt2Numbers::Apart(3), contractions: Contractions::None }),
    Scanner::Cl100k(Cl100k::CL100K),
    Scanner::Cl100k(Cl100k::CLASSIC),
    Scanner::Cl100k(Cl100k { numbers: 2, contractions: Contractions::Plain, ..Cl100k::CL100K }),
    Scanner::Cl100k(Cl100k { numbers: usize::MAX, contractions: Contractions::AnyCase, ..Cl100k::CLASSIC }),
    Scanner::Cl100k(Cl100k { marks: true, ..Cl100k::QWEN2 }),
    Scanner::O200k(O200k::O200K),
    Scanner::O200k(O200k::TEKKEN),
    Scanner::O200k(O200k { slash: false, contractions: Contractions::AnyCase, ..O200k::O200K }),
    Scanner::O200k(O200k { numbers: 2, contractions: Contractions::Plain, ..O200k::O200K }),
    Scanner::O200k(O200k { slash: false, han: true, ..O200k::O200K }),
    Scanner::DeepSeek,
];

/// Those that this processor has.
static TIERS: LazyLock<Vec<Tier>> = LazyLock::new(Tier::available);

/// The ends of all pieces of a text, as `next` appends some of them.
fn all_ends(text: &[u8], mut next: impl FnMut(usize, &mut Vec<usize>)) -> Vec<usize> {
    let mut ends = Vec::new();
    while ends.last().copied().unwrap_or(0) < text.len() {
        let known = ends.len();
        next(ends.last().copied().unwrap_or(0), &mut ends);
        assert!(ends.len() > known, "one at least");
    }
    ends
}

#[track_caller]
fn check(text: &str) {
    // A copy, so that nothing is behind it: AddressSanitizer sees what is read beyond.
    let bytes: Box<[u8]> = text.as_bytes().into();
    for scanner in SCANNERS {
        let classes = scanner.classes();
        let expected = all_ends(&bytes, |from, ends| ends.push(scanner.piece_end(classes, &bytes, from)));
        for &tier in TIERS.iter() {
            let ends = all_ends(&bytes, |from, ends| scanner.next_ends_by(tier, &bytes, from, ends));
            assert_eq!(ends, expected, "{text:?} by {scanner:?} and {tier:?}");
        }
    }
}

/// Characters that the patterns treat in a way of their own, and one or two of every class and length.
const CRITICAL: &str = "aAsStTdDmMlLvVeErRzZ''''ſKkK\u{1C5}\u{1C8}ʰʼªºß中アคא\u{301}\u{20DD}\u{903}0159²½Ⅷ٣〇⺀\r\r\n\n   \t\u{B}\u{C}\u{1C}\u{1F}\u{85}\u{A0}\u{1680}\
                        \u{180E}\u{2003}\u{2028}\u{2029}\u{202F}\u{3000}\u{200B}\u{200D}\u{FEFF}//!?-_<|>。・’👍🏽\u{1FAE8}éÉñдДǅﬆﬅİıΣςσ\0\u{7F}\u{3040}\u{E000}\u{FFFD}\
                        \u{10400}\u{10428}\u{20000}\u{1D7D8}\u{E0100}\u{10FFFF}";

/// A character wherever the patterns look at its class: next to others of every class, doubled, in contractions.
fn contexts(c: char) -> String {
    [
        format!("a{c}b 1{c}2{c}34{c}{c}{c}{c}{c} x"),
        format!("!{c} !{c}a {c}{c}'sA!!{c}z"),
        format!("A{c}Bb\n{c}\n/{c} \n {c}  {c}\t{c}\r{c}"),
        format!("'{c}e'{c}x'l{c}'v{c}a'{c} it'{c}a'{c}'s"),
        format!("\u{301}{c}AB!{c}/ 中{c}AB. A{c}中{c}B中 {c}中A"),
    ]
    .concat()
}

/// What decides how a block begins: a piece; letters, small, capital and without case; symbols; numbers; white space.
const BEFORE: [&str; 7] = ["a ", "a", "A", "中", "-", "1", " "];

/// A text behind so many bytes, or a few more, of something.
fn behind(before: &str, bytes: usize, text: &str) -> String {
    before.repeat(bytes.div_ceil(before.len())) + text
}

#[test]
fn characters_of_every_kind() {
    (('\0'..'\u{300}').chain(('\u{300}'..='\u{FFFF}').step_by(97)))
        .chain(('\u{10000}'..=char::MAX).step_by(1997))
        .chain((0..=0x10_FFFF).filter_map(char::from_u32).filter(|c| c.is_whitespace()))
        .for_each(|c| check(&contexts(c)));
}

#[test]
#[ignore = "exhaustive, run by make exhaustive"]
fn every_character() {
    ('\0'..=char::MAX).for_each(|c| check(&contexts(c)));
}

#[test]
fn some_characters_at_the_edges_of_a_block() {
    for c in "aA'中\u{301}1!/\n \u{3000}👍".chars() {
        for before in BEFORE {
            (60..66).for_each(|bytes| check(&behind(before, bytes, &contexts(c))));
        }
    }
}

#[test]
#[ignore = "exhaustive, run by make exhaustive"]
fn critical_characters_at_every_place_of_a_block() {
    for c in CRITICAL.chars() {
        for before in BEFORE {
            (0..70).for_each(|bytes| check(&behind(before, bytes, &contexts(c))));
        }
    }
}

/// All texts of up to so many characters of some that are critical, so that they lie across the end of a block.
fn short_texts(most: u32) {
    let alphabet: Vec<char> = "slAé中\u{301}1 \n\t'/".chars().collect();
    for length in 1..=most {
        for mut code in 0..alphabet.len().pow(length) {
            let mut text = String::new();
            for _ in 0..length {
                text.push(alphabet[code % alphabet.len()]);
                code /= alphabet.len();
            }
            for before in BEFORE {
                check(&behind(before, 62, &text));
            }
            check(&behind("a ", 58, &(text + "b.")));
        }
    }
}

#[test]
fn short_texts_at_the_end_of_a_block() {
    short_texts(2);
}

#[test]
#[ignore = "exhaustive, run by make exhaustive"]
fn longer_texts_at_the_end_of_a_block() {
    short_texts(5);
}

#[test]
fn long_runs() {
    for run in [
        "a", "A", "é", "中", "\u{301}", "1", "Ⅷ", "'", "/", "!", "👍", " ", "\t", "\n", "\r\n", " \n", "\u{3000}",
        "'s", "A中", "中A", "Aa", "aA", "A\u{301}", "\u{301}A", " A", " !", "!\n", "/\n", "'ll", "a'll",
    ] {
        for (before, after) in [("", ""), ("中", "!"), ("a", "\n"), (" ", " "), ("!", "a"), ("A", "A")] {
            for times in [1, 31, 32, 63, 64, 65, 700] {
                check(&format!("{before}{}{after}", run.repeat(times)));
            }
        }
    }
}

#[test]
fn half_bytes_say_what_the_tables_say() {
    let tables = tables::tables(Classification::Common);
    for byte in 0..128_usize {
        let has = |nibbles: &nibbles::Nibbles, kinds: u8| {
            u64::from(nibbles.low[byte & 0xF] & nibbles.high[byte >> 4] & kinds != 0)
        };
        for set in [UPPER, LOWER, UPPER | LOWER, NUMBER, SPACE, NUMBER | UPPER, OTHER, OTHER | SPACE] {
            let kinds = |kinds| has(&nibbles::KINDS, kinds);
            let found = nibbles::class(set, byte as u64 >> 5 & 1, kinds, |kinds| has(&nibbles::CONTRACTIONS[0], kinds));
            assert_eq!(found != 0, tables.classes[byte] & set != 0, "{byte}");
        }
        for (contraction, specials) in tables.specials.iter().enumerate() {
            for what in (0..8).map(|bit| 1 << bit) {
                let of_contractions = |kinds| has(&nibbles::CONTRACTIONS[contraction], kinds);
                let found = nibbles::special(what, |kinds| has(&nibbles::KINDS, kinds), of_contractions);
                assert_eq!(found != 0, specials[byte] & what != 0, "{byte}");
            }
        }
    }
}

const FEW: [&str; 26] = [
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
    "!a",
];

fn critical_text() -> impl Strategy<Value = String> {
    let characters: Vec<char> = CRITICAL.chars().collect();
    let one = proptest::sample::select(characters.clone()).prop_map(String::from);
    let few = proptest::sample::select(&FEW[..]).prop_map(String::from);
    let long = (proptest::sample::select(characters), 20..90_usize).prop_map(|(c, n)| c.to_string().repeat(n));
    let word = "[a-z]{1,9} ".prop_map(String::from);
    let any = any::<char>().prop_map(String::from);
    proptest::collection::vec(prop_oneof![8 => one, 4 => few, 1 => long, 4 => word, 1 => any], 0..120)
        .prop_map(|parts| parts.concat())
}

/// As `critical_text`, of a few characters each.
fn monotonous_text() -> impl Strategy<Value = String> {
    let characters: Vec<char> = CRITICAL.chars().collect();
    proptest::collection::vec(proptest::sample::select(characters), 1..6)
        .prop_flat_map(|few| proptest::collection::vec(proptest::sample::select(few), 0..200))
        .prop_map(|characters| characters.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_texts(text in critical_text()) {
        check(&text);
    }

    #[test]
    fn random_texts_of_few_characters(text in monotonous_text()) {
        check(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    #[test]
    #[ignore = "exhaustive, run by make exhaustive"]
    fn many_random_texts(text in prop_oneof![critical_text(), monotonous_text()]) {
        check(&text);
    }
}

/// Bytes that are no UTF-8 are the caller's mistake, but nothing may be read or written outside.
#[test]
fn any_bytes_stay_inside() {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for _ in 0..2000 {
        let bytes: Box<[u8]> = (0..random() % 200 + 1)
            .map(|_| if random() % 2 == 0 { 0x80 | random() as u8 } else { random() as u8 })
            .collect();
        for scanner in SCANNERS {
            for &tier in TIERS.iter() {
                // It may panic, as it may with any mistake.
                let _ = std::panic::catch_unwind(|| {
                    let mut ends = Vec::new();
                    scanner.next_ends_by(tier, &bytes, 0, &mut ends);
                });
            }
        }
    }
}
