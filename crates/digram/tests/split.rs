//! Splitting, against the general regex engine of the same pattern and against slow twins.

mod support;

use digram::Error;
use digram::split::{CL100K, CL100K_CLASSIC, GPT2, GPT2_TIKTOKEN, NAMED, O200K, QWEN2, Splitter, named};
use proptest::prelude::*;
use std::ops::Range;
use std::time::{Duration, Instant};
use support::{pieces, strings};

/// Every spelling that has a scanner.
const SCANNED: [(&str, &str); 6] = [
    (GPT2, "scanner:gpt2"),
    (GPT2_TIKTOKEN, "scanner:gpt2"),
    (CL100K, "scanner:cl100k"),
    (CL100K_CLASSIC, "scanner:cl100k-classic"),
    (QWEN2, "scanner:qwen2"),
    (O200K, "scanner:o200k"),
];

/// A scanner and the regex of the same pattern.
struct Pair {
    scanner: Splitter,
    regex: fancy_regex::Regex,
}

fn pairs() -> Vec<Pair> {
    SCANNED
        .iter()
        .map(|(pattern, engine)| {
            let scanner = Splitter::new(pattern).unwrap();
            assert_eq!((scanner.engine(), scanner.pattern()), (*engine, Some(*pattern)));
            Pair { scanner, regex: fancy_regex::Regex::new(pattern).unwrap() }
        })
        .collect()
}

impl Pair {
    #[track_caller]
    fn check(&self, text: &str) {
        let expected: Vec<&str> = self.regex.find_iter(text).map(|found| found.unwrap().as_str()).collect();
        assert_eq!(strings(&self.scanner, text), expected, "{text:?} by {}", self.scanner.engine());
    }
}

/// Texts around one character, one for each place in the patterns where its class counts.
fn contexts(c: char) -> impl Iterator<Item = String> {
    [
        format!("a{c}b"),
        format!("!{c} "),
        format!(" {c}{c}'sA"),
        format!("1{c}2{c}3{c}4"),
        format!("A{c}Bb\n{c}\n"),
        format!("'{c}e'{c}x'l{c}'v{c}"),
        format!("\u{301}{c}AB!{c}/"),
        format!("\t{c}\r{c}"),
    ]
    .into_iter()
}

/// Characters that the patterns treat in a way of their own, and one or two of every class.
const CRITICAL: &str = "aAsStTdDmMlLvVeErRzZ'ſKkK\u{1C5}\u{1C8}ʰʼªºß中アคא\u{301}\u{20DD}\u{903}0159²½Ⅷ٣\r\n \t\u{B}\u{C}\u{1C}\u{1F}\u{85}\u{A0}\u{1680}\
                        \u{180E}\u{2003}\u{2028}\u{2029}\u{202F}\u{3000}\u{200B}\u{200D}\u{FEFF}/!?-_<|>。’👍🏽\u{1FAE8}éÉñдДǅﬆﬅİıΣςσ\0\u{7F}\u{E000}\u{FFFD}\u{10FFFF}";

#[test]
fn scanners_agree_with_the_regex_on_characters_of_every_kind() {
    let characters: Vec<char> = ('\0'..'\u{300}')
        .chain(('\u{300}'..='\u{FFFF}').step_by(41))
        .chain(('\u{10000}'..=char::MAX).step_by(997))
        .chain(('\0'..=char::MAX).filter(|c| c.is_whitespace()))
        .chain(CRITICAL.chars())
        .collect();
    for pair in pairs() {
        characters.iter().flat_map(|&c| contexts(c)).for_each(|text| pair.check(&text));
    }
}

#[test]
#[ignore = "exhaustive, run by make exhaustive"]
fn scanners_agree_with_the_regex_on_every_character() {
    for pair in pairs() {
        ('\0'..=char::MAX).flat_map(contexts).for_each(|text| pair.check(&text));
    }
}

#[test]
#[ignore = "exhaustive, run by make exhaustive"]
fn scanners_agree_with_the_regex_on_all_short_texts() {
    // All texts of up to six characters, one or two of each class.
    let alphabet: Vec<char> = "sA中\u{301}1 \n\t'/".chars().collect();
    let pairs = pairs();
    for length in 1..=6 {
        for mut code in 0..alphabet.len().pow(length) {
            let mut text = String::new();
            for _ in 0..length {
                text.push(alphabet[code % alphabet.len()]);
                code /= alphabet.len();
            }
            pairs.iter().for_each(|pair| pair.check(&text));
        }
    }
}

