//! The general regex engine for what no automaton can run, kept from running without end.
//!
//! It backtracks, and may take quadratic or exponential time. The engine can bound the steps of a single search, so a search
//! begins with few and is repeated, character by character, with more and more where they do not suffice. What it took
//! beyond [`FREE_STEPS`] for each byte is paid from a budget for the whole text; when that is used up, or one attempt needs
//! more than [`LIMITS`] allows, the answer is [`Error::Backtracking`]. The engine runs parts of a pattern on automata of its
//! own, whose steps it does not count; so a text has a limit of time too.

use super::general::{Dialect, next_char};
use super::oniguruma;
use crate::{Error, Result};
use fancy_regex::{CompileError, Regex, RegexInput, RuntimeError};
use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Steps that one search may take, from the first try to the last.
const LIMITS: [usize; 4] = [1 << 8, 1 << 12, 1 << 18, 1 << 24];
/// Steps for each byte that cost nothing.
const FREE_STEPS: usize = LIMITS[0];
/// Steps beyond the free ones that one text may take: under a second or so.
const BUDGET: usize = 1 << 25;

/// Time that one text may take, and more for each byte of it.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_micros(2));

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Backtracking {
    pattern: String,
    dialect: Dialect,
    /// The pattern under each of `LIMITS`; all but the first are compiled when they are needed.
    regexes: [OnceLock<Regex>; LIMITS.len()],
}

/// One pass over a text.
pub(super) struct Search<'a> {
    regex: &'a Backtracking,
    text: &'a str,
    /// Where the text begins in its document.
    base: usize,
    budget: usize,
    deadline: Instant,
    stop: &'a dyn Fn() -> bool,
}

impl Backtracking {
    pub(super) fn new(pattern: &str, dialect: Dialect) -> Result<Self> {
        let first = compile(pattern, dialect, LIMITS[0]).map_err(|error| Error::Pattern {
            pattern: pattern.to_string(),
            position: position(pattern, &error),
            reason: reason(&error),
        })?;
        let regexes = [const { OnceLock::new() }; LIMITS.len()];
        regexes[0].set(first).expect("an empty cell");
        Ok(Self { pattern: pattern.to_string(), dialect, regexes })
    }

    /// A pass over a text that begins at byte `base` of its document; `stop` is asked at each attempt.
    pub(super) fn search<'a>(&'a self, text: &'a str, base: usize, stop: &'a dyn Fn() -> bool) -> Search<'a> {
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let deadline = Instant::now() + PATIENCE.0 + PATIENCE.1 * bytes;
        Search { regex: self, text, base, budget: BUDGET, deadline, stop }
    }

    fn regex(&self, level: usize) -> &Regex {
        let compiled = || compile(&self.pattern, self.dialect, LIMITS[level]);
        self.regexes[level].get_or_init(|| compiled().expect("a pattern that compiled under another limit"))
    }
}

