//! Encoding: ids, counts, spans and streams say what the definition says, for every kind of vocabulary.

use crate::input::{document, once_in, one_of, text, up_to};
use crate::naive::{Token, Unknown, find_marker, widened};
use crate::split::{SCANNED, pattern, step};
use crate::vocabulary::{Case, case};
use arbitrary::Unstructured;
use digram::Error;
use digram::encode::{AddedToken, Allowed, Around, Batch, Encoder, EncoderStream, Options};
use digram::error::Place;
use digram::normalize::{self, Normalizer};
use digram::specials::SpecialMatcher;
use digram::split::{Find, Prefix, Splitter, Step};
use digram::text::Text;
use digram::vocabulary::Found;
use std::ops::Range;

/// Any document under any vocabulary, with any options.
pub fn encode(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let Some(case) = case(&mut u) else { return };
    let plain = !once_in(&mut u, 3);
    let splitter = splitter(&mut u, plain);
    let around = around(&mut u, &case, plain);
    let added: Vec<AddedToken> = around.added.clone();
    let template = around.template.clone();
    let Ok(encoder) = encoder(&case, splitter, around) else { return };
    let choices = choices(&mut u, &case);
    let places: Vec<usize> = (0..up_to(&mut u, 5)).map(|_| up_to(&mut u, 500)).collect();
    let damage: Vec<u32> = (0..up_to(&mut u, 3)).map(|_| up_to(&mut u, 400) as u32).collect();
    // Long pieces have a kernel of their own.
    let repeat = if once_in(&mut u, 24) { 70 } else { 1 };
    let document = document(u, 600).repeat(repeat);

    let sets = choices.sets(&encoder);
    let options = choices.options(&sets);
    let found = ids(&encoder, &document, options);
    if plain {
        let mut markers: Vec<(String, u32)> = added.iter().map(|token| (token.text.clone(), token.id)).collect();
        if choices.allow {
            markers.extend(case.specials.iter().filter(|special| choices.allowed.contains(&special.0)).cloned());
        }
        check_ids(&case, &encoder, &document, &markers, &choices, &template, &found);
    }
    check_others(&encoder, &document, options, &found);
    check_batch(&encoder, &document, options, places.first().copied().unwrap_or(0));
    check_stream(&encoder, &document, options, &places, &found);
    if repeat == 1 {
        check_built_again(&case, &document, &damage);
    }
}

/// What a call says about special tokens.
pub struct Choices {
    pub allow: bool,
    pub allowed: Vec<String>,
    pub disallowed: Vec<String>,
    pub template: bool,
}

impl Choices {
    /// What finds the special tokens that are allowed, and the markers that are not.
    pub fn sets(&self, encoder: &Encoder) -> (Allowed, SpecialMatcher) {
        let allowed: Vec<&str> = self.allowed.iter().map(String::as_str).collect();
        let allowed = encoder.some_specials(&allowed).expect("they are special tokens");
        (allowed, SpecialMatcher::new(&self.disallowed).expect("no marker is empty"))
    }

    /// The options of the call.
    pub fn options<'a>(&self, (allowed, disallowed): &'a (Allowed, SpecialMatcher)) -> Options<'a> {
        Options {
            allowed: self.allow.then_some(allowed),
            disallowed: (!self.disallowed.is_empty()).then_some(disallowed),
            template: self.template,
        }
    }
}

/// What a call is to say of the special tokens of a case, and a marker more.
pub fn choices(u: &mut Unstructured, case: &Case) -> Choices {
    let allow = once_in(u, 2);
    let all: Vec<String> = case.specials.iter().map(|special| special.0.clone()).collect();
    let allowed: Vec<String> = all.iter().filter(|_| allow && !once_in(u, 3)).cloned().collect();
    let mut disallowed = Vec::new();
    if once_in(u, 4) {
        disallowed.extend(all.into_iter().filter(|marker| !allowed.contains(marker)));
        disallowed.extend(Some(text(u, 3)).filter(|marker| !marker.is_empty()));
    }
    Choices { allow, allowed, disallowed, template: once_in(u, 3) }
}

