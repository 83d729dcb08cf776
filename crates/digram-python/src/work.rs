//! How a call gets at its text and runs: in the calling thread, with or without the interpreter lock, or on several.

use crate::encoder::Encoder;
use crate::errors::exception;
use crate::run::{SHORT, TINY, watched};
use crate::text::{Text, Texts, with_room};
use digram::encode::{self, Options};
use digram::text::{Document, Text as View};
use digram::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory is reserved for an id for so many bytes of text; where it is more, the vector grows.
const BYTES_AN_ID: usize = 2;

/// Ids that a thread keeps memory for in between.
const KEPT: usize = 1 << 18;

thread_local! {
    static IDS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// Takes a run of documents' ids.
pub type Take<'a> = dyn FnMut(encode::Batch) -> Result<()> + 'a;

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
        work: impl FnOnce(&encode::Encoder, Document, &dyn Fn() -> bool) -> Result<T> + Send,
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
                Ok(result) => made(document.bytes(), result),
                Err(error) => Err(exception(py, error, text.is_str().then_some(document.bytes()))),
            }
        })
    }

    /// Runs `work` on many texts, with a number of threads and a question whether to stop.
    fn on_texts<T: Send>(
        &self,
        texts: &Bound<'_, PyAny>,
        threads: Option<usize>,
        work: impl FnOnce(&encode::Encoder, &[View<'_>], usize, &dyn Fn() -> bool) -> Result<T> + Send,
    ) -> PyResult<T> {
        let py = texts.py();
        let texts = Texts::of(texts, 0)?;
        let documents = texts.views(0)?;
        let bytes = encode::work_of_all(&documents);
        let result = if bytes < self.short(TINY) {
            work(&self.engine, &documents, 1, &|| false)
        } else if bytes < self.short(2 * encode::RUN) {
            py.detach(|| work(&self.engine, &documents, 1, &|| false))
        } else {
            // A single text is one run however long it is: no thread would help.
            let threads = if documents.len() == 1 { 1 } else { threads.unwrap_or_else(|| cores(bytes)) };
            watched(py, |stop| work(&self.engine, &documents, threads, stop))?
        };
        result.map_err(|error| match &error {
            Error::InDocument { index, source } => {
                let mut room = Vec::new();
                let text = texts.is_str(*index).then(|| documents[*index].utf8(&mut room).bytes());
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

    /// The ids of texts, run by run, in order; `take` has the interpreter lock.
    fn batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        options: Options,
        threads: Option<usize>,
        take: impl FnMut(Python<'_>, encode::Batch) -> PyResult<()> + Send,
    ) -> PyResult<()> {
        self.batch_of(texts, threads, take, |engine, documents, threads, stop, take| {
            engine.encode_batch(documents, options, threads, stop, take)
        })
    }

    /// As [`Self::batch`], of what `encode` gives.
    fn batch_of<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        threads: Option<usize>,
        mut take: impl FnMut(Python<'_>, encode::Batch) -> PyResult<()> + Send,
        encode: impl FnOnce(&encode::Encoder, &[View<'_>], usize, &dyn Fn() -> bool, &mut Take<'_>) -> Result<()> + Send,
    ) -> PyResult<()> {
        let mut raised = None;
        let result = self.on_texts(texts, threads, |engine, documents, threads, stop| {
            encode(engine, documents, threads, stop, &mut |part| {
                Python::attach(|py| take(py, part)).map_err(|error| {
                    raised = Some(error);
                    Error::Interrupted
                })
            })
        });
        raised.map_or(result, Err)
    }

    /// The ids of texts, a list each: made while other threads encode the texts behind.
    pub fn lists<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        options: Options,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.lists_of(texts, threads, |engine, documents, threads, stop, take| {
            engine.encode_batch(documents, options, threads, stop, take)
        })
    }

    /// As [`Self::lists`], of what `encode` gives.
    pub fn lists_of<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        threads: Option<usize>,
        encode: impl FnOnce(&encode::Encoder, &[View<'_>], usize, &dyn Fn() -> bool, &mut Take<'_>) -> Result<()> + Send,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut lists: Vec<Py<PyList>> = Vec::with_capacity(texts.len()?);
        let take = |py: Python<'_>, part: encode::Batch| {
            let mut start = 0;
            for end in part.ends {
                lists.push(self.ints.list(py, &part.ids[start..end])?.unbind());
                start = end;
            }
            Ok(())
        };
        self.batch_of(texts, threads, take, encode)?;
        PyList::new(texts.py(), lists)
    }

    /// The ids of texts, end to end, and the end of each text's.
    pub fn flat(
        &self,
        texts: &Bound<'_, PyAny>,
        options: Options,
        threads: Option<usize>,
    ) -> PyResult<(Vec<u32>, Vec<u64>)> {
        let (mut ids, mut ends) = (Vec::new(), Vec::with_capacity(texts.len()?));
        self.batch(texts, options, threads, |_, part| {
            if ids.is_empty() {
                ids = part.ids;
                ends.extend(part.ends.iter().map(|&end| end as u64));
            } else {
                ends.extend(part.ends.iter().map(|&end| (ids.len() + end) as u64));
                ids.extend_from_slice(&part.ids);
            }
            Ok(())
        })?;
        Ok((ids, ends))
    }

    /// The number of ids of each text.
    pub fn counts(&self, texts: &Bound<'_, PyAny>, options: Options, threads: Option<usize>) -> PyResult<Vec<u64>> {
        self.on_texts(texts, threads, |engine, documents, threads, stop| {
            engine.count_batch(documents, options, threads, stop)
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
        let work = |engine: &encode::Encoder, document: Document, stop: &dyn Fn() -> bool| {
            ids.clear();
            ids.reserve(document.bytes().len() / BYTES_AN_ID + 16);
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
}

/// The cores that this process may use. The question costs as much as some kilobytes do, so for a small batch the last
/// answer stands.
pub fn cores(bytes: usize) -> usize {
    static CORES: AtomicUsize = AtomicUsize::new(0);
    let known = CORES.load(Ordering::Relaxed);
    if known > 0 && bytes < SHORT {
        return known;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    CORES.store(cores, Ordering::Relaxed);
    cores
}
