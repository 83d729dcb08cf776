//! The search where tokens are made of the text as it is.

use super::super::prefix::{Prefixes, is_between_characters};
use super::super::{Encoder, Options, Part};
use super::Counter;
use crate::split::NEAR;
use crate::{Error, Result};
use hashbrown::HashMap;
use std::ops::Range;

/// Stretches up to this many bytes are searched by trying all their beginnings.
const SHORT: usize = 64;

/// More tokens than any limit.
const ENDLESS: usize = usize::MAX;

/// A part of the text: where it begins and ends, how many tokens come before it, and whether it is a piece.
#[derive(Clone, Copy)]
struct Counted {
    start: usize,
    end: usize,
    before: usize,
    piece: bool,
}

/// Where the longest beginning ends.
#[derive(Default)]
struct Stretch {
    /// From here; so far there are `before` tokens, fewer than the limit.
    from: usize,
    before: usize,
    /// Up to here.
    to: usize,
    /// The parts from there on, as far as they are not too many tokens.
    parts: Vec<Counted>,
    /// The number of tokens of all of them.
    total: usize,
    /// Whether the text up to there has at most the limit, and no longer one has.
    fits: bool,
}

/// One search, in a text whose tokens are made of it as it is.
pub(super) struct Search<'a> {
    encoder: &'a Encoder,
    document: &'a [u8],
    limit: usize,
    options: Options<'a>,
    whole: bool,
    stop: &'a dyn Fn() -> bool,
    /// Of long pieces, by where they begin.
    counters: HashMap<usize, Prefixes<'a>>,
}

impl<'a> Search<'a> {
    /// For the longest beginning of `document` that has at most `limit` tokens, which are not none.
    pub(super) fn new(
        encoder: &'a Encoder,
        document: &'a [u8],
        limit: usize,
        options: Options<'a>,
        whole: bool,
        stop: &'a dyn Fn() -> bool,
    ) -> Self {
        Self { encoder, document, limit, options, whole, stop, counters: HashMap::new() }
    }

    /// Where it ends.
    pub(super) fn longest(&mut self) -> Result<usize> {
        let stretch = self.stretch()?;
        match stretch.to - stretch.from {
            _ if stretch.fits => Ok(stretch.to),
            0..=SHORT => self.downwards(&stretch, stretch.to),
            _ => self.long(&stretch),
        }
    }

    /// Steps 1 and 2: the stretch in which the longest beginning ends.
    fn stretch(&self) -> Result<Stretch> {
        let (encoder, limit) = (self.encoder, self.limit);
        let splitter = &encoder.splitter;
        let has_cuts = splitter.has_cuts();
        let is_cut = |at| at > 0 && splitter.last_cut(self.document, at, at, |_, _| true).is_some();
        let mut counter = Counter::new(encoder, self.stop);
        let mut stretch = Stretch { to: self.document.len(), fits: true, ..Stretch::default() };
        let mut ended = false;
        let mut end_at = |stretch: &mut Stretch, at| {
            stretch.to = at;
            ended = true;
            Err(Error::Interrupted)
        };
        let result = encoder.for_each_part(self.document, self.options, false, self.stop, &mut |part| {
            let (Range { start, end }, piece) = match &part {
                Part::Token(_, range) => (range.clone(), None),
                Part::Piece(piece, origin) => (origin.base..origin.base + piece.len(), Some(*piece)),
            };
            // With as many as the limit before the cut, it is the end; otherwise the end is before it.
            if (stretch.total >= limit || !stretch.fits) && is_cut(start) {
                return end_at(&mut stretch, start);
            }
            if stretch.fits && is_cut(start) {
                (stretch.from, stretch.before) = (start, stretch.total);
                stretch.parts.clear();
            }
            if !stretch.fits {
                return if piece.is_none() { end_at(&mut stretch, end) } else { Ok(()) };
            }
            let most = limit - stretch.total;
            let count = match piece {
                None => Some(1).filter(|_| most > 0),
                Some(_) if most == 0 => None,
                Some(piece) => counter.at_most(piece, start, most, true)?,
            };
            stretch.parts.push(Counted { start, end, before: stretch.total, piece: piece.is_some() });
            let Some(count) = count else {
                stretch.fits = false;
                return match piece {
                    None => end_at(&mut stretch, end),
                    Some(_) if has_cuts => Ok(()),
                    Some(_) => end_at(&mut stretch, self.document.len()),
                };
            };
            stretch.total += count;
            if piece.is_none() && stretch.total < limit {
                (stretch.from, stretch.before) = (end, stretch.total);
                stretch.parts.clear();
            }
            Ok(())
        });
        match result {
            Err(_) if ended => Ok(stretch),
            result => result.map(|()| stretch),
        }
    }

    /// Step 4: the longest beginning that ends at or before byte `at`.
    fn downwards(&mut self, stretch: &Stretch, at: usize) -> Result<usize> {
        let mut parts = Vec::new();
        for at in (stretch.from + 1..=at).rev() {
            if self.may_end(stretch, at) && self.count(stretch, at, &mut parts)? <= self.limit {
                return Ok(at);
            }
        }
        Ok(stretch.from)
    }

