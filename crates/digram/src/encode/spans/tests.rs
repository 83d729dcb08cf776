//! Spans against a naive twin, that keeps for each byte of a changed text the bytes that it came from.

use super::*;
use crate::align::{Origin, work};
use crate::encode::Around;
use crate::normalize::{Normalizer, Step as Change};
use crate::split::{Behaviour, Find, Prefix, Splitter, Step};
use crate::vocabulary::{Base, Fallback, Pairs, Vocabulary};
use proptest::prelude::*;

/// A text, and for each of its bytes what it stands for.
#[derive(Clone, Default)]
struct Traced {
    text: String,
    from: Vec<Range<usize>>,
}

impl Traced {
    fn part(&self, range: Range<usize>) -> Self {
        Self { text: self.text[range.clone()].into(), from: self.from[range].into() }
    }

    /// What a stretch stands for, at most from its first byte to its last.
    fn hull(&self, range: Range<usize>) -> Range<usize> {
        self.from[range.start].start..self.from[range.end - 1].end
    }

    fn push(&mut self, text: &str, from: impl Fn(usize) -> Range<usize>) {
        self.text.push_str(text);
        self.from.extend((0..text.len()).map(from));
    }

    fn push_part(&mut self, of: &Self, range: Range<usize>) {
        self.push(&of.text[range.clone()], |i| of.from[range.start + i].clone());
    }

    /// Each character written as another text.
    fn written(&self, write: impl Fn(char) -> String) -> Self {
        let mut new = Self::default();
        for (at, c) in self.text.char_indices() {
            let (text, length) = (write(c), c.len_utf8());
            match text.len() == length {
                true => new.push(&text, |i| self.from[at + i].clone()),
                false => new.push(&text, |_| self.hull(at..at + length)),
            }
        }
        new
    }

    fn bytes_written(&self) -> Self {
        let mut new = Self::default();
        for (i, byte) in self.text.bytes().enumerate() {
            new.push(&crate::normalize::byte_characters::written(&[byte]), |_| self.from[i].clone());
        }
        new
    }

    fn prefixed(&self, prefix: &str) -> Self {
        let mut new = Self::default();
        if self.text.is_empty() {
            return new;
        }
        new.push(prefix, |_| self.from[0].clone());
        new.push_part(self, 0..self.text.len());
        new
    }

    fn normalized(self, steps: &[Change]) -> Self {
        steps.iter().fold(self, |text, step| match step {
            Change::Lowercase => text.written(|c| c.to_lowercase().collect()),
            Change::Strip { .. } => {
                let start = text.text.len() - text.text.trim_start().len();
                text.part(start..start + text.text.trim().len())
            }
            Change::Prepend(prefix) => text.prefixed(prefix),
            Change::Replace(find, content) => {
                let (mut new, mut done) = (Self::default(), 0);
                let mut one = |found: Range<usize>| {
                    new.push_part(&text, done..found.start);
                    new.push(content, |_| text.hull(found.clone()));
                    done = found.end;
                    Ok(())
                };
                find.for_each_match(&text.text, 0, &|| false, &mut one).unwrap();
                new.push_part(&text, done..text.text.len());
                new
            }
            Change::ByteCharacters => text.bytes_written(),
            Change::Nfc | Change::Nfd | Change::Nfkc | Change::Nfkd => unreachable!("they have a twin of their own"),
        })
    }

