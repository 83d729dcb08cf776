//! Small vocabularies of every kind, each beside its definition.

use crate::input::{once_in, one_of, text, up_to};
use crate::naive::{Naive, Rules, StandIns, Symbols};
use arbitrary::Unstructured;
use digram::vocabulary::{Base, Fallback, Found, Pairs, Special, Triple, Unknown, Vocabulary};
use std::collections::{BTreeMap, HashMap, HashSet};

/// No id.
const NONE: u32 = u32::MAX;

/// A vocabulary, and all that says what it should do.
pub struct Case {
    pub vocabulary: Vocabulary,
    pub naive: Naive,
    pub specials: Vec<Special>,
    /// The bytes of every token by id, special ones included.
    pub texts: BTreeMap<u32, Vec<u8>>,
    /// Builds the same vocabulary, of what an earlier build found.
    pub build: Build,
}

type Build = Box<dyn Fn(Option<Found>) -> digram::Result<Vocabulary>>;

const LETTERS: [&str; 12] = ["a", "b", " ", "c", "é", "中", "▁", "1", "<", ">", "s", "👍"];

/// What is drawn before the kind of the vocabulary.
struct Draft {
    letters: Vec<&'static str>,
    specials: Vec<Special>,
    texts: BTreeMap<u32, Vec<u8>>,
}

/// A vocabulary; none where it contradicts itself and is refused.
pub fn case(u: &mut Unstructured) -> Option<Case> {
    let first = up_to(u, LETTERS.len() - 2);
    let letters = LETTERS[first..(first + 2 + up_to(u, 4)).min(LETTERS.len())].to_vec();
    let draft = Draft { letters, specials: specials(u), texts: BTreeMap::new() };
    match up_to(u, 5) {
        0 => merges_of_bytes(u, draft),
        1 => merges_of_characters(u, draft),
        2 => ranks(u, draft),
        3 => list(u, draft),
        _ => pairs(u, draft),
    }
}

/// Special tokens; their ids are above all others.
fn specials(u: &mut Unstructured) -> Vec<Special> {
    let markers = ["<s>", "<|e|>", "ab", "<|e", " a", "s>s", "▁", "aa"];
    let mut specials: Vec<Special> = Vec::new();
    for id in 0..up_to(u, 3) as u32 {
        let marker = if once_in(u, 3) { text(u, 3) } else { one_of(u, &markers).to_string() };
        if specials.iter().all(|special| special.0 != marker) {
            specials.push((marker, 5000 + id));
        }
    }
    specials
}

impl Draft {
    /// Strings of two letters and more; where they are `bytes`, some begin inside a character.
    fn strings(&self, u: &mut Unstructured, most: usize, bytes: bool) -> Vec<Vec<u8>> {
        let string = |u: &mut Unstructured| -> Vec<u8> {
            let string: Vec<u8> = (0..2 + up_to(u, 3)).flat_map(|_| one_of(u, &self.letters).bytes()).collect();
            let from = usize::from(bytes && string.len() > 2 && once_in(u, 4));
            string[from..].to_vec()
        };
        (0..up_to(u, most)).map(|_| string(u)).collect()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.letters.concat().into_bytes();
        bytes.sort_unstable();
        bytes.dedup();
        bytes
    }

    fn characters(&self) -> Vec<char> {
        self.letters.concat().chars().collect()
    }

    /// Merges of ids in `pool`, and of what they make. The lengths of tokens stay small.
    fn merges(&mut self, u: &mut Unstructured, mut pool: Vec<u32>, first: u32) -> Vec<Triple> {
        let (mut merges, mut known, mut next) = (Vec::new(), HashSet::new(), first);
        for _ in 0..up_to(u, 24) {
            let (left, right) = (one_of(u, &pool), one_of(u, &pool));
            let joined = [&self.texts[&left][..], &self.texts[&right]].concat();
            if joined.len() > 1000 || (!known.insert((left, right)) && !once_in(u, 8)) {
                continue;
            }
            merges.push((left, right, next));
            self.texts.insert(next, joined);
            pool.push(next);
            next += if once_in(u, 8) { 3 } else { 1 };
        }
        merges
    }

