//! Against the definition, recounted from scratch each round.

use super::super::naive;
use super::super::tests::{Random, counts};
use super::*;
use crate::train::PairRules;
use std::collections::HashMap;

type Pieces = Vec<(Vec<u32>, u64)>;

fn merge(pieces: &mut Pieces, pair: (u32, u32), new: u32) {
    for (ids, _) in pieces {
        let mut at = 0;
        while at + 1 < ids.len() {
            if (ids[at], ids[at + 1]) == pair {
                ids.splice(at..at + 2, [new]);
            }
            at += 1;
        }
    }
}

fn tokens(pieces: &Pieces) -> u64 {
    pieces.iter().map(|(ids, n)| ids.len() as u64 * n).sum()
}

fn symbols(counts: &PieceCounts) -> Pieces {
    counts.iter().map(|(piece, n)| (piece.iter().map(|&byte| byte.into()).collect(), n)).collect()
}

/// The definition, with ties by the smallest ids.
fn train_naive(
    groups: &[PieceCounts],
    measured: Option<&[PieceCounts]>,
    options: &TrainOptions,
    parity: &Parity,
) -> (Vec<(u32, u32)>, Vec<u32>, Vec<u64>) {
    let mut texts: Vec<Pieces> = groups.iter().map(symbols).collect();
    let mut held_out: Option<Vec<Pieces>> = measured.map(|all| all.iter().map(symbols).collect());
    let mut spelt: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let (mut merges, mut chosen, mut done) = (Vec::new(), Vec::new(), vec![false; groups.len()]);
    let limit = options.vocab_size.map_or(usize::MAX, |size| size as usize);
    while spelt.len() < limit {
        let costs: Vec<f64> = (0..groups.len())
            .map(|i| tokens(&held_out.as_ref().unwrap_or(&texts)[i]) as f64 / parity.worth[i])
            .collect();
        let mut order: Vec<usize> = (0..groups.len()).filter(|&i| !done[i]).collect();
        order.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]).then(a.cmp(&b)));
        let waits = |group: usize| {
            parity.window.is_some_and(|(window, alpha)| {
                let last = &chosen[chosen.len().saturating_sub(window)..];
                let often = last.iter().filter(|&&other| other == group as u32).count();
                often as f64 > alpha * window as f64 / groups.len() as f64
            })
        };
        let Some(&group) = order.iter().find(|&&group| !waits(group)).or(order.first()) else { break };
        let given = options.merges.get(merges.len());
        let pair = match given {
            Some(&pair) => pair,
            None => {
                let mut pairs: HashMap<(u32, u32), u64> = HashMap::new();
                for (ids, n) in &texts[group] {
                    ids.windows(2).for_each(|pair| *pairs.entry((pair[0], pair[1])).or_default() += n);
                }
                pairs.retain(|pair, count| {
                    let token = [&spelt[pair.0 as usize][..], &spelt[pair.1 as usize]].concat();
                    *count >= options.min_count
                        && options.max_token_length.is_none_or(|most| token.len() as u64 <= most)
                        && naive::keeps(&options.rules, &token)
                });
                let best = pairs.iter().min_by_key(|(pair, count)| (std::cmp::Reverse(**count), **pair));
                let Some((&pair, _)) = best else {
                    done[group] = true;
                    continue;
                };
                chosen.push(group as u32);
                pair
            }
        };
        let new = spelt.len() as u32;
        spelt.push([&spelt[pair.0 as usize][..], &spelt[pair.1 as usize]].concat());
        texts.iter_mut().chain(held_out.iter_mut().flatten()).for_each(|pieces| merge(pieces, pair, new));
        merges.push(pair);
    }
    let left = held_out.as_ref().unwrap_or(&texts).iter().map(tokens).collect();
    (merges, chosen, left)
}

fn random_counts(random: &mut Random, letters: &[char]) -> PieceCounts {
    let mut pieces: Vec<(String, u64)> = (0..random.below(12))
        .map(|_| {
            let text = (0..1 + random.below(9)).map(|_| *random.one_of(letters)).collect();
            (text, 1 + random.below(5) as u64)
        })
        .collect();
    pieces.sort();
    pieces.dedup_by(|a, b| a.0 == b.0);
    counts(&pieces.iter().map(|(text, n)| (&text[..], *n)).collect::<Vec<_>>())
}

