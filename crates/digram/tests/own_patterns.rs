//! Splitting by patterns of one's own: no byte lost, no panic, errors that say where, linear time.

#[path = "support/matches.rs"]
mod matches;
mod support;

use digram::Error;
use digram::split::{GPT2_TIKTOKEN, NAMED, Splitter};
use matches::{by_find_iter, unlimited};
use proptest::prelude::*;
use std::cell::Cell;
use std::time::{Duration, Instant};
use support::{pieces, strings};

/// Qwen 2's and 3's, with an alternative that is never reached: what looks two characters ahead has no scanner.
const QWEN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+|(?=ab)ab";
/// SuperBPE's numbers.
const NUMBERS: &str = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))|\D+";

#[test]
fn a_pattern_of_ones_own_keeps_every_byte() {
    let splitter = Splitter::new(r"[a-z]+(?=!)|\d*").unwrap();
    assert_eq!((splitter.engine(), splitter.pattern()), ("automaton", Some(r"[a-z]+(?=!)|\d*")));
    assert_eq!(strings(&splitter, "?ab!é12 ab"), ["?", "ab", "!é", "12", " ab"]);
    assert_eq!(strings(&splitter, ""), [""; 0]);
    assert!(matches!(Splitter::new("a(b"), Err(Error::Pattern { position: 3, .. })));
}

