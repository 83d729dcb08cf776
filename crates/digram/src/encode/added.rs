//! Added tokens: strings with an id of their own that are cut out of the text, before or after it is normalised.
//!
//! The rules of the flags are those of Hugging Face's tokenizers (`tokenizers/src/tokenizer/added_vocabulary.rs`,
//! `find_matches`): the leftmost match counts, of several the longest; one that its flags reject is passed over whole.

use crate::normalize::Normalizer;
use crate::specials::SpecialMatcher;
use crate::{Error, Result};
use std::ops::Range;
use std::sync::LazyLock;

/// A string with an id of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddedToken {
    /// The string.
    pub text: String,
    /// Its id.
    pub id: u32,
    /// Whether it matches only where the caller allows it; the others always match.
    pub special: bool,
    /// Whether white space before it belongs to it.
    pub lstrip: bool,
    /// Whether white space after it belongs to it.
    pub rstrip: bool,
    /// Whether it matches only where no word goes on before or after it.
    pub single_word: bool,
    /// Whether it is looked for in the normalised text, and normalised itself.
    pub normalized: bool,
}

/// The added tokens that a call lets through. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Allowed {
    pub(super) before: Matcher,
    pub(super) after: Matcher,
    /// Whether matches depend on the text of the document and the markers alone. Each call asks, and tokens may be many.
    plain: bool,
}

impl Allowed {
    /// A search for `tokens`.
    ///
    /// # Errors
    /// `Vocabulary` where two of them are the same string; what the normalizer says of those that are to be normalised.
    pub(super) fn of<'a>(tokens: impl Iterator<Item = &'a AddedToken>, normalizer: &Normalizer) -> Result<Self> {
        let (after, before): (Vec<&AddedToken>, Vec<_>) = tokens.partition(|token| token.normalized);
        let before: Vec<_> = before.into_iter().map(|token| (token.text.clone(), token.clone())).collect();
        let after: Result<Vec<_>> =
            after.into_iter().map(|t| Ok((normalizer.apply(&t.text)?.into_owned(), t.clone()))).collect();
        let (before, after) = (Matcher::new(before)?, Matcher::new(after?)?);
        let flags = |token: &AddedToken| token.lstrip || token.rstrip || token.single_word;
        let plain = after.tokens.is_empty() && !before.tokens.iter().any(flags);
        Ok(Self { before, after, plain })
    }

    /// Whether matches depend on the text of the document and the markers alone.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }
}

/// Some strings to be found, and their tokens.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    automaton: SpecialMatcher,
    tokens: std::sync::Arc<[AddedToken]>,
}

/// A stretch of text between two cuts.
pub(super) enum Stretch {
    /// An added token, with the white space that belongs to it.
    Token(u32, Range<usize>),
    Text(Range<usize>),
}

impl Matcher {
    fn new(tokens: Vec<(String, AddedToken)>) -> Result<Self> {
        let (texts, tokens): (Vec<String>, Vec<AddedToken>) = tokens.into_iter().unzip();
        if let Some(i) = texts.iter().position(String::is_empty) {
            let text = &tokens[i].text;
            return Err(Error::Vocabulary(format!("the added token {text:?} is empty once it is normalised")));
        }
        let mut seen = hashbrown::HashMap::new();
        for (text, token) in texts.iter().zip(&tokens) {
            if let Some(other) = seen.insert(text, token.id).filter(|&other| other != token.id) {
                return Err(Error::Vocabulary(format!(
                    "the added tokens {other} and {} are the same string {text:?}",
                    token.id
                )));
            }
        }
        Ok(Self { automaton: SpecialMatcher::new(&texts)?, tokens: tokens.into() })
    }

    /// The first match at or after byte `from`, flags aside.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<(Range<usize>, u32)> {
        self.automaton.find(text, from).map(|(range, which)| (range, self.tokens[which].id))
    }

    /// The length of the longest in bytes.
    pub(super) fn longest(&self) -> usize {
        self.automaton.longest()
    }

    /// Whether there is nothing to find.
    pub(super) fn is_empty(&self) -> bool {
        self.automaton.is_empty()
    }

    /// See [`SpecialMatcher::may_begin`].
    pub(super) fn may_begin(&self, text: &[u8], from: usize) -> usize {
        self.automaton.may_begin(text, from)
    }

    /// Calls `each` with the tokens and the text between them, none empty.
    pub(super) fn for_each_stretch(&self, text: &str, each: &mut dyn FnMut(Stretch) -> Result<()>) -> Result<()> {
        let (mut done, mut from) = (0, 0);
        while let Some((found, which)) = self.automaton.find(text.as_bytes(), from) {
            from = found.end;
            let token = &self.tokens[which];
            let (before, after) = (&text[..found.start], &text[found.end..]);
            let goes_on = |character: Option<char>| character.is_some_and(is_word);
            if token.single_word && (goes_on(before.chars().next_back()) || goes_on(after.chars().next())) {
                continue;
            }
            let (mut start, mut end) = (found.start, found.end);
            if token.lstrip {
                start = before.trim_end().len().max(done);
            }
            if token.rstrip {
                end = text.len() - after.trim_start().len();
            }
            if start > done {
                each(Stretch::Text(done..start))?;
            }
            each(Stretch::Token(token.id, start..end))?;
            done = end;
        }
        match done < text.len() {
            true => each(Stretch::Text(done..text.len())),
            false => Ok(()),
        }
    }
}

/// Whether a character is part of a word: `\w`.
fn is_word(character: char) -> bool {
    static WORD: LazyLock<Vec<(char, char)>> = LazyLock::new(|| crate::split::class_ranges(r"\w"));
    let at = WORD.partition_point(|range| range.1 < character);
    WORD.get(at).is_some_and(|range| range.0 <= character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(token: AddedToken, text: &str) -> Vec<String> {
        let matcher = Matcher::new(vec![(token.text.clone(), token)]).unwrap();
        let mut stretches = Vec::new();
        let mut add = |stretch| {
            stretches.push(match stretch {
                Stretch::Token(id, _) => format!("#{id}"),
                Stretch::Text(range) => text[range].to_string(),
            });
            Ok(())
        };
        matcher.for_each_stretch(text, &mut add).unwrap();
        stretches
    }

    #[test]
    fn flags() {
        let token = AddedToken { text: "ab".into(), id: 7, ..AddedToken::default() };
        assert_eq!(cut(token.clone(), "xab ab"), ["x", "#7", " ", "#7"]);
        let single = AddedToken { single_word: true, ..token.clone() };
        assert_eq!(cut(single, "xab ab-"), ["xab ", "#7", "-"]);
        let left = AddedToken { lstrip: true, ..token.clone() };
        assert_eq!(cut(left, "x \u{a0}ab ab "), ["x", "#7", "#7", " "]);
        let right = AddedToken { rstrip: true, ..token };
        assert_eq!(cut(right, "x ab \tab y"), ["x ", "#7", "#7", "y"]);
    }

    #[test]
    fn words() {
        assert!(['a', 'Z', '0', '_', 'é', '中', '\u{301}'].into_iter().all(is_word));
        assert!([' ', '-', '\u{2028}', '👍'].into_iter().all(|c| !is_word(c)));
    }
}
