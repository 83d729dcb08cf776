//! Blocks by AVX-512, with the byte permutations of VBMI and VBMI2: one register a block.
#![allow(unsafe_code, reason = "loads, look-ups and stores by vectors go by pointers")]

use super::Family;
use super::algebra::{Block, Shape};
use super::drive::{self, Engine, Request};
use super::tables::Tables;
use crate::split::unicode::Set;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Whether this processor has the instructions.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
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

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn by_family<const FAMILY: u8>(request: Request, from: usize, ends: &mut Vec<usize>) {
    let engine = Avx512::new(request.tables, &request.tables.specials[request.rules.contraction as usize]);
    drive::next_ends::<FAMILY, _>(engine, request, from, ends);
}

#[derive(Clone, Copy)]
struct Avx512 {
    tables: &'static Tables,
    classes: [__m512i; 2],
    specials: [__m512i; 2],
}

#[derive(Clone, Copy)]
struct Register {
    bytes: __m512i,
    classes: __m512i,
    specials: __m512i,
}

impl Engine for Avx512 {
    type Block = Register;

    #[inline(always)]
    fn block(self, text: &[u8], at: usize) -> (Register, Shape) {
        // SAFETY: the instructions are there: see `next_ends`.
        unsafe { self.load(text, at) }
    }

    #[inline(always)]
    fn write(self, bits: u64, base: usize, out: &mut [MaybeUninit<usize>; 64]) {
        // SAFETY: the instructions are there: see `next_ends`.
        unsafe { write(bits, base, out) }
    }
}

impl Block for Register {
    #[inline(always)]
    fn class(&self, set: Set) -> u64 {
        // SAFETY: the instructions are there: see `next_ends`.
        unsafe { test(self.classes, set) }
    }

    #[inline(always)]
    fn special(&self, what: u8) -> u64 {
        // SAFETY: the instructions are there: see `next_ends`.
        unsafe { test(self.specials, what) }
    }

    #[inline(always)]
    fn bytes(&self, byte: u8) -> u64 {
        // SAFETY: the instructions are there: see `next_ends`.
        unsafe { equal(self.bytes, byte) }
    }
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn test(bytes: __m512i, bits: u8) -> u64 {
    _mm512_test_epi8_mask(bytes, _mm512_set1_epi8(bits as i8))
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8))
}

/// The numbers 0 to 63.
#[inline]
#[target_feature(enable = "avx512f")]
fn counting() -> __m512i {
    const COUNTING: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut i = 0;
        while i < 64 {
            bytes[i] = i as u8;
            i += 1;
        }
        bytes
    };
    load(&COUNTING)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes are there.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn write(bits: u64, base: usize, out: &mut [MaybeUninit<usize>; 64]) {
    const { assert!(size_of::<usize>() == 8) };
    let mut places = _mm512_maskz_compress_epi8(bits, counting());
    let base = _mm512_set1_epi64(base as i64);
    let mut left = bits.count_ones();
    for eight in out.as_chunks_mut::<8>().0 {
        let wide = _mm512_add_epi64(_mm512_cvtepu8_epi64(_mm512_castsi512_si128(places)), base);
        // SAFETY: eight numbers of 64 bits have room.
        unsafe { _mm512_storeu_si512(eight.as_mut_ptr().cast(), wide) };
        if left <= 8 {
            break;
        }
        left -= 8;
        // The next eight bytes to the front: of the eight numbers that the register also is, the next.
        places = _mm512_alignr_epi64::<1>(places, places);
    }
}

impl Avx512 {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(tables: &'static Tables, specials: &'static [u8; 128]) -> Self {
        let halves = |table: &[u8; 128]| {
            let (halves, _) = table.as_chunks::<64>();
            [load(&halves[0]), load(&halves[1])]
        };
        Avx512 { tables, classes: halves(&tables.classes), specials: halves(specials) }
    }

    /// See [`Engine::block`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
    fn load(self, text: &[u8], at: usize) -> (Register, Shape) {
        let left = &text[at..];
        let bytes = match left.first_chunk() {
            Some(chunk) => load(chunk),
            // SAFETY: nothing is read but the bytes of `left`, which the mask names.
            None => unsafe { _mm512_maskz_loadu_epi8((1 << left.len()) - 1, left.as_ptr().cast()) },
        };
        let high = _mm512_movepi8_mask(bytes);
        let [low, up] = self.specials;
        let specials = _mm512_maskz_permutex2var_epi8(!high, low, bytes, up);
        let [low, up] = self.classes;
        let mut classes = _mm512_maskz_permutex2var_epi8(!high, low, bytes, up);
        let shape = if high == 0 {
            Shape::new(text, at, 0, 0)
        } else {
            let inner = _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(-64));
            let shape = Shape::new(text, at, high, inner);
            let long = shape.high & !shape.inner;
            classes = _mm512_mask_expand_epi8(classes, long, self.long_classes(bytes, long));
            shape
        };
        (Register { bytes, classes, specials }, shape)
    }

    /// The classes of the characters that begin at the bits of `long`, one byte each, of which there are 32 at most.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
    fn long_classes(self, bytes: __m512i, long: u64) -> __m512i {
        let places = _mm512_maskz_compress_epi8(long, counting());
        let first = self.sixteen(bytes, places);
        let second = if long.count_ones() > 16 {
            self.sixteen(bytes, _mm512_alignr_epi64::<2>(places, places))
        } else {
            _mm_setzero_si128()
        };
        _mm512_castsi256_si512(_mm256_set_m128i(second, first))
    }

    /// The classes of the characters that begin at the first sixteen of `places`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
    fn sixteen(self, bytes: __m512i, places: __m512i) -> __m128i {
        // The four bytes from each place on, the first of them on top.
        let places = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
        let four = _mm512_shuffle_epi8(places, _mm512_set4_epi32(0x0C0C_0C0C, 0x0808_0808, 0x0404_0404, 0));
        let four = _mm512_add_epi8(four, _mm512_set1_epi32(0x0001_0203));
        let four = _mm512_permutexvar_epi8(four, bytes);
        // Those of the character, its last one at the bottom.
        let three = _mm512_cmpge_epu32_mask(four, _mm512_set1_epi32(0xE000_0000_u32 as i32));
        let all = _mm512_cmpge_epu32_mask(four, _mm512_set1_epi32(0xF000_0000_u32 as i32));
        let shift = _mm512_mask_mov_epi32(_mm512_set1_epi32(16), three, _mm512_set1_epi32(8));
        let shift = _mm512_mask_mov_epi32(shift, all, _mm512_setzero_si512());
        let own = _mm512_and_si512(_mm512_srlv_epi32(four, shift), _mm512_set1_epi32(0x3F3F_3F3F));
        // Six bits of each to twelve, twelve to twenty-four; what the first byte has too much is above the code point.
        let pairs = _mm512_maddubs_epi16(own, _mm512_set1_epi16(0x4001));
        let code_points = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x1000_0001));
        let most = _mm512_mask_mov_epi32(_mm512_set1_epi32(0xFFFF), all, _mm512_set1_epi32(0x1F_FFFF));
        let code_points = _mm512_and_si512(code_points, most);
        let code_points = _mm512_min_epu32(code_points, _mm512_set1_epi32(0x10_FFFF));
        // SAFETY: four bytes are read from each code point on, which is at most 0x10FFFF; the table is that long.
        let found = unsafe { _mm512_i32gather_epi32::<1>(code_points, self.tables.flat.as_ptr().cast()) };
        _mm512_cvtepi32_epi8(found)
    }
}
