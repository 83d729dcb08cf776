//! A pattern as a program: nodes that each say what stands from a place on.
//!
//! A program runs away from the place in one direction: to the right for the pattern itself, to the left for what stands
//! behind. The character that it takes next is *near*, the one on the other side of the place *far*.

use super::alphabet::{EDGE, Mask, Partition};
use super::tree::{Set, Side, Tree};

/// More nodes are too many: a step that was not made before takes time in proportion.
const MAX_NODES: usize = 2000;
/// Entries of the table of steps for each state, at most.
const MAX_ROW: usize = 1 << 12;
/// Look-behinds of more than a character, at most.
const MAX_BEHIND: usize = 4;

/// The index of a node.
pub(super) type Id = u16;

/// Where a program may be. A node *holds* at a place if the rest of the text on its side can be what it stands for.
#[derive(Debug)]
pub(super) enum Node {
    /// The end of the pattern: always.
    Accept,
    /// A near character, then `next`.
    Take { of: Mask, next: Id },
    /// Either; the first is preferred.
    Either { first: Id, second: Id },
    /// `next`, if the near character, or the edge of the text, is in `of`.
    Near { of: Mask, next: Id },
    /// `next`, if the far character, or the edge of the text, is in `of`.
    Far { of: Mask, next: Id },
    /// `next`, if a look-behind of that number holds here, or does not.
    Behind { number: u8, negative: bool, next: Id },
    /// `next`, if `body` holds here, or does not.
    Look { body: Id, negative: bool, next: Id },
}

/// Nodes that depend on each other, in an order that mostly goes from what is needed to what needs it.
#[derive(Debug)]
pub(super) struct Group {
    pub nodes: Vec<Id>,
    /// Whether any depends on itself, so that one pass may not be enough.
    pub loops: bool,
}

pub(super) struct Program {
    pub nodes: Vec<Node>,
    /// The bodies of look-arounds before what looks.
    pub groups: Vec<Group>,
    /// What is asked for: the pattern, or each look-behind.
    pub roots: Vec<Id>,
    /// Where a match begins or goes on after a character, the root first.
    pub entries: Vec<Id>,
    /// The number in `entries` of what follows each node that takes a character.
    pub entry_after: Vec<u16>,
    /// The far classes that the nodes tell apart: a number for each class, and a class for each number.
    pub far: Vec<u16>,
    pub far_classes: Vec<u8>,
    /// Whether any node asks for what is far, or behind.
    pub looks_far: bool,
    /// How many look-behinds there are.
    pub behinds: usize,
    /// Classes, `EDGE` included.
    pub classes: usize,
}

impl Program {
    /// The program of a pattern, and those look-behinds that it asks for; `None` where it would be too large, or a
    /// look-behind looks ahead.
    pub(super) fn of_pattern(tree: &Tree, alphabet: &Partition) -> Option<(Self, Vec<Tree>)> {
        let mut builder = Builder::new(alphabet, Side::After);
        let root = builder.root(tree)?;
        let behinds = std::mem::take(&mut builder.behinds);
        Some((builder.finish(vec![root], behinds.len())?, behinds))
    }

    /// The program of some look-behinds, which runs to the left.
    pub(super) fn of_behinds(bodies: &[Tree], alphabet: &Partition) -> Option<Self> {
        let mut builder = Builder::new(alphabet, Side::Before);
        let roots = bodies.iter().map(|body| builder.root(body)).collect::<Option<_>>()?;
        builder.finish(roots, 0)
    }

    /// The length of a row of the table of steps.
    pub(super) fn row(&self) -> usize {
        self.classes * (self.far_classes.len() << self.behinds)
    }
}

struct Builder<'a> {
    alphabet: &'a Partition,
    /// The side on which characters are taken.
    side: Side,
    nodes: Vec<Node>,
    groups: Vec<Group>,
    current: Group,
    behinds: Vec<Tree>,
}

impl<'a> Builder<'a> {
    fn new(alphabet: &'a Partition, side: Side) -> Self {
        let current = Group { nodes: Vec::new(), loops: false };
        Self { alphabet, side, nodes: Vec::new(), groups: Vec::new(), current, behinds: Vec::new() }
    }

    fn root(&mut self, tree: &Tree) -> Option<Id> {
        let outer = std::mem::replace(&mut self.current, Group { nodes: Vec::new(), loops: false });
        let accept = self.add(Node::Accept)?;
        let root = self.add_tree(tree, accept)?;
        self.groups.push(std::mem::replace(&mut self.current, outer));
        Some(root)
    }

    fn add(&mut self, node: Node) -> Option<Id> {
        if self.nodes.len() == MAX_NODES {
            return None;
        }
        self.nodes.push(node);
        let id = (self.nodes.len() - 1) as Id;
        self.current.nodes.push(id);
        Some(id)
    }

