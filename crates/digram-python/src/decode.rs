//! Ids to bytes and str.

use crate::encoder::{Encoder, python_bytes};
use crate::errors::exception;
use crate::ids::ids_into;
use crate::kept::{Kept, with_kept};
use crate::raw;
use crate::run::{TINY, watched};
use crate::text::with_room;
use crate::work::cores;
use digram::Error;
use digram::encode::Batch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use std::ffi::CString;

/// Ids that lists are read in together.
const TOGETHER: usize = 1 << 20;

/// Ids that a thread keeps memory for in between.
const KEPT: usize = 1 << 16;

thread_local! {
    static IDS: Kept<u32> = const { Kept::new(Vec::new()) };
}

impl Encoder {
    /// Reads ids and gives them to `work`.
    fn with_ids<R>(&self, object: &Bound<'_, PyAny>, work: impl FnOnce(&[u32]) -> PyResult<R>) -> PyResult<R> {
        with_kept(&IDS, KEPT, |ids| {
            ids_into(object, self.engine.vocabulary().tokens().len(), ids)?;
            work(ids)
        })
    }

    /// The bytes of ids.
    pub fn bytes<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special: bool,
        replace: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.with_ids(ids, |ids| {
            let length = py.detach(|| self.engine.decoded_length(ids, skip_special));
            match length.map_err(|error| exception(py, error, None))? {
                Some(length) => raw::bytes::written(py, length, |out| {
                    self.engine.write_decoded(ids, skip_special, out);
                }),
                None => {
                    let mut bytes = Vec::new();
                    py.detach(|| self.engine.decode(ids, skip_special, replace, &mut bytes))
                        .map_err(|error| exception(py, error, None))?;
                    python_bytes(py, &bytes)
                }
            }
        })
    }

    /// The text of ids.
    pub fn text<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        errors: &str,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let handler = CString::new(errors)?;
        self.with_ids(ids, |ids| {
            with_room(|room| {
                let mut work = || self.engine.decode(ids, skip_special, errors == "replace", room);
                let result = if ids.len() < TINY { work() } else { py.detach(work) };
                result.map_err(|error| exception(py, error, None))?;
                raw::bytes::decoded(py, room, &handler)
            })
        })
    }

    /// The text of each list of ids: each made while other threads decode the lists behind.
    pub fn texts<'py>(
        &self,
        lists: &Bound<'py, PyList>,
        errors: &str,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, handler) = (lists.py(), CString::new(errors)?);
        let limit = self.engine.vocabulary().tokens().len();
        let mut texts: Vec<Py<PyString>> = Vec::with_capacity(lists.len());
        let mut batch = Batch::default();
        let mut read = 0;
        while read < lists.len() {
            batch.ids.clear();
            batch.ends.clear();
            // Reading may run Python code of the items, which may change the list.
            while batch.ids.len() < TOGETHER && read < lists.len() {
                ids_into(&lists.get_item(read)?, limit, &mut batch.ids)?;
                batch.ends.push(batch.ids.len());
                read += 1;
            }
            py.check_signals()?;
            let threads = if batch.ids.len() < TOGETHER / 16 { 1 } else { cores(4 * batch.ids.len()) };
            let mut raised = None;
            let result = watched(py, |stop| {
                self.engine.decode_batch(&batch, (skip_special, errors == "replace"), threads, stop, &mut |part| {
                    let made = Python::attach(|py| {
                        let mut start = 0;
                        for &end in &part.ends {
                            texts.push(raw::bytes::decoded(py, &part.bytes[start..end], &handler)?.unbind());
                            start = end;
                        }
                        Ok(())
                    });
                    made.map_err(|error| {
                        raised = Some(error);
                        Error::Interrupted
                    })
                })
            })?;
            match raised {
                Some(error) => return Err(error),
                None => result.map_err(|error| exception(py, error, None))?,
            }
        }
        PyList::new(py, texts)
    }
}
