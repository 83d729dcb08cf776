//! Blocks by AVX2: two registers a block.
#![allow(unsafe_code, reason = "the instructions are known to be there only at run time")]

use super::Family;
use super::drive::{self, Request};
use super::registers::{ByNibbles, Registers};
use std::arch::x86_64::*;

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
    drive::next_ends::<FAMILY, _>(ByNibbles::<Avx2>::new(&request), request, from, ends);
}

/// Known here alone, and used where the instructions are there.
#[derive(Clone, Copy)]
struct Avx2([__m256i; 2]);

impl Registers for Avx2 {
    type Table = __m256i;

    #[inline(always)]
    fn table(bytes: &[u8; 16]) -> __m256i {
        // SAFETY: the instructions are there: see `next_ends`.
        unsafe { table(bytes) }
    }

    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        // SAFETY: the instructions are there: see `next_ends`.
        Self(unsafe { load(bytes) })
    }

    #[inline(always)]
    fn look_up(self, low: __m256i, high: __m256i) -> Self {
        // SAFETY: the instructions are there: see `next_ends`.
        Self(unsafe { look_up(self.0, low, high) })
    }

    #[inline(always)]
    fn any(self, bits: u8) -> u64 {
        // SAFETY: the instructions are there: see `next_ends`.
        unsafe { any(self.0, bits) }
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: the instructions are there: see `next_ends`.
        unsafe { equal(self.0, byte) }
    }
}

/// The same table in both halves of a register: each half is looked up in its own.
#[inline]
#[target_feature(enable = "avx2")]
fn table(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: sixteen bytes are there.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 64]) -> [__m256i; 2] {
    // SAFETY: 64 bytes are there.
    unsafe { [_mm256_loadu_si256(bytes.as_ptr().cast()), _mm256_loadu_si256(bytes.as_ptr().add(32).cast())] }
}

#[inline]
#[target_feature(enable = "avx2")]
fn look_up(bytes: [__m256i; 2], low: __m256i, high: __m256i) -> [__m256i; 2] {
    bytes.map(|half| {
        // The index of a byte from 0x80 on has its highest bit set, which gives 0.
        let row = _mm256_and_si256(_mm256_srli_epi16(half, 4), _mm256_set1_epi8(0xF));
        _mm256_and_si256(_mm256_shuffle_epi8(low, half), _mm256_shuffle_epi8(high, row))
    })
}

#[inline]
#[target_feature(enable = "avx2")]
fn any(bytes: [__m256i; 2], bits: u8) -> u64 {
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

/// The highest bit of each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn tops(bytes: [__m256i; 2]) -> u64 {
    let [low, high] = bytes.map(|half| u64::from(_mm256_movemask_epi8(half) as u32));
    low | high << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_their_bytes() {
        if is_available() {
            crate::split::masks::registers::check::<Avx2>();
        }
    }
}