/// A splitter that leaves the text as it is, if it is to be `plain`.
pub fn splitter(u: &mut Unstructured, plain: bool) -> Splitter {
    if !plain && once_in(u, 2) {
        let changing = [
            Step::PrefixSpace,
            Step::ByteCharacters,
            Step::Metaspace { replacement: '▁', prefix: Prefix::Always, split: true },
            Step::Metaspace { replacement: '▁', prefix: Prefix::First, split: false },
            Step::Metaspace { replacement: '_', prefix: Prefix::First, split: true },
        ];
        let step = |u: &mut Unstructured| if once_in(u, 2) { step(u) } else { Some(one_of(u, &changing)) };
        return Splitter::of_steps((0..up_to(u, 3)).filter_map(|_| step(u)).collect());
    }
    let pattern = match up_to(u, 3) {
        0 => return Splitter::none(),
        1 => r"\S+|\s+".to_string(),
        2 => one_of(u, &SCANNED).to_string(),
        _ => pattern(u, 2),
    };
    Splitter::new(&pattern).unwrap_or_else(|_| Splitter::none())
}

/// What surrounds splitting and merging; if it is `plain`, all text stays as it is.
pub fn around(u: &mut Unstructured, case: &Case, plain: bool) -> Around {
    let mut around = Around::default();
    for id in 0..up_to(u, 2) as u32 {
        let text = text(u, 3);
        if text.is_empty() || case.specials.iter().any(|special| special.0 == text) {
            continue;
        }
        let mut flag = || !plain && once_in(u, 3);
        let (lstrip, rstrip, single_word, normalized) = (flag(), flag(), flag(), flag());
        around.added.push(AddedToken { text, id: 6000 + id, special: false, lstrip, rstrip, single_word, normalized });
    }
    if let Some(id) = case.texts.keys().next().copied().filter(|_| once_in(u, 3)) {
        around.template = (vec![id], vec![id, id]);
    }
    if !plain {
        around.byte_characters = once_in(u, 6);
        around.normalizer = Normalizer((0..up_to(u, 3)).filter_map(|_| change(u)).collect());
        // A special token with flags.
        if let Some((marker, id)) = case.specials.first().filter(|_| once_in(u, 2)) {
            let (lstrip, rstrip, single_word, normalized) =
                (once_in(u, 2), once_in(u, 2), once_in(u, 3), once_in(u, 3));
            let token =
                AddedToken { text: marker.clone(), id: *id, special: true, lstrip, rstrip, single_word, normalized };
            around.added.push(token);
        }
    }
    around
}

fn change(u: &mut Unstructured) -> Option<normalize::Step> {
    Some(match up_to(u, 8) {
        0 => normalize::Step::Nfc,
        1 => normalize::Step::Nfd,
        2 => normalize::Step::Nfkc,
        3 => normalize::Step::Nfkd,
        4 => normalize::Step::Lowercase,
        5 => normalize::Step::Strip { left: once_in(u, 2), right: once_in(u, 2) },
        6 => normalize::Step::Prepend(text(u, 2)),
        7 => normalize::Step::Replace(Find::text(&text(u, 2)).ok()?, text(u, 2)),
        _ => normalize::Step::Replace(Find::regex(&pattern(u, 2)).ok()?, text(u, 2)),
    })
}

/// The encoder of a case, which is built anew.
pub fn encoder(case: &Case, splitter: Splitter, around: Around) -> digram::Result<Encoder> {
    Encoder::with((case.build)(None)?, splitter, &case.specials, around)
}

fn ids(encoder: &Encoder, document: &[u8], options: Options) -> digram::Result<Vec<u32>> {
    let mut ids = Vec::new();
    encoder.encode(document, options, &mut ids, &|| false).map(|()| ids)
}

/// What a call ends in, where it does not give ids.
#[derive(Debug, PartialEq, Eq)]
enum Refused {
    Unknown(usize),
    Disallowed(usize),
    Backtracking,
}

fn refused(error: &Error) -> Refused {
    match error {
        Error::UnknownCharacter { place: Place::Byte(at), .. } | Error::UnknownByte { place: Place::Byte(at), .. } => {
            Refused::Unknown(*at)
        }
        Error::DisallowedSpecial { place: Place::Byte(at), .. } => Refused::Disallowed(*at),
        Error::Backtracking { .. } => Refused::Backtracking,
        other => panic!("{other}"),
    }
}

/// The tokens by definition: markers are cut out, the text between is split, each piece is merged.
fn by_definition(
    case: &Case,
    splitter: &Splitter,
    document: &[u8],
    markers: &[(String, u32)],
    disallowed: &[String],
) -> Result<Vec<Token>, Refused> {
    if let Some((place, _)) = find_marker(disallowed, document, 0) {
        return Err(Refused::Disallowed(place.start));
    }
    let (texts, ids): (Vec<String>, Vec<u32>) = markers.iter().cloned().unzip();
    let (mut tokens, mut done) = (Vec::new(), 0);
    loop {
        let found = find_marker(&texts, document, done);
        let end = found.as_ref().map_or(document.len(), |found| found.0.start);
        let mut pieces = Vec::new();
        let mut add = |piece: Range<usize>| {
            pieces.push(piece);
            Ok(())
        };
        splitter.for_each_piece_within(document, done..end, &|| false, &mut add).map_err(|error| refused(&error))?;
        for piece in pieces {
            let some = case.naive.encode(&document[piece.clone()], piece.start);
            tokens.extend(some.map_err(|Unknown(at)| Refused::Unknown(at))?);
        }
        let Some((place, which)) = found else { return Ok(tokens) };
        done = place.end;
        tokens.push((ids[which], place));
    }
}

