//! What the blocks look up: the class of a byte, what else it is, and the class of a longer character.

use super::super::unicode::{self, OTHER, Set};
use super::Contraction;
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

/// The code points of the first 17 planes, and room for a look-up of four bytes at the last of them.
const FLAT: usize = 0x11_0000 + 3;

pub(super) struct Tables {
    /// The class of each ASCII character; 0 for [`OTHER`].
    pub classes: [Set; 128],
    /// What else it is, for each [`Contraction`].
    pub specials: [[u8; 128]; 4],
    /// The class of each code point; 0 for [`OTHER`], so that the pages of unassigned planes are never touched.
    pub flat: Box<[Set]>,
    /// By the first two bytes of a longer character, the first of them at the bottom: the number of a block.
    pairs: Box<[u16; 1 << 16]>,
    /// The classes of characters by the last six bits of their third byte; all the same for those of two bytes.
    blocks: Box<[[Set; 64]]>,
}

/// In `pairs`: a character of four bytes.
const FOUR: u16 = u16::MAX;

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::build);

/// The tables, made at first use.
#[inline]
pub(super) fn tables() -> &'static Tables {
    &TABLES
}

impl Tables {
    fn build() -> Self {
        let of = unicode::classes();
        let mut flat = vec![0; FLAT].into_boxed_slice();
        for (code_point, entry) in flat[..0x11_0000].iter_mut().enumerate() {
            match of.of(code_point as u32) {
                OTHER => {}
                class => *entry = class,
            }
        }
        let mut classes = [0; 128];
        classes.copy_from_slice(&flat[..128]);
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
