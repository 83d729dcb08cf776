//! A text in parts of at most so many tokens, each of which is a text by itself.

use super::prefix::next_between_characters;
use super::{Encoder, Options};
use crate::error::Place;
use crate::{Error, Result};
use std::ops::Range;

/// How many bytes of chunks are cut in one go.
const AT_ONCE: usize = 1 << 18;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The bytes of the text.
    pub range: Range<usize>,
    /// Where the next chunk begins: before the end of this one, if they overlap.
    pub next: usize,
}

impl Encoder {
    /// Some chunks of `document` from byte `start` on, the next ones; none at its end.
    ///
    /// Each is the longest text from where it begins that has at most `limit` ids (those of the template included) and cuts no
    /// allowed marker in two. The next one begins where the last `overlap` tokens of it begin, or further on: as far as it
    /// must to end behind this one.
    ///
    /// # Errors
    /// As [`Self::encode`], with the place in `document`; `Indivisible` where a single character has more than `limit`
    /// tokens, `Argument` where the template has.
    pub fn chunks(
        &self,
        document: &[u8],
        start: usize,
        limit: usize,
        overlap: usize,
        options: Options,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Chunk>> {
        if start == 0 {
            options.refuse(document)?;
        }
        let options = Options { disallowed: None, ..options };
        let end_of = |start: usize| {
            let end = self.longest_beginning(&document[start..], limit, options, true, stop);
            end.map(|end| start + end).map_err(|error| {
                error.map_place(|place| match place {
                    Place::Byte(at) => Place::Byte(start + at),
                    other => other,
                })
            })
        };
        let mut chunks: Vec<Chunk> = Vec::new();
        let (mut start, mut known) = (start, None);
        while start < document.len() && chunks.first().is_none_or(|first| start - first.range.start < AT_ONCE) {
            let end = match known.take() {
                Some(end) => end,
                None => end_of(start)?,
            };
            if end == start {
                return Err(too_much(document, start, limit));
            }
            let mut next = end;
            if overlap > 0 && end < document.len() {
                for begin in self.last_begins(&document[start..end], overlap, options, stop)? {
                    let begin = start + begin;
                    let reached = end_of(begin)?;
                    if begin > start && reached > end {
                        (next, known) = (begin, Some(reached));
                        break;
                    }
                }
            }
            chunks.push(Chunk { range: start..end, next });
            start = next;
        }
        Ok(chunks)
    }

    /// Where the last `count` tokens of a text begin, each in front of the character that it begins with or in.
    fn last_begins(&self, text: &[u8], count: usize, options: Options, stop: &dyn Fn() -> bool) -> Result<Vec<usize>> {
        let options = Options { template: false, ..options };
        let spans = self.encode_with_spans(text, options, stop)?.spans;
        let last = &spans[spans.len().saturating_sub(count)..];
        let mut begins: Vec<usize> = last.iter().map(|span| next_between_characters(text, span.start)).collect();
        begins.dedup();
        begins.retain(|&begin| begin < text.len());
        Ok(begins)
    }
}

fn too_much(document: &[u8], at: usize, limit: usize) -> Error {
    let end = next_between_characters(document, at + 1);
    let symbol = String::from_utf8_lossy(&document[at..end]).into_owned();
    Error::Indivisible { symbol, place: Place::Byte(at), limit }
}

#[cfg(test)]
mod tests;
