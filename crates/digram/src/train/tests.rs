//! Training against its definition, the vectors of the specification, and cases from public reports.

use super::rounds::Tuning;
use super::ticker::Ticker;
use super::{Alphabet, Progress, Ties, TrainOptions, Trained, naive, train, train_tuned};
use crate::count::PieceCounts;
use crate::{Error, Result};
use std::ops::ControlFlow;

pub(super) const TIES: [Ties; 6] = [
    Ties::SmallestIds,
    Ties::SmallestTokens,
    Ties::FirstSeen,
    Ties::LargestTokens,
    Ties::ShortestToken,
    Ties::SmallestCharacters,
];
pub(super) const ALPHABETS: [Alphabet; 2] = [Alphabet::Bytes, Alphabet::Characters];

/// A small generator of random numbers (xorshift64*), the same on every machine.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n as u64) as usize
    }

    pub(super) fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

pub(super) fn counts(pieces: &[(&str, u64)]) -> PieceCounts {
    let mut counts = PieceCounts::new();
    for (piece, n) in pieces {
        counts.add(piece.as_bytes(), *n).unwrap();
    }
    counts
}

fn options(alphabet: Alphabet, ties: Ties) -> TrainOptions {
    TrainOptions { alphabet, ties, ..TrainOptions::default() }
}

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn trained(counts: &PieceCounts, options: &TrainOptions) -> Result<Trained> {
    train(counts, options, go_on)
}

/// A text of `symbols`, with runs, with repeats of what came before, and with noise.
pub(super) fn random_text(random: &mut Random, symbols: &[char], length: usize) -> String {
    let mut text: Vec<char> = Vec::new();
    while text.len() < length {
        match random.below(4) {
            0 => {
                let (symbol, n) = (*random.one_of(symbols), 1 + random.below(9));
                text.extend(std::iter::repeat_n(symbol, n));
            }
            1 if !text.is_empty() => {
                let start = random.below(text.len());
                let end = start + 1 + random.below(text.len() - start);
                text.extend_from_within(start..end);
            }
            _ => text.push(*random.one_of(symbols)),
        }
    }
    text.truncate(length);
    text.into_iter().collect()
}

/// Pieces of 2 to 6 different symbols: one, or several with counts.
pub(super) fn random_counts(random: &mut Random) -> PieceCounts {
    // Neighbours in UTF-8, in UTF-16 and across the lengths of both, out of order.
    let symbols = ['b', 'a', '\u{10000}', '\u{ffff}', 'é', '\0', 'z', '中'];
    let first = random.below(3);
    let symbols = &symbols[first..first + 2 + random.below(5)];
    let mut counts = PieceCounts::new();
    let weighted = random.below(3);
    for _ in 0..1 + random.below(8) * random.below(2) {
        let length = *random.one_of(&[1, 2, 3, 5, 8, 20, 60]) + random.below(4);
        let n = [1, 1 + random.below(4) as u64, 1 << random.below(40)][weighted];
        counts.add(random_text(random, symbols, length).as_bytes(), n).unwrap();
    }
    counts
}

#[test]
fn equals_the_definition_on_random_corpora() {
    let mut merges = 0;
    for seed in 0..2500 {
        let mut random = Random::new(seed);
        let counts = random_counts(&mut random);
        for alphabet in ALPHABETS {
            for ties in TIES {
                let symbols = if alphabet == Alphabet::Bytes { 256 } else { 8 };
                let options = TrainOptions {
                    min_count: *random.one_of(&[1, 1, 2, 2, 3, 10]),
                    reserved: random.below(3) as u64,
                    vocab_size: (random.below(2) == 0).then_some(symbols + 2 + random.below(30) as u64),
                    max_token_length: (random.below(3) == 0).then_some(1 + random.below(8) as u64),
                    ..options(alphabet, ties)
                };
                let expected = naive::train(&counts, &options);
                merges += expected.merges.len();
                let first_threshold = *random.one_of(&[0, 3, 20, 1000]);
                let mut callback = go_on;
                let mut ticker = Ticker::new(&mut callback);
                let found = train_tuned(&counts, &options, &mut ticker, Some(Tuning { first_threshold }));
                let pieces: Vec<_> = counts.iter().map(|(piece, n)| (String::from_utf8_lossy(piece), n)).collect();
                assert_eq!(
                    found,
                    Ok(expected),
                    "seed {seed}, first threshold {first_threshold}, {options:?}, {pieces:?}"
                );
            }
        }
    }
    assert!(merges > 100_000, "the corpora are too small to show anything: {merges} merges");
}

