use super::*;
use crate::encode::Around;
use crate::encode::truncate::tests::{SPLITS, by_definition, merges, of_bytes, texts};
use crate::split::Splitter;
use crate::vocabulary::{Base, Vocabulary};
use proptest::prelude::*;

/// All chunks, by as many calls as it takes.
fn all(encoder: &Encoder, text: &[u8], limit: usize, overlap: usize, options: Options) -> Result<Vec<Chunk>> {
    let mut chunks: Vec<Chunk> = Vec::new();
    loop {
        let start = chunks.last().map_or(0, |last| last.next);
        let more = encoder.chunks(text, start, limit, overlap, options, &|| false)?;
        if more.is_empty() {
            return Ok(chunks);
        }
        chunks.extend(more);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn chunks_are_the_longest_and_advance(
        pairs in merges(4),
        parts in prop::collection::vec(prop_oneof![
            4 => texts().prop_map(|text| text.chars().take(20).collect::<String>()),
            1 => prop::sample::select(&["<a", "<ab c>", "<ab"][..]).prop_map(String::from),
        ], 0..6),
        limit in 1..20usize,
        overlap in 0..20usize,
        split in prop::sample::select(&SPLITS[..]),
        allowed: bool,
    ) {
        let encoder = of_bytes(&pairs, split, Around::default());
        let text = parts.concat();
        let options = Options { allowed: allowed.then(|| encoder.all_specials()), ..Options::default() };
        let overlap = overlap % limit;
        let chunks = match all(&encoder, text.as_bytes(), limit, overlap, options) {
            Err(Error::Indivisible { place: Place::Byte(at), symbol, limit: named }) => {
                let first = text[at..].chars().next().unwrap();
                prop_assert_eq!((symbol, named), (first.to_string(), limit));
                let alone = &text.as_bytes()[at..at + first.len_utf8()];
                prop_assert!(encoder.count(alone, Options::default(), &|| false).unwrap() > limit as u64);
                return Ok(());
            }
            chunks => chunks.unwrap(),
        };
        let mut reached = 0;
        let mut next = 0;
        for Chunk { range, next: after } in chunks {
            prop_assert_eq!(range.start, next);
            prop_assert!(range.start <= reached && range.end > reached && range.end > range.start && after > range.start);
            let rest = &text.as_bytes()[range.start..];
            let longest = by_definition(&encoder, rest, limit, options);
            prop_assert!(encoder.count(&rest[..range.len()], options, &|| false).unwrap() <= limit as u64);
            if !allowed {
                prop_assert_eq!(range.len(), longest);
            }
            if after < range.end {
                let spans = encoder.encode_with_spans(&rest[..range.len()], options, &|| false).unwrap().spans;
                let repeated = spans.iter().filter(|span| span.start >= after - range.start).count();
                prop_assert!(overlap > 0 && repeated <= overlap);
            } else {
                prop_assert_eq!(after, range.end);
            }
            (reached, next) = (range.end, after);
        }
        prop_assert_eq!(reached, text.len());
    }
}

#[test]
fn a_marker_is_never_cut_in_two() {
    let encoder = of_bytes(&[(0, 0)], None, Around::default());
    let options = Options { allowed: Some(encoder.all_specials()), ..Options::default() };
    let text = "a<ab c>a<ab c><ab c>!";
    let chunks = all(&encoder, text.as_bytes(), 1, 0, options).unwrap();
    let parts: Vec<&str> = chunks.into_iter().map(|chunk| &text[chunk.range]).collect();
    assert_eq!(parts, ["a", "<ab c>", "a", "<ab c>", "<ab c>", "!"]);
}

#[test]
fn half_a_marker_may_fit_but_is_no_end() {
    // "a<" is one token, and so is "a": the longest beginning of one token cuts the marker in two, a chunk does not.
    let merges = vec![(u32::from(b'a'), u32::from(b'<'), 256)];
    let specials = [("<ab c>".to_string(), 300)];
    let vocabulary = Vocabulary::from_merges(&Base::bytes(), merges, &specials, None).unwrap();
    let encoder = Encoder::new(vocabulary, Splitter::none(), &specials).unwrap();
    let options = Options { allowed: Some(encoder.all_specials()), ..Options::default() };
    let text = "a<ab c>a<ab c>";
    assert_eq!(encoder.truncate(text.as_bytes(), 1, options, &|| false), Ok(2));
    let chunks = all(&encoder, text.as_bytes(), 1, 0, options).unwrap();
    let parts: Vec<&str> = chunks.into_iter().map(|chunk| &text[chunk.range]).collect();
    assert_eq!(parts, ["a", "<ab c>", "a", "<ab c>"]);
}
