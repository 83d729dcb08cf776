//! The scanners: one for each family of patterns, with what its members differ in as parameters.
//!
//! `families` finds the scanner of a pattern; [`Scanner::pattern`] is the regular expression that a scanner stands for.

use super::masks::{self, Contraction, Family, Rules, Tier};
use super::unicode::{self, Classes};
use super::{cl100k, deepseek, gpt2, o200k};
use crate::Result;
use std::ops::Range;

/// Pieces that are asked for at a time, about.
const AT_ONCE: usize = 256;

/// A scanner with its parameters: plain data. Whatever their values, the pieces of a text are all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scanner {
    Gpt2(Gpt2),
    Cl100k(Cl100k),
    O200k(O200k),
    DeepSeek,
}

/// ` ?\p{L}+`, ` ?\p{N}+`, ` ?[^\s\p{L}\p{N}]+`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpt2 {
    /// Those that are pieces, before anything else.
    pub contractions: Contractions,
    pub numbers: Gpt2Numbers,
}

/// What GPT-2's split does with numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gpt2Numbers {
    /// ` ?\p{N}+`
    Run,
    /// `\p{N}{1,n}`, cut out of the text beforehand: to what stands before and behind, the text ends there.
    Apart(usize),
}

/// `[^\r\n\p{L}\p{N}]?\p{L}+`, `\p{N}{1,n}`, ` ?[^\s\p{L}\p{N}]+[\r\n]*`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cl100k {
    /// Those that are pieces, before anything else.
    pub contractions: Contractions,
    /// The most numbers of a piece; `usize::MAX` for any number.
    pub numbers: usize,
    /// `LineBreakFirst` or `EndFirst`.
    pub space: Space,
    /// Whether marks are letters: `[\p{L}\p{M}]+` and ` ?[^\s\p{L}\p{M}\p{N}]+`.
    pub marks: bool,
}

/// Words by letter case, `\p{N}{1,n}`, ` ?[^\s\p{L}\p{N}]+[\r\n/]*`, `LineBreakFirst`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct O200k {
    /// Those that end a word.
    pub contractions: Contractions,
    /// The most numbers of a piece; `usize::MAX` for any number.
    pub numbers: usize,
    /// Whether slashes may follow symbols, as line breaks do: `[\r\n/]*`, not `[\r\n]*`.
    pub slash: bool,
    /// Whether `\p{Han}+` comes first, and words are without it (Kimi); the classes are then those of
    /// `unicode::han_classes`.
    pub han: bool,
}

/// Which of `'s 't 'm 'd 'll 've 're` are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contractions {
    None,
    /// Small letters alone.
    Plain,
    /// And capitals: `'[sS]`.
    AnyCase,
    /// And `ſ` (U+017F), which folds to `s`: `(?i:'s)`.
    Folded,
}

/// How a pattern cuts a run of white space that nothing else in it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// `\s+(?!\S)|\s+`
    Plain,
    /// `\s*[\r\n]+|\s+(?!\S)|\s+`
    LineBreakFirst,
    /// `\s++$|\s*[\r\n]|\s+(?!\S)|\s`
    EndFirst,
}

impl Gpt2 {
    pub(super) const GPT2: Self = Self { contractions: Contractions::Plain, numbers: Gpt2Numbers::Run };
}

impl Cl100k {
    pub(super) const CL100K: Self =
        Self { contractions: Contractions::Folded, numbers: 3, space: Space::EndFirst, marks: false };
    pub(super) const CLASSIC: Self = Self { space: Space::LineBreakFirst, ..Self::CL100K };
    pub(super) const QWEN2: Self = Self { numbers: 1, ..Self::CLASSIC };
}

impl O200k {
    pub(super) const O200K: Self = Self { contractions: Contractions::Folded, numbers: 3, slash: true, han: false };
    #[cfg(test)]
    pub(super) const TEKKEN: Self = Self { contractions: Contractions::None, numbers: 1, slash: true, han: false };
}

