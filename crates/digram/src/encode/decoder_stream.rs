//! Ids -> bytes, id by id: what [`Encoder::decode`] gives of all ids at once, in parts, each as soon as it is certain.
//!
//! A decoder's steps turn a list of strings into a list of strings. Here each step takes the strings as they come, in
//! fragments, and hands on what no later fragment can change. All steps hold back a bounded stretch, but for two: a run
//! of byte tokens, which are judged as a whole, and strings that are all one before they are read as a whole.

mod fragments;

use super::Encoder;
use super::decoder::{Decoder, REPLACEMENT, Step, named_byte};
use crate::Result;
use crate::normalize::byte_characters;
use fragments::{Ends, Leading, Search, send_characters};

/// Decodes ids as they come. It belongs to the encoder that made it.
#[derive(Clone, Debug)]
pub struct DecoderStream {
    steps: Vec<Running>,
    skip_special: bool,
}

impl Encoder {
    /// A decoder of ids as they come; the arguments are those of [`Self::decode`].
    pub fn stream_decoder(&self, skip_special: bool, replace: bool) -> DecoderStream {
        let steps = match &self.around.decoder {
            Decoder::Bytes => Vec::new(),
            Decoder::Spaced => vec![Running::Spaced { any: false, inside: false }],
            Decoder::Steps(steps) => steps.iter().map(|step| Running::of(step, replace)).collect(),
        };
        DecoderStream { steps, skip_special }
    }

    /// Appends what `ids`, the next ones of a stream, make certain.
    ///
    /// # Errors
    /// As [`Self::decode`]; the stream and `out` are then as they were.
    pub fn decode_next(&self, stream: &mut DecoderStream, ids: &[u32], out: &mut Vec<u8>) -> Result<()> {
        if stream.steps.is_empty() {
            return self.decode(ids, stream.skip_special, false, out);
        }
        for string in self.strings(ids, stream.skip_special)? {
            send(&mut stream.steps, Event::Bytes(&string), out);
            send(&mut stream.steps, Event::End, out);
        }
        Ok(())
    }
}

impl DecoderStream {
    /// Appends what was held back: no id follows. The stream begins anew.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        for i in 0..self.steps.len() {
            let (step, after) = self.steps[i..].split_first_mut().expect("i is below the length");
            step.finish(&mut |event| send(after, event, out));
        }
    }

    /// The bytes that are held back, as far as they are known: what came last is last.
    pub fn held(&self) -> Vec<u8> {
        self.steps.iter().rev().flat_map(Running::held).collect()
    }
}

/// Part of a list of strings.
#[derive(Clone, Copy)]
enum Event<'a> {
    /// More of the current string.
    Bytes(&'a [u8]),
    /// The string is whole.
    End,
}

/// Hands an event to the first of `steps`, and what it makes of it to the others; at last, `out` is the text.
fn send(steps: &mut [Running], event: Event, out: &mut Vec<u8>) {
    match (steps.split_first_mut(), event) {
        (_, Event::Bytes([])) | (None, Event::End) => {}
        (None, Event::Bytes(bytes)) => out.extend_from_slice(bytes),
        (Some((step, after)), event) => step.take(event, &mut |event| send(after, event, out)),
    }
}

/// A step and what it holds back.
#[derive(Clone, Debug)]
enum Running {
    /// A space between two strings. `any`: one was begun; `inside`: the current one was.
    Spaced {
        any: bool,
        inside: bool,
    },
    /// Strings of characters for bytes; `string` is the current one, `tail` the bytes that may begin a character.
    ByteCharacters {
        replace: bool,
        string: Vec<u8>,
        tail: Vec<u8>,
    },
    /// A replacement, which is another one in the first string.
    Metaspace {
        search: Search,
        prefix: bool,
        first: bool,
    },
    /// `state` is none once text has come.
    LeadingMark {
        mark: Vec<u8>,
        all: bool,
        state: Option<Leading>,
    },
    /// A replacement in each string.
    Replace {
        search: Search,
        content: Vec<u8>,
    },
    /// Byte tokens: the beginning of the current string while it may be one, and the run that it goes on, of which the first
    /// `whole` bytes are whole characters. `broken`: the run cannot be UTF-8 any more.
    ByteFallback {
        whole_runs: bool,
        string: Option<Vec<u8>>,
        run: Vec<u8>,
        whole: usize,
        begun: bool,
        broken: bool,
    },
    Fuse,
    Strip {
        mark: Vec<u8>,
        start: usize,
        stop: usize,
        state: Ends,
    },
}