fn critical_text() -> impl Strategy<Value = String> {
    let one = proptest::sample::select(CRITICAL.chars().collect::<Vec<_>>()).prop_map(String::from);
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
        "\r\n",
        "  ",
        "\n\n",
        " \n ",
        "AB",
        "ab",
        "123",
        "//",
        "中\u{301}",
        " a",
        " !",
    ])
    .prop_map(String::from);
    let any = any::<char>().prop_map(String::from);
    proptest::collection::vec(prop_oneof![6 => one, 4 => few, 1 => any], 0..40).prop_map(|parts| parts.concat())
}

thread_local! {
    static PAIRS: Vec<Pair> = pairs();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn scanners_agree_with_the_regex_on_random_texts(text in critical_text()) {
        PAIRS.with(|pairs| pairs.iter().for_each(|pair| pair.check(&text)));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_pieces_of_their_own(
        parts in proptest::collection::vec(prop_oneof![
            critical_text().prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..4),
            // Cut characters, surrogates, overlong forms, values past the end.
            proptest::sample::select(vec![&b"\xC3"[..], b"\xE0\xA0", b"\xED\xA0\x80", b"\xC0\x80", b"\xF0\x9F\x98", b"\xF4\x90\x80\x80",
                b"\x80", b"\xFF", b"\xE2\x80"]).prop_map(<[u8]>::to_vec),
        ], 0..8)
    ) {
        let document = parts.concat();
        PAIRS.with(|pairs| {
            let own = Splitter::new(r"[a-z]+(?![0-9])|\s+").unwrap();
            for splitter in pairs.iter().map(|pair| &pair.scanner).chain([&Splitter::none(), &own]) {
                assert_eq!(pieces(splitter, &document).unwrap(), slow_pieces(splitter, &document));
            }
        });
    }
}

/// Splits as the specification says it, byte by byte.
fn slow_pieces(splitter: &Splitter, document: &[u8]) -> Vec<Range<usize>> {
    let mut character = vec![false; document.len()];
    let mut at = 0;
    while at < document.len() {
        let len = (1..=4).find(|len| document.get(at..at + len).is_some_and(|c| std::str::from_utf8(c).is_ok()));
        character[at..at + len.unwrap_or(0)].fill(true);
        at += len.unwrap_or(1);
    }
    let mut result = Vec::new();
    let mut start = 0;
    for end in 1..=document.len() {
        if end == document.len() || character[end] != character[start] {
            if character[start] {
                let inner = pieces(splitter, &document[start..end]).unwrap();
                result.extend(inner.into_iter().map(|piece| start + piece.start..start + piece.end));
            } else {
                result.push(start..end);
            }
            start = end;
        }
    }
    result
}

#[test]
fn ends_of_texts() {
    let [_, gpt2, cl100k, classic, _, o200k] = SCANNED.map(|(pattern, _)| Splitter::new(pattern).unwrap());
    // The one known difference between the two forms of cl100k.
    assert_eq!(strings(&cl100k, "a\n\n  "), ["a", "\n\n  "]);
    assert_eq!(strings(&classic, "a\n\n  "), ["a", "\n\n", "  "]);
    assert_eq!(strings(&cl100k, "a\r\n\t"), ["a", "\r\n\t"]);
    assert_eq!(strings(&classic, "a\r\n\t"), ["a", "\r\n", "\t"]);
    assert_eq!(strings(&o200k, "a\r\n\t"), ["a", "\r\n", "\t"]);
    assert_eq!(strings(&gpt2, "a\r\n\t"), ["a", "\r\n\t"]);
    assert_eq!(strings(&gpt2, "a   b"), ["a", "  ", " b"]);
    // Each stretch of well-formed text ends by itself, and so does the part that is asked for.
    assert_eq!(pieces(&gpt2, b"a  \xFFb").unwrap(), [0..1, 1..3, 3..4, 4..5]);
    let mut within = Vec::new();
    let document = b"xa  b";
    gpt2.for_each_piece_within(document, 1..4, &|| false, |piece| {
        within.push(piece);
        Ok(())
    })
    .unwrap();
    assert_eq!(within, [1..2, 2..4]);
}

