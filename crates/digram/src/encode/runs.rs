//! Work in many small parts on several threads, taken back in order.
//!
//! The calling thread is one of them. It takes each result as soon as its turn has come, while the others work; when the
//! next one is not there yet, it works too. So all threads are busy to the end, and no more than `AHEAD` results wait.
//! Threads last as long as the call: none is there when a process forks.

use crate::{Error, Result};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Parts that are handed out before an earlier one is taken.
const AHEAD: usize = 64;

/// Between two questions whether to stop, while the calling thread waits for the others.
const TICK: Duration = Duration::from_millis(50);

/// What the threads share.
struct Parts<T> {
    results: Mutex<Vec<Option<T>>>,
    /// The next part to be handed out.
    next: AtomicUsize,
    /// Parts that were taken back.
    taken: AtomicUsize,
    /// Whether no more is wanted.
    over: AtomicBool,
    /// A result is there, or a thread is gone.
    made: Condvar,
    /// A result was taken, or no more is wanted.
    room: Condvar,
}

impl<T> Parts<T> {
    fn results(&self) -> MutexGuard<'_, Vec<Option<T>>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        let _results = self.results();
        self.over.store(true, Ordering::Relaxed);
        self.room.notify_all();
        self.made.notify_all();
    }

    /// The next part, if there is one below `end`.
    fn claim(&self, end: usize) -> Option<usize> {
        let ahead = |next| (next < end && !self.over.load(Ordering::Relaxed)).then_some(next + 1);
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, ahead).ok()
    }

    fn work(&self, count: usize, work: impl Fn(usize) -> T) {
        /// Whatever ends a thread, none waits for it.
        struct Gone<'a, T>(&'a Parts<T>);
        impl<T> Drop for Gone<'_, T> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.end();
                }
            }
        }
        let _gone = Gone(self);
        while let Some(part) = self.claim(count) {
            let mut results = self.results();
            while part >= self.taken.load(Ordering::Relaxed) + AHEAD && !self.over.load(Ordering::Relaxed) {
                results = self.room.wait(results).unwrap_or_else(PoisonError::into_inner);
            }
            drop(results);
            if self.over.load(Ordering::Relaxed) {
                return;
            }
            let result = work(part);
            self.results()[part] = Some(result);
            self.made.notify_one();
        }
    }
}

/// Calls `work` for the parts `0..count` on up to `threads` threads, this one among them, and `take` with each result here and in order,
/// until it breaks. `work` is given a question whether to stop, to be asked now and then; here that is `stop`, and once
/// that says yes, nothing more is begun or taken.
fn in_order<T: Send>(
    count: usize,
    threads: usize,
    stop: &dyn Fn() -> bool,
    work: impl Fn(usize, &dyn Fn() -> bool) -> T + Sync,
    mut take: impl FnMut(usize, T) -> ControlFlow<()>,
) {
    if threads <= 1 || count <= 1 {
        for part in 0..count {
            if stop() || take(part, work(part, stop)).is_break() {
                return;
            }
        }
        return;
    }
    let parts = Parts {
        results: Mutex::new((0..count).map(|_| None).collect()),
        next: AtomicUsize::new(0),
        taken: AtomicUsize::new(0),
        over: AtomicBool::new(false),
        made: Condvar::new(),
        room: Condvar::new(),
    };
    let over = || parts.over.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            let thread = std::thread::Builder::new().name("digram".into());
            // Where no more threads are to be had, this one does the rest.
            let started = thread.spawn_scoped(scope, || parts.work(count, |part| work(part, &over)));
            if started.is_err() {
                break;
            }
        }
        let mut part = 0;
        while part < count && !over() && !stop() {
            let ready = parts.results()[part].take();
            let result = match ready {
                Some(result) => result,
                None => match parts.claim(count.min(part + AHEAD)) {
                    Some(claimed) => {
                        let result = work(claimed, stop);
                        if claimed != part {
                            parts.results()[claimed] = Some(result);
                            continue;
                        }
                        result
                    }
                    None => {
                        let results = parts.results();
                        if results[part].is_none() && !over() {
                            drop(parts.made.wait_timeout(results, TICK));
                        }
                        continue;
                    }
                },
            };
            let taken = take(part, result);
            part += 1;
            if taken.is_break() {
                break;
            }
            let results = parts.results();
            parts.taken.store(part, Ordering::Relaxed);
            parts.room.notify_all();
            drop(results);
        }
        parts.end();
    });
}

/// As [`in_order`], to the first error, of `work` or `take`, in the order of the parts.
///
/// # Errors
/// That one; `Interrupted` where `stop` said yes before all was taken.
pub(super) fn all_in_order<T: Send>(
    count: usize,
    threads: usize,
    stop: &dyn Fn() -> bool,
    work: impl Fn(usize, &dyn Fn() -> bool) -> Result<T> + Sync,
    take: &mut dyn FnMut(T) -> Result<()>,
) -> Result<()> {
    let (mut done, mut result) = (0, Ok(()));
    in_order(count, threads, stop, work, |_, part| {
        done += 1;
        result = part.and_then(&mut *take);
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    match result {
        Ok(()) if done < count => Err(Error::Interrupted),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn never() -> bool {
        false
    }

    #[test]
    fn results_come_in_order_and_all_of_them() {
        for count in [0, 1, 2, 3, 63, 64, 65, 1000] {
            for threads in [0, 1, 2, 3, 8] {
                let mut taken = Vec::new();
                let work = |part: usize, _: &dyn Fn() -> bool| {
                    if part.is_multiple_of(7) {
                        std::thread::yield_now();
                    }
                    part * 3
                };
                in_order(count, threads, &never, work, |part, result| {
                    taken.push((part, result));
                    ControlFlow::Continue(())
                });
                assert_eq!(taken, (0..count).map(|part| (part, part * 3)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn few_results_wait() {
        let (made, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |_: usize, _: &dyn Fn() -> bool| {
            let waiting = made.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
            assert!(waiting <= AHEAD + 4, "{waiting}");
        };
        in_order(2000, 3, &never, work, |_, ()| {
            taken.fetch_add(1, Ordering::SeqCst);
            std::thread::yield_now();
            ControlFlow::Continue(())
        });
        assert_eq!(taken.into_inner(), 2000);
    }

    #[test]
    fn it_ends_where_it_is_told_to() {
        for threads in [1, 2, 4] {
            let begun = AtomicUsize::new(0);
            let work = |part: usize, _: &dyn Fn() -> bool| {
                begun.fetch_add(1, Ordering::Relaxed);
                part
            };
            let mut last = None;
            in_order(100_000, threads, &never, work, |part, _| {
                last = Some(part);
                if part == 9 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert_eq!(last, Some(9));
            assert!(begun.into_inner() < 9 + 2 * AHEAD);
        }
    }

    #[test]
    fn long_work_is_stopped_here_and_elsewhere() {
        for threads in [1, 2, 4] {
            let asked = AtomicUsize::new(0);
            let stop = || asked.fetch_add(1, Ordering::Relaxed) > 3;
            let endless = |_: usize, stop: &dyn Fn() -> bool| {
                while !stop() {
                    std::thread::yield_now();
                }
            };
            in_order(100, threads, &stop, endless, |_, ()| ControlFlow::Continue(()));
        }
    }

    #[test]
    fn a_panic_comes_through() {
        for threads in [1, 2, 4] {
            let work = |part: usize, _: &dyn Fn() -> bool| assert!(part != 50, "part 50");
            let run = || in_order(100, threads, &never, work, |_, ()| ControlFlow::Continue(()));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "{threads} threads");
        }
    }
}
