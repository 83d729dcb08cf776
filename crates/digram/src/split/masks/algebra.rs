//! From the masks of a block to the places where pieces begin.
//!
//! In all masks bit `i` stands for byte `i` of the block, and a character of several bytes has all its bits in the mask of
//! its class. So `mask << 1` is "the character before is one of these", at the first byte of a character.

use super::super::unicode::{LETTER, LOWER, MARK, NUMBER, SPACE, Set, UPPER};
use super::tables::special;
use super::{Contraction, Family, Rules};

/// A block of 64 bytes, or of what is left of a text.
pub(super) trait Block: Copy {
    /// The ASCII characters of these classes, and the first bytes of the longer characters of these classes.
    fn class(&self, set: Set) -> u64;
    /// The bytes that are one of these, see [`special`].
    fn special(&self, what: u8) -> u64;
    /// The bytes that are `byte`.
    fn bytes(&self, byte: u8) -> u64;
}

/// Where the characters of a block are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The bytes of the whole characters of the block: its first ones, at least one.
    pub valid: u64,
    /// Those of them that do not begin a character.
    pub inner: u64,
    /// Whether the text ends with these bytes.
    pub last: bool,
}

impl Shape {
    /// The first `len` bytes of a block that begins at byte `at` of `text`; `inner` are the bytes 0x80 to 0xBF.
    #[inline(always)]
    pub fn new(text: &[u8], at: usize, inner: u64) -> Self {
        let left = text.len() - at;
        if left < 64 {
            let valid = (1 << left) - 1;
            return Shape { valid, inner: inner & valid, last: true };
        }
        // A character that goes on behind the block is left to the next one.
        let cut = left > 64 && (text[at + 64] as i8) < -64;
        let valid = if cut { (1 << (63 - (!inner).leading_zeros())) - 1 } else { !0 };
        Shape { valid, inner: inner & valid, last: left == 64 }
    }

    /// The first bytes of its characters.
    #[inline(always)]
    fn firsts(self) -> u64 {
        self.valid & !self.inner
    }

    /// From first bytes to the first bytes of the characters behind them.
    #[inline(always)]
    fn behind(self, firsts: u64) -> u64 {
        if self.inner == 0 { firsts << 1 } else { (firsts << 1).wrapping_add(self.inner) & !self.inner }
    }

    /// From first bytes to all bytes of the characters.
    #[inline(always)]
    fn whole(self, firsts: u64) -> u64 {
        if self.inner == 0 { firsts } else { self.behind(firsts).wrapping_sub(firsts) }
    }
}

/// What came before a block that does not begin where a piece does, each 0 or 1: the last character belongs to a run that
/// the block may go on with. All 0 where the block begins where a piece does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carry {
    /// A letter.
    pub letter: u64,
    /// A symbol, and not the only one in its piece so far.
    pub symbol: u64,
    /// Of a word by case: a lower-case letter, or what may follow one.
    pub lower: u64,
    /// Of a word by case without a lower-case letter so far: a letter without case, or a mark.
    pub uncased: u64,
}

/// What a block says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Where pieces begin, the place where the block itself begins left out if a piece begins there.
    pub begins: u64,
    /// Whether all is decided to the end of the block.
    pub all: bool,
    /// What the block behind this one may begin with, where all is decided; all 0 where it may not begin behind it.
    pub carry: Carry,
}

/// What `mask` has of the runs from a bit of `seeds`, which is part of it, upwards.
#[inline(always)]
fn flood(seeds: u64, mask: u64) -> u64 {
    ((mask.wrapping_add(seeds) ^ mask) | seeds) & mask
}

