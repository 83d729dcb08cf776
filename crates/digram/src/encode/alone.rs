//! The text of ids at speed, where the decoder of a file treats each token by itself, but for the ends of the text: that of
//! Llama 2, of Gemma, of SentencePiece models.
//!
//! What each token becomes is written down once. Two things are left that depend on what is around it: the first tokens, where
//! steps ask what begins the text, go through the steps themselves, up to a token behind which nothing can ask any more;
//! and of a run of byte tokens it is seen only at its end whether it is UTF-8.

use super::decoder::{REPLACEMENT, Step, named_byte, stripped};

/// Texts of up to this many bytes are written down.
const SHORT: usize = 64;

/// Bytes that are copied at once.
const BLOCK: usize = 16;

/// What a token becomes.
#[derive(Clone, Copy, Debug)]
struct Text {
    start: u32,
    length: u8,
    kind: Kind,
    special: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Its text, behind which no step asks what begins the text; and it belongs to no run of bytes.
    Plain,
    /// Its text.
    Other,
    /// One byte.
    Byte,
    /// Not written down, or no token.
    Elsewhere,
}

/// A decoder that treats each token by itself.
#[derive(Debug)]
pub(super) struct Alone {
    texts: Box<[Text]>,
    /// `BLOCK` bytes follow the last text.
    bytes: Box<[u8]>,
    /// The steps up to the one that makes one string of all.
    body: Vec<Step>,
    /// Those behind it, which take something off the whole text.
    strips: Vec<Step>,
    /// Whether the first tokens are another matter.
    asks_first: bool,
    /// Whether a run of bytes that is not UTF-8 becomes U+FFFD, byte by byte.
    whole_runs: bool,
}

impl Alone {
    /// The texts of tokens 0 to `count`, whose strings are `string(id)` (none of those that are no tokens); none where a step
    /// asks for more than that.
    pub(super) fn new(
        steps: &[Step],
        count: usize,
        string: impl Fn(u32) -> Option<Vec<u8>>,
        is_special: impl Fn(u32) -> bool,
    ) -> Option<Self> {
        let (body, strips) = match steps.iter().position(|step| *step == Step::Fuse) {
            Some(at) => (&steps[..at], &steps[at + 1..]),
            None => (steps, &[][..]),
        };
        let (mut asks, mut whole_runs) = (None, false);
        for (i, step) in body.iter().enumerate() {
            match step {
                Step::Replace(..) | Step::Metaspace { prefix: false, .. } => {}
                // Of two, what the one does to the first token changes for which the other one asks.
                Step::Metaspace { .. } | Step::LeadingMark { .. } if asks.is_none() => asks = Some(i),
                // It joins strings.
                Step::ByteFallback { whole_runs: whole } if i + 1 == body.len() => whole_runs = *whole,
                _ => return None,
            }
        }
        if !strips.iter().all(|step| matches!(step, Step::Strip { .. })) || count >= 1 << 25 {
            return None;
        }
        let mut bytes = Vec::new();
        let text = |id: u32| {
            let elsewhere = Text { start: 0, length: 0, kind: Kind::Elsewhere, special: false };
            let Some(mut text) = string(id) else { return elsewhere };
            // What it becomes where it is the first one.
            let mut first = text.clone();
            let mut kind = Kind::Plain;
            for (i, step) in body.iter().enumerate() {
                match step {
                    Step::LeadingMark { .. } => {
                        first = step.apply(vec![first], false).concat();
                        if first.is_empty() {
                            kind = Kind::Other;
                        }
                    }
                    Step::ByteFallback { .. } => {
                        if named_byte(&first).is_some() {
                            kind = Kind::Other;
                        }
                        if let Some(byte) = named_byte(&text) {
                            (text, kind) = (vec![byte], Kind::Byte);
                        }
                    }
                    Step::Metaspace { replacement, .. } if asks == Some(i) => {
                        first = step.apply(vec![first], false).concat();
                        text = Step::Metaspace { replacement: *replacement, prefix: false }
                            .apply(vec![text], false)
                            .concat();
                    }
                    _ => [first, text] = [first, text].map(|text| step.apply(vec![text], false).concat()),
                }
            }
            if text.len() > SHORT {
                return elsewhere;
            }
            let start = bytes.len() as u32; // 64 bytes each of at most 2^31 / 64 tokens
            bytes.extend_from_slice(&text);
            Text { start, length: text.len() as u8, kind, special: is_special(id) }
        };
        let texts = (0..count as u32).map(text).collect();
        bytes.extend_from_slice(&[0; BLOCK]);
        Some(Self {
            texts,
            bytes: bytes.into(),
            body: body.to_vec(),
            strips: strips.to_vec(),
            asks_first: asks.is_some(),
            whole_runs,
        })
    }

