//! Pairs in general: tokens with ids in any order, and merges that name them; several merges may make one token.

use super::build::{add_specials, only_parts_meet};
use super::canonical::{Parts, stay_apart};
use super::found::Lengths;
use super::rules::PairTable;
use super::spelling::Spellings;
use super::symbols::Characters;
use super::{Fallback, Found, NONE, RuleSet, Special, Symbols, Tokens, Triple, Vocabulary, Whole};
use crate::merge::{Merge, Rules};
use crate::{Error, Result};
use std::sync::OnceLock;

/// A vocabulary as `tokenizer.json` files and their like hold it.
#[derive(Clone, Debug)]
pub struct Pairs<'a> {
    /// Bytes (UTF-8 where `characters` is set) and id of each token. Those of one symbol are the base symbols.
    pub tokens: &'a [(&'a [u8], u32)],
    /// (left id, right id, new id), lowest rank first. Of a repeated pair the last line counts.
    pub merges: Vec<Triple>,
    /// Instead of merges: ids of tokens, first ones first. Two neighbours merge wherever together they spell one of these.
    pub ranked: &'a [u32],
    /// Whether the base symbols are characters, not bytes.
    pub characters: bool,
    /// Whether a piece that is a token is taken whole, without merging.
    pub whole: bool,
    /// What stands in for a symbol without a token.
    pub unknown: Fallback,
}

/// A rank, and (left id, right id, new id).
type Ranked = (u32, Triple);

impl Vocabulary {
    /// A vocabulary of pairs in general. A special token may also be one of `tokens`, where the two spell the same. `found` is
    /// what an earlier build of the same worked out.
    ///
    /// # Errors
    /// `Vocabulary`, naming the token or merge: bytes or an id given twice, an empty token, a merge of ids that are not
    /// there or do not spell the new one, an unknown token or byte token without an id; `found` that is not of this vocabulary.
    pub fn from_pairs(mut pairs: Pairs, specials: &[Special], found: Option<Found>) -> Result<Self> {
        let mut tokens = Tokens::default();
        let ids = pairs.tokens.iter().map(|token| token.1).chain(specials.iter().map(|special| special.1));
        if let Some(highest) = ids.clone().max() {
            tokens.reserve(u64::from(highest), ids.count())?;
        }
        tokens.reserve_bytes(pairs.tokens.iter().map(|token| token.0.len()).sum());
        for &(bytes, id) in pairs.tokens {
            if bytes.is_empty() {
                return Err(Error::Vocabulary(format!("token {id} is empty")));
            }
            tokens.set(id, bytes, false)?;
        }
        let symbols = Symbols::of_tokens(&pairs);
        let mut learnt = match found {
            Some(found) => learnt_before(&mut pairs, &tokens, &symbols, found)?,
            None => learn(&pairs, &tokens, &symbols)?,
        };
        for (marker, id) in specials {
            tokens.mark_special(*id, marker);
        }
        add_specials(&mut tokens, specials)?;
        if let Some(id) = pairs.unknown.token.filter(|&id| !tokens.contains(id)) {
            return Err(Error::Vocabulary(format!("the unknown token has id {id}, which no token has")));
        }
        if let Some(id) =
            pairs.unknown.bytes.iter().flat_map(|b| b.iter()).find(|&&id| id != NONE && !tokens.contains(id))
        {
            return Err(Error::Vocabulary(format!("a byte token has id {id}, which no token has")));
        }
        // With `whole` every token is looked up; else those alone that merging would give as well. A special token never.
        let looked_up = |id: u32| match pairs.whole {
            true => !tokens.is_special(id),
            false => learnt.reached[id as usize],
        };
        let takes_whole = pairs.whole && !pairs.tokens.iter().all(|token| learnt.reached[token.1 as usize]);
        let whole = match learnt.whole.take() {
            Some(mut whole) => {
                whole.retain(looked_up);
                whole
            }
            None => Whole::of(&tokens, pairs.tokens.iter().map(|token| token.1).filter(|&id| looked_up(id))),
        };
        Ok(Self {
            tokens,
            symbols,
            rules: RuleSet::Pairs(learnt.table),
            whole: Some(whole),
            takes_whole,
            odd: OnceLock::new(),
            merges: learnt.merges,
            merges_given: pairs.ranked.is_empty(),
            not_canonical: learnt.not_canonical,
            joints: OnceLock::new(),
        })
    }
}

