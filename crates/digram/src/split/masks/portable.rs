//! Blocks by look-ups a byte, for processors without the instructions of the other tiers.

use super::Family;
use super::algebra::{Block, Shape};
use super::drive::{self, Engine, Request};
use super::tables::Tables;
use crate::split::unicode::Set;
use std::mem::MaybeUninit;

/// See [`super::next_ends_by`].
pub(super) fn next_ends(request: Request, from: usize, ends: &mut Vec<usize>) {
    let engine =
        Portable { tables: request.tables, specials: &request.tables.specials[request.rules.contraction as usize] };
    match request.rules.family {
        Family::Gpt2 => drive::next_ends::<{ Family::Gpt2 as u8 }, _>(engine, request, from, ends),
        Family::Cl100k => drive::next_ends::<{ Family::Cl100k as u8 }, _>(engine, request, from, ends),
        Family::O200k => drive::next_ends::<{ Family::O200k as u8 }, _>(engine, request, from, ends),
    }
}

#[derive(Clone, Copy)]
struct Portable {
    tables: &'static Tables,
    specials: &'static [u8; 128],
}

#[derive(Clone, Copy)]
struct Bytes {
    bytes: [u8; 64],
    classes: [Set; 64],
    specials: [u8; 64],
}

impl Engine for Portable {
    type Block = Bytes;

    #[inline(always)]
    fn block(self, text: &[u8], at: usize) -> (Bytes, Shape) {
        let mut bytes = [0; 64];
        let left = &text[at..];
        match left.first_chunk::<64>() {
            Some(chunk) => bytes = *chunk,
            None => bytes[..left.len()].copy_from_slice(left),
        }
        let mut block = Bytes { bytes, classes: [0; 64], specials: [0; 64] };
        for (i, &byte) in bytes.iter().enumerate() {
            if byte < 0x80 {
                block.classes[i] = self.tables.classes[usize::from(byte)];
                block.specials[i] = self.specials[usize::from(byte)];
            }
        }
        let shape = Shape::new(text, at, mask(&bytes, |b| (b as i8) < -64));
        let mut long = mask(&bytes, |b| b >= 0x80) & shape.valid & !shape.inner;
        while long != 0 {
            let at = long.trailing_zeros() as usize;
            let byte = |i: usize| bytes[(at + i) & 63];
            block.classes[at] = self.tables.of_long([byte(0), byte(1), byte(2), byte(3)]);
            long &= long - 1;
        }
        (block, shape)
    }

    #[inline(always)]
    fn write(self, bits: u64, base: usize, out: &mut [MaybeUninit<usize>; 64]) {
        write_by_eight(bits, base, out);
    }
}

impl Block for Bytes {
    #[inline(always)]
    fn class(&self, set: Set) -> u64 {
        mask(&self.classes, |class| class & set != 0)
    }

    #[inline(always)]
    fn special(&self, what: u8) -> u64 {
        mask(&self.specials, |special| special & what != 0)
    }

    #[inline(always)]
    fn bytes(&self, byte: u8) -> u64 {
        mask(&self.bytes, |b| b == byte)
    }
}

/// One bit a byte.
#[inline(always)]
fn mask(bytes: &[u8; 64], is: impl Fn(u8) -> bool) -> u64 {
    let mut mask = 0;
    for (i, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let ones = u64::from_le_bytes(eight.map(|b| u8::from(is(b))));
        // Bit 8 * k of `ones` gets to bit 56 + k: the sum of what is moved by 56 - 7 * k.
        mask |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    mask
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
