//! The longest beginning against its definition: every beginning encoded by itself.

use super::*;
use crate::encode::Around;
use crate::normalize::{Normalizer, Step};
use crate::split::Step::Cut;
use crate::split::{Behaviour, CL100K, CL100K_CLASSIC, Find, GPT2, O200K, QWEN2, Splitter};
use crate::vocabulary::{Base, Fallback, Pairs, Special, Unknown, Vocabulary};
use proptest::prelude::*;

/// The longest beginning by definition.
pub(in crate::encode) fn by_definition(encoder: &Encoder, text: &[u8], limit: usize, options: Options) -> usize {
    let fits = |&at: &usize| {
        let between =
            std::str::from_utf8(text).map_or_else(|_| is_between_characters(text, at), |t| t.is_char_boundary(at));
        between && encoder.count(&text[..at], options, &|| false).unwrap() <= limit as u64
    };
    (0..=text.len()).rev().find(fits).unwrap()
}

pub(in crate::encode) const SPLITS: [Option<&str>; 6] =
    [None, Some(GPT2), Some(CL100K), Some(CL100K_CLASSIC), Some(QWEN2), Some(O200K)];

/// Merges of random bytes or characters; few symbols, so that many merges apply.
pub(in crate::encode) fn merges(base: usize) -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..base * 8, 0..base * 8), 0..40)
}

const ALPHABET: [&str; 18] =
    ["a", "b", "A", "B", "中", "é", "1", " ", " ", "\n", "\r", "\u{a0}", "'", "s", "l", "/", "!", "\u{301}"];

pub(in crate::encode) fn texts() -> impl Strategy<Value = String> {
    let run = (prop::sample::select(&ALPHABET[..]), prop_oneof![6 => 1..3usize, 1 => 10..200usize])
        .prop_map(|(c, n)| c.repeat(n));
    prop::collection::vec(run, 0..20).prop_map(|runs| runs.concat())
}

const FEW: [(&str, &[&str]); 9] = [
    (GPT2, &[" ", "\n", "a"]),
    (CL100K, &[" ", "\n", "a"]),
    (CL100K_CLASSIC, &[" ", "\n", "\r"]),
    (CL100K_CLASSIC, &[" ", "\n", "!"]),
    (O200K, &[" ", "\n", "/"]),
    (O200K, &["A", "a", "中"]),
    (O200K, &["A", "'", "s"]),
    (CL100K, &["'", "l", "a"]),
    (QWEN2, &["1", " ", "\u{301}"]),
];

fn specials() -> Vec<Special> {
    vec![("<a".into(), 1000), ("<ab c>".into(), 1001), ("b".into(), 1002)]
}

pub(in crate::encode) fn of_bytes(pairs: &[(usize, usize)], split: Option<&str>, around: Around) -> Encoder {
    of_some_bytes(&ALPHABET, pairs, split, around)
}

fn of_some_bytes(alphabet: &[&str], pairs: &[(usize, usize)], split: Option<&str>, around: Around) -> Encoder {
    let bytes: Vec<u32> = alphabet.concat().bytes().map(u32::from).collect();
    let mut ids = bytes.clone();
    let mut merges: Vec<(u32, u32, u32)> = Vec::new();
    for &(left, right) in pairs {
        let (left, right) = (ids[left % ids.len()], ids[right % ids.len()]);
        if merges.iter().all(|merge| (merge.0, merge.1) != (left, right)) {
            let id = 256 + merges.len() as u32;
            merges.push((left, right, id));
            ids.push(id);
        }
    }
    let specials = specials();
    let vocabulary = Vocabulary::from_merges(&Base::bytes(), merges, &specials, None).unwrap();
    Encoder::with(vocabulary, split.map_or_else(Splitter::none, |p| Splitter::new(p).unwrap()), &specials, around)
        .unwrap()
}

