//! Counting what is read: a text of any length in little memory, where its pattern has cuts.

use super::Counter;
use super::documents::{Sink, on_threads};
use crate::Error;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Why a text could not be counted to its end.
#[derive(Debug)]
pub enum ReadError {
    /// It could not be read.
    Io(io::Error),
    /// It is not UTF-8 from here on.
    NotText {
        /// Where, in bytes.
        offset: u64,
        /// What stands there.
        byte: u8,
    },
    /// What the counter says.
    Count(Error),
}

/// A text in parts, as it is read.
struct Windows<'a, R> {
    counter: &'a Counter,
    reader: R,
    /// Bytes that are read at a time.
    size: usize,
    /// What was read and belongs to the next part.
    rest: Vec<u8>,
    /// The offset of the next part.
    offset: u64,
    over: bool,
}

impl<R: Read> Windows<'_, R> {
    /// Puts the next part into `part`, and gives its offset; `None` at the end.
    fn next(&mut self, part: &mut Vec<u8>) -> io::Result<Option<u64>> {
        part.clear();
        part.append(&mut self.rest);
        if !self.counter.has_cuts() && !self.over {
            self.reader.read_to_end(part)?;
            self.over = true;
        }
        let mut cut = None;
        let mut from = 1;
        while cut.is_none() && !self.over {
            let wanted = self.size.saturating_sub(part.len()).max(self.size / 2).max(1);
            part.reserve(wanted);
            let got = self.reader.by_ref().take(wanted as u64).read_to_end(part)?;
            self.over = got < wanted;
            if part.len() >= self.size {
                cut = self.counter.last_cut(part, from, part.len());
                // A character that was not there as a whole may be there then.
                from = part.len().saturating_sub(3).max(1);
            }
        }
        if let Some(cut) = cut {
            self.rest.extend_from_slice(&part[cut..]);
            part.truncate(cut);
        }
        let offset = self.offset;
        self.offset += part.len() as u64;
        Ok((!part.is_empty()).then_some(offset))
    }
}

/// Counts the pieces of a text into `sinks`, on a thread for each, and adds the bytes that are done to `done`; `position` is
/// that of its first byte. Returns its length, as far as it
/// was read.
pub(super) fn count<S: Sink + Send>(
    (counter, reader): (&Counter, impl Read + Send),
    size: usize,
    position: u64,
    sinks: &mut [S],
    done: &AtomicU64,
    stop: &(dyn Fn() -> bool + Sync),
) -> (u64, Result<(), ReadError>) {
    let windows = Windows { counter, reader, size, rest: Vec::new(), offset: 0, over: false };
    let (windows, failed) = (Mutex::new(windows), AtomicBool::new(false));
    // Parts are handed out in their order, so all before one that fails are counted, and the first that fails is known.
    let fail = |offset, error| {
        failed.store(true, Ordering::Relaxed);
        Err((offset, error))
    };
    let work = |sink: &mut S| {
        let mut part = Vec::new();
        loop {
            let (offset, next) = {
                let mut windows = windows.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                (windows.offset, windows.next(&mut part))
            };
            match next {
                Ok(None) => return Ok(()),
                Err(error) => return fail(offset, ReadError::Io(error)),
                Ok(Some(_)) => {}
            }
            let text = match simdutf8::compat::from_utf8(&part) {
                Ok(text) => text,
                Err(error) => {
                    let (offset, byte) = (offset + error.valid_up_to() as u64, part[error.valid_up_to()]);
                    return fail(offset, ReadError::NotText { offset, byte });
                }
            };
            if let Err(error) = counter.count_str(text, position + offset, sink, stop) {
                return fail(offset, ReadError::Count(error));
            }
            done.fetch_add(part.len() as u64, Ordering::Relaxed);
        }
    };
    let errors = on_threads(sinks, work).into_iter().filter_map(Result::err);
    let first = errors.min_by_key(|(offset, _)| *offset);
    let length = windows.into_inner().unwrap_or_else(PoisonError::into_inner).offset;
    (length, first.map_or(Ok(()), |(_, error)| Err(error)))
}
