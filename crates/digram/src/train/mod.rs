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
//! - `LargestTokens`: the largest (left token, right token), where `SmallestTokens` takes the smallest.
//! - `ShortestToken`: the pair whose joined token has the fewest symbols, of these the smallest joined token as a string.
//!   (Two pairs never spell the same token: with the merges so far a string is cut in one way only.)
//! - `SmallestCharacters`: as `SmallestIds`, but bytes are ordered by the characters that GPT-2 writes for them.
//!
//! **Stop** at `vocab_size` ids, when the best count is below `min_count`, or when no pair is left, whichever comes
//! first. A pair is passed over whose token would be longer than `max_token_length`, that `rules` forbid, or that the
//! caller does not allow.
//!
//! **Before the first round** come the merges that were given, whatever they count and whatever is forbidden: those of a
//! vocabulary that is to grow, then those that make the seed tokens, one after the other, of their first two parts each
//! time. `replay` says how they are made in one go.
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
//! For the same reason pieces that do not fit into memory may wait on disk: `stages`.

mod alphabet;
mod arena;
mod counting;
#[cfg(test)]
mod naive;
mod neighbours;
mod order;
mod pairs;
mod parity;
mod queue;
mod replay;
mod rounds;
mod rules;
mod stages;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_rules;
#[cfg(test)]
mod tests_stages;
mod ticker;
mod ties;

use crate::count::{Counts, PieceCounts};
use crate::{Error, Result};
use arena::Arena;
pub use parity::{Parity, ParityTrained, train_parity};
use rounds::{Trainer, Tuning};
pub use rules::PairRules;
use std::ops::{ControlFlow, Deref};
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
    /// The largest (left token, right token), compared as strings: by byte, or by code point.
    LargestTokens,
    /// The pair whose joined token has the fewest symbols, of these the smallest joined token as a string.
    ShortestToken,
    /// The smallest (left id, right id), with the byte values in the order of the characters that GPT-2 writes for them,
    /// by code point: `!` to `~`, then `¡` to `¬` and `®` to `ÿ` as bytes of Latin-1, then all others. With a character
    /// alphabet the same as `SmallestIds`.
    SmallestCharacters,
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
    /// Merges that are never made.
    pub rules: PairRules,
    /// `Watch::allows` is asked before each merge that is learnt.
    pub ask: bool,
    /// Characters that belong to a character alphabet in any case.
    pub initial: Vec<char>,
    /// The most characters of a character alphabet: the initial ones, and the most frequent others. The rest end a piece.
    pub limit: Option<u64>,
    /// Merges to begin with, of ids that are there before each.
    pub merges: Vec<(u32, u32)>,
    /// Tokens to make after these, in order, before learning.
    pub seeds: Vec<Vec<u8>>,
}

impl Default for TrainOptions {
    /// Bytes, the smallest ids, and no other end than that no pair is left.
    fn default() -> Self {
        TrainOptions {
            alphabet: Alphabet::Bytes,
            vocab_size: None,
            reserved: 0,
            min_count: 1,
            ties: Ties::SmallestIds,
            max_token_length: None,
            rules: PairRules::default(),
            ask: false,
            initial: Vec::new(),
            limit: None,
            merges: Vec::new(),
            seeds: Vec::new(),
        }
    }
}

/// The merges so far, those to begin with included: merge k makes the id alphabet size + k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learned {
    /// The alphabet, as in `Trained`; empty before it is known.
    pub characters: Vec<char>,
    /// (left id, right id).
    pub merges: Vec<(u32, u32)>,
    /// The count of each when its turn came.
    pub counts: Vec<u64>,
}

/// Who watches a training.
pub trait Watch {
    /// Called at the start, at the end, and every 50 ms or more often in between, from the thread that trains. `Break` ends
    /// the training.
    fn tick(&mut self, progress: Progress, learned: &Learned) -> ControlFlow<()>;

    /// Whether this pair of tokens may be merged: asked where `TrainOptions::ask` is set, at most once for a pair of ids,
    /// when the pair is the next one. `Break` ends the training.
    fn allows(&mut self, _left: &[u8], _right: &[u8]) -> ControlFlow<(), bool> {
        ControlFlow::Continue(true)
    }
}

impl<F: FnMut(Progress) -> ControlFlow<()>> Watch for F {
    fn tick(&mut self, progress: Progress, _: &Learned) -> ControlFlow<()> {
        self(progress)
    }
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
    /// The merges in learned order, those to begin with first: merge k makes the id alphabet size + k.
    pub merges: Vec<(u32, u32)>,
    /// The count that each merge had when its turn came.
    pub merge_counts: Vec<u64>,
    /// Whether training ran out of pairs before `vocab_size`.
    pub exhausted: bool,
}