    /// The pieces, and whether each begins the document.
    fn split(self, steps: &[Step], first: bool) -> Vec<(Self, bool)> {
        let one = |(text, first): (Self, bool), step: &Step| match step {
            Step::Cut { .. } => {
                let mut pieces = Vec::new();
                let mut add = |piece: &str, at: Origin| {
                    pieces.push((text.part(at.base..at.base + piece.len()), first && at.base == 0));
                    Ok(())
                };
                let origin = Origin::of_document(0, false);
                Splitter::of_steps(vec![step.clone()])
                    .for_each_text(&text.text, origin, first, &|| false, &mut add)
                    .unwrap();
                pieces
            }
            Step::PrefixSpace if text.text.starts_with(' ') => vec![(text, first)],
            Step::PrefixSpace => vec![(text.prefixed(" "), first)],
            Step::ByteCharacters => vec![(text.bytes_written(), first)],
            Step::Metaspace { replacement, prefix, split } => {
                let mark = |c| if c == ' ' { *replacement } else { c };
                let mut text = text.written(|c| mark(c).to_string());
                let wanted = *prefix == Prefix::Always || (*prefix == Prefix::First && first);
                if wanted && !text.text.starts_with(*replacement) {
                    text = text.prefixed(&replacement.to_string());
                }
                let mut cuts: Vec<usize> = text.text.match_indices(*replacement).map(|(at, _)| at).collect();
                if !split {
                    cuts.clear();
                }
                cuts.extend([0, text.text.len()]);
                cuts.sort_unstable();
                cuts.dedup();
                cuts.windows(2).map(|two| (text.part(two[0]..two[1]), first && two[0] == 0)).collect()
            }
        };
        let whole = vec![(self, first)];
        let mut pieces = steps.iter().fold(whole, |pieces, step| {
            let full = pieces.into_iter().filter(|(piece, _)| !piece.text.is_empty());
            full.flat_map(|piece| one(piece, step)).collect()
        });
        pieces.retain(|(piece, _)| !piece.text.is_empty());
        pieces
    }
}

/// Text, or bytes that are none.
type Piece = std::result::Result<Traced, Range<usize>>;

/// The pieces of a document: of text, or of bytes that are none.
fn pieces(document: &[u8], normalizer: &[Change], steps: &[Step]) -> Vec<Piece> {
    let (mut pieces, mut at) = (Vec::<Piece>::new(), 0);
    for chunk in document.utf8_chunks() {
        let mut text = Traced::default();
        text.push(chunk.valid(), |i| at + i..at + i + 1);
        pieces.extend(text.normalized(normalizer).split(steps, at == 0).into_iter().map(|(piece, _)| Ok(piece)));
        at += chunk.valid().len();
        let end = at + chunk.invalid().len();
        match pieces.last_mut() {
            // Stretches outside any character that touch are one piece.
            Some(Err(range)) if chunk.valid().is_empty() => range.end = end,
            _ if end > at => pieces.push(Err(at..end)),
            _ => {}
        }
        at = end;
    }
    pieces
}

/// The smallest ranges that hold the given ones and whose starts and ends ascend.
fn widened(spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let start = |i: usize| spans[i..].iter().map(|span| span.start).min().unwrap();
    let end = |i: usize| spans[..=i].iter().map(|span| span.end).max().unwrap();
    (0..spans.len()).map(|i| start(i)..end(i)).collect()
}

const KNOWN: [(&str, u32); 11] = [
    ("a", 0),
    ("b", 1),
    (" ", 2),
    ("▁", 3),
    ("é", 4),
    ("ab", 5),
    ("▁a", 6),
    ("<unk>", 7),
    ("<0xE4>", 8),
    ("<0xB8>", 9),
    ("<0xAD>", 10),
];
const MERGES: [(u32, u32, u32); 2] = [(0, 1, 5), (3, 0, 6)];

/// Characters, two merges, byte tokens for 中, and an unknown token for what is left.
fn characters(fuse: bool) -> Vocabulary {
    let tokens: Vec<(&[u8], u32)> = KNOWN.iter().map(|&(text, id)| (text.as_bytes(), id)).collect();
    let mut bytes = Box::new([u32::MAX; 256]);
    [(0xE4, 8), (0xB8, 9), (0xAD, 10)].into_iter().for_each(|(byte, id): (usize, u32)| bytes[byte] = id);
    let unknown = Fallback { bytes: Some(bytes), token: Some(7), fuse };
    let pairs =
        Pairs { tokens: &tokens, merges: MERGES.to_vec(), ranked: &[], characters: true, whole: false, unknown };
    Vocabulary::from_pairs(pairs, &[], None).unwrap()
}

