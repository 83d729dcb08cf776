//! A split of several steps: each cuts the pieces that the one before has left.
//!
//! The meaning of the steps, and of the five behaviours, is that of Hugging Face's tokenizers
//! (`tokenizers/src/tokenizer/normalizer.rs`, `split`; `src/pre_tokenizers/`).

use super::Find;
use crate::Result;
use crate::align::{Change, Origin};
use crate::normalize::byte_characters;
use std::borrow::Cow;
use std::ops::Range;

/// What becomes of the matches of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// They are no pieces: their text is gone.
    Removed,
    /// Each is a piece.
    Isolated,
    /// Each belongs to the piece before it; a match right after a match is a piece.
    MergedWithPrevious,
    /// Each belongs to the piece after it; a match right before a match is a piece.
    MergedWithNext,
    /// Matches that follow each other are one piece.
    Contiguous,
}

/// Where a space is put in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Before each piece that does not begin with one.
    Always,
    /// Only before the piece that begins the document.
    First,
    /// Nowhere.
    Never,
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// Cuts at what is found, or, with `invert`, takes what lies between the matches for the matches.
    Cut {
        /// What is looked for.
        find: Find,
        /// What becomes of it.
        behaviour: Behaviour,
        /// Whether the gaps are the matches.
        invert: bool,
    },
    /// Puts a space in front of each piece that does not begin with one.
    PrefixSpace,
    /// Writes spaces as `replacement`, puts one in front as `prefix` says, and, with `split`, begins a piece at each.
    Metaspace {
        /// What stands for a space.
        replacement: char,
        /// Where one is put in front.
        prefix: Prefix,
        /// Whether to cut.
        split: bool,
    },
    /// Writes each byte as its printable character.
    ByteCharacters,
}

impl Step {
    /// Whether pieces may hold other text than the document.
    pub fn changes_text(&self) -> bool {
        !matches!(self, Self::Cut { .. })
    }

    /// As `Splitter::quick_bytes`.
    pub(super) fn quick_bytes(&self) -> usize {
        if let Self::Cut { find, .. } = self { find.quick_bytes() } else { usize::MAX }
    }

    /// Whether it may take more than linear time.
    pub(super) fn may_be_slow(&self) -> bool {
        matches!(self, Self::Cut { find, .. } if find.may_be_slow())
    }

    /// Whether some of the text may be in no piece.
    pub fn removes_text(&self) -> bool {
        matches!(self, Self::Cut { behaviour: Behaviour::Removed, .. })
    }
}

/// Runs `steps` on a text that begins at `origin`, and calls `each` with what is left and where; asks now and then whether
/// to `stop`.
pub(super) fn run(
    steps: &[Step],
    text: &str,
    origin: Origin,
    first: bool,
    stop: &dyn Fn() -> bool,
    each: &mut dyn FnMut(&str, Origin) -> Result<()>,
) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let Some((step, rest)) = steps.split_first() else {
        return each(text, origin);
    };
    match step {
        Step::Cut { find, behaviour, invert } => {
            cut(find, *behaviour, *invert, text, origin.base, stop, &mut |piece| {
                run(rest, &text[piece.clone()], origin.part(piece.start), first && piece.start == 0, stop, each)
            })
        }
        Step::PrefixSpace if text.starts_with(' ') => run(rest, text, origin, first, stop, each),
        Step::PrefixSpace => {
            let change = noted(origin, || Change::prefixed(1, text.len()));
            run(rest, &format!(" {text}"), origin.changed(change.as_slice()).origin(), first, stop, each)
        }
        Step::ByteCharacters => {
            let change = noted(origin, || byte_characters::writing(text.as_bytes()));
            let written = byte_characters::written(text.as_bytes());
            run(rest, &written, origin.changed(change.as_slice()).origin(), first, stop, each)
        }
        Step::Metaspace { replacement, prefix, split } => {
            let spaces = text.bytes().filter(|&byte| byte == b' ').count();
            let original = text;
            let mut text = match spaces {
                0 => Cow::Borrowed(text),
                _ => Cow::Owned(text.replace(' ', replacement.encode_utf8(&mut [0; 4]))),
            };
            let mut changes = Vec::new();
            if origin.tracked && spaces > 0 {
                let length = |c: char| if c == ' ' { replacement.len_utf8() } else { c.len_utf8() };
                changes.push(Change::by_character(original, length));
            }
            let wanted = *prefix == Prefix::Always || (*prefix == Prefix::First && first);
            if wanted && !text.starts_with(*replacement) {
                changes.extend(noted(origin, || Change::prefixed(replacement.len_utf8(), text.len())));
                text.to_mut().insert(0, *replacement);
            }
            let changes = origin.changed(&changes);
            let origin = changes.origin();
            if !split {
                return run(rest, &text, origin, first, stop, each);
            }
            let mut starts = text.match_indices(*replacement).map(|(at, _)| at).filter(|&at| at > 0);
            let mut from = 0;
            loop {
                let end = starts.next().unwrap_or(text.len());
                run(rest, &text[from..end], origin.piece(from), first && from == 0, stop, each)?;
                from = end;
                if from == text.len() {
                    return Ok(());
                }
            }
        }
    }
}

