//! Blocks by NEON: four registers a block. Every 64-bit ARM processor has it.
#![allow(unsafe_code, reason = "vectors are loaded by pointers")]

use super::Family;
use super::drive::{self, Request};
use super::registers::{ByNibbles, Registers};
use std::arch::aarch64::*;

/// See [`super::next_ends`].
pub(super) fn next_ends(request: Request, from: usize, ends: &mut Vec<usize>) {
    drive::for_family!(by_family, request, from, ends)
}

fn by_family<const FAMILY: u8>(request: Request, from: usize, ends: &mut Vec<usize>) {
    drive::next_ends::<FAMILY, _>(ByNibbles::<Neon>::new(&request), request, from, ends);
}

#[derive(Clone, Copy)]
struct Neon([uint8x16_t; 4]);

impl Registers for Neon {
    type Table = uint8x16_t;

    #[inline(always)]
    fn table(bytes: &[u8; 16]) -> uint8x16_t {
        // SAFETY: sixteen bytes are there.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        // SAFETY: 64 bytes are there.
        Self(std::array::from_fn(|i| unsafe { vld1q_u8(bytes.as_ptr().add(16 * i)) }))
    }

    #[inline(always)]
    fn look_up(self, low: uint8x16_t, high: uint8x16_t) -> Self {
        // SAFETY: every processor of this architecture has the instructions.
        Self(self.0.map(|part| unsafe {
            // An index of 16 or more gives 0.
            let column = vqtbl1q_u8(low, vandq_u8(part, vdupq_n_u8(0x8F)));
            vandq_u8(column, vqtbl1q_u8(high, vshrq_n_u8::<4>(part)))
        }))
    }

    #[inline(always)]
    fn any(self, bits: u8) -> u64 {
        // SAFETY: every processor of this architecture has the instructions.
        mask(self.0.map(|part| unsafe { vtstq_u8(part, vdupq_n_u8(bits)) }))
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: every processor of this architecture has the instructions.
        mask(self.0.map(|part| unsafe { vceqq_u8(part, vdupq_n_u8(byte)) }))
    }
}

/// A bit for each byte, of bytes that are 0 or 0xFF: each keeps the bit of its place among eight, and neighbours are added
/// three times. (NEON has no instruction that gathers bits; this way of doing it is well known.)
#[inline(always)]
fn mask(bytes: [uint8x16_t; 4]) -> u64 {
    const PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: sixteen bytes are there, and every processor of this architecture has the instructions.
    unsafe {
        let places = vld1q_u8(PLACES.as_ptr());
        let [a, b, c, d] = bytes.map(|part| vandq_u8(part, places));
        let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_their_bytes() {
        crate::split::masks::registers::check::<Neon>();
    }
}
