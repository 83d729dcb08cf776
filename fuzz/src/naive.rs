//! Encoding by its definition: look at all neighbours, apply the first rule at its leftmost place, begin again.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// An id, and the bytes of the piece (or the document) that it stands for.
pub type Token = (u32, Range<usize>);

/// The place of a symbol that has no token.
#[derive(Debug, PartialEq, Eq)]
pub struct Unknown(pub usize);

/// Base symbols by what they spell.
#[derive(Clone, Debug)]
pub enum Symbols {
    Bytes(BTreeMap<u8, u32>),
    Characters(BTreeMap<char, u32>),
}

/// What merges.
#[derive(Clone, Debug)]
pub enum Rules {
    /// (left, right) -> (rank, new id).
    Pairs(HashMap<(u32, u32), (u32, u32)>),
    /// What two neighbours spell -> (rank, new id).
    Spelt(HashMap<Vec<u8>, (u32, u32)>),
    /// (what two neighbours spell, new id), one pass from left to right for each.
    Passes(Vec<(Vec<u8>, u32)>),
}

/// What stands in for a symbol without a token.
#[derive(Clone, Debug, Default)]
pub struct StandIns {
    /// The tokens of bytes, if they stand in where all of a symbol's are there.
    pub bytes: BTreeMap<u8, u32>,
    /// The unknown token.
    pub token: Option<u32>,
    /// Whether a run of unknown symbols is one token.
    pub fuse: bool,
}

/// A vocabulary as its definition reads it.
#[derive(Clone, Debug)]
pub struct Naive {
    pub symbols: Symbols,
    pub stand_ins: StandIns,
    /// Pieces that are taken whole.
    pub whole: BTreeMap<Vec<u8>, u32>,
    pub rules: Rules,
    /// What the ids spell that merge by what they spell.
    pub spelt: BTreeMap<u32, Vec<u8>>,
}

impl Naive {
    /// The tokens of a piece that begins at byte `base`.
    pub fn encode(&self, piece: &[u8], base: usize) -> Result<Vec<Token>, Unknown> {
        if let Some(&id) = self.whole.get(piece) {
            return Ok(vec![(id, base..base + piece.len())]);
        }
        let mut tokens = self.symbols(piece, base)?;
        if let Rules::Passes(entries) = &self.rules {
            for (entry, id) in entries {
                tokens = self.pass(tokens, entry, *id);
            }
        } else if tokens.len() <= 200 {
            self.merge(&mut tokens);
        } else {
            tokens = self.merge_many(tokens);
        }
        Ok(tokens)
    }

    fn symbols(&self, piece: &[u8], base: usize) -> Result<Vec<Token>, Unknown> {
        let mut symbols = Vec::new();
        let mut waiting = None;
        match &self.symbols {
            Symbols::Bytes(ids) => {
                for (at, byte) in piece.iter().enumerate() {
                    self.symbol(ids.get(byte), &[*byte], base + at, &mut symbols, &mut waiting)?;
                }
            }
            Symbols::Characters(ids) => {
                let mut at = base;
                for chunk in piece.utf8_chunks() {
                    for c in chunk.valid().chars() {
                        self.symbol(
                            ids.get(&c),
                            c.encode_utf8(&mut [0; 4]).as_bytes(),
                            at,
                            &mut symbols,
                            &mut waiting,
                        )?;
                        at += c.len_utf8();
                    }
                    for byte in chunk.invalid() {
                        self.symbol(None, &[*byte], at, &mut symbols, &mut waiting)?;
                        at += 1;
                    }
                }
            }
        }
        symbols.extend(waiting);
        Ok(symbols)
    }

    fn symbol(
        &self,
        id: Option<&u32>,
        bytes: &[u8],
        at: usize,
        symbols: &mut Vec<Token>,
        waiting: &mut Option<Token>,
    ) -> Result<(), Unknown> {
        let stand_ins = &self.stand_ins;
        let of_bytes: Option<Vec<u32>> = bytes.iter().map(|byte| stand_ins.bytes.get(byte).copied()).collect();
        match (id, of_bytes, stand_ins.token) {
            (Some(&id), ..) => {
                symbols.extend(waiting.take());
                symbols.push((id, at..at + bytes.len()));
            }
            (None, Some(ids), _) => symbols.extend(ids.into_iter().zip(at..).map(|(id, at)| (id, at..at + 1))),
            (None, None, Some(token)) => {
                if !stand_ins.fuse {
                    symbols.extend(waiting.take());
                }
                let start = waiting.take().map_or(at, |run| run.1.start);
                *waiting = Some((token, start..at + bytes.len()));
            }
            (None, None, None) => return Err(Unknown(at)),
        }
        Ok(())
    }

