//! The scanner of cl100k's pattern, in its current and its classic form, and of its relations: of Qwen's, which is the
//! classic one but for `\p{N}`, and so on.
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+ |  ?[^\s\p{L}\p{N}]++[\r\n]*+
//! current: | \s++$ | \s*[\r\n] | \s+(?!\S) | \s
//! classic: | \s*[\r\n]+ | \s+(?!\S) | \s+
//! with marks as letters: [^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+ and  ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*
//! ```
//!
//! Possessive or not makes no difference to the alternatives that both share: what follows a repeat never matches what
//! was repeated. A mark that is a letter may also be the character before a word, which makes no difference to its end.

use super::scan::{byte_run, contraction, is_line_break, numbers, space_end};
use super::scanner::Cl100k;
use super::unicode::{Classes, LETTER, MARK, NUMBER, OTHER, SYMBOL};

/// The end of the piece that begins at byte `start` of `text`.
#[inline]
pub(super) fn piece_end(classes: &Classes, text: &[u8], start: usize, family: Cl100k) -> usize {
    let (letter, symbol) = if family.marks { (LETTER | MARK, OTHER) } else { (LETTER, SYMBOL) };
    let first = text[start];
    if first == b'\''
        && let Some(end) = contraction(text, start, family.contractions)
    {
        return end;
    }
    let (class, len) = classes.at(text, start);
    let next = start + len;
    if class & letter != 0 {
        return classes.run(text, next, letter);
    }
    if class == NUMBER {
        return numbers(classes, text, start, family.numbers);
    }
    let next_class = if next < text.len() { classes.at(text, next).0 } else { 0 };
    if next_class & letter != 0 && !is_line_break(first) {
        return classes.run(text, next, letter);
    }
    if class & symbol != 0 || (first == b' ' && next_class & symbol != 0) {
        return byte_run(text, classes.run(text, next, symbol), is_line_break);
    }
    space_end(classes, text, start, family.space, 0)
}
