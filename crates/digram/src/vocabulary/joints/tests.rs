//! Parts merged by themselves against the whole, for vocabularies of every kind; the table against its definition.

use super::*;
use crate::merge::{Scratch, merge_symbols};
use crate::vocabulary::{Base, Fallback, Pairs, Triple, Unknown, Vocabulary};
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn merged(vocabulary: &Vocabulary, piece: &[u8]) -> Option<Vec<u32>> {
    let mut symbols = Vec::new();
    vocabulary.append_symbols(piece, 0, &mut symbols).ok()?;
    merge_symbols(vocabulary, &mut symbols, 0, &mut Scratch::default());
    Some(symbols)
}

/// The parts between cuts.
fn parts<'t>(joints: &Joints, piece: &'t [u8]) -> Vec<&'t [u8]> {
    let (mut parts, mut from) = (Vec::new(), 0);
    while from < piece.len() {
        let end = joints.next_cut(piece, from);
        parts.push(&piece[from..end]);
        from = end;
    }
    parts
}

fn check(vocabulary: &Vocabulary, text: &[u8]) -> Result<(), TestCaseError> {
    let parts = parts(vocabulary.joints(), text);
    let in_parts: Option<Vec<_>> = parts.iter().map(|part| merged(vocabulary, part)).collect();
    let whole = merged(vocabulary, text);
    prop_assert_eq!(in_parts.map(|ids| ids.concat()), whole, "{:?}", parts);
    Ok(())
}

/// Characters that share heads and tails with others, and one that no alphabet below has.
const LETTERS: [&str; 9] = ["a", "b", " ", "é", "中", "串", "平", "😀", "😭"];

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(select(&LETTERS[..]), 1..4).prop_map(|letters| letters.concat())
}

/// A text, of characters for the most part.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let stray = any::<u8>().prop_map(|byte| vec![byte]);
    let letter =
        prop_oneof![12 => select(&LETTERS[..]).prop_map(|s| s.as_bytes().to_vec()), 1 => stray, 1 => Just("д".into())];
    prop::collection::vec(letter, 0..24).prop_map(|letters| letters.concat())
}

/// Distinct strings of bytes: slices of words, wherever they begin and end.
fn slices() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let slice = (words(), any::<Index>(), any::<Index>()).prop_map(|(word, from, to)| {
        let (from, to) = (from.index(word.len()), to.index(word.len()));
        word.as_bytes()[from.min(to)..=from.max(to)].to_vec()
    });
    prop::collection::vec(slice, 0..24).prop_map(|mut all| {
        all.retain(|slice| slice.len() > 1);
        let mut seen = std::collections::HashSet::new();
        all.retain(|slice| seen.insert(slice.clone()));
        all
    })
}

/// Merges of ids below `symbols` and of earlier merges, each pair once.
fn merges_of(symbols: &[u32], choices: Vec<(Index, Index)>) -> Vec<Triple> {
    let (mut ids, mut merges) = (symbols.to_vec(), Vec::<Triple>::new());
    for (left, right) in choices {
        let (left, right, id) = (*left.get(&ids), *right.get(&ids), 1000 + merges.len() as u32);
        if merges.iter().all(|m| (m.0, m.1) != (left, right)) {
            merges.push((left, right, id));
            ids.push(id);
        }
    }
    merges
}

