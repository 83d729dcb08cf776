//! What was learnt: tokens, base symbols, merge rules; checked when it is built, and then frozen.
//!
//! Three kinds are in the wild and each is exact here: merges by pair, ranked bytes (`.tiktoken`), ordered
//! token lists. Each builder ends in the same structure: base symbols for a piece, [`Rules`] for the merge loop, and,
//! where that is exact, a lookup of whole pieces.

mod build;
mod canonical;
mod found;
mod joints;
mod pairs;
pub mod rules;
mod spelling;
mod symbols;
#[cfg(test)]
mod tests;
mod tokens;
mod whole;

pub use build::{Base, Special};
pub use found::{Found, Triple};
pub use joints::Joints;
pub use pairs::Pairs;
pub use symbols::Fallback;
pub(crate) use symbols::StandIn;
pub use tokens::Tokens;

use crate::merge::ranks::PairRanks;
use crate::merge::{Merge, Rules, Scratch, merge_symbols};
use crate::{Error, Result};
use rules::{PairTable, PassTable};
use std::sync::OnceLock;
use symbols::Symbols;
use whole::Whole;

/// No id.
const NONE: u32 = u32::MAX;

/// What stands in for a character outside a character alphabet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Nothing: it is an error that names the character and its place.
    Error,
    /// One id: the unknown token's.
    Token(u32),
    /// The ids of its UTF-8 bytes.
    Bytes(Box<[u32; 256]>),
}

#[derive(Debug)]
enum RuleSet {
    Pairs(PairTable),
    Passes(PassTable),
}

/// A frozen vocabulary.
#[derive(Debug)]
pub struct Vocabulary {
    tokens: Tokens,
    symbols: Symbols,
    rules: RuleSet,
    whole: Option<Whole>,
    /// Whether a piece that is looked up may have another id than merging gives.
    takes_whole: bool,
    /// Of the tokens in `whole` those that merging gives other ids, where there are any.
    odd: OnceLock<Whole>,
    merges: Vec<Triple>,
    /// Whether it was built of `merges`, which then need not be found.
    merges_given: bool,
    not_canonical: Vec<u32>,
    joints: OnceLock<Joints>,
}

impl Vocabulary {
    /// The tokens by id, special ones included.
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The merges (left id, right id, new id) in learned order: as given, or, of ranked bytes and token
    /// lists, as recovered. Complete only where [`Self::is_canonical`].
    pub fn merges(&self) -> &[Triple] {
        &self.merges
    }

    /// The id of the token that is spelt `bytes`, special tokens aside; of several the last, as of repeated base symbols.
    pub fn token_id(&self, bytes: &[u8]) -> Option<u32> {
        if let Some(id) = self.whole_piece(bytes) {
            return Some(id);
        }
        // A token that encodes to itself is found by encoding; the others only by looking at all of the same length.
        let mut symbols = Vec::new();
        if self.append_symbols(bytes, 0, &mut symbols).is_ok() {
            merge_symbols(self, &mut symbols, 0, &mut Scratch::default());
            if let [id] = symbols[..]
                && self.tokens.bytes(id).as_deref() == Some(bytes)
            {
                return Some(id);
            }
        }
        let same = |&id: &u32| {
            self.tokens.contains(id)
                && !self.tokens.is_special(id)
                && self.tokens.length(id) == bytes.len() as u64
                && self.tokens.bytes(id).as_deref() == Some(bytes)
        };
        (0..self.tokens.len() as u32).rev().find(same)
    }

    /// Whether every token, encoded with lower ranks only, ends in exactly its two parts.
    pub fn is_canonical(&self) -> bool {
        self.not_canonical.is_empty()
    }

    /// The ids that fail the canonical check, ascending.
    pub fn not_canonical(&self) -> &[u32] {
        &self.not_canonical
    }

    /// The bytes that have no token of their own, ascending; empty for a character alphabet.
    pub fn missing_bytes(&self) -> Vec<u8> {
        match &self.symbols {
            Symbols::Bytes(ids, _) => (0..=255).filter(|&byte| ids[byte as usize] == NONE).collect(),
            Symbols::Characters(..) => Vec::new(),
        }
    }

    /// Whether the unknown token waits for what follows: a run of symbols outside the alphabet is one, or byte tokens pass it.
    pub fn unknown_waits(&self) -> bool {
        let fallback = self.symbols.fallback();
        let bytes = fallback.bytes.iter().flat_map(|ids| ids.iter()).filter(|&&id| id != NONE).count();
        fallback.token.is_some() && bytes < 256 && (fallback.fuse || bytes > 0)
    }

    /// Where pieces may be cut before they are merged. Worked out when it is first asked for.
    pub fn joints(&self) -> &Joints {
        self.joints.get_or_init(|| Joints::of(&self.tokens, &self.symbols, &self.rules, self.unknown_waits()))
    }

