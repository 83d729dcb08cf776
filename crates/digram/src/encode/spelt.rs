//! The bytes of ids at memory speed: short tokens end to end, and a table of where each is.
//!
//! A token of up to `BLOCK` bytes is copied as one block of that size; what follows it is overwritten by the next.
#![allow(unsafe_code)] // blocks are copied into memory that is not written yet

use crate::vocabulary::Tokens;
use hashbrown::HashMap;
use std::mem::MaybeUninit;

/// Bytes that are copied at once.
const BLOCK: usize = 16;

/// Tokens of up to this many bytes are in the table.
const SHORT: usize = 64;

/// In a length: the token is a special one.
const SPECIAL: u32 = 1 << 31;

/// In a length: the token is not here, or there is none.
const ELSEWHERE: u32 = 1 << 30;

#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    length: u32,
}

/// What ids are spelt, by id.
#[derive(Debug)]
pub(super) struct Spelt {
    places: Box<[Place]>,
    /// `BLOCK` bytes follow the last token.
    bytes: Box<[u8]>,
}

impl Spelt {
    /// Spellings of tokens; those in `others` go first.
    pub fn new(tokens: &Tokens, others: &HashMap<u32, Vec<u8>>) -> Self {
        let mut bytes = Vec::new();
        let place = |id: u32| {
            let special = if tokens.is_special(id) { SPECIAL } else { 0 };
            let token = others.get(&id).map(Vec::as_slice).or_else(|| tokens.written(id));
            match token.filter(|token| token.len() <= SHORT) {
                Some(token) => {
                    let start = bytes.len() as u32; // 64 bytes each of at most 2^31 / 64 tokens; else below
                    bytes.extend_from_slice(token);
                    Place { start, length: token.len() as u32 | special }
                }
                None => Place { start: 0, length: ELSEWHERE | special },
            }
        };
        // No vocabulary is so large; of one that were, no place is known.
        let known = if tokens.len() < 1 << 25 { tokens.len() as u32 } else { 0 };
        let places = (0..known).map(place).collect();
        bytes.extend_from_slice(&[0; BLOCK]);
        Self { places, bytes: bytes.into() }
    }

    /// How many bytes ids have, special ones aside with `skip_special`; `other` is asked about those that are not here.
    pub fn length<E>(&self, ids: &[u32], skip_special: bool, other: impl Fn(u32) -> Result<u64, E>) -> Result<u64, E> {
        let mut length = 0_u64;
        for &id in ids {
            let known = self.places.get(id as usize).map_or(ELSEWHERE, |place| place.length);
            if known <= SHORT as u32 {
                length += u64::from(known);
            } else {
                // An id without a token is an error, whether or not special ones are left out.
                let whole = match known & ELSEWHERE == 0 {
                    true => u64::from(known & !SPECIAL),
                    false => other(id)?,
                };
                if !(skip_special && known & SPECIAL != 0) {
                    length = length.saturating_add(whole);
                }
            }
        }
        Ok(length)
    }

    /// Writes the bytes of ids, of which there are as many as `length` said; `other` appends those that are not here.
    /// Returns how many were written: all before are initialised.
    pub fn write(
        &self,
        ids: &[u32],
        skip_special: bool,
        out: &mut [MaybeUninit<u8>],
        other: impl Fn(u32, &mut Vec<u8>),
    ) -> usize {
        let mut at = 0;
        let mut room = Vec::new();
        for &id in ids {
            let place = self.places.get(id as usize).copied().unwrap_or(Place { start: 0, length: ELSEWHERE });
            if place.length <= BLOCK as u32 && out.len() - at >= BLOCK {
                // SAFETY: `BLOCK` bytes follow every start in `bytes`, and so many are left of `out`; they are two
                // allocations.
                unsafe {
                    let from = self.bytes.as_ptr().add(place.start as usize);
                    std::ptr::copy_nonoverlapping(from, out.as_mut_ptr().add(at).cast::<u8>(), BLOCK);
                }
                at += place.length as usize;
                continue;
            }
            if skip_special && place.length & SPECIAL != 0 {
                continue;
            }
            let token = match place.length & ELSEWHERE == 0 {
                true => &self.bytes[place.start as usize..][..(place.length & !SPECIAL) as usize],
                false => {
                    room.clear();
                    other(id, &mut room);
                    &room[..]
                }
            };
            let to = &mut out[at..][..token.len()];
            // SAFETY: both are so long, and they are two allocations.
            unsafe { std::ptr::copy_nonoverlapping(token.as_ptr(), to.as_mut_ptr().cast::<u8>(), token.len()) };
            at += token.len();
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tokens of every length up to 70, gaps, special ones, and ones that are spelt otherwise.
    fn table() -> (Tokens, HashMap<u32, Vec<u8>>) {
        let mut tokens = Tokens::default();
        tokens.reserve(200, 200).unwrap();
        for length in 0..70_u8 {
            let bytes: Vec<u8> = (0..length).map(|i| i.wrapping_mul(7) ^ length).collect();
            tokens.set(u32::from(length), &bytes, length % 5 == 0).unwrap();
        }
        tokens.join(100, 60, 61).unwrap();
        tokens.join(101, 100, 100).unwrap();
        (tokens, HashMap::from([(3, b"another".to_vec()), (9, vec![b'x'; 90])]))
    }

    proptest! {
        #[test]
        fn it_is_the_tokens_end_to_end(
            ids in prop::collection::vec(prop_oneof![0_u32..70, 0_u32..17, 100_u32..102, 99_u32..104, Just(u32::MAX)], 0..60),
            skip_special: bool,
        ) {
            let (tokens, others) = table();
            let spelt = Spelt::new(&tokens, &others);
            let mut want = Vec::new();
            let known = ids.iter().all(|&id| tokens.contains(id));
            for &id in ids.iter().filter(|&&id| !(skip_special && tokens.is_special(id))) {
                match others.get(&id) {
                    Some(text) => want.extend_from_slice(text),
                    None => _ = tokens.append(id, &mut want),
                }
            }
            let length = spelt.length(&ids, skip_special, |id| match others.get(&id) {
                Some(text) => Ok(text.len() as u64),
                None if tokens.contains(id) => Ok(tokens.length(id)),
                None => Err(id),
            });
            match known {
                false => prop_assert_eq!(length, Err(*ids.iter().find(|&&id| !tokens.contains(id)).unwrap())),
                true => {
                    prop_assert_eq!(length, Ok(want.len() as u64));
                    let mut out = Vec::with_capacity(want.len());
                    let written = spelt.write(&ids, skip_special, &mut out.spare_capacity_mut()[..want.len()], |id, room| {
                        match others.get(&id) {
                            Some(text) => room.extend_from_slice(text),
                            None => _ = tokens.append(id, room),
                        }
                    });
                    prop_assert_eq!(written, want.len());
                    // SAFETY: so many were written.
                    unsafe { out.set_len(written) };
                    prop_assert_eq!(out, want);
                }
            }
        }
    }
}
