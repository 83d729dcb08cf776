//! Lines of the cache, and the entries in them.

use super::key::Key;
use super::pages::Zero;

/// Ids within an entry.
pub(super) const FEW: usize = 4;

/// Entries of a line.
pub(super) const ENTRIES: usize = 2;

/// Lines from its own on in which an entry may be.
pub(super) const REACH: usize = 16;

/// In the place of a number of ids: they stand apart.
const MANY: u32 = 15;

/// Bits of an id below the number of ids.
const ID_BITS: u32 = 28;

const ID: u32 = (1 << ID_BITS) - 1;

/// A piece and its ids.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) key: Key,
    /// The ids, the number of them in the four highest bits of the first; or, of `MANY`, how many they are, and the place
    /// where they stand apart, in two halves.
    ids: [u32; FEW],
}

impl Entry {
    /// None where they are too many, or too large.
    pub(super) fn with(key: Key, ids: &[u32]) -> Option<Self> {
        let mut entry = Self { key, ids: [0; FEW] };
        entry.ids.get_mut(..ids.len())?.copy_from_slice(ids);
        entry.ids[0] |= (ids.len() as u32) << ID_BITS;
        ids.iter().all(|id| id >> ID_BITS == 0).then_some(entry)
    }

    /// Of ids that stand apart: fewer than an id has bits for.
    pub(super) fn apart(key: Key, place: u64, count: usize) -> Self {
        debug_assert!(count <= ID as usize);
        Self { key, ids: [MANY << ID_BITS | count as u32, place as u32, (place >> 32) as u32, 0] }
    }

    #[inline]
    pub(super) fn is_free(&self) -> bool {
        self.key.is_none()
    }

    /// Whether it came to one id: to a token, mostly, and those come more often than all others.
    pub(super) fn is_one(&self) -> bool {
        self.ids[0] >> ID_BITS == 1
    }

    #[inline]
    pub(super) fn hit(&self) -> Hit<'_> {
        let [first, low, high, _] = self.ids;
        match first >> ID_BITS {
            MANY => Hit::Apart(u64::from(high) << 32 | u64::from(low), (first & ID) as usize),
            count => Hit::Few(&self.ids, first & ID, count as usize),
        }
    }
}

/// What an entry says.
pub(super) enum Hit<'a> {
    /// Up to four ids, the first of them as it is, and how many they are.
    Few(&'a [u32; FEW], u32, usize),
    /// Where they are, and how many.
    Apart(u64, usize),
}

/// Two entries in one cache line, from the first to the second.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Line(pub(super) [Entry; ENTRIES]);

// SAFETY: numbers alone.
#[allow(unsafe_code)]
unsafe impl Zero for Line {}

impl Line {
    #[inline]
    pub(super) fn find(&self, key: Key) -> Option<&Entry> {
        // Both are looked at: which of them it is, nothing tells beforehand.
        let [first, second] = &self.0;
        let entry = if first.key == key { first } else { second };
        (entry.key == key).then_some(entry)
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        !self.0[ENTRIES - 1].is_free()
    }
}
