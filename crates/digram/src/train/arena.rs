//! The symbol array: all pieces end to end, at four bytes a base symbol, in which tokens grow in place.
//!
//! Every base symbol has a cell; a boundary cell stands before, between and after the pieces. A token covers the cells
//! of its base symbols: its first cell holds its id, its last one (where that is another cell) the id with the top bit
//! set, and every cell between has the top bit set too. A table holds the length of each token. So
//!
//! - the token after the one at `p` starts at `p` + its length;
//! - the token before `p` is named by cell `p - 1`, with or without the top bit, and starts its length before `p`;
//! - a cell without the top bit is the start of a token or a boundary, so a remembered position that has since been
//!   swallowed by a longer token never looks like a start.
//!
//! Ids stay below 2^31 - 1, which is the boundary; positions are 32-bit.

use super::alphabet::characters;
use super::ticker::Ticker;
use super::{Alphabet, TrainOptions};
use crate::count::PieceCounts;
use crate::pages;
use crate::prefetch::prefetch;
use crate::{Error, Result};

/// Set in every cell of a token but its first.
const TAIL: u32 = 1 << 31;
/// The cell between pieces.
pub(super) const BOUNDARY: u32 = TAIL - 1;
/// The most cells that 32-bit positions address.
const CELL_LIMIT: u64 = u32::MAX as u64;

/// The pieces as cells, with the length of every token and the count of every piece.
pub(super) struct Arena {
    cells: Vec<u32>,
    /// Token id -> base symbols.
    lengths: Vec<u32>,
    weights: Weights,
}

/// How often the piece at a position was counted.
enum Weights {
    /// All pieces have this count.
    Uniform(u64),
    /// `first[b]` is the piece of the first cell of block b.
    Pieces { pieces: Vec<Piece>, first: Vec<u32> },
}

/// One piece: its count, and the boundary cell where it ends. Side by side, as who wants one has just read the other.
struct Piece {
    count: u64,
    end: u32,
}

/// log2 of the cells to an entry of `Weights::Pieces::first`: words are about this long, so a look-up takes a step or two.
const BLOCK_SHIFT: u32 = 4;

/// So many positions before a weight is read its memory is asked for, and twice as many before that is known to be where.
const AHEAD: usize = 8;

impl Arena {
    /// Lays out the pieces of two symbols or more (the others have no pair), and returns the characters of the alphabet
    /// too, sorted (none for bytes). A character outside the alphabet ends a piece, as it does when text is encoded.
    pub(super) fn new(
        counts: &PieceCounts,
        options: &TrainOptions,
        ticker: &mut Ticker<'_>,
    ) -> Result<(Self, Vec<char>)> {
        let (characters, symbols) = match options.alphabet {
            Alphabet::Bytes => (Vec::new(), counts.distinct_bytes() as u64),
            Alphabet::Characters => characters(&|each| each(counts), options, ticker)?,
        };
        let arena = Self::of(counts, options.alphabet, &characters, symbols, ticker)?;
        Ok((arena, characters))
    }

    /// The same with the characters of a character alphabet; the pieces have at most `symbols` symbols.
    pub(super) fn of(
        counts: &PieceCounts,
        alphabet: Alphabet,
        characters: &[char],
        symbols: u64,
        ticker: &mut Ticker<'_>,
    ) -> Result<Self> {
        let mut builder = Builder::new(symbols + counts.len() as u64 + 1, counts.len())?;
        if alphabet == Alphabet::Bytes {
            for (piece, count) in counts.iter() {
                for &byte in piece {
                    builder.cells.push(u32::from(byte));
                    ticker.work(1)?;
                }
                builder.end_piece(count);
            }
            return Ok(builder.finish(256));
        }
        let mut ids = vec![BOUNDARY; characters.last().map_or(0, |&last| last as usize + 1)];
        for (id, &character) in characters.iter().enumerate() {
            ids[character as usize] = id as u32;
        }
        for (piece, count) in counts.iter() {
            each_character(piece, |character| {
                match ids.get(character as usize) {
                    None | Some(&BOUNDARY) => builder.end_piece(count),
                    Some(&id) => builder.cells.push(id),
                }
                ticker.work(1)
            })?;
            builder.end_piece(count);
        }
        Ok(builder.finish(characters.len()))
    }

    /// The cells, which are base symbols and boundaries as long as nothing was merged.
    pub(super) fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The number of ids so far.
    pub(super) fn tokens(&self) -> usize {
        self.lengths.len()
    }

    /// The base symbols of token `id`.
    pub(super) fn length(&self, id: u32) -> u32 {
        self.lengths[id as usize]
    }

    /// Makes the id of a token of `length` base symbols.
    pub(super) fn add_token(&mut self, length: u32) -> Result<u32> {
        let id = self.lengths.len() as u32;
        if id >= BOUNDARY {
            return Err(Error::TooLarge { limit: u64::from(BOUNDARY) });
        }
        self.lengths.push(length);
        Ok(id)
    }

