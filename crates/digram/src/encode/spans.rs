//! Documents -> ids and where each token stands in the document.

use super::{Encoder, Options, Part, Pieces};
use crate::{Error, Result};
use std::ops::Range;

/// Ids, and the bytes of the document that each of them stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spanned {
    /// The ids, as [`Encoder::encode`] gives them.
    pub ids: Vec<u32>,
    /// Where each token ends, in bytes; it begins where the one before ends, so that the spans tile the document.
    pub ends: Vec<usize>,
}

impl Spanned {
    /// The byte range of each token.
    pub fn spans(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }
}

impl Encoder {
    /// The ids of `document` with the bytes that each stands for: an added token for its marker, an unknown token for
    /// the one character (or byte outside any character) that it replaces, any other token for its own bytes; the ids of
    /// the template for nothing, at the beginning or the end.
    ///
    /// # Errors
    /// As [`Self::encode`]; `Argument` where the vocabulary changes the text, so that tokens are not stretches of it.
    pub fn encode_with_spans(&self, document: &[u8], options: Options, stop: &dyn Fn() -> bool) -> Result<Spanned> {
        if !self.keeps_text(options.allowed.unwrap_or(&self.always)) {
            return Err(changed());
        }
        let mut pieces = Pieces::new(self, stop);
        let Spanned { mut ids, mut ends } = Spanned::default();
        let (before, after) =
            if options.template { (&*self.around.template.0, &*self.around.template.1) } else { (&[][..], &[][..]) };
        ids.extend_from_slice(before);
        ends.resize(ids.len(), 0);
        let unknown = self.vocabulary.unknown_id();
        let symbol_length = |bytes: &[u8]| if self.vocabulary.is_of_bytes() { 1 } else { character_length(bytes) };
        self.for_each_part(document, options, &mut |part| {
            match part {
                Part::Token(id, end) => {
                    ids.push(id);
                    ends.push(end);
                }
                Part::Piece(piece, offset) => {
                    let (from, mut at) = (ids.len(), 0);
                    pieces.append(piece, offset, &mut ids)?;
                    for &id in &ids[from..] {
                        at += match unknown {
                            Some(unknown) if id == unknown => symbol_length(piece.get(at..).unwrap_or_default()),
                            _ => self.vocabulary.tokens().length(id) as usize,
                        };
                        ends.push(offset + at);
                    }
                    if at != piece.len() {
                        return Err(changed());
                    }
                }
            }
            Ok(())
        })?;
        ids.extend_from_slice(after);
        ends.resize(ids.len(), document.len());
        Ok(Spanned { ids, ends })
    }
}

/// Tokens of a vocabulary with a normalizer, or with one unknown token for a run, are not stretches of the text.
fn changed() -> Error {
    Error::Argument(
        "offsets are not known where a vocabulary changes the text (a normalizer, prefixes, white space around added \
         tokens, byte tokens with names, runs of unknown characters): encode without offsets"
            .into(),
    )
}

/// The length of the character that begins `bytes`, or 1 where none does.
fn character_length(bytes: &[u8]) -> usize {
    // No character is longer than four bytes; a cut-off one after the first does not matter.
    let start = &bytes[..bytes.len().min(4)];
    start.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next()).map_or(1, char::len_utf8)
}

/// The ranges of `spans`, which tile `text`, in characters: each from the character that holds the token's first byte to
/// after the one that holds its last. Two tokens that share a character both have it in their range. An empty token
/// stands before the character at its place.
pub fn character_spans(text: &str, spans: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let begins = |at: usize| bytes.get(at).is_none_or(|byte| byte & 0xC0 != 0x80);
    // The characters that begin before the place that was reached.
    let mut begun = 0;
    let range = |span: Range<usize>| {
        let start = if begins(span.start) { begun } else { begun - 1 };
        begun += bytes[span.clone()].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        start..begun.max(start)
    };
    spans.map(range).collect()
}