#[test]
fn the_vectors_of_the_specification() {
    for ties in TIES {
        let options = TrainOptions { vocab_size: Some(259), ..options(Alphabet::Bytes, ties) };
        let found = trained(&counts(&[("aaabdaaabac", 1)]), &options).unwrap();
        // Round 2 is a tie of (97, 98) and (256, 97) at 2, which two rules decide the other way.
        let other = matches!(ties, Ties::FirstSeen | Ties::LargestTokens);
        let second = if other { (256, 97) } else { (97, 98) };
        let third = if other { (257, 98) } else { (256, 257) };
        assert_eq!(found.merges, [(97, 97), second, third], "{ties:?}");
        assert_eq!(found.merge_counts, [4, 2, 2]);
        assert!(!found.exhausted && found.characters.is_empty());
    }
    let options = TrainOptions { min_count: 2, ..options(Alphabet::Characters, Ties::SmallestTokens) };
    let found = trained(&counts(&[("abababa", 1)]), &options).unwrap();
    assert_eq!(found.characters, ['a', 'b']);
    assert_eq!(found.merges, [(0, 1), (2, 2)]);
    assert_eq!(found.merge_counts, [3, 2]);
    assert!(!found.exhausted);
}

#[test]
fn ties_by_ids_and_by_tokens_differ_where_tokens_are_young() {
    // After xb = 256 (5 times), (256, 120) "xbx" and (99, 100) "cd" tie at 2.
    let pieces = counts(&[("xb", 3), ("xbx", 2), ("cd", 2)]);
    let second = |ties| trained(&pieces, &options(Alphabet::Bytes, ties)).unwrap().merges[1];
    assert_eq!(second(Ties::SmallestIds), (99, 100));
    assert_eq!(second(Ties::SmallestTokens), (99, 100));
    assert_eq!(second(Ties::FirstSeen), (256, 120));
    let pieces = counts(&[("ab", 3), ("abx", 2), ("cd", 2)]);
    let second = |ties| trained(&pieces, &options(Alphabet::Bytes, ties)).unwrap().merges[1];
    assert_eq!(second(Ties::SmallestIds), (99, 100));
    assert_eq!(second(Ties::SmallestTokens), (256, 120));
}

#[test]
fn huge_counts_win_and_do_not_wrap() {
    for ties in TIES {
        let merges = |pieces: &[(&str, u64)]| trained(&counts(pieces), &options(Alphabet::Bytes, ties));
        let found = merges(&[("bc", 10), ("aa", 3_000_000_000)]).unwrap();
        assert_eq!((found.merges[0], found.merge_counts[0]), ((97, 97), 3_000_000_000));
        let found = merges(&[("ab", 1 << 40)]).unwrap();
        assert_eq!((&found.merges[..], &found.merge_counts[..]), (&[(97, 98)][..], &[1 << 40][..]));
        let found = merges(&[("ab", u64::MAX), ("xyz", u64::MAX)]).unwrap();
        assert_eq!(found.merge_counts, [u64::MAX; 3]);
        assert_eq!(merges(&[("aba", u64::MAX), ("ab", 1)]), Err(Error::CountOverflow));
        assert_eq!(merges(&[("aaa", 1 << 63)]), Err(Error::CountOverflow));
    }
}

