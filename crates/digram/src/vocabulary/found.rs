//! What building a vocabulary works out beyond what it is given, so that a second build need not: how each token is
//! made of two, which pairs can merge at all, which tokens are not canonical.
//!
//! It is plain numbers, to be kept in a file. What comes back from one may contradict the vocabulary, so a build checks
//! that every triple spells out as many bytes as its token has: whatever else is wrong gives wrong ids, never a panic.

use super::rules::PairTable;
use super::{RuleSet, Tokens, Vocabulary};
use crate::{Error, Result};

/// (left id, right id, new id).
pub type Triple = (u32, u32, u32);

/// What a build worked out, for [`Vocabulary::from_ranks`] and its like to be given again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The parts of each canonical token, in the order of ranks; none where merges are given anyway.
    pub merges: Vec<Triple>,
    /// All pairs that merge, where these are more than `merges`: of ranked tokens that are not canonical.
    pub rules: Vec<Triple>,
    /// The ids that fail the canonical check, ascending.
    pub not_canonical: Vec<u32>,
}

impl Found {
    /// The table of rules, each of the rank that `rank` gives for the token that it makes.
    pub(super) fn table(&self, tokens: &Tokens, rank: impl Fn(u32) -> u32) -> Result<PairTable> {
        let lengths = Lengths::of(tokens);
        lengths.check(&self.merges)?;
        lengths.check(&self.rules)?;
        let rules = if self.rules.is_empty() { &self.merges } else { &self.rules };
        Ok(PairTable::of(rules, rank))
    }
}

/// The lengths of tokens by id, close together: looked up at random, they stay in the cache.
pub(super) struct Lengths<'a> {
    tokens: &'a Tokens,
    /// Each length, or `LONG`.
    short: Vec<u8>,
}

/// A length that is to be looked up.
const LONG: u8 = u8::MAX;

impl<'a> Lengths<'a> {
    pub(super) fn of(tokens: &'a Tokens) -> Self {
        let short = (0..tokens.len() as u32).map(|id| u8::try_from(tokens.length(id)).unwrap_or(LONG));
        Self { tokens, short: short.collect() }
    }

    fn of_token(&self, id: u32) -> u64 {
        match self.short.get(id as usize) {
            None => 0,
            Some(&LONG) => self.tokens.length(id),
            Some(&length) => u64::from(length),
        }
    }

    /// Whether the parts of each triple are tokens, and together as long as the token that they make.
    pub(super) fn check(&self, triples: &[Triple]) -> Result<()> {
        let fits = |&(left, right, id): &Triple| {
            let (left, right) = (self.of_token(left), self.of_token(right));
            left > 0 && right > 0 && left + right == self.of_token(id)
        };
        match triples.iter().find(|triple| !fits(triple)) {
            None => Ok(()),
            Some((left, right, id)) => {
                Err(Error::Vocabulary(format!("the tokens {left} and {right} are not the parts of token {id}")))
            }
        }
    }
}

