//! Counting against the plain way: split, look up, add one.

use super::parts::{PART, parts};
use super::*;
use crate::specials::{SpecialMatcher, Stretch};
use crate::split::{self, Splitter};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

mod limited;

type List = Vec<(Vec<u8>, u64)>;

fn list(counts: &PieceCounts) -> List {
    counts.iter().map(|(piece, n)| (piece.to_vec(), n)).collect()
}

fn settled(counts: &mut RunningCounts) -> Arc<PieceCounts> {
    counts.settle(&never).unwrap();
    counts.counts().load(&never).unwrap()
}

fn memory(counts: &PieceCounts) -> Counts {
    Counts::Memory(Arc::new(counts.clone()))
}

/// Pieces and counts, in order of first appearance.
fn naive<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> List {
    let (mut places, mut list) = (HashMap::new(), List::new());
    for piece in pieces {
        let place = *places.entry(piece).or_insert(list.len());
        if place == list.len() {
            list.push((piece.to_vec(), 0));
        }
        list[place].1 += 1;
    }
    list
}

/// A word of letters alone, and a space.
fn word(mut number: u64) -> String {
    let mut word = String::from(" ");
    while number > 0 {
        word.insert(0, char::from(b'a' + (number % 26) as u8));
        number /= 26;
    }
    word
}

/// The pieces of documents that are never cut.
fn naive_documents(splitter: &Splitter, specials: &SpecialMatcher, documents: &[&[u8]]) -> List {
    let mut pieces = Vec::new();
    for document in documents {
        specials
            .for_each_stretch(document, |stretch| match stretch {
                Stretch::Text(range) => splitter.for_each_piece(&document[range.clone()], |piece| {
                    pieces.push(&document[range.start + piece.start..range.start + piece.end]);
                    Ok(())
                }),
                Stretch::Special(..) => Ok(()),
            })
            .unwrap();
    }
    naive(pieces)
}

pub(super) fn never() -> bool {
    false
}

const PATTERNS: [&str; 8] = [
    split::GPT2,
    split::CL100K,
    split::CL100K_CLASSIC,
    split::QWEN2,
    split::O200K,
    r"\s+|\w+|[^\s\w]",
    r"(\w)\1|\w|\W+",
    "",
];

fn splitter(pattern: &str) -> Splitter {
    if pattern.is_empty() { Splitter::none() } else { Splitter::new(pattern).unwrap() }
}

/// Letters, numbers, spaces and symbols of one to four bytes, words of more than fifteen, markers and beginnings of markers,
/// and bytes that are no text.
fn documents() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let word = prop_oneof![
        6 => prop::sample::select(vec!["a", "the", "L", "'ll", "'s", "ſ", "é", "中", "文", "1", "²", "😀", "!", "/", "--", "。"])
            .prop_map(|word| word.as_bytes().to_vec()),
        4 => prop::sample::select(vec![" ", "  ", "\n", "\r\n", "\t", "\u{a0}"]).prop_map(|word| word.as_bytes().to_vec()),
        2 => prop::sample::select(vec!["<s>", "<s", "<s>>", "a<s>a", "<"]).prop_map(|word| word.as_bytes().to_vec()),
        2 => "[ab]{14,18}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 1..3),
    ];
    prop::collection::vec(prop::collection::vec(word, 0..40).prop_map(|words| words.concat()), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn parts_on_threads_count_what_the_whole_does(
        documents in documents(),
        pattern in prop::sample::select(&PATTERNS[..]),
        markers in prop::sample::select(vec![vec![], vec!["<s>"], vec!["<s>", "<s>>", "a<"], vec!["aXa", "a<s>a", "s>a"]]),
        (threads, size, calls) in (1_usize..5, 1_usize..60, 1_usize..4),
    ) {
        let (splitter, specials) = (splitter(pattern), SpecialMatcher::new(&markers).unwrap());
        let documents: Vec<&[u8]> = documents.iter().map(Vec::as_slice).collect();
        let expected = naive_documents(&splitter, &specials, &documents);
        let counter = Counter::new(splitter, specials);
        let mut running = RunningCounts::in_parts(None, size);
        for some in documents.chunks(calls) {
            running.count_batch(&counter, some, threads, &never).unwrap();
        }
        prop_assert_eq!(list(&running.into_counts(&never).unwrap()), expected);
    }

    #[test]
    fn counts_may_be_read_in_between(documents in documents(), threads in 1_usize..4) {
        let counter = Counter::new(splitter(split::GPT2), SpecialMatcher::none());
        let mut running = RunningCounts::in_parts(None, 20);
        for i in 0..documents.len() {
            let until: Vec<&[u8]> = documents[..=i].iter().map(Vec::as_slice).collect();
            running.count_batch(&counter, &until[i..], threads, &never).unwrap();
            let expected = naive_documents(&splitter(split::GPT2), &SpecialMatcher::none(), &until);
            prop_assert_eq!(list(&settled(&mut running)), expected);
            prop_assert!(running.is_settled());
        }
    }

    #[test]
    fn pieces_of_all_lengths_are_told_apart(
        pieces in prop::collection::vec(prop::collection::vec(0_u8..2, 1..20), 0..2000),
    ) {
        let expected = naive(pieces.iter().map(Vec::as_slice));
        let (mut counts, mut running) = (PieceCounts::new(), RunningCounts::new(None));
        for piece in &pieces {
            counts.add(piece, 1).unwrap();
            running.add(piece, 1).unwrap();
        }
        prop_assert_eq!(&list(&counts), &expected);
        prop_assert_eq!(&list(&running.into_counts(&never).unwrap()), &expected);
    }
}