    /// What two neighbours spell.
    fn joined(&self, left: u32, right: u32) -> Option<Vec<u8>> {
        Some([&self.spelt.get(&left)?[..], self.spelt.get(&right)?].concat())
    }

    /// Rank and new id of two neighbours.
    fn rule(&self, left: u32, right: u32) -> Option<(u32, u32)> {
        match &self.rules {
            Rules::Pairs(pairs) => pairs.get(&(left, right)).copied(),
            Rules::Spelt(strings) => strings.get(&self.joined(left, right)?).copied(),
            Rules::Passes(_) => None,
        }
    }

    fn merge(&self, tokens: &mut Vec<Token>) {
        let rule = |(at, two): (usize, &[Token])| Some((self.rule(two[0].0, two[1].0)?, at));
        while let Some(((_, id), at)) =
            tokens.windows(2).enumerate().filter_map(rule).min_by_key(|&((rank, _), at)| (rank, at))
        {
            let range = hull(&tokens[at].1, &tokens[at + 1].1);
            tokens.splice(at..at + 2, [(id, range)]);
        }
    }

    /// The same for a long piece: neighbours that have a rule wait in order, and a merge asks for its two new ones.
    fn merge_many(&self, tokens: Vec<Token>) -> Vec<Token> {
        let mut tokens: BTreeMap<usize, Token> = tokens.into_iter().enumerate().collect();
        let mut waiting: BTreeSet<(u32, usize)> = BTreeSet::new();
        let rank = |tokens: &BTreeMap<usize, Token>, at: usize| {
            let mut two = tokens.range(at..);
            let ((_, left), (_, right)) = (two.next()?, two.next()?);
            self.rule(left.0, right.0)
        };
        for at in 0..tokens.len() {
            waiting.extend(rank(&tokens, at).map(|(rank, _)| (rank, at)));
        }
        while let Some((_, at)) = waiting.pop_first() {
            let (_, id) = rank(&tokens, at).expect("it has a rule");
            let next = *tokens.range(at + 1..).next().expect("it has a neighbour").0;
            let before = tokens.range(..at).next_back().map(|(&at, _)| at);
            for place in before.into_iter().chain([next]) {
                if let Some((rank, _)) = rank(&tokens, place) {
                    waiting.remove(&(rank, place));
                }
            }
            let right = tokens.remove(&next).expect("just found");
            let left = tokens.get_mut(&at).expect("it was there");
            *left = (id, hull(&left.1, &right.1));
            for place in before.into_iter().chain([at]) {
                waiting.extend(rank(&tokens, place).map(|(rank, _)| (rank, place)));
            }
        }
        tokens.into_values().collect()
    }

    fn pass(&self, tokens: Vec<Token>, entry: &[u8], id: u32) -> Vec<Token> {
        let (mut passed, mut at) = (Vec::with_capacity(tokens.len()), 0);
        while at < tokens.len() {
            let two = &tokens[at..tokens.len().min(at + 2)];
            if two.len() == 2 && self.joined(two[0].0, two[1].0).is_some_and(|joined| joined == entry) {
                passed.push((id, hull(&two[0].1, &two[1].1)));
                at += 2;
            } else {
                passed.push(two[0].clone());
                at += 1;
            }
        }
        passed
    }
}

fn hull(left: &Range<usize>, right: &Range<usize>) -> Range<usize> {
    left.start.min(right.start)..left.end.max(right.end)
}

/// The smallest ranges that hold those of the tokens and whose starts and ends ascend.
pub fn widened(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = tokens.iter().map(|token| token.1.clone()).collect();
    for i in 1..spans.len() {
        spans[i].end = spans[i].end.max(spans[i - 1].end);
    }
    for i in (1..spans.len()).rev() {
        spans[i - 1].start = spans[i - 1].start.min(spans[i].start);
    }
    spans
}

/// The leftmost marker from byte `from` on, of those that begin there the longest, and its index.
pub fn find_marker(markers: &[String], document: &[u8], from: usize) -> Option<(Range<usize>, usize)> {
    (from..document.len()).find_map(|start| {
        let here = markers.iter().enumerate().filter(|(_, marker)| document[start..].starts_with(marker.as_bytes()));
        let (which, marker) = here.min_by_key(|(i, marker)| (Reverse(marker.len()), *i))?;
        Some((start..start + marker.len(), which))
    })
}
