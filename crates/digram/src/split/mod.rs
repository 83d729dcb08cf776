//! Text to pieces: a split pattern cuts each document, and merges never cross a piece.
//!
//! Patterns of known families are recognised by what they mean (`families`) and served by hand-written scanners, whose time
//! is linear in the text whatever it holds. Any other pattern that is regular apart from look-around runs on automata, in
//! linear time too (`linear`); what is left (back-references, `\G` and the like) goes to a regex engine that backtracks,
//! kept within limits. In all cases the pieces, joined, are the document: text that no alternative matches becomes pieces
//! of its own, and so do bytes that are not UTF-8.

mod backtracking;
mod cl100k;
mod cuts;
mod deepseek;
mod families;
mod find;
mod general;
mod gpt2;
mod linear;
mod masks;
mod o200k;
mod oniguruma;
mod patterns;
mod scan;
mod scanner;
mod steps;
mod unicode;

pub(crate) use cuts::NEAR;
pub use find::Find;
pub use steps::{Behaviour, Prefix, Step};
pub(crate) use unicode::class_ranges;

pub use patterns::{CL100K, CL100K_CLASSIC, GPT2, GPT2_TIKTOKEN, NAMED, O200K, QWEN2, named};

use crate::Result;
use crate::align::Origin;
use crate::text::Document;
use families::Known;
use general::{Dialect, General};
use scanner::Scanner;
use std::ops::Range;
use std::sync::Arc;

/// Cuts documents into pieces. Cloning is cheap, and clones may be used on many threads at once.
#[derive(Clone, Debug)]
pub struct Splitter {
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    None,
    Scanner(Scanner, Option<Arc<str>>),
    General(Arc<General>),
    Steps(Arc<[Step]>),
}

impl Splitter {
    /// No pattern: a document is one piece.
    pub fn none() -> Self {
        Splitter { engine: Engine::None }
    }

    /// Cuts by `pattern`, any regular expression with Unicode classes, look-around, possessive quantifiers and
    /// back-references. [`Error::Pattern`](crate::Error::Pattern) says where it does not compile.
    pub fn new(pattern: &str) -> Result<Self> {
        let engine = match families::of_pattern(pattern, Dialect::Rust) {
            Some(Known::Scanner(scanner)) => Engine::Scanner(scanner, Some(pattern.into())),
            _ => Engine::General(Arc::new(General::new(pattern)?)),
        };
        Ok(Splitter { engine })
    }

    /// Cuts by a scanner, with no pattern.
    #[cfg(test)]
    fn of_scanner(scanner: Scanner) -> Self {
        Splitter { engine: Engine::Scanner(scanner, None) }
    }

    /// Cuts by a sequence of steps, each of which cuts the pieces of the one before.
    pub fn of_steps(steps: Vec<Step>) -> Self {
        let engine = match families::of_steps(&steps) {
            Some(scanner) => Engine::Scanner(scanner, None),
            None if steps.is_empty() => Engine::None,
            None => Engine::Steps(steps.into()),
        };
        Splitter { engine }
    }

    /// Whether pieces may hold other text than the document's: then `for_each_text` alone gives them.
    pub fn changes_text(&self) -> bool {
        matches!(&self.engine, Engine::Steps(steps) if steps.iter().any(Step::changes_text))
    }

    /// The steps, where it is a sequence of them: of none, no pattern.
    pub(crate) fn steps(&self) -> Option<&[Step]> {
        match &self.engine {
            Engine::None => Some(&[]),
            Engine::Steps(steps) => Some(steps),
            _ => None,
        }
    }

    /// Whether some of the document may be in no piece.
    pub fn removes_text(&self) -> bool {
        matches!(&self.engine, Engine::Steps(steps) if steps.iter().any(Step::removes_text))
    }

