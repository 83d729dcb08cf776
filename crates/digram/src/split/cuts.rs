//! Safe cuts: places in a text where a pattern always begins a new piece, whatever stands further on either side.
//!
//! A text may be cut there and its parts be split by themselves: the pieces are those of the whole. Whether a place is
//! one shows in the two characters around it, for every pattern that has a scanner:
//!
//! - A piece never goes on behind the last of a run of letters, nor of numbers, but for the contractions that o200k takes
//!   into a word.
//! - A piece of symbols takes no white space; of cl100k and o200k, it takes line breaks.
//! - What ends a piece of letters, numbers or symbols is the character after it alone: only white space looks further.
//! - What a split cuts out beforehand, numbers or Chinese characters, is a piece from its first character on.

use super::scanner::{Cl100k, Gpt2, Gpt2Numbers, O200k, Scanner};
use super::unicode::{
    CJK, CJK_OTHER, CJK_PUNCTUATION, CJK_WORD, Classes, HAN, LETTER, MARK, NUMBER, OTHER, PUNCTUATION, SPACE, SYMBOL,
    UNCASED, UPPER, WORD,
};

/// Whether a piece always begins between two characters.
fn is_cut(scanner: Scanner, classes: &Classes, before: char, after: char) -> bool {
    let (left, right) = (classes.of(before.into()), classes.of(after.into()));
    let line_break = matches!(after, '\r' | '\n');
    match scanner {
        Scanner::DeepSeek if (left & CJK != 0) != (right & CJK != 0) => true,
        Scanner::DeepSeek => match left {
            WORD | NUMBER | CJK_WORD | CJK_PUNCTUATION => right != left,
            PUNCTUATION => right & (NUMBER | OTHER) != 0 || (right == SPACE && !line_break),
            OTHER => right & (NUMBER | PUNCTUATION | SPACE) != 0,
            CJK_OTHER => right == CJK_PUNCTUATION,
            _ => right == NUMBER,
        },
        // Where numbers stand alone, a piece ends behind each.
        Scanner::Cl100k(Cl100k { numbers: 1, .. })
        | Scanner::O200k(O200k { numbers: 1, .. })
        | Scanner::Gpt2(Gpt2 { numbers: Gpt2Numbers::Apart(1), .. })
            if left == NUMBER =>
        {
            true
        }
        _ if left == NUMBER => right & NUMBER == 0,
        // Numbers that are cut out beforehand begin a piece, whatever stands before them.
        Scanner::Gpt2(Gpt2 { numbers: Gpt2Numbers::Apart(_), .. }) if right == NUMBER => true,
        Scanner::Gpt2(_) if left & SYMBOL != 0 => {
            right & (SPACE | NUMBER) != 0 || (right & LETTER != 0 && before != '\'')
        }
        Scanner::Cl100k(Cl100k { marks: true, .. }) if left & (LETTER | MARK) != 0 => right & (LETTER | MARK) == 0,
        Scanner::Gpt2(_) | Scanner::Cl100k(_) if left & LETTER != 0 => right & LETTER == 0,
        Scanner::O200k(_) if left & LETTER != 0 => right & (SPACE | NUMBER | OTHER | HAN) != 0 && after != '\'',
        Scanner::O200k(_) if left == HAN => right & HAN == 0,
        _ if left & SYMBOL != 0 => right == NUMBER || (right == SPACE && !line_break),
        _ => false,
    }
}

/// The last safe cut of `text`, which need not be UTF-8, from byte `from` up to byte `to`, both included, that `wanted` takes
/// for the two characters around it.
pub(super) fn last_cut(
    scanner: Scanner,
    text: &[u8],
    (from, to): (usize, usize),
    wanted: impl Fn(char, char) -> bool,
) -> Option<usize> {
    let classes = scanner.classes();
    let mut after = text.get(to..).and_then(first_character);
    let mut at = to;
    while at >= from.max(1) {
        let before = last_character(&text[..at]);
        if let (Some(before), Some(after)) = (before, after)
            && is_cut(scanner, classes, before, after)
            && wanted(before, after)
        {
            return Some(at);
        }
        after = before;
        at -= before.map_or(1, char::len_utf8);
    }
    None
}

/// What is looked at behind a piece, at most, runs aside: a contraction.
pub(crate) const NEAR: usize = 16;

/// Whether a piece that ends at byte `end` of a text that ends at byte `to` may end elsewhere once more text follows. It may
/// where it is near, where white space alone follows it (a line break behind that may still belong to it), and, of
/// o200k, where capitals and uncased letters alone do (the first small letter behind them takes all of them).
pub(super) fn may_change(scanner: Scanner, text: &[u8], end: usize, to: usize) -> bool {
    let classes = scanner.classes();
    let only = |set| {
        let mut at = end;
        while let Some(character) = first_character(&text[at..to]).filter(|&c| classes.of(c.into()) & set != 0) {
            at += character.len_utf8();
        }
        at == to
    };
    to - end < NEAR || only(SPACE) || (matches!(scanner, Scanner::O200k(_)) && only(UPPER | UNCASED | MARK))
}

