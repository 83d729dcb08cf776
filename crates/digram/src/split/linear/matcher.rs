//! The matches in one text.

use super::Linear;
use super::alphabet::EDGE;
use super::automaton::{Automaton, ENDS, FAILS, NOTHING, OPEN, State, UNKNOWN};
use super::program::Program;
use crate::{Error, Result};
use std::ops::Range;

/// The least length of a stretch of text, in bytes, whose states are kept at once. Tests have short texts.
const STRETCH: usize = if cfg!(test) { 1 << 3 } else { 1 << 15 };
/// States that are kept: a stretch, and one character more.
const KEPT: usize = 2 * STRETCH;
/// Steps between two looks at whether to stop: some milliseconds.
const BETWEEN_STOPS: usize = 1 << 21;

/// What the texts of one pattern can share.
pub(super) struct Scratch {
    automaton: Automaton,
    behinds: Option<Automaton>,
    /// The state at each place of the stretch, at its number modulo the length, which is a power of two.
    states: Vec<State>,
    /// The look-behinds that hold at each place of the text.
    held: Vec<u8>,
    /// Where farther stretches end, and what holds there; the nearest is the last.
    ends: Vec<(usize, Box<[u64]>)>,
}

impl Scratch {
    pub(super) fn new(program: &Program, behinds: Option<&Program>) -> Self {
        Self {
            automaton: Automaton::new(program),
            behinds: behinds.map(Automaton::new),
            states: Vec::new(),
            held: Vec::new(),
            ends: Vec::new(),
        }
    }
}

/// One pass over a text.
pub(in super::super) struct Matcher<'a> {
    linear: &'a Linear,
    text: &'a [u8],
    stop: &'a dyn Fn() -> bool,
    /// `None` before the first search and after the last.
    scratch: Option<Box<Scratch>>,
    /// The states of the places before this one are known, from where the last match ended on.
    known: usize,
    /// Whether the automaton had to forget its states in this text.
    forgot: bool,
    /// Steps since the last look at whether to stop.
    steps: usize,
}

impl<'a> Matcher<'a> {
    pub(in super::super) fn new(linear: &'a Linear, text: &'a str, stop: &'a dyn Fn() -> bool) -> Self {
        Self { linear, text: text.as_bytes(), stop, scratch: None, known: 0, forgot: false, steps: 0 }
    }

    /// The first match that begins at byte `from` or later; `from` never goes back. `Interrupted` once `stop` returns true.
    pub(in super::super) fn next(&mut self, from: usize) -> Result<Option<Range<usize>>> {
        if from > self.text.len() {
            return Ok(None);
        }
        let mut scratch = match self.scratch.take() {
            Some(scratch) => scratch,
            None => self.begin()?,
        };
        let found = self.search(&mut scratch, from);
        self.scratch = Some(scratch);
        found
    }

    fn begin(&mut self) -> Result<Box<Scratch>> {
        let mut scratch = self.linear.scratch();
        let kept = (self.text.len() + 1).next_power_of_two().min(KEPT);
        scratch.states.resize(kept.max(scratch.states.len()), 0);
        scratch.ends.clear();
        if let (Some(program), Some(mut automaton)) = (&self.linear.behinds, scratch.behinds.take()) {
            let looked = self.look_behind(program, &mut automaton, &mut scratch.held);
            scratch.behinds = Some(automaton);
            looked?;
        }
        Ok(scratch)
    }

