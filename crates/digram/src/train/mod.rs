//! Training: piece counts -> merges.

use crate::count::PieceCounts;
use crate::{Error, Result};
use std::ops::ControlFlow;

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

/// Learns merges from `counts`.
pub fn train(
    counts: &PieceCounts,
    options: &TrainOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Trained> {
    let _ = (counts, options, progress);
    Err(Error::Argument("training is not there yet".to_owned()))
}