    /// Appends the text of ids, as [`Decoder::text`] of their strings gives it; false, with nothing appended, where that is to
    /// be asked: for a token that is not written down, or where no first token ends the beginning.
    ///
    /// [`Decoder::text`]: super::Decoder::text
    pub(super) fn append(
        &self,
        ids: &[u32],
        skip_special: bool,
        replace: bool,
        string: impl Fn(u32) -> Vec<u8>,
        out: &mut Vec<u8>,
    ) -> bool {
        let mut length = 0;
        for &id in ids {
            match self.texts.get(id as usize) {
                // A byte may become U+FFFD.
                Some(text) if text.kind != Kind::Elsewhere => length += usize::from(text.length).max(REPLACEMENT.len()),
                _ => return false,
            }
        }
        let kept = |text: &Text| !(skip_special && text.special);
        let mut rest = ids;
        let mut head = Vec::new();
        if self.asks_first && !ids.is_empty() {
            let ends_it = |&id: &u32| {
                let text = self.texts[id as usize];
                kept(&text) && text.kind == Kind::Plain
            };
            let Some(at) = ids.iter().position(ends_it) else { return false };
            let first = ids[..=at].iter().filter(|&&id| kept(&self.texts[id as usize])).map(|&id| string(id));
            head = self.body.iter().fold(first.collect(), |strings, step| step.apply(strings, replace)).concat();
            rest = &ids[at + 1..];
        }
        if out.try_reserve(head.len() + length + BLOCK).is_err() {
            return false;
        }
        let begin = out.len();
        out.extend_from_slice(&head);
        let mut at = out.len();
        out.resize(at + length + BLOCK, 0);
        let judges = replace && self.whole_runs;
        let mut run: Vec<u8> = Vec::new();
        for &id in rest {
            let text = self.texts[id as usize];
            if !kept(&text) {
                continue;
            }
            let from = &self.bytes[text.start as usize..];
            if judges && text.kind == Kind::Byte {
                run.push(from[0]);
                continue;
            }
            if !run.is_empty() {
                at += end_run(&mut run, &mut out[at..]);
            }
            let (to, length) = (&mut out[at..], usize::from(text.length));
            // A block of one size, the end of which the next token overwrites: that is a move, and no call.
            match (from.first_chunk::<BLOCK>(), to.first_chunk_mut::<BLOCK>()) {
                (Some(from), Some(to)) if length <= BLOCK => *to = *from,
                _ => to[..length].copy_from_slice(&from[..length]),
            }
            at += length;
        }
        at += end_run(&mut run, &mut out[at..]);
        out.truncate(at);
        for strip in &self.strips {
            if let Step::Strip { content, start, stop } = strip {
                let mark = content.to_string();
                let text = &out[begin..];
                let kept = stripped(text, *start, |text| text.strip_prefix(mark.as_bytes()));
                let taken = text.len() - kept.len();
                let left = stripped(kept, *stop, |text| text.strip_suffix(mark.as_bytes())).len();
                out.truncate(begin + taken + left);
                out.drain(begin..begin + taken);
            }
        }
        true
    }
}

