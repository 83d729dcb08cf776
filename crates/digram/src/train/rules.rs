//! Which pairs may never be merged, whatever they count: rules about the characters of the joined token.
//!
//! A rule looks at the string of a token, but tokens may be megabytes long, so strings are never spelled out: a few
//! words say about a token all that a rule may ask, and those of a joined token follow from those of its halves.
//!
//! A token of a byte alphabet may begin or end inside a character. UTF-8 tells where: bytes 80 to BF go on with a
//! character, all others begin one. So a token is a few bytes of a character that began before it (its head), whole
//! characters, and the first bytes of a character that goes on behind it (its tail). What is nothing of this kind,
//! which only bytes that are not UTF-8 make, is called broken here.

use super::Alphabet;
use crate::split::class_ranges;
use std::sync::LazyLock;

/// Merges that are never made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairRules {
    /// No token reaches over more characters than this; one that it holds a part of counts as one.
    pub max_characters: Option<u64>,
    /// A token is whole characters, or a part of one. (Of a character alphabet it always is.)
    pub whole_characters: bool,
    /// A token that holds a digit, that is a character of `\p{N}`, is this digit alone.
    pub split_digits: bool,
    /// A token that begins with a combining mark (`\p{M}`) holds nothing but marks: a mark is merged with what is before
    /// it, never with what follows it. Implies `whole_characters`.
    pub attach_marks: bool,
}

impl PairRules {
    /// Whether any pair is forbidden.
    fn any(&self) -> bool {
        *self != PairRules::default()
    }
}

/// Up to three bytes of a character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Part {
    bytes: [u8; 3],
    length: u8,
}

impl Part {
    fn of(bytes: &[u8]) -> Self {
        let mut part = Part { length: bytes.len() as u8, ..Part::default() };
        part.bytes[..bytes.len()].copy_from_slice(bytes);
        part
    }

    fn get(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    fn is_empty(&self) -> bool {
        self.length == 0
    }
}

/// All that rules may ask about a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Shape {
    /// Bytes that go on with a character from before the token.
    head: Part,
    /// The first bytes of a character that the token does not end.
    tail: Part,
    /// The characters that begin in the token.
    begun: u64,
    /// The first byte goes on with a character.
    starts_inside: bool,
    /// The bytes are no part of any UTF-8. The fields below are not set then.
    broken: bool,
    /// Holds a whole character of `\p{N}`.
    digit: bool,
    /// Holds a whole character that is no mark.
    other: bool,
    /// Its first character is a mark, and whole.
    mark_first: bool,
}

impl Shape {
    fn of_character(character: char) -> Self {
        let mark = classes().is(character, MARK);
        let digit = classes().is(character, NUMBER);
        Shape { begun: 1, digit, other: !mark, mark_first: mark, ..Shape::default() }
    }

    fn of_byte(byte: u8) -> Self {
        match byte {
            0..0x80 => Self::of_character(byte.into()),
            0x80..0xC0 => Shape { head: Part::of(&[byte]), starts_inside: true, ..Shape::default() },
            _ => match character(&[byte]) {
                Parsed::Incomplete => Shape { tail: Part::of(&[byte]), begun: 1, ..Shape::default() },
                _ => Shape { begun: 1, broken: true, ..Shape::default() },
            },
        }
    }

    /// The shape of `self` and `right` together.
    fn join(&self, right: &Self) -> Self {
        let begun = self.begun + right.begun;
        let mut joined = Shape {
            begun,
            starts_inside: self.starts_inside,
            head: self.head,
            tail: right.tail,
            digit: self.digit || right.digit,
            other: self.other || right.other,
            mark_first: self.mark_first,
            broken: false,
        };
        let broken = Shape { begun, starts_inside: self.starts_inside, broken: true, ..Shape::default() };
        if self.broken || right.broken {
            return broken;
        }
        let mut seam = [0; 6];
        let (before, after) = (if self.begun == 0 { self.head } else { self.tail }, right.head);
        let length = before.get().len() + after.get().len();
        seam[..before.get().len()].copy_from_slice(before.get());
        seam[before.get().len()..length].copy_from_slice(after.get());
        let seam = &seam[..length];
        if self.begun == 0 {
            if length > 3 {
                return broken;
            }
            joined.head = Part::of(seam);
            return joined;
        }
        if self.tail.is_empty() != right.head.is_empty() {
            return broken;
        }
        if !seam.is_empty() {
            match character(seam) {
                Parsed::Whole(character) => {
                    let its = Self::of_character(character);
                    joined.digit |= its.digit;
                    joined.other |= its.other;
                    // The token before has no other character.
                    joined.mark_first |= self.begun == 1 && self.head.is_empty() && its.mark_first;
                }
                Parsed::Incomplete if right.begun == 0 => joined.tail = Part::of(seam),
                _ => return broken,
            }
        }
        joined
    }

    /// The characters that the token has something of.
    fn characters(&self) -> u64 {
        self.begun + u64::from(self.starts_inside)
    }

    /// Whether the token is whole characters.
    fn whole(&self) -> bool {
        !self.broken && self.head.is_empty() && self.tail.is_empty()
    }

