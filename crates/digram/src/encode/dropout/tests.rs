//! Documents under dropout: the limits, and what ids depend on.

use super::*;
use crate::split::{GPT2, Splitter};
use crate::vocabulary::{Base, Unknown, Vocabulary};

/// Bytes, and some merges; a special token.
fn encoder() -> Encoder {
    let (a, b, c, blank) = (97, 98, 99, 32);
    let merges = vec![(a, b), (b, c), (256, c), (blank, 256), (258, 257), (256, 256), (259, 261)];
    let triples = merges.into_iter().zip(256..).map(|((left, right), id)| (left, right, id)).collect();
    let special = ("<|end|>".to_owned(), 263);
    let vocabulary = Vocabulary::from_merges(&Base::bytes(), triples, std::slice::from_ref(&special), None).unwrap();
    Encoder::new(vocabulary, Splitter::new(GPT2).unwrap(), &[special]).unwrap()
}

const TEXT: &str = "abcab ababab abc bcabc, ab<|end|>abababab 12 abcabcabc";

fn ids(encoder: &Encoder, p: f64, place: (u64, u64), allowed: bool) -> Vec<u32> {
    let options = Options { allowed: allowed.then(|| encoder.all_specials()), ..Options::default() };
    let mut out = Vec::new();
    let dropout = Dropout::new(p).unwrap();
    encoder.encode_dropped(TEXT.as_bytes(), options, &dropout, place, &mut out, &|| false).unwrap();
    out
}

#[test]
fn without_dropout_it_is_encode_and_with_all_dropped_the_bytes() {
    let encoder = encoder();
    let mut want = Vec::new();
    encoder.encode(TEXT, Options::default(), &mut want, &|| false).unwrap();
    assert_eq!(ids(&encoder, 0.0, (9, 9), false), want);
    let bytes: Vec<u32> = TEXT.bytes().map(u32::from).collect();
    assert_eq!(ids(&encoder, 1.0, (9, 9), false), bytes);
    let with_special = ids(&encoder, 1.0, (9, 9), true);
    assert_eq!(with_special.iter().filter(|&&id| id == 263).count(), 1);
    assert_eq!(with_special.len(), bytes.len() - "<|end|>".len() + 1);
}

#[test]
fn ids_depend_on_seed_and_place_alone_and_spell_the_text() {
    let encoder = encoder();
    let texts = vec![Text::Utf8(TEXT); 5000];
    let dropout = Dropout::new(0.3).unwrap();
    let want: Vec<Vec<u32>> = (0..texts.len() as u64).map(|i| ids(&encoder, 0.3, (1, 7 + i), false)).collect();
    let distinct: std::collections::HashSet<_> = want.iter().collect();
    assert!(distinct.len() > 4000, "{}", distinct.len());
    for ids in &want {
        let mut spelt = Vec::new();
        assert!(ids.iter().all(|&id| encoder.vocabulary().tokens().append(id, &mut spelt)));
        assert_eq!(spelt, TEXT.as_bytes());
    }
    for threads in [1, 3] {
        let mut all = Vec::new();
        let take = &mut |part: Batch| {
            let mut start = 0;
            for end in part.ends {
                all.push(part.ids[start..end].to_vec());
                start = end;
            }
            Ok(())
        };
        encoder.encode_batch_dropped(&texts, Options::default(), &dropout, (1, 7), threads, &|| false, take).unwrap();
        assert_eq!(all, want);
    }
    assert_ne!(ids(&encoder, 0.3, (1, 7), false), ids(&encoder, 0.3, (2, 7), false));
}

#[test]
fn a_list_with_repeated_strings_is_refused() {
    let tokens: [&[u8]; 4] = [b"a", b"b", b"ab", b"ab"];
    let vocabulary = Vocabulary::from_list(&tokens, false, Unknown::Error, &[], None).unwrap();
    let encoder = Encoder::new(vocabulary, Splitter::none(), &[]).unwrap();
    let dropout = Dropout::new(0.1).unwrap();
    let result = encoder.encode_dropped(b"ab", Options::default(), &dropout, (0, 0), &mut Vec::new(), &|| false);
    assert!(matches!(result, Err(Error::Argument(_))));
}