/// The character that `bytes` begin with, if they begin with a whole one.
fn first_character(bytes: &[u8]) -> Option<char> {
    let start = &bytes[..bytes.len().min(4)];
    start.utf8_chunks().next()?.valid().chars().next()
}

/// The character that `bytes` end with, if they end with a whole one. A character is found wherever one stands, whatever
/// bytes are before it: no other one, nor a part of one, has its first byte.
fn last_character(bytes: &[u8]) -> Option<char> {
    let length = 1 + bytes.iter().rev().take(4).position(|byte| byte & 0xC0 != 0x80)?;
    let mut characters = std::str::from_utf8(&bytes[bytes.len() - length..]).ok()?.chars();
    characters.next().filter(|_| characters.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::super::Splitter;
    use super::super::scanner::Contractions;
    use super::*;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    const SCANNERS: [Scanner; 13] = [
        Scanner::Gpt2(Gpt2::GPT2),
        Scanner::Gpt2(Gpt2 { numbers: Gpt2Numbers::Apart(1), ..Gpt2::GPT2 }),
        Scanner::Gpt2(Gpt2 { numbers: Gpt2Numbers::Apart(3), ..Gpt2::GPT2 }),
        Scanner::Cl100k(Cl100k::CL100K),
        Scanner::Cl100k(Cl100k::CLASSIC),
        Scanner::Cl100k(Cl100k::QWEN2),
        Scanner::Cl100k(Cl100k { marks: true, ..Cl100k::QWEN2 }),
        Scanner::Cl100k(Cl100k { contractions: Contractions::None, numbers: usize::MAX, ..Cl100k::CL100K }),
        Scanner::O200k(O200k::O200K),
        Scanner::O200k(O200k::TEKKEN),
        Scanner::O200k(O200k { han: true, slash: false, ..O200k::O200K }),
        Scanner::O200k(O200k { han: true, numbers: 1, ..O200k::O200K }),
        Scanner::DeepSeek,
    ];
    /// Characters of every class, and those that patterns name: a Chinese letter, number and symbol, and of the characters
    /// that DeepSeek's second pattern takes, punctuation and one that is not assigned.
    const CRITICAL: [char; 22] = [
        'a', 's', 'L', 'l', 'ſ', '中', '1', '²', ' ', '\u{a0}', '\n', '\r', '\'', '/', '!', '\u{301}', '〇', '⺀',
        '\u{30a0}', '\u{3040}', '\0', '。',
    ];

    static SPLITTERS: LazyLock<Vec<(Scanner, Splitter)>> =
        LazyLock::new(|| SCANNERS.map(|scanner| (scanner, Splitter::of_scanner(scanner))).to_vec());

    fn ends(splitter: &Splitter, text: &[u8], base: usize) -> Vec<usize> {
        let mut ends = Vec::new();
        splitter
            .for_each_piece(text, |piece| {
                ends.push(base + piece.end);
                Ok(())
            })
            .unwrap();
        ends
    }

    fn check(text: &[u8]) -> Result<(), TestCaseError> {
        for (scanner, splitter) in &*SPLITTERS {
            let whole = ends(splitter, text, 0);
            let mut to = text.len();
            while let Some(cut) = last_cut(*scanner, text, (0, to), |_, _| true) {
                let mut parts = ends(splitter, &text[..cut], 0);
                parts.extend(ends(splitter, &text[cut..], cut));
                prop_assert_eq!(&parts, &whole, "{:?} cut at {} of {:?}", scanner, cut, String::from_utf8_lossy(text));
                to = cut - 1;
            }
        }
        Ok(())
    }

    #[test]
    fn parts_have_the_pieces_of_the_whole_for_all_short_texts() {
        let n = CRITICAL.len();
        for length in 2..=4u32 {
            for mut number in 0..n.pow(length) {
                let mut text = String::new();
                for _ in 0..length {
                    text.push(CRITICAL[number % n]);
                    number /= n;
                }
                if length < 4 || text.starts_with(['a', '!', ' ', '\'']) {
                    check(text.as_bytes()).unwrap();
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn parts_have_the_pieces_of_the_whole(
            text in prop::collection::vec(prop_oneof![
                8 => prop::sample::select(&CRITICAL[..]).prop_map(|c| c.to_string().into_bytes()),
                1 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
                1 => any::<u8>().prop_map(|b| vec![b]),
            ], 0..40)
        ) {
            check(&text.concat())?;
        }
    }

    #[test]
    fn ordinary_text_has_a_cut_at_every_word() {
        for (scanner, splitter) in &*SPLITTERS {
            let text = "the cat, 42 of them; 中文 too".as_bytes();
            let mut cuts = 0;
            let mut to = text.len();
            while let Some(cut) = splitter.last_cut(text, 0, to, |_, _| true) {
                cuts += 1;
                to = cut - 1;
            }
            assert!(cuts >= 6, "{scanner:?}: {cuts}");
        }
        assert_eq!(Splitter::none().last_cut(b"a b", 0, 3, |_, _| true), None);
    }
}