    fn case(mut self, naive: Naive, build: Build) -> Option<Case> {
        self.texts.extend(self.specials.iter().map(|(marker, id)| (*id, marker.clone().into_bytes())));
        let vocabulary = build(None).ok()?;
        Some(Case { vocabulary, naive, specials: self.specials, texts: self.texts, build })
    }
}

fn of_pairs(merges: &[Triple]) -> Rules {
    Rules::Pairs((0..).zip(merges).map(|(rank, &(left, right, id))| ((left, right), (rank, id))).collect())
}

fn merges_of_bytes(u: &mut Unstructured, mut draft: Draft) -> Option<Case> {
    let turned = once_in(u, 3);
    let id_of = |byte: u8| if turned { 300 - u32::from(byte) } else { u32::from(byte) };
    draft.texts = (0..=255).map(|byte| (id_of(byte), vec![byte])).collect();
    let pool = draft.bytes().into_iter().map(id_of).collect();
    let merges = draft.merges(u, pool, 301);
    let naive = Naive {
        symbols: Symbols::Bytes((0..=255).map(|byte| (byte, id_of(byte))).collect()),
        stand_ins: StandIns::default(),
        whole: BTreeMap::new(),
        rules: of_pairs(&merges),
        spelt: BTreeMap::new(),
    };
    let base = Base::Bytes(Box::new(std::array::from_fn(|byte| id_of(byte as u8))));
    let specials = draft.specials.clone();
    draft.case(naive, Box::new(move |found| Vocabulary::from_merges(&base, merges.clone(), &specials, found)))
}

/// The first id of byte tokens that stand in for unknown characters.
const BYTES_FROM: u32 = 1000;

/// What stands in for unknown characters, and the special token that it may be.
fn unknown(u: &mut Unstructured, draft: &mut Draft, bytes_too: bool) -> (Unknown, StandIns) {
    match up_to(u, 2) {
        0 => (Unknown::Error, StandIns::default()),
        1 => {
            draft.specials.push(("<unk>".into(), 4999));
            (Unknown::Token(4999), StandIns { token: Some(4999), ..StandIns::default() })
        }
        _ if !bytes_too => (Unknown::Error, StandIns::default()),
        _ => {
            draft.texts.extend((0..=255).map(|byte| (BYTES_FROM + u32::from(byte), vec![byte])));
            let bytes = (0..=255).map(|byte| (byte, BYTES_FROM + u32::from(byte))).collect();
            let ids = Box::new(std::array::from_fn(|byte| BYTES_FROM + byte as u32));
            (Unknown::Bytes(ids), StandIns { bytes, ..StandIns::default() })
        }
    }
}

fn merges_of_characters(u: &mut Unstructured, mut draft: Draft) -> Option<Case> {
    let (unknown, stand_ins) = unknown(u, &mut draft, true);
    let mut characters: Vec<(char, u32)> = draft.characters().into_iter().zip(7..).collect();
    if once_in(u, 6) {
        characters.push((characters[0].0, 1)); // of a repeated one the last counts
    }
    draft.texts.extend(characters.iter().map(|&(c, id)| (id, c.to_string().into_bytes())));
    let mut pool: Vec<u32> = characters.iter().map(|character| character.1).collect();
    if !stand_ins.bytes.is_empty() && once_in(u, 2) {
        pool.extend([0xE4, b'a', 0xC3].map(|byte| stand_ins.bytes[&byte]));
    }
    let merges = draft.merges(u, pool, 2000);
    let naive = Naive {
        symbols: Symbols::Characters(characters.iter().copied().collect()),
        stand_ins,
        whole: BTreeMap::new(),
        rules: of_pairs(&merges),
        spelt: BTreeMap::new(),
    };
    let base = Base::Characters(characters, unknown);
    let specials = draft.specials.clone();
    draft.case(naive, Box::new(move |found| Vocabulary::from_merges(&base, merges.clone(), &specials, found)))
}

/// The strings without repeats, in an order that is drawn; a number for each.
fn numbered(u: &mut Unstructured, mut strings: Vec<Vec<u8>>, first: u32) -> Vec<(Vec<u8>, u32)> {
    let mut known = HashSet::new();
    strings.retain(|string| known.insert(string.clone()));
    if once_in(u, 2) {
        for i in (1..strings.len()).rev() {
            strings.swap(i, up_to(u, i));
        }
    }
    let gap = 1 + up_to(u, 2) as u32;
    strings.into_iter().zip((first..).step_by(gap as usize)).collect()
}

