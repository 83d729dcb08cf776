//! What parts came to that are too long for an entry of the cache, but not so long that they never come again: words after a
//! deep indentation, rules of dashes, long names.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The longest that is kept, in bytes.
pub(super) const LONGEST_KEPT: usize = 64;

/// Bytes of parts at most, and ids.
const MOST: usize = 1 << 19;

/// Parts and their ids. When there is no more room it begins anew.
#[derive(Debug, Default)]
pub(super) struct LongParts {
    /// Where the ids of a part begin and end.
    places: HashMap<Box<[u8]>, (u32, u32), FixedState>,
    ids: Vec<u32>,
    bytes: usize,
}

impl LongParts {
    pub(super) fn get(&self, part: &[u8]) -> Option<&[u32]> {
        let &(from, to) = self.places.get(part)?;
        Some(&self.ids[from as usize..to as usize])
    }

    /// Keeps the ids of a part that is not there.
    pub(super) fn insert(&mut self, part: &[u8], ids: &[u32]) {
        if self.bytes + part.len() > MOST || self.ids.len() + ids.len() > MOST {
            *self = Self::default();
        }
        let from = self.ids.len() as u32;
        self.ids.extend_from_slice(ids);
        self.bytes += part.len();
        self.places.insert(part.into(), (from, self.ids.len() as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_what_was_put_within_bounds() {
        let mut long = LongParts::default();
        for n in 0..60_000u32 {
            let part = format!("{n:032}").into_bytes();
            assert_eq!(long.get(&part), None);
            long.insert(&part, &[n, n + 1]);
            assert_eq!(long.get(&part), Some(&[n, n + 1][..]));
            assert!(long.bytes <= MOST && long.ids.len() <= MOST);
        }
        let last = format!("{:032}", 59_998).into_bytes();
        assert_eq!(long.get(&last), Some(&[59_998, 59_999][..]));
    }
}
