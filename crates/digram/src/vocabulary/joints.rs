//! Where a piece may be cut before it is merged: between two characters that no merge can join.
//!
//! **The claim.** Let a piece be `x y`, and let no rule of the vocabulary have a left part that can end where `x` ends and a
//! right part that can begin where `y` begins. Then the ids of `x y` are those of `x` followed by those of `y`, each merged
//! by itself.
//!
//! **Proof.** Suppose that merging the whole makes a token that crosses the boundary, and look at the first such merge. Before
//! it, no token crosses; so its left part ends at the boundary and its right part begins there, and it is a rule that by
//! assumption does not exist. So no token ever crosses, and each merge of the whole is a merge within `x` or within `y`. Which
//! one comes next is decided by rank, then by place. The lowest and leftmost of all neighbours is, when it lies in `x`, the
//! lowest and leftmost of those in `x`: the merges of the whole that lie in `x`, in their order, are those of `x` alone, and
//! likewise for `y`. For an ordered token list one pass an entry goes over the whole, and what it does in `x` never depends on
//! `y`, as no match crosses; so it is the pass over `x`, then the pass over `y`. Ranks that several rules share, strings that
//! several entries repeat and tokens that are not canonical change nothing in this.
//!
//! **The table.** A rule of the parts `l` and `r` joins the characters A and B when `l` may end in A and `r` may begin with
//! B. If `l` holds the last character whole, A is that one. With bytes as base symbols, `l` may also be the tail of a
//! character, and then A is any character of that tail; and `r` may be the head of one, and then B is any with that head. So there
//! are four kinds of entries: (A, B), (A, head), (tail, B), (tail, head). Other rules of bytes meet within a character or outside any and
//! join no two characters. A token longer than its parts adds nothing: what it holds inside was joined by other rules.
//! This says it by rules where one would say "no token spans the boundary"; of tokens that merges make it is the same.
//!
//! **Symbols that stand in for text.** The unknown token and byte tokens do not spell what they stand for. Where one of them is
//! a part of a rule, nothing is cut at all. Otherwise they are never merged, so next to a character without a
//! token every place may be cut, unless a run of such characters becomes one unknown token, or byte tokens pass an unknown token that
//! waits ([`unknown_waits`](super::Vocabulary::unknown_waits)): there a cut needs a character of the alphabet on one side, since nothing waits beyond it.
//!
//! A piece that is a token and is taken whole must be looked up before it is cut: the parts of a cut are merged, never looked up.
//!
//! What is kept is smaller than the set, and errs on the side of no cut: a bit that is set may be set for another pair.

mod ends;
mod packed;

use super::rules::key;
use super::symbols::BASIC;
use super::{NONE, RuleSet, Symbols, Tokens};
use ends::{NO_CHARACTER, ends};
use foldhash::fast::FixedState;
use hashbrown::HashSet;
use packed::{Packed, byte_length, character, is_tail, is_whole, last_byte, length_of, packed};

const SPACE: Packed = b' ' as Packed;

/// Which two neighbouring characters a merge may join.
#[derive(Clone, Debug)]
pub struct Joints {
    /// Whether no place is a cut.
    never: bool,
    /// At 128 a + b: whether the ASCII characters a and b may be joined.
    ascii: Box<[bool; 128 * 128]>,
    /// What a space is read as.
    space: Packed,
    /// Other characters: two bits of one word say that two of them may be joined.
    pairs: Box<[u64]>,
    /// What the product of a pair is shifted by for the number of its word.
    shift: u32,
    /// By the last byte of A and the first one of B: whether an entry with a tail or a head may join them.
    halves: Box<[[u64; 4]; 256]>,
    /// Those entries.
    partial: HashSet<u64, FixedState>,
    /// Where unknown symbols wait: which characters of the Basic Multilingual Plane are known for sure.
    known: Option<Box<[u64; BASIC / 64]>>,
}

/// Where the table of ASCII has a pair.
#[inline]
fn at(before: Packed, after: Packed) -> usize {
    (before as usize) << 7 | after as usize & 0x7F
}

