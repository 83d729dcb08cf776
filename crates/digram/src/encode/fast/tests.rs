//! Whole texts against their pieces, one by one, without a cache.

use super::super::{AddedToken, Around, Encoder, Options};
use crate::split::{GPT2, Splitter};
use crate::vocabulary::{Fallback, Pairs, Vocabulary};
use proptest::prelude::*;

/// The definition: each piece is looked up, else merged.
fn piece_by_piece(encoder: &Encoder, text: &[u8]) -> Vec<u32> {
    let mut ids = Vec::new();
    encoder
        .splitter()
        .for_each_piece(text, |piece| {
            ids.extend(encoder.encode_piece(&text[piece], true)?);
            Ok(())
        })
        .unwrap();
    ids
}

fn check(encoder: &Encoder, text: &[u8]) -> Result<(), TestCaseError> {
    let want = piece_by_piece(encoder, text);
    for _ in 0..2 {
        let mut got = vec![7];
        encoder.encode(text, Options::default(), &mut got, &|| false).unwrap();
        prop_assert_eq!(&got[1..], &want, "{:?}", String::from_utf8_lossy(text));
        prop_assert_eq!(encoder.count(text, Options::default(), &|| false).unwrap(), want.len() as u64);
    }
    Ok(())
}

/// Tokens of a few bytes, in the order of their ranks: some canonical, some not, some unreachable.
fn tokens() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let token = prop_oneof![
        6 => "[ab]{2,5}".prop_map(String::into_bytes),
        1 => "[ab]{16,20}".prop_map(String::into_bytes),
        2 => " [ab]{1,4}".prop_map(String::into_bytes),
        2 => "[aß中]{1,3}".prop_filter("one byte", |t| t.len() > 1).prop_map(String::into_bytes),
        1 => prop::sample::select(vec![b"\xE4\xB8".to_vec(), b"\xB8\xAD".to_vec(), b"\xADa".to_vec(), b"b\xE4".to_vec()]),
    ];
    prop::collection::vec(token, 0..60).prop_map(|mut tokens| {
        let mut seen = std::collections::HashSet::new();
        tokens.retain(|token| seen.insert(token.clone()));
        tokens
    })
}

/// Texts whose pieces are of all lengths, again and again.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => "[ab]{1,8}".prop_map(String::into_bytes),
        4 => " [ab]{1,4}".prop_map(String::into_bytes),
        2 => "[ab]{14,40}".prop_map(String::into_bytes),
        2 => "[aß中]{1,12}".prop_map(String::into_bytes),
        1 => "[ .1\n]{1,20}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

fn ranked(tokens: &[Vec<u8>]) -> Vocabulary {
    let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let all = bytes.iter().map(<[u8; 1]>::as_slice).chain(tokens.iter().map(Vec::as_slice));
    let all: Vec<(&[u8], u32)> = all.zip(0..).collect();
    Vocabulary::from_ranks(&all, &[], None).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn ranked_bytes(tokens in tokens(), texts in prop::collection::vec(texts(), 1..4), split: bool) {
        let splitter = if split { Splitter::new(GPT2).unwrap() } else { Splitter::none() };
        let encoder = Encoder::new(ranked(&tokens), splitter, &[]).unwrap();
        for text in &texts {
            check(&encoder, text)?;
        }
    }

    #[test]
    fn pairs_with_characters_unknown_and_byte_tokens(
        tokens in prop::collection::btree_set("[abß中]{2,4}", 0..20),
        texts in prop::collection::vec("([abß中é ]{1,4}){0,30}", 1..4),
        kind in 0u8..4,
        whole: bool,
    ) {
        let mut spelt: Vec<Vec<u8>> = ["a", "b", "ß", "中", " "].iter().map(|c| c.as_bytes().to_vec()).collect();
        spelt.extend(tokens.iter().map(|token| token.as_bytes().to_vec()));
        let longer = spelt.len() as u32;
        spelt.push(b"<unk>".to_vec());
        spelt.extend((0..=255u8).map(|byte| format!("<0x{byte:02X}>").into_bytes()));
        let all: Vec<(&[u8], u32)> = spelt.iter().map(Vec::as_slice).zip(0..).collect();
        let ids: Vec<u32> = (5..longer).collect();
        for splitter in [Splitter::none(), Splitter::new(GPT2).unwrap()] {
            let encoder = Encoder::new(of_characters(&all, &ids, whole, kind, longer), splitter, &[]).unwrap();
            for text in &texts {
                check(&encoder, text.as_bytes())?;
            }
        }
    }
}

/// Ranked tokens over characters, with an unknown token, which byte tokens go before (`kind` 1, 3), and which runs
/// share (2, 3).
fn of_characters(all: &[(&[u8], u32)], ranked: &[u32], whole: bool, kind: u8, unknown: u32) -> Vocabulary {
    let mut bytes = Box::new([0; 256]);
    bytes.iter_mut().zip(unknown + 1..).for_each(|(slot, id)| *slot = id);
    let unknown = Fallback { bytes: (kind & 1 == 1).then_some(bytes), token: Some(unknown), fuse: kind & 2 == 2 };
    Vocabulary::from_pairs(
        Pairs { tokens: all, merges: Vec::new(), ranked, characters: true, whole, unknown },
        &[],
        None,
    )
    .unwrap()
}

