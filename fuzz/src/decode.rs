//! Decoding: any ids, in one go and as they come.

use crate::encode::{encoder, splitter};
use crate::input::{once_in, one_of, text, up_to};
use crate::vocabulary::case;
use arbitrary::Unstructured;
use digram::Error;
use digram::encode::{Around, Decoder, DecoderStep};
use digram::normalize::byte_characters;

/// Any ids under any vocabulary and decoder.
pub fn decode(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let Some(case) = case(&mut u) else { return };
    let decoder = decoder(&mut u);
    let around = Around { decoder: decoder.clone(), ..Around::default() };
    let splitter = splitter(&mut u, true);
    let Ok(encoder) = encoder(&case, splitter, around) else { return };
    let (skip_special, replace) = (once_in(&mut u, 2), once_in(&mut u, 2));
    let with_unknown = once_in(&mut u, 3);
    let places: Vec<usize> = (0..up_to(&mut u, 5)).map(|_| up_to(&mut u, 200)).collect();
    let known: Vec<u32> = case.texts.keys().copied().collect();
    let ids: Vec<u32> = u
        .take_rest()
        .chunks(2)
        .take(200)
        .map(|two| {
            let number = u32::from(two[0]) | u32::from(*two.last().expect("chunks hold something")) << 8;
            match with_unknown && number % 50 == 7 {
                true => [number, u32::MAX - number, 1 << 31, 4998][number as usize / 50 % 4],
                false => known[number as usize % known.len()],
            }
        })
        .collect();

    let mut decoded = b"before".to_vec();
    let result = encoder.decode(&ids, skip_special, replace, &mut decoded);
    if let Some(&missing) = ids.iter().find(|id| !case.texts.contains_key(id)) {
        assert_eq!(result, Err(Error::UnknownId { id: u64::from(missing) }));
        assert_eq!(decoded, b"before");
    } else {
        assert_eq!(result, Ok(()));
        let special = |id: u32| case.specials.iter().any(|special| special.1 == id);
        let string = |id: u32| match case.vocabulary.is_of_bytes() && !special(id) && decoder != Decoder::Bytes {
            true => byte_characters::written(&case.texts[&id]).into_bytes(),
            false => case.texts[&id].clone(),
        };
        let strings = ids.iter().filter(|&&id| !(skip_special && special(id))).map(|&id| string(id)).collect();
        assert_eq!(decoded, [b"before", &decoder.text(strings, replace)[..]].concat());
    }

    let mut cuts: Vec<usize> = places.iter().map(|place| place % (ids.len() + 1)).collect();
    cuts.extend([0, ids.len()]);
    cuts.sort_unstable();
    let mut stream = encoder.stream_decoder(skip_special, replace);
    // A stream that has ended is new.
    for _ in 0..2 {
        let mut streamed = b"before".to_vec();
        for two in cuts.windows(2) {
            let part = &ids[two[0]..two[1]];
            let (held, length) = (stream.held(), streamed.len());
            if let Err(error) = encoder.decode_next(&mut stream, part, &mut streamed) {
                let missing = part.iter().find(|id| !case.texts.contains_key(id)).expect("an id has no token");
                assert_eq!(error, Error::UnknownId { id: u64::from(*missing) });
                assert_eq!((stream.held(), streamed.len()), (held, length), "as they were");
                return;
            }
            assert!(part.iter().all(|id| case.texts.contains_key(id)));
        }
        stream.finish(&mut streamed);
        assert_eq!(streamed, decoded, "cut at {cuts:?}");
        assert!(stream.held().is_empty());
    }
}

fn decoder(u: &mut Unstructured) -> Decoder {
    match up_to(u, 5) {
        0 | 1 => Decoder::Bytes,
        2 => Decoder::Spaced,
        _ => Decoder::Steps((0..=up_to(u, 3)).map(|_| step(u)).collect()),
    }
}

fn step(u: &mut Unstructured) -> DecoderStep {
    let marks = ['▁', ' ', 'a', '<', 'é'];
    match up_to(u, 6) {
        0 => DecoderStep::ByteCharacters,
        1 => DecoderStep::Metaspace { replacement: one_of(u, &marks), prefix: once_in(u, 2) },
        2 => DecoderStep::LeadingMark { mark: one_of(u, &marks), all: once_in(u, 2) },
        3 => {
            let find = Some(text(u, 2)).filter(|find| !find.is_empty()).unwrap_or_else(|| "▁".into());
            DecoderStep::Replace(find, text(u, 2))
        }
        4 => DecoderStep::ByteFallback { whole_runs: once_in(u, 2) },
        5 => DecoderStep::Fuse,
        _ => {
            let content = one_of(u, &marks);
            let count = |u: &mut Unstructured| if once_in(u, 8) { usize::MAX } else { up_to(u, 3) };
            DecoderStep::Strip { content, start: count(u), stop: count(u) }
        }
    }
}
