//! The automaton of a program, made as it is needed: a state is the set of nodes that hold at a place.
//!
//! What holds at a place follows from what holds behind the near character, from that character, and from what is far: so
//! the states of a text come out one after the other, in a single pass against the direction of the program, whatever
//! the pattern. For the pattern itself that is from the end of the text to its beginning; then each match is read off from
//! its beginning, without a wrong turn (Frisch and Cardelli, "Greedy regular expression matching", ICALP 2004).
//!
//! A pass may begin before the end of the text with everything open: a state has two sets, of the nodes that surely hold
//! and of those that may. Where the two are equal the state is exact, and so are all that follow.

use super::alphabet::EDGE;
use super::program::{Id, Node, Program};
use std::collections::HashMap;

/// The number of a state.
pub(super) type State = u16;

/// Nothing holds: what there is beyond the end of the text.
pub(super) const NOTHING: State = 0;
/// Everything may hold.
pub(super) const OPEN: State = 1;

/// In a table: not known yet.
pub(super) const UNKNOWN: u16 = u16::MAX;
/// Of a match: there is none here.
pub(super) const FAILS: u16 = u16::MAX - 1;
/// Of a match: it ends here.
pub(super) const ENDS: u16 = u16::MAX - 2;

/// Bytes that the states of one automaton may take; when they are used up it begins anew. Tests have small patterns.
const MAX_BYTES: usize = if cfg!(test) { 1 << 12 } else { 4 << 20 };

/// The states known so far, and the steps between them. Each belongs to one program.
pub(super) struct Automaton {
    numbers: HashMap<Box<[u64]>, State>,
    /// The two sets of each state, one after the other, `words` words each.
    sets: Vec<u64>,
    words: usize,
    most: usize,
    /// The step from each state by each symbol, or `UNKNOWN`.
    pub steps: Vec<State>,
    pub row: usize,
    /// Where a match goes on from each entry in each state: at an entry after a character, or `FAILS`, `ENDS`, `UNKNOWN`.
    pub turns: Vec<u16>,
    pub entries: usize,
    exact: Vec<bool>,
    /// Which roots hold, one bit each.
    pub roots: Vec<u8>,
    made: Vec<u64>,
    stack: Vec<Id>,
    seen: Vec<u64>,
}

/// There is no room for one more state.
pub(super) struct Full;

impl Automaton {
    pub(super) fn new(program: &Program) -> Self {
        let words = program.nodes.len().div_ceil(64);
        let (row, entries) = (program.row(), program.entries.len());
        let bytes = 2 * (row + entries) + 2 * 8 * 2 * words + 64;
        let mut automaton = Self {
            numbers: HashMap::new(),
            sets: Vec::new(),
            words,
            most: (MAX_BYTES / bytes).clamp(8, usize::from(ENDS)),
            steps: Vec::new(),
            row,
            turns: Vec::new(),
            entries,
            exact: Vec::new(),
            roots: Vec::new(),
            made: vec![0; 2 * words],
            stack: Vec::new(),
            seen: vec![0; words],
        };
        automaton.clear(program);
        automaton
    }

    /// Forgets all states but `NOTHING` and `OPEN`.
    pub(super) fn clear(&mut self, program: &Program) {
        self.numbers.clear();
        self.sets.clear();
        self.steps.clear();
        self.turns.clear();
        self.exact.clear();
        self.roots.clear();
        let mut set = vec![0; 2 * self.words];
        let nothing = self.intern(program, &set);
        set[self.words..].fill(u64::MAX);
        let open = self.intern(program, &set);
        debug_assert!(matches!((nothing, open), (Ok(NOTHING), Ok(OPEN))));
    }

    #[inline]
    pub(super) fn is_exact(&self, state: State) -> bool {
        self.exact[usize::from(state)]
    }

    /// The sets of a state, for `intern` after a `clear`.
    pub(super) fn set(&self, state: State) -> &[u64] {
        let at = usize::from(state) * 2 * self.words;
        &self.sets[at..at + 2 * self.words]
    }

    pub(super) fn intern(&mut self, program: &Program, set: &[u64]) -> Result<State, Full> {
        if let Some(&state) = self.numbers.get(set) {
            return Ok(state);
        }
        if self.exact.len() == self.most {
            return Err(Full);
        }
        let state = self.exact.len() as State;
        self.numbers.insert(set.into(), state);
        self.sets.extend_from_slice(set);
        self.steps.resize(self.steps.len() + self.row, UNKNOWN);
        self.turns.resize(self.turns.len() + self.entries, UNKNOWN);
        let (surely, maybe) = set.split_at(self.words);
        self.exact.push(surely == maybe);
        let bits = program.roots.iter().enumerate().map(|(i, &root)| u8::from(has(surely, root)) << i.min(7));
        self.roots.push(bits.fold(0, |bits, bit| bits | bit));
        Ok(state)
    }