fn ranks(u: &mut Unstructured, mut draft: Draft) -> Option<Case> {
    let bytes = if once_in(u, 3) { draft.bytes() } else { (0..=255).collect() };
    let mut strings: Vec<Vec<u8>> = bytes.into_iter().map(|byte| vec![byte]).collect();
    strings.extend(draft.strings(u, 24, true));
    let ranked = numbered(u, strings, 0);
    draft.texts = ranked.iter().map(|(string, id)| (*id, string.clone())).collect();
    let single = |token: &&(Vec<u8>, u32)| token.0.len() == 1;
    let naive = Naive {
        symbols: Symbols::Bytes(ranked.iter().filter(single).map(|(string, id)| (string[0], *id)).collect()),
        stand_ins: StandIns::default(),
        whole: ranked.iter().cloned().collect(),
        rules: Rules::Spelt(ranked.iter().map(|(string, id)| (string.clone(), (*id, *id))).collect()),
        spelt: draft.texts.clone(),
    };
    let specials = draft.specials.clone();
    draft.case(
        naive,
        Box::new(move |found| {
            let ranked: Vec<(&[u8], u32)> = ranked.iter().map(|(string, id)| (&string[..], *id)).collect();
            Vocabulary::from_ranks(&ranked, &specials, found)
        }),
    )
}

fn list(u: &mut Unstructured, mut draft: Draft) -> Option<Case> {
    let characters = once_in(u, 2);
    let (unknown, stand_ins) = unknown(u, &mut draft, false);
    let stand_ins = if characters { stand_ins } else { StandIns::default() };
    let mut strings: Vec<Vec<u8>> = match characters {
        true => draft.letters.iter().map(|letter| letter.as_bytes().to_vec()).collect(),
        false => draft.bytes().into_iter().map(|byte| vec![byte]).collect(),
    };
    strings.extend(draft.strings(u, 24, !characters));
    if once_in(u, 3) {
        let repeated = strings.clone();
        strings.extend((0..up_to(u, 6)).map(|_| one_of(u, &repeated)));
    }
    draft.texts = (0..).zip(strings.iter().cloned()).collect();
    let naive = naive_list(&strings, characters, stand_ins);
    let specials = draft.specials.clone();
    draft.case(
        naive,
        Box::new(move |found| {
            let list: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
            Vocabulary::from_list(&list, characters, unknown.clone(), &specials, found)
        }),
    )
}

fn naive_list(strings: &[Vec<u8>], characters: bool, stand_ins: StandIns) -> Naive {
    let is_symbol = |string: &Vec<u8>| match characters {
        true => std::str::from_utf8(string).is_ok_and(|text| text.chars().count() == 1),
        false => string.len() == 1,
    };
    let prefix = strings.iter().take_while(|string| is_symbol(string)).count();
    let symbols = || (0..).zip(&strings[..prefix]);
    let character = |string: &[u8]| std::str::from_utf8(string).ok()?.chars().next();
    Naive {
        symbols: match characters {
            true => Symbols::Characters(symbols().filter_map(|(id, string)| Some((character(string)?, id))).collect()),
            false => Symbols::Bytes(symbols().map(|(id, string)| (string[0], id)).collect()),
        },
        stand_ins,
        whole: BTreeMap::new(),
        rules: Rules::Passes((0..).zip(strings).skip(prefix).map(|(id, string)| (string.clone(), id)).collect()),
        spelt: (0..).zip(strings.iter().cloned()).collect(),
    }
}