    /// What does the work: `"none"`, `"scanner:gpt2"`, `"scanner:cl100k"`, `"scanner:cl100k-classic"`,
    /// `"scanner:qwen2"`, `"scanner:qwen3.5"`, `"scanner:o200k"`, `"scanner:tekken"`, `"scanner:kimi"`,
    /// `"scanner:deepseek"`, `"automaton"`, `"regex"` (an engine that backtracks) or `"steps"`.
    pub fn engine(&self) -> &'static str {
        match &self.engine {
            Engine::None => "none",
            Engine::Scanner(scanner, _) => scanner.name(),
            Engine::General(general) if general.is_linear() => "automaton",
            Engine::General(_) => "regex",
            Engine::Steps(_) => "steps",
        }
    }

    /// Whether a piece may take time that grows with the text after it: then it is worth asking after each whether to stop.
    pub fn may_be_slow(&self) -> bool {
        match &self.engine {
            Engine::None | Engine::Scanner(..) => false,
            Engine::General(general) => !general.is_linear(),
            Engine::Steps(steps) => steps.iter().any(Step::may_be_slow),
        }
    }

    /// Bytes of text that are sure to be split in a tenth of a second or so, whatever they hold.
    pub fn quick_bytes(&self) -> usize {
        match &self.engine {
            Engine::None | Engine::Scanner(..) => usize::MAX,
            Engine::General(general) => general.quick_bytes(),
            Engine::Steps(steps) => steps.iter().map(Step::quick_bytes).min().unwrap_or(usize::MAX),
        }
    }

    /// Whether [`Self::last_cut`] may find anything.
    pub fn has_cuts(&self) -> bool {
        matches!(self.engine, Engine::Scanner(..))
    }

    /// The last place of `text` from byte `from` up to byte `to`, both included, where a piece begins whatever stands on
    /// either side but for the two characters around it, which `wanted` takes; `None` where there is none, or none is known
    /// for the pattern. The bytes of `text` from `to` on are looked at for one character.
    pub fn last_cut(&self, text: &[u8], from: usize, to: usize, wanted: impl Fn(char, char) -> bool) -> Option<usize> {
        match self.engine {
            Engine::Scanner(scanner, _) => cuts::last_cut(scanner, text, (from, to), wanted),
            _ => None,
        }
    }

    /// Whether a piece that ends at byte `end` of a text that ends at byte `to` may end elsewhere once more text follows. It
    /// then ends, as far as is known, not before the last 16 of the `to` bytes, or, of white space, behind its last line
    /// break. For patterns without known cuts this is a guess.
    pub fn may_change(&self, text: &[u8], end: usize, to: usize) -> bool {
        match self.engine {
            Engine::None => end == to,
            Engine::Scanner(scanner, _) => cuts::may_change(scanner, text, end, to),
            _ => to - end < cuts::NEAR,
        }
    }

    /// The pattern as given; `None` where there is none, or a sequence of steps.
    pub fn pattern(&self) -> Option<&str> {
        match &self.engine {
            Engine::None | Engine::Steps(_) => None,
            Engine::Scanner(_, pattern) => pattern.as_deref(),
            Engine::General(general) => Some(general.pattern()),
        }
    }

    /// Calls `each` with the byte range of every piece of `document`, in order; none is empty, and joined they are the
    /// document.
    ///
    /// Bytes that are not UTF-8 are allowed: each longest stretch of bytes outside any well-formed character is a piece
    /// of its own, and the text between is split by itself, as a text with its own beginning and end.
    ///
    /// Returns the first error of `each`, or [`Error::Backtracking`](crate::Error::Backtracking) where a pattern without
    /// a scanner needs more steps than the engine allows; the scanners have no such limit.
    pub fn for_each_piece(&self, document: &[u8], each: impl FnMut(Range<usize>) -> Result<()>) -> Result<()> {
        self.for_each_piece_within(document, 0..document.len(), &|| false, each)
    }

    /// As [`for_each_piece`](Self::for_each_piece), for the bytes `stretch` of `document` alone, as a text with its own
    /// beginning and end; the ranges and the place in an error are those of the document. Panics if `stretch` is not
    /// inside `document`, as a slice does.
    ///
    /// [`Error::Interrupted`](crate::Error::Interrupted) soon after `stop` returns true, which is asked where a pattern
    /// of the user's own has looked at much text since the last piece: to ask after pieces is up to `each`.
    pub fn for_each_piece_within(
        &self,
        document: &[u8],
        stretch: Range<usize>,
        stop: &dyn Fn() -> bool,
        mut each: impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let base = stretch.start;
        for_each_stretch(document[stretch].into(), |stretch| match stretch {
            Ok((text, at)) => self.split_text(text, base + at, stop, &mut each),
            Err(range) => each(base + range.start..base + range.end),
        })
    }

    /// Whether [`Self::next_ends`] may be asked.
    pub(crate) fn has_ends(&self) -> bool {
        matches!(self.engine, Engine::Scanner(..))
    }

    /// Appends to `ends` where the next pieces of `text` end, of those from byte `from` on, where a piece begins: some
    /// hundreds, at least one, none beyond the end of `text`, which is UTF-8 and not at its end at `from`. Panics where no
    /// scanner serves the pattern.
    pub(crate) fn next_ends(&self, text: &[u8], from: usize, ends: &mut Vec<usize>) {
        let Engine::Scanner(scanner, _) = self.engine else { unreachable!("asked first: has_ends") };
        scanner.next_ends(text, from, ends);
    }

    /// What [`Self::ends_by`] may be asked for on this processor, the fastest last: the scanners character by character,
    /// then the masks of blocks of 64 bytes with more and more of the processor's instructions. For tests and measurements.
    #[doc(hidden)]
    pub fn tiers() -> Vec<&'static str> {
        ["scanner"].into_iter().chain(masks::Tier::available().into_iter().map(masks::Tier::name)).collect()
    }

    /// Appends to `ends` where some of the next pieces of `text` end, of those from byte `from` on, where a piece begins and
    /// the text does not end: as all tiers do it, one of them by itself. `None` where the pattern or the processor has not
    /// got it.
    #[doc(hidden)]
    pub fn ends_by(&self, tier: &str, text: &str, from: usize, ends: &mut Vec<usize>) -> Option<()> {
        let Engine::Scanner(scanner, ..) = self.engine else { return None };
        if tier == "scanner" {
            ends.push(scanner.piece_end(scanner.classes(), text.as_bytes(), from));
            return Some(());
        }
        let tier = masks::Tier::available().into_iter().find(|known| known.name() == tier)?;
        scanner.rules()?;
        scanner.next_ends_by(tier, text.as_bytes(), from, ends);
        Some(())
    }

    /// Calls `each` with the text of every piece of `text`, which begins at `origin`, and where it begins. `first` says
    /// whether the text begins its document; `stop` is asked as by `for_each_piece_within`.
    pub(crate) fn for_each_text(
        &self,
        text: &str,
        origin: Origin,
        first: bool,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(&str, Origin) -> Result<()>,
    ) -> Result<()> {
        match &self.engine {
            Engine::Steps(steps) => steps::run(steps, text, origin, first, stop, each),
            _ => self.split_text(text, 0, stop, &mut |piece| each(&text[piece.clone()], origin.part(piece.start))),
        }
    }

    /// The pieces of one well-formed text that begins at byte `base` of its document.
    fn split_text(
        &self,
        text: &str,
        base: usize,
        stop: &dyn Fn() -> bool,
        each: &mut impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        match &self.engine {
            Engine::None => each(base..base + text.len()),
            Engine::Scanner(scanner, _) => scanner.scan(text.as_bytes(), base, each),
            Engine::General(general) => general.split(text, base, stop, each),
            Engine::Steps(steps) => {
                let origin = Origin::of_document(base, false);
                steps::run(steps, text, origin, base == 0, stop, &mut |piece, at| each(at.base..at.base + piece.len()))
            }
        }
    }
}

