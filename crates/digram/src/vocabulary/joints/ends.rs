//! What tokens begin and end with.

use super::packed::{Packed, character, is_tail, length_of, packed};
use crate::vocabulary::Tokens;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Up to four bytes, of the beginning or the end of a token.
#[derive(Clone, Copy, Debug)]
struct Few {
    bytes: [u8; 4],
    length: usize,
}

impl Few {
    fn first(bytes: &[u8]) -> Self {
        let length = bytes.len().min(4);
        let mut few = Self { bytes: [0; 4], length };
        few.bytes[..length].copy_from_slice(&bytes[..length]);
        few
    }

    fn last(bytes: &[u8]) -> Self {
        Self::first(&bytes[bytes.len().saturating_sub(4)..])
    }

    fn get(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// What a token begins and ends with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) first: Packed,
    pub(super) last: Packed,
}

/// No character, nor a tail or a head: of a token that begins or ends otherwise.
pub(super) const NO_CHARACTER: Packed = u32::MAX;

/// The ends of each token, by id.
pub(super) fn ends(tokens: &Tokens) -> Vec<Ends> {
    let mut long = Long { tokens, known: HashMap::default() };
    let of = |id| {
        let (first, last) = long.get(id).unwrap_or((Few::first(b""), Few::first(b"")));
        Ends { first: first_character(first.get()), last: last_character(last.get()) }
    };
    (0..tokens.len() as u32).map(of).collect()
}

/// The character, or its head, that a token begins with; `bytes` are its first four at most.
fn first_character(bytes: &[u8]) -> Packed {
    let Some((&first, rest)) = bytes.split_first() else {
        return NO_CHARACTER;
    };
    match character(bytes, 0) {
        Some((_, whole)) => whole,
        None if bytes.len() < length_of(first) && rest.iter().all(is_tail) => packed(bytes),
        None => NO_CHARACTER,
    }
}

/// The character, or its tail, that a token ends with; `bytes` are its last four at most.
fn last_character(bytes: &[u8]) -> Packed {
    match bytes.iter().rposition(|byte| !is_tail(byte)) {
        Some(at) => match character(bytes, at) {
            Some((length, whole)) if at + length == bytes.len() => whole,
            _ => NO_CHARACTER,
        },
        None if (1..4).contains(&bytes.len()) => packed(bytes),
        None => NO_CHARACTER,
    }
}

/// Of long tokens only the parts are stored, in chains that may be deep, so what was found of them is kept.
struct Long<'a> {
    tokens: &'a Tokens,
    known: HashMap<u32, (Few, Few), FixedState>,
}

impl Long<'_> {
    /// The first and the last bytes of a token; none of a gap.
    fn get(&mut self, id: u32) -> Option<(Few, Few)> {
        if let Some(found) = self.known(id) {
            return Some(found);
        }
        let mut stack = vec![id];
        while let Some(&id) = stack.last() {
            let (left, right) = self.tokens.parts(id)?;
            match (self.known(left), self.known(right)) {
                (Some(left), Some(right)) => {
                    let first = [left.0.get(), right.0.get()].concat();
                    let last = [left.1.get(), right.1.get()].concat();
                    self.known.insert(id, (Few::first(&first), Few::last(&last)));
                    stack.pop();
                }
                (left_known, right_known) => {
                    stack.extend(left_known.is_none().then_some(left));
                    stack.extend(right_known.is_none().then_some(right));
                }
            }
        }
        self.known(id)
    }

    fn known(&self, id: u32) -> Option<(Few, Few)> {
        match self.tokens.written(id) {
            Some(bytes) => Some((Few::first(bytes), Few::last(bytes))),
            None => self.known.get(&id).copied(),
        }
    }
}
