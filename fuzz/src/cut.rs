//! Cutting: what fits, the longest beginning that does, and chunks, as trying every place finds them.

use crate::encode::{around, choices, encoder, splitter};
use crate::input::{document, once_in, up_to};
use crate::vocabulary::case;
use arbitrary::Unstructured;
use digram::Error;
use digram::encode::{Encoder, Options};
use digram::error::Place;

/// Any document under any vocabulary, cut to any number of tokens.
pub fn cut(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let Some(case) = case(&mut u) else { return };
    let plain = !once_in(&mut u, 4);
    let splitter = splitter(&mut u, plain);
    // With other patterns, and where text is changed, the longest one is looked for and not always found.
    let exact = plain && (splitter.has_cuts() || splitter.engine() == "none") && !case.naive.stand_ins.fuse;
    let around = around(&mut u, &case, plain);
    let Ok(encoder) = encoder(&case, splitter, around) else { return };
    let choices = choices(&mut u, &case);
    let limit = up_to(&mut u, 40);
    let overlap = up_to(&mut u, 20);
    let document = document(u, 90);

    let sets = choices.sets(&encoder);
    let options = choices.options(&sets);
    let count = |text: &[u8]| encoder.count(text, options, &|| false);
    let fits = encoder.fits(&document, limit, options, &|| false);
    let truncated = encoder.truncate(&document, limit, options, &|| false);
    let Ok(whole) = count(&document) else { return };
    assert_eq!(fits, Ok(whole <= limit as u64), "{whole} tokens, {limit} of {:?}", String::from_utf8_lossy(&document));
    // A beginning may need more steps of a pattern than the whole.
    let places = || (0..=document.len()).filter(|&at| is_between_characters(&document, at));
    let counts: Option<Vec<(usize, u64)>> = places().map(|at| Some((at, count(&document[..at]).ok()?))).collect();
    let Some(counts) = counts else { return };
    let longest = counts.iter().rev().find(|(_, count)| *count <= limit as u64);
    match (truncated, longest) {
        (Ok(end), Some(longest)) => {
            assert!(counts.iter().any(|&(at, count)| at == end && count <= limit as u64), "{end} does not fit");
            assert!(!exact || end == longest.0, "{end}, but {} fits", longest.0);
        }
        (Err(Error::Argument(_)), None) => return,
        (Err(Error::Backtracking { .. }), _) => return,
        (truncated, longest) => panic!("{truncated:?}, but by definition {longest:?}"),
    }
    check_chunks(&encoder, &document, limit, overlap, options, plain);
}

fn check_chunks(encoder: &Encoder, document: &[u8], limit: usize, overlap: usize, options: Options, plain: bool) {
    let (mut start, mut reached) = (0, 0);
    loop {
        let chunks = match encoder.chunks(document, start, limit, overlap, options, &|| false) {
            Ok(chunks) => chunks,
            Err(Error::Indivisible { place: Place::Byte(at), .. }) => {
                return assert!(at >= start && at < document.len() && is_between_characters(document, at));
            }
            // Of a part alone that holds what no token is for, or takes a pattern more steps than the whole.
            Err(Error::Argument(_) | Error::Backtracking { .. }) => return,
            // What is put in front of a part may have no token.
            Err(Error::UnknownCharacter { .. } | Error::UnknownByte { .. }) if !plain => return,
            Err(error) => panic!("{error}, though the whole was encoded"),
        };
        if chunks.is_empty() {
            return assert_eq!((start, reached), (document.len(), document.len()));
        }
        for chunk in chunks {
            assert!(chunk.range.start == start && start <= reached && chunk.range.end > reached && chunk.next > start);
            assert!(is_between_characters(document, chunk.range.end) && is_between_characters(document, chunk.next));
            assert!(chunk.next == chunk.range.end || (overlap > 0 && chunk.next < chunk.range.end));
            let options = Options { disallowed: None, ..options };
            let count = encoder.count(&document[chunk.range.clone()], options, &|| false).expect("it was counted");
            assert!(count <= limit as u64, "{chunk:?} has {count}");
            (start, reached) = (chunk.next, chunk.range.end);
        }
    }
}

/// Whether no character has byte `at` inside: the text on both sides is the same with and without the cut.
fn is_between_characters(text: &[u8], at: usize) -> bool {
    let mut start = 0;
    for chunk in text.utf8_chunks() {
        let valid = start..start + chunk.valid().len();
        if valid.contains(&at) {
            return chunk.valid().is_char_boundary(at - start);
        }
        start = valid.end + chunk.invalid().len();
    }
    true
}
