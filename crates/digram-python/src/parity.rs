//! Parity-aware training as Python sees it.

use crate::counts::PieceCounts;
use crate::ids::flat;
use crate::training::{flat_pairs, in_a_thread, options};
use digram::train::{PairRules, Parity, TrainOptions, train_parity as learn};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// Flat u32 pairs, flat u64 counts, flat u32 groups that chose, flat u64 tokens, whether no pair was left.
type Outcome<'py> =
    (Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, bool);

/// Learns merges of bytes, each chosen by the group that is compressed worst: (flat u32 pairs, flat u64 counts, flat u32 groups
/// that chose those after `merges`, flat u64 tokens of each group at the end, whether no pair was left).
///
/// `measured` are the counts whose tokens are divided by `worth`, without them `groups`. `window` is (choices, alpha).
/// `told(merges, planned, count, ...)` is called every so often, as by `train`.
#[pyfunction]
#[pyo3(signature = (
    groups, measured, worth, *, window=None, vocab_size=None, reserved=0, min_count=1, ties="smallest-ids",
    max_token_length=None, max_characters=None, whole_characters=false, split_digits=false, attach_marks=false,
    merges=None, told=None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub fn train_parity<'py>(
    py: Python<'py>,
    groups: Vec<Bound<'py, PieceCounts>>,
    measured: Option<Vec<Bound<'py, PieceCounts>>>,
    worth: Vec<f64>,
    window: Option<(usize, f64)>,
    vocab_size: Option<u64>,
    reserved: u64,
    min_count: u64,
    ties: &str,
    max_token_length: Option<u64>,
    max_characters: Option<u64>,
    whole_characters: bool,
    split_digits: bool,
    attach_marks: bool,
    merges: Option<PyBuffer<u32>>,
    told: Option<Py<PyAny>>,
) -> PyResult<Outcome<'py>> {
    let options = TrainOptions {
        rules: PairRules { max_characters, whole_characters, split_digits, attach_marks },
        ..options(py, vocab_size, reserved, min_count, ties, max_token_length, merges)?
    };
    let parity = Parity { worth, window };
    let counts = |all: &[Bound<'py, PieceCounts>]| all.iter().map(|one| one.clone().unbind()).collect::<Vec<_>>();
    let (groups, measured) = (counts(&groups), measured.as_deref().map(counts));
    let trained = in_a_thread(py, told.as_ref(), false, |worker, stop| {
        let load = |all: &[Py<PieceCounts>]| -> digram::Result<Vec<_>> {
            all.iter().map(|one| one.get().all(stop)?.load(stop)).collect()
        };
        let measured = measured.as_deref().map(load).transpose()?;
        learn(load(&groups)?, measured, &options, &parity, worker)
    })?;
    let (counts, chosen) = (flat(py, &trained.merge_counts), flat(py, &trained.chosen));
    Ok((flat_pairs(py, &trained.merges), counts, chosen, flat(py, &trained.tokens), trained.exhausted))
}
