//! Training as Python sees it.

use crate::counts::PieceCounts;
use crate::errors::exception;
use crate::ids::flat;
use crate::run::{interruptible, watched};
use digram::train::{Alphabet, Learned, PairRules, Progress, Ties, TrainOptions, Watch, train_counts};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::mem::take;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Alphabet or None for bytes, flat u32 pairs, flat u64 counts, whether no pair was left.
type Outcome<'py> = (Option<String>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, bool);

/// Learns merges: (alphabet or None for bytes, flat u32 pairs, flat u64 counts, whether no pair was left).
///
/// `merges` are flat u32 pairs to begin with, `seeds` tokens to make after them. `told(merges, planned, count, pairs,
/// counts, alphabet)` is called every so often; where `follow` is set, pairs and counts are flat buffers of the merges since
/// the last call, and the alphabet is what is known of it, else they are empty. `allow(left, right, joined)` is asked before
/// each merge that is learnt, in this thread.
#[pyfunction]
#[pyo3(signature = (
    counts, *, characters, vocab_size, reserved, min_count, ties, max_token_length=None, max_characters=None,
    whole_characters=false, split_digits=false, attach_marks=false, initial="", limit=None, merges=None,
    seeds=Vec::new(), told=None, follow=false, allow=None
))]
#[allow(clippy::too_many_arguments)] // keyword arguments
pub fn train<'py>(
    py: Python<'py>,
    counts: &Bound<'py, PieceCounts>,
    characters: bool,
    vocab_size: Option<u64>,
    reserved: u64,
    min_count: u64,
    ties: &str,
    max_token_length: Option<u64>,
    max_characters: Option<u64>,
    whole_characters: bool,
    split_digits: bool,
    attach_marks: bool,
    initial: &str,
    limit: Option<u64>,
    merges: Option<PyBuffer<u32>>,
    seeds: Vec<Bound<'py, PyBytes>>,
    told: Option<Py<PyAny>>,
    follow: bool,
    allow: Option<Py<PyAny>>,
) -> PyResult<Outcome<'py>> {
    let options = TrainOptions {
        alphabet: if characters { Alphabet::Characters } else { Alphabet::Bytes },
        rules: PairRules { max_characters, whole_characters, split_digits, attach_marks },
        ask: allow.is_some(),
        initial: initial.chars().collect(),
        limit,
        seeds: seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect(),
        ..options(py, vocab_size, reserved, min_count, ties, max_token_length, merges)?
    };
    let counts = counts.get();
    let trained = match allow {
        None => in_a_thread(py, told.as_ref(), follow, |worker, stop| {
            train_counts(counts.all(stop)?, &options, worker, stop)
        })?,
        Some(allow) => {
            let mut caller = Caller { allow, told, follow, sent: 0, raised: None };
            let all = watched(py, |stop| counts.all(stop))?;
            let all = all.map_err(|error| exception(py, error, None))?;
            let result = py.detach(|| train_counts(all, &options, &mut caller, &|| false));
            caller.raised.map_or(Ok(()), Err)?;
            result.map_err(|error| exception(py, error, None))?
        }
    };
    let characters = characters.then(|| trained.characters.iter().collect());
    Ok((characters, flat_pairs(py, &trained.merges), flat(py, &trained.merge_counts), trained.exhausted))
}

/// The options that every way of training has; `merges` are flat pairs.
pub fn options(
    py: Python<'_>,
    vocab_size: Option<u64>,
    reserved: u64,
    min_count: u64,
    ties: &str,
    max_token_length: Option<u64>,
    merges: Option<PyBuffer<u32>>,
) -> PyResult<TrainOptions> {
    let merges = merges.map_or_else(|| Ok(Vec::new()), |buffer| buffer.to_vec(py))?;
    Ok(TrainOptions {
        vocab_size,
        reserved,
        min_count,
        ties: tie_rule(ties)?,
        max_token_length,
        merges: merges.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
        ..TrainOptions::default()
    })
}

