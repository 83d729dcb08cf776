//! Rules, seeds, merges to begin with, alphabets of choice and questions to the caller: against the definition.

use super::rounds::Tuning;
use super::tests::{ALPHABETS, Random, TIES, counts, random_counts, random_text};
use super::ticker::Ticker;
use super::{
    Alphabet, Learned, PairRules, Progress, Ties, TrainOptions, Trained, Watch, naive, train, train_tuned,
    train_watched,
};
use crate::count::PieceCounts;
use crate::{Error, Result};
use std::ops::ControlFlow;

/// Letters, digits of two lengths in UTF-8, combining marks, and characters that begin or end alike.
const SYMBOLS: [char; 10] = ['a', 'b', '1', '٣', '\u{307}', '\u{301}', 'é', 'è', '中', '𝟗'];

pub(super) type Forbids = fn(&[u8], &[u8]) -> bool;

/// A caller that forbids what it is told to, and remembers what it was asked.
#[derive(Default)]
pub(super) struct Caller {
    pub(super) forbidden: Option<Forbids>,
    pub(super) asked: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) stop: Option<usize>,
}

impl Watch for Caller {
    fn tick(&mut self, progress: Progress, learned: &Learned) -> ControlFlow<()> {
        // What is under way is not counted yet.
        assert!(learned.merges.len() as u64 - progress.merges <= 1);
        assert_eq!(learned.merges.len(), learned.counts.len());
        ControlFlow::Continue(())
    }

    fn allows(&mut self, left: &[u8], right: &[u8]) -> ControlFlow<(), bool> {
        if self.stop == Some(self.asked.len()) {
            return ControlFlow::Break(());
        }
        self.asked.push((left.to_vec(), right.to_vec()));
        ControlFlow::Continue(!self.forbidden.is_some_and(|forbids| forbids(left, right)))
    }
}

fn random_rules(random: &mut Random) -> PairRules {
    let mut one_in = |n| random.below(n) == 0;
    let (limited, whole_characters, split_digits, attach_marks) = (one_in(3), one_in(3), one_in(3), one_in(3));
    let max_characters = limited.then(|| 1 + random.below(5) as u64);
    PairRules { max_characters, whole_characters, split_digits, attach_marks }
}

/// Pieces of the symbols that rules look at, and of bytes that are no text.
pub(super) fn pieces(random: &mut Random, alphabet: Alphabet) -> PieceCounts {
    if random.below(3) == 0 {
        return random_counts(random);
    }
    let (first, number) = (random.below(6), 2 + random.below(4));
    let mut counts = PieceCounts::new();
    for _ in 0..1 + random.below(6) {
        let length = *random.one_of(&[1, 2, 4, 9, 30]) + random.below(4);
        let mut piece = random_text(random, &SYMBOLS[first..first + number], length).into_bytes();
        if alphabet == Alphabet::Bytes && random.below(8) == 0 {
            piece.iter_mut().for_each(|byte| *byte = byte.rotate_left(1) | 0x80);
        }
        counts.add(&piece, 1 + random.below(4) as u64).unwrap();
    }
    counts
}

/// Merges of ids that are there, most of them in the text, some not.
fn random_merges(random: &mut Random, counts: &PieceCounts, options: &TrainOptions) -> Vec<(u32, u32)> {
    let few = TrainOptions { vocab_size: None, min_count: 1, ..options.clone() };
    let found = naive::train(counts, &few);
    let base = if options.alphabet == Alphabet::Bytes { 256 } else { found.characters.len() as u32 };
    let mut merges: Vec<(u32, u32)> = found.merges.into_iter().take(random.below(6)).collect();
    for _ in 0..random.below(3) * random.below(3) {
        let ids = (base + merges.len() as u32) as usize;
        let mut any = || if ids == 0 { 0 } else { (ids - 1 - random.below(ids.min(4))) as u32 };
        let pair = (any(), any());
        if ids > 0 && !merges.contains(&pair) {
            merges.push(pair);
        }
    }
    merges
}

