//! The scanner of DeepSeek V3's split: three patterns, of which each cuts what the ones before have left.
//!
//! ```text
//! \p{N}{1,3}
//! [一-龥぀-ゟ゠-ヿ]+
//! [ASCII punctuation][A-Za-z]+ | [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+ |  ?[\p{P}\p{S}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//! ```
//!
//! To the third, a text ends before a number and before the characters of the second: it has neither, and white space there
//! is at the end. It leaves gaps, which are pieces: controls, unassigned code points and the like, up to one that begins
//! a word as the character before it.

use super::scan::{byte_run, is_line_break, numbers, space_end};
use super::scanner::Space;
use super::unicode::{CJK, Classes, NUMBER, OTHER, PUNCTUATION, SPACE, WORD};

/// The end of the piece that begins at byte `start` of `text`; `classes` are those of `unicode::deepseek_classes`.
#[inline]
pub(super) fn piece_end(classes: &Classes, text: &[u8], start: usize) -> usize {
    let first = text[start];
    let (class, len) = classes.at(text, start);
    let next = start + len;
    match class {
        WORD | CJK => return classes.run(text, next, class),
        NUMBER => return numbers(classes, text, start, 3),
        _ => {}
    }
    let next_class = if next < text.len() { classes.at(text, next).0 } else { 0 };
    if first.is_ascii_punctuation() && text.get(next).is_some_and(u8::is_ascii_alphabetic) {
        return byte_run(text, next, |b| b.is_ascii_alphabetic());
    }
    if next_class == WORD && class & (SPACE | OTHER) != 0 && !is_line_break(first) {
        return classes.run(text, next, WORD);
    }
    if class == PUNCTUATION || (first == b' ' && next_class == PUNCTUATION) {
        return byte_run(text, classes.run(text, next, PUNCTUATION), is_line_break);
    }
    if class == SPACE {
        return space_end(classes, text, start, Space::LineBreakFirst, NUMBER | CJK);
    }
    // The gap: all but the last of the run where that begins a word.
    let (mut at, mut last) = (next, start);
    while classes.is_at(text, at, OTHER) {
        last = at;
        at += classes.at(text, at).1;
    }
    if classes.is_at(text, at, WORD) { last } else { at }
}
