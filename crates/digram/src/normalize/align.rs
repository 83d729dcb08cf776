//! A normalizer's steps once more, for the places of what they write: see [`crate::align`].

use super::forms::Form;
use super::{Normalizer, Step, byte_characters};
use crate::Result;
use crate::align::Change;
use std::borrow::Cow;

impl Normalizer {
    /// As [`Self::apply`], with the change that each step made.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub(crate) fn apply_aligned<'t>(&self, text: &'t str) -> Result<(Cow<'t, str>, Vec<Change>)> {
        let (mut text, mut changes) = (Cow::Borrowed(text), Vec::new());
        for step in &self.0 {
            if let Some(changed) = step.apply(&text)? {
                let change = step.change(&text)?;
                debug_assert_eq!(change.length(), changed.len(), "{step:?} of {text:?}");
                changes.push(change);
                text = Cow::Owned(changed);
            }
        }
        Ok((text, changes))
    }
}

impl Step {
    /// What [`Self::apply`] did to a text that it changed.
    fn change(&self, text: &str) -> Result<Change> {
        let form = |compatible, composed| Form { compatible, composed }.change(text);
        Ok(match self {
            Self::Nfc => form(false, true),
            Self::Nfd => form(false, false),
            Self::Nfkc => form(true, true),
            Self::Nfkd => form(true, false),
            Self::Lowercase => Change::by_character(text, |c| c.to_lowercase().map(char::len_utf8).sum()),
            Self::Strip { left, right } => {
                let start = if *left { text.len() - text.trim_start().len() } else { 0 };
                let kept = if *right { text[start..].trim_end().len() } else { text.len() - start };
                let mut change = Change::default();
                change.copy(start, kept);
                change
            }
            Self::Prepend(prefix) => Change::prefixed(prefix.len(), text.len()),
            Self::Replace(find, content) => {
                let (mut change, mut done) = (Change::default(), 0);
                find.for_each_match(text, 0, &|| false, &mut |found| {
                    change.copy(done, found.start - done);
                    done = found.end;
                    change.replace(found, content.len());
                    Ok(())
                })?;
                change.copy(done, text.len() - done);
                change
            }
            Self::ByteCharacters => byte_characters::writing(text.as_bytes()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Find;
    use proptest::prelude::*;
    use std::ops::Range;

    /// What each character after the steps stands for.
    fn places(steps: Vec<Step>, text: &str) -> Vec<(String, Range<usize>)> {
        let normalizer = Normalizer(steps);
        let (normal, changes) = normalizer.apply_aligned(text).unwrap();
        assert_eq!(normal, normalizer.apply(text).unwrap());
        let whole = |range| changes.iter().rev().fold(range, |range, change| change.range(range));
        normal.char_indices().map(|(at, c)| (c.to_string(), whole(at..at + c.len_utf8()))).collect()
    }

    fn check(steps: Vec<Step>, text: &str, want: &[(&str, Range<usize>)]) {
        let want: Vec<_> = want.iter().map(|(c, range)| (c.to_string(), range.clone())).collect();
        assert_eq!(places(steps, text), want, "{text:?}");
    }

    fn replace(find: Find, content: &str) -> Step {
        Step::Replace(find, content.into())
    }

    #[test]
    fn each_step() {
        let space = || Find::text(" ").unwrap();
        // Llama 2: what is put in front stands for the first byte.
        let llama = vec![Step::Prepend("▁".into()), replace(space(), "▁")];
        check(llama, "é b", &[("▁", 0..1), ("é", 0..2), ("▁", 2..3), ("b", 3..4)]);
        let strip = Step::Strip { left: true, right: true };
        check(vec![strip, Step::Prepend("-".into())], "\u{3000} a ", &[("-", 4..5), ("a", 4..5)]);
        check(vec![Step::Strip { left: false, right: true }], " a ", &[(" ", 0..1), ("a", 1..2)]);
        check(vec![Step::Lowercase], "Aİx", &[("a", 0..1), ("i", 1..3), ("\u{307}", 1..3), ("x", 3..4)]);
        // A match of several characters, one that is gone, and an empty one.
        check(vec![replace(Find::regex(" {2,}").unwrap(), "▁")], "a   b", &[("a", 0..1), ("▁", 1..4), ("b", 4..5)]);
        check(vec![replace(space(), "")], "a b", &[("a", 0..1), ("b", 2..3)]);
        check(vec![replace(Find::regex("(?=b)").unwrap(), "-")], "ab", &[("a", 0..1), ("-", 1..1), ("b", 1..2)]);
        check(vec![Step::ByteCharacters], "é ", &[("Ã", 0..1), ("©", 1..2), ("Ġ", 2..3)]);
        check(vec![Step::Nfd, replace(Find::text("\u{301}").unwrap(), "")], "éa", &[("e", 0..2), ("a", 2..3)]);
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let texts = prop::sample::select(vec!["", "▁", "é", "ab", " "]);
        let step = prop_oneof![
            prop::sample::select(vec![Step::Nfc, Step::Nfd, Step::Nfkc, Step::Nfkd, Step::Lowercase]),
            (any::<bool>(), any::<bool>()).prop_map(|(left, right)| Step::Strip { left, right }),
            texts.clone().prop_map(|text| Step::Prepend(text.into())),
            (prop::sample::select(vec![" ", "a", "é"]), texts.clone())
                .prop_map(|(find, content)| replace(Find::text(find).unwrap(), content)),
            (prop::sample::select(vec![r"\s+", "a|b*", r"\B", "$"]), texts)
                .prop_map(|(find, content)| replace(Find::regex(find).unwrap(), content)),
            Just(Step::ByteCharacters),
        ];
        prop::collection::vec(step, 0..4)
    }

    proptest! {
        /// The text is the same, and each character stands for some of the original, in order.
        #[test]
        fn places_are_inside_the_text(steps in steps(), text in "[ab é\u{301}\u{323}İﬁ\u{3000}A中]{0,10}") {
            let places = places(steps, &text);
            prop_assert!(places.iter().all(|(_, range)| range.start <= range.end && range.end <= text.len()));
            prop_assert!(places.windows(2).all(|two| two[0].1.start <= two[1].1.start));
        }
    }
}
