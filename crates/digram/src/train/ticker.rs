//! Keeping the caller informed: a clock that is looked at every few thousand units of work, and what was learnt so far.

use super::{Learned, Progress, Watch};
use crate::{Error, Result};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Units of work (about one symbol visited each) between two looks at the clock: a millisecond or so.
const WORK: u64 = 1 << 14;
/// Time between two calls of the caller.
const PERIOD: Duration = Duration::from_millis(25);

/// Calls the caller every so often, and remembers how far training has come.
pub(super) struct Ticker<'a> {
    watch: &'a mut dyn Watch,
    /// What the caller is told.
    pub(super) progress: Progress,
    /// The merges so far.
    pub(super) learned: Learned,
    work: u64,
    /// All work so far.
    total: u64,
    last: Instant,
}

impl<'a> Ticker<'a> {
    pub(super) fn new(watch: &'a mut dyn Watch) -> Self {
        let progress = Progress { merges: 0, planned: None, best_count: 0 };
        Ticker { watch, progress, learned: Learned::default(), work: 0, total: 0, last: Instant::now() }
    }

    /// Notes `units` of work; `Interrupted` if the caller was due and said so.
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

    /// Calls the caller now.
    pub(super) fn call(&mut self) -> Result<()> {
        self.last = Instant::now();
        if self.watch.tick(self.progress, &self.learned).is_break() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Notes a merge and its count.
    pub(super) fn learn(&mut self, left: u32, right: u32, count: u64) {
        self.learned.merges.push((left, right));
        self.learned.counts.push(count);
        self.progress.best_count = count;
    }

    /// Asks the caller whether a pair may be merged.
    pub(super) fn allows(&mut self, left: &[u8], right: &[u8]) -> Result<bool> {
        let ControlFlow::Continue(allowed) = self.watch.allows(left, right) else {
            return Err(Error::Interrupted);
        };
        // The answer may have taken longer than all the work in between.
        if self.last.elapsed() >= PERIOD {
            self.call()?;
        }
        Ok(allowed)
    }

    /// All work noted so far.
    #[cfg(test)]
    pub(super) fn total(&self) -> u64 {
        self.total + self.work
    }
}
