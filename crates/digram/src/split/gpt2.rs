//! The scanner of GPT-2's pattern, in both spellings.
//!
//! ```text
//! 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//! ```

use super::scan::{Space, contraction, space_end};
use super::unicode::{Classes, LETTER, NUMBER, SPACE, SYMBOL};

/// The end of the piece that begins at byte `start` of `text`.
#[inline]
pub(super) fn piece_end(classes: &Classes, text: &[u8], start: usize) -> usize {
    if text[start] == b'\''
        && let Some(end) = contraction::<false>(text, start)
    {
        return end;
    }
    let at = start + usize::from(text[start] == b' ');
    if at < text.len() {
        let (class, len) = classes.at(text, at);
        if class != SPACE {
            let set = [LETTER, NUMBER, SYMBOL].into_iter().find(|set| class & set != 0).unwrap_or(class);
            return classes.run(text, at + len, set);
        }
    }
    space_end(classes, text, start, Space::Plain)
}
