//! The specification's vectors, and each shortcut against its definition.

use super::build::*;
use super::*;
use crate::merge::{Below, Scratch, merge_symbols};
use proptest::prelude::*;

fn ids(vocabulary: &Vocabulary, text: &str) -> Result<Vec<u32>> {
    let mut symbols = Vec::new();
    vocabulary.append_symbols(text.as_bytes(), 0, &mut symbols)?;
    merge_symbols(vocabulary, &mut symbols, 0, &mut Scratch::default());
    Ok(symbols)
}

fn list(entries: &str) -> Vocabulary {
    let entries: Vec<&[u8]> = entries.split(',').map(str::as_bytes).collect();
    Vocabulary::from_list(&entries, true, Unknown::Error, &[], None).unwrap()
}

#[test]
fn the_vectors_of_the_specification() {
    for (entries, text, want) in [
        ("a,b,c,ab,bc,abc,cab", "abcab", vec![5, 3]),
        ("a,b,c,bc,abc,ab", "abc", vec![4]),
        ("a,aa", "aaa", vec![1, 0]),
        ("a,aa,aaaa", "aaaa", vec![2]),
        ("a,b,xyz,ab", "ab", vec![3]),
        ("a,b", "", vec![]),
        ("a,a,b,ab", "ab", vec![3]),
        ("a,aaaa,aaa,aaa,aa,aaaaa,aaa,aaaaa,aaa", "aaaaaaaaaaaaaaaaa", vec![4, 4, 4, 4, 4, 4, 7]),
    ] {
        assert_eq!(ids(&list(entries), text).unwrap(), want, "{entries}");
    }
    let error = ids(&list("a,b"), "ad").unwrap_err();
    assert_eq!(error, Error::UnknownCharacter { symbol: 'd', place: crate::error::Place::Byte(1) });
}

#[test]
fn what_is_not_canonical_is_named() {
    assert_eq!(list("a,b,ab").merges(), [(0, 1, 2)]);
    assert_eq!(list("a,b,xyz,ab").not_canonical(), [2]);
    // Merges (c,c), (c,cc): ccc is never met as c + cc. The case of research §1.0.
    let base = Base::Characters(vec![('c', 0)], Unknown::Error);
    assert_eq!(Vocabulary::from_merges(&base, vec![(0, 0, 1), (0, 1, 2)], &[], None).unwrap().not_canonical(), [2]);
    assert!(Vocabulary::from_merges(&base, vec![(0, 0, 1), (1, 0, 2)], &[], None).unwrap().is_canonical());
}

#[test]
fn contradictions_are_named() {
    let base = Base::bytes();
    let refused = |merges: &[(u32, u32, u32)], specials: &[Special]| {
        Vocabulary::from_merges(&base, merges.to_vec(), specials, None).unwrap_err().to_string()
    };
    assert!(refused(&[(97, 300, 256)], &[]).contains("id 300"));
    assert!(refused(&[(97, 256, 256)], &[]).contains("id 256"), "a token cannot be its own part");
    assert!(refused(&[(97, 98, 256), (97, 98, 257)], &[]).contains("(97, 98)"));
    assert!(refused(&[(97, 98, 97)], &[]).contains("two tokens"));
    assert!(refused(&[(97, 98, u32::MAX)], &[]).contains("out of range"));
    assert!(refused(&[], &[("<s>".into(), 97)]).contains("<s>"));
    assert!(refused(&[], &[(String::new(), 256)]).contains("empty"));
    assert!(Vocabulary::from_ranks(&[(b"a", 0), (b"a", 1)], &[], None).unwrap_err().to_string().contains("0 and 1"));
}

/// The definition of canonical, token by token.
fn not_canonical(vocabulary: &Vocabulary, merges: &[(u32, u32, u32)]) -> Vec<u32> {
    let not = merges.iter().filter(|&&(left, right, id)| {
        let mut symbols = Vec::new();
        vocabulary.append_symbols(&vocabulary.tokens().bytes(id).unwrap(), 0, &mut symbols).unwrap();
        merge_symbols(&Below(vocabulary, id - 2), &mut symbols, 0, &mut Scratch::default());
        symbols != [left, right]
    });
    not.map(|m| m.2).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn the_neighbour_test_finds_what_encoding_finds(choices in prop::collection::vec((0u32..1000, 0u32..1000), 1..9)) {
        let base = Base::Characters(vec![('a', 0), ('b', 1)], Unknown::Error);
        let mut merges: Vec<(u32, u32, u32)> = Vec::new();
        for (l, r) in choices {
            let known = 2 + merges.len() as u32;
            let (left, right) = (l % known, r % known);
            if merges.iter().all(|m| (m.0, m.1) != (left, right)) {
                merges.push((left, right, known));
            }
        }
        let vocabulary = Vocabulary::from_merges(&base, merges.clone(), &[], None).unwrap();
        prop_assert_eq!(vocabulary.not_canonical(), not_canonical(&vocabulary, &merges));
        if vocabulary.is_canonical() {
            // Then the three readings agree: rebuilt from its strings, it has the same merges.
            let strings: Vec<Vec<u8>> = (0..2 + merges.len() as u32).map(|i| vocabulary.tokens().bytes(i).unwrap()).collect();
            let strings: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
            let again = Vocabulary::from_list(&strings, true, Unknown::Error, &[], None).unwrap();
            prop_assert_eq!(again.merges(), &merges[..]);
        }
    }

    #[test]
    fn lists_follow_their_definition(entries in prop::collection::vec("[ab]{1,5}", 0..20), text in "[ab]{0,40}") {
        let all: Vec<&[u8]> = [&b"a"[..], b"b"].into_iter().chain(entries.iter().map(|e| e.as_bytes())).collect();
        let prefix = all.iter().take_while(|e| e.len() == 1).count();
        let vocabulary = Vocabulary::from_list(&all, true, Unknown::Error, &[], None).unwrap();
        // One left-to-right pass an entry.
        let symbol = |c: u8| (0..prefix as u32).rev().find(|&i| all[i as usize] == [c]).unwrap();
        let mut want: Vec<u32> = text.bytes().map(symbol).collect();
        for entry in prefix..all.len() {
            let mut i = 0;
            while i + 1 < want.len() {
                if [all[want[i] as usize], all[want[i + 1] as usize]].concat() == all[entry] {
                    want.splice(i..i + 2, [entry as u32]);
                }
                i += 1;
            }
        }
        prop_assert_eq!(ids(&vocabulary, &text).unwrap(), want);
    }
}

#[test]
fn a_token_with_an_unknown_symbol_has_no_parts() {
    let ranked: [(&[u8], u32); 3] = [(b"a", 0), (b"b", 1), (b"abc", 2)];
    let vocabulary = Vocabulary::from_ranks(&ranked, &[], None).unwrap();
    assert_eq!((vocabulary.merges(), vocabulary.not_canonical()), (&[][..], &[2][..]));
    assert_eq!(ids(&vocabulary, "ab").unwrap(), [0, 1]);
}