pub(super) fn random_options(
    random: &mut Random,
    counts: &PieceCounts,
    alphabet: Alphabet,
    ties: Ties,
) -> TrainOptions {
    let mut options = TrainOptions {
        alphabet,
        ties,
        min_count: *random.one_of(&[1, 1, 2, 3]),
        reserved: random.below(2) as u64,
        max_token_length: (random.below(5) == 0).then(|| 1 + random.below(6) as u64),
        rules: random_rules(random),
        ..TrainOptions::default()
    };
    if alphabet == Alphabet::Characters && random.below(2) == 0 {
        options.initial = (0..random.below(4)).map(|_| *random.one_of(&['a', 'é', 'x', '\u{10ffff}'])).collect();
        options.limit = (random.below(2) == 0).then(|| (4 + random.below(5)) as u64);
    }
    if random.below(2) == 0 {
        options.merges = random_merges(random, counts, &options);
    }
    if random.below(2) == 0 {
        let characters = naive::train(counts, &options).characters;
        let symbols: &[char] = if alphabet == Alphabet::Bytes { &SYMBOLS } else { &characters };
        for _ in 0..if symbols.is_empty() { 0 } else { 1 + random.below(3) } {
            let length = 1 + random.below(6);
            options.seeds.push(random_text(random, symbols, length).into_bytes());
        }
    }
    if random.below(2) == 0 {
        let none = TrainOptions { vocab_size: Some(0), ..options.clone() };
        let begun = naive::train(counts, &none);
        let base = if alphabet == Alphabet::Bytes { 256 } else { begun.characters.len() };
        options.vocab_size = Some((base + begun.merges.len() + random.below(20)) as u64 + options.reserved);
    }
    options
}

fn check(seeds: std::ops::Range<u64>) -> usize {
    let mut merges = 0;
    for seed in seeds {
        for alphabet in ALPHABETS {
            let mut random = Random::new(seed);
            let counts = pieces(&mut random, alphabet);
            for ties in TIES {
                let mut options = random_options(&mut random, &counts, alphabet, ties);
                options.ask = random.below(2) == 0;
                let forbids: Forbids = *random.one_of(&[
                    |_: &[u8], _: &[u8]| false,
                    |left: &[u8], right: &[u8]| (left.len() + right.len()).is_multiple_of(3),
                    |left: &[u8], right: &[u8]| left.last() == right.last(),
                ]);
                let mut asked = Vec::new();
                let expected = naive::train_asking(&counts, &options, &mut |left, right| {
                    asked.push((left.to_vec(), right.to_vec()));
                    !forbids(left, right)
                });
                merges += expected.merges.len();
                let first_threshold = *random.one_of(&[0, 3, 20, 1000]);
                let mut caller = Caller { forbidden: Some(forbids), ..Caller::default() };
                let mut ticker = Ticker::new(&mut caller);
                let found = train_tuned(&counts, &options, &mut ticker, Some(Tuning { first_threshold }));
                let shown: Vec<_> = counts.iter().map(|(piece, n)| (String::from_utf8_lossy(piece), n)).collect();
                assert_eq!(found, Ok(expected), "seed {seed}, threshold {first_threshold}, {options:?}, {shown:?}");
                assert_eq!(caller.asked, asked, "seed {seed}, threshold {first_threshold}, {options:?}, {shown:?}");
            }
        }
    }
    merges
}

#[test]
fn equal_the_definition_on_random_corpora() {
    assert!(check(0..600) > 40_000);
}

#[test]
#[ignore = "exhaustive: ten thousand random corpora"]
fn equal_the_definition_on_ten_thousand_random_corpora() {
    check(1_000..11_000);
}

fn trained(counts: &PieceCounts, options: &TrainOptions) -> Result<Trained> {
    train(counts, options, |_| ControlFlow::Continue(()))
}

