//! Ends of the parts into which a piece of any length is cut, so that most of them have been met before.
//!
//! Any place that [`Joints`] allows would do. Wanted are few parts that come again and again: words, each with the
//! spaces before it, and what stands between words. So the places looked at are those where a run of letters or of
//! spaces begins or ends, found 64 bytes at a time as bits of masks. A part that is longer than the bytes of a key is
//! cut wherever it may be, and so is one with characters of three bytes or more, which mostly are written without
//! spaces between words.

use super::key::LONGEST;
use crate::vocabulary::Joints;

/// Parts that are asked for at a time, about.
const AT_ONCE: usize = 256;

/// Bytes without a cut where words end, after which any cut is taken.
const FARTHEST: usize = 1 << 14;

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// One bit a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Masks {
    spaces: u64,
    /// ASCII letters, and all bytes of other characters.
    letters: u64,
    /// First bytes of characters of three bytes or more.
    wide: u64,
}

/// A byte in every place of a word.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Eight bytes at a time, in words: in each byte the highest bit is what counts.
fn masks(block: &[u8; BLOCK]) -> Masks {
    let mut masks = Masks::default();
    for (i, bytes) in block.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*bytes);
        // The highest bits side by side: bit 8i comes to 56 + i, and no other sum gets there.
        let bits = |word: u64| (word >> 7 & each(1)).wrapping_mul(0x0102_0408_1020_4080) >> 56 << (8 * i);
        let other = word ^ each(b' ');
        masks.spaces |= bits(!(((other & each(0x7F)) + each(0x7F)) | other));
        let lower = (word | each(0x20)) & each(0x7F);
        let letters = (lower + each(0x80 - b'a')) & !(lower + each(0x7F - b'z'));
        masks.letters |= bits(letters | word);
        masks.wide |= bits(word & word << 1 & word << 2);
    }
    masks
}

/// The parts of a text from a place on.
struct Parts<'a> {
    joints: &'a Joints,
    text: &'a [u8],
    /// Where the part begins that is being looked at.
    start: usize,
    /// There is no cut in it up to this character.
    looked: usize,
    ends: &'a mut Vec<usize>,
}

impl Parts<'_> {
    fn end(&mut self, end: usize, wide: bool) {
        if end - self.start > LONGEST || wide {
            self.cut_up_to(end);
        }
        self.ends.push(end);
        (self.start, self.looked) = (end, end);
    }

    /// Cuts the part wherever it may be, before byte `limit`.
    fn cut_up_to(&mut self, limit: usize) {
        let before = &self.text[..limit];
        loop {
            let cut = self.joints.next_cut(before, self.looked);
            if cut == limit {
                return;
            }
            self.ends.push(cut);
            (self.start, self.looked) = (cut, cut);
        }
    }

    /// Cuts a part that has become long without an end, before byte `limit` or some bytes less.
    fn cut_far(&mut self, limit: usize) {
        let first_byte = |from: usize| (from.saturating_sub(4)..from).rev().find(|&at| self.text[at] & 0xC0 != 0x80);
        // The last two characters, whole or not, are looked at again.
        let limit = first_byte(limit).filter(|&at| at > self.looked).unwrap_or(self.looked);
        let last = first_byte(limit).filter(|&at| at > self.looked);
        if let Some(last) = last {
            self.cut_up_to(limit);
            self.looked = last;
        }
    }
}

