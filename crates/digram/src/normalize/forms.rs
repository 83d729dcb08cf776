//! Which characters of a text each character of its normal form is made of.
//!
//! The algorithm is that of the Unicode Standard, section 3.11 (decompose, put marks in canonical order, compose), run on
//! characters that each remember the range they came from. One that was composed remembers the range of all its parts.
//! Where canonical order moved marks past each other, ranges are widened as little as makes their starts and ends ascend.

use crate::align::Change;
use std::ops::Range;
use unicode_normalization::char::{canonical_combining_class, compose, decompose_canonical, decompose_compatible};
use unicode_normalization::{IsNormalized, is_nfc_quick};

/// A normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Whether compatibility decompositions count.
    pub(super) compatible: bool,
    /// Whether characters are composed again.
    pub(super) composed: bool,
}

#[derive(Clone, Debug)]
struct Character {
    character: char,
    class: u8,
    from: Range<usize>,
}

impl Form {
    /// The change that the form makes of `text`.
    pub(super) fn change(self, text: &str) -> Change {
        let mut change = Change::default();
        let mut stretch = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text.as_bytes()[at..];
            let plain = rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            // Nothing acts on the character before an ASCII one; the last of a run may have marks.
            let kept = if plain < rest.len() { plain.saturating_sub(1) } else { plain };
            change.copy(at, kept);
            at += kept;
            let length = rest[plain..].iter().position(u8::is_ascii).map_or(rest.len(), |end| plain + end) - kept;
            self.add(&text[at..at + length], at, &mut stretch, &mut change);
            at += length;
        }
        change
    }

    /// Adds a stretch that begins at byte `base`, and on whose ends nothing acts from outside.
    fn add(self, text: &str, base: usize, stretch: &mut Vec<Character>, change: &mut Change) {
        for (at, character) in text.char_indices() {
            let from = base + at..base + at + character.len_utf8();
            let mut first = true;
            let mut push = |character: char| {
                let class = canonical_combining_class(character);
                if first && class == 0 && !(self.composed && may_join(character)) {
                    self.end(stretch, text, base, change);
                }
                first = false;
                stretch.push(Character { character, class, from: from.clone() });
            };
            match self.compatible {
                true => decompose_compatible(character, &mut push),
                false => decompose_canonical(character, &mut push),
            }
        }
        self.end(stretch, text, base, change);
    }

    /// Writes down what has been collected, of which nothing will be part of what follows.
    fn end(self, stretch: &mut Vec<Character>, text: &str, base: usize, change: &mut Change) {
        if stretch.len() > 1 {
            stretch.chunk_by_mut(|_, next| next.class != 0).for_each(|marked| marked.sort_by_key(|c| c.class));
            if self.composed {
                composed(stretch);
            }
            ascending(stretch);
        }
        for Character { character, from, .. } in stretch.drain(..) {
            let same = text[from.start - base..].starts_with(character) && from.len() == character.len_utf8();
            match same {
                true => change.copy(from.start, from.len()),
                false => change.replace(from, character.len_utf8()),
            }
        }
    }
}

/// Whether a character may be the second part of a composition.
fn may_join(character: char) -> bool {
    is_nfc_quick(std::iter::once(character)) != IsNormalized::Yes
}

/// Composes, in place; the characters are in canonical order.
fn composed(characters: &mut Vec<Character>) {
    let mut starter: Option<usize> = None;
    // The class of the last character after the starter that stays.
    let mut between: Option<u8> = None;
    let mut kept = 0;
    for i in 0..characters.len() {
        let (character, class) = (characters[i].character, characters[i].class);
        if let Some(starter) = starter
            && between.is_none_or(|before| before < class)
            && let Some(joined) = compose(characters[starter].character, character)
        {
            let from = characters[i].from.clone();
            let starter = &mut characters[starter];
            starter.character = joined;
            starter.from = starter.from.start.min(from.start)..starter.from.end.max(from.end);
            continue;
        }
        match class {
            0 => (starter, between) = (Some(kept), None),
            _ => between = Some(class),
        }
        characters.swap(kept, i);
        kept += 1;
    }
    characters.truncate(kept);
}

