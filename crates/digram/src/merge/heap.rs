//! Pieces of some length: the sequence in linked lists, the rules in a heap with lazy deletion, n log n (as tiktoken does
//! since 0.13, and formal-bpe before it).

use super::{Merge, Rules};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Memory that is reused from piece to piece.
#[derive(Default)]
pub(super) struct Scratch {
    previous: Vec<u32>,
    next: Vec<u32>,
    /// The rule for the symbol at this place and its next one.
    rules: Vec<Option<Merge>>,
    heap: BinaryHeap<Reverse<u64>>,
}

/// Past the end, in the linked lists.
const END: u32 = u32::MAX;

/// Merges `symbols`; returns how many ids there are. They stand at the front.
pub(super) fn merge<R: Rules>(rules: &R, symbols: &mut [u32], scratch: &mut Scratch) -> usize {
    let n = u32::try_from(symbols.len()).expect("a piece is checked to be below 2^32 symbols");
    let Scratch { previous, next, rules: known, heap } = scratch;
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
    first.extend((0..n).zip(known.iter()).filter_map(|(at, merge)| merge.map(|m| entry(at, m))));
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