    /// The step from a state by a symbol, when the table does not have it.
    #[cold]
    pub(super) fn step(&mut self, program: &Program, state: State, symbol: usize) -> Result<State, Full> {
        let near = (symbol % program.classes) as u8;
        let context = symbol / program.classes;
        let far = program.far_classes[context >> program.behinds];
        let mut made = std::mem::take(&mut self.made);
        made.fill(0);
        let place = Place { beyond: self.set(state), near, far, behind: context & ((1 << program.behinds) - 1) };
        place.holds(program, &mut made);
        let next = self.intern(program, &made);
        self.made = made;
        if let Ok(next) = next {
            self.steps[usize::from(state) * self.row + symbol] = next;
        }
        next
    }

    /// Where a match goes on from an entry in an exact state, when the table does not have it: in order of preference, the
    /// first way that holds.
    #[cold]
    pub(super) fn turn(&mut self, program: &Program, state: State, entry: usize) -> u16 {
        let at = usize::from(state) * 2 * self.words;
        let holds = &self.sets[at..at + self.words];
        self.seen.fill(0);
        self.stack.clear();
        self.stack.push(program.entries[entry]);
        let mut turn = FAILS;
        while let Some(id) = self.stack.pop() {
            if !has(holds, id) || has(&self.seen, id) {
                continue;
            }
            set(&mut self.seen, id);
            match &program.nodes[usize::from(id)] {
                Node::Accept => turn = ENDS,
                Node::Take { .. } => turn = program.entry_after[usize::from(id)],
                Node::Either { first, second } => {
                    self.stack.extend([*second, *first]);
                    continue;
                }
                Node::Near { next, .. }
                | Node::Far { next, .. }
                | Node::Behind { next, .. }
                | Node::Look { next, .. } => {
                    self.stack.push(*next);
                    continue;
                }
            }
            break;
        }
        self.turns[usize::from(state) * self.entries + entry] = turn;
        turn
    }
}

/// What is known of a place before it is known what holds there.
struct Place<'a> {
    /// The sets behind the near character.
    beyond: &'a [u64],
    near: u8,
    far: u8,
    behind: usize,
}

impl Place<'_> {
    /// Sets the bits of the nodes that surely hold, and of those that may.
    fn holds(&self, program: &Program, made: &mut [u64]) {
        let (surely, maybe) = made.split_at_mut(made.len() / 2);
        let (surely_beyond, maybe_beyond) = self.beyond.split_at(surely.len());
        for group in &program.groups {
            loop {
                let mut changed = false;
                for &id in &group.nodes {
                    let node = &program.nodes[usize::from(id)];
                    if !has(surely, id) && self.node_holds(node, surely, maybe, surely_beyond) {
                        set(surely, id);
                        changed = true;
                    }
                    if !has(maybe, id) && self.node_holds(node, maybe, surely, maybe_beyond) {
                        set(maybe, id);
                        changed = true;
                    }
                }
                if !changed || !group.loops {
                    break;
                }
            }
        }
    }

    /// Whether a node holds by one reading, where `other` is the opposite one.
    #[inline]
    fn node_holds(&self, node: &Node, here: &[u64], other: &[u64], beyond: &[u64]) -> bool {
        match *node {
            Node::Accept => true,
            Node::Take { of, next } => self.near != EDGE && of.has(self.near) && has(beyond, next),
            Node::Either { first, second } => has(here, first) || has(here, second),
            Node::Near { of, next } => of.has(self.near) && has(here, next),
            Node::Far { of, next } => of.has(self.far) && has(here, next),
            Node::Behind { number, negative, next } => (self.behind >> number & 1 != 0) != negative && has(here, next),
            Node::Look { body, negative: false, next } => has(here, body) && has(here, next),
            // What surely does not hold is what may not even hold.
            Node::Look { body, negative: true, next } => !has(other, body) && has(here, next),
        }
    }
}

#[inline]
fn has(set: &[u64], id: Id) -> bool {
    set[usize::from(id >> 6)] >> (id & 63) & 1 != 0
}

#[inline]
fn set(set: &mut [u64], id: Id) {
    set[usize::from(id >> 6)] |= 1 << (id & 63);
}
