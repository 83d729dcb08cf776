//! Texts in flat buffers, as Arrow has them: all of them end to end, and where each begins and ends.

use crate::errors::{exception, named};
use crate::raw;
use crate::run::TINY;
use digram::text::{Text as View, append_flat};
use digram::{Error, Result};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Texts of one buffer.
struct Part {
    data: PyBuffer<u8>,
    /// Numbers of 4 or 8 bytes, which are what Arrow says, signed.
    offsets: PyBuffer<u8>,
    wide: bool,
    first: usize,
    number: usize,
}

impl Part {
    fn append<'a>(&'a self, utf8: bool, views: &mut Vec<View<'a>>) -> Result<()> {
        let (data, offsets) = (raw::text::arrow(&self.data), raw::text::arrow(&self.offsets));
        let width = if self.wide { 8 } else { 4 };
        let offsets = &offsets[width * self.first..width * (self.first + self.number + 1)];
        // A negative offset becomes one beyond all data.
        match self.wide {
            true => append_flat(data, numbers(offsets).map(i64::from_ne_bytes).map(|n| n as u64), utf8, views),
            false => append_flat(data, numbers(offsets).map(i32::from_ne_bytes).map(|n| n as u64), utf8, views),
        }
    }
}

/// The bytes of numbers, which need not be aligned.
fn numbers<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks::<N>().0.iter().copied()
}

/// Texts in flat buffers that stay as they are for as long as this lives, as those of Arrow arrays do.
#[pyclass(frozen)]
pub struct FlatTexts {
    parts: Vec<Part>,
    utf8: bool,
    length: usize,
}

impl FlatTexts {
    /// Whether they are strings, and not bytes.
    pub fn is_str(&self) -> bool {
        self.utf8
    }

    /// Where they are in memory; strings are checked. Messages count from `first`.
    pub fn views(&self, py: Python<'_>, first: usize) -> PyResult<Vec<View<'_>>> {
        let work = || {
            let mut views = Vec::with_capacity(self.length);
            for part in &self.parts {
                let before = views.len();
                part.append(self.utf8, &mut views).map_err(|error| (before, error))?;
            }
            Ok(views)
        };
        let bytes: usize = self.parts.iter().map(|part| part.data.item_count()).sum();
        let views = if bytes + self.length < TINY { work() } else { py.detach(work) };
        views.map_err(|(before, error)| match error {
            Error::InDocument { index, source } => {
                named(py, "TextError", &format!("item {}: {source}", first + before + index))
            }
            error => exception(py, error, None),
        })
    }
}

/// Data, offsets, whether these have 64 bits, the first text, the number of texts.
type Given = (PyBuffer<u8>, PyBuffer<u8>, bool, usize, usize);

#[pymethods]
impl FlatTexts {
    /// Of each part the data, the offsets as the bytes of signed numbers, whether these have 64 bits and not 32, the number
    /// of the first text, and the number of texts. `utf8` says that the texts are strings.
    #[new]
    fn new(parts: Vec<Given>, utf8: bool) -> PyResult<Self> {
        let part = |(data, offsets, wide, first, number): Given| {
            let last = first.checked_add(number).filter(|&last| last < offsets.item_count() / if wide { 8 } else { 4 });
            match last {
                Some(_) if data.is_c_contiguous() && offsets.is_c_contiguous() => {
                    Ok(Part { data, offsets, wide, first, number })
                }
                _ => Err(PyValueError::new_err("there are fewer offsets than texts, or they are not in one block")),
            }
        };
        let parts = parts.into_iter().map(part).collect::<PyResult<Vec<_>>>()?;
        let length = parts.iter().map(|part| part.number).sum();
        Ok(Self { parts, utf8, length })
    }

    fn __len__(&self) -> usize {
        self.length
    }
}