    fn keeps(&self, rules: &PairRules) -> bool {
        if rules.max_characters.is_some_and(|most| self.characters() > most) {
            return false;
        }
        if (rules.whole_characters || rules.attach_marks) && (self.broken || !self.whole() && self.characters() != 1) {
            return false;
        }
        if rules.split_digits && self.digit && !(self.whole() && self.begun == 1) {
            return false;
        }
        let only_marks = self.whole() && !self.other;
        !rules.attach_marks || !self.mark_first || only_marks
    }
}

/// The shapes of all tokens, where there are rules that look at them.
pub(super) struct Shapes {
    rules: PairRules,
    shapes: Vec<Shape>,
}

impl Shapes {
    /// Those of the base symbols; `None` if all pairs are allowed.
    pub(super) fn new(rules: PairRules, alphabet: Alphabet, characters: &[char]) -> Option<Self> {
        let shapes = || match alphabet {
            Alphabet::Bytes => (0..=255).map(Shape::of_byte).collect(),
            Alphabet::Characters => characters.iter().copied().map(Shape::of_character).collect(),
        };
        rules.any().then(|| Shapes { rules, shapes: shapes() })
    }

    /// Whether the rules let a pair become a token.
    pub(super) fn allow(&self, left: u32, right: u32) -> bool {
        self.shapes[left as usize].join(&self.shapes[right as usize]).keeps(&self.rules)
    }

    /// Whether the rules let `token`, which is a neighbour of the token made last, become one with that.
    pub(super) fn allow_beside(&self, token: u32, last: u32, before: bool) -> bool {
        if before { self.allow(token, last) } else { self.allow(last, token) }
    }

    /// Notes the next token, which may break the rules where it was asked for by name.
    pub(super) fn add(&mut self, left: u32, right: u32) {
        self.shapes.push(self.shapes[left as usize].join(&self.shapes[right as usize]));
    }
}

enum Parsed {
    Whole(char),
    Incomplete,
    Wrong,
}

/// What the bytes of one character are.
fn character(bytes: &[u8]) -> Parsed {
    match str::from_utf8(bytes) {
        Ok(text) => {
            let mut characters = text.chars();
            match (characters.next(), characters.next()) {
                (Some(character), None) => Parsed::Whole(character),
                _ => Parsed::Wrong,
            }
        }
        Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => Parsed::Incomplete,
        Err(_) => Parsed::Wrong,
    }
}

const MARK: u8 = 1;
const NUMBER: u8 = 2;

/// A bit for each class that rules ask for, of every code point: the classes of the split patterns.
struct Classes(Vec<u8>);

impl Classes {
    fn is(&self, character: char, class: u8) -> bool {
        self.0.get(character as usize).is_some_and(|bits| bits & class != 0)
    }
}

fn classes() -> &'static Classes {
    static CLASSES: LazyLock<Classes> = LazyLock::new(|| {
        let mut bits = vec![0; 0x11_0000];
        for (pattern, class) in [(r"\p{M}", MARK), (r"\p{N}", NUMBER)] {
            for (first, last) in class_ranges(pattern) {
                bits[first as usize..=last as usize].fill(class);
            }
        }
        Classes(bits)
    });
    &CLASSES
}

#[cfg(test)]
mod tests {
    use super::super::naive;
    use super::super::tests::Random;
    use super::*;

    fn shape(token: &[u8]) -> Shape {
        let shapes = token.iter().map(|&byte| Shape::of_byte(byte));
        shapes.reduce(|left, right| left.join(&right)).expect("a token is not empty")
    }

    /// Tokens of text that were cut anywhere, and of any bytes: joined in any order, and judged as the strings are.
    #[test]
    fn shapes_are_those_of_the_strings() {
        let text = "a1\u{307}é٣𝟗中\u{301}\u{302}b2".as_bytes();
        let (mut kept, mut refused) = (0, 0);
        for seed in 0..30_000 {
            let mut random = Random::new(seed);
            let start = random.below(text.len());
            let mut token = text[start..start + 1 + random.below(text.len() - start)].to_vec();
            if random.below(3) == 0 {
                let place = random.below(token.len());
                token[place] = *random.one_of(&[0x80, 0xBF, 0xC0, 0xC3, 0xE0, 0xED, 0xF0, 0xF5, 0xFF, b'1']);
            }
            let rules = PairRules {
                max_characters: (random.below(2) == 0).then(|| random.below(6) as u64),
                whole_characters: random.below(2) == 0,
                split_digits: random.below(2) == 0,
                attach_marks: random.below(2) == 0,
            };
            let whole = shape(&token);
            let expected = naive::keeps(&rules, &token);
            *if expected { &mut kept } else { &mut refused } += 1;
            assert_eq!(whole.keeps(&rules), expected, "{token:x?} {rules:?} {whole:?}");
            for middle in 1..token.len() {
                let joined = shape(&token[..middle]).join(&shape(&token[middle..]));
                assert_eq!(joined, whole, "{token:x?} cut at {middle}");
            }
        }
        assert!(kept > 5_000 && refused > 5_000, "{kept} kept, {refused} refused");
    }
}
