//! Token strings to text, for vocabularies whose file says how.
//!
//! The meaning of the steps is that of Hugging Face's tokenizers (`tokenizers/src/decoders/`, `pre_tokenizers/metaspace.rs`):
//! each step turns a list of strings into a list of strings.

use crate::normalize::byte_characters;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Strings of bytes' characters become the bytes, all in one string.
    ByteCharacters,
    /// `replacement` becomes a space; in the first string it vanishes where `prefix` is set.
    Metaspace {
        /// What stands for a space.
        replacement: char,
        /// Whether encoding puts one in front.
        prefix: bool,
    },
    /// A mark at the very beginning vanishes, as in SentencePiece; with `all`, one mark of each string until text has come.
    LeadingMark {
        /// What stands for a space.
        mark: char,
        /// Whether the strings after the first lose theirs too.
        all: bool,
    },
    /// In each string, what is found (a text that is not empty) becomes another text.
    Replace(String, String),
    /// Strings such as `<0x0A>` become bytes; with `whole_runs`, a run of them that is not UTF-8 becomes U+FFFD, byte by byte.
    ByteFallback {
        /// Whether a run is judged as a whole.
        whole_runs: bool,
    },
    /// All strings become one.
    Fuse,
    /// Takes up to so many of a character off both ends of each string.
    Strip {
        /// The character.
        content: char,
        /// How many at the beginning.
        start: usize,
        /// How many at the end.
        stop: usize,
    },
}

/// How the strings of tokens become a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Decoder {
    /// The bytes of all tokens, one after the other.
    #[default]
    Bytes,
    /// The strings, with a space between two.
    Spaced,
    /// The strings after some steps, one after the other.
    Steps(Vec<Step>),
}

/// U+FFFD.
pub(super) const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

impl Decoder {
    /// The text of the strings of tokens. With `replace`, bytes that are not UTF-8 become U+FFFD as tokenizers does it
    /// (of a run of byte tokens that is not UTF-8 as a whole, each one); else they stay as they are.
    pub fn text(&self, tokens: Vec<Vec<u8>>, replace: bool) -> Vec<u8> {
        match self {
            Self::Bytes => tokens.concat(),
            Self::Spaced => tokens.join(&b' '),
            Self::Steps(steps) => steps.iter().fold(tokens, |strings, step| step.apply(strings, replace)).concat(),
        }
    }
}

impl Step {
    pub(super) fn apply(&self, strings: Vec<Vec<u8>>, replace: bool) -> Vec<Vec<u8>> {
        let each = |change: &dyn Fn(&[u8]) -> Vec<u8>| strings.iter().map(|string| change(string)).collect();
        match self {
            Self::ByteCharacters => {
                let read = |s: &Vec<u8>| std::str::from_utf8(s).ok().and_then(byte_characters::read);
                let bytes: Vec<u8> = strings.iter().flat_map(|s| read(s).unwrap_or_else(|| s.clone())).collect();
                match replace {
                    true => vec![String::from_utf8_lossy(&bytes).into_owned().into_bytes()],
                    false => vec![bytes],
                }
            }
            Self::Metaspace { replacement, prefix } => {
                let mark = replacement.to_string();
                let space = |i: usize| if i == 0 && *prefix { "" } else { " " };
                let change = |(i, string): (usize, &Vec<u8>)| replaced(string, mark.as_bytes(), space(i).as_bytes());
                strings.iter().enumerate().map(change).collect()
            }
            Self::LeadingMark { mark, all } => {
                let mark = mark.to_string();
                let mut strings = strings;
                for string in &mut strings {
                    let marked = string.starts_with(mark.as_bytes());
                    if marked {
                        string.drain(..mark.len());
                    }
                    if !string.is_empty() || (marked && !all) {
                        break;
                    }
                }
                strings
            }
            Self::Replace(find, content) => each(&|string| replaced(string, find.as_bytes(), content.as_bytes())),
            Self::ByteFallback { whole_runs } => byte_fallback(strings, replace && *whole_runs),
            Self::Fuse => vec![strings.concat()],
            Self::Strip { content, start, stop } => {
                let mark = content.to_string();
                let mark = mark.as_bytes();
                each(&|string| {
                    let kept = stripped(string, *start, |text| text.strip_prefix(mark));
                    stripped(kept, *stop, |text| text.strip_suffix(mark)).to_vec()
                })
            }
        }
    }
}

