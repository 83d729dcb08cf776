//! How many tokens each beginning of a piece has.
//!
//! Two facts about merging the lowest rank first make this local. They need no canonical vocabulary: merges on one side of
//! a boundary that none of them crosses go on as if the text ended there.
//!
//! - The beginning of an encoding, up to the end of any of its tokens, is the encoding of its text.
//! - Two encodings, one behind the other, are the encoding of the joined text if the last token of the first and the first
//!   token of the second, joined and encoded, come out as those two.
//!
//! So the encoding of a beginning is most of that of any longer text, and a few new tokens at its end (the second fact);
//! and a beginning of at most n tokens has shorter ones of fewer tokens, never farther apart than the longest token is long
//! (the first): where none of so many neighbouring beginnings has n tokens or fewer, no longer one has.
//!
//! The second fact is what `bpe` of GitHub's rust-gems builds its incremental encoder on, there for canonical vocabularies.

use super::spans::Symbols;
use super::{Encoder, Pieces};
use crate::error::Place;
use crate::{Error, Result};

/// The numbers of tokens of all beginnings of one text, taken as one piece. What they are made of is encoded as far as it
/// is needed.
pub(super) struct Prefixes<'a> {
    encoder: &'a Encoder,
    pieces: Pieces<'a>,
    text: &'a [u8],
    /// Where the text begins in its document.
    offset: usize,
    /// Where the tokens of the first `known` bytes end.
    ends: Vec<usize>,
    known: usize,
    /// What ends the text where it has a symbol without a token: no more of it can be encoded.
    unknown: Option<Error>,
    /// Memory that is used again: ids and ends of a stretch.
    ids: Vec<u32>,
    stretch: Vec<usize>,
    symbols: Symbols,
}

impl<'a> Prefixes<'a> {
    pub(super) fn new(encoder: &'a Encoder, text: &'a [u8], offset: usize, stop: &'a dyn Fn() -> bool) -> Self {
        Self {
            encoder,
            pieces: Pieces::new(encoder, stop),
            text,
            offset,
            ends: Vec::new(),
            known: 0,
            unknown: None,
            ids: Vec::new(),
            stretch: Vec::new(),
            symbols: Symbols::default(),
        }
    }

    /// The number of tokens of the first `end` bytes; between characters, where base symbols are characters.
    pub(super) fn count(&mut self, end: usize) -> Result<usize> {
        self.encodable(end)?;
        if end == 0 || self.encoder.vocabulary.whole_piece(&self.text[..end]).is_some() {
            return Ok(usize::from(end > 0));
        }
        self.know(end)?;
        let mut whole = self.ends.partition_point(|&e| e <= end);
        let mut step = 1;
        loop {
            let from = if whole == 0 { 0 } else { self.ends[whole - 1] };
            if from == end {
                return Ok(whole);
            }
            self.merge(from, end)?;
            let (rest, first) = (self.stretch.len(), self.stretch[0]);
            if whole == 0 {
                return Ok(rest);
            }
            let before = if whole == 1 { 0 } else { self.ends[whole - 2] };
            self.merge(before, first)?;
            if self.stretch == [from, first] {
                return Ok(whole + rest);
            }
            whole = whole.saturating_sub(step);
            step *= 2;
        }
    }

    /// The number of tokens of the whole text, if that is at most `most`.
    pub(super) fn at_most(&mut self, most: usize) -> Result<Option<usize>> {
        let longest = self.encoder.longest;
        self.know_some(self.window(most))?;
        loop {
            let after = if most == 0 { Some(0) } else { self.ends.get(most - 1).copied() };
            if let Some(after) = after.filter(|after| after.saturating_add(longest) <= self.known)
                && self.all_above(after + 1..after + longest + 1, most)?
            {
                return Ok(None);
            }
            if self.known == self.text.len() {
                self.unknown.clone().map_or(Ok(()), Err)?;
                return Ok(Some(self.count(self.known)?).filter(|&count| count <= most));
            }
            self.know_some(2 * self.known + 64)?;
        }
    }

