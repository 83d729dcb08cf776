//! Piece counts and training as Python sees them.

use crate::errors::exception;
use crate::ids::flat;
use crate::run::{interruptible, on_threads};
use crate::text::{texts, utf8};
use digram::Error;
use digram::count;
use digram::specials::SpecialMatcher;
use digram::split::Splitter;
use digram::train::{Alphabet, Progress, Ties, TrainOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Fewer pieces than this are added at once, in the calling thread.
const MANY: usize = 1 << 16;

/// Distinct pieces and how often each occurs.
#[pyclass(frozen)]
pub struct PieceCounts {
    counter: count::Counter,
    counts: RwLock<count::PieceCounts>,
    split_engine: &'static str,
}

/// The lock is waited for without the interpreter's: who holds one of them never waits for the other.
impl PieceCounts {
    fn read(&self) -> RwLockReadGuard<'_, count::PieceCounts> {
        self.counts.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, count::PieceCounts> {
        self.counts.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PieceCounts {
    /// No counts yet. `split` is a pattern; the `specials` are cut out of each text.
    #[new]
    #[pyo3(signature = (split=None, specials=Vec::new()))]
    fn new(py: Python<'_>, split: Option<&str>, specials: Vec<String>) -> PyResult<Self> {
        let splitter = split.map_or_else(|| Ok(Splitter::none()), Splitter::new);
        let made = splitter.and_then(|splitter| Ok((splitter, SpecialMatcher::new(&specials)?)));
        let (splitter, specials) = made.map_err(|error| exception(py, error, None))?;
        let split_engine = splitter.engine();
        Ok(Self { counter: count::Counter::new(splitter, specials), counts: RwLock::default(), split_engine })
    }

    /// Counts the pieces of texts; `first` is the index of the first of them, for messages.
    #[pyo3(signature = (texts, first=0, threads=None))]
    fn add(&self, py: Python<'_>, texts: &Bound<'_, PyList>, first: usize, threads: Option<usize>) -> PyResult<()> {
        let texts = self::texts(texts, first)?;
        let owned = utf8(&texts)?;
        let documents: Vec<&[u8]> = owned.iter().map(AsRef::as_ref).collect();
        let result = interruptible(
            py,
            |_| Ok(()),
            |stop| {
                on_threads(threads, || {
                    let stop = || stop.load(Ordering::Relaxed);
                    self.counter.count_batch(&documents, &mut self.write(), &stop)
                })
            },
        )??;
        result.map_err(|(index, source)| {
            let index = first + index;
            exception(py, Error::InDocument { index, source: Box::new(source) }, None)
        })
    }

    /// Adds counts of pieces that were cut before.
    fn add_counts(&self, py: Python<'_>, pieces: Vec<Bound<'_, PyBytes>>, counts: Vec<u64>) -> PyResult<()> {
        let pieces: Vec<(&[u8], u64)> = pieces.iter().map(|piece| piece.as_bytes()).zip(counts).collect();
        let result = py.detach(|| {
            let mut all = self.write();
            pieces.iter().try_for_each(|&(piece, n)| all.add_cut(piece, n))
        });
        result.map_err(|error| exception(py, error, None))
    }

    /// Adds all counts of `other`; its new pieces come after the ones here. After Ctrl-C a part of them is added.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, PieceCounts>) -> PyResult<()> {
        // A copy first: `other` may be this one, and two locks held at once could wait for each other.
        let other = other.get();
        let added = py.detach(|| other.read().clone());
        let result = if added.len() < MANY {
            py.detach(|| self.write().merge(&added))
        } else {
            interruptible(py, |_| Ok(()), |stop| self.write().merge_until(&added, &|| stop.load(Ordering::Relaxed)))?
        };
        result.map_err(|error| exception(py, error, None))
    }

    /// All pieces end to end, the end of each as flat u64, the count of each as flat u64; in order of first appearance.
    fn flat<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>) {
        let (bytes, ends, counts) = py.detach(|| {
            let all = self.read();
            let mut bytes = Vec::with_capacity(all.distinct_bytes());
            let (mut ends, mut counts) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
            for (piece, n) in all.iter() {
                bytes.extend_from_slice(piece);
                ends.push(bytes.len() as u64);
                counts.push(n);
            }
            (bytes, ends, counts)
        });
        (PyBytes::new(py, &bytes), flat(py, &ends), flat(py, &counts))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        // Another thread may hold the counts for long; meanwhile all of Python would stand still.
        py.detach(|| self.read().len())
    }

    /// What splits: `none`, `scanner:...`, `automaton`, `regex` or `steps`.
    #[getter]
    fn split_engine(&self) -> &str {
        self.split_engine
    }
}

/// Learns merges: (alphabet or None for bytes, flat u32 pairs, flat u64 counts, whether no pair was left).
///
/// `progress(merges, planned, count)` is called every so often.
#[pyfunction]
#[pyo3(signature = (counts, *, characters, vocab_size, reserved, min_count, ties, max_token_length, progress))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)] // keyword arguments; a tuple that one caller unpacks
pub fn train<'py>(
    py: Python<'py>,
    counts: &Bound<'py, PieceCounts>,
    characters: bool,
    vocab_size: Option<u64>,
    reserved: u64,
    min_count: u64,
    ties: &str,
    max_token_length: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Option<String>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, bool)> {
    let ties = match ties {
        "smallest-ids" => Ties::SmallestIds,
        "smallest-tokens" => Ties::SmallestTokens,
        "first-seen" => Ties::FirstSeen,
        other => return Err(PyValueError::new_err(format!("unknown tie rule {other:?}"))),
    };
    let alphabet = if characters { Alphabet::Characters } else { Alphabet::Bytes };
    let options = TrainOptions { alphabet, vocab_size, reserved, min_count, ties, max_token_length };
    let counts = counts.get();
    let (latest, told) = (Mutex::new(None::<Progress>), &progress);
    let result = interruptible(
        py,
        |py| {
            // Taken out first: the callback may take its time, or use these counts, and training must not wait for it.
            let now = latest.lock().expect("nobody fails while holding it").take();
            match (told, now) {
                (Some(told), Some(now)) => told.call1(py, (now.merges, now.planned, now.best_count)).map(drop),
                _ => Ok(()),
            }
        },
        |stop| {
            digram::train::train(&counts.read(), &options, &mut |now| {
                *latest.lock().expect("nobody fails while holding it") = Some(now);
                if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        },
    )?;
    let trained = result.map_err(|error| exception(py, error, None))?;
    let pairs: Vec<u32> = trained.merges.iter().flat_map(|m| [m.0, m.1]).collect();
    let characters = characters.then(|| trained.characters.iter().collect());
    Ok((characters, flat(py, &pairs), flat(py, &trained.merge_counts), trained.exhausted))
}
