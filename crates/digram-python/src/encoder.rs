//! The tokenizer as Python sees it.

use crate::errors::exception;
use crate::ids::{flat, ids};
use crate::run::{SHORT, interruptible, on_threads};
use crate::text::{BETWEEN_SIGNALS, Text, texts};
use digram::encode::{self, Options};
use digram::specials::SpecialMatcher;
use digram::vocabulary::Triple;
use digram::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList};
use std::sync::atomic::{AtomicBool, Ordering};

/// Special tokens that a call lets through; made by `Encoder.allow`.
#[pyclass(frozen)]
pub struct Allowed(pub(crate) encode::Allowed);

/// Strings that a call refuses; made once, and given to many calls.
#[pyclass(frozen)]
pub struct Markers(pub(crate) SpecialMatcher);

#[pymethods]
impl Markers {
    #[new]
    fn new(py: Python<'_>, markers: Vec<String>) -> PyResult<Self> {
        SpecialMatcher::new(&markers).map(Self).map_err(|error| exception(py, error, None))
    }
}

/// A frozen tokenizer.
#[pyclass(frozen)]
pub struct Encoder(pub(crate) encode::Encoder);

/// What a call does with special tokens, and whether the ids of the template go around the text.
pub fn options<'a>(
    allowed: Option<&'a Bound<'_, Allowed>>,
    disallowed: Option<&'a Bound<'_, Markers>>,
    template: bool,
) -> Options<'a> {
    Options {
        allowed: allowed.map(|allowed| &allowed.get().0),
        disallowed: disallowed.map(|markers| &markers.get().0),
        template,
    }
}

/// A bytes object, or MemoryError: `PyBytes::new` panics.
pub fn python_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |out| {
        out.copy_from_slice(bytes);
        Ok(())
    })
}

fn flat_triples<'py>(py: Python<'py>, triples: &[Triple]) -> Bound<'py, PyByteArray> {
    let numbers: Vec<u32> = triples.iter().flat_map(|m| [m.0, m.1, m.2]).collect();
    flat(py, &numbers)
}

impl Encoder {
    /// The size of a text that is sure to be done soon: `usual`, or less where the split may take longer.
    pub fn short(&self, usual: usize) -> usize {
        usual.min(self.0.splitter().quick_bytes())
    }

    /// Runs `work` on one text: at once where it is short, so that Ctrl-C ends it where it is long.
    pub fn on_text<T: Send>(
        &self,
        text: &Text<'_>,
        py: Python<'_>,
        work: impl FnOnce(&encode::Encoder, &[u8], &dyn Fn() -> bool) -> Result<T> + Send,
    ) -> PyResult<T> {
        let bytes = text.bytes();
        let result = if bytes.len() < self.short(SHORT) {
            py.detach(|| work(&self.0, bytes, &|| false))
        } else {
            interruptible(py, |_| Ok(()), |stop| work(&self.0, bytes, &|| stop.load(Ordering::Relaxed)))?
        };
        result.map_err(|error| exception(py, error, text.str()))
    }