/// A training that goes on from the merges of another is one training: for every tie rule, with every option.
#[test]
fn going_on_is_one_run() {
    for seed in 0..300 {
        for alphabet in ALPHABETS {
            let mut random = Random::new(seed);
            let counts = pieces(&mut random, alphabet);
            for ties in TIES {
                let options = random_options(&mut random, &counts, alphabet, ties);
                let whole = trained(&counts, &options).unwrap();
                let begun = options.merges.len();
                let cut = begun + random.below(whole.merges.len() + 1 - begun);
                let rest = TrainOptions { merges: whole.merges[..cut].to_vec(), ..options };
                assert_eq!(trained(&counts, &rest), Ok(whole), "seed {seed}, cut {cut}, {rest:?}");
            }
        }
    }
}

#[test]
fn tokens_keep_to_the_rules() {
    let learnt = |pieces: &[(&str, u64)], alphabet, rules| {
        let options = TrainOptions { alphabet, rules, ..TrainOptions::default() };
        let counts = counts(pieces);
        let found = trained(&counts, &options).unwrap();
        let mut tokens: Vec<Vec<u8>> = match alphabet {
            Alphabet::Bytes => (0..=255).map(|byte| vec![byte]).collect(),
            Alphabet::Characters => found.characters.iter().map(|c| c.to_string().into_bytes()).collect(),
        };
        for &(left, right) in &found.merges {
            tokens.push([&tokens[left as usize][..], &tokens[right as usize]].concat());
        }
        let first = tokens.len() - found.merges.len();
        let text = |token: &Vec<u8>| String::from_utf8_lossy(token).into_owned();
        tokens[first..].iter().map(text).collect::<Vec<_>>()
    };
    for alphabet in ALPHABETS {
        let apart = PairRules { split_digits: true, ..PairRules::default() };
        let tokens = learnt(&[(" 12ab12", 3), (" ٣٣x", 2)], alphabet, apart);
        assert!(tokens.contains(&"ab".to_owned()) && tokens.iter().all(|token| !token.contains(['1', '2'])));
        assert!(tokens.iter().all(|token| token == "٣" || !token.contains('٣')), "{tokens:?}");

        // Rows like those of OpenNMT/Tokenizer#57: a letter, a mark, another letter.
        let attached = PairRules { attach_marks: true, ..PairRules::default() };
        let rows = [("u\u{307}", 5), ("u\u{307}e", 5), ("t\u{307}", 3), ("t\u{307}e", 9), ("x\u{307}e", 9)];
        assert!(learnt(&rows, alphabet, PairRules::default()).contains(&"\u{307}e".to_owned()));
        let tokens = learnt(&rows, alphabet, attached);
        assert!(!tokens.iter().any(|token| token.starts_with('\u{307}') && token != "\u{307}"), "{tokens:?}");
        assert!(tokens.contains(&"t\u{307}e".to_owned()));
    }
    let whole = PairRules { whole_characters: true, ..PairRules::default() };
    let tokens = learnt(&[("中文中国", 5), ("a中", 9)], Alphabet::Bytes, whole);
    assert!(tokens.contains(&"a中".to_owned()) && tokens.contains(&"中文".to_owned()), "{tokens:?}");
    let short = PairRules { max_characters: Some(2), ..PairRules::default() };
    let tokens = learnt(&[("中文中国中文中国", 5)], Alphabet::Bytes, short);
    assert!(tokens.contains(&"文中".to_owned()) && !tokens.contains(&"文中国".to_owned()), "{tokens:?}");
}

#[test]
fn seeds_are_made_first_and_in_order() {
    let options =
        TrainOptions { seeds: vec![b"cab".to_vec(), b"ab".to_vec(), b"c".to_vec()], ..TrainOptions::default() };
    let found = trained(&counts(&[("abab", 5), ("xyz", 9)]), &options).unwrap();
    let (a, b, c) = (u32::from(b'a'), u32::from(b'b'), u32::from(b'c'));
    assert_eq!(found.merges[..3], [(c, a), (256, b), (a, b)]);
    assert_eq!(found.merge_counts[..3], [0, 0, 10]);
    assert_eq!(found.merges[3], (120, 121));
    // A part that is a token already is not made again.
    let options = TrainOptions { seeds: vec![b"abab".to_vec(), b"aba".to_vec()], ..TrainOptions::default() };
    let found = trained(&counts(&[]), &options).unwrap();
    assert_eq!(found.merges, [(a, b), (256, 256), (256, a)]);
}