fn check_ids(
    case: &Case,
    encoder: &Encoder,
    document: &[u8],
    markers: &[(String, u32)],
    choices: &Choices,
    template: &(Vec<u32>, Vec<u32>),
    found: &digram::Result<Vec<u32>>,
) {
    let expected = by_definition(case, encoder.splitter(), document, markers, &choices.disallowed);
    let mut tokens = match (expected, found) {
        (Ok(tokens), Ok(_)) => tokens,
        (Err(expected), Err(error)) => return assert_eq!(refused(error), expected),
        (expected, found) => panic!("{found:?}, by definition {expected:?}"),
    };
    if choices.template {
        tokens.splice(0..0, template.0.iter().map(|&id| (id, 0..0)));
        tokens.extend(template.1.iter().map(|&id| (id, document.len()..document.len())));
    }
    let expected: Vec<u32> = tokens.iter().map(|token| token.0).collect();
    assert_eq!(found.as_ref(), Ok(&expected));
    let sets = choices.sets(encoder);
    let options = Options { disallowed: None, ..choices.options(&sets) };
    let spanned = encoder.encode_with_spans(document, options, &|| false).expect("it was encoded");
    assert_eq!(spanned.spans, widened(&tokens));
    // Decoding joins what the tokens spell.
    let text = |&id: &u32| match markers.iter().find(|marker| marker.1 == id) {
        Some(marker) => marker.0.as_bytes(),
        None => &case.texts[&id],
    };
    let spelt = expected.iter().map(text).collect::<Vec<_>>().concat();
    let mut decoded = Vec::new();
    encoder.decode(&expected, false, false, &mut decoded).expect("all ids have tokens");
    assert_eq!(decoded, spelt);
    // Without a pattern, one piece is all there is.
    let piece = case.naive.encode(document, 0).map(|tokens| tokens.into_iter().map(|t| t.0).collect::<Vec<u32>>());
    match (encoder.encode_piece(document, true), piece) {
        (Ok(ids), Ok(expected)) => assert_eq!(ids, expected),
        (Err(error), Err(Unknown(at))) => assert_eq!(refused(&error), Refused::Unknown(at)),
        (found, expected) => panic!("as one piece {found:?}, by definition {expected:?}"),
    }
}

/// The other ways to ask for the same.
fn check_others(encoder: &Encoder, document: &[u8], options: Options, found: &digram::Result<Vec<u32>>) {
    let count = encoder.count(document, options, &|| false);
    let spanned = encoder.encode_with_spans(document, options, &|| false);
    let last = encoder.encode_and_last(document, options, &|| false);
    let ids = match found {
        Ok(ids) => ids,
        Err(error) => {
            assert_eq!(count.as_ref(), Err(error));
            assert_eq!(last.as_ref(), Err(error));
            return assert_eq!(refused(&spanned.expect_err("there are no ids")), refused(error));
        }
    };
    assert_eq!(count, Ok(ids.len() as u64));
    let spanned = spanned.expect("there are ids");
    assert_eq!(&spanned.ids, ids);
    assert_eq!(spanned.spans.len(), ids.len());
    for two in spanned.spans.windows(2) {
        assert!(two[0].start <= two[1].start && two[0].end <= two[1].end, "{two:?}");
    }
    for span in &spanned.spans {
        assert!(span.start <= span.end && span.end <= document.len(), "{span:?}");
    }
    let (plain, last) = last.expect("there are ids");
    assert!(last <= plain.len());
    if !options.template {
        assert_eq!(&plain, ids);
    }
    let mut text = Vec::new();
    encoder.decode(ids, false, false, &mut text).expect("all ids have tokens");
    if let Ok(text) = std::str::from_utf8(document) {
        let spans = digram::encode::character_spans(text, &spanned.spans);
        let all = text.chars().count();
        assert!(spans.iter().all(|span| span.start <= span.end && span.end <= all));
    }
}

