//! What decides between pairs of equal count.

use super::arena::Arena;
use super::order::{TokenKey, TokenOrder};
use super::pairs::Pairs;
use super::queue::Key;
use super::ticker::Ticker;
use super::{Alphabet, Ties, TrainOptions};
use crate::Result;

/// The keys of pairs by one rule: the smallest wins.
pub(super) enum TieKeys {
    /// The ids; those of bytes by their place in an order.
    Ids(Option<[u8; 256]>),
    FirstPosition,
    /// The keys of the tokens, and whether the largest wins.
    Tokens {
        order: TokenOrder,
        keys: Vec<TokenKey>,
        largest: bool,
    },
    Joined(TokenOrder),
}

impl TieKeys {
    /// For an arena in which nothing was merged yet.
    pub(super) fn new(options: &TrainOptions, arena: &Arena, ticker: &mut Ticker<'_>) -> Result<Self> {
        Ok(match options.ties {
            Ties::SmallestIds => TieKeys::Ids(None),
            Ties::SmallestCharacters => TieKeys::Ids((options.alphabet == Alphabet::Bytes).then(by_character)),
            Ties::FirstSeen => TieKeys::FirstPosition,
            Ties::SmallestTokens | Ties::LargestTokens => {
                let order = TokenOrder::new(arena, ticker)?;
                let keys = base_keys(arena, ticker)?;
                TieKeys::Tokens { order, keys, largest: options.ties == Ties::LargestTokens }
            }
            Ties::ShortestToken => TieKeys::Joined(TokenOrder::new(arena, ticker)?),
        })
    }

    /// Notes the next token: where it occurs, and its length. One that does not occur is in no pair.
    pub(super) fn add_token(&mut self, occurrence: Option<(u32, u32)>) {
        if let TieKeys::Tokens { order, keys, .. } = self {
            keys.push(occurrence.map_or(0, |(position, length)| order.key(position, length)));
        }
    }

    /// The key of a pair that occurs.
    pub(super) fn key(&self, arena: &Arena, pairs: &mut Pairs, slot: u32) -> Key {
        let (left, right) = (pairs.get(slot).left, pairs.get(slot).right);
        match self {
            TieKeys::Ids(None) => (left.into(), right.into()),
            TieKeys::Ids(Some(places)) => {
                let place = |id: u32| places.get(id as usize).map_or(u64::from(id), |&place| place.into());
                (place(left), place(right))
            }
            TieKeys::FirstPosition => (pairs.first_position(slot, arena).into(), 0),
            TieKeys::Tokens { keys, largest: false, .. } => (keys[left as usize], keys[right as usize]),
            TieKeys::Tokens { keys, largest: true, .. } => (!keys[left as usize], !keys[right as usize]),
            TieKeys::Joined(order) => {
                let length = arena.length(left) + arena.length(right);
                (length.into(), order.key(pairs.first_position(slot, arena), length))
            }
        }
    }
}

/// Byte -> its place in the order of the characters that GPT-2 writes for bytes. Those that Latin-1 can show are
/// themselves, the others are 256 and up in their own order.
fn by_character() -> [u8; 256] {
    let is_shown = |byte: &u8| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let (shown, others): (Vec<u8>, Vec<u8>) = (0..=255).partition(is_shown);
    let mut places = [0; 256];
    for (place, byte) in (0..=255).zip(shown.into_iter().chain(others)) {
        places[usize::from(byte)] = place;
    }
    places
}

/// The keys of the base symbols: the suffixes that begin with a smaller symbol, or with a boundary, come before.
fn base_keys(arena: &Arena, ticker: &mut Ticker<'_>) -> Result<Vec<TokenKey>> {
    let mut occurrences = vec![0u64; arena.tokens()];
    let mut first = 0;
    for &cell in arena.cells() {
        match occurrences.get_mut(cell as usize) {
            Some(count) => *count += 1,
            None => first += 1,
        }
        ticker.work(1)?;
    }
    let key = |count| {
        let key = first << 32 | 1;
        first += count;
        key
    };
    Ok(occurrences.into_iter().map(key).collect())
}