/// Runs `work`, which takes a [`Worker`] and whether to stop, in a thread of its own. `told` is called from this one every so
/// often, where `follow` is set with what was learnt since the last call.
pub fn in_a_thread<T: Send>(
    py: Python<'_>,
    told: Option<&Py<PyAny>>,
    follow: bool,
    work: impl FnOnce(&mut Worker, &dyn Fn() -> bool) -> digram::Result<T> + Send,
) -> PyResult<T> {
    let news = Mutex::new(News::default());
    let result = interruptible(
        py,
        // Taken out first: the callback may take its time, and training must not wait for it.
        |py| take(&mut *news.lock().expect("nobody fails while holding it")).tell(py, told),
        |stop| work(&mut Worker { news: &news, stop, follow, sent: 0 }, &|| stop.load(Ordering::Relaxed)),
    )?;
    result.map_err(|error| exception(py, error, None))
}

/// Pairs of ids as flat u32.
pub fn flat_pairs<'py>(py: Python<'py>, pairs: &[(u32, u32)]) -> Bound<'py, PyByteArray> {
    let numbers: Vec<u32> = pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect();
    flat(py, &numbers)
}

fn tie_rule(name: &str) -> PyResult<Ties> {
    Ok(match name {
        "smallest-ids" => Ties::SmallestIds,
        "smallest-tokens" => Ties::SmallestTokens,
        "first-seen" => Ties::FirstSeen,
        "largest-tokens" => Ties::LargestTokens,
        "shortest-token" => Ties::ShortestToken,
        "smallest-characters" => Ties::SmallestCharacters,
        other => return Err(PyValueError::new_err(format!("unknown tie rule {other:?}"))),
    })
}

/// What the caller has not been told yet.
#[derive(Default)]
struct News {
    progress: Option<Progress>,
    learned: Learned,
}

impl News {
    /// Adds what was learnt since the first `sent` merges.
    fn add(&mut self, progress: Progress, learned: &Learned, follow: bool, sent: &mut usize) {
        self.progress = Some(progress);
        if follow {
            self.learned.merges.extend_from_slice(&learned.merges[*sent..]);
            self.learned.characters.clone_from(&learned.characters);
            self.learned.counts.extend_from_slice(&learned.counts[*sent..]);
            *sent = learned.merges.len();
        }
    }

    fn tell(self, py: Python<'_>, told: Option<&Py<PyAny>>) -> PyResult<()> {
        let (Some(told), Some(now)) = (told, self.progress) else {
            return Ok(());
        };
        let (pairs, counts) = (flat_pairs(py, &self.learned.merges), flat(py, &self.learned.counts));
        let alphabet: String = self.learned.characters.iter().collect();
        told.call1(py, (now.merges, now.planned, now.best_count, pairs, counts, alphabet)).map(drop)
    }
}

/// Trains in a thread of its own, and leaves news for the one that called.
pub struct Worker<'a> {
    news: &'a Mutex<News>,
    stop: &'a AtomicBool,
    follow: bool,
    sent: usize,
}

impl Watch for Worker<'_> {
    fn tick(&mut self, progress: Progress, learned: &Learned) -> ControlFlow<()> {
        let mut news = self.news.lock().expect("nobody fails while holding it");
        news.add(progress, learned, self.follow, &mut self.sent);
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Trains in the thread that called, which is asked again and again.
struct Caller {
    allow: Py<PyAny>,
    told: Option<Py<PyAny>>,
    follow: bool,
    sent: usize,
    raised: Option<PyErr>,
}

impl Caller {
    fn or_stop<T>(&mut self, result: PyResult<T>) -> ControlFlow<(), T> {
        match result {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl Watch for Caller {
    fn tick(&mut self, progress: Progress, learned: &Learned) -> ControlFlow<()> {
        let mut news = News::default();
        news.add(progress, learned, self.follow, &mut self.sent);
        let told = self.told.as_ref();
        let result = Python::attach(|py| py.check_signals().and_then(|()| news.tell(py, told)));
        self.or_stop(result)
    }

    fn allows(&mut self, left: &[u8], right: &[u8]) -> ControlFlow<(), bool> {
        let result = Python::attach(|py| {
            let joined = [left, right].concat();
            let strings = (PyBytes::new(py, left), PyBytes::new(py, right), PyBytes::new(py, &joined));
            self.allow.call1(py, strings)?.is_truthy(py)
        });
        self.or_stop(result)
    }
}
