//! Pairs in general: tokens with ids in any order, and merges that name them; several merges may make one token.

use super::build::add_specials;
use super::canonical::{Parts, stay_apart};
use super::rules::PairTable;
use super::{Fallback, NONE, RuleSet, Special, Symbols, Tokens, Vocabulary, Whole};
use crate::merge::{Merge, Rules};
use crate::{Error, Result};

/// A vocabulary as `tokenizer.json` files and their like hold it.
#[derive(Clone, Debug)]
pub struct Pairs<'a> {
    /// Bytes (UTF-8 where `characters` is set) and id of each token. Those of one symbol are the base symbols.
    pub tokens: &'a [(&'a [u8], u32)],
    /// (left id, right id, new id), lowest rank first. Of a repeated pair the last line counts.
    pub merges: &'a [(u32, u32, u32)],
    /// Whether the base symbols are characters, not bytes.
    pub characters: bool,
    /// Whether a piece that is a token is taken whole, without merging.
    pub whole: bool,
    /// What stands in for a symbol without a token.
    pub unknown: Fallback,
}

impl Vocabulary {
    /// A vocabulary of pairs in general. A special token may also be one of `tokens`, where the two spell the same.
    ///
    /// # Errors
    /// `Vocabulary`, naming the token or merge: bytes or an id given twice, an empty token, a merge of ids that are not
    /// there or do not spell the new one, an unknown token without an id.
    pub fn from_pairs(pairs: &Pairs, specials: &[Special]) -> Result<Self> {
        let mut tokens = Tokens::default();
        let ids = pairs.tokens.iter().map(|token| token.1).chain(specials.iter().map(|special| special.1));
        if let Some(highest) = ids.clone().max() {
            tokens.reserve(u64::from(highest), ids.count())?;
        }
        for &(bytes, id) in pairs.tokens {
            tokens.set(id, bytes, false)?;
        }
        let mut whole = Whole::with_capacity(pairs.tokens.len());
        for &(bytes, id) in pairs.tokens {
            if bytes.is_empty() {
                return Err(Error::Vocabulary(format!("token {id} is empty")));
            }
            if let Some(other) = whole.get(&tokens, bytes) {
                return Err(Error::Vocabulary(format!("tokens {other} and {id} have the same bytes")));
            }
            whole.add(&tokens, id);
        }
        let mut table = PairTable::with_capacity(pairs.merges.len());
        for (rank, &(left, right, id)) in (0..).zip(pairs.merges) {
            let spelt = |id| tokens.written(id).ok_or(id);
            let check = || Ok(spelt(id)?.strip_prefix(spelt(left)?).is_some_and(|rest| Ok(rest) == spelt(right)));
            match check() {
                Ok(true) => table.set(left, right, Merge { rank, id }),
                Ok(false) if tokens.contains(right) => {
                    return Err(Error::Vocabulary(format!(
                        "merge {rank} of {left} and {right} does not spell the token {id} that it makes"
                    )));
                }
                Ok(false) => return Err(no_token(rank, right)),
                Err(missing) => return Err(no_token(rank, missing)),
            }
        }
        let counted = |&(rank, merge): &(u32, (u32, u32, u32))| {
            table.merge(merge.0, merge.1, 0).is_some_and(|found| found.rank == rank)
        };
        let merges: Vec<_> = (0..).zip(pairs.merges.iter().copied()).filter(counted).collect();
        let symbols = Symbols::of_tokens(pairs);
        let reached = self_encoding(&table, &merges, tokens.len(), &symbols);
        let mut not_canonical: Vec<u32> = merges.iter().map(|m| m.1.2).filter(|&id| !reached[id as usize]).collect();
        not_canonical.sort_unstable();
        not_canonical.dedup();
        for (marker, id) in specials {
            tokens.mark_special(*id, marker);
        }
        add_specials(&mut tokens, specials)?;
        if let Some(id) = pairs.unknown.token.filter(|&id| !tokens.contains(id)) {
            return Err(Error::Vocabulary(format!("the unknown token has id {id}, which no token has")));
        }
        // With `whole` every token is looked up; else those alone that merging would give as well. A special token never.
        whole.retain(|id| match pairs.whole {
            true => !tokens.is_special(id),
            false => reached[id as usize],
        });
        Ok(Self {
            tokens,
            symbols,
            rules: RuleSet::Pairs(table),
            whole: Some(whole),
            merges: merges.into_iter().map(|m| m.1).collect(),
            not_canonical,
        })
    }
}

fn no_token(rank: u32, id: u32) -> Error {
    Error::Vocabulary(format!("merge {rank} names id {id}, which no token has"))
}

/// Which tokens encode to themselves: base symbols, and each token that, encoded with ranks below those of its own merges,
/// ends in the two parts of one of them.
fn self_encoding(rules: &PairTable, merges: &[(u32, (u32, u32, u32))], n: usize, symbols: &Symbols) -> Vec<bool> {
    let mut reached = vec![false; n];
    symbols.for_each_id(|id| reached[id as usize] = true);
    let mut parts = vec![Parts::default(); n];
    // The merges of each token, in learned order, one after the other.
    let mut ends = vec![0usize; n + 1];
    merges.iter().for_each(|m| ends[m.1.2 as usize + 1] += 1);
    (0..n).for_each(|id| ends[id + 1] += ends[id]);
    let mut next = ends.clone();
    let mut of_token = vec![0; merges.len()];
    for (i, m) in merges.iter().enumerate() {
        let slot = &mut next[m.1.2 as usize];
        of_token[*slot] = i;
        *slot += 1;
    }
    for (i, &(first, (_, _, id))) in merges.iter().enumerate() {
        let mine = &of_token[ends[id as usize]..ends[id as usize + 1]];
        if mine[0] != i || reached[id as usize] {
            continue; // judged at its first merge; a base symbol is what it is
        }
        for &j in mine {
            let (rank, (left, right, _)) = merges[j];
            let known = |part: u32| reached[part as usize] && parts[part as usize].rank <= first;
            if known(left) && known(right) && stay_apart(rules, &parts, left, right, first) {
                parts[id as usize] = Parts { left, right, rank: rank + 1 };
                reached[id as usize] = true;
                break;
            }
        }
    }
    reached
}

impl Symbols {
    fn of_tokens(pairs: &Pairs) -> Self {
        let unknown = pairs.unknown.clone();
        if !pairs.characters {
            let mut ids = Box::new([NONE; 256]);
            for &(bytes, id) in pairs.tokens {
                if let [byte] = bytes {
                    ids[usize::from(*byte)] = id;
                }
            }
            return Self::Bytes(ids, unknown);
        }
        let mut ascii = Box::new([NONE; 128]);
        let mut others = hashbrown::HashMap::default();
        for &(bytes, id) in pairs.tokens.iter().filter(|token| token.0.len() <= 4) {
            let mut characters = std::str::from_utf8(bytes).unwrap_or_default().chars();
            if let (Some(symbol), None) = (characters.next(), characters.next()) {
                match ascii.get_mut(symbol as usize) {
                    Some(slot) => *slot = id,
                    None => _ = others.insert(symbol, id),
                }
            }
        }
        Self::Characters { ascii, others, unknown }
    }

    fn for_each_id(&self, mut each: impl FnMut(u32)) {
        match self {
            Self::Bytes(ids, _) => ids.iter().filter(|&&id| id != NONE).for_each(|&id| each(id)),
            Self::Characters { ascii, others, .. } => {
                ascii.iter().filter(|&&id| id != NONE).chain(others.values()).for_each(|&id| each(id));
            }
        }
    }
}
