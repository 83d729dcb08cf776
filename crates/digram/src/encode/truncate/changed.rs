//! The search where the vocabulary changes the text: nothing is known but what comes of each beginning.
//!
//! What comes of a beginning is mostly a beginning of what comes of the whole: the same pieces, the last one shorter. So the
//! pieces of the whole are counted once, and of each beginning only the last ones, by [`Prefixes`] where they begin like
//! those of the whole.

use super::super::prefix::{Prefixes, is_between_characters, next_between_characters};
use super::super::{Encoder, Options, Part};
use super::Counter;
use crate::split::NEAR;
use crate::{Error, Result};

/// Texts up to this many bytes longer than the longest known to fit are tried, however long a token is.
const FARTHEST: usize = 1 << 12;

/// A part of what came of the text, and the tokens before it.
struct Known {
    /// The bytes of a piece; none of an added token.
    piece: Option<Vec<u8>>,
    before: usize,
}

/// What came of the first bytes of a text, as far as it has few enough tokens.
struct Whole {
    parts: Vec<Known>,
    /// Where, about, there are too many tokens; nowhere, if all of it fits.
    over: Option<usize>,
}

pub(super) struct Search<'a> {
    pub(super) encoder: &'a Encoder,
    pub(super) limit: usize,
    pub(super) options: Options<'a>,
    pub(super) whole: bool,
    pub(super) stop: &'a dyn Fn() -> bool,
}

impl Search<'_> {
    /// Where the longest beginning ends, as far as the search goes.
    pub(super) fn longest(&self, document: &[u8]) -> Result<usize> {
        let reach = self.encoder.longest.min(FARTHEST) + NEAR;
        let mut size = self.limit.saturating_mul(16).saturating_add(4 * reach);
        loop {
            let end = next_between_characters(document, document.len().min(size));
            size = size.saturating_mul(2);
            let text = &document[..end];
            let Whole { parts, over } = self.parts(text)?;
            let Some(start) = over else {
                match end == document.len() {
                    true => return Ok(end),
                    false => continue,
                }
            };
            let pieces: Vec<&[u8]> = parts.iter().map(|known| known.piece.as_deref().unwrap_or(&[])).collect();
            let counts = pieces.iter().map(|piece| Prefixes::new(self.encoder, piece, 0, self.stop)).collect();
            let mut trial = Trial { search: self, text, parts: &parts, counts };
            let mut best = self.near(text, start, reach, &mut trial)?;
            let mut at = best + 1;
            while at <= end && at - best <= reach {
                if self.encoder.may_end(text, 0, at, self.whole, self.options) && trial.fits(at)? {
                    best = at;
                }
                at += 1;
            }
            if at <= end || end == document.len() {
                return Ok(best);
            }
        }
    }

    /// The end of a beginning that fits, while none does that is about `reach` longer; looked for from byte `start` on in
    /// steps that double and halve, since a text whose marks change places tells little of where its tokens end.
    fn near(&self, text: &[u8], start: usize, reach: usize, trial: &mut Trial) -> Result<usize> {
        let mut fits = |at: usize| {
            Ok::<bool, Error>(
                at == 0 || (self.encoder.may_end(text, 0, at, self.whole, self.options) && trial.fits(at)?),
            )
        };
        let before = |mut at: usize| {
            while !is_between_characters(text, at) {
                at -= 1;
            }
            at
        };
        let (mut best, mut step) = (before(start), reach);
        while !fits(best)? {
            best = before(start.saturating_sub(step));
            step *= 2;
        }
        while step >= reach {
            let next = before(text.len().min(best + step));
            match next > best && fits(next)? {
                true => {
                    best = next;
                    step *= 2;
                }
                false => step /= 2,
            }
        }
        Ok(best)
    }

    /// What comes of `text`.
    fn parts(&self, text: &[u8]) -> Result<Whole> {
        let (mut parts, mut total, mut over) = (Vec::new(), 0, None);
        let result = self.encoder.for_each_part(text, self.options, true, self.stop, &mut |part| {
            let left = self.limit - total;
            let (piece, count, end) = match part {
                Part::Token(_, range) => (None, Some(1).filter(|_| left > 0), range.start),
                Part::Piece(piece, origin) => {
                    let mut counts = Prefixes::new(self.encoder, piece, origin.base, self.stop);
                    let (count, about) = match self.encoder.vocabulary.unknown_waits() {
                        true => (Counter::new(self.encoder, self.stop).at_most(piece, origin.base, left, false)?, 0),
                        false => (counts.at_most(left)?, counts.about(left)?),
                    };
                    (Some(piece.to_vec()), count, origin.range(0..about).end)
                }
            };
            parts.push(Known { piece, before: total });
            match count {
                Some(count) => {
                    total += count;
                    Ok(())
                }
                None => {
                    over = Some(end);
                    Err(Error::Interrupted)
                }
            }
        });
        match over {
            Some(_) => Ok(Whole { parts, over }),
            None => result.map(|()| Whole { parts, over }),
        }
    }
}

/// Tries beginnings of a text of which some parts are known.
struct Trial<'a> {
    search: &'a Search<'a>,
    text: &'a [u8],
    parts: &'a [Known],
    counts: Vec<Prefixes<'a>>,
}

impl Trial<'_> {
    /// Whether the text up to byte `at` has few enough tokens.
    fn fits(&mut self, at: usize) -> Result<bool> {
        let Search { encoder, limit, options, stop, .. } = *self.search;
        let local = !encoder.vocabulary.unknown_waits();
        let mut counter = Counter::new(encoder, stop);
        let (parts, counts) = (self.parts, &mut self.counts);
        let (mut total, mut i, mut over) = (0, 0, false);
        let result = encoder.for_each_part(&self.text[..at], options, false, stop, &mut |part| {
            let known = parts.get(i);
            let next = parts.get(i + 1).map(|next| next.before);
            total = match (&part, known, next) {
                (Part::Token(..), ..) => total + 1,
                (Part::Piece(piece, _), Some(Known { piece: Some(same), before }), Some(next)) if same == piece => {
                    total + (next - before)
                }
                (Part::Piece(piece, _), Some(Known { piece: Some(longer), .. }), _)
                    if local && longer.starts_with(piece) =>
                {
                    total + counts[i].count(piece.len())?
                }
                (Part::Piece(piece, origin), ..) => total + counter.count(piece, origin.base)?,
            };
            i += 1;
            over = total > limit;
            if over { Err(Error::Interrupted) } else { Ok(()) }
        });
        match over {
            true => Ok(false),
            // What cannot be encoded does not fit: the text before it may.
            false => match result {
                Err(Error::UnknownCharacter { .. } | Error::UnknownByte { .. }) => Ok(false),
                result => result.map(|()| true),
            },
        }
    }
}
