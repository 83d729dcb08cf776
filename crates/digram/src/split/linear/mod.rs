//! Patterns in time linear in the text, whatever it holds: automata for all that is regular apart from look-around.
//!
//! | file | what |
//! |---|---|
//! | `tree` | a pattern as a tree |
//! | `translate` | from the general engine's syntax tree |
//! | `meaning` | whether two patterns match alike |
//! | `alphabet` | the characters that a pattern tells apart, as classes |
//! | `program` | from a tree to nodes |
//! | `automaton` | the states of a text and the ways of a match, made as they are needed |
//! | `matcher` | one pass over a text: states stretch by stretch from the end, matches from the beginning |
//!
//! A text takes one pass backward and one forward, a few nanoseconds a character: a bounded number of steps for each, at
//! worst in proportion to the size of the pattern. Where the end of a stretch is open (`[a-z]+:|[a-z]` in a long word) the
//! pass backward begins farther on, each time four times as far. The memory is 128 kB for a stretch, up to `MAX_BYTES` of
//! each automaton, a set of nodes for each 32 kB of the text, and one byte for each byte of it under a pattern with a look-behind
//! of more than one character.

mod alphabet;
mod automaton;
mod matcher;
mod meaning;
mod program;
#[cfg(test)]
mod tests;
mod translate;
mod tree;

pub(super) use matcher::Matcher;
pub(super) use meaning::Meaning;

use super::general::Dialect;
use alphabet::Alphabet;
use matcher::Scratch;
use program::Program;
use std::fmt;
use std::sync::Mutex;

/// Scratches that are kept for the next text, at most.
const MAX_SPARE: usize = 8;

/// A pattern that takes linear time.
pub(super) struct Linear {
    alphabet: Alphabet,
    program: Program,
    behinds: Option<Program>,
    /// Automata with the states known so far. The lock is held for a push or a pop, and never waited for: a process that
    /// was forked meanwhile would wait for ever.
    #[expect(clippy::vec_box, reason = "a search takes it and puts it back: as a pointer")]
    spare: Mutex<Vec<Box<Scratch>>>,
}

impl Linear {
    /// The pattern, if it is regular apart from look-around and not too large.
    pub(super) fn new(pattern: &str, dialect: Dialect) -> Option<Self> {
        let pattern = translate::pattern(pattern, dialect)?;
        let alphabet = Alphabet::new(&pattern.sets)?;
        let (program, behinds) = Program::of_pattern(&pattern.tree, &alphabet.partition)?;
        let behinds = match &behinds[..] {
            [] => None,
            behinds => Some(Program::of_behinds(behinds, &alphabet.partition)?),
        };
        Some(Self { alphabet, program, behinds, spare: Mutex::default() })
    }

    /// As `Splitter::quick_bytes`: at worst, each character makes a new state, in a dozen nanoseconds for each node.
    pub(super) fn quick_bytes(&self) -> usize {
        (1 << 23) / self.program.nodes.len()
    }

    fn scratch(&self) -> Box<Scratch> {
        let spare = self.spare.try_lock().ok().and_then(|mut spare| spare.pop());
        spare.unwrap_or_else(|| Box::new(Scratch::new(&self.program, self.behinds.as_ref())))
    }

    fn give_back(&self, scratch: Box<Scratch>) {
        if let Ok(mut spare) = self.spare.try_lock()
            && spare.len() < MAX_SPARE
        {
            spare.push(scratch);
        }
    }
}

impl fmt::Debug for Linear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linear").field("nodes", &self.program.nodes.len()).finish_non_exhaustive()
    }
}