    fn search(&mut self, scratch: &mut Scratch, from: usize) -> Result<Option<Range<usize>>> {
        let (program, text) = (&self.linear.program, self.text);
        let (mut start, mut at, mut entry) = (from, from, 0);
        loop {
            if at >= self.known {
                self.look_ahead(scratch, at)?;
            }
            let (states, automaton) = (&scratch.states[..], &scratch.automaton);
            let (kept, turns, entries, known) = (states.len() - 1, &automaton.turns[..], automaton.entries, self.known);
            let (mut state, mut turn) = (NOTHING, UNKNOWN);
            while at < known {
                state = states[at & kept];
                turn = turns[usize::from(state) * entries + entry];
                if turn >= ENDS {
                    break;
                }
                entry = turn.into();
                at += length(text[at]);
            }
            if turn == UNKNOWN {
                turn = scratch.automaton.turn(program, state, entry);
                self.stepped(program.nodes.len())?;
            }
            match turn {
                ENDS => return Ok(Some(start..at)),
                // Only at the first place of an attempt: what holds there holds up to the end of the match.
                FAILS => {
                    debug_assert_eq!((start, entry), (at, 0), "a match goes on");
                    if at == text.len() {
                        return Ok(None);
                    }
                    at += length(text[at]);
                    start = at;
                }
                // The stretch ends, or the turn is known by now.
                _ => {}
            }
        }
    }

    /// Finds the states of the places from `from` on, a stretch or more.
    fn look_ahead(&mut self, scratch: &mut Scratch, from: usize) -> Result<()> {
        let program = &self.linear.program;
        if let Some((end, set)) = scratch.ends.pop() {
            if self.forgot {
                scratch.automaton.clear(program);
            }
            let state = scratch.automaton.intern(program, &set).unwrap_or_else(|_| {
                scratch.automaton.clear(program);
                scratch.automaton.intern(program, &set).unwrap_or(OPEN)
            });
            return self.descend(scratch, end, state, from).map(|_| ());
        }
        let mut length = STRETCH;
        loop {
            let mut end = from.saturating_add(length).min(self.text.len());
            while end < self.text.len() && self.text[end] & 0xC0 == 0x80 {
                end += 1;
            }
            let exact = self.descend(scratch, end, if end == self.text.len() { NOTHING } else { OPEN }, from)?;
            // Enough is known to pay for the pass, if it is a part of it.
            if exact.is_some_and(|exact| exact >= from + (end - from) / 4) {
                return Ok(());
            }
            scratch.ends.clear();
            length = length.saturating_mul(4);
        }
    }

    /// Goes from place `end` back to `from`, and keeps the states of the places from `from` on. `state` is that of `end`, or
    /// `NOTHING` at the end of the text. The last place with an exact state, if any has one.
    fn descend(&mut self, scratch: &mut Scratch, end: usize, state: State, from: usize) -> Result<Option<usize>> {
        match self.linear.program.looks_far {
            true => self.descend_looking::<true>(scratch, end, state, from),
            false => self.descend_looking::<false>(scratch, end, state, from),
        }
    }

