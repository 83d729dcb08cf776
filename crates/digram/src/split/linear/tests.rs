//! The automata beside the engine that backtracks. Stretches and tables are tiny here (`cfg!(test)`): short texts take all paths.

use super::super::general::{Dialect, General};
use super::super::patterns::{CL100K, CL100K_CLASSIC, GPT2, GPT2_TIKTOKEN, O200K};
use super::tree::{Side, Tree};
use super::{Matcher, Meaning, translate};
use crate::{Error, Result};
use proptest::prelude::*;
use std::ops::Range;
use std::sync::LazyLock;

/// Qwen 2's and 3's.
const QWEN: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// Mistral's tekken.
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// DeepSeek V3's three steps.
const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
];
/// SuperBPE's numbers.
const SUPERBPE: &str = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))| ?[^\s\p{N}]+(?: +[^\s\p{N}]+)*|\s+";

fn published() -> Vec<&'static str> {
    [&[GPT2, GPT2_TIKTOKEN, CL100K, CL100K_CLASSIC, O200K, QWEN, TEKKEN, SUPERBPE][..], &DEEPSEEK].concat()
}

/// On the automata and by backtracking.
static PUBLISHED: LazyLock<Vec<(General, General)>> = LazyLock::new(|| {
    let both = [Dialect::Rust, Dialect::Oniguruma];
    let each = published().into_iter().flat_map(|pattern| both.map(|dialect| (pattern, dialect)));
    each.map(|(pattern, dialect)| {
        let general = General::in_dialect(pattern, dialect).unwrap();
        assert!(general.is_linear(), "{pattern} {dialect:?}");
        (general, General::backtracking(pattern, dialect).unwrap())
    })
    .collect()
});

fn pieces(general: &General, text: &str) -> Result<Vec<Range<usize>>> {
    let mut pieces = Vec::new();
    general.split(text, 0, &|| false, &mut |piece| {
        pieces.push(piece);
        Ok(())
    })?;
    Ok(pieces)
}

fn matches(general: &General, text: &str) -> Result<Vec<Range<usize>>> {
    let mut matches = Vec::new();
    general.for_each_match(text, 0, &|| false, &mut |found| {
        matches.push(found);
        Ok(())
    })?;
    Ok(matches)
}

/// One engine beside the other.
fn same(general: &General, oracle: &General, texts: &[String]) -> std::result::Result<(), TestCaseError> {
    for text in texts {
        for by in [pieces, matches] {
            match by(oracle, text) {
                Err(Error::Backtracking { .. }) => {}
                expected => prop_assert_eq!(by(general, text), expected, "{} on {:?}", general.pattern(), text),
            }
        }
    }
    Ok(())
}

/// A pattern in two spellings: as it is, and with two groups around every repetition. The groups keep the oracle from
/// optimisations of its own that are wrong: of version 0.19, `\w+\.?\w+` matches a single character, and `(a+?)*` not two.
type Spellings = (String, String);

fn leaf() -> impl Strategy<Value = Spellings> {
    let one = prop::sample::select(vec![
        "a",
        "b",
        "é",
        "1",
        " ",
        r"\n",
        r"\r",
        "'",
        "ſ",
        "K",
        ".",
        r"\s",
        r"\S",
        r"\w",
        r"\W",
        r"\d",
        r"\p{L}",
        r"\p{N}",
        "[^a]",
        "[ab]",
        "[a-é]",
        r"[^\s\p{L}]",
        r"[\w&&[^a]]",
        "[a&&b]",
        "(?s:.)",
    ]);
    let possessive = (one.clone(), prop::sample::select(vec!["++", "*+", "?+", "{1,3}+", "{2,}+", "{0,2}+", "{2}+"]));
    let zero = prop::sample::select(vec![
        "^",
        "$",
        r"\A",
        r"\z",
        r"\Z",
        r"\b",
        r"\B",
        "(?m:^)",
        "(?m:$)",
        "(?mR:^)",
        "(?mR:$)",
        r"\b{start}",
        r"\b{end}",
        r"\b{start-half}",
        r"\b{end-half}",
        r"(?!\S)",
        "(?=a)",
        "(?<=a)",
        r"(?<!\s)",
        "(?<![ab]|1)",
        "",
    ]);
    let two = prop::sample::select(vec![r"\R", "'(?i:[sk])", "(?i:'s|'k|'ll)", "a+:", "[^a]*b"]);
    prop_oneof![
        8 => one.prop_map(String::from),
        3 => possessive.prop_map(|(one, times)| format!("{one}{times}")),
        3 => zero.prop_map(String::from),
        1 => two.prop_map(String::from),
    ]
    .prop_map(|text| (text.clone(), text))
}

