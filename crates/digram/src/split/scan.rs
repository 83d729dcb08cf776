//! Steps that the scanners share. All take a text that is UTF-8 and a place where a character of it begins.
//!
//! Why the scanners are linear: a piece is found by looking at characters from its beginning on, and what is looked at
//! beyond its end is at most one character, or the rest of a run of white space (at most twice: the run is cut after its
//! last line break, then before its last character), or the rest of one run of letters (see `o200k`).

use super::scanner::{Contractions, Space};
use super::unicode::{Classes, NUMBER, SPACE, Set};

/// The end of the contraction that begins with the apostrophe at byte `at`, if one of the kind `which` does:
/// `'s 't 'm 'd 'll 've 're`.
///
/// `ſ` (U+017F) folds to `s`, and is the only character outside ASCII that folds to a letter used here.
#[inline]
pub(super) fn contraction(text: &[u8], at: usize, which: Contractions) -> Option<usize> {
    if which == Contractions::None {
        return None;
    }
    let fold = |b: u8| if which == Contractions::Plain { b } else { b.to_ascii_lowercase() };
    let first = fold(*text.get(at + 1)?);
    let second = text.get(at + 2).copied();
    match first {
        b's' | b't' | b'm' | b'd' => Some(at + 2),
        b'l' if second.map(fold) == Some(b'l') => Some(at + 3),
        b'v' | b'r' if second.map(fold) == Some(b'e') => Some(at + 3),
        0xC5 if which == Contractions::Folded && second == Some(0xBF) => Some(at + 3),
        _ => None,
    }
}

/// The end of `\p{N}{1,most}` at byte `at`, where a number is known to stand.
#[inline]
pub(super) fn numbers(classes: &Classes, text: &[u8], mut at: usize, most: usize) -> usize {
    for _ in 0..most {
        if !classes.is_at(text, at, NUMBER) {
            break;
        }
        at += classes.at(text, at).1;
    }
    at
}

/// The end of the longest run of the bytes that `wanted` names.
#[inline]
pub(super) fn byte_run(text: &[u8], at: usize, wanted: impl Fn(u8) -> bool) -> usize {
    text[at..].iter().position(|&b| !wanted(b)).map_or(text.len(), |n| at + n)
}

/// Whether a byte is a carriage return or a line feed.
#[inline]
pub(super) fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// The end of the piece that begins with the white space at byte `start`.
///
/// The whole run where the text ends with it, or a character of `edge` follows, else all of it but its last character, else
/// that character; and up to the run's last line break where the pattern says so, before or after the first of these.
#[inline]
pub(super) fn space_end(classes: &Classes, text: &[u8], start: usize, rule: Space, edge: Set) -> usize {
    let (mut at, mut last, mut line_end, mut ends) = (start, start, None, true);
    while at < text.len() {
        let (class, len) = classes.at(text, at);
        if class != SPACE {
            ends = class & edge != 0;
            break;
        }
        last = at;
        at += len;
        if is_line_break(text[last]) {
            line_end = Some(at);
        }
    }
    match (rule, line_end) {
        (Space::EndFirst, _) if ends => at,
        (Space::LineBreakFirst | Space::EndFirst, Some(line_end)) => line_end,
        _ if ends || last == start => at,
        _ => last,
    }
}
