//! The definition of training, recounted from scratch each round: what the tests compare to, and the fuzz target `train`.

use super::{Alphabet, PairRules, PieceCounts, Ties, TrainOptions, Trained};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// The merges of valid options and text. Nobody is asked.
pub(super) fn train(counts: &PieceCounts, options: &TrainOptions) -> Trained {
    train_asking(counts, options, &mut |_, _| true)
}

/// Likewise; `allows` is asked whether a pair of strings may be merged, once for each pair of ids.
pub(super) fn train_asking(
    counts: &PieceCounts,
    options: &TrainOptions,
    allows: &mut dyn FnMut(&[u8], &[u8]) -> bool,
) -> Trained {
    let mut state = State::new(counts, options);
    for &pair in &options.merges {
        state.merge(pair);
    }
    for seed in &options.seeds {
        let mut ids = state.symbols(seed);
        for (k, &pair) in state.trained.merges.iter().enumerate() {
            ids = merge(&ids, pair, (state.base + k) as u32);
        }
        while ids.len() > 1 {
            let pair = (ids[0], ids[1]);
            ids = merge(&ids, pair, state.tokens.len() as u32);
            state.merge(pair);
        }
    }
    let mut refused = Vec::new();
    loop {
        if options.vocab_size.is_some_and(|size| state.tokens.len() as u64 + options.reserved >= size) {
            break;
        }
        let mut pairs = state.pairs();
        pairs.retain(|&pair, _| state.may_merge(pair) && !refused.contains(&pair));
        let Some(best) = pairs.values().map(|&(count, _)| count).max() else {
            state.trained.exhausted = true;
            break;
        };
        if best < options.min_count {
            break;
        }
        let pair = state.first_of(pairs.iter().filter(|(_, value)| value.0 == best).map(|(&pair, v)| (pair, v.1)));
        if options.ask && !allows(&state.tokens[pair.0 as usize], &state.tokens[pair.1 as usize]) {
            refused.push(pair);
            continue;
        }
        state.merge(pair);
    }
    state.trained
}

struct State<'a> {
    options: &'a TrainOptions,
    /// Each id's string.
    tokens: Vec<Vec<u8>>,
    base: usize,
    pieces: Vec<(Vec<u32>, u64)>,
    trained: Trained,
}

impl<'a> State<'a> {
    fn new(counts: &PieceCounts, options: &'a TrainOptions) -> Self {
        let mut state =
            State { options, tokens: Vec::new(), base: 256, pieces: Vec::new(), trained: Trained::default() };
        match options.alphabet {
            Alphabet::Bytes => {
                state.tokens = (0..=255).map(|byte| vec![byte]).collect();
                state.pieces = counts.iter().map(|(piece, n)| (state.symbols(piece), n)).collect();
            }
            Alphabet::Characters => {
                let text = |piece| str::from_utf8(piece).unwrap();
                let mut found: BTreeMap<char, u128> = options.initial.iter().map(|&c| (c, u128::MAX)).collect();
                for (piece, n) in counts.iter() {
                    for character in text(piece).chars() {
                        let count = found.entry(character).or_default();
                        *count = count.saturating_add(n.into());
                    }
                }
                let mut by_count: Vec<_> = found.into_iter().map(|(c, count)| (Reverse(count), c)).collect();
                by_count.sort();
                by_count.truncate(options.limit.map_or(usize::MAX, |limit| limit as usize));
                let mut characters: Vec<char> = by_count.into_iter().map(|entry| entry.1).collect();
                characters.sort();
                state.base = characters.len();
                state.tokens = characters.iter().map(|c| c.to_string().into_bytes()).collect();
                for (piece, n) in counts.iter() {
                    for part in text(piece).split(|c| !characters.contains(&c)) {
                        state.pieces.push((state.symbols(part.as_bytes()), n));
                    }
                }
                state.trained.characters = characters;
            }
        }
        state
    }

    fn symbols(&self, text: &[u8]) -> Vec<u32> {
        let id_of = |symbol: &[u8]| self.tokens.iter().position(|token| token == symbol).unwrap() as u32;
        match self.options.alphabet {
            Alphabet::Bytes => text.iter().map(|&byte| byte.into()).collect(),
            Alphabet::Characters => {
                str::from_utf8(text).unwrap().chars().map(|c| id_of(c.to_string().as_bytes())).collect()
            }
        }
    }

    /// All pairs with their counts, and their order of first appearance.
    fn pairs(&self) -> HashMap<(u32, u32), (u64, usize)> {
        let mut pairs = HashMap::new();
        for (ids, n) in &self.pieces {
            for pair in ids.windows(2) {
                let seen = pairs.len();
                pairs.entry((pair[0], pair[1])).or_insert((0, seen)).0 += n;
            }
        }
        pairs
    }

