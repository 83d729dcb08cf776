//! Ends of pieces by bit masks: 64 bytes at a time, one bit a byte.
//!
//! A block begins where a piece does (or inside a long run of letters or symbols, which [`Carry`] then says). Each class
//! of characters becomes a mask of the block's bytes, and shifts, sums and bitwise operations on the masks give all places
//! where a piece begins, as far as the block's own bytes decide. The next block begins at the last of these, so nothing has
//! to be remembered of what came before. What the masks cannot decide (white space that leaves the block, a piece that is
//! longer than it, some rare mixtures of letters) goes piece by piece through the scanner of the pattern, which is also
//! what the tests compare with.
//!
//! That class masks and a few operations between them find the pieces of ASCII text is how gigatoken does it; the blocks
//! that begin where a piece does, the classes of other characters and the families are our own.

mod algebra;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod drive;
mod long;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod nibbles;
mod portable;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod registers;
mod tables;

use drive::Request;
use std::sync::LazyLock;

/// What the masks have to know of a pattern. The scanner of the pattern knows it all, and decides the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    pub family: Family,
    /// How many numbers are a piece at most; 0 where any number of them is.
    pub numbers: usize,
    pub contraction: Contraction,
    /// Whether marks are letters.
    pub marks: bool,
    /// Whether slashes may follow symbols, as line breaks do.
    pub slash: bool,
    /// Whether Chinese characters are apart from all others.
    pub han: bool,
}

/// Which characters join which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// ` ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, contractions first; where there is a most of numbers, they are
    /// cut out of the text before all that.
    Gpt2,
    /// `[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,n}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, contractions first.
    Cl100k,
    /// Words by case, contractions behind them, `|\p{N}{1,n}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`.
    O200k,
    /// The three patterns of DeepSeek V3, see its scanner.
    DeepSeek,
}

/// Which classes characters have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Classification {
    /// `unicode::classes`
    Common,
    /// `unicode::han_classes`
    Han,
    /// `unicode::deepseek_classes`
    DeepSeek,
}

impl Rules {
    fn classification(self) -> Classification {
        match self.family {
            Family::DeepSeek => Classification::DeepSeek,
            Family::O200k if self.han => Classification::Han,
            _ => Classification::Common,
        }
    }
}

/// `'s 't 'm 'd 'll 've 're`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contraction {
    None,
    /// As they are written here.
    Plain,
    /// And with capitals.
    AnyCase,
    /// As under `(?i:...)`: with U+017F too, which folds to `s`.
    Folded,
}

/// The instructions that a processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tier {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon,
}

impl Tier {
    /// The best one that this processor has.
    pub(super) fn best() -> Tier {
        static BEST: LazyLock<Tier> = LazyLock::new(|| *Tier::available().last().expect("the portable one"));
        *BEST
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Tier::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => "avx512",
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Tier::Neon => "neon",
        }
    }

    /// Those that this processor has, the best one last.
    pub(super) fn available() -> Vec<Tier> {
        let mut tiers = vec![Tier::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if avx2::is_available() {
                tiers.push(Tier::Avx2);
            }
            if avx512::is_available() {
                tiers.push(Tier::Avx512);
            }
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        tiers.push(Tier::Neon);
        tiers
    }
}

/// Appends to `ends` where the next pieces of `text` end, of those from byte `from` on, where a piece begins: some hundreds,
/// at least one. `text` is UTF-8 and longer than `from`; `piece_end` takes where a piece begins and gives its end; `tier` is
/// available.
pub(super) fn next_ends(
    tier: Tier,
    rules: Rules,
    text: &[u8],
    from: usize,
    ends: &mut Vec<usize>,
    piece_end: &dyn Fn(usize) -> usize,
) {
    let request = Request { tables: tables::tables(rules.classification()), rules, text, piece_end };
    match tier {
        Tier::Portable => portable::next_ends(request, from, ends),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => avx2::next_ends(request, from, ends),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => avx512::next_ends(request, from, ends),
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        Tier::Neon => neon::next_ends(request, from, ends),
    }
}

#[cfg(test)]
mod tests;