fn random_pattern() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec![
        "a",
        "b",
        "é",
        ".",
        r"\s",
        r"\S",
        r"\p{L}",
        r"\p{N}",
        "[^a]",
        "[a-é]",
        r"[^\s\p{L}]",
        "$",
        "^",
        r"\b",
        r"\G",
        r"\K",
        r"\z",
        r"\A",
        r"\1",
        "",
        "'",
        r"\r\n",
        "(?i)",
        "(?m)",
        "(?s)",
        "(?x)",
        r"\X",
        r"\R",
        r"\h",
        r"\Z",
        r"\e",
        "(?~ab)",
        "|",
        "(",
        ")",
        "[",
        "*",
        "{2}",
    ])
    .prop_map(String::from);
    leaf.prop_recursive(4, 24, 4, |inner| {
        let wrap = proptest::sample::select(vec![
            ("(", ")"),
            ("(?:", ")"),
            ("(?=", ")"),
            ("(?!", ")"),
            ("(?<=", ")"),
            ("(?<!", ")"),
            ("(?>", ")"),
            ("(?:", ")*"),
            ("(?:", ")+"),
            ("(?:", ")?"),
            ("(?:", ")*?"),
            ("(?:", ")++"),
            ("(?:", "){1,3}"),
            ("(?:", "){2,}"),
            ("(?i:", ")"),
            ("(?<n>", r")\k<n>"),
            ("(?(", ")a|b)"),
        ]);
        prop_oneof![
            (wrap, inner.clone()).prop_map(|((before, after), part)| format!("{before}{part}{after}")),
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            proptest::collection::vec(inner, 1..4).prop_map(|parts| parts.join("|")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_pattern_keeps_every_byte_or_gives_an_error(pattern in random_pattern(), text in "[ab é'1\r\n]{0,30}") {
        match Splitter::new(&pattern) {
            // `pieces` checks that they are the text.
            Ok(splitter) => match pieces(&splitter, text.as_bytes()) {
                Ok(_) | Err(Error::Backtracking { .. }) => {}
                Err(error) => panic!("{error}"),
            },
            Err(Error::Pattern { position, .. }) => prop_assert!(position <= pattern.chars().count()),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn patterns_too_deep_are_errors_and_large_ones_work_or_are_errors() {
    let deep = ["(", "(?=", "["].map(|part| part.repeat(100_000));
    for pattern in deep.into_iter().chain([format!("{}{}", "(".repeat(100_000), ")".repeat(100_000))]) {
        let result = Splitter::new(&pattern).map(|_| ());
        assert!(matches!(result, Err(Error::Pattern { .. })), "{pattern:.40}: {result:?}");
    }
    for pattern in
        ["a{1000}{1000}{1000}", r"(?:(?=a)\p{L}{1000}){1000}(?!b)", r"\p{L}{1000}{1000}", r"(\w{500}|\d){1000}"]
    {
        match Splitter::new(pattern) {
            Ok(splitter) => assert_eq!(strings(&splitter, "a b"), ["a b"], "{pattern}"),
            Err(error) => assert!(matches!(error, Error::Pattern { .. }), "{pattern}: {error}"),
        }
    }
}

#[test]
fn the_engine_has_a_name() {
    for (pattern, engine) in [(QWEN, "automaton"), (NUMBERS, "automaton"), (r"(.)\1", "regex"), (r"(?>a|ab)c", "regex")]
    {
        let splitter = Splitter::new(pattern).unwrap();
        assert_eq!((splitter.engine(), splitter.may_be_slow()), (engine, engine == "regex"), "{pattern}");
    }
}

/// Each takes minutes where time is not linear, or ends with an error where it is limited.
#[test]
fn hostile_texts_take_linear_time() {
    let start = Instant::now();
    let n = 1_000_000;
    let letters = "a".repeat(n);
    for (pattern, text, expected) in [
        ("[a-z]+:|[a-z]", letters.clone(), n),
        ("[a-z]+:|[a-z]", format!("{letters}:"), 1),
        ("(?=x*c)y|x", "x".repeat(n), n),
        ("(?=x*c)y|x", format!("{}cy", "x".repeat(n)), n + 1),
        ("(?:x*c)?", "x".repeat(n), 1),
        ("(?:a|b)*(?>c)", "ab".repeat(n / 2), 1),
        ("(?:a|b|ab)*(?>c)|.", "ab".repeat(n / 2), n),
        ("(?:(?:a+)+)+c|a", letters.clone(), n),
        (r"(?<=a.{20})b|.", letters, n),
        (r"(?<!:[a-z]*)[a-z]", "a".repeat(n), n),
        (QWEN, " ".repeat(n), 1),
        (QWEN, format!("{}x", " ".repeat(n)), 2),
        (QWEN, "\n ".repeat(n / 2), 2),
        (NUMBERS, "1".repeat(n), n.div_ceil(3)),
        (r"(?:[ab]{0,100}c)|[ab]", "aabab".repeat(n / 5), n),
    ] {
        let splitter = Splitter::new(pattern).unwrap();
        assert_eq!(pieces(&splitter, text.as_bytes()).map(|p| p.len()), Ok(expected), "{pattern} on {text:.5}...");
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// Runs of characters, so many characters in all.
fn random_runs(characters: &str, longest: u32, total: usize, seed: u64) -> String {
    let characters: Vec<char> = characters.chars().collect();
    let mut state = seed;
    let mut random = move |below: u32| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as u32 % below
    };
    let mut text = String::new();
    let mut left = total;
    while left > 0 {
        let run = left.min(1 + random(longest) as usize);
        let character = characters[random(characters.len() as u32) as usize];
        text.extend(std::iter::repeat_n(character, run));
        left -= run;
    }
    text
}

#[test]
fn long_texts_are_cut_as_by_backtracking() {
    for (pattern, characters, longest) in [
        (QWEN, "aéS1 \n\r'.中\u{a0}", 9),
        (QWEN, "a \n", 300),
        (NUMBERS, "1٣a", 200),
        // Matches, and what decides on them, far apart: more than one stretch, and open ends.
        ("[a-z]+:|[a-z]", "aaaaaaaaab:", 900),
        ("(?=a*c)b?a|a+", "aaab c", 500),
        (r"(?<=ab*)c|(?<!a)b|.", "abcé", 5),
        // More states than there is room for.
        ("(?:[ab]{0,150}c)|[ab]", "ababababc", 2),
        (r"(?=.{0,120}x(?!y))a|.", "abaéabaxy", 3),
        (r"(?m:^)\s+|\b\w+$|\Bé|.", "aé \n", 4),
    ] {
        for seed in 0..3 {
            let text = random_runs(characters, longest, 120_000, seed);
            let splitter = Splitter::new(pattern).unwrap();
            assert_eq!(splitter.engine(), "automaton");
            let found = pieces(&splitter, text.as_bytes()).unwrap();
            let expected = by_find_iter(&unlimited(pattern), &text).unwrap();
            if let Some(at) = found.iter().zip(&expected).position(|(a, b)| a != b) {
                panic!("{pattern}: piece {at} is {:?}, not {:?}", found[at], expected[at]);
            }
            assert_eq!(found.len(), expected.len(), "{pattern}");
        }
    }
}

#[test]
fn named_patterns_on_automata_cut_as_their_scanners() {
    for (name, pattern) in NAMED.into_iter().chain([("gpt2 of tiktoken", GPT2_TIKTOKEN)]) {
        let unknown = format!("{pattern}|(?=ab)ab");
        let (scanner, automaton) = (Splitter::new(pattern).unwrap(), Splitter::new(&unknown).unwrap());
        assert_eq!(automaton.engine(), "automaton", "{name}");
        for (characters, longest) in [("aAéſsǅ中\u{301}1²٣ \u{a0}\n\r'/!.あ", 3), ("aA'll 1\n\r", 4), (" \n\ra", 5_000)]
        {
            for seed in 0..3 {
                let text = random_runs(characters, longest, 100_000, seed);
                let pieces = |splitter| pieces(splitter, text.as_bytes()).unwrap();
                assert!(pieces(&automaton) == pieces(&scanner), "{name}, runs of {characters:?}, seed {seed}");
            }
        }
    }
}

#[test]
fn one_splitter_serves_many_threads() {
    let splitter = Splitter::new(NUMBERS).unwrap();
    let texts: Vec<String> = (0..12).map(|seed| random_runs("1a", 40, 50_000, seed)).collect();
    let expected: Vec<_> = texts.iter().map(|text| by_find_iter(&unlimited(NUMBERS), text).unwrap()).collect();
    std::thread::scope(|scope| {
        for (text, expected) in texts.iter().zip(&expected) {
            let splitter = &splitter;
            scope.spawn(move || {
                for _ in 0..3 {
                    assert_eq!(&pieces(splitter, text.as_bytes()).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn a_split_can_be_stopped_where_no_piece_comes() {
    let text = "x".repeat(20_000_000);
    // Gaps, empty matches, matches that never end; on automata and on the engine that backtracks.
    for pattern in ["y", "(?:x*c)?", "x+", "(?=x*c)y|x", "(?<=x*c)y", r"(y)\1", r"(?:(y)\1)?"] {
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 2
        };
        let splitter = Splitter::new(pattern).unwrap();
        let result = splitter.for_each_piece_within(text.as_bytes(), 0..text.len(), &stop, |_| Ok(()));
        assert_eq!((result, asked.get()), (Err(Error::Interrupted), 3), "{pattern}");
    }
}

#[test]
fn what_backtracks_is_ended_with_an_error() {
    // A look ahead that the engine does not count, at each of a million places.
    let start = Instant::now();
    let splitter = Splitter::new(r"(?=x*c)y|x|(q)\1").unwrap();
    let result = pieces(&splitter, "x".repeat(1_000_000).as_bytes());
    assert!(matches!(result, Ok(_) | Err(Error::Backtracking { .. })), "{result:?}");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