/// `train_watched`, where nobody asks for more than progress.
pub fn train(
    counts: &PieceCounts,
    options: &TrainOptions,
    mut progress: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Trained> {
    train_watched(counts, options, &mut progress)
}

/// Learns merges from `counts`: the rules are at the top of this module.
///
/// Errors: `Argument` for a `min_count` of 0, a `vocab_size` that has no room for the alphabet, the merges to begin with
/// and the special tokens, a limit below the initial characters, merges to begin with whose parts come after them, or a
/// seed token that is empty or has characters that the alphabet lacks; `NotText` for a piece that is not UTF-8 with
/// `Alphabet::Characters`; `CountOverflow` for a pair that occurs more than 2^64 - 1 times; `TooLarge` for more than 2^32
/// symbols in distinct pieces (2^31 for tie rules that compare tokens); `Interrupted` when the watch breaks.
///
/// The counts are let go as soon as they are read: a lock on them is not held while the merges are learnt.
pub fn train_watched(
    counts: impl Deref<Target = PieceCounts>,
    options: &TrainOptions,
    watch: &mut dyn Watch,
) -> Result<Trained> {
    train_tuned(counts, options, &mut Ticker::new(watch), None)
}

/// `train_watched` of counts that may be on disk, under the limit of memory that they were counted with: where they do not
/// fit, `stages` says how it is done. The result is the same.
///
/// Errors: those of `train_watched`; `Temporary` where the counts cannot be read; `Interrupted` soon after `stop` returns
/// true.
pub fn train_counts(
    counts: Counts,
    options: &TrainOptions,
    watch: &mut dyn Watch,
    stop: &dyn Fn() -> bool,
) -> Result<Trained> {
    if let Counts::Disk(listing) = &counts
        && options.min_count > 0
        && stages::memory_for(listing.len(), listing.distinct_bytes(), options) > listing.memory()
    {
        let mut ticker = Ticker::new(watch);
        ticker.call()?;
        return stages::train(&counts, options, &stages::Room::within(listing.memory()), &mut ticker);
    }
    let all = counts.load(stop)?;
    drop(counts);
    train_watched(all, options, watch)
}

/// The first threshold is this part of all counts together: some thousand pairs at most, so that they fit into the
/// processor's caches, and far enough down that the table is built a handful of times in all.
const FIRST_THRESHOLD: u128 = 1 << 16;

fn train_tuned(
    counts: impl Deref<Target = PieceCounts>,
    options: &TrainOptions,
    ticker: &mut Ticker<'_>,
    tuning: Option<Tuning>,
) -> Result<Trained> {
    if options.min_count == 0 {
        return Err(Error::Argument("min_count=0 would merge pairs that do not occur: ask for at least 1".to_owned()));
    }
    ticker.call()?;
    let (arena, characters) = Arena::new(&counts, options, ticker)?;
    drop(counts);
    let merges = replay::merges(options, &characters)?;
    let planned = planned_merges(options, characters.len(), merges.len() as u64)?;
    ticker.progress.planned = planned;
    let tuning = tuning.unwrap_or_else(|| Tuning { first_threshold: first_threshold(&arena) });
    let mut trainer = Trainer::new(arena, options, &characters, ticker)?;
    trainer.ticker.learned.characters = characters;
    trainer.begin(&merges)?;
    let exhausted = trainer.run(planned.unwrap_or(u64::MAX), &tuning)?;
    ticker.call()?;
    let Learned { characters, merges, counts: merge_counts } = std::mem::take(&mut ticker.learned);
    Ok(Trained { characters, merges, merge_counts, exhausted })
}

fn first_threshold(arena: &Arena) -> u64 {
    u64::try_from(arena.total_count() / FIRST_THRESHOLD).unwrap_or(u64::MAX)
}

/// The most merges that `vocab_size` leaves room for; `None` without one.
fn planned_merges(options: &TrainOptions, characters: usize, to_begin_with: u64) -> Result<Option<u64>> {
    let Some(vocab_size) = options.vocab_size else {
        return Ok(None);
    };
    let (alphabet, symbols) = match options.alphabet {
        Alphabet::Bytes => (256, "bytes"),
        Alphabet::Characters => (characters as u64, "characters"),
    };
    let (reserved, least) = (options.reserved, alphabet.saturating_add(options.reserved));
    let begun = match to_begin_with {
        0 => String::new(),
        1 => " plus 1 merge to begin with".to_owned(),
        n => format!(" plus {n} merges to begin with"),
    };
    match vocab_size.checked_sub(least) {
        Some(merges) if merges >= to_begin_with => Ok(Some(merges)),
        _ => Err(Error::Argument(format!(
            "vocab_size={vocab_size} is below the {alphabet} {symbols} of the alphabet plus {reserved} special \
             tokens{begun}: ask for at least {}",
            least.saturating_add(to_begin_with)
        ))),
    }
}