impl Scanner {
    /// What [`Splitter::engine`](super::Splitter::engine) calls it: by the member of its family that is nearest.
    pub(super) fn name(self) -> &'static str {
        match self {
            Scanner::Gpt2(_) => "scanner:gpt2",
            Scanner::Cl100k(Cl100k { marks: true, .. }) => "scanner:qwen3.5",
            Scanner::Cl100k(Cl100k { space: Space::EndFirst, .. }) => "scanner:cl100k",
            Scanner::Cl100k(Cl100k { numbers: 1, .. }) => "scanner:qwen2",
            Scanner::Cl100k(_) => "scanner:cl100k-classic",
            Scanner::O200k(O200k { han: true, .. }) => "scanner:kimi",
            Scanner::O200k(O200k { contractions: Contractions::None, .. }) => "scanner:tekken",
            Scanner::O200k(_) => "scanner:o200k",
            Scanner::DeepSeek => "scanner:deepseek",
        }
    }

    /// The classes that it goes by.
    pub(super) fn classes(self) -> &'static Classes {
        match self {
            Scanner::O200k(O200k { han: true, .. }) => unicode::han_classes(),
            Scanner::DeepSeek => unicode::deepseek_classes(),
            Scanner::Gpt2(_) | Scanner::Cl100k(_) | Scanner::O200k(_) => unicode::classes(),
        }
    }

    /// The end of the piece that begins at byte `start` of a text that is UTF-8; `classes` are the scanner's.
    #[inline]
    pub(super) fn piece_end(self, classes: &Classes, text: &[u8], start: usize) -> usize {
        match self {
            Scanner::Gpt2(family) => gpt2::piece_end(classes, text, start, family),
            Scanner::Cl100k(family) => cl100k::piece_end(classes, text, start, family),
            Scanner::O200k(family) => o200k::piece_end(classes, text, start, family),
            Scanner::DeepSeek => deepseek::piece_end(classes, text, start),
        }
    }

    /// See [`Splitter::next_ends`](super::Splitter::next_ends).
    pub(super) fn next_ends(self, text: &[u8], from: usize, ends: &mut Vec<usize>) {
        self.next_ends_by(Tier::best(), text, from, ends);
    }

    /// [`Self::next_ends`] with the instructions of a tier that is available.
    pub(super) fn next_ends_by(self, tier: Tier, text: &[u8], from: usize, ends: &mut Vec<usize>) {
        let classes = self.classes();
        let piece_end = |at| self.piece_end(classes, text, at);
        if let Some(rules) = self.rules() {
            return masks::next_ends(tier, rules, text, from, ends, &piece_end);
        }
        let mut at = from;
        for _ in 0..AT_ONCE {
            at = piece_end(at);
            ends.push(at);
            if at == text.len() {
                break;
            }
        }
    }

    /// What the masks have to know of the pattern, if they can find its pieces.
    pub(super) fn rules(self) -> Option<Rules> {
        let most = |numbers| if numbers == usize::MAX { 0 } else { numbers };
        let rules = |family, numbers, contractions| Rules {
            family,
            numbers: most(numbers),
            contraction: match contractions {
                Contractions::None => Contraction::None,
                Contractions::Plain => Contraction::Plain,
                Contractions::AnyCase => Contraction::AnyCase,
                Contractions::Folded => Contraction::Folded,
            },
            marks: false,
            slash: false,
            han: false,
        };
        match self {
            Scanner::Gpt2(Gpt2 { contractions, numbers: Gpt2Numbers::Run }) => {
                Some(rules(Family::Gpt2, usize::MAX, contractions))
            }
            Scanner::Gpt2(Gpt2 { contractions, numbers: Gpt2Numbers::Apart(most) }) if most != usize::MAX => {
                Some(rules(Family::Gpt2, most, contractions))
            }
            Scanner::Cl100k(Cl100k { contractions, numbers, space: _, marks }) => {
                Some(Rules { marks, ..rules(Family::Cl100k, numbers, contractions) })
            }
            Scanner::O200k(O200k { contractions, numbers, slash, han }) => {
                Some(Rules { slash, han, ..rules(Family::O200k, numbers, contractions) })
            }
            Scanner::DeepSeek => Some(rules(Family::DeepSeek, 3, Contractions::None)),
            Scanner::Gpt2(_) => None,
        }
    }

    /// The pieces of a text that is UTF-8 and begins at byte `base` of its document.
    pub(super) fn scan(
        self,
        text: &[u8],
        base: usize,
        each: &mut impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let (mut ends, mut at) = (Vec::new(), 0);
        while at < text.len() {
            ends.clear();
            self.next_ends(text, at, &mut ends);
            for &end in &ends {
                debug_assert!(end > at, "a piece is never empty");
                each(base + at..base + end)?;
                at = end;
            }
        }
        Ok(())
    }
}
