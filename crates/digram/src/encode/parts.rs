//! What a document is made of before anything is merged: for explanations of how its ids come about.

use super::{Encoder, Options, Part, Pieces};
use crate::Result;
use std::ops::Range;

/// A stretch of a document that is encoded by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentPart {
    /// The bytes of the document that it stands for; none for the ids that a template puts around a text.
    pub span: Range<usize>,
    /// What is merged, in the bytes of the vocabulary's alphabet, which a normalizer may have changed; nothing where an
    /// added token was cut out of the text.
    pub piece: Option<Vec<u8>>,
    /// The base symbols of the piece.
    pub symbols: Vec<u32>,
    /// The symbols that stand in for text without a token: the place among `symbols`, and the bytes of the piece.
    pub stand_ins: Vec<(usize, Range<usize>)>,
    /// The ids, as [`Encoder::encode`] gives them.
    pub ids: Vec<u32>,
}

/// Symbols; and of those that stand in for text without a token, the place among them, and the bytes of the piece.
type Symbols = (Vec<u32>, Vec<(usize, Range<usize>)>);

impl Encoder {
    /// The base symbols of bytes as one piece, and those of them that stand in for text without a token.
    ///
    /// # Errors
    /// `UnknownByte`, `UnknownCharacter`, with the place in `piece`.
    pub fn symbols(&self, piece: &[u8]) -> Result<Symbols> {
        let (mut symbols, mut stand_ins) = (Vec::new(), Vec::new());
        self.vocabulary.append_symbols_and_stand_ins(piece, 0, &mut symbols, &mut stand_ins)?;
        Ok((symbols, stand_ins))
    }

    /// The parts of `document`, in order: pieces, added tokens, and what the template puts around. Their ids, one after
    /// the other, are those that [`Self::encode`] gives.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn parts(&self, document: &[u8], options: Options, stop: &dyn Fn() -> bool) -> Result<Vec<DocumentPart>> {
        let mut pieces = Pieces::new(self, stop);
        let token = |id, span| DocumentPart { span, ids: vec![id], ..DocumentPart::default() };
        let (before, after) = match options.template {
            true => (&*self.around.template.0, &*self.around.template.1),
            false => (&[][..], &[][..]),
        };
        let mut parts: Vec<_> = before.iter().map(|&id| token(id, 0..0)).collect();
        self.for_each_part(document, options, true, stop, &mut |part| {
            parts.push(match part {
                Part::Token(id, span) => token(id, span),
                Part::Piece(piece, origin) => {
                    let span = origin.range(0..piece.len());
                    let mut part = DocumentPart { span, piece: Some(piece.to_vec()), ..DocumentPart::default() };
                    let (symbols, stand_ins) = (&mut part.symbols, &mut part.stand_ins);
                    pieces.append(piece, origin.base, &mut part.ids)?;
                    // A piece that is taken whole may hold what no symbol stands for; then nothing could be merged.
                    if self.vocabulary.append_symbols_and_stand_ins(piece, origin.base, symbols, stand_ins).is_err() {
                        symbols.clear();
                        stand_ins.clear();
                    }
                    part
                }
            });
            Ok(())
        })?;
        parts.extend(after.iter().map(|&id| token(id, document.len()..document.len())));
        Ok(parts)
    }
}
