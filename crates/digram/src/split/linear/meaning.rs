//! Whether two patterns match alike: a proof, not a comparison of spellings.
//!
//! What an engine that backtracks finds at a place is what a list of threads finds, in order of preference, all of which
//! take the same character at the same time: a thread that accepts ends those behind it in the list, and of two threads at
//! the same node the later one is dropped (Thompson's simulation, with priorities as in Pike's). So the list, and the
//! character before, are all that the rest of a match depends on, and there are finitely many lists. Two patterns are
//! run side by side through every pair of lists that any text leads to: they match alike if, wherever the text may end
//! or both have no thread left, the last to accept did so at the same place in both.

use super::super::general::Dialect;
use super::alphabet::{EDGE, Partition};
use super::program::{Id, Node, Program};
use super::translate;
use super::tree::{Pattern, Tree};
use std::collections::HashSet;

/// A comparison that looks at more nodes is given up, after a tenth of a second or so: the patterns in use take a tenth of that.
const MAX_VISITS: usize = 1 << 23;

/// A pattern that can be compared: it looks at one character beside a place at most.
pub(in super::super) struct Meaning {
    pattern: Pattern,
    partition: Partition,
    program: Program,
}

/// The threads of both, the class of the character before, and whether they last accepted at different places.
type Pair = (Vec<Id>, Vec<Id>, u8, bool);

impl Meaning {
    /// What a pattern means; `None` where it looks further, or is no regular expression.
    pub(in super::super) fn new(text: &str, dialect: Dialect) -> Option<Self> {
        let pattern = translate::pattern(text, dialect)?;
        let partition = Partition::new(&pattern.sets)?;
        let program = program(&pattern.tree, &partition)?;
        Some(Self { pattern, partition, program })
    }

    /// How many characters it takes at the beginning of a text, 0 where it does not match.
    pub(in super::super) fn takes(&self, text: &str) -> usize {
        let mut step = Step::new(&self.program);
        let (mut threads, mut far, mut taken) = (vec![self.program.roots[0]], EDGE, 0);
        let classes = text.chars().map(|c| self.partition.of(c)).chain([EDGE]);
        for (at, near) in classes.enumerate() {
            let mut next = Vec::new();
            if step.run(&threads, far, near, &mut next) {
                taken = at;
            }
            (threads, far) = (next, near);
        }
        taken
    }

    /// Whether the pattern `other`, in the dialect of the regex crates, matches the same at every place of every text.
    pub(in super::super) fn is(&self, other: &str) -> bool {
        let sets = self.pattern.sets.clone();
        let Some(other) = translate::pattern_with(other, Dialect::Rust, sets) else {
            return false;
        };
        let Some(partition) = Partition::new(&other.sets) else {
            return false;
        };
        let programs = (program(&self.pattern.tree, &partition), program(&other.tree, &partition));
        let (Some(one), Some(other)) = programs else {
            return false;
        };
        alike(&one, &other, partition.classes as u8)
    }
}

/// The program of a tree without wider look-around, whose repetitions take a character each turn: then the threads are
/// all there is to it, with no question of what an empty turn does.
fn program(tree: &Tree, partition: &Partition) -> Option<Program> {
    let (program, behinds) = Program::of_pattern(tree, partition)?;
    let wide = |node: &Node| matches!(node, Node::Behind { .. } | Node::Look { .. });
    let simple = behinds.is_empty() && !program.nodes.iter().any(wide) && !repeats_nothing(tree);
    simple.then_some(program)
}

/// Whether anything that may be empty is repeated without bound.
fn repeats_nothing(tree: &Tree) -> bool {
    match tree {
        Tree::Repeat { child, max, .. } => (max.is_none() && child.may_be_empty()) || repeats_nothing(child),
        Tree::Concat(parts) | Tree::Alternatives(parts) => parts.iter().any(repeats_nothing),
        Tree::Empty | Tree::Class(_) | Tree::Beside { .. } | Tree::Look { .. } => false,
    }
}

fn alike(one: &Program, other: &Program, classes: u8) -> bool {
    let (mut step, mut other_step) = (Step::new(one), Step::new(other));
    // The character before is part of a pair only where one of the two looks at it.
    let looks_far = one.looks_far || other.looks_far;
    let befores = if looks_far { classes } else { 1 };
    let mut open: Vec<Pair> =
        (0..befores).map(|before| (vec![one.roots[0]], vec![other.roots[0]], before, false)).collect();
    let mut known: HashSet<Pair> = open.iter().cloned().collect();
    while let Some((threads, others, far, differ)) = open.pop() {
        for near in 0..classes {
            let (mut next, mut other_next) = (Vec::new(), Vec::new());
            let accepts = step.run(&threads, far, near, &mut next);
            let other_accepts = other_step.run(&others, far, near, &mut other_next);
            let differ = accepts != other_accepts || (differ && !accepts);
            if next.is_empty() && other_next.is_empty() {
                if differ {
                    return false;
                }
                continue;
            }
            let pair = (next, other_next, if looks_far { near } else { EDGE }, differ);
            if step.visits + other_step.visits > MAX_VISITS {
                return false;
            }
            if known.insert(pair.clone()) {
                open.push(pair);
            }
        }
    }
    true
}

/// Takes a list of threads from place to place.
struct Step<'p> {
    nodes: &'p [Node],
    stack: Vec<Id>,
    seen: Vec<bool>,
    /// Nodes looked at so far.
    visits: usize,
}

impl<'p> Step<'p> {
    fn new(program: &'p Program) -> Self {
        Self { nodes: &program.nodes, stack: Vec::new(), seen: vec![false; program.nodes.len()], visits: 0 }
    }

    /// Puts into `next` where the threads are behind the character `near`, and says whether one accepts before it; `far` is
    /// the character before, and both may be `EDGE`.
    fn run(&mut self, threads: &[Id], far: u8, near: u8, next: &mut Vec<Id>) -> bool {
        self.seen.fill(false);
        self.visits += self.seen.len() / 16;
        self.stack.clear();
        self.stack.extend(threads.iter().rev());
        while let Some(id) = self.stack.pop() {
            self.visits += 1;
            if std::mem::replace(&mut self.seen[usize::from(id)], true) {
                continue;
            }
            match &self.nodes[usize::from(id)] {
                Node::Accept => return true,
                Node::Take { of, next: behind } => {
                    if of.has(near) && !next.contains(behind) {
                        next.push(*behind);
                    }
                }
                Node::Either { first, second } => self.stack.extend([*second, *first]),
                Node::Near { of, next } if of.has(near) => self.stack.push(*next),
                Node::Far { of, next } if of.has(far) => self.stack.push(*next),
                Node::Near { .. } | Node::Far { .. } => {}
                Node::Behind { .. } | Node::Look { .. } => unreachable!("`program` has none"),
            }
        }
        false
    }
}