/// The places where pieces begin, of the family `FAMILY` (as a number, for the compiler).
#[inline(always)]
pub(super) fn begins<const FAMILY: u8>(block: &impl Block, shape: Shape, carry: Carry, rules: Rules) -> Found {
    let gpt2 = FAMILY == Family::Gpt2 as u8;
    let cased = FAMILY == Family::O200k as u8;
    let Shape { valid, inner, last } = shape;
    let firsts = shape.firsts();
    let carried = carry.letter | carry.symbol;

    let number = shape.whole(block.class(NUMBER) & firsts);
    let white = shape.whole(block.class(SPACE) & firsts);
    let mut letter = block.class(LETTER);
    if inner != 0 && (cased || rules.marks) {
        letter |= block.class(MARK);
    }
    let letter = shape.whole(letter & firsts);
    let space = block.special(special::SPACE) & valid;
    let apostrophe = block.special(special::APOSTROPHE) & valid;
    let symbol = valid & !(letter | number | white);
    // From here on nothing is decided.
    let mut hard = 0;

    // Line breaks (and slashes) that belong to the symbols before them.
    let breaks = if gpt2 { 0 } else { block.special(special::BREAK) & valid };
    let tail = if gpt2 {
        0
    } else {
        let seeds = breaks & (symbol << 1 | carry.symbol);
        let may = if rules.slash { breaks | (block.special(special::SLASH) & valid) } else { breaks };
        flood(seeds, may)
    };
    let symbol = symbol & !tail;
    let white = white & !tail;
    let breaks = breaks & !tail;
    let blank = white & !breaks;

    // Symbols: a run, with the space before it.
    let symbols = symbol & !(symbol << 1 | carry.symbol) & !(space << 1);
    // Letters: a run, with the one character before it that may begin its piece.
    let joined = if gpt2 { space << 1 } else { blank << 1 | shape.behind(symbols) };
    let words = letter & !(letter << 1 | carry.letter) & !joined;
    let mut begins = symbols | words;

    // Numbers, in groups.
    let runs = number & !(number << 1);
    begins |= match rules.numbers {
        1 => number & firsts,
        0 if gpt2 => runs & !(space << 1),
        0 => runs,
        most => groups(shape, number, runs, most),
    };

    // White space: a run, what follows its last line break, and its last character, which is no line break.
    begins |= white & !(white << 1);
    if !gpt2 {
        let behind_break = blank & (breaks << 1);
        begins |= behind_break;
        let mut again = blank.wrapping_add(behind_break) & !blank & breaks;
        while again != 0 {
            let end = again.trailing_zeros();
            let before = behind_break & ((1 << end) - 1);
            begins &= !(1 << (63 - before.leading_zeros()));
            again &= again - 1;
        }
    }
    let mut last_bytes = blank & !(white >> 1);
    if gpt2 && rules.numbers != 0 {
        // To it the text ends before a number.
        last_bytes &= !(number >> 1);
    }
    begins |= if inner == 0 {
        last_bytes
    } else {
        // White space has three bytes at most.
        let second = (last_bytes & inner) >> 1;
        (last_bytes & firsts) | (second & firsts) | ((second & inner) >> 1)
    };
    // More white space may follow that which ends the block; only where it begins is sure.
    let trailing = (white << valid.leading_zeros()).leading_ones();
    if trailing != 0 {
        let begin = 64 - valid.leading_zeros() - trailing;
        hard |= 1 << begin << 1;
    }

    let (mut lower, mut uncased) = (0, 0);
    if cased {
        let upper = shape.whole(block.class(UPPER) & firsts);
        let small = shape.whole(block.class(LOWER) & firsts);
        let both = letter & !(upper | small);
        // Lower-case letters and what may follow them in `L+`; a capital behind them begins a word.
        let may = small | both;
        lower = flood(small | (may & carry.lower), may);
        begins |= upper & (lower << 1 | carry.lower);
        // Capitals behind letters without case are a piece if no other letter follows.
        uncased = both & !lower;
        let mut behind = upper & (uncased << 1 | carry.uncased);
        while behind != 0 {
            let begin = behind.trailing_zeros();
            let end = begin + (upper >> begin).trailing_ones();
            if end == 64 - valid.leading_zeros() && !last {
                hard |= 1 << begin;
            } else if end == 64 || letter >> end & 1 == 0 {
                begins |= 1 << begin;
            }
            behind &= behind - 1;
        }
        // A mark that does not follow a letter may belong to symbols.
        let first = 1 ^ carried;
        if inner != 0 {
            let mark = block.class(MARK) & firsts;
            hard |= mark & !(letter << 1 | carry.letter | first);
        }
    }

    // Contractions.
    if rules.contraction != Contraction::None {
        let at = if cased { apostrophe & (letter << 1 | carry.letter) } else { apostrophe & symbols };
        let next = at << 1;
        let one = next & block.special(special::ONE);
        let ell = (next & block.special(special::ELL)) << 1 & block.special(special::ELL);
        let two = ell | ((next & block.special(special::VR)) << 1 & block.special(special::E));
        let ends = (one | two) << 1;
        if cased {
            begins &= !(one >> 1 | two >> 2 | two);
            // A word that follows is one by itself, and so is another contraction.
            hard |= (ends & (letter | apostrophe)) << 1;
            if !last {
                hard |= at & !(valid >> 2);
            }
        } else if gpt2 {
            begins &= !(one | two >> 1);
            if !last {
                hard |= (at & !(valid >> 2)) << 1;
            }
        }
        begins |= ends;
        if rules.contraction == Contraction::Folded && inner != 0 {
            // The first byte of U+017F.
            let long = next & block.bytes(0xC5);
            hard |= if cased { long >> 1 } else { long };
        }
    }

    let decided = (hard & hard.wrapping_neg()).wrapping_sub(1);
    let begins = begins & valid & decided & !(1 ^ carried);

    // A run of letters or symbols goes on in a block that begins behind this one.
    let end = 63 - valid.leading_zeros();
    let at_end = |mask: u64| mask >> end & 1;
    let goes_on = u64::from(hard == 0 && apostrophe & !(valid >> 3) == 0);
    let alone = symbols >> (63 - firsts.leading_zeros()) & 1;
    let carry = Carry {
        letter: goes_on & if cased { at_end(lower | uncased) } else { at_end(letter) },
        symbol: goes_on & at_end(symbol) & !alone,
        lower: goes_on & at_end(lower),
        uncased: goes_on & at_end(uncased),
    };
    Found { begins, all: hard == 0, carry }
}

/// Where groups of `most` numbers begin in runs that begin at `runs`.
#[inline(always)]
fn groups(shape: Shape, number: u64, runs: u64, most: usize) -> u64 {
    let (mut all, mut group) = (runs, runs);
    loop {
        for _ in 0..most {
            group = shape.behind(group) & number;
        }
        if group == 0 {
            return all;
        }
        all |= group;
    }
}
