//! What pieces and parts came to that are too long for an entry of the cache, but not so long that they never come again: words
//! after a deep indentation, rules of dashes, long names, clauses without spaces.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::ops::Range;

/// The longest that is kept, in bytes.
pub(super) const LONGEST_KEPT: usize = 64;

/// Bytes of parts at most, and ids: 2 MB, and 4 MB.
const MOST: usize = 1 << 21;
const MOST_IDS: usize = 1 << 20;

/// Where a part is among the bytes of all, and its ids among theirs.
#[derive(Clone, Copy, Debug)]
struct Place {
    bytes: u32,
    ids: u32,
    length: u8,
    count: u8,
}

impl Place {
    fn bytes(self) -> Range<usize> {
        self.bytes as usize..self.bytes as usize + usize::from(self.length)
    }

    fn ids(self) -> Range<usize> {
        self.ids as usize..self.ids as usize + usize::from(self.count)
    }
}

/// Parts and their ids. When there is no more room it begins anew.
#[derive(Debug, Default)]
pub(super) struct LongParts {
    places: HashTable<Place>,
    hasher: FixedState,
    bytes: Vec<u8>,
    ids: Vec<u32>,
}

impl LongParts {
    pub(super) fn get(&self, part: &[u8]) -> Option<&[u32]> {
        let is_it = |place: &Place| &self.bytes[place.bytes()] == part;
        self.places.find(self.hasher.hash_one(part), is_it).map(|place| &self.ids[place.ids()])
    }

    /// Keeps the ids of a part that is not there, unless they are more than a byte can count.
    pub(super) fn insert(&mut self, part: &[u8], ids: &[u32]) {
        let (Ok(length), Ok(count)) = (part.len().try_into(), ids.len().try_into()) else { return };
        if self.bytes.len() + part.len() > MOST || self.ids.len() + ids.len() > MOST_IDS {
            self.places.clear();
            self.bytes.clear();
            self.ids.clear();
        }
        let place = Place { bytes: self.bytes.len() as u32, ids: self.ids.len() as u32, length, count };
        self.bytes.extend_from_slice(part);
        self.ids.extend_from_slice(ids);
        let (hasher, bytes) = (&self.hasher, &self.bytes);
        self.places.insert_unique(hasher.hash_one(part), place, |place| hasher.hash_one(&bytes[place.bytes()]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_what_was_put_within_bounds() {
        let mut long = LongParts::default();
        for n in 0..150_000u32 {
            let part = format!("{n:032}").into_bytes();
            assert_eq!(long.get(&part), None);
            let ids = vec![n; 1 + n as usize % 9];
            long.insert(&part, &ids);
            assert_eq!(long.get(&part), Some(&ids[..]));
            assert!(long.bytes.len() <= MOST && long.ids.len() <= MOST_IDS);
        }
        let last = format!("{:032}", 149_000).into_bytes();
        assert_eq!(long.get(&last), Some(&vec![149_000; 1 + 149_000 % 9][..]));
        long.insert(b"a part of very many ids", &[7; 256]);
        assert_eq!(long.get(b"a part of very many ids"), None);
    }
}