/// The tokens of a piece under `characters`, with what they stand for.
fn tokens(piece: &Piece, fuse: bool) -> Vec<(u32, Range<usize>)> {
    let mut symbols: Vec<(u32, Range<usize>)> = Vec::new();
    let mut waiting: Option<Range<usize>> = None;
    let unknown = |range: Range<usize>, symbols: &mut Vec<_>, waiting: &mut Option<Range<usize>>| {
        if !fuse {
            symbols.extend(waiting.take().map(|range| (7, range)));
        }
        *waiting = Some(waiting.take().map_or(range.start, |before| before.start)..range.end);
    };
    match piece {
        Ok(piece) => {
            for (at, c) in piece.text.char_indices() {
                let id = KNOWN.iter().find(|(text, _)| *text == c.to_string());
                match id {
                    Some(&(_, id)) => {
                        symbols.extend(waiting.take().map(|range| (7, range)));
                        symbols.push((id, piece.hull(at..at + c.len_utf8())));
                    }
                    None if c == '中' => symbols.extend((0..3).map(|i| (8 + i as u32, piece.from[at + i].clone()))),
                    None => unknown(piece.hull(at..at + c.len_utf8()), &mut symbols, &mut waiting),
                }
            }
        }
        Err(range) => range.clone().for_each(|at| unknown(at..at + 1, &mut symbols, &mut waiting)),
    }
    symbols.extend(waiting.take().map(|range| (7, range)));
    for (left, right, new) in MERGES {
        while let Some(i) = symbols.windows(2).position(|two| (two[0].0, two[1].0) == (left, right)) {
            let joined = symbols[i].1.start..symbols[i + 1].1.end;
            symbols.splice(i..i + 2, [(new, joined)]);
        }
    }
    symbols
}

fn normalizers() -> impl Strategy<Value = Vec<Change>> {
    let texts = prop::sample::select(vec!["▁", "é", "ab", "", " "]);
    let find = prop::sample::select(vec![" ", "a", "é", "ab"]).prop_map(|text| Find::text(text).unwrap());
    let regex = prop::sample::select(vec![r"\s+", "[ab]+", "中|é"]).prop_map(|text| Find::regex(text).unwrap());
    let step = prop_oneof![
        Just(Change::Lowercase),
        Just(Change::Strip { left: true, right: true }),
        texts.clone().prop_map(|text| Change::Prepend(text.into())),
        (prop_oneof![find, regex], texts).prop_map(|(find, content)| Change::Replace(find, content.into())),
    ];
    prop::collection::vec(step, 0..4)
}

fn cuts() -> impl Strategy<Value = Step> {
    let find = prop_oneof![
        Just(Find::words()),
        Just(Find::white_space()),
        Just(Find::text("a").unwrap()),
        Just(Find::regex(" ?b").unwrap()),
    ];
    let behaviour = prop::sample::select(vec![
        Behaviour::Removed,
        Behaviour::Isolated,
        Behaviour::MergedWithPrevious,
        Behaviour::MergedWithNext,
        Behaviour::Contiguous,
    ]);
    (find, behaviour, any::<bool>()).prop_map(|(find, behaviour, invert)| Step::Cut { find, behaviour, invert })
}

fn splits() -> impl Strategy<Value = Vec<Step>> {
    let prefix = prop::sample::select(vec![Prefix::Always, Prefix::First, Prefix::Never]);
    let metaspace = (prop::sample::select(vec!['▁', '_']), prefix, any::<bool>());
    let step = prop_oneof![
        3 => cuts(),
        1 => Just(Step::PrefixSpace),
        2 => metaspace.prop_map(|(replacement, prefix, split)| Step::Metaspace { replacement, prefix, split }),
        1 => Just(Step::ByteCharacters),
    ];
    prop::collection::vec(step, 0..4)
}

