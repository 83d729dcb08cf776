//! The scanner of cl100k's pattern, in its current and its classic form, and of Qwen's, which is the classic one but for
//! `\p{N}`.
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+ |  ?[^\s\p{L}\p{N}]++[\r\n]*+
//! current: | \s++$ | \s*[\r\n] | \s+(?!\S) | \s
//! classic: | \s*[\r\n]+ | \s+(?!\S) | \s+
//! ```
//!
//! Possessive or not makes no difference to the alternatives that both share: what follows a repeat never matches what
//! was repeated.

use super::scan::{Space, byte_run, contraction, is_line_break, numbers, space_end};
use super::unicode::{Classes, LETTER, NUMBER, SYMBOL};

/// The end of the piece that begins at byte `start` of `text`; `NUMBERS` of them are a piece at most, and `space` is the only
/// other place where the forms differ.
#[inline]
pub(super) fn piece_end<const NUMBERS: usize>(classes: &Classes, text: &[u8], start: usize, space: Space) -> usize {
    let first = text[start];
    if first == b'\''
        && let Some(end) = contraction::<true>(text, start)
    {
        return end;
    }
    let (class, len) = classes.at(text, start);
    let next = start + len;
    if class & LETTER != 0 {
        return classes.run(text, next, LETTER);
    }
    if class == NUMBER {
        return numbers::<NUMBERS>(classes, text, start);
    }
    let next_class = if next < text.len() { classes.at(text, next).0 } else { 0 };
    if next_class & LETTER != 0 && !is_line_break(first) {
        return classes.run(text, next, LETTER);
    }
    if class & SYMBOL != 0 || (first == b' ' && next_class & SYMBOL != 0) {
        return byte_run(text, classes.run(text, next, SYMBOL), is_line_break);
    }
    space_end(classes, text, start, space)
}
