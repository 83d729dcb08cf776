//! BPE-dropout (Provilkov, Emelianenko and Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization",
//! algorithm 1): in each step of the merge loop every pair that has a rule is dropped with probability p, by itself; of the
//! others the one of the lowest rank goes first, leftmost first among equals; where none is left the piece is done.
//!
//! **One number a step.** To drop each pair by itself and take the first of the rest is to pass over a number of pairs
//! in their order, where k or more are passed over with probability p^k. That number is drawn at once, from one random
//! number of 64 bits: k or more are passed over where the number, as a fraction of 2^64, is below p^k. Where all pairs that
//! are there are passed over, all were dropped.
//!
//! **Which numbers.** SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"), one
//! stream for each document: see [`Numbers::of_document`]. A step with no pair that has a rule draws none.
//!
//! **Arithmetic.** Powers of p are whole numbers of 2^-64, rounded down, and only made by squaring and by multiplying
//! these, so that any language gets the same. `digram.reference.dropout` is this file in Python.

use super::{Merge, Rules};
use crate::{Error, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Pairs of longer pieces wait in a heap.
const SCANNED: usize = 64;

/// Steps between two looks at whether to stop.
const BETWEEN_STOPS: u32 = 1 << 14;

/// A probability of 1, in 2^-64.
const ONE: u128 = 1 << 64;

/// The product of two probabilities, rounded down.
#[inline]
fn times(a: u128, b: u128) -> u128 {
    if a == ONE { b } else { (a * b) >> 64 }
}

/// The probability with which merges are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropout {
    /// p^(2^i), in 2^-64; 2^64 for p = 1.
    powers: [u128; 32],
}

impl Dropout {
    /// Of a probability from 0 to 1.
    ///
    /// # Errors
    /// `Argument` for any other number.
    pub fn new(p: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::Argument(format!("the dropout must be a probability from 0 to 1, not {p}")));
        }
        let mut powers = [(p * 2_f64.powi(64)) as u128; 32];
        for i in 1..powers.len() {
            powers[i] = times(powers[i - 1], powers[i - 1]);
        }
        Ok(Self { powers })
    }

    /// Whether no merge is ever dropped.
    pub fn is_none(&self) -> bool {
        self.powers[0] == 0
    }

    /// How many pairs are passed over for a random number; 2^32 - 1 stands for more than there can be.
    #[inline]
    fn passed_over(&self, number: u64) -> usize {
        let number = u128::from(number);
        if number >= self.powers[0] {
            return 0;
        }
        let (mut passed, mut power) = (0, ONE);
        for (i, &factor) in self.powers.iter().enumerate().rev() {
            let next = times(power, factor);
            if number < next {
                (passed, power) = (passed + (1 << i), next);
            }
        }
        passed
    }
}

/// 2^64 divided by the golden ratio, made odd.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random numbers: SplitMix64.
#[derive(Clone, Debug)]
pub struct Numbers {
    state: u64,
}

impl Numbers {
    /// The stream of a document: it begins at number `index` of a stream that begins at the first number of the one that
    /// begins at `seed`.
    pub fn of_document(seed: u64, index: u64) -> Self {
        let first = Self { state: seed }.number();
        let state = Self { state: first.wrapping_add(index.wrapping_mul(STEP)) }.number();
        Self { state }
    }

    /// The next number.
    #[inline]
    fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
}

/// Memory that is reused from piece to piece.
#[derive(Default)]
pub struct Scratch {
    previous: Vec<u32>,
    next: Vec<u32>,
    rules: Vec<Option<Merge>>,
    heap: BinaryHeap<Reverse<u64>>,
    passed: Vec<Reverse<u64>>,
}

/// Merges `symbols[from..]` in place, with merges dropped: afterwards they are the ids of the piece.
///
/// For n symbols and one p the time is n log n at most.
///
/// # Errors
/// `Interrupted` soon after `stop` returns true; `TooLong` for more than 2^32 - 2 symbols.
pub fn merge_dropped<R: Rules>(
    rules: &R,
    symbols: &mut Vec<u32>,
    from: usize,
    dropout: &Dropout,
    numbers: &mut Numbers,
    scratch: &mut Scratch,
    stop: &dyn Fn() -> bool,
) -> Result<()> {
    let piece = &mut symbols[from..];
    let kept = match piece.len() {
        0 | 1 => return Ok(()),
        n if n <= SCANNED => scan(rules, piece, dropout, numbers),
        n if n < u32::MAX as usize => long(rules, piece, dropout, numbers, scratch, stop)?,
        _ => return Err(Error::TooLong { limit: u32::MAX as usize - 1 }),
    };
    symbols.truncate(from + kept);
    Ok(())
}

/// No rule: sorts after every pair.
const NONE: u64 = u64::MAX;

/// A pair in the order in which pairs go: by rank, then by place.
fn pair(merge: Option<Merge>, at: usize) -> u64 {
    merge.map_or(NONE, |merge| u64::from(merge.rank) << 32 | at as u64)
}