fn documents() -> impl Strategy<Value = Vec<u8>> {
    let parts: [&[u8]; 15] = [
        b"a",
        b"b",
        b"ab",
        b" ",
        b" ",
        b"  ",
        "é".as_bytes(),
        "▁".as_bytes(),
        "中".as_bytes(),
        "👍".as_bytes(),
        b"A",
        "İ".as_bytes(),
        b"\xFF",
        b"\xF0\x9F",
        b"_",
    ];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 0..16).prop_map(|parts| parts.concat())
}

fn encoder(vocabulary: Vocabulary, normalizer: Vec<Change>, steps: Vec<Step>, byte_characters: bool) -> Encoder {
    let around = Around { normalizer: Normalizer(normalizer), byte_characters, ..Around::default() };
    Encoder::with(vocabulary, Splitter::of_steps(steps), &[], around).unwrap()
}

fn spanned(encoder: &Encoder, document: &[u8]) -> Spanned {
    encoder.encode_with_spans(document, Options::default(), &|| false).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn as_the_naive_twin_says(
        document in documents(), normalizer in normalizers(), steps in splits(), fuse: bool,
    ) {
        let encoder = encoder(characters(fuse), normalizer.clone(), steps.clone(), false);
        let pieces = pieces(&document, &normalizer, &steps);
        let (ids, spans): (Vec<_>, Vec<_>) = pieces.iter().flat_map(|piece| tokens(piece, fuse)).unzip();
        let mut plain = Vec::new();
        encoder.encode(&document, Options::default(), &mut plain, &|| false).unwrap();
        prop_assert_eq!(&plain, &ids);
        prop_assert_eq!(spanned(&encoder, &document), Spanned { ids, spans: widened(spans) });
    }

    #[test]
    fn bytes_as_characters_keep_their_places(
        document in documents(), normalizer in normalizers(), cut in prop::collection::vec(cuts(), 0..2), before: bool,
    ) {
        // Written by the normalizer, or by a step of the split.
        let (mut normalizer, mut steps) = (normalizer, cut);
        match before {
            true => normalizer.push(Change::ByteCharacters),
            false => steps.extend([Step::PrefixSpace, Step::ByteCharacters]),
        }
        let vocabulary = Vocabulary::from_merges(&Base::bytes(), Vec::new(), &[], None).unwrap();
        let encoder = encoder(vocabulary, normalizer.clone(), steps.clone(), true);
        let mut want = Spanned::default();
        for piece in pieces(&document, &normalizer, &steps) {
            match piece {
                Ok(piece) => {
                    for (at, c) in piece.text.char_indices() {
                        want.ids.push(u32::from(crate::normalize::byte_characters::byte(c).unwrap()));
                        want.spans.push(piece.hull(at..at + c.len_utf8()));
                    }
                }
                Err(range) => {
                    want.ids.extend(document[range.clone()].iter().map(|&byte| u32::from(byte)));
                    want.spans.extend(range.map(|at| at..at + 1));
                }
            }
        }
        want.spans = widened(want.spans);
        prop_assert_eq!(spanned(&encoder, &document), want);
    }

    /// Normal forms and all else together: ids are those of `encode`, spans ascend inside the document, and bytes that are
    /// no text are covered.
    #[test]
    fn spans_ascend_inside_the_document(
        document in "[aé\u{301}\u{323}ﬁ가\u{1100}\u{1161} 👍]{0,12}", ill in prop::collection::vec((0usize..12, 128u8..), 0..3),
        normalizer in normalizers(), steps in splits(),
        form in prop::sample::select(vec![Change::Nfc, Change::Nfd, Change::Nfkc, Change::Nfkd]),
    ) {
        let mut document = document.into_bytes();
        ill.into_iter().for_each(|(at, byte)| document.insert(at.min(document.len()), byte));
        let normalizer = [vec![form], normalizer].concat();
        let encoder = encoder(characters(true), normalizer, steps, false);
        let Spanned { ids, spans } = spanned(&encoder, &document);
        let mut plain = Vec::new();
        encoder.encode(&document, Options::default(), &mut plain, &|| false).unwrap();
        prop_assert_eq!(plain, ids);
        prop_assert!(spans.iter().all(|span| span.start <= span.end && span.end <= document.len()));
        prop_assert!(spans.windows(2).all(|two| two[0].start <= two[1].start && two[0].end <= two[1].end));
        let mut at = 0;
        for chunk in document.utf8_chunks() {
            at += chunk.valid().len();
            for byte in at..at + chunk.invalid().len() {
                prop_assert!(spans.iter().any(|span| span.contains(&byte)), "byte {}", byte);
            }
            at += chunk.invalid().len();
        }
    }

    #[test]
    fn characters_are_those_that_bytes_touch(text in "[aé中👍]{0,8}", cuts in prop::collection::vec((0usize..24, 0usize..24), 0..8)) {
        let inside = |at: usize| at.min(text.len());
        let (mut starts, mut ends): (Vec<_>, Vec<_>) =
            cuts.into_iter().map(|(a, b)| (inside(a.min(b)), inside(a.max(b)))).unzip();
        starts.sort_unstable();
        ends.sort_unstable();
        let spans: Vec<Range<usize>> = starts.into_iter().zip(ends).map(|(start, end)| start..end).collect();
        let owners: Vec<usize> = text.chars().enumerate().flat_map(|(i, c)| vec![i; c.len_utf8()]).collect();
        let owner = |at: usize| owners.get(at).copied().unwrap_or(text.chars().count());
        for (span, got) in spans.iter().zip(character_spans(&text, &spans)) {
            let want = match span.is_empty() && text.is_char_boundary(span.start) {
                true => owner(span.start)..owner(span.start),
                false => owner(span.start)..owner(span.end.max(span.start + 1) - 1) + 1,
            };
            prop_assert_eq!(got, want, "{:?} of {:?}", span, text);
        }
    }
}