/// Widens ranges as little as makes their starts and their ends ascend.
fn ascending(characters: &mut [Character]) {
    let mut reached = 0;
    for character in characters.iter_mut() {
        reached = character.from.end.max(reached);
        character.from.end = reached;
    }
    let mut first = usize::MAX;
    for character in characters.iter_mut().rev() {
        first = character.from.start.min(first);
        character.from.start = first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    const NFC: Form = Form { compatible: false, composed: true };
    const NFD: Form = Form { compatible: false, composed: false };
    const NFKC: Form = Form { compatible: true, composed: true };
    const NFKD: Form = Form { compatible: true, composed: false };

    fn normal(form: Form, text: &str) -> String {
        match (form.compatible, form.composed) {
            (false, true) => text.nfc().collect(),
            (false, false) => text.nfd().collect(),
            (true, true) => text.nfkc().collect(),
            (true, false) => text.nfkd().collect(),
        }
    }

    /// The same by the book, on lists: neighbours swapped one by one, each pair tried from the start.
    fn naive(form: Form, text: &str) -> Vec<(char, Range<usize>)> {
        let mut all: Vec<(char, Range<usize>)> = Vec::new();
        for (at, c) in text.char_indices() {
            let mut push = |d| all.push((d, at..at + c.len_utf8()));
            match form.compatible {
                true => decompose_compatible(c, &mut push),
                false => decompose_canonical(c, &mut push),
            }
        }
        let class = |c: char| canonical_combining_class(c);
        while let Some(i) = (1..all.len()).find(|&i| class(all[i - 1].0) > class(all[i].0) && class(all[i].0) != 0) {
            all.swap(i - 1, i);
        }
        let mut i = 1;
        while form.composed && i < all.len() {
            let c = all[i].0;
            // D115: no starter, and none of the same class or a higher one, stands between.
            let starter = (0..i).rev().find(|&s| class(all[s].0) == 0);
            let found = starter
                .filter(|&s| all[s + 1..i].iter().all(|b| class(b.0) != 0 && class(b.0) < class(c)))
                .and_then(|s| Some((s, compose(all[s].0, c)?)));
            match found {
                Some((s, joined)) => {
                    let (_, from) = all.remove(i);
                    let all_parts = all[s].1.start.min(from.start)..all[s].1.end.max(from.end);
                    all[s] = (joined, all_parts);
                }
                None => i += 1,
            }
        }
        let start = |i: usize| all[i..].iter().map(|c| c.1.start).min().unwrap();
        let end = |i: usize| all[..=i].iter().map(|c| c.1.end).max().unwrap();
        (0..all.len()).map(|i| (all[i].0, start(i)..end(i))).collect()
    }

    fn check(form: Form, text: &str) {
        let change = form.change(text);
        let (want, normal) = (naive(form, text), normal(form, text));
        assert_eq!(want.iter().map(|c| c.0).collect::<String>(), normal, "{text:?}");
        assert_eq!(change.length(), normal.len(), "{form:?} {text:?}");
        let mut at = 0;
        for (c, from) in want {
            assert_eq!(change.range(at..at + c.len_utf8()), from, "{c:?} of {form:?} {text:?}");
            at += c.len_utf8();
        }
    }

    /// Characters that compose, decompose, change places and expand, among some that do not.
    fn hostile() -> impl Strategy<Value = String> {
        let characters: Vec<char> = "ab q\u{301}\u{302}\u{323}\u{307}\u{308}\u{31b}\u{345}éệǖᾳÅﬁ²㌀ﷺ\u{FFC2}가각각\u{9c7}\u{9be}\
            \u{9d7}\u{344}\u{f73}\u{f71}\u{f72}\u{1100}\u{1161}\u{1d15e}\u{1d157}\u{1d165}👍\u{200d}中\u{37a}\u{958}\u{11099}\u{110ba}"
            .chars()
            .collect();
        prop::collection::vec(prop::sample::select(characters), 0..14).prop_map(String::from_iter)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn as_the_book_says(text in hostile()) {
            for form in [NFC, NFD, NFKC, NFKD] {
                check(form, &text);
            }
        }
    }

    #[test]
    fn every_character_in_company() {
        // Nothing is assigned above that a form changes.
        for c in (0..0x3_0000).filter_map(char::from_u32) {
            let text = format!("a{c}\u{323}\u{301}{c}");
            for form in [NFC, NFD, NFKC, NFKD] {
                let normal = normal(form, &text);
                assert_eq!(form.change(&text).length(), normal.len(), "{form:?} of {text:?}");
            }
        }
    }

    #[test]
    fn places() {
        let change = NFC.change("cafe\u{301} x");
        assert_eq!(change.range(3..5), 3..6, "é is all of its parts");
        assert_eq!(change.range(0..3), 0..3);
        assert_eq!(change.range(5..7), 6..8);
        let change = NFKC.change("ﬁn");
        assert_eq!((change.range(0..1), change.range(1..2), change.range(2..3)), (0..3, 0..3, 3..4));
        // The dot below moves before the dot above: both stand for both.
        let change = NFD.change("q\u{307}\u{323}");
        assert_eq!((change.range(1..3), change.range(3..5)), (1..5, 1..5));
    }

    #[test]
    fn long_stretches_are_ended_where_nothing_joins() {
        // 18 characters of each: were they collected to the end, the memory would be that of the whole.
        let mut stretch = Vec::new();
        NFKC.add(&"ﷺ".repeat(10_000), 0, &mut stretch, &mut Change::default());
        assert!(stretch.capacity() < 100);
        NFC.add(&"e\u{301}中".repeat(10_000), 0, &mut stretch, &mut Change::default());
        assert!(stretch.capacity() < 100);
    }
}