    /// Runs `work` on many texts, on threads where there is enough to do.
    fn on_texts<T: Send>(
        &self,
        list: &Bound<'_, PyList>,
        threads: Option<usize>,
        work: impl FnOnce(&encode::Encoder, &[&[u8]], &AtomicBool) -> Result<T> + Send,
    ) -> PyResult<T> {
        let py = list.py();
        let texts = texts(list, 0)?;
        let documents: Vec<&[u8]> = texts.iter().map(Text::bytes).collect();
        let bytes: usize = documents.iter().map(|document| encode::work_of(document)).sum();
        // A single text is one run however long it is: no thread would help.
        let least = if documents.len() == 1 { SHORT } else { encode::RUN };
        let result = if bytes < self.short(least) {
            py.detach(|| work(&self.0, &documents, &AtomicBool::new(false)))
        } else {
            interruptible(py, |_| Ok(()), |stop| on_threads(threads, || work(&self.0, &documents, stop)))??
        };
        result.map_err(|error| match &error {
            Error::InDocument { index, source } => {
                let (index, text) = (*index, texts[*index].str());
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
}

#[pymethods]
impl Encoder {
    /// Special tokens to be let through by `encode`; None means all.
    #[pyo3(signature = (markers=None))]
    fn allow(&self, py: Python<'_>, markers: Option<Vec<String>>) -> PyResult<Allowed> {
        let Some(markers) = markers else {
            return Ok(Allowed(self.0.all_specials().clone()));
        };
        let markers: Vec<&str> = markers.iter().map(String::as_str).collect();
        self.0.some_specials(&markers).map(Allowed).map_err(|error| exception(py, error, None))
    }

    /// The ids of a text.
    #[pyo3(signature = (text, allowed=None, disallowed=None, template=false))]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: Option<&Bound<'py, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        template: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        PyList::new(py, self.ids(text, allowed, disallowed, template)?)
    }

    /// The ids of a text as a flat buffer of u32.
    #[pyo3(signature = (text, allowed=None, disallowed=None, template=false))]
    fn encode_flat<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: Option<&Bound<'py, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        template: bool,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        Ok(flat(text.py(), &self.ids(text, allowed, disallowed, template)?))
    }

    /// The ids of a text, and where each token begins and ends, as flat u64: in bytes, or in `characters`. At the end,
    /// whether pairs of surrogates were joined, so that positions are not those of the str that was given.
    #[pyo3(signature = (text, allowed=None, disallowed=None, template=false, characters=true))]
    #[allow(clippy::type_complexity)] // a tuple that one caller unpacks
    fn encode_with_spans<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: Option<&Bound<'_, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        template: bool,
        characters: bool,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, bool)> {
        let (py, options, given) = (text.py(), options(allowed, disallowed, template), text);
        let text = Text::of(text)?;
        let spanned =
            self.on_text(&text, py, |encoder, document, stop| encoder.encode_with_spans(document, options, stop))?;
        let spans = match text.str() {
            Some(text) if characters => encode::character_spans(text, &spanned.spans),
            _ => spanned.spans,
        };
        let starts: Vec<u64> = spans.iter().map(|span| span.start as u64).collect();
        let ends: Vec<u64> = spans.iter().map(|span| span.end as u64).collect();
        let joined = match &text {
            Text::Str(text) => text.len()? != given.len()?,
            Text::Bytes(_) => false,
        };
        Ok((PyList::new(py, &spanned.ids)?, flat(py, &starts), flat(py, &ends), joined))
    }

    /// The ids of a text, and how many of them its last piece gave: 0 after a special token.
    #[pyo3(signature = (text, allowed=None, disallowed=None))]
    fn encode_and_last<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: Option<&Bound<'_, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
    ) -> PyResult<(Bound<'py, PyList>, usize)> {
        let (py, options) = (text.py(), options(allowed, disallowed, false));
        let (ids, last) = self.on_text(&Text::of(text)?, py, |encoder, document, stop| {
            encoder.encode_and_last(document, options, stop)
        })?;
        Ok((PyList::new(py, ids)?, last))
    }

