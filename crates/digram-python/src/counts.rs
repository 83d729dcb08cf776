//! Piece counts as Python sees them.

use crate::errors::exception;
use crate::ids::{flat, numbers};
use crate::run::{SHORT, TICK, interruptible, watched};
use crate::text::{Texts, utf8};
use crate::work::cores;
use digram::Error;
use digram::count::{self, Counts, CountsReader, Limit, ReadError};
use digram::specials::SpecialMatcher;
use digram::split::Splitter;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes};
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::sync::{Mutex, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Instant;

/// Bytes that are asked of a stream at a time.
const CHUNK: usize = 1 << 18;

/// Pieces between two looks for Ctrl-C, and those that are read at a time.
const MANY: usize = 1 << 16;

/// Distinct pieces and how often each occurs.
#[pyclass(frozen)]
pub struct PieceCounts {
    counter: count::Counter,
    counts: RwLock<count::RunningCounts>,
    split_engine: &'static str,
}

/// The lock is waited for without the interpreter's: who holds one of them never waits for the other.
impl PieceCounts {
    fn write(&self) -> RwLockWriteGuard<'_, count::RunningCounts> {
        self.counts.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that was counted, put together. Whoever reads it holds no lock: it stays as it is while others count.
    pub fn all(&self, stop: &dyn Fn() -> bool) -> digram::Result<Counts> {
        let counts = self.counts.read().unwrap_or_else(PoisonError::into_inner);
        if counts.is_settled() {
            return Ok(counts.counts());
        }
        drop(counts);
        let mut counts = self.write();
        counts.settle(stop)?;
        Ok(counts.counts())
    }

    /// Runs `work` without the interpreter lock, until Ctrl-C.
    fn watched<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn Fn() -> bool) -> digram::Result<T> + Send,
    ) -> PyResult<T> {
        watched(py, work)?.map_err(|error| exception(py, error, None))
    }
}

#[pymethods]
impl PieceCounts {
    /// No counts yet. `split` is a pattern; the `specials` are cut out of each text. `limit` is a number of bytes in memory, and
    /// a folder for what is beyond it. A thread is given about `part` bytes at a time, on which no result depends.
    #[new]
    #[pyo3(signature = (split=None, specials=Vec::new(), limit=None, part=None))]
    fn new(
        py: Python<'_>,
        split: Option<&str>,
        specials: Vec<String>,
        limit: Option<(usize, PathBuf)>,
        part: Option<usize>,
    ) -> PyResult<Self> {
        let splitter = split.map_or_else(|| Ok(Splitter::none()), Splitter::new);
        let made = splitter.and_then(|splitter| Ok((splitter, SpecialMatcher::new(&specials)?)));
        let (splitter, specials) = made.map_err(|error| exception(py, error, None))?;
        let split_engine = splitter.engine();
        let limit = limit.map(|(memory, folder)| Limit { memory, folder });
        let counts = RwLock::new(match part {
            None => count::RunningCounts::new(limit),
            Some(part) => count::RunningCounts::in_parts(limit, part.max(1)),
        });
        Ok(Self { counter: count::Counter::new(splitter, specials), counts, split_engine })
    }

    /// Counts the pieces of texts; `first` is the index of the first of them, for messages.
    #[pyo3(signature = (texts, first=0, threads=None))]
    fn add(&self, py: Python<'_>, texts: &Bound<'_, PyAny>, first: usize, threads: Option<usize>) -> PyResult<()> {
        let texts = Texts::of(texts, first)?;
        let views = texts.views(first)?;
        let owned = utf8(&views);
        let documents: Vec<&[u8]> = owned.iter().map(AsRef::as_ref).collect();
        let bytes: usize = documents.iter().map(|document| document.len()).sum();
        let add = |threads, stop: &(dyn Fn() -> bool + Sync)| {
            self.write().count_batch(&self.counter, &documents, threads, stop)
        };
        let result = if bytes < SHORT.min(self.counter.quick_bytes()) {
            py.detach(|| add(1, &|| false))
        } else {
            let threads = threads.unwrap_or_else(|| cores(bytes));
            interruptible(py, |_| Ok(()), |stop| add(threads, &|| stop.load(Ordering::Relaxed)))?
        };
        result.map_err(|(index, source)| match source {
            Error::Temporary { .. } => exception(py, source, None),
            _ => exception(py, Error::InDocument { index: first + index, source: Box::new(source) }, None),
        })
    }