impl Running {
    fn of(step: &Step, replace: bool) -> Self {
        match step {
            Step::ByteCharacters => Self::ByteCharacters { replace, string: Vec::new(), tail: Vec::new() },
            Step::Metaspace { replacement, prefix } => Self::Metaspace {
                search: Search::new(replacement.to_string().as_bytes()),
                prefix: *prefix,
                first: true,
            },
            Step::LeadingMark { mark, all } => {
                Self::LeadingMark { mark: mark.to_string().into(), all: *all, state: Some(Leading::default()) }
            }
            Step::Replace(find, content) => {
                Self::Replace { search: Search::new(find.as_bytes()), content: content.clone().into() }
            }
            Step::ByteFallback { whole_runs } => Self::ByteFallback {
                whole_runs: replace && *whole_runs,
                string: Some(Vec::new()),
                run: Vec::new(),
                whole: 0,
                begun: false,
                broken: false,
            },
            Step::Fuse => Self::Fuse,
            Step::Strip { content, start, stop } => {
                Self::Strip { mark: content.to_string().into(), start: *start, stop: *stop, state: Ends::default() }
            }
        }
    }

    fn take(&mut self, event: Event, each: &mut dyn FnMut(Event)) {
        match (self, event) {
            (Self::Spaced { any, inside }, event) => {
                if *any && !*inside {
                    each(Event::Bytes(b" "));
                }
                (*any, *inside) = (true, matches!(event, Event::Bytes(_)));
                each(event);
            }
            (Self::ByteCharacters { string, .. }, Event::Bytes(bytes)) => string.extend_from_slice(bytes),
            (Self::ByteCharacters { replace, string, tail }, Event::End) => {
                let read = std::str::from_utf8(string).ok().and_then(byte_characters::read);
                tail.extend_from_slice(read.as_deref().unwrap_or(string));
                string.clear();
                match replace {
                    true => send_characters(tail, each),
                    false => each(Event::Bytes(&std::mem::take(tail))),
                }
            }
            (Self::Metaspace { search, prefix, first }, Event::Bytes(bytes)) => {
                each(Event::Bytes(&search.replace(bytes, if *first && *prefix { b"" } else { b" " })));
            }
            (Self::Metaspace { search, first, .. }, Event::End) => {
                each(Event::Bytes(search.rest()));
                *first = false;
                each(Event::End);
            }
            (Self::LeadingMark { mark, all, state }, event) => {
                Leading::take(state, mark, *all, event, each);
            }
            (Self::Replace { search, content }, Event::Bytes(bytes)) => {
                each(Event::Bytes(&search.replace(bytes, content)));
            }
            (Self::Replace { search, .. }, Event::End) => {
                each(Event::Bytes(search.rest()));
                each(Event::End);
            }
            (step @ Self::ByteFallback { .. }, event) => step.take_byte(event, each),
            (Self::Fuse, Event::Bytes(_)) => each(event),
            (Self::Fuse, Event::End) => {}
            (Self::Strip { mark, start, stop, state }, Event::Bytes(bytes)) => {
                each(Event::Bytes(&state.strip(bytes, mark, *start, *stop)));
            }
            (Self::Strip { mark, state, .. }, Event::End) => {
                // Marks that wait for the end of the string are taken off. A part of one is none, and behind it they are not
                // at the end.
                let Ends { waiting, partial, .. } = std::mem::take(state);
                if !partial.is_empty() {
                    each(Event::Bytes(&mark.repeat(waiting)));
                    each(Event::Bytes(&partial));
                }
                each(Event::End);
            }
        }
    }