impl Search<'_> {
    /// The first match that begins at or after byte `from`; `continued` says whether `\G` holds there.
    pub(super) fn next(&mut self, from: usize, continued: bool) -> Result<Option<Range<usize>>> {
        if from > self.text.len() {
            return Ok(None);
        }
        self.go_on(from)?;
        let input = RegexInput::new(self.text).from_pos(from).continue_from_previous_match_end(continued);
        match self.regex.regex(0).find_input(input) {
            Ok(found) => Ok(found.map(|m| m.range())),
            Err(error) if is_limit(&error) => self.next_slowly(from, continued),
            Err(_) => Err(self.gave_up(from)),
        }
    }

    /// [`next`](Self::next) by one attempt at each character.
    fn next_slowly(&mut self, from: usize, continued: bool) -> Result<Option<Range<usize>>> {
        let mut at = from;
        while at <= self.text.len() {
            self.go_on(at)?;
            if let Some(found) = self.attempt(at, continued && at == from)? {
                return Ok(Some(found));
            }
            at = next_char(self.text, at);
        }
        Ok(None)
    }

    /// The match that begins at byte `at`, with as many steps as it takes, if the budget has them.
    fn attempt(&mut self, at: usize, continued: bool) -> Result<Option<Range<usize>>> {
        let input = RegexInput::new(self.text).from_pos(at).continue_from_previous_match_end(continued).anchored(true);
        for (level, steps) in LIMITS.into_iter().enumerate() {
            match self.regex.regex(level).find_input(input.clone()) {
                Ok(found) => {
                    let found = found.map(|m| m.range());
                    let bytes = found.as_ref().map_or(1, |m| m.end.saturating_sub(at).max(1));
                    let cost = steps.saturating_sub(bytes.saturating_mul(FREE_STEPS));
                    self.budget = self.budget.checked_sub(cost).ok_or_else(|| self.gave_up(at))?;
                    return Ok(found);
                }
                Err(error) if is_limit(&error) => {}
                Err(_) => break,
            }
        }
        Err(self.gave_up(at))
    }

    /// An error if it is time to end.
    fn go_on(&self, at: usize) -> Result<()> {
        match (self.stop)() {
            true => Err(Error::Interrupted),
            false if Instant::now() > self.deadline => Err(self.gave_up(at)),
            false => Ok(()),
        }
    }

    fn gave_up(&self, at: usize) -> Error {
        Error::Backtracking { pattern: self.regex.pattern.clone(), offset: self.base + at }
    }
}

fn compile(pattern: &str, dialect: Dialect, limit: usize) -> std::result::Result<Regex, fancy_regex::Error> {
    let oniguruma = dialect == Dialect::Oniguruma;
    let translated = if oniguruma { oniguruma::translated(pattern) } else { pattern.into() };
    fancy_regex::RegexBuilder::new(&translated)
        .backtrack_limit(limit)
        .oniguruma_mode(oniguruma)
        .multi_line(oniguruma)
        // Needed to take `\G` back where a search is repeated; otherwise it only keeps `\A` and `\z` off the automata.
        .allow_input_assertion_overrides(pattern.contains(r"\G"))
        .build()
}

/// Whether a search ended for want of steps, and not of memory for its stack.
fn is_limit(error: &fancy_regex::Error) -> bool {
    matches!(error, fancy_regex::Error::RuntimeError(RuntimeError::BacktrackLimitExceeded))
}

/// Where in the pattern, in characters, an error is.
fn position(pattern: &str, error: &fancy_regex::Error) -> usize {
    let byte = match error {
        fancy_regex::Error::ParseError(byte, _) => *byte,
        fancy_regex::Error::CompileError(error) => match &**error {
            CompileError::InnerError(inner) => inner.syntax_error().and_then(|e| inner_offset(pattern, e)).unwrap_or(0),
            CompileError::SubroutineCallTargetNotFound(_, byte) | CompileError::UnresolvedAstNode(byte, _) => *byte,
            _ => 0,
        },
        _ => 0,
    };
    pattern.char_indices().take_while(|&(i, _)| i < byte).count()
}

/// The byte of the pattern that an error in a part of it is about. The engine may have rewritten that part (property names
/// in small letters, for one), so what it points at is looked for in the pattern as given.
fn inner_offset(pattern: &str, error: &regex_syntax::Error) -> Option<usize> {
    let (part, span) = match error {
        regex_syntax::Error::Parse(error) => (error.pattern(), error.span()),
        regex_syntax::Error::Translate(error) => (error.pattern(), error.span()),
        _ => return None,
    };
    let culprit = part.get(span.start.offset..span.end.offset)?.to_ascii_lowercase();
    pattern.to_ascii_lowercase().find(&culprit)
}

/// What is wrong, in one line.
fn reason(error: &fancy_regex::Error) -> String {
    let text = match error {
        fancy_regex::Error::ParseError(_, error) => error.to_string(),
        fancy_regex::Error::CompileError(error) => match &**error {
            CompileError::InnerError(inner) => match inner.syntax_error() {
                Some(regex_syntax::Error::Parse(error)) => error.kind().to_string(),
                Some(regex_syntax::Error::Translate(error)) => error.kind().to_string(),
                _ => inner.to_string(),
            },
            other => other.to_string(),
        },
        other => other.to_string(),
    };
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "../../tests/support/matches.rs"]
mod matches;