    /// Whether the first `end` bytes have more than `most` tokens for every `end` in the range: then, if it is as long as the
    /// longest token, so has every longer beginning.
    pub(super) fn all_above(&mut self, ends: std::ops::Range<usize>, most: usize) -> Result<bool> {
        for end in ends {
            if self.encoder.begins_symbol(self.text, end) && self.count(end)? <= most {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// About where the first `count` tokens end.
    pub(super) fn about(&mut self, count: usize) -> Result<usize> {
        self.know_some(self.window(count))?;
        while self.ends.len() < count && self.known < self.text.len() {
            self.know_some(2 * self.known + 64)?;
        }
        Ok(match count {
            0 => 0,
            _ => self.ends.get(count - 1).copied().unwrap_or(self.known),
        })
    }

    /// The bytes that mostly tell whether so many tokens are enough.
    fn window(&self, tokens: usize) -> usize {
        self.text.len().min(tokens.saturating_mul(4).saturating_add(self.encoder.longest.saturating_mul(2)))
    }

    /// The error of the first symbol without a token, if it is among the first `end` bytes.
    fn encodable(&self, end: usize) -> Result<()> {
        match &self.unknown {
            Some(error) if end > self.text.len() => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Encodes at least the first `end` bytes, or all that can be encoded.
    fn know_some(&mut self, end: usize) -> Result<()> {
        match self.know(end.min(self.text.len())) {
            Err(_) if self.unknown.is_some() => self.know(self.text.len()),
            result => result,
        }
    }

    /// Encodes at least the first `end` bytes, which end between symbols or are soon to.
    fn know(&mut self, end: usize) -> Result<()> {
        self.encodable(end)?;
        if end <= self.known {
            return Ok(());
        }
        let mut more = self.text.len().min(end.max(2 * self.known));
        while !self.encoder.begins_symbol(self.text, more) {
            more += 1;
        }
        match self.merge(0, more) {
            // It may stand behind what was asked for.
            Err(
                error @ (Error::UnknownCharacter { place: Place::Byte(at), .. }
                | Error::UnknownByte { place: Place::Byte(at), .. }),
            ) => {
                self.text = &self.text[..at - self.offset];
                self.unknown = Some(error);
                self.know(end)
            }
            result => {
                result?;
                std::mem::swap(&mut self.ends, &mut self.stretch);
                self.known = more;
                Ok(())
            }
        }
    }

    /// Merges the bytes `from..to`, without looking them up as a whole; where the tokens end is then in `stretch`.
    fn merge(&mut self, from: usize, to: usize) -> Result<()> {
        self.ids.clear();
        self.stretch.clear();
        let (piece, stretch) = (&self.text[from..to], &mut self.stretch);
        self.pieces.look(piece.len())?;
        self.pieces.append_merged(piece, self.offset + from, &mut self.ids, &mut self.symbols, &mut |range| {
            stretch.push(from + range.end)
        })
    }
}

impl Encoder {
    /// Whether a base symbol may begin, or the text end, at byte `at`: everywhere, or between characters.
    pub(super) fn begins_symbol(&self, text: &[u8], at: usize) -> bool {
        self.vocabulary.is_of_bytes() || is_between_characters(text, at)
    }
}

/// The first place at or after byte `at` that is not inside a well-formed character.
pub(super) fn next_between_characters(text: &[u8], mut at: usize) -> usize {
    while !is_between_characters(text, at) {
        at += 1;
    }
    at
}

/// Whether byte `at` is not inside a well-formed character.
pub(super) fn is_between_characters(text: &[u8], at: usize) -> bool {
    if text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80) {
        return true;
    }
    let first = (1..=at.min(3)).map(|back| at - back).find(|&i| text[i] & 0xC0 != 0x80);
    first.is_none_or(|first| {
        let length = match text[first] {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => return true,
        };
        first + length <= at || text.get(first..first + length).is_none_or(|c| std::str::from_utf8(c).is_err())
    })
}