    fn take_byte(&mut self, event: Event, each: &mut dyn FnMut(Event)) {
        let Self::ByteFallback { whole_runs, string, .. } = self else { unreachable!("of this step alone") };
        let whole_runs = *whole_runs;
        match event {
            Event::Bytes(bytes) => {
                let Some(held) = string else { return each(event) };
                held.extend_from_slice(bytes);
                // `<0xNN>` has six bytes.
                if held.len() > 6 || held.iter().zip(b"<0x").any(|(a, b)| a != b) {
                    let held = string.take().expect("just looked");
                    self.end_run(each);
                    each(Event::Bytes(&held));
                }
            }
            Event::End => {
                let held = string.replace(Vec::new());
                match held.as_deref().map(named_byte) {
                    Some(Some(byte)) => self.add_to_run(byte, whole_runs, each),
                    Some(None) => {
                        self.end_run(each);
                        each(Event::Bytes(&held.unwrap_or_default()));
                        each(Event::End);
                    }
                    None => each(Event::End),
                }
            }
        }
    }

    fn add_to_run(&mut self, byte: u8, whole_runs: bool, each: &mut dyn FnMut(Event)) {
        let Self::ByteFallback { run, whole, begun, broken, .. } = self else { unreachable!("of this step alone") };
        *begun = true;
        if !whole_runs {
            return each(Event::Bytes(&[byte]));
        }
        let mut replace = || {
            each(Event::Bytes(REPLACEMENT));
            each(Event::End);
        };
        if *broken {
            return replace();
        }
        run.push(byte);
        match std::str::from_utf8(&run[*whole..]) {
            Ok(_) => *whole = run.len(),
            Err(error) if error.error_len().is_none() => {}
            Err(_) => {
                run.drain(..).for_each(|_| replace());
                (*broken, *whole) = (true, 0);
            }
        }
    }

    fn end_run(&mut self, each: &mut dyn FnMut(Event)) {
        let Self::ByteFallback { run, whole, begun, broken, whole_runs, .. } = self else {
            unreachable!("of this step alone")
        };
        if std::mem::take(begun) && !std::mem::take(broken) {
            if *whole_runs && std::mem::take(whole) < run.len() {
                for _ in run.drain(..) {
                    each(Event::Bytes(REPLACEMENT));
                    each(Event::End);
                }
                return;
            }
            each(Event::Bytes(&std::mem::take(run)));
            each(Event::End);
        }
    }

    /// No string follows. The step is then as it was at the beginning.
    fn finish(&mut self, each: &mut dyn FnMut(Event)) {
        match self {
            Self::Spaced { any, inside } => (*any, *inside) = (false, false),
            Self::ByteCharacters { tail, .. } => {
                if !tail.is_empty() {
                    each(Event::Bytes(REPLACEMENT)); // only where bytes are replaced is anything held back
                    tail.clear();
                }
                each(Event::End);
            }
            Self::Metaspace { first, .. } => *first = true,
            Self::LeadingMark { state, .. } => *state = Some(Leading::default()),
            Self::Fuse => each(Event::End),
            Self::ByteFallback { .. } => self.end_run(each),
            Self::Replace { .. } | Self::Strip { .. } => {}
        }
    }

