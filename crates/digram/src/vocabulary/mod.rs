//! What was learnt: tokens, base symbols, merge rules; checked when it is built, and then frozen.
//!
//! Three kinds are in the wild and each is exact here: merges by pair, ranked bytes (`.tiktoken`), ordered
//! token lists. Each builder ends in the same structure: base symbols for a piece, [`Rules`] for the merge loop, and,
//! where that is exact, a lookup of whole pieces.

mod build;
mod canonical;
pub mod rules;
mod spelling;
#[cfg(test)]
mod tests;
mod tokens;

pub use build::{Base, Special};
pub use tokens::Tokens;

use crate::merge::{Merge, Rules, Scratch, merge_symbols};
use crate::{Error, Result, error::Place};
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashTable};
use rules::{PairTable, PassTable};
use std::hash::BuildHasher;

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
enum Symbols {
    /// Byte -> id, `NONE` where the vocabulary lacks the byte.
    Bytes(Box<[u32; 256]>),
    Characters {
        ascii: Box<[u32; 128]>,
        others: HashMap<char, u32, FixedState>,
        unknown: Unknown,
    },
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
    merges: Vec<(u32, u32, u32)>,
    not_canonical: Vec<u32>,
}

impl Vocabulary {
    /// The tokens by id, special ones included.
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The merges (left id, right id, new id) in learned order: as given, or, of ranked bytes and token
    /// lists, as recovered. Complete only where [`Self::is_canonical`].
    pub fn merges(&self) -> &[(u32, u32, u32)] {
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
            Symbols::Bytes(ids) => (0..=255).filter(|&byte| ids[byte as usize] == NONE).collect(),
            Symbols::Characters { .. } => Vec::new(),
        }
    }

    /// The id of a whole piece, where looking it up is exact.
    pub(crate) fn whole_piece(&self, piece: &[u8]) -> Option<u32> {
        self.whole.as_ref()?.get(&self.tokens, piece)
    }

    /// Appends the base symbols of `piece`, which starts at byte `offset` of its document.
    pub(crate) fn append_symbols(&self, piece: &[u8], offset: usize, out: &mut Vec<u32>) -> Result<()> {
        match &self.symbols {
            Symbols::Bytes(ids) => {
                let from = out.len();
                out.extend(piece.iter().map(|&byte| ids[byte as usize]));
                match out[from..].iter().position(|&id| id == NONE) {
                    None => Ok(()),
                    Some(i) => Err(Error::UnknownByte { byte: piece[i], place: Place::Byte(offset + i) }),
                }
            }
            Symbols::Characters { ascii, others, unknown } => {
                let mut at = offset;
                for chunk in piece.utf8_chunks() {
                    for symbol in chunk.valid().chars() {
                        let id = match ascii.get(symbol as usize) {
                            Some(&id) => id,
                            None => others.get(&symbol).copied().unwrap_or(NONE),
                        };
                        match unknown {
                            _ if id != NONE => out.push(id),
                            Unknown::Error => {
                                return Err(Error::UnknownCharacter { symbol, place: Place::Byte(at) });
                            }
                            Unknown::Token(id) => out.push(*id),
                            Unknown::Bytes(ids) => {
                                out.extend(symbol.encode_utf8(&mut [0; 4]).bytes().map(|byte| ids[byte as usize]));
                            }
                        }
                        at += symbol.len_utf8();
                    }
                    // Bytes outside any character: each is one unknown symbol.
                    for &byte in chunk.invalid() {
                        match unknown {
                            Unknown::Error => {
                                return Err(Error::UnknownByte { byte, place: Place::Byte(at) });
                            }
                            Unknown::Token(id) => out.push(*id),
                            Unknown::Bytes(ids) => out.push(ids[byte as usize]),
                        }
                        at += 1;
                    }
                }
                Ok(())
            }
        }
    }
}

impl Rules for Vocabulary {
    fn merge(&self, left: u32, right: u32, reached: u32) -> Option<Merge> {
        match &self.rules {
            RuleSet::Pairs(table) => table.merge(left, right, reached),
            RuleSet::Passes(table) => table.merge(left, right, reached),
        }
    }
}

/// Ids of written tokens by their bytes.
#[derive(Debug, Default)]
struct Whole {
    table: HashTable<u32>,
    hasher: FixedState,
    longest: usize,
}

impl Whole {
    fn with_capacity(n: usize) -> Self {
        Self { table: HashTable::with_capacity(n), ..Self::default() }
    }

    fn add(&mut self, tokens: &Tokens, id: u32) {
        if let Some(bytes) = tokens.written(id) {
            let hasher = &self.hasher;
            let hash = |&id: &u32| hasher.hash_one(tokens.written(id).expect("only written tokens are added"));
            self.longest = self.longest.max(bytes.len());
            self.table.insert_unique(hasher.hash_one(bytes), id, hash);
        }
    }

    fn get(&self, tokens: &Tokens, piece: &[u8]) -> Option<u32> {
        if piece.len() > self.longest {
            return None;
        }
        self.table.find(self.hasher.hash_one(piece), |&id| tokens.written(id) == Some(piece)).copied()
    }
}
