//! Where ids go: onto a list, or into a number.

use super::line::FEW;
use super::misses::Miss;
use super::pages;
use super::view::BLOCK;

/// Text that an id mostly stands for: room is made for ids accordingly.
const BYTES_PER_ID: usize = 4;

/// Where ids go. Within a block of pieces the caller keeps a place: zero at first, and then what the last call returned.
pub(in crate::encode) trait Ids {
    /// The first `count` of four; `first` is to be taken for the very first of them.
    fn few(&mut self, place: usize, ids: &[u32; FEW], first: u32, count: usize) -> usize;
    fn many(&mut self, place: usize, ids: &[u32]) -> usize;
    /// Where the next id would be: the ids of a piece without an entry are put there later.
    fn gap(&self, place: usize) -> usize;
    /// Called after each block.
    fn end_block(&mut self, place: usize);
    /// One id, between blocks.
    fn one(&mut self, id: u32) {
        let place = self.many(0, &[id]);
        self.end_block(place);
    }
    /// The ids of pieces that had no entry, each to its gap.
    fn fill(&mut self, misses: &[Miss], made: &[u32]);
    /// Called before a text of so many bytes.
    fn expect(&mut self, _bytes: usize) {}
}

/// Ids onto the end of a list. Those of a block are put together in near memory first: a copy of four ids need not ask how many
/// there are, and the list itself, which may be as large as the text, is written once, in long stretches. (Four ids at
/// a time onto the list itself took longer by a third: most of its lines are written four times before they are there.)
pub(in crate::encode) struct Listed<'a> {
    out: &'a mut Vec<u32>,
    block: [u32; FEW * (BLOCK + 1)],
}

impl<'a> Listed<'a> {
    pub(in crate::encode) fn new(out: &'a mut Vec<u32>) -> Self {
        Self { out, block: [0; FEW * (BLOCK + 1)] }
    }
}

impl Ids for Listed<'_> {
    #[inline]
    fn few(&mut self, place: usize, ids: &[u32; FEW], first: u32, count: usize) -> usize {
        // All four in one move, and then the first: put together beforehand, they would be waited for.
        let room = &mut self.block[place..][..FEW];
        room.copy_from_slice(ids);
        room[0] = first;
        place + count
    }

    fn many(&mut self, place: usize, ids: &[u32]) -> usize {
        self.end_block(place);
        self.out.extend_from_slice(ids);
        0
    }

    #[inline]
    fn gap(&self, place: usize) -> usize {
        self.out.len() + place
    }

    fn end_block(&mut self, place: usize) {
        self.out.extend_from_slice(&self.block[..place]);
    }

    fn expect(&mut self, bytes: usize) {
        pages::reserve(self.out, bytes / BYTES_PER_ID);
    }

    fn fill(&mut self, misses: &[Miss], made: &[u32]) {
        fill_gaps(self.out, misses, made);
    }
}

/// Ids onto the end of a list, without a block in between: of short texts, for which that would have to be cleared and copied.
pub(in crate::encode) struct Appended<'a>(pub(in crate::encode) &'a mut Vec<u32>);

impl Ids for Appended<'_> {
    #[inline]
    fn few(&mut self, place: usize, ids: &[u32; FEW], first: u32, count: usize) -> usize {
        let end = self.0.len() + count;
        let [_, rest @ ..] = *ids;
        self.0.extend_from_slice(&[first, rest[0], rest[1], rest[2]]);
        self.0.truncate(end);
        place
    }

    fn many(&mut self, place: usize, ids: &[u32]) -> usize {
        self.0.extend_from_slice(ids);
        place
    }

    #[inline]
    fn gap(&self, _place: usize) -> usize {
        self.0.len()
    }

    fn end_block(&mut self, _place: usize) {}

    fn fill(&mut self, misses: &[Miss], made: &[u32]) {
        fill_gaps(self.0, misses, made);
    }
}

/// From the last one on: each id moves once.
fn fill_gaps(out: &mut Vec<u32>, misses: &[Miss], made: &[u32]) {
    let mut end = out.len();
    let more: usize = misses.iter().map(|miss| miss.made.len()).sum();
    out.resize(end + more, 0);
    let mut to = end + more;
    for miss in misses.iter().rev() {
        to -= end - miss.gap;
        out.copy_within(miss.gap..end, to);
        to -= miss.made.len();
        out[to..][..miss.made.len()].copy_from_slice(&made[miss.made.clone()]);
        end = miss.gap;
    }
}

/// The number of ids.
#[derive(Default)]
pub(in crate::encode) struct Counted(pub(in crate::encode) u64);

impl Ids for Counted {
    #[inline]
    fn few(&mut self, place: usize, _ids: &[u32; FEW], _first: u32, count: usize) -> usize {
        place + count
    }

    fn many(&mut self, place: usize, ids: &[u32]) -> usize {
        place + ids.len()
    }

    fn gap(&self, _place: usize) -> usize {
        0
    }

    fn end_block(&mut self, place: usize) {
        self.0 += place as u64;
    }

    fn fill(&mut self, misses: &[Miss], _made: &[u32]) {
        self.0 += misses.iter().map(|miss| miss.made.len() as u64).sum::<u64>();
    }
}
