//! Documents -> ids with merges dropped at random: see [`crate::merge::dropout`].
//!
//! Nothing is kept from piece to piece: a word that comes again is cut anew. A piece that is a token is not taken whole, or
//! it would never be cut otherwise.

use super::batch::Batch;
use super::{BETWEEN_STOPS, Encoder, Options, Part};
use crate::merge::dropout::{Dropout, Numbers, Scratch, merge_dropped};
use crate::text::Text;
use crate::{Error, Result};
use std::ops::Range;

impl Encoder {
    /// Appends the ids of `document`, each merge dropped with the probability of `dropout`; where that is 0, those of
    /// [`Self::encode`]. The document's place among others and a seed say which random numbers are drawn.
    ///
    /// # Errors
    /// As [`Self::encode`]; `Argument` for an ordered token list with repeated strings, whose entries are no merges.
    pub fn encode_dropped(
        &self,
        document: &[u8],
        options: Options,
        dropout: &Dropout,
        (seed, index): (u64, u64),
        out: &mut Vec<u32>,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        if dropout.is_none() {
            return self.encode(document, options, out, stop);
        }
        if self.vocabulary.has_passes() {
            return Err(Error::Argument(
                "dropout needs merges, and an ordered token list with a repeated string has none".to_owned(),
            ));
        }
        let mut numbers = Numbers::of_document(seed, index);
        let (mut scratch, mut unasked) = (Scratch::default(), 0);
        let (before, after) = &self.around.template;
        if options.template {
            out.extend_from_slice(before);
        }
        self.for_each_part(document, options, false, stop, &mut |part| {
            match part {
                Part::Token(id, _) => out.push(id),
                Part::Piece(piece, origin) => {
                    unasked += piece.len();
                    if unasked > BETWEEN_STOPS {
                        unasked = 0;
                        if stop() {
                            return Err(Error::Interrupted);
                        }
                    }
                    let from = out.len();
                    self.vocabulary.append_symbols(piece, origin.base, out)?;
                    merge_dropped(&self.vocabulary, out, from, dropout, &mut numbers, &mut scratch, stop)?;
                }
            }
            Ok(())
        })?;
        if options.template {
            out.extend_from_slice(after);
        }
        Ok(())
    }

    /// The ids of each document, as [`Self::encode_dropped`] gives them for the places from `first` on: run by run, as in
    /// [`Self::encode_batch`].
    ///
    /// # Errors
    /// As [`Self::encode_dropped`], inside `InDocument`.
    #[expect(clippy::too_many_arguments, reason = "those of encode_batch, and what is dropped")]
    pub fn encode_batch_dropped(
        &self,
        documents: &[Text],
        options: Options,
        dropout: &Dropout,
        (seed, first): (u64, u64),
        threads: usize,
        stop: &dyn Fn() -> bool,
        take: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let work = |run: Range<usize>, stop: &dyn Fn() -> bool| {
            let (mut part, mut room) = (Batch::default(), Vec::new());
            for (at, document) in run.clone().zip(&documents[run]) {
                let (document, place) = (document.utf8(&mut room), (seed, first.wrapping_add(at as u64)));
                self.encode_dropped(document.bytes(), options, dropout, place, &mut part.ids, stop)
                    .map_err(|error| (part.ends.len(), error))?;
                part.ends.push(part.ids.len());
            }
            Ok(part)
        };
        self.for_each_run(documents, threads, stop, work, take)
    }
}

#[cfg(test)]
mod tests;
