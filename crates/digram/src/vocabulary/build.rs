//! Building a vocabulary from each of the three kinds, with every contradiction refused by name.

use super::canonical::{Parts, stay_apart};
use super::rules::{PairTable, PassTable, key};
use super::spelling::Spellings;
use super::{Fallback, Found, NONE, RuleSet, Symbols, Tokens, Triple, Unknown, Vocabulary, Whole};
use crate::merge::{Below, Merge, Scratch, merge_symbols};
use crate::{Error, Result};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A special token: its marker and its id.
pub type Special = (String, u32);

/// The base symbols and their ids.
#[derive(Clone, Debug)]
pub enum Base {
    /// The id of each byte value.
    Bytes(Box<[u32; 256]>),
    /// Characters with their ids, and what stands in for others.
    Characters(Vec<(char, u32)>, Unknown),
}

impl Base {
    /// Ids 0 to 255 are the byte values.
    pub fn bytes() -> Self {
        Self::Bytes(Box::new(std::array::from_fn(|i| i as u32)))
    }

    fn symbols(&self) -> Symbols {
        match self {
            Self::Bytes(ids) => Symbols::Bytes(ids.clone(), Fallback::default()),
            Self::Characters(characters, unknown) => {
                Symbols::Characters(characters.iter().copied().collect(), unknown.clone().into())
            }
        }
    }

    /// (id, bytes) of each base symbol, and of the byte tokens of `Unknown::Bytes`.
    fn tokens(&self) -> Vec<(u32, Vec<u8>)> {
        let bytes = |ids: &[u32; 256]| {
            let known = ids.iter().enumerate().filter(|&(_, &id)| id != NONE);
            known.map(|(byte, &id)| (id, vec![byte as u8])).collect()
        };
        match self {
            Self::Bytes(ids) => bytes(ids),
            Self::Characters(characters, unknown) => {
                let mut tokens = match unknown {
                    Unknown::Bytes(ids) => bytes(ids),
                    Unknown::Error | Unknown::Token(_) => Vec::new(),
                };
                tokens.extend(characters.iter().map(|&(symbol, id)| (id, symbol.to_string().into_bytes())));
                tokens
            }
        }
    }
}

/// Makes room for every id, then fills in `tokens`.
fn table<'a>(
    tokens: impl Iterator<Item = (u32, &'a [u8])> + Clone,
    more: &[u32],
    specials: &[Special],
) -> Result<Tokens> {
    let ids = tokens.clone().map(|(id, _)| id).chain(more.iter().copied()).chain(specials.iter().map(|s| s.1));
    let mut table = Tokens::default();
    if let Some(highest) = ids.clone().max() {
        table.reserve(u64::from(highest), ids.count())?;
    }
    table.reserve_bytes(tokens.clone().map(|(_, bytes)| bytes.len()).sum());
    for (id, bytes) in tokens {
        table.set(id, bytes, false)?;
    }
    Ok(table)
}

/// Special tokens come last, so that a clash names them. Several markers may share an id; the first is its text.
pub(super) fn add_specials(tokens: &mut Tokens, specials: &[Special]) -> Result<()> {
    for (marker, id) in specials {
        if marker.is_empty() {
            return Err(Error::Vocabulary("a special token must not be the empty string".into()));
        }
        if tokens.contains(*id) && !tokens.is_special(*id) {
            return Err(Error::Vocabulary(format!(
                "the special token {marker:?} has id {id}, which is another token's"
            )));
        }
        if !tokens.contains(*id) {
            tokens.set(*id, marker.as_bytes(), true)?;
        }
    }
    Ok(())
}

/// The unknown token must be there, or decoding would meet a gap.
fn check_unknown(tokens: &Tokens, base: &Base) -> Result<()> {
    match base {
        Base::Characters(_, Unknown::Token(id)) if !tokens.contains(*id) => {
            Err(Error::Vocabulary(format!("the unknown token has id {id}, which no token has")))
        }
        _ => Ok(()),
    }
}