/// What was noted and looked up grows with the text, whatever it holds.
#[test]
fn twice_the_text_takes_twice_the_work() {
    let regex = |pattern| Find::regex(pattern).unwrap();
    let space = || Change::Replace(Find::text(" ").unwrap(), "▁".into());
    let metaspace =
        || vec![Step::Metaspace { replacement: '▁', prefix: Prefix::Always, split: true }, Step::PrefixSpace];
    type Case = (&'static str, Vec<Change>, Vec<Step>);
    let cases: [Case; 9] = [
        (" ", vec![Change::Prepend("▁".into()), space()], vec![]),
        (" ", vec![], metaspace()),
        ("a ", vec![Change::Replace(regex(" "), "".into())], metaspace()),
        ("\u{301}", vec![Change::Nfc], vec![]),
        ("\u{323}\u{301}", vec![Change::Nfd, Change::Lowercase], vec![]),
        ("ﷺ", vec![Change::Nfkc, Change::Nfd, space()], metaspace()),
        ("\u{1100}\u{1161}", vec![Change::Nfkc], vec![Step::ByteCharacters]),
        ("\u{1161}", vec![Change::Nfc], vec![]),
        ("x", vec![Change::Replace(regex("(?=x)"), "--".into()), Change::Lowercase], vec![]),
    ];
    for (unit, normalizer, steps) in cases {
        let encoder = encoder(characters(false), normalizer, steps, false);
        let cost = |n: usize| {
            let document = unit.repeat(n);
            let before = work();
            let spans = spanned(&encoder, document.as_bytes()).spans;
            assert!(spans.last().is_none_or(|span| span.end <= document.len()));
            work() - before
        };
        let (small, large) = (cost(4_000), cost(8_000));
        assert!(small > 0 && large <= 2 * small + 100, "{unit:?}: {small} steps, then {large}");
    }
}