impl Joints {
    /// Which characters the rules of a vocabulary may join.
    pub(super) fn of(tokens: &Tokens, symbols: &Symbols, rules: &RuleSet, unknown_waits: bool) -> Self {
        let mut new = Self::with_room_for(0);
        let stand_ins = stand_ins(tokens, symbols, rules);
        let ends = ends(tokens);
        let (mut pairs, mut may_cut) = (Vec::new(), true);
        rules.for_each_pair(&mut |left, right| {
            may_cut &= ![left, right].iter().any(|&id| stand_ins[id as usize]);
            match (ends[left as usize].last, ends[right as usize].first) {
                (before, after) if before < 0x80 && after < 0x80 => new.ascii[at(before, after)] = true,
                (NO_CHARACTER, _) | (_, NO_CHARACTER) => {}
                pair => pairs.push(pair),
            }
        });
        new.never = !may_cut;
        if new.never {
            return new;
        }
        if unknown_waits && !symbols.is_complete() {
            new.known = symbols.known_characters();
            new.never = new.known.is_none();
        }
        let mut sized =
            Self { ascii: new.ascii, known: new.known, never: new.never, ..Self::with_room_for(pairs.len()) };
        pairs.into_iter().for_each(|(before, after)| sized.add(before, after));
        for (before, after) in (0..128).flat_map(|before| (0..128).map(move |after| (before, after))) {
            sized.ascii[at(before, after)] |= sized.may_wait(before, after);
        }
        sized
    }

    /// The same for text in which spaces stand for another character: what is cut so, and then has it written for each
    /// space, is cut where its own table says.
    pub(crate) fn with_spaces_for(mut self, character: char) -> Self {
        let space = packed(character.encode_utf8(&mut [0; 4]).as_bytes());
        for code in 0..128 {
            let other = if code == SPACE { space } else { code };
            let joins = |before, after| self.may_join(before, after) || self.may_wait(before, after);
            (self.ascii[at(SPACE, code)], self.ascii[at(code, SPACE)]) = (joins(space, other), joins(other, space));
        }
        self.space = space;
        self
    }

    fn with_room_for(pairs: usize) -> Self {
        // Two bits of a word each: with eight words for a hundred pairs, one in fifty of the others has them by chance.
        let words = (pairs / 8).next_power_of_two().clamp(1 << 6, 1 << 14);
        Self {
            never: false,
            space: SPACE,
            ascii: Box::new([false; 128 * 128]),
            pairs: vec![0; words].into(),
            shift: 64 - words.trailing_zeros(),
            halves: Box::new([[0; 4]; 256]),
            partial: HashSet::default(),
            known: None,
        }
    }

    /// The word of a pair, and its bits.
    #[inline]
    fn bits(&self, before: Packed, after: Packed) -> (usize, u64) {
        let product = u128::from(key(before, after)) * 0x9E37_79B9_7F4A_7C15;
        let mixed = product as u64 ^ (product >> 64) as u64;
        ((mixed >> self.shift) as usize, 1 << (mixed & 63) | 1 << (mixed >> 6 & 63))
    }

    /// An entry of the table: a character or its tail, a character or its head.
    fn add(&mut self, before: Packed, after: Packed) {
        if is_whole(before) && is_whole(after) {
            let (word, bits) = self.bits(before, after);
            self.pairs[word] |= bits;
        } else {
            let (last, first) = (last_byte(before), after as u8);
            self.halves[usize::from(last)][usize::from(first >> 6)] |= 1 << (first & 63);
            self.partial.insert(key(before, after));
        }
    }

    /// Whether a tail or a head joins two characters.
    #[cold]
    fn halves_join(&self, before: Packed, after: Packed) -> bool {
        let tails = |from: usize| before >> (8 * from);
        let heads = |to: usize| after & u32::MAX >> (32 - 8 * to);
        (0..byte_length(before))
            .any(|from| (1..=byte_length(after)).any(|to| self.partial.contains(&key(tails(from), heads(to)))))
    }

    /// Whether a rule may join two characters.
    #[inline]
    fn may_join(&self, before: Packed, after: Packed) -> bool {
        if before < 0x80 && after < 0x80 {
            return self.ascii[at(before, after)];
        }
        let (before, after) = (self.read(before), self.read(after));
        let (word, bits) = self.bits(before, after);
        if self.pairs[word] & bits == bits {
            return true;
        }
        let (last, first) = (last_byte(before), after as u8);
        let halves = self.halves[usize::from(last)][usize::from(first >> 6)] >> (first & 63) & 1 == 1;
        halves && self.halves_join(before, after)
    }

    /// What a character stands for.
    #[inline]
    fn read(&self, character: Packed) -> Packed {
        if character == SPACE { self.space } else { character }
    }