/// What is worked out of the tokens and merges that are given.
struct Learnt {
    table: PairTable,
    merges: Vec<Triple>,
    not_canonical: Vec<u32>,
    /// Whether a token encodes to itself by merging, by id.
    reached: Vec<bool>,
    /// All tokens by their bytes, where they had to be looked up.
    whole: Option<Whole>,
}

fn learn(pairs: &Pairs, tokens: &Tokens, symbols: &Symbols) -> Result<Learnt> {
    let mut whole = Whole::with_capacity(pairs.tokens.len());
    for &(bytes, id) in pairs.tokens {
        if let Some(other) = whole.get(tokens, bytes) {
            return Err(Error::Vocabulary(format!("tokens {other} and {id} have the same bytes")));
        }
        whole.add(tokens, id);
    }
    let mut table = PairTable::with_capacity(pairs.merges.len());
    for (rank, &(left, right, id)) in (0..).zip(&pairs.merges) {
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
    let mut merges = counted(&table, &pairs.merges);
    if !pairs.ranked.is_empty() {
        merges = ranked_merges(pairs, tokens, symbols)?;
        merges.iter().for_each(|&(rank, (left, right, id))| table.set(left, right, Merge { rank, id }));
    }
    let (reached, parts) = self_encoding(&table, &merges, tokens.len(), symbols);
    let mut not_canonical: Vec<u32> = merges.iter().map(|m| m.1.2).filter(|&id| !reached[id as usize]).collect();
    not_canonical.sort_unstable();
    not_canonical.dedup();
    let all = merges.len();
    if !pairs.ranked.is_empty() {
        // Of the splits of a token the one that happens: its merge.
        merges.retain(|&(rank, (left, right, id))| parts[id as usize] == Parts { left, right, rank: rank + 1 });
    }
    let merges: Vec<Triple> = merges.into_iter().map(|m| m.1).collect();
    if merges.len() < all && not_canonical.is_empty() && only_parts_meet(symbols, &merges) {
        let ranks = ranks(pairs, tokens);
        table = PairTable::of(&merges, |id| ranks[id as usize]);
    }
    Ok(Learnt { table, merges, not_canonical, reached, whole: Some(whole) })
}

/// The same from what an earlier build found out.
fn learnt_before(pairs: &mut Pairs, tokens: &Tokens, symbols: &Symbols, found: Found) -> Result<Learnt> {
    let mut reached = vec![false; tokens.len()];
    symbols.for_each_id(|id| reached[id as usize] = true);
    let (table, merges) = if pairs.ranked.is_empty() {
        Lengths::of(tokens).check(&pairs.merges)?;
        let mut table = PairTable::with_capacity(pairs.merges.len());
        (0..).zip(&pairs.merges).for_each(|(rank, &(left, right, id))| table.set(left, right, Merge { rank, id }));
        let merges = match table.len() == pairs.merges.len() {
            true => std::mem::take(&mut pairs.merges), // no pair has two merges
            false => counted(&table, &pairs.merges).into_iter().map(|m| m.1).collect(),
        };
        (table, merges)
    } else {
        let ranks = ranks(pairs, tokens);
        (found.table(tokens, |id| ranks[id as usize])?, found.merges)
    };
    merges.iter().for_each(|m| reached[m.2 as usize] = true);
    // A base symbol that merges make as well is reached, and never among these.
    for &id in &found.not_canonical {
        if let Some(reached) = reached.get_mut(id as usize) {
            *reached = false;
        }
    }
    Ok(Learnt { table, merges, not_canonical: found.not_canonical, reached, whole: None })
}

/// Of a repeated pair the last merge counts: those that do, with their ranks.
fn counted(table: &PairTable, merges: &[Triple]) -> Vec<Ranked> {
    let counts = |&(rank, merge): &Ranked| table.merge(merge.0, merge.1, 0).is_some_and(|found| found.rank == rank);
    (0..).zip(merges.iter().copied()).filter(counts).collect()
}

/// The rank of each ranked token, by id; 0 for the others.
fn ranks(pairs: &Pairs, tokens: &Tokens) -> Vec<u32> {
    let mut ranks = vec![0; tokens.len()];
    for (rank, &id) in (0..).zip(pairs.ranked) {
        if let Some(slot) = ranks.get_mut(id as usize) {
            *slot = rank;
        }
    }
    ranks
}

fn no_token(rank: u32, id: u32) -> Error {
    Error::Vocabulary(format!("merge {rank} names id {id}, which no token has"))
}

/// Which tokens are canonical, and so encode to themselves: base symbols, and each token that, encoded with ranks below that of
/// one of its merges, ends in the two parts of that merge, which are canonical themselves.
fn self_encoding(rules: &PairTable, merges: &[Ranked], n: usize, symbols: &Symbols) -> (Vec<bool>, Vec<Parts>) {
    let mut reached = vec![false; n];
    symbols.for_each_id(|id| reached[id as usize] = true);
    let mut parts = vec![Parts::default(); n];
    for &(rank, (left, right, id)) in merges {
        // Tokens are reached in the order of ranks, so parts that are reached were so by lower ranks.
        let parts_first = reached[left as usize] && reached[right as usize];
        if !reached[id as usize] && parts_first && stay_apart(rules, &parts, left, right, rank) {
            parts[id as usize] = Parts { left, right, rank: rank + 1 };
            reached[id as usize] = true;
        }
    }
    (reached, parts)
}

/// A rule of the same rank for every split of each ranked token into base symbols or ranked tokens.
fn ranked_merges(pairs: &Pairs, tokens: &Tokens, symbols: &Symbols) -> Result<Vec<Ranked>> {
    if !pairs.merges.is_empty() {
        return Err(Error::Vocabulary("a vocabulary has merges or ranked tokens, not both".into()));
    }
    let mut ids = pairs.ranked.to_vec();
    symbols.for_each_id(|id| ids.push(id));
    let spelt = |&id: &u32| tokens.written(id).ok_or_else(|| Error::Vocabulary(format!("ranked id {id} has no token")));
    let strings: Vec<&[u8]> = ids.iter().map(spelt).collect::<Result<_>>()?;
    let spellings = Spellings::new(&strings);
    let (mut merges, mut prefixes) = (Vec::new(), Vec::new());
    for (i, &id) in pairs.ranked.iter().enumerate() {
        if spellings.first[i] as usize != i {
            return Err(Error::Vocabulary(format!("token {id} is ranked twice")));
        }
        spellings.for_each_split(i, &mut prefixes, |left, right| {
            merges.push((i as u32, (ids[left as usize], ids[right as usize], id)));
        });
    }
    Ok(merges)
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
        let mut symbols = Characters::default();
        for &(bytes, id) in pairs.tokens.iter().filter(|token| token.0.len() <= 4) {
            let mut characters = std::str::from_utf8(bytes).unwrap_or_default().chars();
            if let (Some(symbol), None) = (characters.next(), characters.next()) {
                symbols.insert(symbol, id);
            }
        }
        Self::Characters(symbols, unknown)
    }

    fn for_each_id(&self, mut each: impl FnMut(u32)) {
        match self {
            Self::Bytes(ids, _) => ids.iter().filter(|&&id| id != NONE).for_each(|&id| each(id)),
            Self::Characters(characters, _) => characters.iter().for_each(|(_, id)| each(id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::{Below, Scratch, merge_symbols};
    use proptest::prelude::*;

    /// Tokens of `ab`, shuffled ids, and merges that name them: some tokens by several ways, some pairs twice.
    fn cases() -> impl Strategy<Value = (Vec<String>, Vec<(u32, u32, u32)>)> {
        let tokens = prop::collection::btree_set("[ab]{2,5}", 0..14).prop_map(|set| {
            let mut tokens: Vec<String> = ["a".to_string(), "b".to_string()].into_iter().chain(set).collect();
            tokens.reverse();
            tokens
        });
        tokens.prop_flat_map(|tokens| {
            let id = |text: &str| tokens.iter().position(|token| token == text).map(|id| id as u32);
            let all: Vec<(u32, u32, u32)> = tokens
                .iter()
                .flat_map(|token| (1..token.len()).map(move |at| token.split_at(at)))
                .filter_map(|(left, right)| Some((id(left)?, id(right)?, id(&format!("{left}{right}"))?)))
                .collect();
            let merges = match all.len() {
                0 => Just(Vec::new()).boxed(),
                n => prop::collection::vec(prop::sample::select(all), 0..2 * n).boxed(),
            };
            (Just(tokens), merges)
        })
    }

    fn build(tokens: &[String], merges: &[(u32, u32, u32)], whole: bool) -> Vocabulary {
        let tokens: Vec<(&[u8], u32)> = tokens.iter().map(String::as_bytes).zip(0..).collect();
        let unknown = Fallback::default();
        let merges = merges.to_vec();
        Vocabulary::from_pairs(
            Pairs { tokens: &tokens, merges, ranked: &[], characters: true, whole, unknown },
            &[],
            None,
        )
        .unwrap()
    }

    /// Merges below rank `limit` over a list: the lowest rank of all neighbours, leftmost first; of a repeated pair the last
    /// line counts.
    fn naive(tokens: &[String], merges: &[(u32, u32, u32)], text: &str, limit: usize) -> Vec<u32> {
        let id = |text: &str| tokens.iter().position(|token| token == text).unwrap() as u32;
        let mut ids: Vec<u32> = text.chars().map(|symbol| id(&symbol.to_string())).collect();
        loop {
            let rank = |pair: &[u32]| merges.iter().rposition(|m| (m.0, m.1) == (pair[0], pair[1]));
            let ranks = ids.windows(2).map(rank).enumerate();
            let ranks = ranks.filter_map(|(at, rank)| rank.filter(|&rank| rank < limit).map(|rank| (rank, at)));
            let Some((rank, at)) = ranks.min() else {
                return ids;
            };
            ids.splice(at..at + 2, [merges[rank].2]);
        }
    }

    proptest! {
        #[test]
        fn as_the_definition_says((tokens, merges) in cases(), text in "[ab]{0,12}") {
            let vocabulary = build(&tokens, &merges, false);
            let mut got = Vec::new();
            vocabulary.append_symbols(text.as_bytes(), 0, &mut got).unwrap();
            merge_symbols(&vocabulary, &mut got, 0, &mut Scratch::default());
            prop_assert_eq!(&got, &naive(&tokens, &merges, &text, usize::MAX));
            // A lookup that is there gives what merging gives.
            if let Some(id) = vocabulary.whole_piece(text.as_bytes()) {
                prop_assert_eq!(got, [id]);
            }
            let lookup = build(&tokens, &merges, true).whole_piece(text.as_bytes());
            prop_assert_eq!(lookup, tokens.iter().position(|token| *token == text).map(|id| id as u32));
        }

        #[test]
        fn canonical_is_what_its_definition_says((tokens, merges) in cases()) {
            let vocabulary = build(&tokens, &merges, false);
            let last = |m: &(u32, u32, u32)| merges.iter().rposition(|n| (n.0, n.1) == (m.0, m.1)).unwrap();
            let mut canonical: Vec<bool> = tokens.iter().map(|token| token.len() == 1).collect();
            for (rank, m) in merges.iter().enumerate().filter(|&(rank, m)| last(m) == rank) {
                let token = &tokens[m.2 as usize];
                let mut symbols = Vec::new();
                vocabulary.append_symbols(token.as_bytes(), 0, &mut symbols).unwrap();
                merge_symbols(&Below(&vocabulary, rank as u32), &mut symbols, 0, &mut Scratch::default());
                prop_assert_eq!(&symbols, &naive(&tokens, &merges, token, rank));
                if symbols == [m.0, m.1] && canonical[m.0 as usize] && canonical[m.1 as usize] {
                    canonical[m.2 as usize] = true;
                }
            }
            let mut want: Vec<u32> = merges.iter().map(|m| m.2).filter(|&id| !canonical[id as usize]).collect();
            want.sort_unstable();
            want.dedup();
            prop_assert_eq!(vocabulary.not_canonical(), want);
        }
    }

    proptest! {
        #[test]
        fn ranked_tokens_merge_by_what_they_spell((tokens, _) in cases(), text in "[ab]{0,12}", seed: u64) {
            // Any order of the longer tokens.
            let mut ranked: Vec<u32> = (0..tokens.len() as u32).filter(|&id| tokens[id as usize].len() > 1).collect();
            ranked.sort_by_key(|&id| (u64::from(id) + 1).wrapping_mul(seed | 1));
            let spelt: Vec<(&[u8], u32)> = tokens.iter().map(String::as_bytes).zip(0..).collect();
            let pairs = Pairs {
                tokens: &spelt, merges: Vec::new(), ranked: &ranked, characters: true, whole: false, unknown: Fallback::default(),
            };
            let vocabulary = Vocabulary::from_pairs(pairs, &[], None).unwrap();
            let mut got = Vec::new();
            vocabulary.append_symbols(text.as_bytes(), 0, &mut got).unwrap();
            merge_symbols(&vocabulary, &mut got, 0, &mut Scratch::default());
            let rank = |text: &str| ranked.iter().position(|&id| tokens[id as usize] == text);
            let mut parts: Vec<String> = text.chars().map(String::from).collect();
            while let Some((_, at)) =
                parts.windows(2).enumerate().filter_map(|(at, two)| rank(&two.concat()).map(|rank| (rank, at))).min()
            {
                let joined = parts[at..at + 2].concat();
                parts.splice(at..at + 2, [joined]);
            }
            let spelling: Vec<&str> = got.iter().map(|&id| tokens[id as usize].as_str()).collect();
            prop_assert_eq!(spelling, parts);
            if let Some(id) = vocabulary.whole_piece(text.as_bytes()) {
                prop_assert_eq!(got, [id]);
            }
        }
    }

    #[test]
    fn contradictions_are_named() {
        let refused = |tokens: &[(&[u8], u32)], merges: &[(u32, u32, u32)]| {
            let pairs = Pairs {
                tokens,
                merges: merges.to_vec(),
                ranked: &[],
                characters: false,
                whole: false,
                unknown: Fallback::default(),
            };
            Vocabulary::from_pairs(pairs, &[], None).unwrap_err().to_string()
        };
        let [a, b, ab]: [(&[u8], u32); 3] = [(b"a", 0), (b"b", 1), (b"ab", 2)];
        assert!(refused(&[a, (b"a", 1)], &[]).contains("same bytes"));
        assert!(refused(&[a, (b"b", 0)], &[]).contains("two tokens"));
        assert!(refused(&[a, (b"", 1)], &[]).contains("empty"));
        assert!(refused(&[a, b, ab], &[(1, 0, 2)]).contains("does not spell"));
        for merge in [(0, 3, 2), (3, 1, 2), (0, 1, 3)] {
            assert!(refused(&[a, b, ab], &[merge]).contains("names id 3"), "{merge:?}");
        }
        assert!(refused(&[a, (b"b", u32::MAX)], &[]).contains("out of range"));
    }

    #[test]
    fn a_special_token_may_be_a_token() {
        let tokens: [(&[u8], u32); 3] = [(b"a", 0), (b"b", 1), (b"ab", 2)];
        let pairs = Pairs {
            tokens: &tokens,
            merges: vec![(0, 1, 2)],
            ranked: &[],
            characters: true,
            whole: true,
            unknown: Fallback::default(),
        };
        let vocabulary = Vocabulary::from_pairs(pairs.clone(), &[("ab".into(), 2)], None).unwrap();
        assert!(vocabulary.tokens().is_special(2));
        assert_eq!(vocabulary.whole_piece(b"ab"), None, "a special token is never looked up");
        assert!(Vocabulary::from_pairs(pairs, &[("ba".into(), 2)], None).is_err());
    }
}
