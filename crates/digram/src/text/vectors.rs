//! Blocks of code points -> UTF-8 by AVX-512: each code point is put into a lane of its own with room for all of its bytes,
//! and the bytes that are not taken are squeezed out (`vpcompressb`).
//!
//! The method is that of simdutf (Lemire, Keiser: "Transcoding Billions of Unicode Characters per Second with SIMD
//! Instructions", 2022, and its AVX-512 kernels by Clausecker).
#![allow(unsafe_code)] // vectors are loaded from and stored to memory by pointers

use super::transcode::Unit;

/// Bytes behind the last one that may be written to.
pub(super) const SLACK: usize = 64;

/// Appends the UTF-8 of the units from `at` on, as far as whole blocks go in which there is no surrogate; returns how far.
/// Room for all of it, and `SLACK`, must be reserved.
pub(super) fn append<T: Unit>(units: &[T], at: usize, out: &mut Vec<u8>) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vbmi2") {
        // SAFETY: the features are there.
        return unsafe { x86::append(units, at, out) };
    }
    let _ = (units, out);
    at
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{SLACK, Unit};
    use crate::prefetch::prefetch;
    use std::arch::x86_64::*;

    /// Code points in one block.
    const BLOCK: usize = 32;

    /// Code points from a block to those that are asked for meanwhile.
    const SOON: usize = 1024;

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    pub fn append<T: Unit>(units: &[T], mut at: usize, out: &mut Vec<u8>) -> usize {
        while let Some(block) = units[at..].first_chunk::<BLOCK>() {
            if let Some(unit) = units.get(at + SOON) {
                prefetch(unit);
            }
            // A block has at most 128 bytes and is written in stores of 64; a check that is nearly free.
            if out.capacity() - out.len() < BLOCK * T::MOST + SLACK {
                break;
            }
            let length = out.len();
            // SAFETY: so many bytes of the capacity are free.
            let end = unsafe { T::store_block(block, out.as_mut_ptr().add(length)) };
            let Some(written) = end else { break };
            // SAFETY: they have been written.
            unsafe { out.set_len(length + written) };
            at += BLOCK;
        }
        at
    }

    /// How a block of units is written.
    pub trait Load: Sized {
        /// Writes the UTF-8 of a block to `out` and says how many bytes it has; None where a unit is no character.
        ///
        /// # Safety
        /// The features of `append` are there, and `out` is valid for writes of `BLOCK * MOST + SLACK` bytes.
        unsafe fn store_block(block: &[Self; BLOCK], out: *mut u8) -> Option<usize>;
    }

    impl Load for u8 {
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
        unsafe fn store_block(block: &[Self; BLOCK], out: *mut u8) -> Option<usize> {
            // SAFETY: a block has 32 bytes.
            let bytes = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
            // SAFETY: as of this function.
            unsafe { store_16(_mm512_cvtepu8_epi16(bytes), out) }
        }
    }

    impl Load for u16 {
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
        unsafe fn store_block(block: &[Self; BLOCK], out: *mut u8) -> Option<usize> {
            // SAFETY: a block has 64 bytes.
            let lanes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
            // SAFETY: as of this function.
            unsafe { store_16(lanes, out) }
        }
    }

    impl Load for u32 {
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
        unsafe fn store_block(block: &[Self; BLOCK], out: *mut u8) -> Option<usize> {
            let pointer = block.as_ptr();
            // SAFETY: a block has 128 bytes; the first half writes 64 bytes at most and moves on by no more.
            unsafe {
                let (first, second) = (_mm512_loadu_si512(pointer.cast()), _mm512_loadu_si512(pointer.add(16).cast()));
                if no_characters(first) | no_characters(second) != 0 {
                    return None;
                }
                let written = store_32(first, out);
                Some(written + store_32(second, out.add(written)))
            }
        }
    }

    /// The lanes that are surrogates or beyond the last code point.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn no_characters(lanes: __m512i) -> u16 {
        let high = _mm512_and_si512(lanes, _mm512_set1_epi32(!0x7FF));
        _mm512_cmpeq_epi32_mask(high, _mm512_set1_epi32(0xD800))
            | _mm512_cmpgt_epu32_mask(lanes, _mm512_set1_epi32(0x10FFFF))
    }

    /// Writes 32 code points in lanes of 16 bits.
    ///
    /// # Safety
    /// As of `Load::store_block`, with three bytes a code point.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    unsafe fn store_16(lanes: __m512i, out: *mut u8) -> Option<usize> {
        let two = _mm512_cmpge_epu16_mask(lanes, _mm512_set1_epi16(0x80));
        if two == 0 {
            // SAFETY: 32 bytes.
            unsafe { _mm256_storeu_si256(out.cast(), _mm512_cvtepi16_epi8(lanes)) };
            return Some(BLOCK);
        }
        if _mm512_cmpge_epu16_mask(lanes, _mm512_set1_epi16(0x800)) == 0 {
            let low = _mm512_slli_epi16::<8>(_mm512_and_si512(lanes, _mm512_set1_epi16(0x3F)));
            let both = _mm512_or_si512(_mm512_srli_epi16::<6>(lanes), low);
            let both = _mm512_or_si512(both, _mm512_set1_epi16(0x80C0_u16 as i16));
            let bytes = _mm512_mask_mov_epi16(lanes, two, both);
            // All low bytes are taken, and the high ones of two.
            let taken = _mm512_movepi8_mask(_mm512_or_si512(
                _mm512_set1_epi16(0x00FF),
                _mm512_maskz_mov_epi16(two, _mm512_set1_epi16(-1)),
            ));
            // SAFETY: 64 bytes.
            unsafe { _mm512_storeu_si512(out.cast(), _mm512_maskz_compress_epi8(taken, bytes)) };
            return Some(taken.count_ones() as usize);
        }
        let high = _mm512_and_si512(lanes, _mm512_set1_epi16(!0x7FF));
        if _mm512_cmpeq_epi16_mask(high, _mm512_set1_epi16(0xD800_u16 as i16)) != 0 {
            return None;
        }
        let first = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(lanes));
        let second = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(lanes));
        // SAFETY: each writes 64 bytes, the second not more than 48 behind the first.
        unsafe {
            let written = store_32(first, out);
            Some(written + store_32(second, out.add(written)))
        }
    }

    /// Writes 16 characters in lanes of 32 bits; returns how many bytes they have.
    ///
    /// # Safety
    /// The features are there, and `out` is valid for writes of 64 bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    unsafe fn store_32(lanes: __m512i, out: *mut u8) -> usize {
        let all = |n: u32| _mm512_set1_epi32(n as i32);
        let or3 = |a, b, c| _mm512_ternarylogic_epi32::<0xFE>(a, b, c);
        let two = _mm512_cmpge_epu32_mask(lanes, all(0x80));
        let three = _mm512_cmpge_epu32_mask(lanes, all(0x800));
        let four = _mm512_cmpge_epu32_mask(lanes, all(0x10000));
        // Six bits each, from the last on.
        let bits = all(0x3F);
        let (d, c) = (_mm512_and_si512(lanes, bits), _mm512_srli_epi32::<6>(lanes));
        let b = _mm512_srli_epi32::<12>(lanes);
        let of_two = or3(c, _mm512_slli_epi32::<8>(d), all(0x80C0));
        let c = _mm512_and_si512(c, bits);
        let of_three = _mm512_or_si512(or3(b, _mm512_slli_epi32::<8>(c), _mm512_slli_epi32::<16>(d)), all(0x0080_80E0));
        let mut bytes = _mm512_mask_mov_epi32(lanes, two, of_two);
        bytes = _mm512_mask_mov_epi32(bytes, three, of_three);
        let mut taken = _mm512_mask_mov_epi32(all(0xFF), two, all(0xFFFF));
        taken = _mm512_mask_mov_epi32(taken, three, all(0x00FF_FFFF));
        if four != 0 {
            let b = _mm512_slli_epi32::<8>(_mm512_and_si512(b, bits));
            let a = _mm512_or_si512(_mm512_srli_epi32::<18>(lanes), all(0x8080_80F0));
            let of_four = or3(or3(a, b, _mm512_slli_epi32::<16>(c)), _mm512_slli_epi32::<24>(d), all(0));
            bytes = _mm512_mask_mov_epi32(bytes, four, of_four);
            taken = _mm512_mask_mov_epi32(taken, four, all(u32::MAX));
        }
        let taken = _mm512_movepi8_mask(taken);
        // SAFETY: 64 bytes.
        unsafe { _mm512_storeu_si512(out.cast(), _mm512_maskz_compress_epi8(taken, bytes)) };
        taken.count_ones() as usize
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::Load;

/// Units that have no vectors here.
#[cfg(not(target_arch = "x86_64"))]
pub(super) trait Load {}

#[cfg(not(target_arch = "x86_64"))]
impl<T> Load for T {}