fn of_ranks(pairs: &[(usize, usize)], split: Option<&str>) -> Encoder {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let alphabet = ALPHABET.concat().into_bytes();
    for &(left, right) in pairs {
        let pick = |at: usize| match at % (alphabet.len() + tokens.len() - 256) {
            i if i < alphabet.len() => vec![alphabet[i]],
            i => tokens[256 + i - alphabet.len()].clone(),
        };
        // Some are of three parts, which no merge may make: they are found only as whole pieces.
        let token = match left % 3 {
            0 => [pick(left), pick(right), pick(left + 1)].concat(),
            _ => [pick(left), pick(right)].concat(),
        };
        if !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    let ranked: Vec<(&[u8], u32)> = tokens.iter().zip(0..).map(|(token, id)| (&token[..], id)).collect();
    let vocabulary = Vocabulary::from_ranks(&ranked, &specials(), None).unwrap();
    let splitter = split.map_or_else(Splitter::none, |p| Splitter::new(p).unwrap());
    Encoder::new(vocabulary, splitter, &specials()).unwrap()
}

/// A character alphabet that lacks some characters.
fn of_characters(pairs: &[(usize, usize)], split: Option<&str>, unknown: Unknown) -> Encoder {
    let characters: Vec<(char, u32)> = "abAB中1 \n's/".chars().zip(256..).collect();
    let mut ids: Vec<u32> = characters.iter().map(|c| c.1).collect();
    let mut merges: Vec<(u32, u32, u32)> = Vec::new();
    for &(left, right) in pairs {
        let (left, right) = (ids[left % ids.len()], ids[right % ids.len()]);
        if merges.iter().all(|merge| (merge.0, merge.1) != (left, right)) {
            let id = 300 + merges.len() as u32;
            merges.push((left, right, id));
            ids.push(id);
        }
    }
    let base = Base::Characters(characters, unknown);
    let vocabulary = Vocabulary::from_merges(&base, merges, &specials(), None).unwrap();
    let splitter = split.map_or_else(Splitter::none, |p| Splitter::new(p).unwrap());
    Encoder::new(vocabulary, splitter, &specials()).unwrap()
}

fn check(encoder: &Encoder, text: &[u8], limit: usize, options: Options) -> std::result::Result<(), TestCaseError> {
    let found = encoder.truncate(text, limit, options, &|| false).unwrap();
    prop_assert_eq!(found, by_definition(encoder, text, limit, options), "of {:?}", String::from_utf8_lossy(text));
    let count = encoder.count(text, options, &|| false).unwrap();
    prop_assert_eq!(encoder.fits(text, limit, options, &|| false), Ok(count <= limit as u64));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn longest_under_merges(
        pairs in merges(6), text in texts(), limit in 0..40usize, split in prop::sample::select(&SPLITS[..])
    ) {
        check(&of_bytes(&pairs, split, Around::default()), text.as_bytes(), limit, Options::default())?;
    }

    /// Few symbols, so that pieces grow, shrink and merge with what follows in every way.
    #[test]
    fn longest_of_few_symbols(
        (split, alphabet) in prop::sample::select(&FEW[..]),
        pairs in merges(2),
        runs in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![4 => 1..4usize, 1 => 20..70usize]), 1..40),
        limit in 0..60usize,
    ) {
        let text: String = runs.iter().map(|(which, n)| alphabet[which.index(alphabet.len())].repeat(*n)).collect();
        check(&of_some_bytes(alphabet, &pairs, Some(split), Around::default()), text.as_bytes(), limit, Options::default())?;
    }

    #[test]
    fn longest_under_ranks_that_are_looked_up(
        pairs in merges(6), text in texts(), limit in 0..40usize, split in prop::sample::select(&SPLITS[..])
    ) {
        check(&of_ranks(&pairs, split), text.as_bytes(), limit, Options::default())?;
    }

    #[test]
    fn longest_under_characters(
        pairs in merges(4), text in texts(), limit in 0..40usize, split in prop::sample::select(&SPLITS[..]), bytes: bool
    ) {
        let unknown = if bytes { Unknown::Bytes(Box::new(std::array::from_fn(|b| b as u32))) } else { Unknown::Token(256) };
        check(&of_characters(&pairs, split, unknown), text.as_bytes(), limit, Options::default())?;
    }

    #[test]
    fn longest_with_markers_and_ill_formed_bytes(
        pairs in merges(6),
        parts in prop::collection::vec(prop_oneof![
            4 => texts().prop_map(|text| text.chars().take(12).collect::<String>().into_bytes()),
            2 => prop::sample::select(&["<a", "<ab c>", "<ab", "b", "<"][..]).prop_map(|s| s.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 1..4),
        ], 0..8),
        limit in 0..30usize,
        split in prop::sample::select(&SPLITS[..]),
        template: bool,
    ) {
        let around = Around { template: (vec![1], vec![2, 3]), ..Around::default() };
        let encoder = of_bytes(&pairs, split, around);
        let options = Options { allowed: Some(encoder.all_specials()), template, ..Options::default() };
        let text = parts.concat();
        if template && limit < 3 {
            prop_assert!(encoder.truncate(&text, limit, options, &|| false).is_err());
        } else {
            check(&encoder, &text, limit, options)?;
        }
    }

    #[test]
    fn longest_of_composed_text(
        pairs in merges(6), text in texts(), limit in 0..40usize, split in prop::sample::select(&SPLITS[..])
    ) {
        let around = Around { normalizer: Normalizer(vec![Step::Nfc]), ..Around::default() };
        let composed = Normalizer(vec![Step::Nfc]).apply(&text).unwrap().into_owned();
        check(&of_bytes(&pairs, split, around), composed.as_bytes(), limit, Options::default())?;
    }

    #[test]
    fn longest_of_text_that_is_written_otherwise(pairs in merges(6), text in texts(), limit in 0..40usize) {
        let steps = vec![Step::Prepend("b".into()), Step::Replace(Find::text(" ").unwrap(), "中".into())];
        let around = Around { normalizer: Normalizer(steps), ..Around::default() };
        check(&of_bytes(&pairs, None, around), text.as_bytes(), limit, Options::default())?;
    }

    #[test]
    fn of_any_pattern_what_is_found_fits(pairs in merges(6), text in texts(), limit in 0..40usize, decomposed: bool) {
        let around = Around { normalizer: Normalizer(if decomposed { vec![Step::Nfd] } else { vec![] }), ..Around::default() };
        let encoder = of_bytes(&pairs, Some(r"[A-Za-z]+|\s+(?!\S)|(?:/!?)+|[\s\S]"), around);
        let end = encoder.truncate(text.as_bytes(), limit, Options::default(), &|| false).unwrap();
        prop_assert!(encoder.count(&text.as_bytes()[..end], Options::default(), &|| false).unwrap() <= limit as u64);
        let longest = by_definition(&encoder, text.as_bytes(), limit, Options::default());
        prop_assert!(end == longest || longest > end + encoder.longest, "{} but {}", end, longest);
        let count = encoder.count(text.as_bytes(), Options::default(), &|| false).unwrap();
        prop_assert_eq!(encoder.fits(text.as_bytes(), limit, Options::default(), &|| false), Ok(count <= limit as u64));
    }

    /// Byte tokens pass an unknown one that waits for the end of its run: tokens are not in the order of the text.
    #[test]
    fn what_is_found_fits_where_byte_tokens_pass_an_unknown_one(
        text in "[a中é]{0,24}", limit in 0..20usize, fuse: bool, split in prop::sample::select(&SPLITS[..])
    ) {
        let tokens: [(&[u8], u32); 6] = [(b"a", 0), (b"<0xE4>", 1), (b"<0xB8>", 2), (b"<0xAD>", 3), (b"<unk>", 4), (b"aa", 5)];
        let mut bytes = Box::new([u32::MAX; 256]);
        [0xE4, 0xB8, 0xAD].into_iter().zip(1..).for_each(|(byte, id): (usize, u32)| bytes[byte] = id);
        let unknown = Fallback { bytes: Some(bytes), token: Some(4), fuse };
        let merges = vec![(0, 0, 5)];
        let pairs = Pairs { tokens: &tokens, merges, ranked: &[], characters: true, whole: false, unknown };
        let vocabulary = Vocabulary::from_pairs(pairs, &[], None).unwrap();
        let splitter = split.map_or_else(Splitter::none, |pattern| Splitter::new(pattern).unwrap());
        check(&Encoder::new(vocabulary, splitter, &[]).unwrap(), text.as_bytes(), limit, Options::default())?;
    }

    /// White space is in no piece, so a text of a few tokens may be of any length.
    #[test]
    fn longest_where_white_space_is_removed(pairs in merges(6), text in texts(), limit in 0..40usize) {
        let cut = Cut { find: Find::white_space(), behaviour: Behaviour::Removed, invert: false };
        let vocabulary = of_bytes(&pairs, None, Around::default()).vocabulary;
        let encoder = Encoder::new(vocabulary, Splitter::of_steps(vec![cut]), &specials()).unwrap();
        check(&encoder, text.as_bytes(), limit, Options::default())?;
    }

    #[test]
    fn beginnings_of_a_piece(pairs in merges(3), text in texts(), order in prop::collection::vec(0..4000usize, 1..12)) {
        for encoder in [of_bytes(&pairs, None, Around::default()), of_ranks(&pairs, None)] {
            let mut prefixes = Prefixes::new(&encoder, text.as_bytes(), 0, &|| false);
            for at in order.iter().map(|at| text.floor_char_boundary(at % (text.len() + 1))) {
                let expected = encoder.count(&text.as_bytes()[..at], Options::default(), &|| false).unwrap();
                prop_assert_eq!(prefixes.count(at).unwrap() as u64, expected, "{} of {:?}", at, text);
            }
            for most in 0..20 {
                let count = encoder.count(text.as_bytes(), Options::default(), &|| false).unwrap() as usize;
                let known = Prefixes::new(&encoder, text.as_bytes(), 0, &|| false).at_most(most).unwrap();
                prop_assert_eq!(known, Some(count).filter(|&count| count <= most));
            }
        }
    }
}