    /// The token that starts at `position`, or `BOUNDARY`. The position must be a start or a boundary.
    pub(super) fn at(&self, position: u32) -> u32 {
        self.cells[position as usize]
    }

    /// The token that ends before `position`, or `BOUNDARY`. The position must be a start.
    pub(super) fn before(&self, position: u32) -> u32 {
        self.cells[position as usize - 1] & !TAIL
    }

    /// Whether `left` starts at `position` and `right` follows it. The position may be any cell that once was the
    /// start of `left` followed by `right`.
    pub(super) fn holds(&self, position: u32, left: u32, left_length: u32, right: u32) -> bool {
        self.cells[position as usize] == left && self.cells[(position + left_length) as usize] == right
    }

    /// Replaces the two tokens at `position`, the first of `left_length` cells, by `id`, which covers `length` cells.
    pub(super) fn merge(&mut self, position: u32, left_length: u32, length: u32, id: u32) {
        self.cells[position as usize] = id;
        self.cells[(position + left_length) as usize] = TAIL;
        self.cells[(position + length - 1) as usize] = TAIL | id;
    }

    /// The count of the piece that `position` lies in.
    pub(super) fn weight(&self, position: u32) -> u64 {
        match &self.weights {
            Weights::Uniform(count) => *count,
            Weights::Pieces { pieces, first } => {
                let mut piece = first[(position >> BLOCK_SHIFT) as usize] as usize;
                while pieces[piece].end < position {
                    piece += 1;
                }
                pieces[piece].count
            }
        }
    }

    /// Asks for what will be read of the positions soon after `positions[i]`: their cells, and their weights.
    #[inline]
    pub(super) fn prefetch(&self, positions: &[u32], i: usize) {
        self.prefetch_cells(positions, i);
        if let Weights::Pieces { pieces, first } = &self.weights {
            let block = |position: u32| &first[(position >> BLOCK_SHIFT) as usize];
            if let Some(&far) = positions.get(i + 2 * AHEAD) {
                prefetch(block(far));
            }
            if let Some(&near) = positions.get(i + AHEAD) {
                prefetch(&pieces[*block(near) as usize]);
            }
        }
    }

    /// The same, of their cells alone.
    #[inline]
    pub(super) fn prefetch_cells(&self, positions: &[u32], i: usize) {
        if let Some(&far) = positions.get(i + 2 * AHEAD) {
            prefetch(&self.cells[far as usize]);
        }
    }

    /// The starts of all tokens that have a token after them, with their ids, in order.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let mut position = 0;
        std::iter::from_fn(move || {
            while position < self.cells.len() {
                let (start, left) = (position, self.cells[position]);
                position += if left == BOUNDARY { 1 } else { self.lengths[left as usize] as usize };
                // The last cell is a boundary, so a token always has a cell after it.
                if left != BOUNDARY && self.cells[position] != BOUNDARY {
                    return Some((start as u32, left, self.cells[position]));
                }
            }
            None
        })
    }

    /// The pieces: the first cell of each and the boundary after it.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (u32, u32)> {
        let boundaries = (0..self.cells.len() as u32).filter(|&cell| self.cells[cell as usize] == BOUNDARY);
        boundaries.scan(0, |start, end| Some((std::mem::replace(start, end + 1), end))).skip(1)
    }

    /// An upper bound of the sum of all pair counts.
    pub(super) fn total_count(&self) -> u128 {
        match &self.weights {
            Weights::Uniform(count) => self.cells.len() as u128 * u128::from(*count),
            Weights::Pieces { pieces, .. } => {
                let starts = std::iter::once(0).chain(pieces.iter().map(|piece| piece.end));
                let ends = pieces.iter().zip(starts);
                ends.map(|(piece, start)| u128::from(piece.end - start) * u128::from(piece.count)).sum()
            }
        }
    }
}

/// Collects cells piece by piece.
struct Builder {
    cells: Vec<u32>,
    pieces: Vec<Piece>,
}

impl Builder {
    fn new(cells: u64, pieces: usize) -> Result<Self> {
        if cells > CELL_LIMIT {
            return Err(Error::TooLarge { limit: CELL_LIMIT });
        }
        let (cells, pieces) = (pages::with_capacity(cells as usize), pages::with_capacity(pieces));
        let mut builder = Builder { cells, pieces };
        builder.cells.push(BOUNDARY);
        Ok(builder)
    }

    /// Ends the piece whose symbols were pushed. One without a pair is left out.
    fn end_piece(&mut self, count: u64) {
        let start = self.pieces.last().map_or(1, |piece| piece.end as usize + 1);
        if self.cells.len() - start < 2 {
            self.cells.truncate(start);
            return;
        }
        self.pieces.push(Piece { count, end: self.cells.len() as u32 });
        self.cells.push(BOUNDARY);
    }

