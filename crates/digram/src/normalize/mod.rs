//! Text to text, before it is split: what a vocabulary's file says shall be done to a text first.
//!
//! Unicode normalisation follows the tables of Unicode 18 (the crate `unicode-normalization`); a character keeps its
//! normal form from the version on that assigns it, so older tables differ only in characters that they do not know.

mod align;
pub mod byte_characters;
mod forms;
mod quick;

use crate::Result;
use crate::split::Find;
use std::borrow::Cow;
use unicode_normalization::{
    IsNormalized, UnicodeNormalization, char::canonical_combining_class, is_nfc_quick, is_nfd_quick, is_nfkc_quick,
    is_nfkd_quick,
};

/// One thing done to a text.
#[derive(Clone, Debug)]
pub enum Step {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
    /// Each character by itself to lower case, so a final sigma is like any other.
    Lowercase,
    /// Cuts white space off the beginning or the end.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// Puts a text in front, unless there is nothing to put it in front of.
    Prepend(String),
    /// Puts a text in the place of each match.
    Replace(Find, String),
    /// Writes each byte as its printable character.
    ByteCharacters,
}

/// A sequence of steps; without any, text stays as it is.
#[derive(Clone, Debug, Default)]
pub struct Normalizer(pub Vec<Step>);

impl Normalizer {
    /// Whether nothing is done at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the text ends up as characters that stand for bytes.
    pub fn writes_bytes(&self) -> bool {
        matches!(self.0.last(), Some(Step::ByteCharacters))
    }

    /// Whether nothing is done but to compose characters.
    pub fn composes_only(&self) -> bool {
        self.0.iter().all(|step| matches!(step, Step::Nfc))
    }

    /// Whether a text may be cut between two characters, and what comes of the parts is what comes of the whole, with the
    /// same two characters around the cut; where nothing is done but to compose. Such a character follows no other one in
    /// a composition, and has its place (Unicode Standard Annex #15, "Stable Code Points").
    pub fn is_boundary(&self, before: char, after: char) -> bool {
        let stays = |c: char| canonical_combining_class(c) == 0 && is_nfc_quick([c].into_iter()) == IsNormalized::Yes;
        self.is_empty() || (stays(before) && stays(after))
    }

    /// Whether a text, and every part of it, stays as it is.
    pub fn keeps(&self, text: &[u8]) -> bool {
        self.0.iter().all(|step| match step {
            _ if text.is_ascii() && matches!(step, Step::Nfc | Step::Nfd | Step::Nfkc | Step::Nfkd) => true,
            Step::Nfc => text.utf8_chunks().all(|chunk| quick::is_nfc(chunk.valid())),
            _ => false,
        })
    }

    /// The text after all steps; copied only where a step changes it.
    ///
    /// # Errors
    /// `Backtracking` where a pattern to be replaced needs more steps than the engine allows.
    pub fn apply<'t>(&self, text: &'t str) -> Result<Cow<'t, str>> {
        let mut text = Cow::Borrowed(text);
        for step in &self.0 {
            if let Some(changed) = step.apply(&text)? {
                text = Cow::Owned(changed);
            }
        }
        Ok(text)
    }
}

impl Step {
    /// The changed text, or none where it stays the same.
    fn apply(&self, text: &str) -> Result<Option<String>> {
        let is = |quick: IsNormalized| quick == IsNormalized::Yes;
        Ok(match self {
            Self::Nfc => (!quick::is_nfc(text)).then(|| quick::nfc(text)),
            // ASCII is in every normal form; the quick check looks at each character.
            Self::Nfd | Self::Nfkc | Self::Nfkd if text.is_ascii() => None,
            Self::Nfd => (!is(is_nfd_quick(text.chars()))).then(|| text.nfd().collect()),
            Self::Nfkc => (!is(is_nfkc_quick(text.chars()))).then(|| text.nfkc().collect()),
            Self::Nfkd => (!is(is_nfkd_quick(text.chars()))).then(|| text.nfkd().collect()),
            Self::Lowercase => Some(text.chars().flat_map(char::to_lowercase).collect()),
            Self::Strip { left, right } => {
                let mut kept = text;
                if *left {
                    kept = kept.trim_start();
                }
                if *right {
                    kept = kept.trim_end();
                }
                (kept.len() < text.len()).then(|| kept.to_string())
            }
            Self::Prepend(prefix) => (!text.is_empty() && !prefix.is_empty()).then(|| format!("{prefix}{text}")),
            Self::Replace(find, content) => {
                let (mut out, mut done) = (None, 0);
                find.for_each_match(text, 0, &|| false, &mut |found| {
                    let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
                    out.push_str(&text[done..found.start]);
                    out.push_str(content);
                    done = found.end;
                    Ok(())
                })?;
                out.map(|mut out| {
                    out.push_str(&text[done..]);
                    out
                })
            }
            Self::ByteCharacters => Some(byte_characters::written(text.as_bytes())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(steps: Vec<Step>, text: &str) -> String {
        Normalizer(steps).apply(text).unwrap().into_owned()
    }

    #[test]
    fn steps_in_order() {
        assert_eq!(apply(vec![Step::Nfc], "e\u{301}"), "é");
        assert_eq!(apply(vec![Step::Nfd], "é"), "e\u{301}");
        assert_eq!(apply(vec![Step::Nfkc], "ﬁ²"), "fi2");
        assert_eq!(apply(vec![Step::Nfkd], "é½"), "e\u{301}1⁄2");
        assert_eq!(apply(vec![Step::Lowercase], "ΑΣ İ"), "ας i\u{307}".replace('ς', "σ"));
        assert_eq!(apply(vec![Step::Strip { left: true, right: true }], " \u{3000} "), "");
        let space = || Find::text(" ").unwrap();
        let llama = || vec![Step::Prepend("▁".into()), Step::Replace(space(), "▁".into())];
        assert_eq!(apply(llama(), "a  b"), "▁a▁▁b");
        assert_eq!(apply(llama(), ""), "");
        let between = Find::regex("(?=b)").unwrap();
        assert_eq!(apply(vec![Step::Replace(between, "-".into())], "abb"), "a-b-b");
    }

    #[test]
    fn text_that_stays_is_not_copied() {
        for step in [Step::Nfc, Step::Nfkc, Step::Strip { left: true, right: true }, Step::Prepend(String::new())] {
            assert!(matches!(Normalizer(vec![step]).apply("plain").unwrap(), Cow::Borrowed(_)));
        }
        assert!(matches!(Normalizer(vec![Step::Nfc]).apply("déjà 中").unwrap(), Cow::Borrowed(_)));
    }
}
