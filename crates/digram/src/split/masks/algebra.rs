//! From the masks of a block to the places where pieces begin.
//!
//! In all masks bit `i` stands for byte `i` of the block, and a character of several bytes has all its bits in the mask of
//! its class. So `mask << 1` is "the character before is one of these", at the first byte of a character.

use super::tables::{self, special};
use super::{Contraction, Family, Rules};
use crate::split::unicode::{HAN, LETTER, LOWER, MARK, NUMBER, OTHER, SPACE, Set, UPPER};

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
    /// Those of them that are no ASCII characters.
    pub high: u64,
    /// Those of them that do not begin a character.
    pub inner: u64,
    /// Whether the text ends with these bytes.
    pub last: bool,
}

impl Shape {
    /// The shape of the block that begins at byte `at` of `text`; `high` are its bytes from 0x80 on, `inner` those up to 0xBF.
    #[inline(always)]
    pub fn new(text: &[u8], at: usize, high: u64, inner: u64) -> Self {
        let left = text.len() - at;
        let valid = if left < 64 {
            (1 << left) - 1
        } else if left > 64 && (text[at + 64] as i8) < -64 {
            // A character that goes on behind the block is left to the next one.
            (1 << (63 - (!inner).leading_zeros())) - 1
        } else {
            !0
        };
        Shape { valid, high: high & valid, inner: inner & valid, last: left <= 64 }
    }

    /// How many bytes the whole characters have.
    #[inline(always)]
    pub fn len(self) -> u32 {
        64 - self.valid.leading_zeros()
    }

    /// The first bytes of its characters.
    #[inline(always)]
    pub fn firsts(self) -> u64 {
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
    /// A character of those that are apart from all others (Chinese ones, where the pattern says so).
    pub apart: u64,
}

impl Carry {
    /// Whether there is one.
    #[inline(always)]
    pub fn any(self) -> u64 {
        self.letter | self.symbol | self.apart
    }
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
///
/// A place in `hard` says that nothing is decided from there on.
#[inline(always)]
pub(super) fn begins<const FAMILY: u8>(block: &impl Block, shape: Shape, carry: Carry, rules: Rules) -> Found {
    let gpt2 = FAMILY == Family::Gpt2 as u8;
    let cased = FAMILY == Family::O200k as u8;
    let deepseek = FAMILY == Family::DeepSeek as u8;
    let Shape { valid, high, inner, last } = shape;
    let firsts = shape.firsts();
    // Where a piece is known to begin.
    let first = 1 ^ carry.any();
    let (mut begins, mut hard) = (0, 0);

    let mut number = shape.whole(block.class(NUMBER) & firsts);
    let white = shape.whole(block.class(SPACE) & firsts);
    let mut letter = block.class(LETTER);
    if inner != 0 && (cased || rules.marks) {
        letter |= block.class(MARK);
    }
    let letter = shape.whole(letter & firsts);
    let mut symbol = valid & !(letter | number | white);
    let space = block.special(special::SPACE) & valid;
    let apostrophe = block.special(special::APOSTROPHE) & valid;

    // Characters apart from all others: runs of them.
    let (mut apart, mut marks) = (0, 0);
    if cased && rules.han && inner != 0 {
        let han = block.class(HAN) & firsts;
        apart = shape.whole(han);
        begins |= apart & !(apart << 1 | carry.apart);
        // Some of them are also numbers or symbols, and may belong to a run of these instead.
        hard |= han & block.class(NUMBER | OTHER) & !(apart << 1 | carry.apart | first);
    }
    let mut gap = 0;
    if deepseek {
        let mut rest = block.class(OTHER) & firsts;
        if inner != 0 {
            let unknown = rest & block.class(tables::deepseek::CJK_WORD);
            rest &= !unknown;
            hard |= unknown << 1;
            let unknown = shape.whole(unknown);
            apart = shape.whole(block.class(tables::deepseek::CJK_WORD) & firsts) & !unknown;
            marks = shape.whole(block.class(tables::deepseek::CJK_PUNCTUATION) & firsts);
            begins |= (apart & !(apart << 1 | carry.apart)) | (marks & !(marks << 1)) | unknown;
            marks |= unknown;
        }
        // What no pattern takes: a run, of which the last one may begin a word.
        gap = shape.whole(rest);
        begins |= gap & !(gap << 1);
        hard |= rest & (gap << 1);
    }
    symbol &= !(apart | marks | gap);
    number &= !apart;

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
    let mut open = 0;
    let joined = if gpt2 {
        space << 1
    } else if deepseek {
        // An ASCII symbol takes ASCII letters alone.
        let ascii = letter & !high;
        let taken = (symbols & !high) << 1 & ascii;
        begins |= ascii.wrapping_add(taken) & !ascii & letter;
        open = flood(taken, ascii);
        (blank | gap) << 1 | taken
    } else {
        blank << 1 | shape.behind(symbols)
    };
    begins |= symbols | (letter & !(letter << 1 | carry.letter) & !joined);

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
        begins |= behind_breaks(blank, breaks);
    }
    let mut last_bytes = blank & !(white >> 1);
    if deepseek {
        // To white space the text ends before these.
        last_bytes &= !((number | apart | marks) >> 1);
    } else if gpt2 && rules.numbers != 0 {
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
        hard |= 1 << (shape.len() - trailing) << 1;
    }

