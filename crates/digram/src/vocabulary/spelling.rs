//! Which tokens do two tokens spell? All splits of every token into two tokens, in time linear in the text of the list
//! (plus the splits found).
//!
//! Slices are looked up by a polynomial hash modulo 2^61 - 1, so that the hash of any prefix or suffix of a token costs
//! one multiplication; a hit is then compared byte by byte. Hashing each slice afresh would cost the square of a long
//! token.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::hash::BuildHasher;
use std::sync::LazyLock;

const MODULUS: u64 = (1 << 61) - 1;

/// Differs from process to process: under a base that is known, a file can be made in which all tokens have one hash. No
/// result depends on it.
static BASE: LazyLock<u64> =
    LazyLock::new(|| (foldhash::fast::RandomState::default().hash_one(0) % (MODULUS - 1)).max(1 << 32));

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let folded = (product as u64 & MODULUS) + (product >> 61) as u64;
    if folded >= MODULUS { folded - MODULUS } else { folded }
}

fn plus(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= MODULUS { sum - MODULUS } else { sum }
}

fn minus(a: u64, b: u64) -> u64 {
    plus(a, MODULUS - b)
}

fn extend(base: u64, hash: u64, byte: u8) -> u64 {
    plus(times(hash, base), u64::from(byte) + 1)
}

fn hash(base: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |h, &b| extend(base, h, b))
}

/// Strings by content. `first` is the index of the first string that spells the same.
pub(crate) struct Spellings<'a> {
    strings: &'a [&'a [u8]],
    /// Hash -> first index; of strings that share a hash, the later ones stand under the next free numbers.
    by_hash: HashMap<u64, u32, FixedState>,
    /// Index -> first index that spells the same.
    pub first: Vec<u32>,
    base: u64,
    powers: Vec<u64>,
}

impl<'a> Spellings<'a> {
    pub fn new(strings: &'a [&'a [u8]]) -> Self {
        let longest = strings.iter().map(|s| s.len()).max().unwrap_or(0);
        let base = *BASE;
        let mut powers = vec![1; longest + 1];
        for i in 1..=longest {
            powers[i] = times(powers[i - 1], base);
        }
        let by_hash = HashMap::with_capacity_and_hasher(strings.len(), FixedState::default());
        let mut new = Self { strings, by_hash, first: Vec::with_capacity(strings.len()), base, powers };
        for (i, string) in strings.iter().enumerate() {
            let first = match new.find(hash(base, string), string) {
                Ok(known) => known,
                Err(free) => *new.by_hash.entry(free).insert(i as u32).get(),
            };
            new.first.push(first);
        }
        new
    }

    /// The first string that is `bytes`, or the number under which it would stand.
    fn find(&self, hash: u64, bytes: &[u8]) -> Result<u32, u64> {
        let mut number = hash;
        while let Some(&i) = self.by_hash.get(&number) {
            if self.strings[i as usize] == bytes {
                return Ok(i);
            }
            number += 1;
        }
        Err(number)
    }

    /// Calls `split(left, right)` for each way to write string `i` as two strings of the list (first indices).
    pub fn for_each_split(&self, i: usize, prefixes: &mut Vec<u64>, mut split: impl FnMut(u32, u32)) {
        let string = self.strings[i];
        prefixes.clear();
        prefixes.push(0);
        for &byte in string {
            prefixes.push(extend(self.base, *prefixes.last().expect("starts with one"), byte));
        }
        let whole = prefixes[string.len()];
        for at in 1..string.len() {
            if let Ok(left) = self.find(prefixes[at], &string[..at]) {
                let rest = minus(whole, times(prefixes[at], self.powers[string.len() - at]));
                if let Ok(right) = self.find(rest, &string[at..]) {
                    split(left, right);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_each_split(strings in prop::collection::vec("[ab]{1,6}", 0..40)) {
            let strings: Vec<&[u8]> = strings.iter().map(|s| s.as_bytes()).collect();
            let spellings = Spellings::new(&strings);
            let index = |bytes: &[u8]| strings.iter().position(|s| *s == bytes).map(|i| i as u32);
            for (i, string) in strings.iter().enumerate() {
                prop_assert_eq!(Some(spellings.first[i]), index(string));
                let mut got = Vec::new();
                spellings.for_each_split(i, &mut Vec::new(), |l, r| got.push((l, r)));
                let want: Vec<_> = (1..string.len())
                    .filter_map(|at| Some((index(&string[..at])?, index(&string[at..])?)))
                    .collect();
                prop_assert_eq!(got, want);
            }
        }
    }
}
