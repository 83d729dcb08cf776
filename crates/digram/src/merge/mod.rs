//! The merge loop: base symbols of one piece -> ids, lowest rank first, leftmost first among equals.
//!
//! Exact kernels, by length. Short pieces keep the rank of every neighbouring pair in an array and scan it for the
//! lowest: with a dozen symbols nothing beats that ([`short`], where the rules are in one table of ranks, else [`scan`]).
//! Longer ones go through a [`heap`], n log n. Pieces that no cache holds go through [`buckets`]: the same order, visited
//! rank by rank from left to right.

mod buckets;
pub mod dropout;
mod heap;
pub mod ranks;
mod short;
#[cfg(test)]
mod tests;

use crate::{Error, Result};
use heap::Scratch as HeapScratch;
use ranks::PairRanks;
pub(crate) use short::{Lanes, SIDE_BY_SIDE};

/// Pieces of up to this many symbols are scanned. Scanning is quadratic: at 64 symbols the heap is about as fast.
const SCANNED: usize = 64;

/// Pieces of more symbols than this go through buckets. A heap of a million entries waits for memory at each step.
const HEAPED: usize = 1 << 15;

/// The most symbols of one piece: positions and marked lengths are below 2^31.
const LONGEST: usize = i32::MAX as usize;

/// A rule that applies: lower ranks first, leftmost first among equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// When: position in learned order, or the entry of an ordered list.
    pub rank: u32,
    /// What the two neighbours become.
    pub id: u32,
}

/// What the merge loop asks of a vocabulary.
pub trait Rules {
    /// The rule for `left` next to `right`, where `reached` is one more than the rank applied last (0 at the start).
    fn merge(&self, left: u32, right: u32, reached: u32) -> Option<Merge>;

    /// The same rules as one table, where they are one.
    fn ranks(&self) -> Option<&PairRanks> {
        None
    }
}

/// Rules with ranks below a limit: what was known when token `limit` was learnt.
pub(crate) struct Below<'a, R>(pub &'a R, pub u32);

impl<R: Rules> Rules for Below<'_, R> {
    fn merge(&self, left: u32, right: u32, reached: u32) -> Option<Merge> {
        self.0.merge(left, right, reached).filter(|merge| merge.rank < self.1)
    }
}

/// Memory that is reused from piece to piece.
#[derive(Default)]
pub struct Scratch(HeapScratch);

/// Merges `symbols[from..]` in place: afterwards they are the ids of the piece.
pub fn merge_symbols<R: Rules>(rules: &R, symbols: &mut Vec<u32>, from: usize, scratch: &mut Scratch) {
    merge_symbols_until(rules, symbols, from, scratch, &|| false).expect("nothing stops it");
}

/// As [`merge_symbols`], but `Interrupted` soon after `stop` returns true; the symbols are then of no use.
pub fn merge_symbols_until<R: Rules>(
    rules: &R,
    symbols: &mut Vec<u32>,
    from: usize,
    scratch: &mut Scratch,
    stop: &dyn Fn() -> bool,
) -> Result<()> {
    let piece = &mut symbols[from..];
    let kept = match (piece.len(), rules.ranks()) {
        (0 | 1, _) => return Ok(()),
        (n @ 2..=SCANNED, Some(ranks)) if ranks.is_empty() => n,
        (2..=16, Some(ranks)) => short::merge::<16>(ranks, piece),
        (17..=64, Some(ranks)) => short::merge::<64>(ranks, piece),
        (n, _) if n <= SCANNED => scan(rules, piece),
        (n, _) if n <= HEAPED => heap::merge(rules, piece, &mut scratch.0),
        (n, _) if n <= LONGEST => buckets::merge(rules, piece, stop)?,
        _ => return Err(Error::TooLong { limit: LONGEST }),
    };
    symbols.truncate(from + kept);
    Ok(())
}

/// No rule: sorts after every rank.
const NONE: u64 = u64::MAX;

fn packed(merge: Option<Merge>) -> u64 {
    merge.map_or(NONE, |m| u64::from(m.rank) << 32 | u64::from(m.id))
}

/// Returns how many ids there are; they stand at the front.
fn scan<R: Rules>(rules: &R, symbols: &mut [u32]) -> usize {
    let mut length = symbols.len();
    // pairs[i]: rank and id of the rule for symbols i and i + 1.
    let mut pairs = [NONE; SCANNED];
    for i in 0..length - 1 {
        pairs[i] = packed(rules.merge(symbols[i], symbols[i + 1], 0));
    }
    while length > 1 {
        let (mut at, mut best) = (0, NONE);
        for (i, &pair) in pairs[..length - 1].iter().enumerate() {
            // Ranks alone: among equals the leftmost goes first, whatever its id.
            if pair >> 32 < best >> 32 {
                (at, best) = (i, pair);
            }
        }
        if best == NONE {
            break;
        }
        symbols[at] = best as u32;
        symbols.copy_within(at + 2..length, at + 1);
        pairs.copy_within(at + 1..length - 1, at);
        length -= 1;
        let reached = (best >> 32) as u32 + 1;
        if at + 1 < length {
            pairs[at] = packed(rules.merge(symbols[at], symbols[at + 1], reached));
        }
        pairs[length - 1] = NONE;
        if at > 0 {
            pairs[at - 1] = packed(rules.merge(symbols[at - 1], symbols[at], reached));
        }
    }
    length
}
