//! Training in stages: what training in memory gives, whatever there is room for.

use super::stages::{self, Room};
use super::tests::{ALPHABETS, Random, TIES, random_counts};
use super::tests_rules::{Caller, Forbids, pieces, random_options};
use super::ticker::Ticker;
use super::{Alphabet, Learned, Progress, Ties, TrainOptions, Trained, Watch, train, train_counts, train_watched};
use crate::count::{Counter, Counts, Limit, PieceCounts, RunningCounts};
use crate::specials::SpecialMatcher;
use crate::split::{self, Splitter};
use crate::{Error, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

fn random_room(random: &mut Random) -> Room {
    Room {
        memory: *random.one_of(&[0, 500, 3000, 1 << 30]),
        sums: *random.one_of(&[2, 8, 64, 1 << 12]),
        batch: *random.one_of(&[(1, usize::MAX), (3, usize::MAX), (1 << 16, 10)]),
        first_threshold: *random.one_of(&[None, Some(0), Some(3), Some(20), Some(1000), Some(u64::MAX)]),
    }
}

fn in_stages(counts: &PieceCounts, options: &TrainOptions, room: &Room, watch: &mut dyn Watch) -> Result<Trained> {
    let counts = Counts::Memory(Arc::new(counts.clone()));
    stages::train(&counts, options, room, &mut Ticker::new(watch))
}

fn check(seeds: std::ops::Range<u64>) -> usize {
    let mut merges = 0;
    for seed in seeds {
        for alphabet in ALPHABETS {
            let mut random = Random::new(seed);
            let counts = pieces(&mut random, alphabet);
            for ties in TIES {
                let mut options = random_options(&mut random, &counts, alphabet, ties);
                options.ask = random.below(3) == 0;
                let forbids: Forbids = |left, right| left.last() == right.last();
                let caller = || Caller { forbidden: Some(forbids), ..Caller::default() };
                let (mut plain, mut staged, room) = (caller(), caller(), random_room(&mut random));
                let expected = train_watched(&counts, &options, &mut plain);
                let found = in_stages(&counts, &options, &room, &mut staged);
                merges += expected.as_ref().map_or(0, |trained| trained.merges.len());
                let shown: Vec<_> = counts.iter().map(|(piece, n)| (String::from_utf8_lossy(piece), n)).collect();
                let Room { memory, sums, batch, first_threshold } = room;
                let with = (memory, sums, batch, first_threshold);
                assert_eq!(found, expected, "seed {seed}, {with:?}, {options:?}, {shown:?}");
                assert_eq!(staged.asked, plain.asked, "seed {seed}, {with:?}, {options:?}, {shown:?}");
            }
        }
    }
    merges
}

#[test]
fn equal_training_in_memory_on_random_corpora() {
    assert!(check(0..600) > 40_000);
}

#[test]
#[ignore = "exhaustive: ten thousand random corpora"]
fn equal_training_in_memory_on_ten_thousand_random_corpora() {
    check(1_000..11_000);
}

/// With large counts too, and few pieces.
#[test]
fn equal_training_in_memory_with_any_counts() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let (counts, room) = (random_counts(&mut random), random_room(&mut random));
        let options = TrainOptions {
            alphabet: *random.one_of(&ALPHABETS),
            ties: *random.one_of(&TIES),
            min_count: *random.one_of(&[1, 2, 30]),
            ..TrainOptions::default()
        };
        let go_on = |_| ControlFlow::Continue(());
        let expected = train(&counts, &options, go_on);
        assert_eq!(in_stages(&counts, &options, &room, &mut { go_on }), expected, "seed {seed}, {options:?}");
    }
}

/// Words of a few letters with endings of their own: most of them occur once, and there are more than the limit holds.
#[test]
fn counts_on_disk_are_learnt_from_in_stages() {
    let mut random = Random::new(1);
    let mut text = String::new();
    for i in 0..60_000_u32 {
        text.push_str(random.one_of::<&str>(&["the ", "number ", "counted ", "counting ", "counters "]));
        let number = i.wrapping_mul(0x9E37_79B9);
        text.extend((0..8).map(|place| char::from(b'a' + (number >> (4 * place) & 15) as u8)));
        text.push(' ');
    }
    let counter = Counter::new(Splitter::new(split::GPT2).unwrap(), SpecialMatcher::none());
    let limit = Limit { memory: 400_000, folder: std::env::temp_dir() };
    let mut running = RunningCounts::new(Some(limit));
    running.count_batch(&counter, &[text.as_bytes()], 2, &|| false).unwrap();
    running.settle(&|| false).unwrap();
    let counts = running.counts();
    assert!(matches!(counts, Counts::Disk(_)));
    let whole = counts.load(&|| false).unwrap();
    for (ties, alphabet) in [(Ties::FirstSeen, Alphabet::Bytes), (Ties::SmallestTokens, Alphabet::Characters)] {
        let options = TrainOptions { vocab_size: Some(700), ties, alphabet, ..TrainOptions::default() };
        let mut go_on = |_: Progress| ControlFlow::Continue(());
        let expected = train_watched(Arc::clone(&whole), &options, &mut go_on).unwrap();
        assert!(expected.merges.len() > 400);
        assert_eq!(train_counts(counts.clone(), &options, &mut go_on, &|| false).unwrap(), expected);
    }
}

/// Breaks after some calls.
struct Impatient(usize);

impl Watch for Impatient {
    fn tick(&mut self, _: Progress, _: &Learned) -> ControlFlow<()> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn stages_end_when_they_are_asked_to() {
    let mut random = Random::new(3);
    let counts = random_counts(&mut random);
    let room = Room { memory: 0, sums: 8, batch: (1, 1), first_threshold: None };
    let result = in_stages(&counts, &TrainOptions::default(), &room, &mut Impatient(1));
    assert_eq!(result, Err(Error::Interrupted));
}