fn choices() -> impl Strategy<Value = Vec<(Index, Index)>> {
    prop::collection::vec(any::<(Index, Index)>(), 0..16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn ranked_bytes(slices in slices(), texts in prop::collection::vec(texts(), 4)) {
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
        let all = bytes.iter().map(<[u8; 1]>::as_slice).chain(slices.iter().map(Vec::as_slice));
        let ranked: Vec<(&[u8], u32)> = all.zip(0..).collect();
        let vocabulary = Vocabulary::from_ranks(&ranked, &[], None).unwrap();
        for text in texts {
            check(&vocabulary, &text)?;
        }
    }

    #[test]
    fn merges_of_bytes(choices in choices(), texts in prop::collection::vec(texts(), 4)) {
        let symbols: Vec<u32> = LETTERS.concat().bytes().map(u32::from).collect();
        let merges = merges_of(&symbols, choices);
        let vocabulary = Vocabulary::from_merges(&Base::bytes(), merges, &[], None).unwrap();
        for text in texts {
            check(&vocabulary, &text)?;
        }
    }

    /// Unknown characters: an error, one token each, or their bytes; and rules of these.
    #[test]
    fn merges_of_characters(choices in choices(), unknown in 0..3, stand_ins: bool, texts in prop::collection::vec(texts(), 4)) {
        let characters: Vec<(char, u32)> = LETTERS[..8].iter().map(|s| s.chars().next().unwrap()).zip(0..).collect();
        let mut symbols: Vec<u32> = (0..8).collect();
        let unknown = match unknown {
            0 => Unknown::Error,
            1 => Unknown::Token(0),
            _ => Unknown::Bytes(Box::new(std::array::from_fn(|byte| 100 + byte as u32))),
        };
        if stand_ins && matches!(unknown, Unknown::Bytes(_)) {
            symbols.extend("д".bytes().map(|byte| 100 + u32::from(byte)));
        }
        let base = Base::Characters(characters, unknown);
        let vocabulary = Vocabulary::from_merges(&base, merges_of(&symbols, choices), &[], None).unwrap();
        for text in texts {
            check(&vocabulary, &text)?;
        }
    }

    /// Repeated strings among them, as `repeat` says; with the unknown token among those that merge.
    #[test]
    fn ordered_lists(
        words in prop::collection::vec(words(), 0..24),
        repeat in prop::collection::vec(any::<Index>(), 0..4),
        unknown: Option<u8>,
        texts in prop::collection::vec(texts(), 4),
    ) {
        let mut list: Vec<&[u8]> = LETTERS[..8].iter().map(|s| s.as_bytes()).collect();
        list.extend(words.iter().map(String::as_bytes));
        for which in repeat {
            list.push(list[which.index(list.len())]);
        }
        let unknown = unknown.map_or(Unknown::Error, |id| Unknown::Token(u32::from(id) % list.len() as u32));
        let vocabulary = Vocabulary::from_list(&list, true, unknown, &[], None).unwrap();
        for text in texts {
            check(&vocabulary, &text)?;
        }
    }

    /// Pairs in general: characters or bytes, some of them without a token, with every way to stand in for them.
    #[test]
    fn pairs_in_general(
        slices in slices(),
        characters: bool,
        lacking in prop::collection::vec(any::<Index>(), 0..4),
        (fuse, token, bytes) in any::<(bool, Option<Index>, Option<u8>)>(),
        texts in prop::collection::vec(texts(), 4),
    ) {
        let mut strings: Vec<Vec<u8>> = match characters {
            true => LETTERS.iter().map(|s| s.as_bytes().to_vec()).collect(),
            false => (0..=255).map(|byte| vec![byte]).collect(),
        };
        for which in lacking {
            let which = which.index(strings.len());
            strings.swap_remove(which);
        }
        for slice in slices.into_iter().filter(|slice| !characters || std::str::from_utf8(slice).is_ok()) {
            if !strings.contains(&slice) {
                strings.push(slice);
            }
        }
        let ranked: Vec<u32> = (0..).zip(&strings).filter(|(_, s)| s.len() > 1).map(|(id, _)| id).collect();
        let count = strings.len() as u32;
        let tokens: Vec<(&[u8], u32)> = strings.iter().map(Vec::as_slice).zip(0..).collect();
        let token = token.map(|token| token.index(strings.len()) as u32);
        // Byte tokens of their own cannot be here, so tokens of the vocabulary are: some rules have them as parts.
        let bytes = bytes.map(|kept| Box::new(std::array::from_fn(|byte| match byte as u8 {
            byte if byte > kept => NONE,
            byte => u32::from(byte) % count,
        })));
        let unknown = Fallback { bytes, token, fuse };
        let pairs = Pairs { tokens: &tokens, merges: Vec::new(), ranked: &ranked, characters, whole: false, unknown };
        let Ok(vocabulary) = Vocabulary::from_pairs(pairs, &[], None) else {
            return Ok(());
        };
        for text in texts {
            check(&vocabulary, &text)?;
        }
    }

    /// What may be joined is joined, and there is a cut wherever `is_cut` says so.
    #[test]
    fn the_table_is_its_definition(slices in slices(), text in texts()) {
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
        let all = bytes.iter().map(<[u8; 1]>::as_slice).chain(slices.iter().map(Vec::as_slice));
        let ranked: Vec<(&[u8], u32)> = all.zip(0..).collect();
        let vocabulary = Vocabulary::from_ranks(&ranked, &[], None).unwrap();
        let joints = vocabulary.joints();
        let mut rules = Vec::new();
        vocabulary.rules.for_each_pair(&mut |left, right| {
            rules.push([left, right].map(|id| vocabulary.tokens().bytes(id).unwrap()));
        });
        for (a, b) in LETTERS.iter().flat_map(|a| LETTERS.iter().map(move |b| (a.as_bytes(), b.as_bytes()))) {
            let joined = rules.iter().any(|[left, right]| {
                (left.ends_with(a) || a.ends_with(left)) && (right.starts_with(b) || b.starts_with(right))
            });
            let [before, after] = [a, b].map(|s| std::str::from_utf8(s).unwrap().chars().next().unwrap());
            prop_assert!(!(joined && joints.is_cut(before, after)), "{:?} {:?}", before, after);
        }
        let text = String::from_utf8_lossy(&text);
        let mut pairs = text.char_indices().zip(text.chars().skip(1));
        let first = pairs.find(|&((_, before), after)| joints.is_cut(before, after));
        let first = first.map_or(text.len(), |((at, before), _)| at + before.len_utf8());
        prop_assert_eq!(joints.next_cut(text.as_bytes(), 0), first);
    }
}

#[test]
fn cuts_are_found() {
    // Tokens: ab, the head of 中 after b, the tail of 中 before a, é中.
    let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let more: [&[u8]; 5] = [b"ab", b"b\xE4", b"\xADa", b"\xB8\xAD", "é中".as_bytes()];
    let all = bytes.iter().map(<[u8; 1]>::as_slice).chain(more);
    let ranked: Vec<(&[u8], u32)> = all.zip(0..).collect();
    let vocabulary = Vocabulary::from_ranks(&ranked, &[], None).unwrap();
    let cut = |text: &str| {
        let parts = parts(vocabulary.joints(), text.as_bytes()).into_iter();
        parts.map(|part| std::str::from_utf8(part).unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(cut("ababba"), ["ab", "ab", "b", "a"]);
    assert_eq!(cut("a中b中a串é"), ["a", "中", "b中a", "串", "é"]);
    // No rule makes é中, as no part of it does; NUL is a character like others.
    assert_eq!(cut("é中é\0é\0\0"), ["é", "中", "é", "\0", "é", "\0", "\0"]);
    assert_eq!(vocabulary.joints().next_cut(b"", 0), 0);
    // Around what is no character there is no cut.
    assert_eq!(parts(vocabulary.joints(), b"b\xE4\xB8 a\xFFb b"), [&b"b\xE4\xB8 "[..], b"a\xFFb", b" ", b"b"]);
}

#[test]
fn runs_of_unknown_characters_are_not_cut() {
    let tokens: [(&[u8], u32); 3] = [(b"a", 0), ("é".as_bytes(), 1), (b"<unk>", 2)];
    let unknown = Fallback { token: Some(2), fuse: true, bytes: None };
    let pairs = Pairs { tokens: &tokens, merges: Vec::new(), ranked: &[], characters: true, whole: false, unknown };
    let vocabulary = Vocabulary::from_pairs(pairs, &[], None).unwrap();
    let text = "aa中串é中a".as_bytes();
    let want: Vec<&[u8]> = ["a", "a", "中串", "é", "中", "a"].map(str::as_bytes).to_vec();
    assert_eq!(parts(vocabulary.joints(), text), want);
}

#[test]
fn long_tokens_are_not_written_out() {
    // b, bb, bbbb and so on to 2^20 bytes, then each with an a in front and a c behind, deep in chains.
    let mut merges = vec![(98, 98, 256)];
    (1..20).for_each(|n| merges.push((255 + n, 255 + n, 256 + n)));
    let last = merges.len() as u32 + 255;
    merges.push((97, last, last + 1));
    for n in 1..50_000 {
        merges.push((last + n, 99, last + n + 1));
    }
    merges.push((last + 50_000, 100, last + 50_001));
    let vocabulary = Vocabulary::from_merges(&Base::bytes(), merges, &[], None).unwrap();
    let joins: Vec<bool> = ["bb", "ab", "bc", "cc", "cd", "ac", "ba", "db"]
        .iter()
        .map(|two| vocabulary.joints().next_cut(two.as_bytes(), 0) == 2)
        .collect();
    assert_eq!(joins, [true, true, true, true, true, false, false, false]);
}