/// A marker's characters need not be in the alphabet; what stands before it fits all the same.
#[test]
fn a_marker_of_other_characters() {
    for split in SPLITS {
        let encoder = of_characters(&[(0, 1)], split, Unknown::Error);
        let options = Options { allowed: Some(encoder.all_specials()), ..Options::default() };
        for text in ["a".repeat(70) + "<ab c>", "ab".repeat(100) + "<ab c>ab", " \n".repeat(60) + "<ab c> \n \n"] {
            let count = encoder.count(text.as_bytes(), options, &|| false).unwrap() as usize;
            for limit in (0..count + 2).step_by(3).chain(count - 4..count + 2) {
                // The definition, where a beginning that holds half a marker cannot be encoded.
                let fits = |&at: &usize| {
                    encoder.count(&text.as_bytes()[..at], options, &|| false).is_ok_and(|count| count <= limit as u64)
                };
                let longest = (0..=text.len()).rev().find(fits);
                let found = encoder.truncate(text.as_bytes(), limit, options, &|| false);
                assert_eq!(found.ok(), longest, "{limit} of {text:?} by {split:?}");
            }
        }
    }
}

#[test]
fn a_piece_that_is_a_token_is_one() {
    let mut tokens: Vec<(Vec<u8>, u32)> = (0..=255).map(|byte| (vec![byte], byte.into())).collect();
    tokens.push((b"abc".to_vec(), 256));
    let ranked: Vec<(&[u8], u32)> = tokens.iter().map(|(token, id)| (&token[..], *id)).collect();
    let vocabulary = Vocabulary::from_ranks(&ranked, &[], None).unwrap();
    let encoder = Encoder::new(vocabulary, Splitter::none(), &[]).unwrap();
    for (text, limit, end) in [("abcd", 1, 3), ("abcd", 3, 3), ("abcd", 4, 4), ("ab", 1, 1)] {
        assert_eq!(encoder.truncate(text.as_bytes(), limit, Options::default(), &|| false), Ok(end));
    }
    let long = format!("abc{}", "d".repeat(300));
    assert_eq!(encoder.truncate(long.as_bytes(), 1, Options::default(), &|| false), Ok(3));
}

#[test]
fn between_characters() {
    let text = "aé中👍".as_bytes();
    let between: Vec<usize> = (0..=text.len()).filter(|&at| is_between_characters(text, at)).collect();
    assert_eq!(between, [0, 1, 3, 6, 10]);
    let bytes = b"\x80\xe4\xb8a\xf0\x9f\x91\xed\xa0\x80";
    assert!((0..=bytes.len()).all(|at| is_between_characters(bytes, at)));
}
