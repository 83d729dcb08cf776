//! Any pattern: on automata where they can run it, on an engine that backtracks for the rest.

use super::backtracking::Backtracking;
use super::linear::{Linear, Matcher};
use crate::Result;
use std::ops::Range;

/// A compiled pattern of the user's own.
#[derive(Debug)]
pub(super) struct General {
    pattern: String,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    Linear(Box<Linear>),
    Backtracking(Box<Backtracking>),
}

/// Which engine a pattern was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The `regex` and `fancy-regex` crates', as in tiktoken.
    Rust,
    /// Oniguruma's, as in Hugging Face's tokenizers: `X{1,3}+` is `(?:X{1,3})+`, `^` and `$` stand at every line.
    Oniguruma,
}

/// What finds the matches of one text, one after the other.
trait Search {
    /// The first match that begins at or after byte `from`, which never goes back. `continued` says whether `\G` holds there.
    fn next(&mut self, from: usize, continued: bool) -> Result<Option<Range<usize>>>;
}

impl Search for Matcher<'_> {
    fn next(&mut self, from: usize, _continued: bool) -> Result<Option<Range<usize>>> {
        self.next(from)
    }
}

impl Search for super::backtracking::Search<'_> {
    fn next(&mut self, from: usize, continued: bool) -> Result<Option<Range<usize>>> {
        self.next(from, continued)
    }
}

impl General {
    pub(super) fn new(pattern: &str) -> Result<Self> {
        Self::in_dialect(pattern, Dialect::Rust)
    }

    pub(super) fn in_dialect(pattern: &str, dialect: Dialect) -> Result<Self> {
        let engine = match Linear::new(pattern, dialect) {
            Some(linear) => Engine::Linear(Box::new(linear)),
            None => Engine::Backtracking(Box::new(Backtracking::new(pattern, dialect)?)),
        };
        Ok(General { pattern: pattern.to_string(), engine })
    }

    /// The pattern on the engine that backtracks, where the automata could run it too.
    #[cfg(test)]
    pub(super) fn backtracking(pattern: &str, dialect: Dialect) -> Result<Self> {
        let engine = Engine::Backtracking(Box::new(Backtracking::new(pattern, dialect)?));
        Ok(General { pattern: pattern.to_string(), engine })
    }

    /// The automata, where they run it.
    #[cfg(test)]
    pub(super) fn linear(&self) -> Option<&Linear> {
        if let Engine::Linear(linear) = &self.engine { Some(linear) } else { None }
    }

    pub(super) fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether time is linear in the text, whatever it holds.
    pub(super) fn is_linear(&self) -> bool {
        matches!(self.engine, Engine::Linear(_))
    }

    /// As `Splitter::quick_bytes`.
    pub(super) fn quick_bytes(&self) -> usize {
        match &self.engine {
            Engine::Linear(linear) => linear.quick_bytes(),
            Engine::Backtracking(_) => 1 << 10,
        }
    }

    /// The pieces of a text that begins at byte `base` of its document: all matches that are not empty, and the gaps
    /// between them. `Interrupted` soon after `stop` returns true.
    pub(super) fn split(
        &self,
        text: &str,
        base: usize,
        stop: &dyn Fn() -> bool,
        each: &mut impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        match &self.engine {
            Engine::Linear(linear) => pieces(Matcher::new(linear, text, stop), text, base, each),
            Engine::Backtracking(regex) => pieces(regex.search(text, base, stop), text, base, each),
        }
    }

    /// Calls `each` with every match, empty ones included, except an empty one right after the match before: what the
    /// iterators of Oniguruma's bindings and of the `regex` crate give. `Interrupted` soon after `stop` returns true.
    pub(super) fn for_each_match(
        &self,
        text: &str,
        base: usize,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        match &self.engine {
            Engine::Linear(linear) => matches(Matcher::new(linear, text, stop), text, each),
            Engine::Backtracking(regex) => matches(regex.search(text, base, stop), text, each),
        }
    }
}

fn pieces(
    mut search: impl Search,
    text: &str,
    base: usize,
    each: &mut impl FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    // Where the next search begins, whether `\G` holds there, and the end of the last piece.
    let (mut from, mut continued, mut done) = (0, true, 0);
    while let Some(found) = search.next(from, continued)? {
        // `\K` in a look-behind can put the beginning of a match before the search.
        let start = found.start.max(done);
        if found.end > start {
            if start > done {
                each(base + done..base + start)?;
            }
            each(base + start..base + found.end)?;
            done = found.end;
            (from, continued) = (found.end, true);
        } else {
            continued = found.end != from;
            from = next_char(text, found.end.max(from));
        }
    }
    if done < text.len() {
        each(base + done..base + text.len())?;
    }
    Ok(())
}

fn matches(mut search: impl Search, text: &str, each: &mut dyn FnMut(Range<usize>) -> Result<()>) -> Result<()> {
    let (mut from, mut done) = (0, None);
    while let Some(found) = search.next(from, true)? {
        // `\K` in a look-behind can put the beginning of a match before the search.
        let start = found.start.max(done.unwrap_or(0));
        if start >= found.end && done == Some(found.end) {
            from = next_char(text, from);
        } else {
            each(start..found.end)?;
            (from, done) = (found.end, Some(found.end));
        }
    }
    Ok(())
}

/// The beginning of the character after the one at byte `at`; past the end of `text`, any larger number.
pub(super) fn next_char(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}