/// Takes a mark off up to `count` times; it ends where no mark is left, for a file may say any number.
pub(super) fn stripped<'a>(mut text: &'a [u8], count: usize, strip: impl Fn(&'a [u8]) -> Option<&'a [u8]>) -> &'a [u8] {
    for _ in 0..count {
        let Some(rest) = strip(text) else { break };
        text = rest;
    }
    text
}

fn replaced(string: &[u8], find: &[u8], content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(string.len());
    let mut done = 0;
    for at in memchr::memmem::find_iter(string, find) {
        out.extend_from_slice(&string[done..at]);
        out.extend_from_slice(content);
        done = at + find.len();
    }
    out.extend_from_slice(&string[done..]);
    out
}

/// The byte that a string such as `<0x0A>` names.
pub(super) fn named_byte(string: &[u8]) -> Option<u8> {
    let digits = string.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    let digits = std::str::from_utf8(digits).ok().filter(|d| d.len() == 2)?;
    u8::from_str_radix(digits, 16).ok()
}

fn byte_fallback(strings: Vec<Vec<u8>>, replace: bool) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(strings.len());
    let mut run: Vec<u8> = Vec::new();
    let end_run = |run: &mut Vec<u8>, out: &mut Vec<Vec<u8>>| {
        if run.is_empty() {
        } else if replace && std::str::from_utf8(run).is_err() {
            out.extend(std::iter::repeat_n(REPLACEMENT.to_vec(), run.len()));
            run.clear();
        } else {
            out.push(std::mem::take(run));
        }
    };
    for string in strings {
        match named_byte(&string) {
            Some(byte) => run.push(byte),
            None => {
                end_run(&mut run, &mut out);
                out.push(string);
            }
        }
    }
    end_run(&mut run, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(steps: &[Step], tokens: &[&str], replace: bool) -> Vec<u8> {
        let tokens = tokens.iter().map(|token| token.as_bytes().to_vec()).collect();
        Decoder::Steps(steps.to_vec()).text(tokens, replace)
    }

    #[test]
    fn llama_2() {
        let steps = [
            Step::Replace("▁".into(), " ".into()),
            Step::ByteFallback { whole_runs: true },
            Step::Fuse,
            Step::Strip { content: ' ', start: 1, stop: 0 },
        ];
        assert_eq!(text(&steps, &["▁Hello", "▁", "<0xE4>", "<0xBD>", "<0xA0>"], true), "Hello 你".as_bytes());
        assert_eq!(text(&steps, &["<0xE4>", "<0xBD>", "a"], true), "\u{FFFD}\u{FFFD}a".as_bytes());
        assert_eq!(text(&steps, &["<0xE4>", "<0xBD>", "a"], false), b"\xE4\xBDa");
        assert_eq!(text(&steps, &["<0x+ff>"], true), b"<0x+ff>");
    }

    #[test]
    fn strip_ends_where_no_mark_is_left() {
        let step = |start, stop| [Step::Strip { content: '▁', start, stop }];
        assert_eq!(text(&step(1, 0), &["▁▁a▁", "b", "▁"], true), "▁a▁b".as_bytes());
        assert_eq!(text(&step(0, 2), &["▁▁a▁", "▁▁▁"], true), "▁▁a▁".as_bytes());
        assert_eq!(text(&step(usize::MAX, usize::MAX), &["▁▁a▁", "▁", "b"], true), "ab".as_bytes());
    }

    #[test]
    fn leading_marks() {
        let step = |all| [Step::LeadingMark { mark: '▁', all }];
        assert_eq!(text(&step(false), &["▁", "▁▁a"], true), "▁▁a".as_bytes());
        assert_eq!(text(&step(true), &["▁", "▁▁a", "▁"], true), "▁a▁".as_bytes());
        assert_eq!(text(&step(true), &["a", "▁"], true), "a▁".as_bytes());
    }

    #[test]
    fn the_first_metaspace_vanishes() {
        let step = |prefix| [Step::Metaspace { replacement: '▁', prefix }];
        assert_eq!(text(&step(true), &["▁a▁", "▁b"], true), b"a b");
        assert_eq!(text(&step(false), &["▁a", "▁b"], true), b" a b");
    }
}