impl Vocabulary {
    /// A vocabulary of merges (left id, right id, new id), lowest rank first. `found` is what an earlier build of the same
    /// worked out, here as of the other kinds.
    ///
    /// # Errors
    /// `Vocabulary`, naming the merge: a part that no earlier line makes, a pair or an id given twice, ids out of range.
    pub fn from_merges(base: &Base, merges: Vec<Triple>, specials: &[Special], found: Option<Found>) -> Result<Self> {
        let symbols = base.tokens();
        let made: Vec<u32> = merges.iter().map(|m| m.2).collect();
        let mut tokens = table(symbols.iter().map(|(id, bytes)| (*id, bytes.as_slice())), &made, specials)?;
        let mut pairs = PairTable::with_capacity(merges.len());
        let mut parts = vec![Parts::default(); if found.is_some() { 0 } else { tokens.len() }];
        let mut not_canonical = BTreeSet::new();
        for (rank, &(left, right, id)) in (0..).zip(&merges) {
            tokens.join(id, left, right)?;
            if !pairs.add(left, right, Merge { rank, id }) {
                return Err(Error::Vocabulary(format!(
                    "merge {rank} repeats the pair ({left}, {right}) of an earlier one"
                )));
            }
            if found.is_some() {
                continue;
            }
            parts[id as usize] = Parts { left, right, rank: rank + 1 };
            // Parts that their own symbols do not end in never meet.
            let lost = [left, right].iter().any(|part| not_canonical.contains(part));
            if lost || !stay_apart(&pairs, &parts, left, right, rank) {
                not_canonical.insert(id);
            }
        }
        if let Some(found) = found {
            not_canonical = found.not_canonical.into_iter().collect();
        } else if repeats_a_symbol(base) || merges_byte_tokens(base, &merges) {
            not_canonical = made.into_iter().collect(); // two ids spell one symbol: no token is sure to encode to itself
        }
        let whole = not_canonical.is_empty().then(|| {
            let mut whole = Whole::with_capacity(tokens.len());
            base.piece_ids().chain(made_ids(&merges)).for_each(|id| whole.add(&tokens, id));
            whole
        });
        add_specials(&mut tokens, specials)?;
        check_unknown(&tokens, base)?;
        let (symbols, rules) = (base.symbols(), RuleSet::Pairs(pairs));
        Ok(Self {
            tokens,
            symbols,
            rules,
            whole,
            takes_whole: false,
            odd: OnceLock::new(),
            merges,
            merges_given: true,
            not_canonical: not_canonical.into_iter().collect(),
            joints: OnceLock::new(),
        })
    }

    /// A vocabulary of ranked bytes, as a `.tiktoken` file holds it: two neighbours merge when their joined bytes are a
    /// token, lowest id first, and a piece that is a token is taken whole.
    ///
    /// # Errors
    /// `Vocabulary`: an empty token, bytes or an id given twice, ids out of range; `found` that is not of this vocabulary.
    pub fn from_ranks(ranked: &[(&[u8], u32)], specials: &[Special], found: Option<Found>) -> Result<Self> {
        let mut ranked = Cow::Borrowed(ranked);
        if !ranked.is_sorted_by_key(|token| token.1) {
            ranked.to_mut().sort_unstable_by_key(|token| token.1);
        }
        let mut tokens = table(ranked.iter().map(|&(bytes, id)| (id, bytes)), &[], specials)?;
        let mut ids = Box::new([NONE; 256]);
        for &(bytes, id) in ranked.iter() {
            match bytes {
                [] => return Err(Error::Vocabulary(format!("token {id} is empty"))),
                [byte] => ids[*byte as usize] = id,
                _ => {}
            }
        }
        let (rules, found) = match found {
            Some(found) => (found.table(&tokens, |id| id)?, found),
            None => rules_of_ranks(&ranked, tokens.len())?,
        };
        let mut whole = Whole::with_capacity(ranked.len());
        ranked.iter().for_each(|&(_, id)| whole.add(&tokens, id));
        add_specials(&mut tokens, specials)?;
        let mut new = Self::of_tokens(tokens, Base::Bytes(ids).symbols(), RuleSet::Pairs(rules));
        new.take(found);
        new.whole = Some(whole);
        new.takes_whole = !new.is_canonical();
        Ok(new)
    }