    /// Steps 3 and 4.
    fn long(&mut self, stretch: &Stretch) -> Result<usize> {
        let mut start = stretch.to;
        if let Some(last) = stretch.parts.last().filter(|_| !stretch.fits) {
            start = last.start;
            let left = self.limit - last.before;
            if last.piece && last.end - last.start > SHORT {
                start += self.prefixes(last.start).about(left)?;
            }
        }
        let start = start.clamp(stretch.from, stretch.to);
        let (mut best, mut parts, mut endless) = (None, Vec::new(), None);
        for at in (start..=stretch.to).filter(|&at| is_between_characters(self.document, at)) {
            match self.count(stretch, at, &mut parts)? {
                // It may be one of half a marker: then the whole of it ends soon.
                ENDLESS if at - *endless.get_or_insert(at) > self.longest_marker() => break,
                ENDLESS => {}
                count if count > self.limit && self.is_over(&parts, at)? => break,
                count if count > self.limit => {}
                _ if self.may_end(stretch, at) => best = Some(at),
                _ => {}
            }
        }
        match best {
            Some(best) => Ok(best),
            None => self.downwards(stretch, start),
        }
    }

    fn longest_marker(&self) -> usize {
        self.options.allowed.unwrap_or(&self.encoder.always).before.longest()
    }

    fn may_end(&self, stretch: &Stretch, at: usize) -> bool {
        self.encoder.may_end(self.document, stretch.from, at, self.whole, self.options)
    }

    /// The number of tokens of the text up to byte `at`, and its parts from `stretch.from` on; `ENDLESS` where a character of
    /// it has no token. (That is an error only where it stands before the limit.)
    fn count(&mut self, stretch: &Stretch, at: usize, parts: &mut Vec<Counted>) -> Result<usize> {
        parts.clear();
        let (from, encoder) = (stretch.from, self.encoder);
        let text = &self.document[from..at];
        let options = self.options;
        encoder.for_each_part(text, options, false, self.stop, &mut |part| {
            let (range, piece) = match part {
                Part::Token(_, range) => (range, false),
                Part::Piece(piece, origin) => (origin.base..origin.base + piece.len(), true),
            };
            parts.push(Counted { start: from + range.start, end: from + range.end, before: 0, piece });
            Ok(())
        })?;
        let mut total = stretch.before;
        let mut counter = Counter::new(encoder, self.stop);
        for (i, part) in parts.iter_mut().enumerate() {
            part.before = total;
            let known = stretch.parts.get(i).filter(|known| known.start == part.start && known.end == part.end);
            let next = stretch.parts.get(i + 1).map(|next| next.before);
            total = match known.and(next) {
                Some(total) => total,
                None if !part.piece => total + 1,
                None => {
                    let (start, end) = (part.start, part.end);
                    let count = match end - start > SHORT {
                        true => self.prefixes(start).count(end - start),
                        false => counter.count(&self.document[start..end], start),
                    };
                    match count {
                        Err(Error::UnknownCharacter { .. } | Error::UnknownByte { .. }) => return Ok(ENDLESS),
                        count => total + count?,
                    }
                }
            };
        }
        Ok(total)
    }

    /// Whether no longer text can fit, `at` being the end of one that does not.
    fn is_over(&mut self, parts: &[Counted], at: usize) -> Result<bool> {
        let limit = self.limit;
        // What stands before a marker stays as it is.
        let marker = parts.iter().rposition(|part| !part.piece);
        if marker.is_some_and(|marker| at - parts[marker].start < self.longest_marker()) {
            return Ok(false); // it may be the beginning of a longer one
        }
        let open = marker.map_or(0, |marker| marker + 1);
        for part in parts[open..].iter().filter(|part| part.before < limit) {
            if part.end < at && !self.encoder.splitter.may_change(self.document, part.end, at) {
                continue;
            }
            if !self.is_over_from(part.start, part.before, at)? {
                return Ok(false);
            }
            let line_break = line_break_in_space(&self.document[part.start..at]).map(|length| part.start + length);
            if let Some(end) = line_break.filter(|&end| end + self.reach() < at) {
                let before = part.before + self.prefixes(part.start).count(end - part.start)?;
                if before < limit && !self.is_over_from(end, before, at)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether a piece that begins at `start`, behind so many tokens, is too many if it ends at `at`, near it, or later.
    fn is_over_from(&mut self, start: usize, before: usize, at: usize) -> Result<bool> {
        let (reach, most) = (self.reach(), self.limit - before);
        let length = at - start;
        Ok(length > reach && self.prefixes(start).all_above(length - reach..length + 1, most)?)
    }

    /// So many neighbouring beginnings of a piece tell of all longer ones.
    fn reach(&self) -> usize {
        self.encoder.longest.saturating_add(NEAR)
    }

    fn prefixes(&mut self, start: usize) -> &mut Prefixes<'a> {
        let (encoder, text, stop) = (self.encoder, &self.document[start..], self.stop);
        self.counters.entry(start).or_insert_with(|| Prefixes::new(encoder, text, start, stop))
    }
}

/// Of white space that holds a line break: the length up to the end of the last one.
fn line_break_in_space(text: &[u8]) -> Option<usize> {
    let last = text.iter().rposition(|byte| matches!(byte, b'\r' | b'\n'))?;
    let text = std::str::from_utf8(text).ok()?;
    text.chars().all(char::is_whitespace).then_some(last + 1)
}
