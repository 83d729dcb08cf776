//! The scanner of DeepSeek V3's split: three patterns, of which each cuts what the ones before have left.
//!
//! ```text
//! \p{N}{1,3}
//! [一-龥぀-ゟ゠-ヿ]+
//! [ASCII punctuation][A-Za-z]+ | [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+ |  ?[\p{P}\p{S}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//! ```
//!
//! The third sees what the others have left and what they have cut out, each by itself. So to it a text ends before a number
//! and where the characters of the second begin or end: white space before them is at the end, and no piece crosses.
//! Within the second's characters it cuts words from punctuation. It leaves gaps, which are pieces: numbers, as the first
//! has cut them; and controls, unassigned code points and the like, up to one that begins a word as the character before it.

use super::scan::{byte_run, is_line_break, numbers, space_end};
use super::scanner::Space;
use super::unicode::{CJK, CJK_OTHER, CJK_PUNCTUATION, CJK_WORD, Classes, NUMBER, OTHER, PUNCTUATION, Set, WORD};

/// The end of the piece that begins at byte `start` of `text`; `classes` are those of `unicode::deepseek_classes`.
#[inline]
pub(super) fn piece_end(classes: &Classes, text: &[u8], start: usize) -> usize {
    let first = text[start];
    let (class, len) = classes.at(text, start);
    let next = start + len;
    match class {
        WORD | CJK_WORD | CJK_PUNCTUATION => return classes.run(text, next, class),
        NUMBER => return numbers(classes, text, start, 3),
        CJK_OTHER => return other_end(classes, text, next, CJK_OTHER, CJK_WORD),
        _ => {}
    }
    let next_class = if next < text.len() { classes.at(text, next).0 } else { 0 };
    if first.is_ascii_punctuation() && text.get(next).is_some_and(u8::is_ascii_alphabetic) {
        return byte_run(text, next, |b| b.is_ascii_alphabetic());
    }
    if class == PUNCTUATION || (first == b' ' && next_class == PUNCTUATION) {
        return byte_run(text, classes.run(text, next, PUNCTUATION), is_line_break);
    }
    if class == OTHER {
        return other_end(classes, text, next, OTHER, WORD);
    }
    if next_class == WORD && !is_line_break(first) {
        return classes.run(text, next, WORD);
    }
    space_end(classes, text, start, Space::LineBreakFirst, NUMBER | CJK)
}

/// The end of the piece whose first character, of class `other`, ends at byte `at`: a word that follows, else the run but for
/// a last one that begins a word.
#[inline]
fn other_end(classes: &Classes, text: &[u8], mut at: usize, other: Set, word: Set) -> usize {
    if classes.is_at(text, at, word) {
        return classes.run(text, at, word);
    }
    let mut last = at;
    while classes.is_at(text, at, other) {
        last = at;
        at += classes.at(text, at).1;
    }
    if classes.is_at(text, at, word) { last } else { at }
}