fn random_pattern() -> impl Strategy<Value = Spellings> {
    leaf().prop_recursive(4, 20, 4, |inner| {
        let wrap = prop::sample::select(vec![
            ("(", ")", false),
            ("(?=", ")", false),
            ("(?!", ")", false),
            ("(?<=", ")", false),
            ("(?<!", ")", false),
            ("(?i:", ")", false),
            ("(?>", ")", false),
            ("(?:", ")*", true),
            ("(?:", ")+", true),
            ("(?:", ")?", true),
            ("(?:", ")*?", true),
            ("(?:", ")+?", true),
            ("(?:", ")??", true),
            ("(?:", "){1,3}", true),
            ("(?:", "){2,}", true),
            ("(?:", "){0,2}?", true),
            ("(?:", "){2,}?", true),
            ("(?:", "){2}", true),
            ("(?:", "){0}", true),
        ]);
        let joined = |parts: Vec<Spellings>, by: &str| {
            let (plain, guarded): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            (format!("(?:{})", plain.join(by)), format!("(?:{})", guarded.join(by)))
        };
        prop_oneof![
            (wrap, inner.clone()).prop_map(|((before, after, repeats), (plain, guarded))| {
                let guarded = format!("{before}{guarded}{after}");
                (format!("{before}{plain}{after}"), if repeats { format!("(({guarded}))") } else { guarded })
            }),
            prop::collection::vec(inner.clone(), 2..4).prop_map(move |parts| joined(parts, "")),
            prop::collection::vec(inner, 2..4).prop_map(move |parts| joined(parts, "|")),
        ]
    })
}

fn critical() -> impl Strategy<Value = String> {
    let one =
        prop::sample::select(vec!['a', 'a', 'b', 'é', '1', ' ', '\n', '\r', '\'', 'ſ', 's', 'K', '\u{212A}', ':']);
    prop_oneof![
        3 => prop::collection::vec(one.clone(), 0..12),
        1 => prop::collection::vec(one, 12..60),
    ]
    .prop_map(|characters| characters.into_iter().collect())
}

fn as_by_backtracking(
    (plain, guarded): Spellings,
    dialect: Dialect,
    texts: &[String],
) -> std::result::Result<(), TestCaseError> {
    // The oracle refuses look-behinds of more than one length with look-around inside, or tries one length alone.
    let parsed = translate::pattern(&plain, dialect);
    if parsed.is_some_and(|parsed| looks_around_behind(&parsed.tree, false)) {
        return Ok(());
    }
    let Ok(oracle) = General::backtracking(&guarded, dialect) else {
        return Ok(());
    };
    for pattern in [plain, guarded] {
        let general = General::in_dialect(&pattern, dialect).unwrap();
        if general.is_linear() {
            same(&general, &oracle, texts)?;
        }
    }
    Ok(())
}

