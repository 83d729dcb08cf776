//! Merges that come before learning: those of a vocabulary that is to grow, and those that make the seed tokens.
//!
//! Each piece is brought to where these merges leave it on its own, lowest rank first, leftmost first. A merge only
//! joins ids that are there before it, so this is the same as one round for each of them over all pieces (Berglund and
//! van der Merwe 2023, "Formalizing BPE tokenization": a proper list). A heap holds the merges that a piece has room
//! for: n log n for n symbols, however many merges there are.

use super::arena::{Arena, BOUNDARY};
use super::ticker::Ticker;
use super::{Alphabet, TrainOptions};
use crate::{Error, Result};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The most base symbols of a seed token: its parts take an id each.
const MOST_SYMBOLS: usize = 1 << 12;

/// Merges in order of rank, found by their pair.
#[derive(Default)]
struct Ranks {
    merges: Vec<(u32, u32)>,
    rank_of: HashMap<(u32, u32), u32, FixedState>,
    /// The id of the first of them.
    first: u32,
}

impl Ranks {
    /// Adds a merge of ids that are there, and returns its id.
    fn add(&mut self, (left, right): (u32, u32)) -> Result<u32> {
        let rank = self.merges.len() as u32;
        let id = self.first + rank;
        if left >= id || right >= id {
            return Err(Error::Argument(format!(
                "merge {rank} of those to begin with joins ids {left} and {right}, but it makes id {id}: its parts must \
                 come before it"
            )));
        }
        if self.rank_of.insert((left, right), rank).is_some() {
            return Err(Error::Argument(format!(
                "merge {rank} of those to begin with joins ids {left} and {right} a second time"
            )));
        }
        self.merges.push((left, right));
        Ok(id)
    }

    /// The ids of a short string, by the definition: the lowest rank that is there, everywhere, until there is none.
    fn apply(&self, mut ids: Vec<u32>) -> Vec<u32> {
        while let Some(rank) = ids.windows(2).filter_map(|pair| self.rank_of.get(&(pair[0], pair[1])).copied()).min() {
            ids = replaced(&ids, self.merges[rank as usize], self.first + rank);
        }
        ids
    }
}

/// Replaces `pair` by `new` from left to right without overlap.
fn replaced(ids: &[u32], pair: (u32, u32), new: u32) -> Vec<u32> {
    let (mut found, mut i) = (Vec::with_capacity(ids.len()), 0);
    while i < ids.len() {
        let here = ids.get(i + 1).is_some_and(|&next| (ids[i], next) == pair);
        found.push(if here { new } else { ids[i] });
        i += 1 + usize::from(here);
    }
    found
}

/// The merges to begin with: those of `options.merges`, then for each seed token those that join its first two parts
/// until it is one.
pub(super) fn merges(options: &TrainOptions, characters: &[char]) -> Result<Vec<(u32, u32)>> {
    let first = match options.alphabet {
        Alphabet::Bytes => 256,
        Alphabet::Characters => characters.len() as u32,
    };
    let mut ranks = Ranks { first, ..Ranks::default() };
    options.merges.iter().try_for_each(|&pair| ranks.add(pair).map(drop))?;
    for seed in &options.seeds {
        let mut ids = ranks.apply(symbols(seed, options.alphabet, characters)?);
        while let [left, right, ..] = ids[..] {
            let new = ranks.add((left, right))?;
            ids = replaced(&ids, (left, right), new);
        }
    }
    Ok(ranks.merges)
}

