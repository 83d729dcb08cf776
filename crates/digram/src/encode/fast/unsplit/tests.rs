//! Texts in parts against the text as one piece.

use super::*;
use crate::encode::{AddedToken, Around, Encoder, Options, Part};
use crate::merge::{Scratch, merge_symbols};
use crate::split::{Behaviour, Find};
use crate::vocabulary::{Fallback, Pairs};
use proptest::prelude::*;
use proptest::sample::select;

/// The pieces as the steps give them, each looked up or merged.
fn plain(encoder: &Encoder, document: &[u8], options: Options) -> Result<Vec<u32>> {
    let mut ids = Vec::new();
    encoder.for_each_part(document, options, false, &|| false, &mut |part| {
        match part {
            Part::Token(id, _) => ids.push(id),
            Part::Piece(piece, origin) => match encoder.vocabulary.whole_piece(piece) {
                Some(id) => ids.push(id),
                None => {
                    let from = ids.len();
                    encoder.vocabulary.append_symbols(piece, origin.base, &mut ids)?;
                    merge_symbols(&encoder.vocabulary, &mut ids, from, &mut Scratch::default());
                }
            },
        }
        Ok(())
    })?;
    Ok(ids)
}

fn space() -> Find {
    Find::text(" ").unwrap()
}

fn replace() -> normalize::Step {
    normalize::Step::Replace(space(), "▁".into())
}

fn prepend(text: &str) -> normalize::Step {
    normalize::Step::Prepend(text.into())
}

fn metaspace(prefix: Prefix) -> Step {
    Step::Metaspace { replacement: '▁', prefix, split: false }
}

fn cut() -> Step {
    Step::Cut { find: space(), behaviour: Behaviour::MergedWithPrevious, invert: false }
}

/// What is done to a text, as files say it in several ways.
fn ways() -> Vec<(Vec<normalize::Step>, Vec<Step>)> {
    vec![
        (vec![], vec![]),
        (vec![prepend("▁"), replace()], vec![]),
        (vec![replace(), prepend("▁")], vec![]),
        (vec![prepend(" a"), replace()], vec![]),
        (vec![replace(), prepend("b")], vec![]),
        (vec![prepend(" ")], vec![]),
        (vec![replace()], vec![cut()]),
        (vec![], vec![metaspace(Prefix::Always)]),
        (vec![], vec![metaspace(Prefix::First), cut()]),
        (vec![], vec![metaspace(Prefix::Never)]),
    ]
}

/// More than [`Unsplit`] is.
fn other_ways() -> Vec<(Vec<normalize::Step>, Vec<Step>)> {
    vec![
        (vec![replace(), prepend(" ")], vec![]),
        (vec![replace(), replace()], vec![]),
        (vec![normalize::Step::Replace(space(), "▁▁".into())], vec![]),
        (vec![normalize::Step::Nfc], vec![]),
        (vec![], vec![cut()]),
        (vec![], vec![cut(), metaspace(Prefix::Always)]),
        (vec![prepend("▁")], vec![metaspace(Prefix::Always)]),
        (vec![], vec![Step::Metaspace { replacement: '▁', prefix: Prefix::Always, split: true }]),
        (vec![replace()], vec![Step::Cut { find: space(), behaviour: Behaviour::Removed, invert: true }]),
    ]
}

const LETTERS: [&str; 8] = ["a", "b", ".", "▁", " ", "é", "中", "串"];