    /// Counts the pieces of a file, which is one document of UTF-8. `progress` is called every so often with the bytes that are
    /// done. Returns None, or where the file is not UTF-8: the offset, and the byte that stands there.
    #[pyo3(signature = (path, threads=None, progress=None))]
    fn add_file(
        &self,
        py: Python<'_>,
        path: PathBuf,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<(u64, u8)>> {
        let threads = threads.unwrap_or_else(|| cores(usize::MAX));
        let result = reported(py, progress, |done, stop| {
            let file = File::open(&path).map_err(ReadError::Io)?;
            let megabytes = file.metadata().map_or(0, |facts| facts.len()) >> 20;
            let threads = threads.min(usize::try_from(megabytes).unwrap_or(threads) + 1);
            self.write().count_reader(&self.counter, file, threads, done, &|| stop.load(Ordering::Relaxed))
        })?;
        match result {
            Ok(()) => Ok(None),
            Err(ReadError::NotText { offset, byte }) => Ok(Some((offset, byte))),
            Err(ReadError::Count(error)) => Err(exception(py, error, None)),
            Err(ReadError::Io(error)) => {
                let code = error.raw_os_error().unwrap_or(0);
                let reason = py.import("os")?.call_method1("strerror", (code,))?.unbind();
                Err(PyOSError::new_err((code, reason, path.into_os_string())))
            }
        }
    }

    /// Counts the pieces of what `read(size)` gives, until it gives no bytes: one document of UTF-8, as it comes from a
    /// pipe or out of a compressed file. What `read` raises comes through. Otherwise as `add_file`.
    #[pyo3(signature = (read, threads=None, progress=None))]
    fn add_stream(
        &self,
        py: Python<'_>,
        read: Py<PyAny>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<(u64, u8)>> {
        let threads = threads.unwrap_or_else(|| cores(usize::MAX));
        let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let tell = |py: Python<'_>| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |told| told.call1(py, (done.load(Ordering::Relaxed),)).map(drop))
        };
        let next = |py: Python<'_>| match read.call1(py, (CHUNK,))?.extract::<Option<PyBackedBytes>>(py)? {
            Some(bytes) => Ok(bytes.to_vec()),
            // What a file that does not block gives when nothing is there yet.
            None => Err(PyOSError::new_err("the stream does not block, and has nothing to read now")),
        };
        // This thread reads, for only here can Ctrl-C end a call that waits for more; another one counts.
        let (raised, result) = py.detach(|| {
            std::thread::scope(|scope| -> PyResult<_> {
                let (chunks, received) = sync_channel::<Vec<u8>>(2);
                let (over, wait) = channel::<()>();
                let (done, stop) = (&done, &stop);
                let worker = std::thread::Builder::new().name("digram".into()).spawn_scoped(scope, move || {
                    let _over = over; // dropped, however the work ends
                    let stream = Stream { received, chunk: Vec::new(), at: 0 };
                    self.write().count_reader(&self.counter, stream, threads, done, &|| stop.load(Ordering::Relaxed))
                })?;
                let (mut raised, mut last) = (None, Instant::now());
                loop {
                    let is_due = last.elapsed() >= TICK;
                    match Python::attach(|py| if is_due { tell(py).and_then(|()| next(py)) } else { next(py) }) {
                        Ok(bytes) => {
                            // An error that the other one has found ends this too.
                            if bytes.is_empty() || chunks.send(bytes).is_err() {
                                break;
                            }
                            last = if is_due { Instant::now() } else { last };
                        }
                        Err(error) => {
                            raised = Some(error);
                            break;
                        }
                    }
                }
                stop.store(raised.is_some(), Ordering::Relaxed);
                drop(chunks);
                while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(TICK) {
                    if raised.is_none() {
                        raised = Python::attach(tell).err();
                        stop.store(raised.is_some(), Ordering::Relaxed);
                    }
                }
                let failed = |_| PyRuntimeError::new_err("the engine failed; please report this");
                Ok((raised, worker.join().map_err(failed)?))
            })
        })?;
        match (raised, result) {
            (Some(error), _) => Err(error),
            (None, Ok(())) => Ok(None),
            (None, Err(ReadError::NotText { offset, byte })) => Ok(Some((offset, byte))),
            (None, Err(ReadError::Count(error))) => Err(exception(py, error, None)),
            (None, Err(ReadError::Io(error))) => Err(error.into()),
        }
    }