#[test]
fn merges_are_those_of_the_definition() {
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let groups = 1 + random.below(4);
        let letters = [&['a', 'b', 'c'][..], &['b', 'c', 'd'], &['a', 'x', 'é'], &['x', 'y']];
        let texts = |random: &mut Random| -> Vec<PieceCounts> {
            (0..groups).map(|group| random_counts(random, letters[group])).collect()
        };
        let trained_on = texts(&mut random);
        let measured = (random.below(2) == 0).then(|| texts(&mut random));
        let options = TrainOptions {
            vocab_size: (random.below(3) > 0).then(|| 258 + random.below(20) as u64),
            min_count: 1 + random.below(3) as u64,
            max_token_length: (random.below(4) == 0).then(|| 2 + random.below(3) as u64),
            rules: PairRules { whole_characters: random.below(3) == 0, ..PairRules::default() },
            merges: if random.below(3) == 0 { vec![(98, 99), (97, 256)] } else { Vec::new() },
            ..TrainOptions::default()
        };
        let parity = Parity {
            worth: (0..groups).map(|_| 1.0 + random.below(3) as f64).collect(),
            window: (random.below(2) == 0).then(|| (1 + random.below(6), 1.0 + random.below(2) as f64)),
        };
        let want = train_naive(&trained_on, measured.as_deref(), &options, &parity);
        let (borrowed, held_out) = (trained_on.iter().collect(), measured.as_ref().map(|all| all.iter().collect()));
        let mut go_on = |_: Progress| ControlFlow::Continue(());
        let got = train_parity::<&PieceCounts>(borrowed, held_out, &options, &parity, &mut go_on).unwrap();
        assert_eq!((got.merges, got.chosen, got.tokens), want, "seed {seed}: {options:?} {parity:?}");
    }
}

/// One group chooses as ordinary training does, by every rule for ties.
#[test]
fn one_group_is_ordinary_training() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let texts = random_counts(&mut random, &['a', 'b', 'c']);
        for ties in super::super::tests::TIES {
            let options = TrainOptions { ties, min_count: 2, ..TrainOptions::default() };
            let mut go_on = |_: Progress| ControlFlow::Continue(());
            let parity = Parity { worth: vec![1.0], window: None };
            let got = train_parity(vec![&texts], None, &options, &parity, &mut go_on).unwrap();
            let want = naive::train(&texts, &options);
            assert_eq!((got.merges, got.merge_counts), (want.merges, want.merge_counts), "{ties:?} {seed}");
        }
    }
}

#[test]
fn what_is_not_served_is_refused_and_the_watch_ends_it() {
    let texts = counts(&[("abcabc", 3)]);
    let one = Parity { worth: vec![1.0], window: None };
    let run = |options: &TrainOptions, parity: &Parity, answer: ControlFlow<()>| {
        let mut watch = |_: Progress| answer;
        train_parity(vec![&texts], None, options, parity, &mut watch)
    };
    let default = TrainOptions::default();
    for options in [
        TrainOptions { alphabet: Alphabet::Characters, ..default.clone() },
        TrainOptions { ask: true, ..default.clone() },
        TrainOptions { seeds: vec![b"ab".to_vec()], ..default.clone() },
        TrainOptions { min_count: 0, ..default.clone() },
        TrainOptions { vocab_size: Some(255), ..default.clone() },
    ] {
        assert!(matches!(run(&options, &one, ControlFlow::Continue(())), Err(Error::Argument(_))), "{options:?}");
    }
    for parity in [
        Parity { worth: vec![], window: None },
        Parity { worth: vec![0.0], window: None },
        Parity { worth: vec![f64::NAN], window: None },
        Parity { worth: vec![1.0], window: Some((0, 2.0)) },
        Parity { worth: vec![1.0], window: Some((5, 0.5)) },
    ] {
        assert!(matches!(run(&default, &parity, ControlFlow::Continue(())), Err(Error::Argument(_))), "{parity:?}");
    }
    assert_eq!(run(&default, &one, ControlFlow::Break(())), Err(Error::Interrupted));
}