fn symbols(seed: &[u8], alphabet: Alphabet, characters: &[char]) -> Result<Vec<u32>> {
    let shown = String::from_utf8_lossy(&seed[..seed.len().min(60)]);
    let symbols = match alphabet {
        Alphabet::Bytes => seed.iter().map(|&byte| u32::from(byte)).collect(),
        Alphabet::Characters => {
            let text = str::from_utf8(seed).map_err(|error| Error::NotText { offset: error.valid_up_to() })?;
            let id_of = |character: char| match characters.binary_search(&character) {
                Ok(id) => Ok(id as u32),
                Err(_) => Err(Error::Argument(format!(
                    "seed token {shown:?} has the character {character:?}, which the alphabet lacks: add it to the \
                     initial alphabet"
                ))),
            };
            text.chars().take(MOST_SYMBOLS + 1).map(id_of).collect::<Result<Vec<_>>>()?
        }
    };
    match symbols.len() {
        0 => Err(Error::Argument("a seed token is empty: give each one a text".to_owned())),
        1..=MOST_SYMBOLS => Ok(symbols),
        _ => Err(Error::Argument(format!(
            "seed token {shown:?}... has more than {MOST_SYMBOLS} symbols: each of its parts would take an id"
        ))),
    }
}

/// What became of the merges in the sequence.
pub(super) struct Replayed {
    /// How often each pair occurred when its turn came.
    pub(super) counts: Vec<u64>,
    /// A position where each new token stood, if there was one.
    pub(super) positions: Vec<Option<u32>>,
}

/// Merges all pieces of an arena in which nothing was merged yet.
pub(super) fn replay(arena: &mut Arena, merges: &[(u32, u32)], ticker: &mut Ticker<'_>) -> Result<Replayed> {
    let mut ranks = Ranks { first: arena.tokens() as u32, ..Ranks::default() };
    for &pair in merges {
        ranks.add(pair)?;
        // A token that is too long for the sequence does not occur there.
        arena.add_token(arena.length(pair.0).saturating_add(arena.length(pair.1)))?;
    }
    let mut replayed = Replayed { counts: vec![0; merges.len()], positions: vec![None; merges.len()] };
    if merges.is_empty() {
        return Ok(replayed);
    }
    let pieces: Vec<_> = arena.pieces().collect();
    let mut heap = BinaryHeap::new();
    for (start, end) in pieces {
        replay_piece(arena, &ranks, start, end, &mut heap, &mut replayed, ticker)?;
    }
    Ok(replayed)
}

fn replay_piece(
    arena: &mut Arena,
    ranks: &Ranks,
    start: u32,
    end: u32,
    heap: &mut BinaryHeap<Reverse<(u32, u32)>>,
    replayed: &mut Replayed,
    ticker: &mut Ticker<'_>,
) -> Result<()> {
    let weight = arena.weight(start);
    for position in start..end - 1 {
        if let Some(&rank) = ranks.rank_of.get(&(arena.at(position), arena.at(position + 1))) {
            heap.push(Reverse((rank, position)));
        }
        ticker.work(1)?;
    }
    while let Some(Reverse((rank, position))) = heap.pop() {
        ticker.work(1)?;
        let (left, right) = ranks.merges[rank as usize];
        let (left_length, new) = (arena.length(left), ranks.first + rank);
        if !arena.holds(position, left, left_length, right) {
            continue;
        }
        let length = arena.length(new);
        let (before, after) = (arena.before(position), arena.at(position + length));
        // Of a run of one token, the pair after this one goes too, and counted as well.
        let pairs = if left == right && after == left { 2 } else { 1 };
        let count = &mut replayed.counts[rank as usize];
        let more = weight.checked_mul(pairs).and_then(|more| count.checked_add(more));
        *count = more.ok_or(Error::CountOverflow)?;
        replayed.positions[rank as usize].get_or_insert(position);
        arena.merge(position, left_length, length, new);
        if before != BOUNDARY
            && let Some(&rank) = ranks.rank_of.get(&(before, new))
        {
            heap.push(Reverse((rank, position - arena.length(before))));
        }
        if after != BOUNDARY
            && let Some(&rank) = ranks.rank_of.get(&(new, after))
        {
            heap.push(Reverse((rank, position)));
        }
    }
    Ok(())
}
