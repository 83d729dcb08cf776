//! Long calls: without the interpreter lock, on a bounded number of threads, ended by Ctrl-C.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Work on fewer bytes than this is done at once, in the calling thread: it ends before anyone could press a key.
pub const SHORT: usize = 1 << 20;

/// Work on fewer bytes than this keeps the interpreter lock: to let it go would take longer than others would gain.
pub const TINY: usize = 1 << 11;

/// Between two looks at signals, and two calls of a progress callback.
pub const TICK: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own while this one, without the lock but for moments, looks for signals and calls
/// `tick`. The first exception asks `work` to stop and is raised when it has.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, wait) = channel::<()>();
            let stop = &stop;
            let worker = std::thread::Builder::new().name("digram".into()).spawn_scoped(scope, move || {
                let _done = done; // dropped, however the work ends
                work(stop)
            })?;
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(TICK) {
                if raised.is_none() {
                    raised = Python::attach(|py| py.check_signals().and_then(|()| tick(py))).err();
                    stop.store(raised.is_some(), Ordering::Relaxed);
                }
            }
            let result = worker.join();
            match (raised, result) {
                (Some(error), _) => Err(error),
                (None, Ok(result)) => Ok(result),
                (None, Err(_)) => Err(PyRuntimeError::new_err("the engine failed; please report this")),
            }
        })
    })
}

/// Looks for signals every so often, from the thread that works.
struct Watch {
    last: Cell<Instant>,
    raised: Cell<Option<PyErr>>,
    stopped: Cell<bool>,
}

impl Watch {
    fn stop(&self) -> bool {
        if self.stopped.get() || self.last.get().elapsed() < TICK {
            return self.stopped.get();
        }
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.raised.set(Some(error));
            self.stopped.set(true);
        }
        self.last.set(Instant::now());
        self.stopped.get()
    }
}

/// Runs `work` without the interpreter lock, in this thread, whose caches are warm. It asks whether to stop; then signals are
/// looked for, and the exception of one is raised when it has stopped.
pub fn watched<T: Send>(py: Python<'_>, work: impl FnOnce(&dyn Fn() -> bool) -> T + Send) -> PyResult<T> {
    py.detach(|| {
        let watch = Watch { last: Cell::new(Instant::now()), raised: Cell::new(None), stopped: Cell::new(false) };
        let result = work(&|| watch.stop());
        watch.raised.take().map_or(Ok(result), Err)
    })
}