    /// Where unknown symbols wait, whether none of the two is sure to be of the alphabet.
    #[inline]
    fn may_wait(&self, before: Packed, after: Packed) -> bool {
        let Some(known) = &self.known else {
            return false;
        };
        let is_known = |packed: Packed| {
            let bytes = self.read(packed).to_le_bytes();
            let text = std::str::from_utf8(&bytes[..length_of(bytes[0])]).unwrap_or_default();
            let code = text.chars().next().map_or(BASIC, |character| character as usize);
            known.get(code / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
        };
        !is_known(before) && !is_known(after)
    }

    /// Whether a piece may be cut between these two characters.
    pub fn is_cut(&self, before: char, after: char) -> bool {
        let packed = |c: char| packed(c.encode_utf8(&mut [0; 4]).as_bytes());
        let (before, after) = (packed(before), packed(after));
        !self.never && !self.may_join(before, after) && !self.may_wait(before, after)
    }

    /// The same of the characters around byte `at` of `piece`, which is neither its beginning nor its end.
    #[inline]
    pub fn is_cut_at(&self, piece: &[u8], place: usize) -> bool {
        let (last, next) = (piece[place - 1], piece[place]);
        if last < 0x80 && next < 0x80 {
            return !self.never && !self.ascii[at(last.into(), next.into())];
        }
        let from = place.saturating_sub(4);
        let start = piece[from..place].iter().rposition(|byte| !is_tail(byte)).map(|start| from + start);
        match (start.and_then(|start| Some((start, character(piece, start)?))), character(piece, place)) {
            (Some((start, (length, before))), Some((_, after))) if start + length == place => {
                !self.never && !self.may_join(before, after) && !self.may_wait(before, after)
            }
            _ => false,
        }
    }

    /// The first place after byte `from` of `piece` where it may be cut: there both sides merge on their own. The length
    /// of `piece` where there is none. Bytes outside any character are allowed; around them nothing is cut.
    pub fn next_cut(&self, piece: &[u8], from: usize) -> usize {
        self.cuts(piece, from).next().unwrap_or(piece.len())
    }

    /// One after the other, where a piece may be cut after byte `from`, and its end.
    pub(crate) fn cuts<'a>(&'a self, piece: &'a [u8], from: usize) -> Cuts<'a> {
        Cuts { joints: self, piece, place: from, before: None, ended: from >= piece.len() }
    }
}

/// The places where a piece may be cut.
pub(crate) struct Cuts<'a> {
    joints: &'a Joints,
    piece: &'a [u8],
    place: usize,
    /// The character before it, if there is one since the last bytes that are none.
    before: Option<Packed>,
    ended: bool,
}

impl Iterator for Cuts<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.ended {
            return None;
        }
        while self.place < self.piece.len() && !self.joints.never {
            let (place, before) = (self.place, self.before);
            let Some((length, after)) = character(self.piece, place) else {
                (self.place, self.before) = (place + 1, None);
                continue;
            };
            (self.place, self.before) = (place + length, Some(after));
            if let Some(before) = before
                && !self.joints.may_join(before, after)
                && !self.joints.may_wait(before, after)
            {
                return Some(place);
            }
        }
        self.ended = true;
        Some(self.piece.len())
    }
}

/// Whether a token stands in for text that has none, by id, or another one does that is spelt the same where spelling decides.
fn stand_ins(tokens: &Tokens, symbols: &Symbols, rules: &RuleSet) -> Vec<bool> {
    let mut all = vec![false; tokens.len()];
    if symbols.is_complete() {
        return all;
    }
    let fallback = symbols.fallback();
    for &id in fallback.bytes.iter().flat_map(|ids| ids.iter()).chain(&fallback.token) {
        let spelling = match rules {
            RuleSet::Pairs(_) => id,
            RuleSet::Passes(table) => table.spelling.get(id as usize).copied().unwrap_or(id),
        };
        if let Some(stands_in) = all.get_mut(spelling as usize) {
            *stands_in = true;
        }
    }
    all
}

impl RuleSet {
    /// Calls `each` with the parts of every rule, or with tokens that spell the same.
    fn for_each_pair(&self, each: &mut dyn FnMut(u32, u32)) {
        match self {
            Self::Pairs(table) => table.for_each_pair(each),
            Self::Passes(table) => {
                table.joined.keys().for_each(|&key| each((key >> 32) as u32, key as u32));
            }
        }
    }
}

impl Symbols {
    /// Whether every symbol has a token, so that nothing ever stands in.
    fn is_complete(&self) -> bool {
        matches!(self, Self::Bytes(ids, _) if !ids.contains(&NONE))
    }

    /// The characters of the Basic Multilingual Plane that have a token; none where base symbols are bytes.
    fn known_characters(&self) -> Option<Box<[u64; BASIC / 64]>> {
        let Self::Characters(characters, _) = self else {
            return None;
        };
        let mut known = Box::new([0u64; BASIC / 64]);
        for (character, _) in characters.iter() {
            let code = character as usize;
            if let Some(word) = known.get_mut(code / 64) {
                *word |= 1 << (code % 64);
            }
        }
        Some(known)
    }
}

#[cfg(test)]
mod tests;
