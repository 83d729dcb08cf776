//! Encoding with merges dropped, as Python sees it.

use crate::encoder::Encoder;
use crate::errors::exception;
use crate::raw::numbers::Numbers;
use crate::specials::{Allowed, Markers, options};
use crate::text::Text;
use digram::encode;
use digram::merge::dropout::Dropout;
use digram::text::Document;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// The ids of a text as a flat buffer of u32, each merge dropped with probability `p`; `index` is its place among documents.
#[pyfunction]
#[pyo3(signature = (encoder, text, p, seed, index, allowed=None, disallowed=None, template=false))]
#[expect(clippy::too_many_arguments, reason = "one call of one caller")]
pub fn encode_dropped<'py>(
    encoder: &Bound<'py, Encoder>,
    text: &Bound<'py, PyAny>,
    p: f64,
    seed: u64,
    index: u64,
    allowed: Option<&Bound<'py, Allowed>>,
    disallowed: Option<&Bound<'_, Markers>>,
    template: bool,
) -> PyResult<Numbers> {
    let (py, options) = (text.py(), options(allowed, disallowed, template));
    let dropout = Dropout::new(p).map_err(|error| exception(py, error, None))?;
    let work = |engine: &encode::Encoder, document: Document, stop: &dyn Fn() -> bool| {
        let mut ids = Vec::new();
        engine.encode_dropped(document.bytes(), options, &dropout, (seed, index), &mut ids, stop).map(|()| ids)
    };
    encoder.get().on_text(&Text::of(text)?, py, work, |_, ids| Ok(Numbers::new(ids)))
}

/// The ids of many texts, a list each; the first text has the place `first` among documents.
#[pyfunction]
#[pyo3(signature = (encoder, texts, p, seed, first, allowed=None, disallowed=None, threads=None, template=false))]
#[expect(clippy::too_many_arguments, reason = "one call of one caller")]
pub fn encode_batch_dropped<'py>(
    encoder: &Bound<'py, Encoder>,
    texts: &Bound<'py, PyAny>,
    p: f64,
    seed: u64,
    first: u64,
    allowed: Option<&Bound<'py, Allowed>>,
    disallowed: Option<&Bound<'_, Markers>>,
    threads: Option<usize>,
    template: bool,
) -> PyResult<Bound<'py, PyList>> {
    let (py, options) = (texts.py(), options(allowed, disallowed, template));
    let dropout = Dropout::new(p).map_err(|error| exception(py, error, None))?;
    encoder.get().lists_of(texts, threads, |engine, documents, threads, stop, take| {
        engine.encode_batch_dropped(documents, options, &dropout, (seed, first), threads, stop, take)
    })
}