/// A change, where changes are noted.
fn noted(origin: Origin, change: impl FnOnce() -> Change) -> Option<Change> {
    origin.tracked.then(change)
}

/// Calls `each` with the pieces that a cut makes of a text that is not empty; they may be empty where a match is.
fn cut(
    find: &Find,
    behaviour: Behaviour,
    invert: bool,
    text: &str,
    base: usize,
    stop: &dyn Fn() -> bool,
    each: &mut dyn FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    if behaviour == Behaviour::Isolated || behaviour == Behaviour::Removed {
        // Matches and gaps, as they come.
        let (matches, gaps) = match behaviour {
            Behaviour::Removed => (invert, !invert),
            _ => (true, true),
        };
        let mut done = 0;
        let mut piece = |range: Range<usize>, kept: bool| match kept && !range.is_empty() {
            true => each(range),
            false => Ok(()),
        };
        find.for_each_match(text, base, stop, &mut |found| {
            piece(done..found.start, gaps)?;
            done = found.end;
            piece(found, matches)
        })?;
        return piece(done..text.len(), gaps);
    }
    let mut parts: Vec<(Range<usize>, bool)> = Vec::new();
    let mut done = 0;
    find.for_each_match(text, base, stop, &mut |found| {
        if found.start > done {
            parts.push((done..found.start, invert));
        }
        done = found.end;
        parts.push((found, !invert));
        Ok(())
    })?;
    if done < text.len() {
        parts.push((done..text.len(), invert));
    }
    for piece in joined(parts, behaviour) {
        each(piece)?;
    }
    Ok(())
}

/// Puts matches (marked) and gaps together.
fn joined(parts: Vec<(Range<usize>, bool)>, behaviour: Behaviour) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    // Whether the part before was a match; at first it counts as none.
    let mut before = false;
    let mut add = |(range, is_match): (Range<usize>, bool)| {
        let joins = match behaviour {
            Behaviour::Contiguous => is_match == before,
            _ => is_match && !before,
        };
        before = is_match;
        match pieces.last_mut() {
            Some(last) if joins => *last = last.start.min(range.start)..last.end.max(range.end),
            _ => pieces.push(range),
        }
    };
    if behaviour == Behaviour::MergedWithNext {
        parts.into_iter().rev().for_each(add);
        pieces.reverse();
    } else {
        parts.into_iter().for_each(&mut add);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(steps: Vec<Step>, text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        run(&steps, text, Origin::of_document(0, true), true, &|| false, &mut |piece, _| {
            pieces.push(piece.to_string());
            Ok(())
        })
        .unwrap();
        pieces
    }

    #[test]
    fn behaviours_as_tokenizers_documents_them() {
        // tokenizers/src/tokenizer/normalizer.rs, above `SplitDelimiterBehavior`.
        let cut = |behaviour| {
            let find = Find::text("-").unwrap();
            pieces(vec![Step::Cut { find, behaviour, invert: false }], "the-final--countdown")
        };
        assert_eq!(cut(Behaviour::Removed), ["the", "final", "countdown"]);
        assert_eq!(cut(Behaviour::Isolated), ["the", "-", "final", "-", "-", "countdown"]);
        assert_eq!(cut(Behaviour::MergedWithPrevious), ["the-", "final-", "-", "countdown"]);
        assert_eq!(cut(Behaviour::MergedWithNext), ["the", "-final", "-", "-countdown"]);
        assert_eq!(cut(Behaviour::Contiguous), ["the", "-", "final", "--", "countdown"]);
    }

    #[test]
    fn empty_matches_cut() {
        let find = Find::regex("(?=[A-Z])").unwrap();
        let step = Step::Cut { find, behaviour: Behaviour::Isolated, invert: false };
        assert_eq!(pieces(vec![step], "aBcDD"), ["a", "Bc", "D", "D"]);
    }

    #[test]
    fn metaspace_begins_pieces() {
        let step = |prefix, split| vec![Step::Metaspace { replacement: '▁', prefix, split }];
        assert_eq!(pieces(step(Prefix::Always, true), "a  b "), ["▁a", "▁", "▁b", "▁"]);
        assert_eq!(pieces(step(Prefix::Never, true), "a b"), ["a", "▁b"]);
        assert_eq!(pieces(step(Prefix::First, false), " a b"), ["▁a▁b"]);
    }

    #[test]
    fn steps_cut_what_is_left() {
        let digits = Step::Cut { find: Find::numbers(), behaviour: Behaviour::Contiguous, invert: false };
        let words = Step::Cut { find: Find::words(), behaviour: Behaviour::Removed, invert: true };
        assert_eq!(pieces(vec![words, digits], "ab12, c"), ["ab", "12", ",", "c"]);
    }
}
