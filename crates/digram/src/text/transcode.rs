//! Code points of a fixed width -> UTF-8.

use super::vectors;

/// One code point, or half of a pair of surrogates.
pub(super) trait Unit: Copy + Into<u32> + vectors::Load {
    /// The most bytes that one has in UTF-8.
    const MOST: usize;
}

impl Unit for u8 {
    const MOST: usize = 2;
}

impl Unit for u16 {
    const MOST: usize = 3;
}

impl Unit for u32 {
    const MOST: usize = 4;
}

/// Units that are looked at together.
const BLOCK: usize = 32;

/// Appends the UTF-8 of `units`, pairs of surrogates joined; a lone one, and what is no code point, gives U+FFFD.
pub(super) fn append<T: Unit>(units: &[T], out: &mut Vec<u8>) {
    out.reserve(units.len() * T::MOST + vectors::SLACK);
    let mut at = 0;
    while at < units.len() {
        at = vectors::append(units, at, out);
        at = append_some(units, at, at + BLOCK, out);
    }
}

/// Appends the UTF-8 of the units from `at` to `end`, or to the end of a pair that begins before; returns where it stopped.
fn append_some<T: Unit>(units: &[T], mut at: usize, end: usize, out: &mut Vec<u8>) -> usize {
    let end = end.min(units.len());
    if let Some(block) = units.get(at..end).filter(|block| block.iter().all(|&unit| unit.into() < 0x80)) {
        out.extend(block.iter().map(|&unit| unit.into() as u8));
        return end;
    }
    while at < end {
        let unit: u32 = units[at].into();
        at += 1;
        if unit < 0x80 {
            out.push(unit as u8);
        } else if unit < 0x800 {
            out.extend_from_slice(&[0xC0 | (unit >> 6) as u8, 0x80 | (unit & 0x3F) as u8]);
        } else {
            let mut character = char::from_u32(unit);
            if (0xD800..0xDC00).contains(&unit)
                && let Some(low) = units.get(at).map(|&low| low.into()).filter(|low| (0xDC00..0xE000).contains(low))
            {
                character = char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
                at += 1;
            }
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By way of UTF-16, as `str.encode("utf-16", "surrogatepass").decode("utf-16", "replace")` does it.
    fn naive<T: Unit>(units: &[T]) -> String {
        let mut halves = Vec::new();
        for &unit in units {
            match unit.into() {
                unit @ 0..0x10000 => halves.push(unit as u16),
                unit => {
                    let character = char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
                    halves.extend_from_slice(character.encode_utf16(&mut [0; 2]));
                }
            }
        }
        String::from_utf16_lossy(&halves)
    }

    fn check<T: Unit + std::fmt::Debug>(units: &[T]) {
        let want = naive(units);
        let mut out = b"before".to_vec();
        append(units, &mut out);
        assert_eq!(&out[..6], b"before");
        assert_eq!(str::from_utf8(&out[6..]), Ok(&*want), "{units:x?}");
        let mut plain = Vec::new();
        let mut at = 0;
        while at < units.len() {
            at = append_some(units, at, at + 1, &mut plain);
        }
        assert_eq!(str::from_utf8(&plain), Ok(&*want), "{units:x?}, unit by unit");
    }

    /// Runs of units of one kind, so that whole blocks are of it, and edges between kinds fall everywhere.
    fn runs(kinds: &'static [std::ops::Range<u32>]) -> impl Strategy<Value = Vec<u32>> {
        let kind = prop::sample::select(kinds);
        let run = kind.prop_flat_map(|kind| prop::collection::vec(kind, 0..80));
        prop::collection::vec(run, 0..6).prop_map(|runs| runs.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn one_byte_units(units in runs(&[0..0x80, 0x80..0x100, 0..0x100])) {
            check(&units.iter().map(|&unit| unit as u8).collect::<Vec<_>>());
        }

        #[test]
        fn two_byte_units(
            units in runs(&[0..0x80, 0x80..0x800, 0x800..0xD800, 0xD800..0xDC00, 0xDC00..0xE000, 0xD7F0..0xE010, 0..0x10000])
        ) {
            check(&units.iter().map(|&unit| unit as u16).collect::<Vec<_>>());
        }

        #[test]
        fn four_byte_units(
            units in runs(&[0..0x80, 0x80..0x800, 0x800..0xD800, 0xD7FF..0xE000, 0x10000..0x110000, 0..0x120000, 0..u32::MAX])
        ) {
            check(&units);
        }
    }

    #[test]
    fn every_code_point_and_every_edge() {
        let all: Vec<u32> = (0..0x11_0010).collect();
        check(&all);
        check(&all[..0x10000].iter().map(|&unit| unit as u16).collect::<Vec<_>>());
        for edge in [0_u32, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFF] {
            for length in [1, 15, 16, 17, 31, 32, 33, 64, 65] {
                check(&vec![edge as u16; length]);
                check(&vec![edge; length]);
            }
        }
        check(&[0x10FFFF_u32; 33]);
        check(&[0x110000_u32; 33]);
        check::<u16>(&[0xD83D, 0xDC4D].repeat(33));
        check::<u16>(&[0xDC4D, 0xD83D].repeat(33));
    }
}