#[test]
fn a_large_document_is_cut_and_counted_by_all_threads() {
    let text: String = (0..400_000_u64).map(|i| word((i % 90_000).wrapping_mul(0x9E37_79B9) >> 7)).collect();
    for pattern in [split::GPT2, split::O200K] {
        let counter = Counter::new(splitter(pattern), SpecialMatcher::new(&["<s>"]).unwrap());
        assert!(parts(&counter, &[text.as_bytes()], PART).len() > 8);
        let expected = naive_documents(&splitter(pattern), &SpecialMatcher::none(), &[text.as_bytes()]);
        assert!(expected.len() > 50_000);
        for threads in [1, 2, 4] {
            let mut counts = PieceCounts::new();
            counter.count_batch(&[text.as_bytes()], threads, &mut counts, &never).unwrap();
            assert_eq!(list(&counts), expected);
        }
    }
}

#[test]
fn a_document_without_a_cut_is_one_part() {
    let counter = Counter::new(splitter(split::GPT2), SpecialMatcher::none());
    let letters = "a".repeat(5000);
    let found = parts(&counter, &[b"ab", letters.as_bytes(), b"c d"], 100);
    let bytes: Vec<_> = found.iter().map(|part| (part.documents.clone(), part.bytes.clone(), part.position)).collect();
    assert_eq!(bytes, [(0..1, None, 0), (1..2, Some(0..5000), 2), (2..3, None, 5002)]);
    let own = Counter::new(splitter(r"\w+|\W"), SpecialMatcher::none());
    assert_eq!(parts(&own, &["a b ".repeat(500).as_bytes()], 100).len(), 1);
}

#[test]
fn special_tokens_end_pieces_and_are_not_counted() {
    let specials = SpecialMatcher::new(&["<|e|>", "<|e|>>", "\u{1F600}"]).unwrap();
    let counter = Counter::new(splitter(split::CL100K), specials);
    let mut counts = PieceCounts::new();
    counter.count_document("ab  <|e|>>  cd\u{1F600}cd <|e|".as_bytes(), &mut counts).unwrap();
    // White space before a marker is white space at the end of a text.
    let expected = [("ab", 1), ("  ", 1), (" ", 1), (" cd", 1), ("cd", 1), (" <|", 1), ("e", 1), ("|", 1)];
    assert_eq!(list(&counts), expected.map(|(piece, n)| (piece.as_bytes().to_vec(), n)));
}

#[test]
fn the_place_of_an_error_is_that_of_the_document() {
    let pattern = "(?:a|b|ab)*(?>c|cd)e";
    let counter = Counter::new(splitter(pattern), SpecialMatcher::new(&["|"]).unwrap());
    let document = format!("c\u{e9}|\u{e9}{}", "ab".repeat(60));
    let result = counter.count_document(document.as_bytes(), &mut PieceCounts::new());
    assert_eq!(result, Err(Error::Backtracking { pattern: pattern.into(), offset: 6 }));
}

#[test]
fn a_batch_names_the_first_document_with_an_error() {
    let counter = Counter::new(splitter("(?:a|b|ab)*(?>c|cd)e"), SpecialMatcher::none());
    let bad = "ab".repeat(60);
    let mut documents = vec![&b"abc"[..]; 40];
    (documents[11], documents[30]) = (bad.as_bytes(), bad.as_bytes());
    for (threads, size) in [(1, 6), (2, 1), (4, 6), (4, 1000)] {
        let result = RunningCounts::in_parts(None, size).count_batch(&counter, &documents, threads, &never);
        assert!(matches!(result, Err((11, Error::Backtracking { .. }))), "{result:?}");
    }
}

#[test]
fn counting_ends_when_it_is_asked_to() {
    let counter = Counter::new(Splitter::none(), SpecialMatcher::none());
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) == 5;
    let mut running = RunningCounts::new(None);
    assert_eq!(running.count_batch(&counter, &[&b"a"[..]; 9], 1, &stop), Err((5, Error::Interrupted)));
    // Within a document too.
    let long = b"a ".repeat(3 << 20);
    let counter = Counter::new(splitter(r"\w+|\W"), SpecialMatcher::none());
    asked.store(0, Ordering::Relaxed);
    assert_eq!(running.count_batch(&counter, &[&long], 1, &stop), Err((0, Error::Interrupted)));
}

