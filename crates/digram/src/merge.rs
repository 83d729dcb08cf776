//! The merge loop: base symbols of one piece -> ids, lowest rank first, leftmost first among equals.
//!
//! Two exact kernels. Short pieces keep the rule of every neighbouring pair in an array and scan it for the lowest: with
//! a dozen symbols nothing beats that. Long ones keep the sequence in linked lists and the rules in a heap with lazy
//! deletion, n log n for a piece of any length (as tiktoken does since 0.13, and formal-bpe before it).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Pieces of up to this many symbols are scanned. Scanning is quadratic: at 64 symbols the heap is about as fast.
const SCANNED: usize = 64;

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
}

/// Rules with ranks below a limit: what was known when token `limit` was learnt.
pub(crate) struct Below<'a, R>(pub &'a R, pub u32);

impl<R: Rules> Rules for Below<'_, R> {
    fn merge(&self, left: u32, right: u32, reached: u32) -> Option<Merge> {
        self.0.merge(left, right, reached).filter(|merge| merge.rank < self.1)
    }
}

/// Memory that the long kernel reuses from piece to piece.
#[derive(Default)]
pub struct Scratch {
    previous: Vec<u32>,
    next: Vec<u32>,
    /// The rule for the symbol at this place and its next one.
    rules: Vec<Option<Merge>>,
    heap: BinaryHeap<Reverse<u64>>,
}

