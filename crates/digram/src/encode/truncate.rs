//! The longest beginning of a text that has at most so many tokens, and whether the whole has.
//!
//! The number of tokens does not grow with the text: a character more may join what was several tokens. So the longest
//! beginning is looked for, in four steps.
//!
//! 1. Pieces are counted until there are too many. The last safe cut (see `split::cuts`) or end of an added token with
//!    fewer than the limit goes into the answer: every longer text has those tokens, and at least one more.
//! 2. No longer text fits behind the next safe cut with as many as the limit. Mostly a word is between the two, whose
//!    beginnings are tried, the longest first.
//! 3. Where there is more between, or no cut is known, trying begins about where the limit is reached, and goes on
//!    character by character until no longer text can fit: what each piece's beginnings say by [`Prefixes`], and
//!    how far a piece may yet grow by [`Splitter::may_change`](crate::split::Splitter::may_change).
//! 4. Failing that, shorter texts are tried, down to the cut.
//!
//! For the patterns with known cuts, and where there is no pattern, the answer is exact. For others `may_change` is a
//! guess; and where the vocabulary changes the text, nothing is known but counts: there the search ends when no text fits
//! that is up to a longest token longer.

mod changed;
mod search;

use super::added::Matcher;
use super::prefix::{Prefixes, is_between_characters, next_between_characters};
use super::{Allowed, Encoder, Options, Part, Pieces};
use crate::{Error, Result};
use search::Search;

/// Pieces up to this many bytes are counted whole.
const SMALL: usize = 256;

impl Encoder {
    /// Whether `document` has at most `limit` ids; counting stops when that is known.
    ///
    /// # Errors
    /// As [`Self::encode`], for what was looked at.
    pub fn fits(&self, document: &[u8], limit: usize, options: Options, stop: &dyn Fn() -> bool) -> Result<bool> {
        options.refuse(document)?;
        let Some(limit) = limit.checked_sub(self.template_length(options)) else {
            return Ok(false);
        };
        let allowed = options.allowed.unwrap_or(&self.always);
        let local = self.is_local(allowed, document);
        if local && document.len() / self.most_bytes(allowed) > limit {
            return Ok(false);
        }
        let (mut left, mut over) = (limit, false);
        let mut counter = Counter::new(self, stop);
        let result = self.for_each_part(document, of_text(options), false, stop, &mut |part| {
            let count = match part {
                Part::Token(..) => Some(1),
                Part::Piece(piece, origin) => counter.at_most(piece, origin.base, left, local)?,
            };
            match count.and_then(|count| left.checked_sub(count)) {
                Some(rest) => {
                    left = rest;
                    Ok(())
                }
                None => {
                    over = true;
                    Err(Error::Interrupted)
                }
            }
        });
        match over {
            true => Ok(false),
            false => result.map(|()| true),
        }
    }

    /// The end of the longest beginning of `document`, cut between characters, that has at most `limit` ids (those of the
    /// template included).
    ///
    /// # Errors
    /// As [`Self::encode`], for what was looked at; `Argument` where the template alone has more ids.
    pub fn truncate(&self, document: &[u8], limit: usize, options: Options, stop: &dyn Fn() -> bool) -> Result<usize> {
        options.refuse(document)?;
        self.longest_beginning(document, limit, options, false, stop)
    }

    /// As [`Self::truncate`], without looking for refused markers; `whole` says that no allowed marker is cut in two.
    pub(super) fn longest_beginning(
        &self,
        document: &[u8],
        limit: usize,
        options: Options,
        whole: bool,
        stop: &dyn Fn() -> bool,
    ) -> Result<usize> {
        let around = self.template_length(options);
        let Some(limit) = limit.checked_sub(around) else {
            return Err(Error::Argument(format!(
                "no text has at most {limit} tokens: what the vocabulary puts around every text has {around}"
            )));
        };
        let options = of_text(options);
        let allowed = options.allowed.unwrap_or(&self.always);
        // Where tokens are made of the text as it is, no longer one has so few.
        let most = self.most_bytes(allowed).saturating_mul(limit + 1);
        let end = next_between_characters(document, document.len().min(most));
        match self.is_local(allowed, &document[..end]) {
            true if limit == 0 => Ok(0),
            true => Search::new(self, &document[..end], limit, options, whole, stop).longest(),
            false => changed::Search { encoder: self, limit, options, whole, stop }.longest(document),
        }
    }

    /// Whether tokens are made of the text as it is, and never of more bytes than `most_bytes`.
    fn is_local(&self, allowed: &Allowed, document: &[u8]) -> bool {
        self.keeps_normal_text(allowed)
            && !self.splitter.removes_text()
            && !self.vocabulary.unknown_waits()
            && self.around.normalizer.keeps(document)
    }

    /// The most bytes that one id stands for.
    fn most_bytes(&self, allowed: &Allowed) -> usize {
        self.longest.max(allowed.before.longest())
    }

    /// Whether a beginning may end at byte `at`: between characters, and, if markers are to stay `whole`, in none that is
    /// allowed. Of the text from byte `from` on, which is in no marker either.
    fn may_end(&self, text: &[u8], from: usize, at: usize, whole: bool, options: Options) -> bool {
        let allowed = options.allowed.unwrap_or(&self.always);
        let inside = |markers: &Matcher| {
            // No marker that has it inside ends farther on.
            let text = &text[..text.len().min(at.saturating_add(markers.longest()))];
            let mut from = from;
            while let Some((found, _)) = markers.find(text, from).filter(|found| found.0.start < at) {
                if at < found.end {
                    return true;
                }
                from = found.end;
            }
            false
        };
        is_between_characters(text, at) && !(whole && (inside(&allowed.before) || inside(&allowed.after)))
    }
}

/// Options for a text that was looked through for refused markers, and its template counted.
fn of_text(options: Options) -> Options {
    Options { allowed: options.allowed, ..Options::default() }
}

/// Counts pieces.
struct Counter<'a> {
    encoder: &'a Encoder,
    pieces: Pieces<'a>,
    ids: Vec<u32>,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Counter<'a> {
    fn new(encoder: &'a Encoder, stop: &'a dyn Fn() -> bool) -> Self {
        Self { encoder, pieces: Pieces::new(encoder, stop), ids: Vec::new(), stop }
    }

    fn count(&mut self, piece: &[u8], offset: usize) -> Result<usize> {
        self.ids.clear();
        self.pieces.append(piece, offset, &mut self.ids)?;
        Ok(self.ids.len())
    }

    /// The number of tokens of a piece; `None` where that is more than `most`. Of a long piece no more is encoded than it
    /// takes to know, if `local`.
    fn at_most(&mut self, piece: &[u8], offset: usize, most: usize, local: bool) -> Result<Option<usize>> {
        match local && piece.len() > SMALL {
            true => Prefixes::new(self.encoder, piece, offset, self.stop).at_most(most),
            false => Ok(Some(self.count(piece, offset)?).filter(|&count| count <= most)),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