    /// A vocabulary of an ordered token list: entry i says "wherever two neighbours spell entry i, replace them by i",
    /// one pass an entry, in order. The single-symbol prefix of the list are the base symbols: characters where
    /// `characters` is set, else bytes.
    ///
    /// # Errors
    /// `Vocabulary`: more than 2^31 entries; an unknown or special token without an id of its own; `found` that is not of
    /// this vocabulary.
    pub fn from_list(
        list: &[&[u8]],
        characters: bool,
        unknown: Unknown,
        specials: &[Special],
        found: Option<Found>,
    ) -> Result<Self> {
        let symbol = |entry: &[u8]| match characters {
            true => {
                let mut all = std::str::from_utf8(entry).ok()?.chars();
                all.next().filter(|_| all.next().is_none())
            }
            false => <[u8; 1]>::try_from(entry).ok().map(|[byte]| char::from(byte)),
        };
        let prefix: Vec<char> = list.iter().map_while(|entry| symbol(entry)).collect();
        // Of a repeated symbol the last id counts: the map keeps it.
        let base = if characters {
            Base::Characters(prefix.iter().copied().zip(0..).collect(), unknown)
        } else {
            let mut ids = Box::new([NONE; 256]);
            prefix.iter().zip(0..).for_each(|(&byte, id)| ids[byte as usize] = id);
            Base::Bytes(ids)
        };
        let all: Vec<u32> = (0..).take(list.len()).collect();
        let mut tokens = table(all.iter().copied().zip(list.iter().copied()), &[], specials)?;
        let rules = match &found {
            Some(found) => RuleSet::Pairs(found.table(&tokens, |id| id)?),
            None => rules_of_list(list, prefix.len()),
        };
        let mut whole = Whole::with_capacity(list.len());
        let merged = (prefix.len() as u32..).take(list.len() - prefix.len());
        base.piece_ids().chain(merged.clone()).for_each(|id| whole.add(&tokens, id));
        add_specials(&mut tokens, specials)?;
        check_unknown(&tokens, &base)?;
        let mut new = Self::of_tokens(tokens, base.symbols(), rules);
        match found {
            Some(found) => new.take(found),
            None => new.recover(merged.map(|id| (list[id as usize], id))),
        }
        new.whole = new.is_canonical().then_some(whole);
        Ok(new)
    }

    fn of_tokens(tokens: Tokens, symbols: Symbols, rules: RuleSet) -> Self {
        let (merges, not_canonical, joints) = (Vec::new(), Vec::new(), OnceLock::new());
        Self {
            tokens,
            symbols,
            rules,
            whole: None,
            takes_whole: false,
            odd: OnceLock::new(),
            merges,
            merges_given: false,
            not_canonical,
            joints,
        }
    }

    fn take(&mut self, found: Found) {
        (self.merges, self.not_canonical) = (found.merges, found.not_canonical);
    }

    /// Encodes each token with lower ranks only: the two ids it ends in are its parts, anything else is not canonical.
    fn recover<'a>(&mut self, tokens: impl Iterator<Item = (&'a [u8], u32)>) {
        let (mut symbols, mut scratch) = (Vec::new(), Scratch::default());
        for (bytes, id) in tokens {
            symbols.clear();
            match self.append_symbols(bytes, 0, &mut symbols) {
                Ok(()) => merge_symbols(&Below(&*self, id), &mut symbols, 0, &mut scratch),
                Err(_) => symbols.clear(), // those before the unknown one
            }
            match symbols[..] {
                [left, right] => self.merges.push((left, right, id)),
                _ => self.not_canonical.push(id),
            }
        }
        if let RuleSet::Pairs(table) = &mut self.rules
            && self.not_canonical.is_empty()
            && only_parts_meet(&self.symbols, &self.merges)
        {
            *table = PairTable::of(&self.merges, |id| id);
        }
    }
}

/// Whether of each token of a canonical vocabulary only the two parts ever meet, whatever other splits it has: what becomes of
/// the symbols of a token comes of them alone, for nothing merged across its ends, and encoded alone they end in its parts.
/// A table without the other splits is half as large. Tokens that stand in for unknown symbols did not come of symbols.
pub(super) fn only_parts_meet(symbols: &Symbols, merges: &[Triple]) -> bool {
    let fallback = symbols.fallback();
    let mut stand_in: Vec<u32> =
        fallback.bytes.iter().flat_map(|ids| ids.iter().copied()).chain(fallback.token).collect();
    stand_in.sort_unstable();
    let stands_in = |id: u32| stand_in.binary_search(&id).is_ok();
    stand_in.is_empty() || !merges.iter().any(|m| stands_in(m.0) || stands_in(m.1))
}

