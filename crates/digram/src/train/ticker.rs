//! Keeping the caller informed: a clock that is looked at every few thousand units of work.

use super::Progress;
use crate::{Error, Result};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Units of work (about one symbol visited each) between two looks at the clock: a millisecond or so.
const WORK: u64 = 1 << 14;
/// Time between two calls of the callback.
const PERIOD: Duration = Duration::from_millis(25);

/// Calls the callback every so often, and remembers how far training has come.
pub(super) struct Ticker<'a> {
    callback: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    /// What the callback is told.
    pub(super) progress: Progress,
    work: u64,
    /// All work so far.
    total: u64,
    last: Instant,
}

impl<'a> Ticker<'a> {
    pub(super) fn new(callback: &'a mut dyn FnMut(Progress) -> ControlFlow<()>) -> Self {
        let progress = Progress { merges: 0, planned: None, best_count: 0 };
        Ticker { callback, progress, work: 0, total: 0, last: Instant::now() }
    }

    /// Notes `units` of work; `Interrupted` if the callback was due and said so.
    #[inline]
    pub(super) fn work(&mut self, units: usize) -> Result<()> {
        self.work += units as u64;
        if self.work < WORK { Ok(()) } else { self.look() }
    }

    #[cold]
    fn look(&mut self) -> Result<()> {
        self.total += std::mem::take(&mut self.work);
        if self.last.elapsed() < PERIOD { Ok(()) } else { self.call() }
    }

    /// Calls the callback now.
    pub(super) fn call(&mut self) -> Result<()> {
        self.last = Instant::now();
        if (self.callback)(self.progress).is_break() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// All work noted so far.
    #[cfg(test)]
    pub(super) fn total(&self) -> u64 {
        self.total + self.work
    }
}