    /// The ids of bytes as one piece; `whole` says whether it is looked up first.
    #[pyo3(signature = (piece, whole=true))]
    fn encode_piece<'py>(&self, py: Python<'py>, piece: &[u8], whole: bool) -> PyResult<Bound<'py, PyList>> {
        let ids = py.detach(|| self.0.encode_piece(piece, whole)).map_err(|error| exception(py, error, None))?;
        PyList::new(py, ids)
    }

    /// The number of ids of a text.
    #[pyo3(signature = (text, allowed=None, disallowed=None, template=false))]
    fn count(
        &self,
        text: &Bound<'_, PyAny>,
        allowed: Option<&Bound<'_, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        template: bool,
    ) -> PyResult<u64> {
        let py = text.py();
        let options = options(allowed, disallowed, template);
        self.on_text(&Text::of(text)?, py, |encoder, document, stop| encoder.count(document, options, stop))
    }

    /// The ids of many texts, end to end as flat u32, and the end of each text's ids as flat u64.
    #[pyo3(signature = (texts, allowed=None, disallowed=None, threads=None, template=false))]
    fn encode_batch_flat<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        allowed: Option<&Bound<'py, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        threads: Option<usize>,
        template: bool,
    ) -> PyResult<(Bound<'py, PyByteArray>, Bound<'py, PyByteArray>)> {
        let batch = self.batch(texts, allowed, disallowed, threads, template)?;
        let ends: Vec<u64> = batch.ends.iter().map(|&end| end as u64).collect();
        Ok((flat(texts.py(), &batch.ids), flat(texts.py(), &ends)))
    }

    /// The ids of many texts.
    #[pyo3(signature = (texts, allowed=None, disallowed=None, threads=None, template=false))]
    fn encode_batch<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        allowed: Option<&Bound<'py, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        threads: Option<usize>,
        template: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = texts.py();
        let batch = self.batch(texts, allowed, disallowed, threads, template)?;
        let lists = PyList::empty(py);
        let mut start = 0;
        for (i, end) in batch.ends.into_iter().enumerate() {
            if i.is_multiple_of(BETWEEN_SIGNALS) {
                py.check_signals()?;
            }
            lists.append(PyList::new(py, &batch.ids[start..end])?)?;
            start = end;
        }
        Ok(lists)
    }

    /// The number of ids of each text, as flat u64.
    #[pyo3(signature = (texts, allowed=None, disallowed=None, threads=None, template=false))]
    fn count_batch<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        allowed: Option<&Bound<'py, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        threads: Option<usize>,
        template: bool,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let py = texts.py();
        let options = options(allowed, disallowed, template);
        let counts = self.on_texts(texts, threads, |encoder, documents, stop| {
            encoder.count_batch(documents, options, &|| stop.load(Ordering::Relaxed))
        })?;
        Ok(flat(py, &counts))
    }

    /// The bytes of ids.
    #[pyo3(signature = (ids, skip_special=false, replace=false))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special: bool,
        replace: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ids = self::ids(ids, self.0.vocabulary().tokens().len())?;
        let mut bytes = Vec::new();
        py.detach(|| self.0.decode(&ids, skip_special, replace, &mut bytes))
            .map_err(|error| exception(py, error, None))?;
        python_bytes(py, &bytes)
    }

    /// The bytes of each id.
    fn tokens_bytes<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for id in self::ids(ids, self.0.vocabulary().tokens().len())? {
            match self.token_bytes(py, id)? {
                Some(bytes) => list.append(bytes)?,
                None => return Err(exception(py, Error::UnknownId { id: u64::from(id) }, None)),
            }
        }
        Ok(list)
    }

    /// The bytes of a token, or None for an id without one.
    fn token_bytes<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let tokens = self.0.vocabulary().tokens();
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(tokens.length(id) as usize).is_err() {
            return Err(exception(py, Error::OutOfMemory { bytes: tokens.length(id) }, None));
        }
        match tokens.append(id, &mut bytes) {
            true => python_bytes(py, &bytes).map(Some),
            false => Ok(None),
        }
    }

    /// The id of the token that is spelt so, or None; special tokens do not count.
    fn token_id(&self, token: &[u8]) -> Option<u32> {
        self.0.vocabulary().token_id(token)
    }

    /// Whether an id is a special token's.
    fn is_special(&self, id: u32) -> bool {
        self.0.vocabulary().tokens().is_special(id)
    }

    /// The length of each token in bytes by id, 0 for a gap, as flat u64.
    fn token_lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyByteArray> {
        let tokens = self.0.vocabulary().tokens();
        let lengths: Vec<u64> = (0..tokens.len() as u32).map(|id| tokens.length(id)).collect();
        flat(py, &lengths)
    }

    /// The highest id + 1.
    #[getter]
    fn n_vocab(&self) -> usize {
        self.0.vocabulary().tokens().len()
    }

    /// The merges, as flat u32 triples (left, right, new): given, or recovered.
    fn merges<'py>(&self, py: Python<'py>) -> Bound<'py, PyByteArray> {
        flat_triples(py, self.0.vocabulary().merges())
    }

    /// The ids that fail the canonical check, as flat u32.
    fn not_canonical<'py>(&self, py: Python<'py>) -> Bound<'py, PyByteArray> {
        flat(py, self.0.vocabulary().not_canonical())
    }

    /// What the build worked out, to be given to another one: see `Flat`. None for a list with repeated strings.
    fn found<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>)> {
        let found = self.0.vocabulary().found()?;
        let not_canonical = flat(py, &found.not_canonical);
        Some((flat_triples(py, &found.merges), flat_triples(py, &found.rules), not_canonical))
    }

    /// The bytes that have no token.
    fn missing_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.vocabulary().missing_bytes())
    }

    /// What splits: `none`, `scanner:...`, `automaton`, `regex` or `steps`.
    #[getter]
    fn split_engine(&self) -> &str {
        self.0.splitter().engine()
    }
}

impl Encoder {
    fn ids(
        &self,
        text: &Bound<'_, PyAny>,
        allowed: Option<&Bound<'_, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        template: bool,
    ) -> PyResult<Vec<u32>> {
        let py = text.py();
        let options = options(allowed, disallowed, template);
        self.on_text(&Text::of(text)?, py, |encoder, document, stop| {
            let mut ids = Vec::new();
            encoder.encode(document, options, &mut ids, stop).map(|()| ids)
        })
    }

    fn batch(
        &self,
        texts: &Bound<'_, PyList>,
        allowed: Option<&Bound<'_, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        threads: Option<usize>,
        template: bool,
    ) -> PyResult<encode::Batch> {
        let options = options(allowed, disallowed, template);
        self.on_texts(texts, threads, |encoder, documents, stop| {
            encoder.encode_batch(documents, options, &|| stop.load(Ordering::Relaxed))
        })
    }
}