/// A rule for each split of each ranked token in two, and the splits that happen: those whose parts stay two until the token's
/// own rank comes. A token without one is not canonical. `n` is above all ids.
fn rules_of_ranks(ranked: &[(&[u8], u32)], n: usize) -> Result<(PairTable, Found)> {
    let strings: Vec<&[u8]> = ranked.iter().map(|token| token.0).collect();
    let spellings = Spellings::new(&strings);
    let mut pairs = PairTable::with_capacity(2 * ranked.len());
    let (mut prefixes, mut splits) = (Vec::new(), Vec::new());
    // Of single bytes, and of tokens that came and encode to themselves.
    let mut reached = vec![false; n];
    ranked.iter().filter(|token| token.0.len() == 1).for_each(|token| reached[token.1 as usize] = true);
    let mut parts = vec![Parts::default(); n];
    let mut found = Found { merges: Vec::with_capacity(ranked.len()), ..Found::default() };
    for (i, &(bytes, id)) in ranked.iter().enumerate() {
        let first = ranked[spellings.first[i] as usize].1;
        if first != id {
            return Err(Error::Vocabulary(format!("tokens {first} and {id} have the same bytes")));
        }
        splits.clear();
        spellings.for_each_split(i, &mut prefixes, |left, right| {
            let (left, right) = (ranked[left as usize].1, ranked[right as usize].1);
            if pairs.add(left, right, Merge { rank: id, id }) {
                splits.push((left, right));
            }
        });
        let happens = |&(left, right): &(u32, u32)| {
            reached[left as usize] && reached[right as usize] && stay_apart(&pairs, &parts, left, right, id)
        };
        if bytes.len() == 1 {
            continue;
        }
        match splits.iter().copied().find(happens) {
            Some((left, right)) => {
                parts[id as usize] = Parts { left, right, rank: id + 1 };
                reached[id as usize] = true;
                found.merges.push((left, right, id));
            }
            None => found.not_canonical.push(id),
        }
    }
    if found.not_canonical.is_empty() {
        pairs = PairTable::of(&found.merges, |id| id); // see `only_parts_meet`: nothing stands in for another symbol here
    }
    Ok((pairs, found))
}

/// A rule for each split of each entry of an ordered list in two earlier ones; the first `symbols` entries are symbols.
fn rules_of_list(list: &[&[u8]], symbols: usize) -> RuleSet {
    let spellings = Spellings::new(list);
    let first = &spellings.first;
    let repeats = first.iter().zip(0..).any(|(&first, i)| first != i);
    let mut prefixes = Vec::new();
    if repeats {
        let mut table = PassTable { spelling: first.clone(), joined: Default::default(), entries: Default::default() };
        for (i, &spelling) in first.iter().enumerate().skip(symbols) {
            table.entries.entry(spelling).or_default().push(i as u32);
            if spelling as usize == i {
                spellings.for_each_split(i, &mut prefixes, |left, right| {
                    table.joined.insert(key(left, right), spelling);
                });
            }
        }
        RuleSet::Passes(table)
    } else {
        let mut table = PairTable::with_capacity(list.len());
        for i in symbols..list.len() {
            spellings.for_each_split(i, &mut prefixes, |left, right| {
                if left.max(right) < i as u32 {
                    table.add(left, right, Merge { rank: i as u32, id: i as u32 });
                }
            });
        }
        RuleSet::Pairs(table)
    }
}

impl Base {
    /// The ids that a piece of one base symbol may have.
    fn piece_ids(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Self::Bytes(ids) => Box::new(ids.iter().copied().filter(|&id| id != NONE)),
            Self::Characters(characters, _) => {
                // The last id of a repeated character.
                let last: std::collections::BTreeMap<char, u32> = characters.iter().copied().collect();
                Box::new(last.into_values())
            }
        }
    }
}

fn made_ids(merges: &[Triple]) -> impl Iterator<Item = u32> {
    merges.iter().map(|m| m.2)
}

/// Whether a merge has a byte token of `Unknown::Bytes` for a part. Such a byte may spell a character of the alphabet, which
/// never is encoded as that byte.
fn merges_byte_tokens(base: &Base, merges: &[Triple]) -> bool {
    match base {
        Base::Characters(_, Unknown::Bytes(ids)) => merges.iter().any(|m| ids.contains(&m.0) || ids.contains(&m.1)),
        _ => false,
    }
}

fn repeats_a_symbol(base: &Base) -> bool {
    match base {
        Base::Bytes(_) => false,
        Base::Characters(characters, _) => base.piece_ids().count() != characters.len(),
    }
}