impl Vocabulary {
    /// What building it worked out; none of a token list with repeated strings, which is built anew each time.
    pub fn found(&self) -> Option<Found> {
        let RuleSet::Pairs(table) = &self.rules else {
            return None;
        };
        let mut found = Found { not_canonical: self.not_canonical.clone(), ..Found::default() };
        if !self.merges_given {
            found.merges.clone_from(&self.merges);
            if table.len() != self.merges.len() {
                found.rules = table.triples();
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Base, Fallback, Pairs, Unknown};
    use super::*;
    use crate::merge::{Scratch, merge_symbols};
    use proptest::prelude::*;

    /// The ids of a text, and of it as a whole piece.
    fn ids(vocabulary: &Vocabulary, text: &str) -> (Vec<u32>, Option<u32>) {
        let mut symbols = Vec::new();
        vocabulary.append_symbols(text.as_bytes(), 0, &mut symbols).unwrap();
        merge_symbols(vocabulary, &mut symbols, 0, &mut Scratch::default());
        (symbols, vocabulary.whole_piece(text.as_bytes()))
    }

    /// Distinct strings of `ab`, those of one letter among them, in the order of a random choice.
    fn strings() -> impl Strategy<Value = Vec<String>> {
        prop::collection::btree_set("[ab]{2,5}", 0..14).prop_flat_map(|set| {
            Just(set.into_iter().collect::<Vec<_>>())
                .prop_shuffle()
                .prop_map(|longer| ["a".to_string(), "b".to_string()].into_iter().chain(longer).collect())
        })
    }

    type Build<'a> = Box<dyn Fn(Option<Found>) -> Result<Vocabulary> + 'a>;

    /// One vocabulary of each kind from strings of increasing rank, built with what was found or without.
    fn builds(strings: &[String]) -> Vec<Build<'_>> {
        let bytes: Vec<&[u8]> = strings.iter().map(String::as_bytes).collect();
        let ranked: Vec<(&[u8], u32)> = bytes.iter().copied().zip(0..).collect();
        let id = |text: &str| strings.iter().position(|s| s == text).map(|id| id as u32);
        let split = strings.iter().flat_map(|token| (1..token.len()).map(move |at| (token.split_at(at), token)));
        let triples: Vec<Triple> =
            split.filter_map(|((left, right), token)| Some((id(left)?, id(right)?, id(token)?))).collect();
        let mut once = Vec::new();
        for &(left, right, _) in &triples {
            if left.max(right) < 2 + once.len() as u32 {
                once.push((left, right, 2 + once.len() as u32)); // no longer what `strings` spells
            }
        }
        once.dedup_by_key(|m| (m.0, m.1));
        let letters = Base::Characters(vec![('a', 0), ('b', 1)], Unknown::Error);
        let pairs = move |given: bool, whole: bool| {
            let ranked_ids: Vec<u32> = (2..strings.len() as u32).collect();
            let (ranked, triples) = (ranked.clone(), triples.clone());
            move |found| {
                let unknown = Fallback { token: Some(0), ..Fallback::default() };
                let (merges, ids) = if given { (triples.clone(), &[][..]) } else { (Vec::new(), &ranked_ids[..]) };
                let pairs = Pairs { tokens: &ranked, merges, ranked: ids, characters: true, whole, unknown };
                Vocabulary::from_pairs(pairs, &[], found)
            }
        };
        let list = bytes.clone();
        let numbered: Vec<(&[u8], u32)> = bytes.into_iter().zip(0..).collect();
        vec![
            Box::new(move |found| Vocabulary::from_ranks(&numbered, &[("<s>".into(), 99)], found)),
            Box::new(move |found| Vocabulary::from_list(&list, true, Unknown::Error, &[], found)),
            Box::new(move |found| Vocabulary::from_merges(&letters, once.clone(), &[], found)),
            Box::new(pairs(true, false)),
            Box::new(pairs(true, true)),
            Box::new(pairs(false, false)),
            Box::new(pairs(false, true)),
        ]
    }

    proptest! {
        #[test]
        fn a_second_build_is_the_first(strings in strings(), texts in prop::collection::vec("[ab]{0,12}", 8)) {
            for (kind, build) in builds(&strings).iter().enumerate() {
                let Ok(first) = build(None) else { continue };
                let found = first.found().unwrap();
                let second = build(Some(found.clone())).unwrap();
                prop_assert_eq!(second.merges(), first.merges(), "kind {}", kind);
                prop_assert_eq!(second.not_canonical(), first.not_canonical());
                prop_assert_eq!(second.found().unwrap(), found);
                for text in texts.iter().chain(&strings) {
                    prop_assert_eq!(ids(&second, text), ids(&first, text), "kind {} on {}", kind, text);
                }
            }
        }

        #[test]
        fn rules_of_all_splits_and_of_parts_alone_give_the_same(strings in strings(), text in "[ab]{0,12}") {
            // The definition: whatever two neighbours spell a token, the first one first.
            let rank = |text: &str| strings.iter().position(|s| s == text);
            let mut parts: Vec<String> = text.chars().map(String::from).collect();
            while let Some((_, at)) =
                parts.windows(2).enumerate().filter_map(|(at, two)| rank(&two.concat()).map(|rank| (rank, at))).min()
            {
                let joined = parts[at..at + 2].concat();
                parts.splice(at..at + 2, [joined]);
            }
            let want: Vec<u32> = parts.iter().map(|part| rank(part).unwrap() as u32).collect();
            let ranked: Vec<(&[u8], u32)> = strings.iter().map(String::as_bytes).zip(0..).collect();
            let vocabulary = Vocabulary::from_ranks(&ranked, &[], None).unwrap();
            prop_assert_eq!(ids(&vocabulary, &text).0, want);
            if vocabulary.is_canonical() {
                let RuleSet::Pairs(table) = &vocabulary.rules else { unreachable!("no string is there twice") };
                prop_assert_eq!(table.len(), strings.len() - 2, "one rule a token");
            }
        }

        #[test]
        fn what_contradicts_the_vocabulary_does_no_harm(
            strings in strings(),
            merges in prop::collection::vec((0u32..20, 0u32..20, 0u32..20), 0..6),
            rules in prop::collection::vec((0u32..6, 0u32..6, 0u32..12), 0..3),
            not_canonical in prop::collection::vec(0u32..200, 0..4),
            text in "[ab]{0,12}",
        ) {
            for build in builds(&strings) {
                let found = Found { merges: merges.clone(), rules: rules.clone(), not_canonical: not_canonical.clone() };
                if let Ok(vocabulary) = build(Some(found)) {
                    let (ids, whole) = ids(&vocabulary, &text);
                    let length: u64 = ids.iter().map(|&id| vocabulary.tokens().length(id)).sum();
                    prop_assert_eq!(length, text.len() as u64);
                    prop_assert!(whole.is_none_or(|id| vocabulary.tokens().contains(id)));
                }
            }
        }
    }
}
