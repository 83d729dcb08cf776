//! What a step of a split, or a replacement, looks for.

use super::families::{self, Known};
use super::general::{Dialect, General};
use super::scanner::Scanner;
use crate::{Error, Result};
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::Arc;

/// Matches of a string between two looks at whether to stop.
const BETWEEN_STOPS: usize = 1 << 16;

/// Something to be found in a text. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Find {
    kind: Kind,
    known: Option<Known>,
}

#[derive(Clone, Debug)]
enum Kind {
    Regex(Arc<General>),
    Scanner(Scanner),
    Text(Arc<Finder<'static>>),
}

impl Find {
    /// A regular expression with the meaning that Oniguruma gives it. [`Error::Pattern`] says where it does not compile.
    pub fn regex(pattern: &str) -> Result<Self> {
        let known = families::of_pattern(pattern, Dialect::Oniguruma);
        let kind = match known {
            Some(Known::Scanner(scanner)) => Kind::Scanner(scanner),
            _ => Kind::Regex(Arc::new(General::in_dialect(pattern, Dialect::Oniguruma)?)),
        };
        Ok(Self { kind, known })
    }

    /// A string, as it stands. [`Error::Argument`] where it is empty.
    pub fn text(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::Argument("the empty string stands everywhere, so it cannot be searched for".into()));
        }
        let kind = Kind::Text(Arc::new(Finder::new(text).into_owned()));
        Ok(Self { kind, known: None })
    }

    /// Each number: a character of class `\p{N}`.
    pub fn numbers() -> Self {
        Self { known: Some(Known::Numbers(1)), ..Self::class(r"\p{N}") }
    }

    /// Each punctuation character: class `\p{P}`, and the ASCII symbols.
    pub fn punctuation() -> Self {
        Self::class(r"[\p{P}!-/:-@\[-`{-~]")
    }

    /// Each white space character.
    pub fn white_space() -> Self {
        Self::class(r"\s")
    }

    /// Words, and runs of what is neither part of a word nor white space.
    pub fn words() -> Self {
        Self::class(r"\w+|[^\w\s]+")
    }

    fn class(pattern: &str) -> Self {
        let kind = Kind::Regex(Arc::new(General::new(pattern).expect("a pattern of our own")));
        Self { kind, known: None }
    }

    /// What it is known to be, as `families` says.
    pub(super) fn known(&self) -> Option<Known> {
        self.known
    }

    /// Whether this string is looked for.
    pub(crate) fn is_text(&self, text: &str) -> bool {
        matches!(&self.kind, Kind::Text(finder) if finder.needle() == text.as_bytes())
    }

    /// As `Splitter::quick_bytes`.
    pub(super) fn quick_bytes(&self) -> usize {
        if let Kind::Regex(general) = &self.kind { general.quick_bytes() } else { usize::MAX }
    }

    /// Whether it may take more than linear time.
    pub(super) fn may_be_slow(&self) -> bool {
        matches!(&self.kind, Kind::Regex(general) if !general.is_linear())
    }

    /// Calls `each` with every match in a text that begins at byte `base` of its document, in order and without overlap;
    /// the ranges are those of the text.
    ///
    /// # Errors
    /// The first error of `each`; `Backtracking` where a pattern needs more steps than the engine allows; `Interrupted` soon
    /// after `stop` returns true.
    pub fn for_each_match(
        &self,
        text: &str,
        base: usize,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        match &self.kind {
            Kind::Regex(general) => general.for_each_match(text, base, stop, each),
            Kind::Scanner(scanner) => scanner.scan(text.as_bytes(), 0, &mut |found| each(found)),
            Kind::Text(finder) => {
                let length = finder.needle().len();
                finder.find_iter(text.as_bytes()).enumerate().try_for_each(|(number, at)| {
                    if number % BETWEEN_STOPS == BETWEEN_STOPS - 1 && stop() {
                        return Err(Error::Interrupted);
                    }
                    each(at..at + length)
                })
            }
        }
    }
}
