//! The scanner of o200k's pattern, of tekken's, which has no contractions and single numbers, and of
//! Kimi's, which has `\p{Han}+` first, and no such letters in U and L.
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?U*L+C? | [^\r\n\p{L}\p{N}]?U+L*C? | \p{N}{1,3} |  ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//! U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]    L = [\p{Ll}\p{Lm}\p{Lo}\p{M}]    C = (?i:'s|'t|'re|'ve|'m|'ll|'d)
//! ```
//!
//! Uncased letters and marks are in both U and L. `U*L+` takes a run of U; if a lower-case letter follows, all of L from
//! there on; if not, it gives back until a character of both classes can be the L+, that is up to the last of them in the
//! run, and ends after it. Only a run without such a character gets to `U+L*`, and is then taken whole.
//!
//! A mark may also be the optional character before a word. It makes no difference: as part of the run it gives the same
//! end where the rest of the run matches `U*L+` by itself, and where it does not, `U*L+` still matches the mark alone,
//! before `U+L*` is tried.
//!
//! Linear: a run of U is looked at to its end. If the piece ends within it, then after the last character of both
//! classes; the rest holds capitals alone, and the next piece, which looks at them once more, takes them all.

use super::scan::{byte_run, contraction, is_line_break, numbers, space_end};
use super::scanner::{O200k, Space};
use super::unicode::{Classes, HAN, LETTER, LOWER, MARK, NUMBER, SYMBOL, UNCASED, UPPER};

const BOTH: u8 = UNCASED | MARK;

/// The end of the piece that begins at byte `start` of `text`.
#[inline]
pub(super) fn piece_end(classes: &Classes, text: &[u8], start: usize, family: O200k) -> usize {
    let first = text[start];
    let (class, len) = classes.at(text, start);
    let next = start + len;
    if family.han && class & HAN != 0 {
        return classes.run(text, next, HAN);
    }
    if class == NUMBER {
        return numbers(classes, text, start, family.numbers);
    }
    let word = if class & (LETTER | MARK) != 0 {
        word_end(classes, text, start)
    } else if is_line_break(first) {
        None
    } else {
        word_end(classes, text, next)
    };
    if let Some(end) = word {
        let apostrophe = text.get(end) == Some(&b'\'');
        return apostrophe.then(|| contraction(text, end, family.contractions)).flatten().unwrap_or(end);
    }
    if class & SYMBOL != 0 || (first == b' ' && classes.is_at(text, next, SYMBOL)) {
        return byte_run(text, classes.run(text, next, SYMBOL), |b| is_line_break(b) || (family.slash && b == b'/'));
    }
    space_end(classes, text, start, Space::LineBreakFirst, 0)
}

/// The end of `U*L+` at byte `start` of `text`, or else of `U+L*`, or `None` where neither matches.
#[inline]
fn word_end(classes: &Classes, text: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut last_of_both) = (start, None);
    while at < text.len() {
        let (class, len) = classes.at(text, at);
        if class & LOWER != 0 {
            return Some(classes.run(text, at + len, LOWER | BOTH));
        }
        if class & (UPPER | BOTH) == 0 {
            break;
        }
        at += len;
        if class & BOTH != 0 {
            last_of_both = Some(at);
        }
    }
    last_of_both.or((at > start).then_some(at))
}
