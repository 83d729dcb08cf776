//! The scanner of GPT-2's pattern, and of those that cut numbers out beforehand (StarCoder).
//!
//! ```text
//! 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//! numbers apart: |\p{N}{1,n}| and \s+(?![^\s\p{N}]): white space before a number is at the end of what is left
//! ```

use super::scan::{contraction, numbers, space_end};
use super::scanner::{Gpt2, Gpt2Numbers, Space};
use super::unicode::{Classes, LETTER, NUMBER, SPACE, SYMBOL};

/// The end of the piece that begins at byte `start` of `text`.
#[inline]
pub(super) fn piece_end(classes: &Classes, text: &[u8], start: usize, family: Gpt2) -> usize {
    if text[start] == b'\''
        && let Some(end) = contraction(text, start, family.contractions)
    {
        return end;
    }
    let mut edge = 0;
    if let Gpt2Numbers::Apart(most) = family.numbers {
        if classes.is_at(text, start, NUMBER) {
            return numbers(classes, text, start, most);
        }
        edge = NUMBER;
    }
    let at = start + usize::from(text[start] == b' ');
    if at < text.len() {
        let (class, len) = classes.at(text, at);
        if class & (SPACE | edge) == 0 {
            let set = [LETTER, NUMBER, SYMBOL].into_iter().find(|set| class & set != 0).unwrap_or(class);
            return classes.run(text, at + len, set);
        }
    }
    space_end(classes, text, start, Space::Plain, edge)
}