/// Merges `symbols[from..]` in place: afterwards they are the ids of the piece.
pub fn merge_symbols<R: Rules>(rules: &R, symbols: &mut Vec<u32>, from: usize, scratch: &mut Scratch) {
    let kept = match symbols.len() - from {
        0 | 1 => return,
        2..=SCANNED => scan(rules, &mut symbols[from..]),
        _ => heap(rules, &mut symbols[from..], scratch),
    };
    symbols.truncate(from + kept);
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

/// Past the end, in the linked lists.
const END: u32 = u32::MAX;

fn heap<R: Rules>(rules: &R, symbols: &mut [u32], scratch: &mut Scratch) -> usize {
    let n = u32::try_from(symbols.len()).expect("a piece is checked to be below 2^32 symbols");
    let Scratch {
        previous,
        next,
        rules: known,
        heap,
    } = scratch;
    previous.clear();
    next.clear();
    known.clear();
    heap.clear();
    previous.extend((0..n).map(|i| i.wrapping_sub(1))); // of the first: END
    next.extend((1..n).chain([END]));
    known.extend(symbols.windows(2).map(|w| rules.merge(w[0], w[1], 0)));
    known.push(None);
    let entry = |at: u32, merge: Merge| Reverse(u64::from(merge.rank) << 32 | u64::from(at));
    let mut first: Vec<_> = std::mem::take(heap).into_vec();
    first.extend(
        (0..n)
            .zip(known.iter())
            .filter_map(|(at, merge)| merge.map(|m| entry(at, m))),
    );
    *heap = BinaryHeap::from(first); // linear, where pushing one by one is n log n
    while let Some(Reverse(top)) = heap.pop() {
        let (rank, at) = ((top >> 32) as u32, top as u32);
        // Stale: the symbol is gone, or has another neighbour by now.
        let Some(merge) = known[at as usize].filter(|merge| merge.rank == rank) else {
            continue;
        };
        let gone = next[at as usize];
        let after = next[gone as usize];
        symbols[at as usize] = merge.id;
        next[at as usize] = after;
        known[gone as usize] = None;
        if after != END {
            previous[after as usize] = at;
        }
        // The two pairs that the new symbol is part of.
        for left in [at, previous[at as usize]] {
            if left == END {
                continue;
            }
            let right = next[left as usize];
            let merge = match right {
                END => None,
                _ => rules.merge(symbols[left as usize], symbols[right as usize], rank + 1),
            };
            known[left as usize] = merge;
            heap.extend(merge.map(|merge| entry(left, merge)));
        }
    }
    let (mut at, mut kept) = (0, 0);
    while at != END {
        symbols[kept] = symbols[at as usize];
        kept += 1;
        at = next[at as usize];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::rules::{PairTable, PassTable};
    use proptest::prelude::*;

    /// The definition: look at every pair, apply the lowest rule at its leftmost place, begin again.
    fn naive<R: Rules>(rules: &R, mut symbols: Vec<u32>) -> Vec<u32> {
        let mut reached = 0;
        let pairs = |symbols: &[u32], reached| {
            symbols
                .windows(2)
                .map(|w| rules.merge(w[0], w[1], reached))
                .collect::<Vec<_>>()
        };
        // Of pairs that a merge did not touch, the rule stays the one that was found when they came to be.
        let mut known = pairs(&symbols, reached);
        while let Some((at, merge)) = known
            .iter()
            .enumerate()
            .filter_map(|(i, m)| Some((i, (*m)?)))
            .min_by_key(|(i, m)| (m.rank, *i))
        {
            reached = merge.rank + 1;
            symbols.splice(at..at + 2, [merge.id]);
            known.remove(at);
            let fresh = pairs(&symbols, reached);
            for i in [at.wrapping_sub(1), at] {
                if i < known.len() {
                    known[i] = fresh[i];
                }
            }
        }
        symbols
    }

    fn both<R: Rules>(rules: &R, symbols: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let (mut scanned, mut heaped) = (symbols.to_vec(), symbols.to_vec());
        let kept = scan(rules, &mut scanned);
        scanned.truncate(kept);
        let kept = heap(rules, &mut heaped, &mut Scratch::default());
        heaped.truncate(kept);
        (scanned, heaped)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn both_kernels_follow_the_definition(
            merges in prop::collection::vec((0u32..12, 0u32..12), 0..30),
            symbols in prop::collection::vec(0u32..4, 1..SCANNED),
        ) {
            // Any rules at all: parts need not be earlier tokens, several rules may share a rank.
            let mut table = PairTable::default();
            for (i, &(l, r)) in merges.iter().enumerate() {
                table.add(l, r, Merge { rank: i as u32 / 2, id: 4 + i as u32 / 2 });
            }
            let (scanned, heaped) = both(&table, &symbols);
            let want = naive(&table, symbols);
            prop_assert_eq!(&scanned, &want);
            prop_assert_eq!(&heaped, &want);
        }

        #[test]
        fn passes_too(repeats in prop::collection::vec(2usize..7, 0..12), n in 1usize..SCANNED) {
            // The list a, then runs of a in any order, repeated at will.
            let lengths: Vec<usize> = std::iter::once(1).chain(repeats).collect();
            let first = |n: usize| lengths.iter().position(|&m| m == n).map(|i| i as u32);
            let mut table = PassTable {
                spelling: lengths.iter().map(|&n| first(n).unwrap()).collect(),
                joined: Default::default(),
                entries: Default::default(),
            };
            for (i, &n) in lengths.iter().enumerate().skip(1) {
                table.entries.entry(first(n).unwrap()).or_default().push(i as u32);
                for left in 1..n {
                    if let (Some(l), Some(r)) = (first(left), first(n - left)) {
                        table.joined.insert(crate::vocabulary::rules::key(l, r), first(n).unwrap());
                    }
                }
            }
            // One left-to-right pass an entry, on lengths: the definition of ordered lists.
            let mut want = vec![0u32; n];
            for (entry, &length) in lengths.iter().enumerate().skip(1) {
                let mut i = 0;
                while i + 1 < want.len() {
                    if lengths[want[i] as usize] + lengths[want[i + 1] as usize] == length {
                        want.splice(i..i + 2, [entry as u32]);
                    }
                    i += 1;
                }
            }
            let (scanned, heaped) = both(&table, &vec![0; n]);
            prop_assert_eq!(&scanned, &want);
            prop_assert_eq!(&heaped, &want);
        }
    }
}