    /// Adds what a tree followed by `next` stands for.
    fn add_tree(&mut self, tree: &Tree, next: Id) -> Option<Id> {
        Some(match tree {
            Tree::Empty => next,
            Tree::Class(set) => self.add(Node::Take { of: self.mask(*set, false), next })?,
            // Of what runs to the left the last part comes first.
            Tree::Concat(parts) if self.side == Side::After => {
                parts.iter().rev().try_fold(next, |next, part| self.add_tree(part, next))?
            }
            Tree::Concat(parts) => parts.iter().try_fold(next, |next, part| self.add_tree(part, next))?,
            Tree::Alternatives(parts) => {
                let mut parts = parts.iter().rev();
                let mut either = self.add_tree(parts.next()?, next)?;
                for part in parts {
                    let first = self.add_tree(part, next)?;
                    either = self.add(Node::Either { first, second: either })?;
                }
                either
            }
            Tree::Repeat { child, min, max, greedy } => self.add_repeat(child, *min, *max, *greedy, next)?,
            Tree::Beside { side, set, edge } => {
                let of = self.mask(*set, *edge);
                self.add(if *side == self.side { Node::Near { of, next } } else { Node::Far { of, next } })?
            }
            Tree::Look { side, negative, body } if *side == self.side => {
                let body = self.root(body)?;
                self.add(Node::Look { body, negative: *negative, next })?
            }
            // What is behind is known before a text is looked at from behind; what is ahead is not.
            Tree::Look { side: Side::Before, negative, body } => {
                let known = self.behinds.iter().position(|known| known == &**body);
                let number = known.unwrap_or_else(|| {
                    self.behinds.push(Tree::clone(body));
                    self.behinds.len() - 1
                });
                if number == MAX_BEHIND {
                    return None;
                }
                self.add(Node::Behind { number: number as u8, negative: *negative, next })?
            }
            Tree::Look { .. } => return None,
        })
    }

    /// `X{n,m}` as n times `X`, then nested options; `X{n,}` as n times `X` of which the last may be repeated.
    ///
    /// `X*` is `(?:X+)?` where `X` may be empty: so an empty turn ends the repetition, as it does in engines that backtrack.
    fn add_repeat(&mut self, child: &Tree, min: usize, max: Option<usize>, greedy: bool, next: Id) -> Option<Id> {
        let either = |one, other| match greedy {
            true => Node::Either { first: one, second: other },
            false => Node::Either { first: other, second: one },
        };
        let mut entry = next;
        let mut times = min;
        match max {
            Some(max) => {
                for _ in min..max {
                    let option = self.add_tree(child, entry)?;
                    if option == entry {
                        break;
                    }
                    entry = self.add(either(option, next))?;
                }
            }
            None => {
                let again = self.add(Node::Accept)?;
                self.current.loops = true;
                let once = self.add_tree(child, again)?;
                self.nodes[usize::from(again)] = either(once, next);
                entry = match min {
                    0 if child.may_be_empty() => self.add(either(once, next))?,
                    0 => again,
                    _ => once,
                };
                times = min.saturating_sub(1);
            }
        }
        for _ in 0..times {
            let before = entry;
            entry = self.add_tree(child, entry)?;
            if entry == before {
                break;
            }
        }
        Some(entry)
    }

    fn mask(&self, set: Set, edge: bool) -> Mask {
        let mask = self.alphabet.masks[set];
        if edge { mask.with(EDGE) } else { mask }
    }

    fn finish(self, roots: Vec<Id>, behinds: usize) -> Option<Program> {
        let mut entries = roots[..1].to_vec();
        let mut entry_after = vec![0; self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            if let Node::Take { next, .. } = node {
                let known = entries.iter().position(|entry| entry == next);
                entry_after[id] = known.unwrap_or_else(|| {
                    entries.push(*next);
                    entries.len() - 1
                }) as u16;
            }
        }
        let mut masks: Vec<Mask> = Vec::new();
        for node in &self.nodes {
            if let Node::Far { of, .. } = node
                && !masks.contains(of)
            {
                masks.push(*of);
            }
        }
        let (mut kinds, mut far, mut far_classes) = (Vec::new(), Vec::new(), Vec::new());
        for class in 0..self.alphabet.classes {
            let kind: Vec<bool> = masks.iter().map(|mask| mask.has(class as u8)).collect();
            let known = kinds.iter().position(|k| *k == kind);
            far.push(known.unwrap_or_else(|| {
                kinds.push(kind);
                far_classes.push(class as u8);
                kinds.len() - 1
            }) as u16);
        }
        let program = Program {
            looks_far: !masks.is_empty() || behinds > 0,
            nodes: self.nodes,
            groups: self.groups,
            roots,
            entries,
            entry_after,
            far,
            far_classes,
            behinds,
            classes: self.alphabet.classes,
        };
        (program.row() <= MAX_ROW).then_some(program)
    }
}