fn pairs(u: &mut Unstructured, mut draft: Draft) -> Option<Case> {
    let characters = once_in(u, 2);
    let mut strings: Vec<Vec<u8>> = match characters {
        true => draft.letters.iter().map(|letter| letter.as_bytes().to_vec()).collect(),
        false => draft.bytes().into_iter().map(|byte| vec![byte]).collect(),
    };
    strings.extend(draft.strings(u, 24, !characters));
    let named = [&b"<0xE4>"[..], b"<0xB8>", b"<0xAD>", b"<0x61>", b"<0xFF>"];
    let with_bytes = once_in(u, 3);
    if with_bytes {
        strings.extend(named.map(<[u8]>::to_vec));
    }
    let with_unknown = once_in(u, 2);
    if with_unknown {
        strings.push(b"<unk>".to_vec());
    }
    let tokens = numbered(u, strings, 0);
    draft.texts = tokens.iter().map(|(string, id)| (*id, string.clone())).collect();
    let ids: HashMap<&[u8], u32> = tokens.iter().map(|(string, id)| (&string[..], *id)).collect();
    let mut stand_ins = StandIns { fuse: once_in(u, 2), ..StandIns::default() };
    if with_bytes {
        stand_ins.bytes =
            named.iter().zip([0xE4, 0xB8, 0xAD, 0x61, 0xFF]).map(|(&name, byte)| (byte, ids[name])).collect();
    }
    stand_ins.token = with_unknown.then(|| ids[&b"<unk>"[..]]);
    let is_symbol = |string: &[u8]| match characters {
        true => std::str::from_utf8(string).is_ok_and(|text| text.chars().count() == 1),
        false => string.len() == 1,
    };
    // Merges: some ways to write a token as two, in any order and some of them twice; or an order of tokens.
    let (mut merges, mut ranked) = (Vec::new(), Vec::new());
    if once_in(u, 3) {
        let mut long: Vec<u32> = tokens.iter().filter(|t| !is_symbol(&t.0)).map(|t| t.1).collect();
        for i in (1..long.len()).rev() {
            long.swap(i, up_to(u, i));
        }
        long.truncate(up_to(u, long.len()));
        ranked = long;
    } else {
        let ways = |(string, id): &(Vec<u8>, u32)| -> Vec<Triple> {
            let parts = |at: usize| Some((*ids.get(&string[..at])?, *ids.get(&string[at..])?, *id));
            (1..string.len()).filter_map(parts).collect()
        };
        let all: Vec<Triple> = tokens.iter().flat_map(ways).collect();
        if !all.is_empty() {
            merges = (0..up_to(u, 40)).map(|_| one_of(u, &all)).collect();
        }
    }
    let whole = once_in(u, 2);
    let symbols = || tokens.iter().filter(|token| is_symbol(&token.0));
    let mut spelt = BTreeMap::new();
    spelt.extend(symbols().map(|(string, id)| (*id, string.clone())));
    spelt.extend(ranked.iter().map(|id| (*id, draft.texts[id].clone())));
    let rules = match ranked.is_empty() {
        true => of_pairs(&merges), // of a repeated pair the last counts
        false => Rules::Spelt((0..).zip(&ranked).map(|(rank, id)| (draft.texts[id].clone(), (rank, *id))).collect()),
    };
    let character = |string: &[u8]| std::str::from_utf8(string).ok()?.chars().next();
    let naive = Naive {
        symbols: match characters {
            true => Symbols::Characters(symbols().filter_map(|(string, id)| Some((character(string)?, *id))).collect()),
            false => Symbols::Bytes(symbols().map(|(string, id)| (string[0], *id)).collect()),
        },
        stand_ins: stand_ins.clone(),
        whole: if whole { tokens.iter().cloned().collect() } else { BTreeMap::new() },
        rules,
        spelt,
    };
    drop(ids);
    let fallback = Fallback {
        bytes: with_bytes.then(|| {
            let mut ids = Box::new([NONE; 256]);
            stand_ins.bytes.iter().for_each(|(&byte, &id)| ids[usize::from(byte)] = id);
            ids
        }),
        token: stand_ins.token,
        fuse: stand_ins.fuse,
    };
    let specials = draft.specials.clone();
    draft.case(
        naive,
        Box::new(move |found| {
            let tokens: Vec<(&[u8], u32)> = tokens.iter().map(|(string, id)| (&string[..], *id)).collect();
            let merges = merges.clone();
            let pairs =
                Pairs { tokens: &tokens, merges, ranked: &ranked, characters, whole, unknown: fallback.clone() };
            Vocabulary::from_pairs(pairs, &specials, found)
        }),
    )
}

/// The ids of a text under an ordered list of strings of characters, by definition.
pub fn ids_of_list(entries: &[&str], text: &str) -> Vec<u32> {
    let entries: Vec<Vec<u8>> = entries.iter().map(|entry| entry.as_bytes().to_vec()).collect();
    let naive = naive_list(&entries, true, StandIns::default());
    naive.encode(text.as_bytes(), 0).expect("all characters are in the list").into_iter().map(|token| token.0).collect()
}