    fn held(&self) -> Vec<u8> {
        match self {
            Self::Spaced { .. } | Self::Fuse => Vec::new(),
            Self::ByteCharacters { string, tail, .. } => [&tail[..], string].concat(),
            Self::Metaspace { search, .. } | Self::Replace { search, .. } => search.held().to_vec(),
            Self::LeadingMark { state, .. } => state.as_ref().map(|state| state.held.clone()).unwrap_or_default(),
            Self::ByteFallback { string, run, .. } => [run, string.as_deref().unwrap_or_default()].concat(),
            Self::Strip { mark, state, .. } => [mark.repeat(state.waiting), state.partial.clone()].concat(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoders() -> impl Strategy<Value = Decoder> {
        let mark = || prop::sample::select(vec!['▁', ' ', 'a', '<']);
        let step = prop_oneof![
            Just(Step::ByteCharacters),
            (mark(), any::<bool>()).prop_map(|(replacement, prefix)| Step::Metaspace { replacement, prefix }),
            (mark(), any::<bool>()).prop_map(|(mark, all)| Step::LeadingMark { mark, all }),
            ("[a▁ ]{1,4}", "[ab▁]{0,2}").prop_map(|(find, content)| Step::Replace(find, content)),
            any::<bool>().prop_map(|whole_runs| Step::ByteFallback { whole_runs }),
            Just(Step::Fuse),
            (mark(), 0usize..3, 0usize..3).prop_map(|(content, start, stop)| Step::Strip { content, start, stop }),
        ];
        prop_oneof![Just(Decoder::Spaced), prop::collection::vec(step, 1..5).prop_map(Decoder::Steps)]
    }

    fn strings() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let one = prop_oneof![
            6 => "[ab▁ ]{0,6}".prop_map(String::into_bytes),
            3 => prop::sample::select(vec!["<0xE4>", "<0xBD>", "<0xA0>", "<0x41>", "<0xFF>", "<0x+f>"])
                .prop_map(|s| s.as_bytes().to_vec()),
            1 => prop::sample::select(vec!["", "<", "<0x", "<0xE4", "<0xE4>>", "Ġa", "ä½ł", "é中"])
                .prop_map(|s| s.as_bytes().to_vec()),
            1 => prop::collection::vec(prop::sample::select(vec![0xE4, 0xBD, 0xA0, 0xE2, 0x96, 0x81, b'a']), 0..4),
        ];
        prop::collection::vec(one, 0..12)
    }

    fn stream(decoder: &Decoder, replace: bool) -> DecoderStream {
        let steps = match decoder {
            Decoder::Bytes => Vec::new(),
            Decoder::Spaced => vec![Running::Spaced { any: false, inside: false }],
            Decoder::Steps(steps) => steps.iter().map(|step| Running::of(step, replace)).collect(),
        };
        DecoderStream { steps, skip_special: false }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

        /// The parts joined are the whole, each part comes without the strings after it, and a stream that was finished is new.
        #[test]
        fn parts_are_the_whole(decoder in decoders(), strings in strings(), replace in any::<bool>()) {
            let mut stream = stream(&decoder, replace);
            for _ in 0..2 {
                let mut out = Vec::new();
                for string in &strings {
                    send(&mut stream.steps, Event::Bytes(string), &mut out);
                    send(&mut stream.steps, Event::End, &mut out);
                }
                stream.finish(&mut out);
                prop_assert_eq!(&out, &decoder.text(strings.clone(), replace));
                prop_assert!(stream.held().is_empty());
            }
        }
    }

    #[test]
    fn what_is_certain_comes_at_once() {
        let llama = [
            Step::Replace("▁".into(), " ".into()),
            Step::ByteFallback { whole_runs: true },
            Step::Fuse,
            Step::Strip { content: ' ', start: 1, stop: 0 },
        ];
        let mut stream = stream(&Decoder::Steps(llama.to_vec()), true);
        let mut parts = Vec::new();
        for string in ["▁Hello", "▁world", "<0xE4>", "<0xBD>", "<0xA0>", "!", "<0xFF>", "<0x41>"] {
            let mut out = Vec::new();
            send(&mut stream.steps, Event::Bytes(string.as_bytes()), &mut out);
            send(&mut stream.steps, Event::End, &mut out);
            parts.push(String::from_utf8(out).unwrap());
        }
        assert_eq!(parts, ["Hello", " world", "", "", "", "你!", "\u{FFFD}", "\u{FFFD}"]);
    }
}