/// The symbols of a short piece stay where they are; those that are gone are marked by `live`.
fn scan<R: Rules>(rules: &R, symbols: &mut [u32], dropout: &Dropout, numbers: &mut Numbers) -> usize {
    let n = symbols.len();
    let (mut pairs, mut ids) = ([NONE; SCANNED], [0; SCANNED]);
    let mut live = u64::MAX >> (64 - n);
    let ask = |symbols: &[u32], pairs: &mut [u64; SCANNED], ids: &mut [u32; SCANNED], at: usize, next: usize| {
        let merge = rules.merge(symbols[at], symbols[next], 0);
        pairs[at] = pair(merge, at);
        ids[at] = merge.map_or(0, |merge| merge.id);
    };
    for at in 0..n - 1 {
        ask(symbols, &mut pairs, &mut ids, at, at + 1);
    }
    loop {
        let mut first = pairs[..n].iter().fold(NONE, |first, &pair| first.min(pair));
        if first == NONE {
            break;
        }
        for _ in 0..dropout.passed_over(numbers.number()) {
            first = pairs[..n].iter().fold(NONE, |next, &pair| if pair > first { next.min(pair) } else { next });
            if first == NONE {
                break;
            }
        }
        if first == NONE {
            break;
        }
        let at = first as u32 as usize;
        let after = live & (u64::MAX << at << 1);
        let gone = after.trailing_zeros() as usize;
        symbols[at] = ids[at];
        live ^= 1 << gone;
        (pairs[gone], pairs[at]) = (NONE, NONE);
        let after = after & after.wrapping_sub(1);
        if after != 0 {
            ask(symbols, &mut pairs, &mut ids, at, after.trailing_zeros() as usize);
        }
        let before = live & ((1 << at) - 1);
        if before != 0 {
            ask(symbols, &mut pairs, &mut ids, 63 - before.leading_zeros() as usize, at);
        }
    }
    let mut kept = 0;
    while live != 0 {
        symbols[kept] = symbols[live.trailing_zeros() as usize];
        live &= live - 1;
        kept += 1;
    }
    kept
}

/// Past the end, in the linked lists.
const END: u32 = u32::MAX;

/// Pieces of some length: linked lists, and a heap from which what is passed over comes out and goes back.
fn long<R: Rules>(
    rules: &R,
    symbols: &mut [u32],
    dropout: &Dropout,
    numbers: &mut Numbers,
    scratch: &mut Scratch,
    stop: &dyn Fn() -> bool,
) -> Result<usize> {
    let n = symbols.len() as u32;
    let Scratch { previous, next, rules: known, heap, passed } = scratch;
    previous.clear();
    next.clear();
    known.clear();
    previous.extend((0..n).map(|i| i.wrapping_sub(1))); // of the first: END
    next.extend((1..n).chain([END]));
    known.extend(symbols.windows(2).map(|w| rules.merge(w[0], w[1], 0)));
    known.push(None);
    let mut first = std::mem::take(heap).into_vec();
    first.clear();
    first.extend(known.iter().enumerate().filter(|(_, merge)| merge.is_some()).map(|(at, &m)| Reverse(pair(m, at))));
    *heap = BinaryHeap::from(first);
    let mut work = 0_u32;
    'steps: loop {
        // How many to pass over is drawn when the first pair is met that is there.
        let (mut wait, mut last) = (None, NONE);
        let at = loop {
            work = work.wrapping_add(1);
            if work.is_multiple_of(BETWEEN_STOPS) && stop() {
                return Err(Error::Interrupted);
            }
            let Some(Reverse(top)) = heap.pop() else { break 'steps };
            let at = top as u32;
            // Else stale: the symbol is gone, or has another neighbour by now; or it is here twice, as it became stale and
            // came again.
            if known[at as usize].is_some_and(|merge| u64::from(merge.rank) == top >> 32) && top != last {
                last = top;
                match *wait.get_or_insert_with(|| dropout.passed_over(numbers.number())) {
                    0 => break at,
                    more => wait = Some(more - 1),
                }
                passed.push(Reverse(top));
            }
        };
        heap.extend(passed.drain(..));
        let merge = known[at as usize].expect("it was looked at");
        let gone = next[at as usize];
        let after = next[gone as usize];
        symbols[at as usize] = merge.id;
        next[at as usize] = after;
        known[gone as usize] = None;
        if after != END {
            previous[after as usize] = at;
        }
        for left in [at, previous[at as usize]] {
            if left == END {
                continue;
            }
            let merge = match next[left as usize] {
                END => None,
                right => rules.merge(symbols[left as usize], symbols[right as usize], 0),
            };
            known[left as usize] = merge;
            heap.extend(merge.map(|_| Reverse(pair(merge, left as usize))));
        }
    }
    passed.clear();
    let (mut at, mut kept) = (0, 0);
    while at != END {
        symbols[kept] = symbols[at as usize];
        kept += 1;
        at = next[at as usize];
    }
    Ok(kept)
}

#[cfg(test)]
mod tests;
