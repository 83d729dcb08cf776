//! The definition of training, recounted from scratch each round: what the tests compare to, and the fuzz target `train`.

use super::{Alphabet, PieceCounts, Ties, TrainOptions, Trained};
use std::collections::{BTreeSet, HashMap};

/// The merges of valid options and text.
pub(super) fn train(counts: &PieceCounts, options: &TrainOptions) -> Trained {
    let mut trained = Trained::default();
    // Each id's token, as the base symbols' values: bytes or code points.
    let mut tokens: Vec<Vec<u32>> = Vec::new();
    let symbols = |piece: &[u8]| -> Vec<u32> {
        match options.alphabet {
            Alphabet::Bytes => piece.iter().map(|&b| u32::from(b)).collect(),
            Alphabet::Characters => str::from_utf8(piece).unwrap().chars().map(u32::from).collect(),
        }
    };
    match options.alphabet {
        Alphabet::Bytes => tokens.extend((0..256).map(|byte| vec![byte])),
        Alphabet::Characters => {
            let all: BTreeSet<u32> = counts.iter().flat_map(|(piece, _)| symbols(piece)).collect();
            trained.characters = all.iter().map(|&code| char::from_u32(code).unwrap()).collect();
            tokens.extend(all.into_iter().map(|code| vec![code]));
        }
    }
    let id_of = |symbol: u32| tokens.iter().position(|token| token[0] == symbol).unwrap() as u32;
    let mut pieces: Vec<(Vec<u32>, u64)> =
        counts.iter().map(|(piece, n)| (symbols(piece).into_iter().map(id_of).collect(), n)).collect();
    loop {
        if options.vocab_size.is_some_and(|size| tokens.len() as u64 + options.reserved >= size) {
            return trained;
        }
        // Count and order of first appearance.
        let mut pairs: HashMap<(u32, u32), (u64, usize)> = HashMap::new();
        for (ids, n) in &pieces {
            for pair in ids.windows(2) {
                let seen = pairs.len();
                pairs.entry((pair[0], pair[1])).or_insert((0, seen)).0 += n;
            }
        }
        let text = |id: u32| &tokens[id as usize];
        let allowed = |&(l, r): &(u32, u32)| {
            options.max_token_length.is_none_or(|most| (text(l).len() + text(r).len()) as u64 <= most)
        };
        pairs.retain(|pair, _| allowed(pair));
        let Some(best) = pairs.values().map(|&(count, _)| count).max() else {
            trained.exhausted = true;
            return trained;
        };
        if best < options.min_count {
            return trained;
        }
        let tied = pairs.iter().filter(|(_, value)| value.0 == best).map(|(&pair, value)| (pair, value.1));
        let (pair, _) = match options.ties {
            Ties::SmallestIds => tied.min_by_key(|&(pair, _)| pair),
            Ties::SmallestTokens => tied.min_by_key(|&((l, r), _)| (text(l), text(r))),
            Ties::FirstSeen => tied.min_by_key(|&(_, seen)| seen),
        }
        .unwrap();
        for (ids, _) in &mut pieces {
            *ids = merge(ids, pair, tokens.len() as u32);
        }
        let joined = [&tokens[pair.0 as usize][..], &tokens[pair.1 as usize]].concat();
        tokens.push(joined);
        trained.merges.push(pair);
        trained.merge_counts.push(best);
    }
}

/// Replaces `pair` by `new` from left to right without overlap.
fn merge(ids: &[u32], pair: (u32, u32), new: u32) -> Vec<u32> {
    let (mut merged, mut i) = (Vec::new(), 0);
    while i < ids.len() {
        if i + 1 < ids.len() && (ids[i], ids[i + 1]) == pair {
            merged.push(new);
            i += 2;
        } else {
            merged.push(ids[i]);
            i += 1;
        }
    }
    merged
}
