//! Splitting: the pieces are the document, whatever it holds and whatever the pattern.

#[path = "../../crates/digram/tests/support/matches.rs"]
mod matches;
#[path = "../../crates/digram/tests/support/pieces.rs"]
mod pieces;

use crate::input::{document, once_in, one_of, text, up_to};
use arbitrary::Unstructured;
use digram::Error;
use digram::split::{Behaviour, CL100K, CL100K_CLASSIC, Find, GPT2, GPT2_TIKTOKEN, O200K, QWEN2, Splitter, Step};
use fancy_regex::{Regex, RegexBuilder};
use matches::{by_find_iter, unlimited};
use pieces::pieces;
use std::ops::Range;

/// Every spelling that has a scanner.
pub const SCANNED: [&str; 6] = [GPT2, GPT2_TIKTOKEN, CL100K, CL100K_CLASSIC, QWEN2, O200K];

thread_local! {
    /// Each scanner, and the regex of the same pattern.
    static PAIRS: Vec<(Splitter, Regex)> =
        SCANNED.iter().map(|pattern| (Splitter::new(pattern).unwrap(), unlimited(pattern))).collect();
}

fn regex(pattern: &str, limit: usize) -> Option<Regex> {
    RegexBuilder::new(pattern).backtrack_limit(limit).build().ok()
}

/// Any document under the patterns that have a scanner, under any pattern, and under steps.
pub fn split(data: &[u8]) {
    let mut u = Unstructured::new(data);
    match up_to(&mut u, 7) {
        0..=2 => {
            let document = document(u, 1000);
            PAIRS.with(|pairs| pairs.iter().for_each(|(scanner, regex)| check_scanner(scanner, regex, &document)));
        }
        3..=5 => {
            let pattern = pattern(&mut u, 3);
            check_pattern(&pattern, &document(u, 300));
        }
        6 => {
            let length = up_to(&mut u, 60);
            let pattern = String::from_utf8_lossy(u.bytes(length.min(u.len())).expect("so many are left")).into_owned();
            check_pattern(&pattern, &document(u, 300));
        }
        _ => {
            let steps: Vec<Step> = (0..up_to(&mut u, 3)).filter_map(|_| step(&mut u)).collect();
            check_steps(steps, &document(u, 300));
        }
    }
}

/// Well-formed text and what lies between, byte by byte: whether it is text, and where.
fn stretches(document: &[u8]) -> Vec<(bool, Range<usize>)> {
    let mut stretches: Vec<(bool, Range<usize>)> = Vec::new();
    let mut at = 0;
    while at < document.len() {
        let character =
            (1..=4).find(|length| document.get(at..at + length).is_some_and(|c| std::str::from_utf8(c).is_ok()));
        let end = at + character.unwrap_or(1);
        match stretches.last_mut() {
            Some((text, range)) if *text == character.is_some() => range.end = end,
            _ => stretches.push((character.is_some(), at..end)),
        }
        at = end;
    }
    stretches
}

/// The pieces as the regex crate finds them, stretch by stretch; none where it gives up.
fn by_regex(regex: &Regex, document: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut pieces = Vec::new();
    for (is_text, stretch) in stretches(document) {
        if !is_text {
            pieces.push(stretch);
            continue;
        }
        let text = std::str::from_utf8(&document[stretch.clone()]).expect("it is text");
        let found = by_find_iter(regex, text)?.into_iter();
        pieces.extend(found.map(|piece| stretch.start + piece.start..stretch.start + piece.end));
    }
    Some(pieces)
}

fn check_scanner(scanner: &Splitter, regex: &Regex, document: &[u8]) {
    let whole = pieces(scanner, document).expect("scanners take any text");
    let expected = by_regex(regex, document).expect("no limit");
    assert_eq!(whole, expected, "{:?} by {}", String::from_utf8_lossy(document), scanner.engine());
    for (is_text, stretch) in stretches(document) {
        if is_text {
            check_tiers(scanner, std::str::from_utf8(&document[stretch]).expect("it is text"));
        }
    }
    let (mut to, mut cuts) = (document.len(), 0);
    // Each cut splits all of the text again.
    while cuts < 30
        && let Some(cut) = scanner.last_cut(document, 0, to, |_, _| true)
    {
        assert!((1..=to).contains(&cut));
        let mut parts = pieces(scanner, &document[..cut]).expect("scanners take any text");
        let rest = pieces(scanner, &document[cut..]).expect("scanners take any text");
        parts.extend(rest.into_iter().map(|piece| cut + piece.start..cut + piece.end));
        assert_eq!(parts, whole, "cut at {cut} of {:?} by {}", String::from_utf8_lossy(document), scanner.engine());
        (to, cuts) = (cut - 1, cuts + 1);
    }
}

