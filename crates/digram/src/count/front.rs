//! A small table in front of the large one.
//!
//! Few distinct pieces make up most of a text. Theirs are counted here, in a table that fits a processor's second-level
//! cache; the large table, where most look-ups wait for memory, sees a piece when it comes in and its sum when it goes.

use super::PieceCounts;
use super::key::Key;
use crate::Result;

/// The number of slots: 384 KiB in all.
const SLOTS: usize = 1 << 14;
/// How often a piece that was met often may be missed before it has to go.
const STRONG: u16 = 4;

/// Counts pieces into `counts`. [`finish`](Self::finish) has to be called in the end; until then sums may be missing
/// there, but never pieces.
pub(super) struct Front<'a> {
    counts: &'a mut PieceCounts,
    slots: Box<[Slot]>,
}

#[derive(Clone, Default)]
struct Slot {
    key: Key,
    index: u32,
    /// Counted here and not yet there.
    pending: u16,
    /// Goes up when this piece is met, down when another one is that has its place here.
    strength: u16,
}

impl<'a> Front<'a> {
    pub(super) fn new(counts: &'a mut PieceCounts) -> Self {
        Front { counts, slots: vec![Slot::default(); SLOTS].into() }
    }

    /// Counts `piece` once more; it is not empty.
    #[inline]
    pub(super) fn add(&mut self, piece: &[u8]) -> Result<()> {
        let key = self.counts.keys.key(piece);
        let hash = self.counts.keys.hash(key);
        let slot = &mut self.slots[slot_of(hash)];
        if slot.key == key && slot.pending < u16::MAX {
            slot.pending += 1;
            slot.strength = STRONG.min(slot.strength + 1);
            return Ok(());
        }
        self.add_slowly(key, hash, piece)
    }

    /// [`add`](Self::add) for a piece that is not in its slot, or whose sum there is full.
    #[cold]
    fn add_slowly(&mut self, key: Key, hash: u64, piece: &[u8]) -> Result<()> {
        let slot = &mut self.slots[slot_of(hash)];
        let (index, takes_the_slot) = if slot.key == key {
            (slot.index as usize, true)
        } else {
            slot.strength = slot.strength.saturating_sub(1);
            (self.counts.index_of(key, hash, piece), slot.strength == 0 && key.is_the_piece())
        };
        match u32::try_from(index) {
            Ok(index) if takes_the_slot => {
                let old = std::mem::replace(slot, Slot { key, index, pending: 1, strength: 1 });
                if old.pending > 0 {
                    self.counts.add_to(old.index as usize, old.pending.into())?;
                }
                Ok(())
            }
            _ => self.counts.add_to(index, 1),
        }
    }

    /// Brings all sums to the large table.
    pub(super) fn finish(self) -> Result<()> {
        let pending = self.slots.iter().filter(|slot| slot.pending > 0);
        pending.into_iter().try_for_each(|slot| self.counts.add_to(slot.index as usize, slot.pending.into()))
    }
}

/// The slot for a hash, by bits in the middle: the large table uses the lowest ones and the highest ones.
#[inline]
fn slot_of(hash: u64) -> usize {
    (hash >> 20) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_the_large_table_alone_counts() {
        // A few pieces far more often than a slot can hold, many seldom, some too long for a slot.
        let mut random = 7_u64;
        let pieces = (0..600_000).map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (kind, which) = (random >> 60, random >> 32);
            match kind {
                0..8 => format!("{}", which % 4),
                8..12 => format!("{:x}", which % 2_000),
                12..15 => format!("{}", which % 80_000),
                _ => format!("a piece of many bytes, {}", which % 5_000),
            }
        });
        let (mut direct, mut behind) = (PieceCounts::new(), PieceCounts::new());
        let mut front = Front::new(&mut behind);
        for piece in pieces {
            direct.add(piece.as_bytes(), 1).unwrap();
            front.add(piece.as_bytes()).unwrap();
        }
        front.finish().unwrap();
        assert!(direct.len() > 4 * SLOTS && direct.count(0) > u16::MAX.into());
        assert!(behind.iter().eq(direct.iter()));
    }
}