    /// The most bytes of text that one token stands for, special ones aside.
    pub(crate) fn most_bytes(&self) -> u64 {
        let ids = (0..self.tokens.len() as u32).filter(|&id| !self.tokens.is_special(id));
        let longest = ids.map(|id| self.tokens.length(id)).max().unwrap_or(0);
        // The unknown token may merge like any other, and each that a token is made of stands for a character.
        let each = if self.symbols.fallback().token.is_some() { 4 } else { 1 };
        longest.saturating_mul(each).max(4)
    }

    /// Whether it is an ordered token list whose entries are no merges: a string is repeated in it.
    pub(crate) fn has_passes(&self) -> bool {
        matches!(self.rules, RuleSet::Passes(_))
    }

    /// Whether the base symbols are bytes.
    pub fn is_of_bytes(&self) -> bool {
        matches!(self.symbols, Symbols::Bytes(..))
    }

    /// Gives an added token its id. It may be a token already, if that is spelt the same.
    pub(crate) fn add_token(&mut self, text: &str, id: u32) -> Result<()> {
        if self.tokens.contains(id) {
            return match self.tokens.is_special(id) || self.tokens.written(id) == Some(text.as_bytes()) {
                true => Ok(()),
                false => {
                    Err(Error::Vocabulary(format!("the added token {text:?} has id {id}, which is another token's")))
                }
            };
        }
        self.tokens.reserve(u64::from(id), self.tokens.len() + 1)?;
        self.tokens.set(id, text.as_bytes(), false)
    }

    /// The id of a whole piece, where looking it up is exact.
    pub(crate) fn whole_piece(&self, piece: &[u8]) -> Option<u32> {
        self.whole.as_ref()?.get(&self.tokens, piece)
    }

    /// The id of a whole piece that merging gives other ids: of few tokens of few vocabularies.
    #[inline]
    pub(crate) fn odd_piece(&self, piece: &[u8]) -> Option<u32> {
        if !self.takes_whole {
            return None;
        }
        self.odd().get(&self.tokens, piece)
    }

    /// Whether there is a piece whose ids are not those of its bytes within a longer piece.
    #[inline]
    pub(crate) fn has_odd_pieces(&self) -> bool {
        self.takes_whole && !self.odd().is_empty()
    }

    fn odd(&self) -> &Whole {
        self.odd.get_or_init(|| self.odd_tokens())
    }

    /// Tokens that encode to themselves need not be looked up: single symbols, and those that are canonical.
    fn odd_tokens(&self) -> Whole {
        let mut to_themselves = vec![false; self.tokens.len()];
        self.merges.iter().for_each(|m| to_themselves[m.2 as usize] = true);
        self.not_canonical.iter().for_each(|&id| to_themselves[id as usize] = false);
        let (mut symbols, mut scratch) = (Vec::new(), Scratch::default());
        let is_odd = |&id: &u32| {
            if to_themselves[id as usize] {
                return false;
            }
            symbols.clear();
            let bytes = self.tokens.written(id).expect("what is looked up is written");
            if self.append_symbols(bytes, 0, &mut symbols).is_err() {
                return true;
            }
            merge_symbols(self, &mut symbols, 0, &mut scratch);
            symbols != [id]
        };
        let all = self.whole.iter().flat_map(Whole::ids);
        Whole::rare(&self.tokens, all.filter(is_odd))
    }

    /// Whether a whole piece may have another id than merging gives, and so a part of a piece must not be looked up.
    pub(crate) fn takes_whole(&self) -> bool {
        self.takes_whole
    }

    /// The length of the longest piece that may be taken whole, in bytes.
    pub(crate) fn longest_whole(&self) -> usize {
        self.whole.as_ref().map_or(0, |whole| whole.longest)
    }

    /// Appends the base symbols of `piece`, which starts at byte `offset` of its document.
    pub(crate) fn append_symbols(&self, piece: &[u8], offset: usize, out: &mut Vec<u32>) -> Result<()> {
        self.symbols.append(piece, offset, out, |_| ())
    }

    /// As [`Self::append_symbols`], and adds the symbols that stand in for text that has no token.
    pub(crate) fn append_symbols_and_stand_ins(
        &self,
        piece: &[u8],
        offset: usize,
        out: &mut Vec<u32>,
        stand_ins: &mut Vec<StandIn>,
    ) -> Result<()> {
        self.symbols.append(piece, offset, out, |stand_in| stand_ins.push(stand_in))
    }
}

impl Rules for Vocabulary {
    fn merge(&self, left: u32, right: u32, reached: u32) -> Option<Merge> {
        match &self.rules {
            RuleSet::Pairs(table) => table.merge(left, right, reached),
            RuleSet::Passes(table) => table.merge(left, right, reached),
        }
    }

    fn ranks(&self) -> Option<&PairRanks> {
        match &self.rules {
            RuleSet::Pairs(table) => table.ranks(),
            RuleSet::Passes(_) => None,
        }
    }
}