#[test]
fn pieces_behind_the_ids_of_public_reports() {
    let [gpt2, _, cl100k, _, _, o200k] = SCANNED.map(|(pattern, _)| Splitter::new(pattern).unwrap());
    assert_eq!(strings(&cl100k, "'RE"), ["'RE"]);
    assert_eq!(strings(&cl100k, "I'M we'll THEY'RE we'd"), ["I", "'M", " we", "'ll", " THEY", "'RE", " we", "'d"]);
    // U+001C and U+001F are no white space here, though Python's `re` thinks so.
    for splitter in [&gpt2, &cl100k, &o200k] {
        let tab: &[&str] =
            if splitter.engine() == "scanner:gpt2" { &["a", "\x1c", "\t", "b"] } else { &["a", "\x1c", "\tb"] };
        assert_eq!(strings(splitter, "a\x1c\tb"), tab);
        assert_eq!(strings(splitter, "²"), ["²"]);
        assert_eq!(strings(splitter, "\x1f"), ["\x1f"]);
    }
    assert_eq!(strings(&gpt2, "q\u{301}x"), ["q", "\u{301}", "x"]);
    assert_eq!(strings(&cl100k, "q\u{301}x"), ["q", "\u{301}x"]);
    assert_eq!(strings(&o200k, "q\u{301}x"), ["q\u{301}x"]);
    // The long s folds to s; the Kelvin sign folds to k, which no contraction has.
    assert_eq!(strings(&cl100k, "'ſthe"), ["'ſ", "the"]);
    assert_eq!(strings(&o200k, "'ſthe"), ["'ſthe"]);
    assert_eq!(strings(&cl100k, "'\u{212A}"), ["'\u{212A}"]);
    assert_eq!(strings(&o200k, "a'\u{212A}"), ["a", "'\u{212A}"]);
    assert_eq!(strings(&o200k, "a'ſx"), ["a'ſ", "x"]);
}

#[test]
fn long_runs_take_linear_time() {
    let runs = [
        "a", "A", "é", "中", "\u{301}", "1", "Ⅷ", "'", "/", "!", "_", "^", "👍", "\u{200B}", " ", "\t", "\n", "\r\n",
        " \n", "\n ", "\u{2003}", "'s", "A中", "中A", "Aa", "aA", "A\u{301}", "\u{301}A", " A", " !", "!\n", "/\n",
        "'ll", "1 ", " \u{301}",
    ];
    for (pattern, engine) in SCANNED {
        let splitter = Splitter::new(pattern).unwrap();
        for run in runs {
            for (before, after) in [("", ""), ("中", "!"), ("a", "\n"), (" ", " ")] {
                let text = format!("{before}{}{after}", run.repeat(1_000_000));
                let start = Instant::now();
                pieces(&splitter, text.as_bytes()).unwrap();
                let time = start.elapsed();
                assert!(
                    time < Duration::from_secs(2),
                    "{run:?} between {before:?} and {after:?} by {engine}: {time:?}"
                );
            }
        }
    }
}

#[test]
fn no_pattern_is_one_piece() {
    let none = Splitter::none();
    assert_eq!((none.engine(), none.pattern()), ("none", None));
    assert_eq!(strings(&none, "a b\n"), ["a b\n"]);
    assert_eq!(pieces(&none, b"a\xFF\xC3b").unwrap(), [0..1, 1..3, 3..4]);
    assert!(pieces(&none, b"").unwrap().is_empty());
}

#[test]
fn an_error_of_the_caller_ends_the_split() {
    let stop = Error::Interrupted;
    for splitter in [Splitter::none(), Splitter::new(GPT2).unwrap(), Splitter::new("a").unwrap()] {
        let mut calls = 0;
        let result = splitter.for_each_piece(b"b a\xFFc", |_| {
            calls += 1;
            Err(stop.clone())
        });
        assert_eq!((result, calls), (Err(stop.clone()), 1));
    }
}

#[test]
fn names_of_patterns() {
    assert_eq!(NAMED.map(|(name, _)| name), ["gpt2", "cl100k", "cl100k-classic", "o200k"]);
    for (name, pattern) in NAMED {
        assert_eq!(named(name), Some(pattern));
        assert!(Splitter::new(pattern).unwrap().engine().ends_with(name));
    }
    assert_eq!(named("none"), None);
}