    fn may_merge(&self, (left, right): (u32, u32)) -> bool {
        let token = [&self.tokens[left as usize][..], &self.tokens[right as usize]].concat();
        self.options.max_token_length.is_none_or(|most| self.length(&token) <= most)
            && keeps(&self.options.rules, &token)
    }

    /// In base symbols.
    fn length(&self, token: &[u8]) -> u64 {
        match self.options.alphabet {
            Alphabet::Bytes => token.len() as u64,
            Alphabet::Characters => str::from_utf8(token).unwrap().chars().count() as u64,
        }
    }

    /// The one of these pairs that the tie rule takes.
    fn first_of(&self, pairs: impl Iterator<Item = ((u32, u32), usize)>) -> (u32, u32) {
        let text = |id: u32| &self.tokens[id as usize];
        let joined = |(left, right)| [&text(left)[..], text(right)].concat();
        let place = |id: u32| match self.options.alphabet {
            Alphabet::Bytes if id < 256 => character_of(id as u8),
            _ => id + 0x1000,
        };
        match self.options.ties {
            Ties::SmallestIds => pairs.min_by_key(|&(pair, _)| pair),
            Ties::SmallestCharacters => pairs.min_by_key(|&((l, r), _)| (place(l), place(r))),
            Ties::SmallestTokens => pairs.min_by_key(|&((l, r), _)| (text(l), text(r))),
            Ties::LargestTokens => pairs.max_by_key(|&((l, r), _)| (text(l), text(r))),
            Ties::ShortestToken => pairs.min_by_key(|&(pair, _)| (self.length(&joined(pair)), joined(pair))),
            Ties::FirstSeen => pairs.min_by_key(|&(_, seen)| seen),
        }
        .unwrap()
        .0
    }

    /// One round.
    fn merge(&mut self, pair: (u32, u32)) {
        let count = self.pairs().get(&pair).map_or(0, |&(count, _)| count);
        for (ids, _) in &mut self.pieces {
            *ids = merge(ids, pair, self.tokens.len() as u32);
        }
        self.tokens.push([&self.tokens[pair.0 as usize][..], &self.tokens[pair.1 as usize]].concat());
        self.trained.merges.push(pair);
        self.trained.merge_counts.push(count);
    }
}

/// GPT-2's character for a byte, as its `bytes_to_unicode` makes it.
fn character_of(byte: u8) -> u32 {
    let shown = |byte: &u8| (b'!'..=b'~').contains(byte) || (0xA1..=0xAC).contains(byte) || *byte >= 0xAE;
    if shown(&byte) { byte.into() } else { 256 + (0..byte).filter(|other| !shown(other)).count() as u32 }
}

/// Whether a string may be a token. (The marks are those that the tests use.)
pub(super) fn keeps(rules: &PairRules, token: &[u8]) -> bool {
    let head = token.iter().take_while(|&&byte| byte & 0xC0 == 0x80).count();
    let begun = token.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
    let characters = begun + usize::from(head > 0);
    let (text, tail, broken) = match str::from_utf8(&token[head..]) {
        Ok(text) => (text, false, head > 3),
        Err(error) => {
            let text = str::from_utf8(&token[head..head + error.valid_up_to()]).unwrap();
            (text, true, head > 3 || error.error_len().is_some())
        }
    };
    let whole = head == 0 && !tail && !broken;
    let is_mark = |c: char| ('\u{300}'..='\u{36F}').contains(&c);
    let digit = !broken && text.chars().any(char::is_numeric);
    let mark_first = !broken && head == 0 && text.starts_with(is_mark);
    let only_marks = whole && text.chars().all(is_mark);
    rules.max_characters.is_none_or(|most| characters as u64 <= most)
        && (!(rules.whole_characters || rules.attach_marks) || !broken && (whole || characters == 1))
        && (!rules.split_digits || !digit || whole && characters == 1)
        && (!rules.attach_marks || !mark_first || only_marks)
}

/// Replaces `pair` by `new` from left to right without overlap.
fn merge(ids: &[u32], pair: (u32, u32), new: u32) -> Vec<u32> {
    let (mut merged, mut i) = (Vec::new(), 0);
    while i < ids.len() {
        if i + 1 < ids.len() && (ids[i], ids[i + 1]) == pair {
            merged.push(new);
            i += 2;
        } else {
            merged.push(ids[i]);
            i += 1;
        }
    }
    merged
}