    /// Adds counts of pieces that were cut before: piece i is `pieces[ends[i - 1]:ends[i]]` (flat u64), its count `counts[i]`
    /// (flat u64).
    fn add_counts(
        &self,
        py: Python<'_>,
        pieces: &Bound<'_, PyBytes>,
        ends: &Bound<'_, PyAny>,
        counts: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (bytes, ends, counts) = (pieces.as_bytes(), numbers::<u64>(ends)?, numbers::<u64>(counts)?);
        if ends.len() != counts.len() || !ends.is_sorted() || ends.last().is_some_and(|&end| end > bytes.len() as u64) {
            return Err(PyValueError::new_err("the ends are not ascending, or not as many as the counts"));
        }
        self.watched(py, |stop| {
            let (mut all, mut start) = (self.write(), 0);
            for (i, (&end, &n)) in ends.iter().zip(counts.iter()).enumerate() {
                if i.is_multiple_of(MANY) && stop() {
                    return Err(Error::Interrupted);
                }
                all.add_cut(&bytes[start..end as usize], n)?;
                start = end as usize;
            }
            Ok(())
        })
    }

    /// Adds all counts of `other`; its new pieces come after the ones here. After Ctrl-C a part of them is added.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, PieceCounts>) -> PyResult<()> {
        let other = other.get();
        self.watched(py, |stop| {
            // One lock after the other: `other` may be this one, and two locks held at once could wait for each other.
            let added = other.all(stop)?;
            self.write().merge(&added, stop)
        })
    }

    /// All pieces end to end, the end of each as flat u64, the count of each as flat u64; in order of first appearance.
    fn flat<'py>(&self, py: Python<'py>) -> PyResult<Flat<'py>> {
        let parts = self.watched(py, |stop| Ok(parts(&*self.all(stop)?.load(stop)?)))?;
        Ok(flat_parts(py, &parts))
    }

    /// What reads the pieces, in order of first appearance.
    fn reader(&self, py: Python<'_>) -> PyResult<PieceReader> {
        let reader = self.watched(py, |stop| self.all(stop)?.read())?;
        Ok(PieceReader { reader: Mutex::new(reader) })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.watched(py, |stop| Ok(self.all(stop)?.size().0))
    }

    /// What splits: `none`, `scanner:...`, `automaton`, `regex` or `steps`.
    #[getter]
    fn split_engine(&self) -> &str {
        self.split_engine
    }
}

/// Runs `work`, which is given where it notes the bytes that are done, and calls `progress` with these every so often.
fn reported<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&AtomicU64, &AtomicBool) -> T + Send,
) -> PyResult<T> {
    let done = AtomicU64::new(0);
    let tell = |py: Python<'_>| match &progress {
        Some(told) => told.call1(py, (done.load(Ordering::Relaxed),)).map(drop),
        None => Ok(()),
    };
    interruptible(py, tell, |stop| work(&done, stop))
}

/// What another thread reads.
struct Stream {
    received: Receiver<Vec<u8>>,
    chunk: Vec<u8>,
    /// Bytes of the chunk that were passed on.
    at: usize,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            // None to come is the end.
            (self.chunk, self.at) = (self.received.recv().unwrap_or_default(), 0);
        }
        let size = buffer.len().min(self.chunk.len() - self.at);
        buffer[..size].copy_from_slice(&self.chunk[self.at..self.at + size]);
        self.at += size;
        Ok(size)
    }
}

/// Pieces, flat, and their ends and counts.
type Flat<'py> = (Bound<'py, PyBytes>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>);

fn parts(all: &count::PieceCounts) -> (Vec<u8>, Vec<u64>, Vec<u64>) {
    let mut bytes = Vec::with_capacity(all.distinct_bytes());
    let (mut ends, mut counts) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
    for (piece, n) in all.iter() {
        bytes.extend_from_slice(piece);
        ends.push(bytes.len() as u64);
        counts.push(n);
    }
    (bytes, ends, counts)
}

fn flat_parts<'py>(py: Python<'py>, (bytes, ends, counts): &(Vec<u8>, Vec<u64>, Vec<u64>)) -> Flat<'py> {
    (PyBytes::new(py, bytes), flat(py, ends), flat(py, counts))
}

/// Reads pieces and counts, as they were when it was made.
#[pyclass(frozen)]
pub struct PieceReader {
    reader: Mutex<CountsReader>,
}

#[pymethods]
impl PieceReader {
    /// The next pieces, as `PieceCounts.flat` gives all; None at the end.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Option<Flat<'py>>> {
        let some = py.detach(|| {
            let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
            reader.next(MANY, 1 << 20).map(|some| parts(&some))
        });
        let some = some.map_err(|error| exception(py, error, None))?;
        Ok((!some.1.is_empty()).then(|| flat_parts(py, &some)))
    }
}
