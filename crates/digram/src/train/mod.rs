//! Training: piece counts -> merges.
//!
//! **The definition** (`naive.rs` is this, word for word). Each round counts all pairs of neighbours in all pieces,
//! overlaps included (`aaa` holds `aa` twice), a piece that was counted n times n times; takes the pair with the highest
//! count; gives it the next id; replaces it everywhere, from left to right without overlap; and records it.
//!
//! **Ties** on the highest count:
//! - `SmallestIds`: the smallest (left id, right id).
//! - `SmallestTokens`: the smallest (left token, right token), compared as strings: bytes as byte strings, characters by
//!   code point, a proper prefix first.
//! - `FirstSeen`: the pair whose first occurrence in the current sequence comes first: pieces in order of first
//!   appearance, and within a piece from left to right.
//!
//! **Stop** at `vocab_size` ids, when the best count is below `min_count`, or when no pair is left, whichever comes
//! first. A pair whose token would be longer than `max_token_length` is passed over.
//!
//! **The method** touches only the neighbours of what a round replaces (Larsson and Moffat 1999, "Off-line
//! dictionary-based compression"; Zouhar et al. 2023, "A formal perspective on byte-pair encoding"): `arena` holds the
//! sequence, `pairs` the counts and positions, `queue` the order of the next rounds, `rounds` does one. All
//! rounds together make at most as many replacements as there are symbols, and each replacement costs a few table
//! look-ups and queue moves: n log n in all.
//!
//! **Low counts wait.** Counts of pairs only fall after the round that made them, and the best count never rises. So
//! while the best count is high, pairs of a low count need not be known at all: the table begins with the pairs of a
//! threshold and more, and when none of these is left, is built again with a lower one, from the sequence as it is then.

mod arena;
mod counting;
#[cfg(test)]
mod naive;
mod neighbours;
mod order;
mod pairs;
mod queue;
mod rounds;
#[cfg(test)]
mod tests;
mod ticker;

use crate::count::PieceCounts;
use crate::{Error, Result};
use arena::Arena;
use rounds::{Trainer, Tuning};
use std::ops::ControlFlow;
use ticker::Ticker;

/// What the base symbols are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alphabet {
    /// The 256 byte values, with ids 0 to 255.
    Bytes,
    /// The distinct characters of the pieces, sorted by code point, with ids 0, 1, 2, ...
    Characters,
}

/// Which of the pairs with the highest count is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// The smallest (left id, right id).
    SmallestIds,
    /// The smallest (left token, right token), compared as strings: by byte, or by code point.
    SmallestTokens,
    /// The pair whose first occurrence in the current sequence comes first.
    FirstSeen,
}

/// What to learn, and when to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainOptions {
    /// The base symbols.
    pub alphabet: Alphabet,
    /// Stop at this many ids: alphabet, merges and `reserved` together.
    pub vocab_size: Option<u64>,
    /// The number of special tokens: they have the last ids and count in `vocab_size`.
    pub reserved: u64,
    /// Stop when the best count is below this; at least 1.
    pub min_count: u64,
    /// Which pair wins among equal counts.
    pub ties: Ties,
    /// Never make a token of more base symbols than this.
    pub max_token_length: Option<u64>,
}

/// How far training has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Merges learnt so far.
    pub merges: u64,
    /// The most merges there may be, where `vocab_size` says so.
    pub planned: Option<u64>,
    /// The count of the last merge; 0 before the first.
    pub best_count: u64,
}

/// What was learnt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trained {
    /// The alphabet, sorted by code point: character i has id i. Empty for bytes.
    pub characters: Vec<char>,
    /// The merges in learned order: merge k makes the id alphabet size + k.
    pub merges: Vec<(u32, u32)>,
    /// The count that each merge had when it was chosen.
    pub merge_counts: Vec<u64>,
    /// Whether training ran out of pairs before `vocab_size`.
    pub exhausted: bool,
}

/// Learns merges from `counts`: the rules are at the top of this module.
///
/// `progress` is called at the start, at the end, and every 50 ms or more often in between, from this thread.
///
/// Errors: `Argument` for a `min_count` of 0, or a `vocab_size` that has no room for the alphabet and the special
/// tokens; `NotText` for a piece that is not UTF-8 with `Alphabet::Characters`; `CountOverflow` for a pair that occurs
/// more than 2^64 - 1 times; `TooLarge` for more than 2^32 symbols in distinct pieces (2^31 for `SmallestTokens`);
/// `Interrupted` when `progress` breaks.
pub fn train(
    counts: &PieceCounts,
    options: &TrainOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Trained> {
    let mut ticker = Ticker::new(progress);
    train_tuned(counts, options, &mut ticker, None)
}

/// The first threshold is this part of all counts together: some thousand pairs at most, so that they fit into the
/// processor's caches, and far enough down that the table is built a handful of times in all.
const FIRST_THRESHOLD: u128 = 1 << 16;

fn train_tuned(
    counts: &PieceCounts,
    options: &TrainOptions,
    ticker: &mut Ticker<'_>,
    tuning: Option<Tuning>,
) -> Result<Trained> {
    if options.min_count == 0 {
        return Err(Error::Argument("min_count=0 would merge pairs that do not occur: ask for at least 1".to_owned()));
    }
    ticker.call()?;
    let (arena, characters) = Arena::new(counts, options.alphabet, ticker)?;
    let planned = planned_merges(options, characters.len())?;
    ticker.progress.planned = planned;
    let tuning = tuning.unwrap_or_else(|| {
        let first_threshold = u64::try_from(arena.total_count() / FIRST_THRESHOLD).unwrap_or(u64::MAX);
        Tuning { first_threshold }
    });
    let trainer = Trainer::new(arena, options, ticker)?;
    let mut trained = trainer.run(planned.unwrap_or(u64::MAX), &tuning)?;
    trained.characters = characters;
    ticker.call()?;
    Ok(trained)
}

/// The most merges that `vocab_size` leaves room for; `None` without one.
fn planned_merges(options: &TrainOptions, characters: usize) -> Result<Option<u64>> {
    let Some(vocab_size) = options.vocab_size else {
        return Ok(None);
    };
    let (alphabet, symbols) = match options.alphabet {
        Alphabet::Bytes => (256, "bytes"),
        Alphabet::Characters => (characters as u64, "characters"),
    };
    let (reserved, least) = (options.reserved, alphabet.saturating_add(options.reserved));
    match vocab_size.checked_sub(least) {
        Some(merges) => Ok(Some(merges)),
        None => Err(Error::Argument(format!(
            "vocab_size={vocab_size} is below the {alphabet} {symbols} of the alphabet plus {reserved} special tokens: \
             ask for at least {least}"
        ))),
    }
}