#[test]
fn added_tokens_and_ill_formed_bytes_stand_between_pieces() {
    let tokens: Vec<Vec<u8>> = ["ab", " ab", "aba"].iter().map(|t| t.as_bytes().to_vec()).collect();
    let added = AddedToken { text: "<|x|>".into(), id: 900, special: true, ..AddedToken::default() };
    let around = Around { added: vec![added], ..Around::default() };
    let encoder = Encoder::with(ranked(&tokens), Splitter::new(GPT2).unwrap(), &[], around).unwrap();
    let options = Options { allowed: Some(encoder.all_specials()), ..Options::default() };
    let encode = |text: &[u8]| {
        let mut ids = Vec::new();
        encoder.encode(text, options, &mut ids, &|| false).unwrap();
        assert_eq!(encoder.count(text, options, &|| false).unwrap(), ids.len() as u64);
        ids
    };
    let (ab, space_ab, x) = (256, 257, 900);
    assert_eq!(encode(b"<|x|>ab ab<|x|><|x|> ab"), [x, ab, space_ab, x, x, space_ab]);
    assert_eq!(encode(b"ab\xFF\xFE ab<|x|>\xFF"), [ab, 255, 254, space_ab, x, 255]);
}

#[test]
fn calls_at_once_share_what_is_spare() {
    let tokens: Vec<Vec<u8>> = ["ab", " ab", "abab"].iter().map(|t| t.as_bytes().to_vec()).collect();
    let encoder = Encoder::new(ranked(&tokens), Splitter::new(GPT2).unwrap(), &[]).unwrap();
    let text = b"ab abab ababa b".repeat(300);
    let want = piece_by_piece(&encoder, &text);
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let mut ids = Vec::new();
                    encoder.encode(&text, Options::default(), &mut ids, &|| false).unwrap();
                    assert_eq!(ids, want);
                }
            });
        }
    });
}

#[test]
fn parts_of_a_long_piece_have_a_block_of_their_own() {
    // Each piece before it came to four ids, and each of its own parts does: more than a block has room for, together.
    let encoder = Encoder::new(ranked(&[]), Splitter::new(GPT2).unwrap(), &[]).unwrap();
    for (before, parts) in [(20, 64), (63, 64), (63, 200), (64, 64), (130, 70)] {
        let text = "\u{20001}1".repeat(before) + &"\u{20001}".repeat(parts) + "1 b";
        check(&encoder, text.as_bytes()).unwrap();
    }
}

#[test]
fn a_call_that_was_stopped_leaves_nothing_behind() {
    let tokens: Vec<Vec<u8>> = ["ab", " ab"].iter().map(|t| t.as_bytes().to_vec()).collect();
    let encoder = Encoder::new(ranked(&tokens), Splitter::new(GPT2).unwrap(), &[]).unwrap();
    // Known pieces up to the first question, and new ones that wait when it comes.
    let text = " ab".repeat(400_000) + " ba bb aab bba " + &" ab".repeat(400_000);
    for first in 0..6 {
        let asked = std::cell::Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) == first;
        let stopped = encoder.encode(&text[first * 7_001..], Options::default(), &mut Vec::new(), &stop);
        assert!(stopped.is_err() || asked.get() <= first, "it was asked to stop");
        check(&encoder, b"abc bca ab").unwrap();
    }
    let new: String = (0..200_000).map(|n| format!(" a{n}b")).collect();
    assert!(encoder.encode(new.as_str(), Options::default(), &mut Vec::new(), &|| true).is_err());
    check(&encoder, b"abc bca ab").unwrap();
}

#[test]
fn a_piece_and_a_part_of_a_text_without_a_split_are_kept_apart() {
    // "abcd" is no merge's: it is taken whole as a piece, and never within a text.
    let tokens: Vec<Vec<u8>> =
        ["bc", "abcd", "ef", "0123ef456789abcdef"].iter().map(|t| t.as_bytes().to_vec()).collect();
    let added = AddedToken { text: "<|x|>".into(), id: 900, special: true, ..AddedToken::default() };
    let around = Around { added: vec![added], ..Around::default() };
    let encoder = Encoder::with(ranked(&tokens), Splitter::none(), &[], around).unwrap();
    let encode = |text: &str, options: Options| {
        let mut ids = Vec::new();
        encoder.encode(text, options, &mut ids, &|| false).unwrap();
        ids
    };
    let special = Options { allowed: Some(encoder.all_specials()), ..Options::default() };
    for (piece, id) in [("abcd", 257), ("0123ef456789abcdef", 259)] {
        let merged = encode(&format!("{piece} "), Options::default());
        assert!(merged.len() > 2);
        for _ in 0..2 {
            assert_eq!(encode(&format!("{piece}<|x|>{piece}"), special), [id, 900, id]);
            assert_eq!(encode(piece, Options::default()), [id]);
            assert_eq!(encode(&format!("{piece} {piece} "), Options::default()), [&merged[..], &merged].concat());
        }
    }
}
