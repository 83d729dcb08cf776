//! Blocks by NEON: four registers a block, ASCII classes by two look-ups of half a byte. Every 64-bit ARM processor has it.
#![allow(unsafe_code, reason = "vectors are loaded by pointers")]

use super::Family;
use super::algebra::{Block, Shape};
use super::drive::{self, Engine, Request};
use super::long::{chunk_at, long_classes};
use super::nibbles::{self, Nibbles};
use super::portable::write_by_eight;
use super::tables::Tables;
use crate::split::unicode::Set;
use std::arch::aarch64::*;
use std::mem::MaybeUninit;

/// See [`super::next_ends`].
pub(super) fn next_ends(request: Request, from: usize, ends: &mut Vec<usize>) {
    drive::for_family!(by_family, request, from, ends)
}

fn by_family<const FAMILY: u8>(request: Request, from: usize, ends: &mut Vec<usize>) {
    let contractions = &nibbles::CONTRACTIONS[request.rules.contraction as usize];
    let engine = Neon { tables: request.tables, kinds: pair(&nibbles::KINDS), contractions: pair(contractions) };
    drive::next_ends::<FAMILY, _>(engine, request, from, ends);
}

/// 64 bytes.
type Vectors = [uint8x16_t; 4];

#[derive(Clone, Copy)]
struct Neon {
    tables: &'static Tables,
    kinds: [uint8x16_t; 2],
    contractions: [uint8x16_t; 2],
}

#[derive(Clone, Copy)]
struct Registers {
    bytes: Vectors,
    kinds: Vectors,
    contractions: Vectors,
    /// Bit 5 of each byte, which lower-case letters have and capitals have not.
    small: u64,
    /// Whether there are longer characters, and their classes.
    high: bool,
    long: Vectors,
}

impl Engine for Neon {
    type Block = Registers;

    #[inline(always)]
    fn block(self, text: &[u8], at: usize) -> (Registers, Shape) {
        let mut rest = [0; 64];
        let chunk = chunk_at(text, at, &mut rest);
        let bytes = four(chunk);
        let (kinds, contractions) = (look_up(self.kinds, bytes), look_up(self.contractions, bytes));
        let mut block = Registers { bytes, kinds, contractions, small: any(bytes, 1 << 5), high: false, long: bytes };
        let high = any(bytes, 1 << 7);
        if high == 0 {
            return (block, Shape::new(text, at, 0, 0));
        }
        // Of a byte 0x80 to 0xBF, as a number with a sign.
        // SAFETY: every processor of this architecture has the instructions.
        let is_inner = |part| unsafe { vcltq_s8(vreinterpretq_s8_u8(part), vdupq_n_s8(-64)) };
        let shape = Shape::new(text, at, high, mask(bytes.map(is_inner)));
        block.high = true;
        block.long = four(&long_classes(self.tables, chunk, shape.high & !shape.inner));
        (block, shape)
    }

    #[inline(always)]
    fn write(self, bits: u64, base: usize, out: &mut [MaybeUninit<usize>; 64]) {
        write_by_eight(bits, base, out);
    }
}

impl Block for Registers {
    #[inline(always)]
    fn class(&self, set: Set) -> u64 {
        let long = if self.high { any(self.long, set) } else { 0 };
        long | nibbles::class(set, self.small, |kinds| any(self.kinds, kinds), |kinds| any(self.contractions, kinds))
    }

    #[inline(always)]
    fn special(&self, what: u8) -> u64 {
        nibbles::special(what, |kinds| any(self.kinds, kinds), |kinds| any(self.contractions, kinds))
    }

    #[inline(always)]
    fn bytes(&self, byte: u8) -> u64 {
        // SAFETY: every processor of this architecture has the instructions.
        mask(self.bytes.map(|part| unsafe { vceqq_u8(part, vdupq_n_u8(byte)) }))
    }
}

#[inline(always)]
fn pair(nibbles: &Nibbles) -> [uint8x16_t; 2] {
    // SAFETY: sixteen bytes are there.
    [nibbles.low, nibbles.high].map(|table| unsafe { vld1q_u8(table.as_ptr()) })
}

#[inline(always)]
fn four(bytes: &[u8; 64]) -> Vectors {
    // SAFETY: 64 bytes are there.
    std::array::from_fn(|i| unsafe { vld1q_u8(bytes.as_ptr().add(16 * i)) })
}

/// What both tables say of the halves of each byte; 0 of bytes from 0x80 on.
#[inline(always)]
fn look_up([low, high]: [uint8x16_t; 2], bytes: Vectors) -> Vectors {
    // SAFETY: every processor of this architecture has the instructions.
    bytes.map(|part| unsafe {
        // An index of 16 or more gives 0.
        let column = vqtbl1q_u8(low, vandq_u8(part, vdupq_n_u8(0x8F)));
        vandq_u8(column, vqtbl1q_u8(high, vshrq_n_u8::<4>(part)))
    })
}

/// The bytes that have any of these bits.
#[inline(always)]
fn any(bytes: Vectors, bits: u8) -> u64 {
    if bits == 0 {
        return 0;
    }
    // SAFETY: every processor of this architecture has the instructions.
    mask(bytes.map(|part| unsafe { vtstq_u8(part, vdupq_n_u8(bits)) }))
}

/// A bit for each byte, of bytes that are 0 or 0xFF: each keeps the bit of its place among eight, and neighbours are added
/// three times. (NEON has no instruction that gathers bits; this way of doing it is well known.)
#[inline(always)]
fn mask(bytes: Vectors) -> u64 {
    const PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: sixteen bytes are there, and every processor of this architecture has the instructions.
    unsafe {
        let places = vld1q_u8(PLACES.as_ptr());
        let [a, b, c, d] = bytes.map(|part| vandq_u8(part, places));
        let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }
}
