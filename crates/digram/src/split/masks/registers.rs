//! Blocks in the registers of a processor that looks up sixteen bytes at a time: what is the same for AVX2 and for NEON.
//!
//! A tier brings the instructions, and how many registers 64 bytes take. All of this is inlined into a function of the tier
//! that was compiled for its instructions.

use super::algebra::{Block, Shape};
use super::drive::{Engine, Request};
use super::long::{chunk_at, long_classes};
use super::nibbles::{self, Nibbles};
use super::portable::write_by_eight;
use super::tables::Tables;
use crate::split::unicode::Set;
use std::mem::MaybeUninit;

/// 64 bytes in registers. In what comes back as a number bit `i` stands for byte `i`.
pub(super) trait Registers: Copy {
    /// Sixteen bytes to look up in.
    type Table: Copy;

    fn table(bytes: &[u8; 16]) -> Self::Table;

    fn load(bytes: &[u8; 64]) -> Self;

    /// What both tables say of the halves of each byte; 0 of bytes from 0x80 on.
    fn look_up(self, low: Self::Table, high: Self::Table) -> Self;

    /// The bytes that have any of these bits, of which there are some.
    fn any(self, bits: u8) -> u64;

    /// The bytes that are `byte`.
    fn equal(self, byte: u8) -> u64;
}

#[derive(Clone, Copy)]
pub(super) struct ByNibbles<R: Registers> {
    tables: &'static Tables,
    kinds: [R::Table; 2],
    contractions: [R::Table; 2],
}

impl<R: Registers> ByNibbles<R> {
    #[inline(always)]
    pub fn new(request: &Request) -> Self {
        let pair = |nibbles: &Nibbles| [R::table(&nibbles.low), R::table(&nibbles.high)];
        let contractions = &nibbles::CONTRACTIONS[request.rules.contraction as usize];
        Self { tables: request.tables, kinds: pair(&nibbles::KINDS), contractions: pair(contractions) }
    }
}

/// A block, with what the tables say of its bytes.
#[derive(Clone, Copy)]
pub(super) struct LookedUp<R> {
    bytes: R,
    kinds: R,
    contractions: R,
    /// Bit 5 of each byte, which lower-case letters have and capitals have not.
    small: u64,
    /// Whether there are longer characters, and their classes.
    high: bool,
    long: R,
}

impl<R: Registers> Engine for ByNibbles<R> {
    type Block = LookedUp<R>;

    #[inline(always)]
    fn block(self, text: &[u8], at: usize) -> (LookedUp<R>, Shape) {
        let mut rest = [0; 64];
        let chunk = chunk_at(text, at, &mut rest);
        let bytes = R::load(chunk);
        let kinds = bytes.look_up(self.kinds[0], self.kinds[1]);
        let contractions = bytes.look_up(self.contractions[0], self.contractions[1]);
        let mut block = LookedUp { bytes, kinds, contractions, small: bytes.any(1 << 5), high: false, long: bytes };
        let high = bytes.any(1 << 7);
        if high == 0 {
            return (block, Shape::new(text, at, 0, 0));
        }
        // A byte 0x80 to 0xBF has the highest bit alone of the two highest.
        let shape = Shape::new(text, at, high, high & !bytes.any(1 << 6));
        block.high = true;
        block.long = R::load(&long_classes(self.tables, chunk, shape.high & !shape.inner));
        (block, shape)
    }

    #[inline(always)]
    fn write(self, bits: u64, base: usize, out: &mut [MaybeUninit<usize>; 64]) {
        write_by_eight(bits, base, out);
    }
}

impl<R: Registers> LookedUp<R> {
    /// The bytes that are of some of these kinds, if these are any.
    #[inline(always)]
    fn any(bytes: R, kinds: u8) -> u64 {
        if kinds == 0 { 0 } else { bytes.any(kinds) }
    }
}

impl<R: Registers> Block for LookedUp<R> {
    #[inline(always)]
    fn class(&self, set: Set) -> u64 {
        let long = if self.high { Self::any(self.long, set) } else { 0 };
        let (any, other) = (|kinds| Self::any(self.kinds, kinds), |kinds| Self::any(self.contractions, kinds));
        long | nibbles::class(set, self.small, any, other)
    }

    #[inline(always)]
    fn special(&self, what: u8) -> u64 {
        nibbles::special(what, |kinds| Self::any(self.kinds, kinds), |kinds| Self::any(self.contractions, kinds))
    }

    #[inline(always)]
    fn bytes(&self, byte: u8) -> u64 {
        self.bytes.equal(byte)
    }
}

/// That the instructions of a tier do what is said of them, byte by byte.
#[cfg(test)]
pub(super) fn check<R: Registers>() {
    let bits_of = |holds: &dyn Fn(usize) -> bool| (0..64).fold(0, |mask, i| mask | u64::from(holds(i)) << i);
    let low: [u8; 16] = std::array::from_fn(|i| 0x9D_u8.rotate_left(i as u32));
    let high: [u8; 16] = std::array::from_fn(|i| 0xFF - 13 * i as u8);
    for first in 0..=u8::MAX {
        let bytes: [u8; 64] = std::array::from_fn(|i| first.wrapping_add(37_u8.wrapping_mul(i as u8)));
        let registers = R::load(&bytes);
        let found = registers.look_up(R::table(&low), R::table(&high));
        let looked_up = bytes.map(|byte| match byte {
            0x80.. => 0,
            _ => low[usize::from(byte & 0xF)] & high[usize::from(byte >> 4)],
        });
        for value in 0..=u8::MAX {
            assert_eq!(registers.equal(value), bits_of(&|i| bytes[i] == value), "{value} of {bytes:?}");
            assert_eq!(found.equal(value), bits_of(&|i| looked_up[i] == value), "{value} looked up of {bytes:?}");
            if value != 0 {
                assert_eq!(registers.any(value), bits_of(&|i| bytes[i] & value != 0), "bits {value} of {bytes:?}");
            }
        }
    }
}