#[test]
fn what_is_put_together_in_several_goes_is_the_same() {
    let counter = Counter::new(splitter(split::GPT2), SpecialMatcher::none());
    let text: String = (0..600_000_u64).map(|i| word(i * 7 % 300_000)).collect();
    let documents = [text.as_bytes()];
    let mut counts = PieceCounts::new();
    counter.count_batch(&documents, 1, &mut counts, &never).unwrap();
    let mut running = RunningCounts::new(None);
    running.add(b"first", 2).unwrap();
    running.settle(&never).unwrap();
    running.count_batch(&counter, &documents, 3, &never).unwrap();
    let (mut goes, asked) = (0, AtomicUsize::new(0));
    while running.settle(&|| asked.fetch_add(1, Ordering::Relaxed) % 2 == 1) == Err(Error::Interrupted) {
        goes += 1;
    }
    assert!(goes > 3, "{goes}");
    let mut expected = vec![(b"first".to_vec(), 2)];
    expected.extend(list(&counts));
    assert_eq!(list(&settled(&mut running)), expected);
}

#[test]
fn counts_in_order_of_first_appearance_and_sums() {
    let (mut a, mut b) = (PieceCounts::new(), PieceCounts::new());
    for piece in ["to", "be", "or", "to"] {
        a.add(piece.as_bytes(), 1).unwrap();
    }
    b.add(b"not", 1 << 40).unwrap();
    b.add(b"be", 2).unwrap();
    let mut running = RunningCounts::new(None);
    running.merge(&memory(&a), &never).unwrap();
    running.merge(&memory(&b), &never).unwrap();
    a.merge(&b).unwrap();
    let all: Vec<_> = a.iter().map(|(p, n)| (std::str::from_utf8(p).unwrap(), n)).collect();
    assert_eq!(all, [("to", 2), ("be", 3), ("or", 1), ("not", 1 << 40)]);
    assert_eq!(list(&settled(&mut running)), list(&a));
}

#[test]
fn a_sum_past_64_bits_adds_nothing() {
    let counter = Counter::new(splitter(split::GPT2), SpecialMatcher::none());
    let (mut running, mut other) = (RunningCounts::new(None), PieceCounts::new());
    running.add(b"b", 3).unwrap();
    running.add(b"a", u64::MAX - 1).unwrap();
    running.count_batch(&counter, &[b"b c"], 2, &never).unwrap();
    let before = [(b"b".to_vec(), 4), (b"a".to_vec(), u64::MAX - 1), (b" c".to_vec(), 1)];
    for (piece, n) in [("b", 1), ("new", 5), ("a", 2)] {
        other.add(piece.as_bytes(), n).unwrap();
    }
    assert_eq!(running.merge(&memory(&other), &never), Err(Error::CountOverflow));
    assert_eq!(list(&settled(&mut running)), before);
    // One that just has room.
    let mut other = PieceCounts::new();
    other.add(b"a", 1).unwrap();
    other.add(b"new", 1).unwrap();
    running.merge(&memory(&other), &never).unwrap();
    let all = list(&settled(&mut running));
    assert_eq!((&all[1], &all[3]), (&(b"a".to_vec(), u64::MAX), &(b"new".to_vec(), 1)));
    assert_eq!(running.merge(&memory(&other), &never), Err(Error::CountOverflow));
    assert_eq!(list(&settled(&mut running)), all);
}

#[test]
fn adding_up_ends_when_it_is_asked_to() {
    let (mut all, mut other) = (RunningCounts::new(None), PieceCounts::new());
    for i in 0..3 * BETWEEN_STOPS {
        other.add(&i.to_le_bytes(), 1).unwrap();
    }
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) == 2;
    assert_eq!(all.merge(&memory(&other), &stop), Err(Error::Interrupted));
    assert_eq!(settled(&mut all).len(), 2 * BETWEEN_STOPS);
}

#[test]
fn pieces_from_elsewhere_are_cut_at_ill_formed_bytes() {
    let mut counts = RunningCounts::new(None);
    counts.add_cut(b"a\xFF\xFEb", 3).unwrap();
    counts.add_cut(b"", 3).unwrap();
    let counts = counts.into_counts(&never).unwrap();
    assert_eq!(counts.iter().collect::<Vec<_>>(), [(&b"a"[..], 3), (b"\xFF\xFE", 3), (b"b", 3)]);
}

#[test]
fn a_count_past_64_bits_is_an_error() {
    let mut counts = PieceCounts::new();
    counts.add(b"a", u64::MAX).unwrap();
    assert_eq!(counts.add(b"a", 1), Err(Error::CountOverflow));
    let counter = Counter::new(Splitter::none(), SpecialMatcher::none());
    let long = "long enough to stand apart";
    for piece in ["a", long] {
        let mut running = RunningCounts::new(None);
        running.add(piece.as_bytes(), u64::MAX).unwrap();
        assert_eq!(running.add(piece.as_bytes(), 1), Err(Error::CountOverflow));
        assert_eq!(running.count_batch(&counter, &[piece.as_bytes()], 1, &never), Err((0, Error::CountOverflow)));
        // In two tables, which only together have too many.
        let mut running = RunningCounts::new(None);
        running.add(piece.as_bytes(), u64::MAX).unwrap();
        running.settle(&never).unwrap();
        running.count_batch(&counter, &[piece.as_bytes()], 1, &never).unwrap();
        assert_eq!(running.settle(&never).err(), Some(Error::CountOverflow));
    }
}