#[test]
fn the_order_of_pieces_matters_to_first_seen_alone() {
    for ties in [Ties::SmallestIds, Ties::SmallestTokens] {
        for pieces in [["bbbaaaddddcccc", "aaabbbccccdddd"], ["aaabbbccccdddd", "bbbaaaddddcccc"]] {
            let found = trained(&counts(&pieces.map(|piece| (piece, 1))), &options(Alphabet::Bytes, ties)).unwrap();
            // (c, c) and (d, d) tie at 6, (a, a) and (b, b) at 4.
            assert_eq!(found.merges[..2], [(99, 99), (100, 100)]);
        }
        for pieces in [["bbbaaa", "xy"], ["xy", "bbbaaa"]] {
            let found = trained(&counts(&pieces.map(|piece| (piece, 1))), &options(Alphabet::Bytes, ties)).unwrap();
            assert_eq!(found.merges[0], (97, 97));
        }
    }
    let first = |piece| trained(&counts(&[(piece, 1)]), &options(Alphabet::Bytes, Ties::FirstSeen)).unwrap().merges[0];
    assert_eq!(first("bbbaaaddddcccc"), (100, 100));
    assert_eq!(first("aaabbbccccdddd"), (99, 99));
}

#[test]
fn an_empty_corpus_and_a_corpus_that_runs_out() {
    for (alphabet, ties) in ALPHABETS.iter().flat_map(|&alphabet| TIES.map(|ties| (alphabet, ties))) {
        let options = TrainOptions { vocab_size: Some(1000), ..options(alphabet, ties) };
        for pieces in [&[][..], &[(" ", 7)]] {
            let found = trained(&counts(pieces), &options).unwrap();
            assert!(found.exhausted && found.merges.is_empty());
        }
        let found = trained(&counts(&[("abc", 2)]), &options).unwrap();
        assert!(found.exhausted && found.merges.len() == 2);
        let short = TrainOptions { max_token_length: Some(2), ..options.clone() };
        assert!(trained(&counts(&[("abc", 2)]), &short).unwrap().exhausted);
        let often = TrainOptions { min_count: 3, ..options };
        assert!(!trained(&counts(&[("abc", 2)]), &often).unwrap().exhausted);
    }
}

#[test]
fn wrong_arguments_name_the_numbers() {
    let message = |options: &TrainOptions, piece| trained(&counts(&[(piece, 1)]), options).unwrap_err().to_string();
    let bytes = TrainOptions { vocab_size: Some(300), reserved: 60, ..options(Alphabet::Bytes, Ties::SmallestIds) };
    let expected = "vocab_size=300 is below the 256 bytes of the alphabet plus 60 special tokens: ask for at least 316";
    assert_eq!(message(&bytes, "x"), expected);
    let characters = TrainOptions { alphabet: Alphabet::Characters, vocab_size: Some(62), ..bytes.clone() };
    let expected =
        "vocab_size=62 is below the 3 characters of the alphabet plus 60 special tokens: ask for at least 63";
    assert_eq!(message(&characters, "añb"), expected);
    assert!(message(&TrainOptions { min_count: 0, ..bytes.clone() }, "x").contains("min_count=0"));
    let all = TrainOptions { vocab_size: Some(316), ..bytes };
    assert_eq!(trained(&counts(&[("aaaa", 1)]), &all).unwrap().merges, []);

    let mut pieces = counts(&[("ab", 1)]);
    pieces.add(b"abc\xE4\xB8", 1).unwrap();
    let found = trained(&pieces, &options(Alphabet::Characters, Ties::SmallestIds));
    assert_eq!(found, Err(Error::NotText { offset: 3 }));
    assert!(trained(&pieces, &options(Alphabet::Bytes, Ties::SmallestIds)).is_ok());
}

