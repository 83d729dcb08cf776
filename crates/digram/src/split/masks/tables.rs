//! What the blocks look up: the class of a byte, what else it is, and the class of a longer character.

use super::{Classification, Contraction};
use crate::split::unicode::{self, HAN, LOWER, MARK, NUMBER, OTHER, SPACE, Set, UNCASED, UPPER};
use std::sync::LazyLock;

/// What a byte may be beside its class, one bit each.
pub(super) mod special {
    /// Carriage return or line feed.
    pub const BREAK: u8 = 1 << 0;
    /// The space, U+0020.
    pub const SPACE: u8 = 1 << 1;
    pub const APOSTROPHE: u8 = 1 << 2;
    pub const SLASH: u8 = 1 << 3;
    /// `s t m d`, each a contraction behind an apostrophe.
    pub const ONE: u8 = 1 << 4;
    /// `l`, twice in `'ll`.
    pub const ELL: u8 = 1 << 5;
    /// `v r`, which begin `'ve` and `'re`.
    pub const VR: u8 = 1 << 6;
    pub const E: u8 = 1 << 7;
}

/// The classes of [`Classification::DeepSeek`] that the others have not got, as sets of those that it has not got. Its
/// letters are all [`UNCASED`] but for those of ASCII; what of its Chinese characters is neither is also [`OTHER`].
pub(super) mod deepseek {
    use super::{HAN, MARK, Set};

    pub const CJK_WORD: Set = MARK;
    pub const CJK_PUNCTUATION: Set = HAN;
}

/// The code points of the first 17 planes, and room for a look-up of four bytes at the last of them.
const FLAT: usize = 0x11_0000 + 3;

pub(super) struct Tables {
    /// The class of each ASCII character; 0 for symbols, [`OTHER`] for controls.
    pub classes: [Set; 128],
    /// What else it is, for each [`Contraction`].
    pub specials: [[u8; 128]; 4],
    /// The class of each code point; 0 for the most frequent one, so that most pages are never touched.
    pub flat: Box<[Set]>,
    /// By the first two bytes of a longer character, the first of them at the bottom: the number of a block.
    pairs: Box<[u16; 1 << 16]>,
    /// The classes of characters by the last six bits of their third byte; all the same for those of two bytes.
    blocks: Box<[[Set; 64]]>,
}

/// In `pairs`: a character of four bytes.
const FOUR: u16 = u16::MAX;

/// The tables of a classification, made at first use.
#[inline]
pub(super) fn tables(of: Classification) -> &'static Tables {
    static TABLES: [LazyLock<Tables>; 3] = [
        LazyLock::new(|| Tables::new(unicode::classes(), of_common)),
        LazyLock::new(|| Tables::new(unicode::han_classes(), of_common)),
        LazyLock::new(|| Tables::new(unicode::deepseek_classes(), of_deepseek)),
    ];
    &TABLES[of as usize]
}

/// A class of `unicode::classes` or `unicode::han_classes` as the tables have it.
fn of_common(class: Set) -> Set {
    if class == OTHER { 0 } else { class }
}

/// A class of `unicode::deepseek_classes` as the tables have it.
fn of_deepseek(class: Set) -> Set {
    match class {
        unicode::WORD => UNCASED,
        unicode::PUNCTUATION => 0,
        unicode::CJK_WORD => deepseek::CJK_WORD,
        unicode::CJK_PUNCTUATION => deepseek::CJK_PUNCTUATION,
        unicode::CJK_OTHER => deepseek::CJK_WORD | OTHER,
        _ => class,
    }
}

impl Tables {
    fn new(of: &unicode::Classes, class: fn(Set) -> Set) -> Self {
        let mut flat = vec![0; FLAT].into_boxed_slice();
        for (code_point, entry) in flat[..0x11_0000].iter_mut().enumerate() {
            match class(of.of(code_point as u32)) {
                0 => {}
                class => *entry = class,
            }
        }
        let classes = std::array::from_fn(|byte| match byte as u8 {
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b'0'..=b'9' => NUMBER,
            b'\t'..=b'\r' | b' ' => SPACE,
            0..0x20 | 0x7F => OTHER,
            _ => 0,
        });
        let specials =
            [Contraction::None, Contraction::Plain, Contraction::AnyCase, Contraction::Folded].map(|contraction| {
                let mut table = [0; 128];
                let one = |table: &mut [u8; 128], byte: u8, what: u8| {
                    table[usize::from(byte)] |= what;
                    if contraction != Contraction::Plain {
                        table[usize::from(byte.to_ascii_uppercase())] |= what;
                    }
                };
                table[usize::from(b'\r')] = special::BREAK;
                table[usize::from(b'\n')] = special::BREAK;
                table[usize::from(b' ')] = special::SPACE;
                table[usize::from(b'\'')] = special::APOSTROPHE;
                table[usize::from(b'/')] = special::SLASH;
                if contraction != Contraction::None {
                    b"stmd".iter().for_each(|&byte| one(&mut table, byte, special::ONE));
                    b"vr".iter().for_each(|&byte| one(&mut table, byte, special::VR));
                    one(&mut table, b'l', special::ELL);
                    one(&mut table, b'e', special::E);
                }
                table
            });
        let (pairs, blocks) = pairs(&flat);
        Tables { classes, specials, flat, pairs, blocks }
    }

    /// The class of the character of two or three bytes that these begin with; `None` where it has four.
    #[inline(always)]
    pub fn of_three(&self, [first, second, third]: [u8; 3]) -> Option<Set> {
        let block = self.pairs[usize::from(u16::from_le_bytes([first, second]))];
        self.blocks.get(usize::from(block)).map(|block| block[usize::from(third & 0x3F)])
    }

    /// The class of the character of these four bytes.
    #[cold]
    pub fn of_four(&self, bytes: [u8; 4]) -> Set {
        let [first, second, third, fourth] = bytes.map(|byte| usize::from(byte & 0x3F));
        let code_point = (first & 7) << 18 | second << 12 | third << 6 | fourth;
        self.flat.get(code_point).copied().unwrap_or(0)
    }
}

/// `pairs` and `blocks`.
fn pairs(flat: &[Set]) -> (Box<[u16; 1 << 16]>, Box<[[Set; 64]]>) {
    let mut pairs: Box<[u16; 1 << 16]> = vec![0; 1 << 16].try_into().expect("so long");
    let mut blocks: Vec<[Set; 64]> = Vec::new();
    let mut number = |block: [Set; 64]| {
        let known = blocks.iter().position(|known| *known == block);
        known.unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        }) as u16
    };
    let index = |first: u8, second: u8| usize::from(u16::from_le_bytes([first, second | 0x80]));
    for second in 0..64 {
        for first in 0..0x20 {
            pairs[index(0xC0 | first, second)] = number([flat[usize::from(first) << 6 | usize::from(second)]; 64]);
        }
        for first in 0..0x10 {
            let from = usize::from(first) << 12 | usize::from(second) << 6;
            pairs[index(0xE0 | first, second)] = number(std::array::from_fn(|third| flat[from + third]));
            pairs[index(0xF0 | first, second)] = FOUR;
        }
    }
    (pairs, blocks.into())
}
