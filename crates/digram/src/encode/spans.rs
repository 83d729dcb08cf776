//! Documents -> ids and where each token stands in the document.

use super::{Encoder, Options, Part, Pieces};
use crate::Result;
use crate::vocabulary::{StandIn, Tokens};
use std::ops::Range;

/// Ids, and the bytes of the document that each of them stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spanned {
    /// The ids, as [`Encoder::encode`] gives them.
    pub ids: Vec<u32>,
    /// The byte range of each token; starts and ends ascend.
    pub spans: Vec<Range<usize>>,
}

impl Encoder {
    /// The ids of `document` with the bytes that each stands for: an added token for its marker and the white space that
    /// it takes, a byte token for its byte, an unknown token for the characters (or bytes outside any character) that it
    /// replaces, any other token for its own bytes; the ids of the template for nothing, at the beginning or the end.
    ///
    /// Where the vocabulary changes the text, tokens stand for what their text was made of: of a character that a
    /// normalizer composed, for all of its parts; of a part of a decomposed character, or a replacement, for the whole of
    /// what was replaced; of what was put in front of a text, for the first byte of that text. Bytes that no token stands
    /// for were removed.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_with_spans(&self, document: &[u8], options: Options, stop: &dyn Fn() -> bool) -> Result<Spanned> {
        let mut pieces = Pieces::new(self, stop);
        let mut spans = Vec::new();
        let (mut ids, after) = match options.template {
            true => (self.around.template.0.clone(), &*self.around.template.1),
            false => (Vec::new(), &[][..]),
        };
        spans.resize(ids.len(), 0..0);
        let mut symbols = Symbols::default();
        self.for_each_part(document, options, true, stop, &mut |part| {
            match part {
                Part::Token(id, range) => {
                    ids.push(id);
                    spans.push(range);
                }
                Part::Piece(piece, origin) => {
                    pieces.append_spanned(piece, origin.base, &mut ids, &mut symbols, &mut |range| {
                        spans.push(origin.range(range))
                    })?
                }
            }
            Ok(())
        })?;
        ids.extend_from_slice(after);
        spans.resize(ids.len(), document.len()..document.len());
        ascending(&mut spans);
        Ok(Spanned { ids, spans })
    }
}

/// The symbols of a piece that holds text without a token; memory that is used again.
#[derive(Default)]
pub(super) struct Symbols {
    ids: Vec<u32>,
    stand_ins: Vec<StandIn>,
}

impl Pieces<'_> {
    /// As [`Self::append`], and calls `each` with the bytes of the piece that each new id stands for.
    fn append_spanned(
        &mut self,
        piece: &[u8],
        offset: usize,
        out: &mut Vec<u32>,
        symbols: &mut Symbols,
        each: &mut dyn FnMut(Range<usize>),
    ) -> Result<()> {
        self.look(piece.len())?;
        if let Some(id) = self.vocabulary.whole_piece(piece) {
            out.push(id);
            each(0..piece.len());
            return Ok(());
        }
        self.append_merged(piece, offset, out, symbols, each)
    }

    /// As [`Self::append_spanned`], without looking the piece up as a whole, or asking whether to stop.
    pub(super) fn append_merged(
        &mut self,
        piece: &[u8],
        offset: usize,
        out: &mut Vec<u32>,
        symbols: &mut Symbols,
        each: &mut dyn FnMut(Range<usize>),
    ) -> Result<()> {
        let from = out.len();
        symbols.stand_ins.clear();
        self.vocabulary.append_symbols_and_stand_ins(piece, offset, out, &mut symbols.stand_ins)?;
        let tokens = self.vocabulary.tokens();
        if symbols.stand_ins.is_empty() {
            self.merge(out, from)?;
            let mut at = 0;
            for &id in &out[from..] {
                let end = at + tokens.length(id) as usize;
                each(at..end);
                at = end;
            }
            debug_assert_eq!(at, piece.len(), "tokens spell their piece");
            return Ok(());
        }
        symbols.ids.clear();
        symbols.ids.extend_from_slice(&out[from..]);
        for stand_in in &mut symbols.stand_ins {
            stand_in.0 -= from;
        }
        self.merge(out, from)?;
        symbols.for_each_span(tokens, &out[from..], each);
        Ok(())
    }
}

impl Symbols {
    /// Calls `each` with what each of `ids`, to which the symbols were merged, stands for: a token spells what its symbols
    /// spell, one after the other.
    fn for_each_span(&self, tokens: &Tokens, ids: &[u32], each: &mut dyn FnMut(Range<usize>)) {
        let mut stand_ins = self.stand_ins.iter().peekable();
        let (mut next, mut reached) = (0, 0);
        for &id in ids {
            let (length, mut spelt) = (tokens.length(id), 0);
            let mut span: Option<Range<usize>> = None;
            while spelt < length && next < self.ids.len() {
                let own = tokens.length(self.ids[next]);
                // Before a symbol that stands for itself nothing waits, so it begins where all before it end.
                let range = stand_ins
                    .next_if(|stand_in| stand_in.0 == next)
                    .map_or(reached..reached + own as usize, |stand_in| stand_in.1.clone());
                reached = range.end.max(reached);
                span = Some(span.map_or(range.clone(), |s| s.start.min(range.start)..s.end.max(range.end)));
                spelt += own;
                next += 1;
            }
            debug_assert_eq!(spelt, length, "merges spell what they make");
            each(span.unwrap_or(reached..reached));
        }
    }
}

/// Widens spans as little as makes their starts and their ends ascend. They do already but where an unknown token waits
/// for the end of its run while byte tokens pass it, or something was put in the place of nothing.
fn ascending(spans: &mut [Range<usize>]) {
    let mut reached = 0;
    for span in spans.iter_mut() {
        reached = span.end.max(reached);
        span.end = reached;
    }
    let mut first = usize::MAX;
    for span in spans.iter_mut().rev() {
        first = span.start.min(first);
        span.start = first;
    }
}

/// The ranges of `spans`, whose starts and ends ascend, in characters of `text`: each from the character that holds the
/// token's first byte to after the one that holds its last. Two tokens that share a character both have it in their range.
/// An empty token stands before the character at its place.
pub fn character_spans(text: &str, spans: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut start, mut end) = (Begun { bytes: text.as_bytes(), ..Begun::default() }, Begun::default());
    end.bytes = start.bytes;
    let range = |span: &Range<usize>| {
        // Mostly a token begins where the one before ended: then the text between is counted once.
        if end.at <= span.start {
            start = end;
        }
        let first = start.before(span.start) - usize::from(start.is_inside());
        let last = match span.is_empty() && !start.is_inside() {
            true => first,
            false => end.before(span.end),
        };
        first..last
    };
    spans.iter().map(range).collect()
}

/// A place in a text, and how many characters begin before it.
#[derive(Clone, Copy, Default)]
struct Begun<'a> {
    bytes: &'a [u8],
    at: usize,
    characters: usize,
}

impl Begun<'_> {
    /// Goes on to `at`, which is not before the place reached.
    fn before(&mut self, at: usize) -> usize {
        self.characters += self.bytes[self.at..at].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        self.at = at;
        self.characters
    }

    fn is_inside(&self) -> bool {
        self.bytes.get(self.at).is_some_and(|byte| byte & 0xC0 == 0x80)
    }
}

#[cfg(test)]
mod tests;
