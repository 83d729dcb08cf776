//! What single steps of a stream do with a string that comes in fragments.

use super::Event;
use crate::encode::decoder::REPLACEMENT;

/// The beginning of a string that may have a mark.
#[derive(Clone, Debug, Default)]
pub(super) struct Leading {
    pub(super) held: Vec<u8>,
    marked: bool,
}

/// The marks of a string: how many were taken off its beginning, how many wait for its end, and the bytes of one more.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    inside: bool,
    taken: usize,
    pub(super) waiting: usize,
    pub(super) partial: Vec<u8>,
}

/// Hands on all characters of `bytes`, U+FFFD for what is none, and keeps what may be the beginning of one.
pub(super) fn send_characters(bytes: &mut Vec<u8>, each: &mut dyn FnMut(Event)) {
    let mut done = 0;
    for chunk in bytes.utf8_chunks() {
        each(Event::Bytes(chunk.valid().as_bytes()));
        done += chunk.valid().len();
        let odd = chunk.invalid();
        let last = done + odd.len() == bytes.len();
        if last && std::str::from_utf8(odd).is_err_and(|error| error.error_len().is_none()) {
            break;
        }
        if !odd.is_empty() {
            each(Event::Bytes(REPLACEMENT));
        }
        done += odd.len();
    }
    bytes.drain(..done);
}

impl Leading {
    pub(super) fn take(state: &mut Option<Self>, mark: &[u8], all: bool, event: Event, each: &mut dyn FnMut(Event)) {
        let Some(leading) = state else { return each(event) };
        match event {
            Event::Bytes(bytes) if leading.marked => {
                *state = None;
                each(Event::Bytes(bytes));
            }
            Event::Bytes(bytes) => {
                leading.held.extend_from_slice(bytes);
                if leading.held.len() < mark.len() && mark.starts_with(&leading.held) {
                    return;
                }
                let held = std::mem::take(&mut leading.held);
                let rest = held.strip_prefix(mark);
                leading.marked = rest.is_some();
                let rest = rest.unwrap_or(&held);
                if !rest.is_empty() || !all {
                    *state = None;
                }
                each(Event::Bytes(rest));
            }
            Event::End => {
                let held = std::mem::take(&mut leading.held);
                *state = held.is_empty().then(Self::default);
                each(Event::Bytes(&held));
                each(Event::End);
            }
        }
    }
}

impl Ends {
    /// What is certain of a string when `bytes` have come.
    pub(super) fn strip(&mut self, bytes: &[u8], mark: &[u8], start: usize, stop: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        for (i, &byte) in bytes.iter().enumerate() {
            self.inside |= self.taken == start;
            if self.inside && stop == 0 {
                out.extend_from_slice(&bytes[i..]);
                break;
            } else if self.inside {
                self.add(byte, mark, stop, &mut out);
                continue;
            }
            self.partial.push(byte);
            if self.partial == mark {
                self.partial.clear();
                self.taken += 1;
            } else if !mark.starts_with(&self.partial) {
                self.inside = true;
                let first = std::mem::take(&mut self.partial);
                out.extend_from_slice(&self.strip(&first, mark, start, stop));
            }
        }
        out
    }

    /// One more byte behind the beginning: marks wait until it is known whether the string ends with them.
    fn add(&mut self, byte: u8, mark: &[u8], stop: usize, out: &mut Vec<u8>) {
        self.partial.push(byte);
        if self.partial == mark {
            self.partial.clear();
            if self.waiting < stop {
                self.waiting += 1;
            } else {
                out.extend_from_slice(mark);
            }
        } else if !mark.starts_with(&self.partial) {
            for _ in 0..std::mem::take(&mut self.waiting) {
                out.extend_from_slice(mark);
            }
            // The first byte of a character is none of its others, so only the last byte may begin a mark.
            let begins = self.partial.len() > 1 && mark[0] == byte;
            out.extend_from_slice(&self.partial[..self.partial.len() - usize::from(begins)]);
            self.partial.clear();
            if begins {
                self.partial.push(byte);
            }
        }
    }
}

/// A string that is looked for in fragments of another one (Knuth, Morris and Pratt).
#[derive(Clone, Debug)]
pub(super) struct Search {
    find: Vec<u8>,
    /// Of the first i + 1 bytes: how many of their last bytes are the first ones too, short of all.
    back: Vec<usize>,
    /// How many bytes of `find` the fragments so far end with.
    matched: usize,
}

impl Search {
    pub(super) fn new(find: &[u8]) -> Self {
        let mut back = vec![0; find.len()];
        let mut matched = 0;
        for i in 1..find.len() {
            while matched > 0 && find[matched] != find[i] {
                matched = back[matched - 1];
            }
            matched += usize::from(find[matched] == find[i]);
            back[i] = matched;
        }
        Self { find: find.to_vec(), back, matched: 0 }
    }

    /// What is certain of the string when `bytes` have come, with `content` in the place of each match.
    pub(super) fn replace(&mut self, bytes: &[u8], content: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            while self.matched > 0 && self.find[self.matched] != byte {
                let kept = self.back[self.matched - 1];
                out.extend_from_slice(&self.find[..self.matched - kept]);
                self.matched = kept;
            }
            match self.find[self.matched] == byte {
                true => self.matched += 1,
                false => out.push(byte),
            }
            if self.matched == self.find.len() {
                out.extend_from_slice(content);
                self.matched = 0;
            }
        }
        out
    }

    pub(super) fn held(&self) -> &[u8] {
        &self.find[..self.matched]
    }

    /// The beginning of a match that the string ends with; the next string begins anew.
    pub(super) fn rest(&mut self) -> &[u8] {
        &self.find[..std::mem::take(&mut self.matched)]
    }
}