/// Writes the text of a run of byte tokens; returns its length.
fn end_run(run: &mut Vec<u8>, out: &mut [u8]) -> usize {
    let length = if std::str::from_utf8(run).is_ok() {
        out[..run.len()].copy_from_slice(run);
        run.len()
    } else {
        out.chunks_mut(REPLACEMENT.len()).zip(&*run).for_each(|(to, _)| to.copy_from_slice(REPLACEMENT));
        REPLACEMENT.len() * run.len()
    };
    run.clear();
    length
}

#[cfg(test)]
mod tests {
    use super::super::Decoder;
    use super::*;
    use proptest::prelude::*;

    const TOKENS: [&str; 20] = [
        "▁",
        "▁▁",
        "▁a",
        "a",
        "b▁",
        "",
        "<0xE4>",
        "<0xBD>",
        "<0xA0>",
        "<0x41>",
        "▁<0x41>",
        " ",
        "  ",
        "a ",
        "▁▁b",
        "<0x4>",
        "你",
        "x▁y",
        "</s>",
        "<0xC3>",
    ];

    fn string(id: u32) -> Option<Vec<u8>> {
        match id {
            20 => Some([b'y'; 70].to_vec()),
            _ => TOKENS.get(id as usize).map(|token| token.as_bytes().to_vec()),
        }
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let replace = |find: &str, content: &str| Step::Replace(find.into(), content.into());
        let body = prop::collection::vec(
            prop_oneof![
                Just(replace("▁", " ")),
                Just(replace("a", "")),
                Just(replace("b", "▁")),
                any::<bool>().prop_map(|prefix| Step::Metaspace { replacement: '▁', prefix }),
                any::<bool>().prop_map(|all| Step::LeadingMark { mark: '▁', all }),
            ],
            0..4,
        );
        let fallback = prop::option::of(any::<bool>().prop_map(|whole_runs| Step::ByteFallback { whole_runs }));
        let strip = (prop::sample::select(vec![' ', '▁', 'a']), 0usize..3, 0usize..3)
            .prop_map(|(content, start, stop)| Step::Strip { content, start, stop });
        let end = prop::option::of(prop::collection::vec(strip, 0..3));
        (body, fallback, end).prop_map(|(mut steps, fallback, end)| {
            steps.extend(fallback);
            if let Some(strips) = end {
                steps.push(Step::Fuse);
                steps.extend(strips);
            }
            steps
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn it_is_the_steps(
            steps in steps(),
            ids in prop::collection::vec(prop_oneof![30 => 0u32..20, 1 => 20u32..21], 0..12),
            skip_special: bool,
            replace: bool,
        ) {
            let is_special = |id| id == 18;
            let asks = steps.iter().filter(|step| matches!(step, Step::LeadingMark { .. } | Step::Metaspace { prefix: true, .. }));
            let Some(alone) = Alone::new(&steps, 21, string, is_special) else {
                prop_assert!(asks.count() > 1);
                return Ok(());
            };
            let kept = ids.iter().filter(|&&id| !(skip_special && is_special(id))).map(|&id| string(id).unwrap());
            let want = Decoder::Steps(steps).text(kept.collect(), replace);
            let mut out = b"before".to_vec();
            if alone.append(&ids, skip_special, replace, |id| string(id).unwrap(), &mut out) {
                prop_assert_eq!(&out[6..], &want[..]);
            } else {
                prop_assert!(alone.asks_first || ids.contains(&20));
                prop_assert_eq!(&out[..], b"before");
            }
        }
    }

    #[test]
    fn steps_that_join_strings_are_not_of_each_alone() {
        let strip = Step::Strip { content: ' ', start: 1, stop: 0 };
        let fallback = Step::ByteFallback { whole_runs: true };
        let replace = Step::Replace("a".into(), "b".into());
        for steps in [
            vec![strip.clone()],
            vec![fallback, replace.clone()],
            vec![Step::ByteCharacters],
            vec![Step::Fuse, replace],
        ] {
            assert!(Alone::new(&steps, 5, string, |_| false).is_none(), "{steps:?}");
        }
    }
}