    fn finish(self, alphabet: usize) -> Arena {
        let Builder { cells, pieces } = self;
        let weights = if pieces.iter().all(|piece| piece.count == pieces[0].count) {
            Weights::Uniform(pieces.first().map_or(1, |piece| piece.count))
        } else {
            let mut first = pages::with_capacity(cells.len().div_ceil(1 << BLOCK_SHIFT));
            let mut piece = 0;
            for start in (0..cells.len() as u32).step_by(1 << BLOCK_SHIFT) {
                // The last block may begin at the last boundary.
                while piece + 1 < pieces.len() && pieces[piece].end < start {
                    piece += 1;
                }
                first.push(piece as u32);
            }
            Weights::Pieces { pieces, first }
        };
        Arena { cells, lengths: vec![1; alphabet], weights }
    }
}

/// Bytes of a piece to look at before the first of their characters is handed out.
const WINDOW: usize = 1 << 16;

/// Calls `visit` with each character of a piece: a piece may be gigabytes long, and `visit` may want to stop.
fn each_character(piece: &[u8], mut visit: impl FnMut(char) -> Result<()>) -> Result<()> {
    let mut start = 0;
    while start < piece.len() {
        let window = &piece[start..piece.len().min(start + WINDOW)];
        let valid = match str::from_utf8(window) {
            Ok(_) => window.len(),
            // The window cuts its last character.
            Err(error) if error.error_len().is_none() && start + window.len() < piece.len() => error.valid_up_to(),
            Err(error) => {
                return Err(Error::NotText { offset: start + error.valid_up_to() });
            }
        };
        let text = str::from_utf8(&window[..valid]).expect("this part is valid");
        text.chars().try_for_each(&mut visit)?;
        start += valid;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Random, counts};
    use super::*;
    use std::ops::ControlFlow;

    fn arena(pieces: &[(&str, u64)]) -> Arena {
        let mut callback = |_| ControlFlow::Continue(());
        Arena::new(&counts(pieces), &TrainOptions::default(), &mut Ticker::new(&mut callback)).unwrap().0
    }

    /// Random merges in random places, against lists of (id, length).
    #[test]
    fn neighbours_and_weights_are_those_of_plain_lists() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let mut pieces = Vec::new();
            for i in 0..1 + random.below(6) as u64 {
                let text: String = (0..2 + random.below(40)).map(|_| *random.one_of(&['a', 'b', 'c'])).collect();
                pieces.push((text, 1 + i * random.below(2) as u64));
            }
            pieces.sort();
            pieces.dedup_by(|a, b| a.0 == b.0);
            let mut twin: Vec<Vec<(u32, u32)>> =
                pieces.iter().map(|(text, _)| text.bytes().map(|byte| (u32::from(byte), 1)).collect()).collect();
            let borrowed: Vec<_> = pieces.iter().map(|(text, n)| (&text[..], *n)).collect();
            let mut arena = arena(&borrowed);
            for _ in 0..60 {
                let mut pairs = Vec::new();
                let mut start = 1;
                for (tokens, (_, n)) in twin.iter().zip(&pieces) {
                    for (i, &(id, length)) in tokens.iter().enumerate() {
                        let before = if i == 0 { BOUNDARY } else { tokens[i - 1].0 };
                        let after = tokens.get(i + 1).map_or(BOUNDARY, |next| next.0);
                        assert_eq!(
                            (arena.before(start), arena.at(start), arena.at(start + length)),
                            (before, id, after)
                        );
                        assert_eq!((arena.length(id), arena.weight(start)), (length, *n));
                        if after != BOUNDARY {
                            pairs.push((start, id, after));
                        }
                        for inside in start + 1..start + length {
                            assert!(!arena.holds(inside, id, 1, id), "a cell within a token is no start");
                        }
                        start += length;
                    }
                    start += 1;
                }
                assert_eq!(arena.pairs().collect::<Vec<_>>(), pairs);
                let piece = random.below(twin.len());
                if twin[piece].len() > 1 {
                    let i = random.below(twin[piece].len() - 1);
                    let length = twin[piece][i].1 + twin[piece][i + 1].1;
                    let new = arena.add_token(length).unwrap();
                    let before: u32 =
                        twin[..piece].iter().map(|t| t.iter().map(|token| token.1).sum::<u32>() + 1).sum();
                    let position = 1 + before + twin[piece][..i].iter().map(|token| token.1).sum::<u32>();
                    arena.merge(position, twin[piece][i].1, length, new);
                    twin[piece][i] = (new, length);
                    twin[piece].remove(i + 1);
                }
            }
        }
    }

    #[test]
    fn more_cells_than_positions_are_refused() {
        assert!(Builder::new(1000, 1).is_ok());
        assert_eq!(Builder::new(CELL_LIMIT + 1, 1).err(), Some(Error::TooLarge { limit: 4_294_967_295 }));
    }
}
