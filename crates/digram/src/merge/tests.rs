//! The kernels against the definition, on rules of any kind.

use super::*;
use crate::vocabulary::rules::{PairTable, PassTable};
use proptest::prelude::*;

/// The definition: look at every pair, apply the lowest rule at its leftmost place, begin again.
fn naive<R: Rules>(rules: &R, mut symbols: Vec<u32>) -> Vec<u32> {
    let mut reached = 0;
    let pairs =
        |symbols: &[u32], reached| symbols.windows(2).map(|w| rules.merge(w[0], w[1], reached)).collect::<Vec<_>>();
    // Of pairs that a merge did not touch, the rule stays the one that was found when they came to be.
    let mut known = pairs(&symbols, reached);
    while let Some((at, merge)) =
        known.iter().enumerate().filter_map(|(i, m)| Some((i, (*m)?))).min_by_key(|(i, m)| (m.rank, *i))
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

/// What each kernel makes of the same symbols.
fn each<R: Rules>(rules: &R, symbols: &[u32]) -> Vec<Vec<u32>> {
    let run = |kernel: &dyn Fn(&mut [u32]) -> usize| {
        let mut ids = symbols.to_vec();
        let kept = kernel(&mut ids);
        ids.truncate(kept);
        ids
    };
    let mut all = vec![
        run(&|symbols| scan(rules, symbols)),
        run(&|symbols| heap::merge(rules, symbols, &mut HeapScratch::default())),
        run(&|symbols| buckets::merge(rules, symbols, &|| false).unwrap()),
    ];
    if let Some(ranks) = rules.ranks() {
        all.push(run(&|symbols| short::merge::<64>(ranks, symbols)));
        if symbols.len() <= 16 {
            all.push(run(&|symbols| short::merge::<16>(ranks, symbols)));
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn all_kernels_follow_the_definition(
        merges in prop::collection::vec((0u32..12, 0u32..12), 0..30),
        symbols in prop::collection::vec(0u32..4, 1..=SCANNED),
    ) {
        // Any rules at all: parts need not be earlier tokens, several rules may share a rank.
        let mut table = PairTable::default();
        for (i, &(l, r)) in merges.iter().enumerate() {
            table.add(l, r, Merge { rank: i as u32 / 2, id: 4 + i as u32 / 2 });
        }
        let got = each(&table, &symbols);
        let want = naive(&table, symbols);
        prop_assert!(got.len() > 3, "the rules are in a table of ranks");
        prop_assert!(got.iter().all(|got| *got == want), "{:?} for {:?}", got, want);
    }

    /// Some are left out, as those are that no rule is for.
    #[test]
    fn pieces_side_by_side_are_as_each_alone(
        merges in prop::collection::vec((0u32..12, 0u32..12), 0..30),
        (step, pieces) in (0u32..3, prop::collection::vec((any::<bool>(), prop::collection::vec(0u32..4, 0..=20)), 0..60)),
    ) {
        let mut table = PairTable::default();
        for (&(l, r), i) in merges.iter().zip(0..) {
            table.add(l, r, Merge { rank: i, id: 4 + step * i });
        }
        let Some(ranks) = table.ranks() else { return Ok(()) };
        let (mut symbols, mut places) = (Vec::new(), Vec::new());
        for (wanted, piece) in &pieces {
            places.push((*wanted, symbols.len()..symbols.len() + piece.len()));
            symbols.extend(piece);
        }
        let mut lanes = Lanes::default();
        lanes.merge(ranks, &mut symbols, &mut places, |(wanted, place)| wanted.then_some(place));
        for ((_, place), (wanted, piece)) in places.into_iter().zip(pieces) {
            let merged = wanted && piece.len() <= SIDE_BY_SIDE;
            let want = if merged { naive(&table, piece) } else { piece };
            prop_assert_eq!(&symbols[place], want);
        }
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
        let got = each(&table, &vec![0; n]);
        prop_assert!(got.iter().all(|got| *got == want), "{:?} for {:?}", got, want);
    }
}

#[test]
fn a_long_piece_can_be_stopped() {
    let mut table = PairTable::default();
    table.add(0, 0, Merge { rank: 0, id: 1 });
    let mut symbols = vec![0; 1 << 18];
    let stopped = merge_symbols_until(&table, &mut symbols, 0, &mut Scratch::default(), &|| true);
    assert_eq!(stopped, Err(Error::Interrupted));
}
