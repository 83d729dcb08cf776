//! The characters that a pattern tells apart, as few classes.

use super::super::unicode::Classes;
use regex_syntax::hir::ClassUnicode;

/// The class of what is not there: before and after the text. Those of the characters begin at 1.
pub(super) const EDGE: u8 = 0;

/// A set of classes, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask([u64; 4]);

impl Mask {
    #[inline]
    pub(super) fn has(self, class: u8) -> bool {
        self.0[usize::from(class >> 6)] >> (class & 63) & 1 != 0
    }

    pub(super) fn with(mut self, class: u8) -> Self {
        self.0[usize::from(class >> 6)] |= 1 << (class & 63);
        self
    }
}

/// The characters in as few classes as may be: two are in the same one if no set tells them apart.
pub(super) struct Partition {
    /// The number of classes, `EDGE` included.
    pub classes: usize,
    /// The classes of each set.
    pub masks: Vec<Mask>,
    /// The code points in order, as ranges: where each ends, and its class.
    pub ranges: Vec<(u32, u8)>,
}

impl Partition {
    /// What some sets tell apart; `None` where that is more than 254 classes.
    pub(super) fn new(sets: &[ClassUnicode]) -> Option<Self> {
        // Where a set begins or ends, in order.
        let mut borders: Vec<(u32, usize)> = Vec::new();
        for (number, set) in sets.iter().enumerate() {
            for range in set.ranges() {
                borders.push((range.start().into(), number));
                borders.push((u32::from(range.end()) + 1, number));
            }
        }
        borders.sort_unstable();
        let mut ranges = Vec::new();
        let mut kinds: Vec<Vec<bool>> = Vec::new();
        let mut inside = vec![false; sets.len()];
        let (mut from, mut rest) = (0, &borders[..]);
        while from < 0x11_0000 {
            while let Some((&(at, number), later)) = rest.split_first()
                && at <= from
            {
                inside[number] = !inside[number];
                rest = later;
            }
            let end = rest.first().map_or(0x11_0000, |&(at, _)| at);
            let kind = kinds.iter().position(|known| *known == inside).unwrap_or_else(|| {
                kinds.push(inside.clone());
                kinds.len() - 1
            });
            ranges.push((end, u8::try_from(kind + 1).ok().filter(|&class| class < u8::MAX)?));
            from = end;
        }
        let mask = |number: usize| {
            let classes = kinds.iter().enumerate().filter(|(_, kind)| kind[number]);
            classes.fold(Mask([0; 4]), |mask, (class, _)| mask.with(class as u8 + 1))
        };
        let masks = (0..sets.len()).map(mask).collect();
        Some(Self { classes: kinds.len() + 1, masks, ranges })
    }

    /// The class of a character, found by bisection.
    pub(super) fn of(&self, character: char) -> u8 {
        self.ranges[self.ranges.partition_point(|&(end, _)| end <= character.into())].1
    }
}

/// The classes of a partition, and a table of every code point's.
pub(super) struct Alphabet {
    pub table: Classes,
    pub partition: Partition,
}

impl Alphabet {
    /// The alphabet of some sets; `None` where they tell more than 254 classes apart.
    pub(super) fn new(sets: &[ClassUnicode]) -> Option<Self> {
        let partition = Partition::new(sets)?;
        let mut flat = vec![0_u8; 0x11_0000];
        let mut from = 0;
        for &(end, class) in &partition.ranges {
            flat[from..end as usize].fill(class);
            from = end as usize;
        }
        Some(Self { table: Classes::of_flat(&flat), partition })
    }
}