    let mut case = Case::default();
    if cased {
        case = by_case(block, shape, carry, letter);
        begins |= case.begins;
        hard |= case.hard;
        // A mark that does not follow a letter may belong to symbols.
        if inner != 0 {
            hard |= block.class(MARK) & firsts & !(letter << 1 | carry.letter | first);
        }
    }

    if !deepseek && rules.contraction != Contraction::None {
        let at = if cased { apostrophe & (letter << 1 | carry.letter) } else { apostrophe & symbols };
        let next = at << 1;
        let one = next & block.special(special::ONE);
        let ell = (next & block.special(special::ELL)) << 1 & block.special(special::ELL);
        let two = ell | ((next & block.special(special::VR)) << 1 & block.special(special::E));
        let ends = (one | two) << 1;
        // Those whose letters may be in the next block.
        let cut = if last { 0 } else { at & !(valid >> 2) };
        if cased {
            begins &= !(one >> 1 | two >> 2 | two);
            // A word that follows is one by itself, and so is another contraction.
            hard |= (ends & (letter | apostrophe)) << 1 | cut;
        } else if gpt2 {
            begins &= !(one | two >> 1);
            hard |= cut << 1;
        }
        begins |= ends;
        if rules.contraction == Contraction::Folded && inner != 0 {
            // The first byte of U+017F.
            let long = next & block.bytes(0xC5);
            hard |= if cased { long >> 1 } else { long };
        }
    }

    let decided = (hard & hard.wrapping_neg()).wrapping_sub(1);
    let begins = begins & valid & decided & !first;

    // A run of some classes goes on in a block that begins behind this one.
    let at_end = |mask: u64| mask >> (shape.len() - 1) & 1;
    let goes_on = u64::from(hard == 0 && apostrophe & !(valid >> 3) == 0);
    let alone = symbols >> (63 - firsts.leading_zeros()) & 1;
    let carry = Carry {
        letter: goes_on & at_end(if cased { case.lower | case.uncased } else { letter & !open }),
        symbol: goes_on & at_end(symbol) & !alone,
        lower: goes_on & at_end(case.lower),
        uncased: goes_on & at_end(case.uncased),
        apart: goes_on & at_end(apart),
    };
    Found { begins, all: hard == 0, carry }
}

/// What is behind a line break in white space, if no other line break follows in the same run.
#[inline(always)]
fn behind_breaks(blank: u64, breaks: u64) -> u64 {
    let behind = blank & (breaks << 1);
    let mut begins = behind;
    // The line breaks behind such blanks, each with the last place before it.
    let mut again = blank.wrapping_add(behind) & !blank & breaks;
    while again != 0 {
        let before = behind & ((1 << again.trailing_zeros()) - 1);
        begins &= !(1 << (63 - before.leading_zeros()));
        again &= again - 1;
    }
    begins
}

/// What letter case says of words.
#[derive(Clone, Copy, Default)]
struct Case {
    begins: u64,
    hard: u64,
    /// Lower-case letters, and those without case and marks behind them: what `L+` takes.
    lower: u64,
    /// Letters without case and marks that only capitals and their like come before.
    uncased: u64,
}

/// Words by case: `U*L+`, else `U+L*`, see the scanner. `letter` are letters and marks.
#[inline(always)]
fn by_case(block: &impl Block, shape: Shape, carry: Carry, letter: u64) -> Case {
    let upper = shape.whole(block.class(UPPER) & shape.firsts());
    let small = shape.whole(block.class(LOWER) & shape.firsts());
    let both = letter & !(upper | small);
    // A capital behind a lower-case letter, or what may follow one, begins a word.
    let may = small | both;
    let lower = flood(small | (may & carry.lower), may);
    let mut case = Case { begins: upper & (lower << 1 | carry.lower), hard: 0, lower, uncased: both & !lower };
    // Capitals behind letters without case are a word if no other letter follows.
    let mut behind = upper & (case.uncased << 1 | carry.uncased);
    while behind != 0 {
        let begin = behind.trailing_zeros();
        let end = begin + (upper >> begin).trailing_ones();
        if end == shape.len() && !shape.last {
            case.hard |= 1 << begin;
        } else if end == 64 || letter >> end & 1 == 0 {
            case.begins |= 1 << begin;
        }
        behind &= behind - 1;
    }
    case
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