/// The same ends of pieces by the instructions of every kind that the processor has.
fn check_tiers(scanner: &Splitter, text: &str) {
    let ends_by = |tier| {
        let mut ends: Vec<usize> = Vec::new();
        while ends.last().copied().unwrap_or(0) < text.len() {
            scanner.ends_by(tier, text, ends.last().copied().unwrap_or(0), &mut ends)?;
        }
        Some(ends)
    };
    let mut tiers = Splitter::tiers().into_iter();
    let expected = tiers.next().and_then(ends_by);
    for tier in tiers {
        if let Some(ends) = ends_by(tier) {
            assert_eq!(Some(ends), expected, "{text:?} by {} and {tier}", scanner.engine());
        }
    }
}

fn check_pattern(pattern: &str, document: &[u8]) {
    let splitter = match Splitter::new(pattern) {
        Ok(splitter) => splitter,
        Err(Error::Pattern { position, .. }) => return assert!(position <= pattern.chars().count()),
        Err(error) => panic!("{pattern:?}: {error}"),
    };
    let found = match pieces(&splitter, document) {
        Ok(pieces) => pieces,
        Err(Error::Backtracking { offset, .. }) => return assert!(offset <= document.len()),
        Err(error) => panic!("{pattern:?}: {error}"),
    };
    // `\K` and `\G` have a meaning of their own where a search goes on; what the crate's iterator makes of them is another matter.
    if pattern.contains(['K', 'G']) {
        return;
    }
    if let Some(expected) = regex(pattern, 100_000).and_then(|regex| by_regex(&regex, document)) {
        assert_eq!(found, expected, "{pattern:?} on {:?}", String::from_utf8_lossy(document));
    }
}

fn check_steps(steps: Vec<Step>, document: &[u8]) {
    let splitter = Splitter::of_steps(steps.clone());
    let mut at = 0;
    let result = splitter.for_each_piece(document, |piece| {
        assert!(piece.start >= at && piece.end > piece.start && piece.end <= document.len(), "{piece:?} after {at}");
        at = piece.end;
        Ok(())
    });
    match result {
        Ok(()) | Err(Error::Backtracking { .. }) => {}
        Err(error) => panic!("{steps:?}: {error}"),
    }
}

/// A cut, if its pattern compiles.
pub fn step(u: &mut Unstructured) -> Option<Step> {
    let find = match up_to(u, 6) {
        0 => Find::text(&text(u, 2)).ok()?,
        1 => Find::numbers(),
        2 => Find::punctuation(),
        3 => Find::white_space(),
        4 => Find::words(),
        5 => Find::regex(one_of(u, &SCANNED)).ok()?,
        _ => Find::regex(&pattern(u, 2)).ok()?,
    };
    let behaviours = [
        Behaviour::Removed,
        Behaviour::Isolated,
        Behaviour::MergedWithPrevious,
        Behaviour::MergedWithNext,
        Behaviour::Contiguous,
    ];
    Some(Step::Cut { find, behaviour: one_of(u, &behaviours), invert: once_in(u, 2) })
}

const ATOMS: [&str; 40] = [
    "a",
    "b",
    "é",
    "中",
    "'",
    " ",
    "1",
    ".",
    r"\s",
    r"\S",
    r"\w",
    r"\W",
    r"\d",
    r"\p{L}",
    r"\p{N}",
    r"\p{Lu}",
    "[^a]",
    "[a-é]",
    r"[^\s\p{L}]",
    r"[\r\n]",
    "$",
    "^",
    r"\b",
    r"\B",
    r"\G",
    r"\K",
    r"\z",
    r"\A",
    r"\Z",
    r"\1",
    r"\R",
    r"\X",
    r"\h",
    "(?i)",
    "(?m)",
    "(?s)",
    "(?x)",
    "",
    "[[:alpha:]&&[^a]]",
    r"\u{301}",
];
const AROUND: [(&str, &str); 22] = [
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
    ("(?:", ")+?"),
    ("(?:", ")++"),
    ("(?:", ")*+"),
    ("(?:", "){1,3}"),
    ("(?:", "){2,}"),
    ("(?:", "){0,2}+"),
    ("(?i:", ")"),
    ("(?s-i:", ")"),
    ("(?<n>", r")\k<n>"),
    ("(?(", ")a|b)"),
    ("(?~", ")"),
];

/// A pattern, which need not compile.
pub fn pattern(u: &mut Unstructured, depth: usize) -> String {
    match if depth == 0 { 0 } else { up_to(u, 5) } {
        0 | 1 => one_of(u, &ATOMS).to_string(),
        2 | 3 => {
            let (before, after) = one_of(u, &AROUND);
            format!("{before}{}{after}", pattern(u, depth - 1))
        }
        4 => (0..=up_to(u, 3)).map(|_| pattern(u, depth - 1)).collect(),
        _ => (0..=up_to(u, 2)).map(|_| pattern(u, depth - 1)).collect::<Vec<_>>().join("|"),
    }
}
