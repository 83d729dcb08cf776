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
