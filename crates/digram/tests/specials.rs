//! Finding special tokens, against a naive search.

use digram::Error;
use digram::specials::{SpecialMatcher, Stretch};
use proptest::prelude::*;
use std::ops::Range;

/// The leftmost marker from `from` on; of those that begin there the longest; of equal ones the first of the list.
fn naive_find(markers: &[Vec<u8>], document: &[u8], from: usize) -> Option<(Range<usize>, usize)> {
    (from..document.len()).find_map(|start| {
        let here = markers.iter().enumerate().filter(|(_, marker)| document[start..].starts_with(marker));
        let (which, marker) = here.min_by_key(|(i, marker)| (std::cmp::Reverse(marker.len()), *i))?;
        Some((start..start + marker.len(), which))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn finds_what_a_naive_search_finds(
        markers in proptest::collection::vec(proptest::collection::vec(b'a'..=b'c', 1..5), 0..8),
        document in proptest::collection::vec(b'a'..=b'd', 0..60),
        from in 0_usize..61,
        kind in 0..3,
    ) {
        // Many markers, and long ones, have an automaton of another kind; those added here never occur.
        let added: Vec<Vec<u8>> = match kind {
            0 => vec![],
            1 => (0..300).map(|i| format!("z{i}").into_bytes()).collect(),
            _ => vec![vec![b'a'; 200]],
        };
        let markers: Vec<_> = markers.into_iter().chain(added).collect();
        let matcher = SpecialMatcher::new(&markers).unwrap();
        prop_assert_eq!(matcher.is_empty(), markers.is_empty());
        prop_assert_eq!(matcher.find(&document, from), naive_find(&markers, &document, from));

        let mut expected = Vec::new();
        let mut done = 0;
        while let Some((range, which)) = naive_find(&markers, &document, done) {
            if range.start > done {
                expected.push(Stretch::Text(done..range.start));
            }
            done = range.end;
            expected.push(Stretch::Special(range, which));
        }
        if done < document.len() {
            expected.push(Stretch::Text(done..document.len()));
        }
        let mut stretches = Vec::new();
        matcher.for_each_stretch(&document, |stretch| { stretches.push(stretch); Ok(()) }).unwrap();
        prop_assert_eq!(stretches, expected);
    }
}

#[test]
fn the_longest_marker_wins_and_the_first_of_equal_ones() {
    let matcher = SpecialMatcher::new(&["<|e|>", "<|e|>x", "<|e|>", "\u{FF5C}"]).unwrap();
    assert_eq!(matcher.find(b"a<|e|>x", 0), Some((1..7, 1)));
    assert_eq!(matcher.find(b"a<|e|>y", 1), Some((1..6, 0)));
    assert_eq!(matcher.find(b"a<|e|>y", 2), None);
    assert_eq!(matcher.find("é\u{FF5C}".as_bytes(), 0), Some((2..5, 3)));
    assert_eq!(matcher.find(b"a", 2), None);
    assert!(SpecialMatcher::none().is_empty());
    assert_eq!(SpecialMatcher::none().find(b"a", 0), None);
}

#[test]
fn an_empty_marker_is_refused() {
    match SpecialMatcher::new(&["<s>", ""]).map(|_| ()) {
        Err(Error::Argument(message)) => assert!(message.contains("special token 1 is empty"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_error_of_the_caller_ends_the_search() {
    let matcher = SpecialMatcher::new(&["b"]).unwrap();
    let mut calls = 0;
    let result = matcher.for_each_stretch(b"aba", |_| {
        calls += 1;
        if calls == 2 { Err(Error::Interrupted) } else { Ok(()) }
    });
    assert_eq!((result, calls), (Err(Error::Interrupted), 2));
}