fn words() -> impl Strategy<Value = Vec<String>> {
    let word = prop::collection::vec(select(&LETTERS[..]), 2..5).prop_map(|letters| letters.concat());
    prop::collection::btree_set(word, 0..24)
        .prop_flat_map(|set| Just(set.into_iter().collect::<Vec<_>>()).prop_shuffle())
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let letter = prop_oneof![
        12 => select(&LETTERS[..]).prop_map(|s| s.as_bytes().to_vec()),
        2 => select(vec!["aaaaaaaaaaaaaaaa", "  ", "<s>", "x", "д", "😀"]).prop_map(|s| s.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(letter, 0..30).prop_map(|letters| letters.concat())
}

/// An encoder of these words: of characters, or of bytes; `whole` as in [`Pairs`].
fn encoder(
    words: &[String],
    way: (Vec<normalize::Step>, Vec<Step>),
    characters: bool,
    whole: bool,
    unknown: u8,
) -> Encoder {
    let mut strings: Vec<Vec<u8>> = match characters {
        true => LETTERS.iter().map(|s| s.as_bytes().to_vec()).collect(),
        false => (0..=255).map(|byte| vec![byte]).collect(),
    };
    strings.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    let count = strings.len() as u32;
    let ranked: Vec<u32> = (0..)
        .zip(&strings)
        .filter(|(_, s)| !LETTERS.iter().any(|l| l.as_bytes() == **s) && s.len() > 1)
        .map(|(id, _)| id)
        .collect();
    // Byte tokens, which nothing spells.
    let first = count + 1;
    let names: Vec<Vec<u8>> = (0..256).map(|byte| format!("<0x{byte:02X}>").into_bytes()).collect();
    let unknown = match unknown {
        0 => Fallback::default(),
        1 => Fallback { token: Some(count), fuse: true, bytes: None },
        _ => {
            strings.push(b"<unk>".to_vec());
            strings.extend(names);
            Fallback { token: None, fuse: true, bytes: Some(Box::new(std::array::from_fn(|byte| first + byte as u32))) }
        }
    };
    let tokens: Vec<(&[u8], u32)> = strings.iter().map(Vec::as_slice).zip(0..).collect();
    let specials = [("<unk>".to_string(), count), ("<s>".to_string(), count + 300)];
    let pairs = Pairs { tokens: &tokens, merges: Vec::new(), ranked: &ranked, characters, whole, unknown };
    let vocabulary = Vocabulary::from_pairs(pairs, &specials, None).unwrap();
    let added = AddedToken { text: "<s>".into(), id: count + 300, special: true, ..AddedToken::default() };
    let around = Around { normalizer: Normalizer(way.0), added: vec![added], ..Around::default() };
    Encoder::with(vocabulary, Splitter::of_steps(way.1), &specials, around).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_text_in_parts_is_the_text(
        words in words(),
        way in select((0..ways().len()).collect::<Vec<_>>()),
        characters: bool,
        whole: bool,
        unknown in 0u8..3,
        trusted: bool,
        texts in prop::collection::vec(texts(), 1..6),
    ) {
        let encoder = encoder(&words, ways().swap_remove(way), characters, whole, unknown);
        prop_assert!(encoder.unsplit.is_some());
        let options = Options { allowed: trusted.then(|| encoder.all_specials()), ..Options::default() };
        for text in texts.iter().chain(texts.iter().rev()) {
            let want = plain(&encoder, text, options);
            let mut ids = Vec::new();
            let got = encoder.encode(text, options, &mut ids, &|| false).map(|()| ids);
            prop_assert_eq!(&got, &want, "{:?}", String::from_utf8_lossy(text));
            prop_assert_eq!(encoder.count(text, options, &|| false), want.map(|ids| ids.len() as u64));
        }
    }
}

#[test]
fn what_is_more_goes_another_way() {
    for (i, way) in other_ways().into_iter().enumerate() {
        assert!(encoder(&[], way, true, false, 1).unsplit.is_none(), "{i}");
    }
}

#[test]
fn a_part_is_not_taken_whole() {
    // abba is a token that merging never gives: bb comes first, then nothing joins a and bb.
    let words: Vec<String> = ["bb", "ab", "ba", "abba"].map(String::from).to_vec();
    let encoder = encoder(&words, ways().swap_remove(1), true, true, 0);
    let ids = |text: &str| {
        let mut ids = Vec::new();
        encoder.encode(text.as_bytes(), Options::default(), &mut ids, &|| false).unwrap();
        ids
    };
    let unchanged = super::tests::encoder(&words, ways().swap_remove(0), true, true, 0);
    let mut whole = Vec::new();
    unchanged.encode(b"abba", Options::default(), &mut whole, &|| false).unwrap();
    assert_eq!(whole, [11]);
    assert_eq!(ids("abba abba"), [3, 0, 8, 0, 3, 0, 8, 0]);
}
