//! Blocks by AVX2: two registers a block, ASCII classes by two look-ups of half a byte.
#![allow(unsafe_code, reason = "the instructions are known to be there only at run time")]

use super::Family;
use super::algebra::{Block, Shape};
use super::drive::{self, Engine, Request};
use super::long::{chunk_at, long_classes};
use super::nibbles::{self, Nibbles};
use super::portable::write_by_eight;
use super::tables::Tables;
use crate::split::unicode::Set;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Whether this processor has the instructions.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// See [`super::next_ends`]. The instructions are there.
pub(super) fn next_ends(request: Request, from: usize, ends: &mut Vec<usize>) {
    debug_assert!(is_available());
    // SAFETY: this tier is chosen only where `is_available`.
    unsafe { drive::for_family!(by_family, request, from, ends) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn by_family<const FAMILY: u8>(request: Request, from: usize, ends: &mut Vec<usize>) {
    let contractions = &nibbles::CONTRACTIONS[request.rules.contraction as usize];
    let engine = Avx2 { tables: request.tables, kinds: pair(&nibbles::KINDS), contractions: pair(contractions) };
    drive::next_ends::<FAMILY, _>(engine, request, from, ends);
}

#[derive(Clone, Copy)]
struct Avx2 {
    tables: &'static Tables,
    kinds: [__m256i; 2],
    contractions: [__m256i; 2],
}

#[derive(Clone, Copy)]
struct Registers {
    bytes: [__m256i; 2],
    kinds: [__m256i; 2],
    contractions: [__m256i; 2],
    /// Bit 5 of each byte, which lower-case letters have and capitals have not.
    small: u64,
    /// Whether there are longer characters, and their classes.
    high: bool,
    long: [__m256i; 2],
}

impl Engine for Avx2 {
    type Block = Registers;

    #[inline(always)]
    fn block(self, text: &[u8], at: usize) -> (Registers, Shape) {
        // SAFETY: the instructions are there: see `next_ends`.
        unsafe { self.load(text, at) }
    }

    #[inline(always)]
    fn write(self, bits: u64, base: usize, out: &mut [MaybeUninit<usize>; 64]) {
        write_by_eight(bits, base, out);
    }
}

impl Block for Registers {
    #[inline(always)]
    fn class(&self, set: Set) -> u64 {
        // SAFETY: the instructions are there: see `next_ends`.
        let any = |bytes, bits| unsafe { any(bytes, bits) };
        let long = if self.high { any(self.long, set) } else { 0 };
        long | nibbles::class(set, self.small, |kinds| any(self.kinds, kinds), |kinds| any(self.contractions, kinds))
    }

    #[inline(always)]
    fn special(&self, what: u8) -> u64 {
        // SAFETY: the instructions are there: see `next_ends`.
        let any = |bytes, bits| unsafe { any(bytes, bits) };
        nibbles::special(what, |kinds| any(self.kinds, kinds), |kinds| any(self.contractions, kinds))
    }

    #[inline(always)]
    fn bytes(&self, byte: u8) -> u64 {
        // SAFETY: the instructions are there: see `next_ends`.
        unsafe { equal(self.bytes, byte) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn pair(nibbles: &Nibbles) -> [__m256i; 2] {
    [nibbles.low, nibbles.high].map(|table| {
        // SAFETY: sixteen bytes are there.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
    })
}

#[inline]
#[target_feature(enable = "avx2")]
fn two(bytes: &[u8; 64]) -> [__m256i; 2] {
    // SAFETY: 64 bytes are there.
    unsafe { [_mm256_loadu_si256(bytes.as_ptr().cast()), _mm256_loadu_si256(bytes.as_ptr().add(32).cast())] }
}

/// The highest bit of each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn tops(bytes: [__m256i; 2]) -> u64 {
    let [low, high] = bytes.map(|half| u64::from(_mm256_movemask_epi8(half) as u32));
    low | high << 32
}

/// The bytes that have any of these bits.
#[inline]
#[target_feature(enable = "avx2")]
fn any(bytes: [__m256i; 2], bits: u8) -> u64 {
    if bits == 0 {
        return 0;
    }
    if bits.count_ones() == 1 {
        // The bit to the top of its byte.
        let count = _mm_cvtsi32_si128(7 - bits.trailing_zeros() as i32);
        return tops(bytes.map(|half| _mm256_sll_epi16(half, count)));
    }
    let none = |half| _mm256_cmpeq_epi8(_mm256_and_si256(half, _mm256_set1_epi8(bits as i8)), _mm256_setzero_si256());
    !tops([none(bytes[0]), none(bytes[1])])
}

#[inline]
#[target_feature(enable = "avx2")]
fn equal(bytes: [__m256i; 2], byte: u8) -> u64 {
    let byte = _mm256_set1_epi8(byte as i8);
    tops([_mm256_cmpeq_epi8(bytes[0], byte), _mm256_cmpeq_epi8(bytes[1], byte)])
}

impl Avx2 {
    /// See [`Engine::block`].
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(self, text: &[u8], at: usize) -> (Registers, Shape) {
        let mut rest = [0; 64];
        let chunk = chunk_at(text, at, &mut rest);
        let bytes = two(chunk);
        let look_up = |[low, high]: [__m256i; 2], half| {
            // The index of a byte from 0x80 on has its highest bit set, which gives 0.
            let row = _mm256_and_si256(_mm256_srli_epi16(half, 4), _mm256_set1_epi8(0xF));
            _mm256_and_si256(_mm256_shuffle_epi8(low, half), _mm256_shuffle_epi8(high, row))
        };
        let kinds = [look_up(self.kinds, bytes[0]), look_up(self.kinds, bytes[1])];
        let contractions = [look_up(self.contractions, bytes[0]), look_up(self.contractions, bytes[1])];
        let mut block = Registers {
            bytes,
            kinds,
            contractions,
            small: any(bytes, 1 << 5),
            high: false,
            long: [_mm256_setzero_si256(); 2],
        };
        let high = tops(bytes);
        if high == 0 {
            return (block, Shape::new(text, at, 0, 0));
        }
        let limit = _mm256_set1_epi8(-64);
        let inner = tops([_mm256_cmpgt_epi8(limit, bytes[0]), _mm256_cmpgt_epi8(limit, bytes[1])]);
        let shape = Shape::new(text, at, high, inner);
        block.high = true;
        block.long = two(&long_classes(self.tables, chunk, shape.high & !shape.inner));
        (block, shape)
    }
}