/// Appends to `ends` where the next parts of `text` end, of those from byte `from` on, where one begins: some hundreds, at
/// least one. Bytes outside any character are allowed.
pub(super) fn next_ends(joints: &Joints, text: &[u8], from: usize, ends: &mut Vec<usize>) {
    let enough = ends.len() + AT_ONCE;
    let mut parts = Parts { joints, text, start: from, looked: from, ends };
    // Of the byte before a block, and of the part up to it. Before the first byte is no end.
    let (mut after_space, mut after_letter, mut wide) = (1, 0, false);
    let mut base = from;
    while base < text.len() {
        let (block, masks) = match text[base..].first_chunk::<BLOCK>() {
            Some(block) => (BLOCK, masks(block)),
            None => {
                let rest = &text[base..];
                let mut padded = [0; BLOCK];
                padded[..rest.len()].copy_from_slice(rest);
                (rest.len(), masks(&padded))
            }
        };
        let Masks { spaces, letters, wide: mut wide_here } = masks;
        let edges = (spaces | (letters ^ (letters << 1 | after_letter))) & !(spaces << 1 | after_space);
        let mut edges = edges & u64::MAX >> (BLOCK - block);
        while edges != 0 {
            let at = edges.trailing_zeros();
            edges &= edges - 1;
            let place = base + at as usize;
            if joints.is_cut_at(text, place) {
                let before = (1 << at) - 1;
                parts.end(place, wide || wide_here & before != 0);
                (wide, wide_here) = (false, wide_here & !before);
            }
        }
        wide |= wide_here != 0;
        (after_space, after_letter) = (spaces >> 63, letters >> 63);
        base += block;
        if parts.ends.len() >= enough {
            return;
        }
        if base - parts.looked > FARTHEST && base < text.len() {
            parts.cut_far(base);
        }
    }
    parts.end(text.len(), wide);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Vocabulary;
    use proptest::prelude::*;

    fn parts<'t>(joints: &Joints, text: &'t str) -> Vec<&'t str> {
        let (mut ends, mut at) = (Vec::new(), 0);
        while at < text.len() {
            next_ends(joints, text.as_bytes(), at, &mut ends);
            at = *ends.last().expect("at least one");
        }
        ends.iter().scan(0, |from, &end| Some(&text[std::mem::replace(from, end)..end])).collect()
    }

    /// Bytes, and these tokens.
    fn vocabulary(tokens: &[&str]) -> Vocabulary {
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
        let all = bytes.iter().map(<[u8; 1]>::as_slice).chain(tokens.iter().map(|token| token.as_bytes()));
        let ranked: Vec<(&[u8], u32)> = all.zip(0..).collect();
        Vocabulary::from_ranks(&ranked, &[], None).unwrap()
    }

    #[test]
    fn words_are_parts() {
        let vocabulary = vocabulary(&["ab", " a", "  ", "b.", "é中", "中\u{e4}"]);
        let joints = vocabulary.joints();
        assert_eq!(parts(joints, "ab abb  ab, 12 x.\n\na"), ["ab", " abb", "  ab", ",", " 12", " x", ".\n\n", "a"]);
        assert_eq!(parts(joints, "ab. éé中"), ["ab.", " ", "é", "é", "中"], "b. is a token");
        assert_eq!(parts(joints, &"a".repeat(LONGEST)).len(), 1);
        assert_eq!(parts(joints, &"a".repeat(LONGEST + 1)).len(), LONGEST + 1);
        assert_eq!(parts(joints, &"ab".repeat(LONGEST)).len(), LONGEST);
    }

    #[test]
    fn long_runs_are_cut_in_time() {
        let vocabulary = vocabulary(&["ab", "ba"]);
        for (run, count) in [("ab", 1), ("中", 300_000), ("é", 300_000)] {
            let text = run.repeat(300_000);
            let started = std::time::Instant::now();
            assert_eq!(parts(vocabulary.joints(), &text).len(), count);
            assert!(started.elapsed().as_secs() < 5, "not in the square of the length");
            let mut ends = Vec::new();
            next_ends(vocabulary.joints(), text.as_bytes(), 0, &mut ends);
            assert!(count == 1 || ends.len() < FARTHEST, "some hundreds at a time");
        }
    }

    proptest! {
        #[test]
        fn masks_are_those_of_bytes(block: [u8; 32], other in "[ a-c.é中]{0,32}") {
            let mut all = [b' '; BLOCK];
            all[..32].copy_from_slice(&block);
            all[32..].iter_mut().zip(other.as_bytes()).for_each(|(slot, &byte)| *slot = byte);
            let mut plain = Masks::default();
            for (i, byte) in all.into_iter().enumerate() {
                plain.spaces |= u64::from(byte == b' ') << i;
                plain.letters |= u64::from(byte.is_ascii_alphabetic() || byte >= 0x80) << i;
                plain.wide |= u64::from(byte >= 0xE0) << i;
            }
            prop_assert_eq!(masks(&all), plain);
        }

        /// Each end is a cut, whatever stands there, and all words end where they may.
        #[test]
        fn ends_are_cuts(bytes in prop::collection::vec(prop_oneof![
            6 => prop::sample::select(vec!["a", "b", " ", "  ", ".", "1", "é", "中", "😀", "abababababababab"]).prop_map(|s| s.as_bytes().to_vec()),
            1 => any::<u8>().prop_map(|byte| vec![byte]),
        ], 0..200)) {
            let vocabulary = vocabulary(&["ab", "ba", " a", "b.", "é中"]);
            let joints = vocabulary.joints();
            let text = bytes.concat();
            let (mut ends, mut at) = (Vec::new(), 0);
            while at < text.len() {
                let before = ends.len();
                next_ends(joints, &text, at, &mut ends);
                prop_assert!(ends.len() > before && ends[before..].windows(2).all(|two| two[0] < two[1]) && ends[before] > at);
                at = ends[ends.len() - 1];
            }
            prop_assert_eq!(at, text.len());
            for &end in ends.iter().filter(|&&end| end < text.len()) {
                prop_assert!(joints.is_cut_at(&text, end));
            }
            let from = |end: usize| ends.iter().rev().find(|&&other| other < end).copied().unwrap_or(0);
            for &end in &ends {
                let part = &text[from(end)..end];
                prop_assert!(part.len() <= LONGEST || joints.next_cut(part, 0) == part.len(), "{:?}", part);
            }
        }
    }
}