fn check_batch(encoder: &Encoder, document: &[u8], options: Options, place: usize) {
    let documents = [document, b"", &document[..place % (document.len() + 1)], document];
    let mut expected = Ok(Batch::default());
    for (index, document) in documents.iter().enumerate() {
        match (ids(encoder, document, options), &mut expected) {
            (Ok(ids), Ok(batch)) => {
                batch.ids.extend(ids);
                batch.ends.push(batch.ids.len());
            }
            (Err(source), Ok(_)) => expected = Err(Error::InDocument { index, source: Box::new(source) }),
            (_, Err(_)) => {}
        }
    }
    let texts = documents.map(Text::Bytes);
    let mut found = Batch::default();
    let take = &mut |part: Batch| {
        found.ends.extend(part.ends.iter().map(|end| found.ids.len() + end));
        found.ids.extend(part.ids);
        Ok(())
    };
    let threads = 1 + place % 3;
    let result = encoder.encode_batch(&texts, options, threads, &|| false, take);
    assert_eq!(result.map(|()| found), expected);
    let counts = encoder.count_batch(&texts, options, threads, &|| false);
    let lengths = |batch: Batch| {
        let starts = [0].into_iter().chain(batch.ends.iter().copied());
        batch.ends.iter().zip(starts).map(|(end, start)| (end - start) as u64).collect::<Vec<_>>()
    };
    assert_eq!(counts, expected.map(lengths));
}

fn check_stream(
    encoder: &Encoder,
    document: &[u8],
    options: Options,
    places: &[usize],
    found: &digram::Result<Vec<u32>>,
) {
    let mut cuts: Vec<usize> = places.iter().map(|place| place % (document.len() + 1)).collect();
    cuts.extend([0, document.len()]);
    cuts.sort_unstable();
    let mut stream = EncoderStream::default();
    let run = |stream: &mut EncoderStream| {
        let mut ids = Vec::new();
        for two in cuts.windows(2) {
            encoder.encode_next(stream, &document[two[0]..two[1]], options, false, &mut ids, &|| false)?;
            let template = if options.template { 1 } else { 0 };
            assert!(!encoder.settles_nothing(options) || ids.len() <= template);
        }
        encoder.encode_last(stream, options, false, &mut ids, &|| false)?;
        Ok(ids)
    };
    // A stream that has ended is new.
    for _ in 0..2 {
        match (run(&mut stream), found) {
            (Ok(ids), Ok(expected)) => assert_eq!(&ids, expected, "cut at {cuts:?}"),
            // Of two errors a stream may meet the later one first: it has not looked at all of the text for markers.
            (Err(error), Err(_)) => {
                refused(&error);
                return;
            }
            (ids, expected) => panic!("{ids:?} cut at {cuts:?}, the whole {expected:?}"),
        }
        assert!(stream.held().is_empty());
    }
}

/// What a build found out gives the same again; if it is damaged, it may be refused or give wrong ids, and nothing worse.
fn check_built_again(case: &Case, document: &[u8], damage: &[u32]) {
    let ids = |vocabulary| {
        let encoder = Encoder::new(vocabulary, Splitter::none(), &case.specials).expect("it was built before");
        encoder.encode_piece(document, true)
    };
    for (&id, text) in case.texts.iter().filter(|(id, _)| case.specials.iter().all(|special| special.1 != **id)) {
        let other = case.vocabulary.token_id(text);
        assert!(other.is_some_and(|other| &case.texts[&other] == text), "{id} is spelt as {other:?}");
    }
    let Some(found) = case.vocabulary.found() else { return };
    let again = (case.build)(Some(found.clone())).expect("of its own vocabulary");
    assert_eq!(again.merges(), case.vocabulary.merges());
    assert_eq!(again.not_canonical(), case.vocabulary.not_canonical());
    assert_eq!(again.found().as_ref(), Some(&found));
    assert_eq!(ids(again), ids((case.build)(None).expect("it was built before")));
    if let [at, value, ..] = *damage {
        let turn = |mut triples: Vec<(u32, u32, u32)>| {
            if let Some(triple) = (at as usize).checked_rem(triples.len()).map(|i| &mut triples[i]) {
                *triple = [(value, triple.1, triple.2), (triple.0, value, triple.2), (triple.0, triple.1, value)]
                    [value as usize % 3];
            }
            triples
        };
        let mut not_canonical = found.not_canonical;
        not_canonical.push(value);
        let damaged = Found { merges: turn(found.merges), rules: turn(found.rules), not_canonical };
        if let Ok(vocabulary) = (case.build)(Some(damaged)) {
            drop(ids(vocabulary));
        }
    }
}
