//! Blocks by look-ups a byte and sums of words, for processors without the instructions of the other tiers.

use super::Family;
use super::algebra::{Block, Shape};
use super::drive::{self, Engine, Request};
use super::long::{chunk_at, long_classes};
use super::tables::Tables;
use crate::split::unicode::Set;
use std::mem::MaybeUninit;

/// See [`super::next_ends`].
pub(super) fn next_ends(request: Request, from: usize, ends: &mut Vec<usize>) {
    drive::for_family!(by_family, request, from, ends)
}

fn by_family<const FAMILY: u8>(request: Request, from: usize, ends: &mut Vec<usize>) {
    let contraction = request.rules.contraction as usize;
    let engine = Portable { tables: request.tables, specials: &request.tables.specials[contraction] };
    drive::next_ends::<FAMILY, _>(engine, request, from, ends);
}

#[derive(Clone, Copy)]
struct Portable {
    tables: &'static Tables,
    specials: &'static [u8; 128],
}

/// Eight bytes a word, the first at the bottom.
#[derive(Clone, Copy)]
struct Words {
    bytes: [u64; 8],
    classes: [u64; 8],
    specials: [u64; 8],
}

impl Engine for Portable {
    type Block = Words;

    #[inline(always)]
    fn block(self, text: &[u8], at: usize) -> (Words, Shape) {
        let mut rest = [0; 64];
        let chunk = chunk_at(text, at, &mut rest);
        let bytes = words(chunk);
        let mut block =
            Words { bytes, classes: look_up(chunk, &self.tables.classes), specials: look_up(chunk, self.specials) };
        let high = tops(&bytes);
        if high == 0 {
            return (block, Shape::new(text, at, 0, 0));
        }
        // Of a byte 0x80 to 0xBF the second highest bit is not set.
        let shape = Shape::new(text, at, high, tops(&bytes.map(|word| word & !(word << 1))));
        let long = words(&long_classes(self.tables, chunk, shape.high & !shape.inner));
        // ASCII characters have class 0 among these; and the other way round.
        for (class, long) in block.classes.iter_mut().zip(long) {
            *class |= long;
        }
        (block, shape)
    }

    #[inline(always)]
    fn write(self, bits: u64, base: usize, out: &mut [MaybeUninit<usize>; 64]) {
        write_by_eight(bits, base, out);
    }
}

impl Block for Words {
    #[inline(always)]
    fn class(&self, set: Set) -> u64 {
        any(&self.classes, set)
    }

    #[inline(always)]
    fn special(&self, what: u8) -> u64 {
        any(&self.specials, what)
    }

    #[inline(always)]
    fn bytes(&self, byte: u8) -> u64 {
        let differ = self.bytes.map(|word| word ^ (u64::from(byte) * ONES));
        !any(&differ, 0xFF)
    }
}

/// A one in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

#[inline(always)]
fn words(bytes: &[u8; 64]) -> [u64; 8] {
    let (words, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

/// What a table says of each ASCII character; 0 for other bytes.
#[inline(always)]
fn look_up(bytes: &[u8; 64], table: &[u8; 128]) -> [u64; 8] {
    let (words, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|i| {
        let found = words[i].map(|byte| table[usize::from(byte & 0x7F)]);
        let high = u64::from_le_bytes(words[i]) >> 7 & ONES;
        u64::from_le_bytes(found) & !(high * 0xFF)
    })
}

/// The bytes that have any of these bits.
#[inline(always)]
fn any(words: &[u64; 8], bits: u8) -> u64 {
    let mut mask = 0;
    for (i, word) in words.iter().enumerate() {
        let mut found = 0;
        for bit in 0..8 {
            if bits >> bit & 1 != 0 {
                found |= word >> bit;
            }
        }
        // Bit 8 * k is added to bit 56 + k, by its move of 56 - 7 * k.
        mask |= ((found & ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    mask
}

/// The bytes whose highest bit is set.
#[inline(always)]
fn tops(words: &[u64; 8]) -> u64 {
    any(words, 0x80)
}

/// [`Engine::write`] with the instructions that all processors have.
#[inline(always)]
pub(super) fn write_by_eight(mut bits: u64, base: usize, out: &mut [MaybeUninit<usize>; 64]) {
    for eight in out.as_chunks_mut::<8>().0 {
        for place in eight {
            *place = MaybeUninit::new(base + bits.trailing_zeros() as usize);
            bits &= bits.wrapping_sub(1);
        }
        if bits == 0 {
            break;
        }
    }
}