#[test]
fn wrong_beginnings_are_named() {
    let message = |options: TrainOptions| trained(&counts(&[("abc", 1)]), &options).unwrap_err().to_string();
    let characters = || TrainOptions { alphabet: Alphabet::Characters, ..TrainOptions::default() };
    let seeds = |seed: &[u8]| vec![seed.to_vec()];
    assert!(message(TrainOptions { seeds: seeds(b""), ..characters() }).contains("is empty"));
    assert!(message(TrainOptions { seeds: seeds(b"ax"), ..characters() }).contains("\"ax\" has the character 'x'"));
    assert!(message(TrainOptions { seeds: seeds(b"\xff"), ..characters() }).contains("not UTF-8"));
    assert!(message(TrainOptions { seeds: seeds(&[7; 5000]), ..TrainOptions::default() }).contains("4096"));
    let merges = |merges: &[(u32, u32)]| TrainOptions { merges: merges.to_vec(), ..TrainOptions::default() };
    assert!(message(merges(&[(97, 256)])).contains("joins ids 97 and 256, but it makes id 256"));
    assert!(
        message(merges(&[(97, 98), (97, 98)])).contains("merge 1 of those to begin with joins ids 97 and 98 a second")
    );
    let few = TrainOptions { vocab_size: Some(257), reserved: 1, ..merges(&[(97, 98)]) };
    assert!(message(few).ends_with("plus 1 merge to begin with: ask for at least 258"));
    let limit = TrainOptions { initial: vec!['x', 'y'], limit: Some(1), ..characters() };
    assert!(message(limit).contains("limit_alphabet=1 is below the 2 characters"));
}

/// Halves of ever longer tokens, none of which occurs.
#[test]
fn lengths_beyond_32_bits_do_no_harm() {
    let merges: Vec<_> = std::iter::once((97, 97)).chain((256..300).map(|id| (id, id))).collect();
    let options = TrainOptions { merges, max_token_length: Some(3), ..TrainOptions::default() };
    let found = trained(&counts(&[("aaaaa", 1), ("xy", 1)]), &options).unwrap();
    assert_eq!(found.merge_counts[..3], [4, 1, 0]);
    assert_eq!(found.merges[45..], [(120, 121)]);
}

#[test]
fn the_caller_may_stop_when_asked() {
    let options = TrainOptions { ask: true, ..TrainOptions::default() };
    let mut caller = Caller { stop: Some(2), ..Caller::default() };
    assert_eq!(train_watched(&counts(&[("abcdef", 1)]), &options, &mut caller), Err(Error::Interrupted));
    assert_eq!(caller.asked.len(), 2);
    let mut caller = Caller::default();
    train_watched(&counts(&[("abcdef", 1)]), &TrainOptions::default(), &mut caller).unwrap();
    assert!(caller.asked.is_empty());
}

/// A long piece, words and a run: the work of going on is n log n.
#[test]
fn going_on_takes_no_quadratic_work() {
    let mut random = Random::new(1);
    let letters: Vec<char> = ('a'..='h').collect();
    let text: String =
        (0..300_000).map(|_| *random.one_of(&letters)).chain(std::iter::repeat_n('z', 300_000)).collect();
    let counts = counts(&[(&text, 1)]);
    let options = TrainOptions { vocab_size: Some(1500), ..TrainOptions::default() };
    let whole = trained(&counts, &options).unwrap();
    let merges = whole.merges[..1000].to_vec();
    let mut callback = |_| ControlFlow::Continue(());
    let mut ticker = Ticker::new(&mut callback);
    let found = train_tuned(&counts, &TrainOptions { merges, ..options }, &mut ticker, None);
    assert_eq!(found, Ok(whole));
    assert!(ticker.total() < 60 * text.len() as u64, "{} units of work", ticker.total());
}