    fn descend_looking<const FAR: bool>(
        &mut self,
        scratch: &mut Scratch,
        end: usize,
        mut state: State,
        from: usize,
    ) -> Result<Option<usize>> {
        let (program, table, text) = (&self.linear.program, &self.linear.alphabet.table, self.text);
        let Scratch { automaton, states, held, ends, .. } = scratch;
        let kept = states.len() - 1;
        let before = |at: usize| if at == 0 { (EDGE, 0) } else { table.before(text, at) };
        let mut at = end;
        // The character before `at`: the far one there, the near one at its beginning.
        let (mut class, mut length) = before(at);
        let symbol = |at: usize, near: u8, far: u8, held: &[u8]| {
            let context = match FAR {
                true => {
                    let behind = if program.behinds > 0 { held[at].into() } else { 0 };
                    usize::from(program.far[usize::from(far)]) << program.behinds | behind
                }
                false => 0,
            };
            context * program.classes + usize::from(near)
        };
        if at == text.len() && state == NOTHING {
            // What holds at the very end follows from nothing.
            let symbol = symbol(at, EDGE, class, held);
            state = automaton.steps[usize::from(NOTHING) * automaton.row + symbol];
            if state == UNKNOWN {
                state = automaton.step(program, NOTHING, symbol).unwrap_or_else(|_| {
                    automaton.clear(program);
                    self.forgot = true;
                    automaton.step(program, NOTHING, symbol).unwrap_or(OPEN)
                });
            }
        }
        states[at & kept] = state;
        let mut exact = automaton.is_exact(state).then_some(at);
        // The end of the stretch, where it is exact, and the state there.
        let mut stretch = (at, state);
        self.known = if at == text.len() { at + 1 } else { at };
        let mut pause = at.saturating_sub(STRETCH);
        while at > from {
            let (beyond, near) = (at, class);
            at -= length;
            (class, length) = before(at);
            let symbol = symbol(at, near, class, held);
            let mut next = automaton.steps[usize::from(state) * automaton.row + symbol];
            if next == UNKNOWN {
                self.stepped(4 * program.nodes.len())?;
                next = match automaton.step(program, state, symbol) {
                    Ok(next) => next,
                    Err(_) => {
                        // The states of the stretch so far are lost: it ends here, and the rest of it is for later.
                        if exact.is_some() && beyond < stretch.0 {
                            ends.push((stretch.0, automaton.set(stretch.1).into()));
                            self.known = beyond;
                            pause = beyond.saturating_sub(STRETCH);
                        }
                        let set = Box::<[u64]>::from(automaton.set(state));
                        automaton.clear(program);
                        self.forgot = true;
                        let again = automaton.intern(program, &set).unwrap_or(OPEN);
                        states[beyond & kept] = again;
                        stretch = (beyond, again);
                        automaton.step(program, again, symbol).unwrap_or(OPEN)
                    }
                };
            }
            state = next;
            states[at & kept] = state;
            if exact.is_none() && automaton.is_exact(state) {
                exact = Some(at);
                stretch = (at, state);
                self.known = at + 1;
                pause = at.saturating_sub(STRETCH);
            }
            if at <= pause && at > from {
                self.stepped(STRETCH)?;
                if exact.is_some() {
                    ends.push((stretch.0, automaton.set(stretch.1).into()));
                    stretch = (at, state);
                    self.known = at;
                }
                pause = at.saturating_sub(STRETCH);
            }
        }
        self.stepped(STRETCH.min(end - from))?;
        Ok(exact)
    }

    /// Notes at every place which look-behinds hold there.
    fn look_behind(&mut self, program: &Program, automaton: &mut Automaton, held: &mut Vec<u8>) -> Result<()> {
        let (table, text) = (&self.linear.alphabet.table, self.text);
        held.clear();
        held.resize(text.len() + 1, 0);
        let (mut at, mut state, mut near) = (0, NOTHING, EDGE);
        loop {
            let (class, length) = if at < text.len() { table.at(text, at) } else { (EDGE, 0) };
            let symbol = usize::from(program.far[usize::from(class)]) * program.classes + usize::from(near);
            let mut next = automaton.steps[usize::from(state) * automaton.row + symbol];
            if next == UNKNOWN {
                self.stepped(4 * program.nodes.len())?;
                next = automaton.step(program, state, symbol).unwrap_or_else(|_| {
                    let set = Box::<[u64]>::from(automaton.set(state));
                    automaton.clear(program);
                    let again = automaton.intern(program, &set).unwrap_or(OPEN);
                    automaton.step(program, again, symbol).unwrap_or(OPEN)
                });
            }
            state = next;
            held[at] = automaton.roots[usize::from(state)];
            if at == text.len() {
                return Ok(());
            }
            self.stepped(1)?;
            near = class;
            at += length;
        }
    }

    /// Counts steps, and asks now and then whether to stop.
    #[inline]
    fn stepped(&mut self, steps: usize) -> Result<()> {
        self.steps += steps;
        if self.steps >= BETWEEN_STOPS {
            self.steps = 0;
            if (self.stop)() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }
}

impl Drop for Matcher<'_> {
    fn drop(&mut self) {
        if let Some(mut scratch) = self.scratch.take() {
            if scratch.held.capacity() > KEPT {
                scratch.held = Vec::new();
            }
            if scratch.ends.capacity() > STRETCH {
                scratch.ends = Vec::new();
            }
            self.linear.give_back(scratch);
        }
    }
}

/// The length of a character by its first byte.
#[inline]
fn length(first: u8) -> usize {
    if first < 0x80 {
        return 1;
    }
    match first {
        ..=0xDF => 2,
        0xE0..=0xEF => 3,
        _ => 4,
    }
}
