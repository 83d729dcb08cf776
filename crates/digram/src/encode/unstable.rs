//! What the drop-in for tiktoken asks beyond `encode`: the ids of the last piece, and of bytes that no pattern splits.

use super::{Encoder, Options, Part, Pieces};
use crate::Result;
use crate::merge::{Scratch, merge_symbols};

impl Encoder {
    /// The ids of `document`, and how many of them the last piece gave: 0 after a special token, and for no text.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_and_last(
        &self,
        document: &[u8],
        options: Options,
        stop: &dyn Fn() -> bool,
    ) -> Result<(Vec<u32>, usize)> {
        let mut pieces = Pieces::new(self, stop);
        let (mut ids, mut last) = (Vec::new(), 0);
        self.for_each_part(document, options, false, stop, &mut |part| {
            match part {
                Part::Token(id, _) => {
                    ids.push(id);
                    last = 0;
                }
                Part::Piece(piece, origin) => {
                    let from = ids.len();
                    pieces.append(piece, origin.base, &mut ids)?;
                    last = ids.len() - from;
                }
            }
            Ok(())
        })?;
        Ok((ids, last))
    }

    /// The ids of bytes as one piece, which no pattern splits; `whole` says whether the piece is looked up first, as
    /// `encode` does. The two differ only under a vocabulary that is not canonical.
    ///
    /// # Errors
    /// `UnknownByte`, `UnknownCharacter`, with the place in `piece`.
    pub fn encode_piece(&self, piece: &[u8], whole: bool) -> Result<Vec<u32>> {
        if whole && let Some(id) = self.vocabulary.whole_piece(piece) {
            return Ok(vec![id]);
        }
        let mut ids = Vec::new();
        self.vocabulary.append_symbols(piece, 0, &mut ids)?;
        merge_symbols(&self.vocabulary, &mut ids, 0, &mut Scratch::default());
        Ok(ids)
    }
}