/// Whether a look-behind of more than one length (or a part of it, where `behind`) looks around.
fn looks_around_behind(tree: &Tree, behind: bool) -> bool {
    match tree {
        Tree::Empty | Tree::Class(_) => false,
        Tree::Beside { .. } => behind,
        Tree::Look { side, body, .. } => {
            behind || looks_around_behind(body, *side == Side::Before && body.width().is_none())
        }
        Tree::Concat(parts) | Tree::Alternatives(parts) => parts.iter().any(|part| looks_around_behind(part, behind)),
        Tree::Repeat { child, .. } => looks_around_behind(child, behind),
    }
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(vec![Dialect::Rust, Dialect::Oniguruma])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn random_patterns_match_as_by_backtracking(
        pattern in random_pattern(),
        texts in prop::collection::vec(critical(), 4),
        dialect in dialect(),
    ) {
        as_by_backtracking(pattern, dialect, &texts)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn patterns_with_one_meaning_match_alike(
        (plain, guarded) in random_pattern(),
        other in random_pattern(),
        texts in prop::collection::vec(critical(), 6),
        dialect in dialect(),
    ) {
        let Some(meaning) = Meaning::new(&plain, dialect) else {
            return Ok(());
        };
        if dialect == Dialect::Rust {
            // Groups around what is repeated change nothing.
            prop_assert!(meaning.is(&plain) && meaning.is(&guarded), "{plain} {guarded}");
        }
        let general = General::in_dialect(&plain, dialect).unwrap();
        for text in &texts {
            let first = Matcher::new(general.linear().unwrap(), text, &|| false).next(0)?;
            let takes = first.filter(|found| found.start == 0).map_or(0, |found| text[found].chars().count());
            prop_assert_eq!(meaning.takes(text), takes, "{} on {:?}", plain, text);
        }
        if meaning.is(&other.0) {
            same(&General::new(&other.0).unwrap(), &general, &texts)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50_000, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "exhaustive: 50,000 random patterns"]
    fn many_random_patterns_match_as_by_backtracking(
        pattern in random_pattern(),
        texts in prop::collection::vec(critical(), 6),
        dialect in dialect(),
    ) {
        as_by_backtracking(pattern, dialect, &texts)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn published_patterns_match_as_by_backtracking(
        texts in prop::collection::vec(prop::collection::vec(prop_oneof![
            8 => prop::sample::select("aAsſéǅ中\u{301}1²٣ \u{a0}\n\r'/!.-あ".chars().collect::<Vec<_>>()),
            1 => any::<char>(),
        ], 0..60).prop_map(|characters| characters.into_iter().collect::<String>()), 2),
    ) {
        for (general, oracle) in &*PUBLISHED {
            same(general, oracle, &texts)?;
        }
    }
}

#[test]
fn patterns_in_use_and_hostile_ones_run_on_automata() {
    let more =
        ["[a-z]+:|[a-z]", "(?=x*c)y|x", "(?:x*c)?", r"(?:a|b)*(?>c)", r"\b\w+\b", r"(?<=ab)c|(?<!\w\w)d", r"\R+"];
    for pattern in published().into_iter().chain(more) {
        for dialect in [Dialect::Rust, Dialect::Oniguruma] {
            assert!(General::in_dialect(pattern, dialect).unwrap().is_linear(), "{pattern} {dialect:?}");
        }
    }
    for pattern in [r"(a)\1", r"\Ga", r"a{2001}", r"(?:(?:(?:a{9}){9}){9}){9}"] {
        assert!(!General::new(pattern).unwrap().is_linear(), "{pattern}");
    }
}

/// Worked by hand.
#[test]
#[expect(clippy::single_range_in_vec_init)]
fn the_first_alternative_that_matches_wins() {
    for (pattern, text, expected) in [
        ("a|ab", "ab", vec![0..1, 1..2]),
        ("ab|a", "ab", vec![0..2]),
        ("(?:a|ab)(?:c|bcd)", "abcd", vec![0..4]),
        ("a+?b", "aab", vec![0..3]),
        ("[a-z]+:|[a-z]", "abc:d", vec![0..4, 4..5]),
        (r"\s+(?!\S)|\s+", "   x", vec![0..2, 2..3, 3..4]),
        (r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))", "1234567", vec![0..1, 1..4, 4..7]),
        (r"(?<=ab)c|(?<!ab)d", "abcabdd", vec![0..2, 2..3, 3..6, 6..7]),
        (r"\w+\.?\w+", "a", vec![0..1]),
    ] {
        let general = General::new(pattern).unwrap();
        assert!(general.is_linear(), "{pattern}");
        assert_eq!(pieces(&general, text), Ok(expected), "{pattern} on {text}");
    }
}

#[test]
fn empty_matches_are_found_but_not_right_after_a_match() {
    let general = General::new("x*").unwrap();
    assert_eq!(matches(&general, "axxb"), Ok(vec![0..0, 1..3, 4..4]));
    assert_eq!(pieces(&general, "axxb"), Ok(vec![0..1, 1..3, 3..4]));
}

#[test]
fn what_is_open_is_not_taken_for_known() {
    // Seen from the `b`, whether an `x` or a `y` ends the word is beyond the stretch. If both do or neither does, `b` is alone.
    let text = format!("ccccb{}x", "a".repeat(20));
    let found = pieces(&General::new("b(?=a*x)(?!a*y)a|.").unwrap(), &text).unwrap();
    assert_eq!((&found[3..6], found.len()), (&[3..4, 4..6, 6..7][..], text.len() - 1));
}