#[cfg(test)]
mod tests {
    use super::super::general::General;
    use super::matches::{by_find_iter, unlimited};
    use super::*;

    fn pieces(pattern: &str, text: &str) -> Result<Vec<Range<usize>>> {
        let mut pieces = Vec::new();
        General::backtracking(pattern, Dialect::Rust)?.split(text, 0, &|| false, &mut |piece| {
            pieces.push(piece);
            Ok(())
        })?;
        Ok(pieces)
    }

    #[test]
    fn errors_of_patterns_say_where() {
        for (pattern, at) in [
            ("abc(", 4),
            (r"a|\", 2),
            ("é[a-", 4),
            (r"é\p{Nonsense}+", 1),
            (r"(?=a)é\p{Nonsense}+", 6),
            ("x(?<=a)[z-a]", 8),
            ("*a", 0),
            (r"(a)\g<nobody>", 5),
        ] {
            match General::new(pattern).map(|_| ()) {
                Err(Error::Pattern { pattern: named, position, reason }) => {
                    assert_eq!(named, pattern);
                    assert!(!reason.contains('\n') && !reason.is_empty(), "{reason}");
                    assert_eq!(position, at, "{pattern}: {reason}");
                }
                other => panic!("{pattern}: {other:?}"),
            }
        }
    }

    #[test]
    fn hard_searches_are_repeated_with_the_same_result() {
        // Each needs more than the first limit: long gaps, long words that are given back, `\G`, `\K`, empty matches.
        let word = "a".repeat(2000);
        for (pattern, text) in [
            (r"x(?=y)", format!("{}xy{}", "é".repeat(3000), "x".repeat(700))),
            (r"[a-z]+(?=[0-9])", format!("{word}1 {word}2")),
            (r"(?:a|b)+?(?=b)|b", format!("{word}b{word}bb")),
            (r"\G(?:a)(?!c)", format!("{word}c{word}")),
            (r"(?=a)|\Gb(?!c)", "abb".into()),
            (r"a+\Kb(?!c)", format!("{word}bc{word}b{word}b")),
            (r"(?:(?=a)a)*", format!("{word}b{word}")),
            (r"(?:(?!q)[\s\S])*(?<=b)", format!("{word}b{word}")),
            (r"(\w)\1", "abcdefghij".repeat(100) + "jj"),
            (r"(?<=\w)(?!\w)", "ab cd ".repeat(200)),
        ] {
            assert_eq!(pieces(pattern, &text).unwrap(), by_find_iter(&unlimited(pattern), &text).unwrap(), "{pattern}");
        }
    }

    #[test]
    fn catastrophic_patterns_end_soon_with_an_error() {
        let start = std::time::Instant::now();
        for (pattern, text, at) in [
            ("(?:a|b|ab)*(?>c)", format!("é{}", "ab".repeat(60)), 2),
            ("(?i)(a|b|ab)*(?>c)", "ab".repeat(60), 0),
            (r"(a*)*\1c", "a".repeat(400), 0),
        ] {
            let expected = Error::Backtracking { pattern: pattern.into(), offset: at };
            assert_eq!(pieces(pattern, &text), Err(expected));
        }
        // Quadratic: every single search is cheap enough, all of them are not.
        let result = pieces("(?:a|b)*(?>c)", &"ab".repeat(500_000));
        assert!(matches!(result, Err(Error::Backtracking { .. })), "{result:?}");
        assert!(start.elapsed().as_secs() < 60);
    }

    #[test]
    fn long_gaps_and_long_matches_are_no_error() {
        let numbers = "1".repeat(1_000_000);
        for (pattern, text) in [
            ("x(?=y)", "é ".repeat(500_000)),
            ("x(?!y)(?<!x)", "é ".repeat(500_000)),
            (r"\d+(?!\d)", numbers[..500_000].to_string()),
            (r"\d++", numbers.clone()),
            (r"(?:\d\d)+", numbers),
        ] {
            let whole = 0..text.len();
            assert_eq!(pieces(pattern, &text), Ok(vec![whole]), "{pattern}");
        }
    }
}
