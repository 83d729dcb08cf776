//! Training: the merges are those of recounting all pairs each round, and the text comes back as the ids it ended with.

use crate::input::{document, once_in, one_of, up_to};
use crate::split::SCANNED;
use arbitrary::Unstructured;
use digram::Error;
use digram::count::{Counter, PieceCounts};
use digram::encode::{Encoder, Options};
use digram::specials::SpecialMatcher;
use digram::split::Splitter;
use digram::train::{Alphabet, PairRules, Ties, TrainOptions, Trained, train as train_counts};
use digram::vocabulary::{Base, Unknown, Vocabulary};
use std::ops::ControlFlow;

/// The engine's own definition of training.
#[path = "../../crates/digram/src/train/naive.rs"]
mod naive;

const TIES: [Ties; 6] = [
    Ties::SmallestIds,
    Ties::SmallestTokens,
    Ties::FirstSeen,
    Ties::LargestTokens,
    Ties::ShortestToken,
    Ties::SmallestCharacters,
];

/// Any documents, by every tie rule.
pub fn train(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let alphabet = one_of(&mut u, &[Alphabet::Bytes, Alphabet::Characters]);
    let splitter = match up_to(&mut u, 2) {
        0 => Splitter::none(),
        1 => Splitter::new(one_of(&mut u, &SCANNED)).expect("a pattern of our own"),
        _ => Splitter::new(r"\S+|\s+").expect("a pattern"),
    };
    let weight = one_of(&mut u, &[1, 1, 2, 1 << 40]);
    let merges = once_in(&mut u, 2).then(|| up_to(&mut u, 40) as u64);
    let min_count = 1 + if once_in(&mut u, 2) { up_to(&mut u, 3) as u64 } else { 0 };
    let max_token_length = once_in(&mut u, 3).then(|| up_to(&mut u, 9) as u64);
    let reserved = up_to(&mut u, 2) as u64;
    let place = up_to(&mut u, 255);
    let document = document(u, 400);
    let (first, second) = document.split_at(place % (document.len() + 1));

    let counter = Counter::new(splitter.clone(), SpecialMatcher::new(&["<s>"]).expect("no marker is empty"));
    let mut counts = PieceCounts::new();
    counter.count_document(first, &mut counts).expect("such patterns do not backtrack");
    counter.count_document(second, &mut counts).expect("such patterns do not backtrack");
    let mut batch = PieceCounts::new();
    counter.count_batch(&[first, second], 2, &mut batch, &|| false).expect("such patterns do not backtrack");
    assert!(counts.iter().eq(batch.iter()));
    let mut weighted = PieceCounts::new();
    counts.iter().for_each(|(piece, n)| weighted.add(piece, n * weight).expect("below 2^64"));

    for ties in TIES {
        let mut options =
            TrainOptions { alphabet, reserved, min_count, ties, max_token_length, ..TrainOptions::default() };
        let text: Option<Vec<&str>> = weighted.iter().map(|(piece, _)| std::str::from_utf8(piece).ok()).collect();
        if alphabet == Alphabet::Characters && text.is_none() {
            assert!(matches!(learnt(&weighted, &options), Err(Error::NotText { .. })));
            continue;
        }
        if let Some(merges) = merges {
            let symbols = match (alphabet, text) {
                (Alphabet::Characters, Some(text)) => {
                    text.concat().chars().collect::<std::collections::BTreeSet<_>>().len() as u64
                }
                _ => 256,
            };
            options.vocab_size = Some(symbols + reserved + merges);
        }
        let trained = learnt(&weighted, &options).expect("valid options and text");
        assert_eq!(trained, naive::train(&weighted, &options), "{options:?}");
        if let Some(size) = options.vocab_size.filter(|_| trained.merges.len() > 1) {
            let fewer = TrainOptions { vocab_size: Some(size - 1), ..options };
            let fewer = learnt(&weighted, &fewer).expect("valid options and text");
            assert!(trained.merges.starts_with(&fewer.merges) && fewer.merges.len() + 1 >= trained.merges.len());
        }
        check_encoding(&trained, alphabet, &splitter, &weighted, [first, second]);
    }
}

fn learnt(counts: &PieceCounts, options: &TrainOptions) -> digram::Result<Trained> {
    train_counts(counts, options, |_| ControlFlow::Continue(()))
}

/// Each piece is encoded as training left it, and the documents come back.
fn check_encoding(
    trained: &Trained,
    alphabet: Alphabet,
    splitter: &Splitter,
    counts: &PieceCounts,
    documents: [&[u8]; 2],
) {
    let (base, first) = match alphabet {
        Alphabet::Bytes => (Base::bytes(), 256),
        Alphabet::Characters => {
            let characters: Vec<(char, u32)> = trained.characters.iter().copied().zip(0..).collect();
            let first = characters.len() as u32;
            (Base::Characters(characters, Unknown::Error), first)
        }
    };
    let merges: Vec<_> = trained.merges.iter().zip(first..).map(|(&(left, right), id)| (left, right, id)).collect();
    let specials = [("<s>".to_string(), first + merges.len() as u32)];
    let vocabulary = Vocabulary::from_merges(&base, merges.clone(), &specials, None).expect("a trained vocabulary");
    let encoder = Encoder::new(vocabulary, splitter.clone(), &specials).expect("a trained vocabulary");
    for (piece, _) in counts.iter() {
        let mut ids: Vec<u32> = match alphabet {
            Alphabet::Bytes => piece.iter().map(|&byte| u32::from(byte)).collect(),
            Alphabet::Characters => {
                let id = |c| trained.characters.binary_search(&c).expect("it is in the alphabet") as u32;
                std::str::from_utf8(piece).expect("it is text").chars().map(id).collect()
            }
        };
        for &(left, right, new) in &merges {
            let mut i = 0;
            while i + 1 < ids.len() {
                if (ids[i], ids[i + 1]) == (left, right) {
                    ids.splice(i..i + 2, [new]);
                }
                i += 1;
            }
        }
        assert_eq!(encoder.encode_piece(piece, true), Ok(ids));
    }
    let options = Options { allowed: Some(encoder.all_specials()), ..Options::default() };
    for document in documents {
        let (mut ids, mut text) = (Vec::new(), Vec::new());
        encoder.encode(document, options, &mut ids, &|| false).expect("it was trained on this");
        encoder.decode(&ids, false, false, &mut text).expect("all ids have tokens");
        assert_eq!(text, document);
    }
}