/// Real text, whole and in words, until nothing occurs twice.
#[test]
fn equals_the_definition_on_its_own_source() {
    let text = include_str!("order.rs");
    let words: Vec<_> = text.split_inclusive(' ').map(|word| (word, 1)).collect();
    for pieces in [counts(&[(text, 1)]), counts(&words)] {
        for ties in TIES {
            let options = TrainOptions { min_count: 2, ..options(Alphabet::Characters, ties) };
            let found = trained(&pieces, &options).unwrap();
            assert!(found.merges.len() > 300, "{ties:?}: {} merges", found.merges.len());
            assert_eq!(found, naive::train(&pieces, &options), "{ties:?}");
        }
    }
}

/// A random passage, twice: nearly all of it occurs exactly twice, and is joined pair by pair to tokens whose lengths add
/// up to the square of the text. The work must stay near n log n all the same.
#[test]
fn a_long_passage_that_occurs_twice_takes_no_quadratic_work() {
    let passage: String = {
        let mut random = Random::new(1);
        let letters: Vec<char> = ('a'..='z').collect();
        (0..200_000).map(|_| *random.one_of(&letters)).collect()
    };
    let twice = |length: usize| counts(&[(&passage[..length].repeat(2), 1)]);
    for ties in TIES {
        let options = TrainOptions { min_count: 2, ..options(Alphabet::Characters, ties) };
        let short = twice(400);
        assert_eq!(trained(&short, &options).unwrap(), naive::train(&short, &options));

        let mut callback = go_on;
        let mut ticker = Ticker::new(&mut callback);
        let found = train_tuned(&twice(passage.len()), &options, &mut ticker, None).unwrap();
        let mut lengths = vec![1usize; found.characters.len()];
        for &(left, right) in &found.merges {
            lengths.push(lengths[left as usize] + lengths[right as usize]);
        }
        let longest = *lengths.iter().max().unwrap();
        assert!(longest > passage.len() - 100, "{ties:?}: the longest token has {longest} symbols");
        assert!(ticker.total() < 50 * passage.len() as u64, "{ties:?}: {} units of work", ticker.total());
    }
}

/// One symbol many times: all positions of a pair in one list, and each round halves them.
#[test]
fn a_long_run_takes_linear_work() {
    for ties in TIES {
        let options = TrainOptions { min_count: 2, ..options(Alphabet::Bytes, ties) };
        let mut callback = go_on;
        let mut ticker = Ticker::new(&mut callback);
        let found = train_tuned(&counts(&[(&"a".repeat(1 << 20), 1)]), &options, &mut ticker, None).unwrap();
        // a, a^2, a^4, ... until two are left, which are one pair.
        let mut expected = vec![(97, 97)];
        expected.extend((256..256 + 18).map(|id| (id, id)));
        assert_eq!(found.merges, expected);
        let halves: Vec<u64> = (2..=20).rev().map(|bits| (1 << bits) - 1).collect();
        assert_eq!(found.merge_counts, halves);
        assert!(ticker.total() < 40 << 20, "{ties:?}: {} units of work", ticker.total());
    }
}

#[test]
fn the_callback_hears_of_progress_and_may_stop() {
    let text = random_text(&mut Random::new(3), &['a', 'b', 'c', 'd'], 300_000);
    let pieces = counts(&[(&text, 1)]);
    for ties in TIES {
        let options = TrainOptions { vocab_size: Some(2000), ..options(Alphabet::Bytes, ties) };
        let mut heard = Vec::new();
        let found = train(&pieces, &options, |progress| {
            heard.push(progress);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(heard[0], Progress { merges: 0, planned: None, best_count: 0 });
        let last = *heard.last().unwrap();
        let merges = found.merges.len() as u64;
        let best_count = *found.merge_counts.last().unwrap();
        assert_eq!(last, Progress { merges, planned: Some(2000 - 256), best_count });
        assert!(heard.is_sorted_by_key(|progress| progress.merges));

        for stop in 0..heard.len().min(5) {
            let mut calls = 0;
            let found = train(&pieces, &options, |_| {
                calls += 1;
                if calls > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            // A faster run may have fewer calls, but at least the first and the last.
            assert!(found == Err(Error::Interrupted) || stop > 1);
        }
    }
}
