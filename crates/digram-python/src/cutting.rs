//! Counting and cutting as Python sees it: whether a text fits, its longest beginning, its chunks.

use crate::encoder::{Allowed, Encoder, Markers, options, python_bytes};
use crate::text::Text;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// Whether a text has at most `limit` ids.
#[pyfunction]
#[pyo3(signature = (encoder, text, limit, allowed=None, disallowed=None, template=false))]
pub fn fits(
    encoder: &Bound<'_, Encoder>,
    text: &Bound<'_, PyAny>,
    limit: usize,
    allowed: Option<&Bound<'_, Allowed>>,
    disallowed: Option<&Bound<'_, Markers>>,
    template: bool,
) -> PyResult<bool> {
    let options = options(allowed, disallowed, template);
    let work = |encoder: &digram::encode::Encoder, document: &[u8], stop: &dyn Fn() -> bool| {
        encoder.fits(document, limit, options, stop)
    };
    encoder.get().on_text(&Text::of(text)?, text.py(), work)
}

/// The longest beginning of a text that has at most `limit` ids.
#[pyfunction]
#[pyo3(signature = (encoder, text, limit, allowed=None, disallowed=None, template=false))]
pub fn truncate<'py>(
    encoder: &Bound<'py, Encoder>,
    text: &Bound<'py, PyAny>,
    limit: usize,
    allowed: Option<&Bound<'py, Allowed>>,
    disallowed: Option<&Bound<'py, Markers>>,
    template: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (text, py) = (Text::of(text)?, text.py());
    let options = options(allowed, disallowed, template);
    let work = |encoder: &digram::encode::Encoder, document: &[u8], stop: &dyn Fn() -> bool| {
        encoder.truncate(document, limit, options, stop)
    };
    let end = encoder.get().on_text(&text, py, work)?;
    part(py, &text, 0..end)
}

/// Some chunks of a text from byte `start` on, and where the next ones begin; none at its end.
#[pyfunction]
#[pyo3(signature = (encoder, text, start, limit, overlap, allowed=None, disallowed=None, template=false))]
#[expect(clippy::too_many_arguments, reason = "one call of one caller")]
pub fn chunks<'py>(
    encoder: &Bound<'py, Encoder>,
    text: &Bound<'py, PyAny>,
    start: usize,
    limit: usize,
    overlap: usize,
    allowed: Option<&Bound<'py, Allowed>>,
    disallowed: Option<&Bound<'py, Markers>>,
    template: bool,
) -> PyResult<(Bound<'py, PyList>, usize)> {
    let (text, py) = (Text::of(text)?, text.py());
    let options = options(allowed, disallowed, template);
    let work = |encoder: &digram::encode::Encoder, document: &[u8], stop: &dyn Fn() -> bool| {
        encoder.chunks(document, start, limit, overlap, options, stop)
    };
    let chunks = encoder.get().on_text(&text, py, work)?;
    let parts: PyResult<Vec<_>> = chunks.iter().map(|chunk| part(py, &text, chunk.range.clone())).collect();
    Ok((PyList::new(py, parts?)?, chunks.last().map_or(start, |last| last.next)))
}

/// A part of a text, of the same type.
fn part<'py>(py: Python<'py>, text: &Text<'py>, range: std::ops::Range<usize>) -> PyResult<Bound<'py, PyAny>> {
    match text.str() {
        Some(text) => Ok(PyString::new(py, &text[range]).into_any()),
        None => Ok(python_bytes(py, &text.bytes()[range])?.into_any()),
    }
}
