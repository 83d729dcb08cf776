//! How a call gets at its text and runs: in the calling thread, with or without the interpreter lock, or on several.

use crate::encoder::Encoder;
use crate::errors::exception;
use crate::run::{SHORT, TINY, interruptible, on_threads, watched};
use crate::text::{Text, texts, utf8, with_room};
use digram::encode::{self, Options};
use digram::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Memory is reserved for an id for so many bytes of text; where it is more, the vector grows.
const BYTES_AN_ID: usize = 2;

/// Ids that a thread keeps memory for in between.
const KEPT: usize = 1 << 18;

thread_local! {
    static IDS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

impl Encoder {
    /// The size of a text that is sure to be done soon: `usual`, or less where the split may take longer.
    pub fn short(&self, usual: usize) -> usize {
        usual.min(self.engine.splitter().quick_bytes())
    }

    /// Runs `work` on one text: at once where it is short, so that Ctrl-C ends it where it is long. Then `made` has the
    /// interpreter lock, the text's bytes, and what came out.
    pub fn on_text<T: Send, R>(
        &self,
        text: &Text<'_>,
        py: Python<'_>,
        work: impl FnOnce(&encode::Encoder, &[u8], &dyn Fn() -> bool) -> Result<T> + Send,
        made: impl FnOnce(&[u8], T) -> PyResult<R>,
    ) -> PyResult<R> {
        let view = text.view()?;
        let size = view.size();
        with_room(|room| {
            let (document, result) = if size < self.short(TINY) {
                let document = view.utf8(room);
                (document, work(&self.engine, document, &|| false))
            } else if size < self.short(SHORT) {
                py.detach(|| {
                    let document = view.utf8(room);
                    (document, work(&self.engine, document, &|| false))
                })
            } else {
                watched(py, |stop| {
                    let document = view.utf8(room);
                    (document, work(&self.engine, document, stop))
                })?
            };
            match result {
                Ok(result) => made(document, result),
                Err(error) => Err(exception(py, error, text.is_str().then_some(document))),
            }
        })
    }

    /// Runs `work` on many texts, on threads where there is enough to do.
    pub fn on_texts<T: Send>(
        &self,
        list: &Bound<'_, PyList>,
        threads: Option<usize>,
        work: impl FnOnce(&encode::Encoder, &[&[u8]], &AtomicBool) -> Result<T> + Send,
    ) -> PyResult<T> {
        let py = list.py();
        let texts = texts(list, 0)?;
        let owned = utf8(&texts)?;
        let documents: Vec<&[u8]> = owned.iter().map(AsRef::as_ref).collect();
        let bytes: usize = documents.iter().map(|document| encode::work_of(document)).sum();
        // A single text is one run however long it is: no thread would help.
        let least = if documents.len() == 1 { SHORT } else { encode::RUN };
        let result = if bytes < self.short(least) {
            py.detach(|| work(&self.engine, &documents, &AtomicBool::new(false)))
        } else {
            interruptible(py, |_| Ok(()), |stop| on_threads(threads, || work(&self.engine, &documents, stop)))??
        };
        result.map_err(|error| match &error {
            Error::InDocument { index, source } => {
                let (index, text) = (*index, texts[*index].is_str().then_some(documents[*index]));
                let inner = exception(py, (**source).clone(), text);
                let message = format!("item {index}: {}", inner.value(py));
                match inner.get_type(py).call1((message,)) {
                    Ok(value) => PyErr::from_value(value),
                    Err(error) => error,
                }
            }
            _ => exception(py, error, None),
        })
    }

    /// The ids of a text, as `made` wants them, in the memory of `ids`.
    pub fn ids<'py, R>(
        &self,
        text: &Bound<'py, PyAny>,
        options: Options,
        mut ids: Vec<u32>,
        made: impl FnOnce(Python<'py>, Vec<u32>) -> PyResult<R>,
    ) -> PyResult<R> {
        let py = text.py();
        let work = |engine: &encode::Encoder, document: &[u8], stop: &dyn Fn() -> bool| {
            ids.clear();
            ids.reserve(document.len() / BYTES_AN_ID + 16);
            engine.encode(document, options, &mut ids, stop).map(|()| ids)
        };
        self.on_text(&Text::of(text)?, py, work, |_, ids| made(py, ids))
    }

    /// The ids of a text as a list.
    pub fn list<'py>(&self, text: &Bound<'py, PyAny>, options: Options) -> PyResult<Bound<'py, PyList>> {
        self.ids(text, options, IDS.take(), |py, ids| {
            let list = self.ints.list(py, &ids);
            if ids.capacity() <= KEPT {
                IDS.set(ids);
            }
            list
        })
    }

    pub fn batch(
        &self,
        texts: &Bound<'_, PyList>,
        options: Options,
        threads: Option<usize>,
    ) -> PyResult<encode::Batch> {
        self.on_texts(texts, threads, |encoder, documents, stop| {
            encoder.encode_batch(documents, options, &|| stop.load(Ordering::Relaxed))
        })
    }
}
