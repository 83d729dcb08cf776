//! Counting and cutting as Python sees it: whether a text fits, its longest beginning, its chunks.

use crate::encoder::{Encoder, python_bytes};
use crate::specials::{Allowed, Markers, options};
use crate::text::Text;
use digram::text::Document;
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
    let work = |encoder: &digram::encode::Encoder, document: Document, stop: &dyn Fn() -> bool| {
        let document = document.bytes();
        encoder.fits(document, limit, options, stop)
    };
    encoder.get().on_text(&Text::of(text)?, text.py(), work, |_, fits| Ok(fits))
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
    let (py, text) = (text.py(), Text::of(text)?);
    let options = options(allowed, disallowed, template);
    let work = |encoder: &digram::encode::Encoder, document: Document, stop: &dyn Fn() -> bool| {
        let document = document.bytes();
        encoder.truncate(document, limit, options, stop)
    };
    encoder.get().on_text(&text, py, work, |document, end| part(py, &text, &document[..end]))
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
    let (py, text) = (text.py(), Text::of(text)?);
    let options = options(allowed, disallowed, template);
    let work = |encoder: &digram::encode::Encoder, document: Document, stop: &dyn Fn() -> bool| {
        let document = document.bytes();
        encoder.chunks(document, start, limit, overlap, options, stop)
    };
    encoder.get().on_text(&text, py, work, |document, chunks| {
        let parts: PyResult<Vec<_>> =
            chunks.iter().map(|chunk| part(py, &text, &document[chunk.range.clone()])).collect();
        Ok((PyList::new(py, parts?)?, chunks.last().map_or(start, |last| last.next)))
    })
}

/// A part of a text, as str where the whole came as str.
fn part<'py>(py: Python<'py>, text: &Text<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match str::from_utf8(bytes) {
        Ok(part) if text.is_str() => Ok(PyString::new(py, part).into_any()),
        _ => Ok(python_bytes(py, bytes)?.into_any()),
    }
}