/// Calls `each` with the well-formed stretches of a document, as text and where it begins, and with the ranges between, in
/// order; none is empty. A range holds all bytes outside any well-formed character between two texts.
pub(crate) fn for_each_stretch<'a>(
    document: Document<'a>,
    mut each: impl FnMut(std::result::Result<(&'a str, usize), Range<usize>>) -> Result<()>,
) -> Result<()> {
    let (document, text) = match document {
        Document::Text(text) => (text.as_bytes(), Ok(text)),
        Document::Bytes(bytes) => (bytes, simdutf8::basic::from_utf8(bytes)),
    };
    if let Ok(text) = text {
        return if text.is_empty() { Ok(()) } else { each(Ok((text, 0))) };
    }
    let mut ill_formed: Option<Range<usize>> = None;
    let mut at = 0;
    for chunk in document.utf8_chunks() {
        if !chunk.valid().is_empty() {
            if let Some(range) = ill_formed.take() {
                each(Err(range))?;
            }
            each(Ok((chunk.valid(), at)))?;
            at += chunk.valid().len();
        }
        let end = at + chunk.invalid().len();
        if end > at {
            ill_formed.get_or_insert(at..end).end = end;
        }
        at = end;
    }
    ill_formed.map_or(Ok(()), |range| each(Err(range)))
}
