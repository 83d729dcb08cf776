//! The tokenizer as Python sees it.

use crate::errors::exception;
use crate::ids::{flat, ids};
use crate::raw::ints::Ints;
use crate::raw::numbers::Numbers;
use crate::specials::{Allowed, Markers, options};
use crate::text::Text;
use digram::Error;
use digram::encode;
use digram::merge::Rules;
use digram::text::Document;
use digram::vocabulary::Triple;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyString};

/// A frozen tokenizer.
#[pyclass(frozen)]
pub struct Encoder {
    pub(crate) engine: encode::Encoder,
    pub(crate) ints: Ints,
}

impl Encoder {
    pub fn new(engine: encode::Encoder) -> Self {
        let ints = Ints::new(engine.vocabulary().tokens().len());
        Self { engine, ints }
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

#[pymethods]
impl Encoder {
    /// Special tokens to be let through by `encode`; None means all.
    #[pyo3(signature = (markers=None))]
    fn allow(&self, py: Python<'_>, markers: Option<Vec<String>>) -> PyResult<Allowed> {
        let Some(markers) = markers else {
            return Ok(Allowed(self.engine.all_specials().clone()));
        };
        let markers: Vec<&str> = markers.iter().map(String::as_str).collect();
        self.engine.some_specials(&markers).map(Allowed).map_err(|error| exception(py, error, None))
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
        self.list(text, options(allowed, disallowed, template))
    }

    /// The ids of a text as a flat buffer of u32.
    #[pyo3(signature = (text, allowed=None, disallowed=None, template=false))]
    fn encode_flat<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: Option<&Bound<'py, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        template: bool,
    ) -> PyResult<Numbers> {
        self.ids(text, options(allowed, disallowed, template), Vec::new(), |_, ids| Ok(Numbers::new(ids)))
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
        let (py, options, given) = (text.py(), options(allowed, disallowed, template), Text::of(text)?);
        let length = if given.is_str() { Some(text.len()?) } else { None };
        let work = |engine: &encode::Encoder, document: Document, stop: &dyn Fn() -> bool| {
            let document = document.bytes();
            let mut spanned = engine.encode_with_spans(document, options, stop)?;
            let text = length.and_then(|_| str::from_utf8(document).ok());
            if let Some(text) = text.filter(|_| characters) {
                spanned.spans = encode::character_spans(text, &spanned.spans);
            }
            let starts: Vec<u64> = spanned.spans.iter().map(|span| span.start as u64).collect();
            let ends: Vec<u64> = spanned.spans.iter().map(|span| span.end as u64).collect();
            Ok((spanned.ids, starts, ends, text.map(|text| text.chars().count()) != length))
        };
        self.on_text(&given, py, work, |_, (ids, starts, ends, joined)| {
            Ok((self.ints.list(py, &ids)?, flat(py, &starts), flat(py, &ends), joined))
        })
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
        let work = |engine: &encode::Encoder, document: Document, stop: &dyn Fn() -> bool| {
            let document = document.bytes();
            engine.encode_and_last(document, options, stop)
        };
        self.on_text(&Text::of(text)?, py, work, |_, (ids, last)| Ok((self.ints.list(py, &ids)?, last)))
    }

    /// The ids of bytes as one piece; `whole` says whether it is looked up first.
    #[pyo3(signature = (piece, whole=true))]
    fn encode_piece<'py>(&self, py: Python<'py>, piece: &[u8], whole: bool) -> PyResult<Bound<'py, PyList>> {
        let ids = py.detach(|| self.engine.encode_piece(piece, whole)).map_err(|error| exception(py, error, None))?;
        self.ints.list(py, &ids)
    }

    /// The parts of a text that are encoded by themselves, each as (start and end in bytes, the piece or None of an added
    /// token, its symbols, which of them stand in for what bytes of the piece as (place, start, end), its ids).
    #[pyo3(signature = (text, allowed=None, disallowed=None, template=false))]
    fn parts<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: Option<&Bound<'_, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        template: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, options) = (text.py(), options(allowed, disallowed, template));
        let work = |engine: &encode::Encoder, document: Document, stop: &dyn Fn() -> bool| {
            engine.parts(document.bytes(), options, stop)
        };
        self.on_text(&Text::of(text)?, py, work, |_, parts| {
            let list = PyList::empty(py);
            for part in parts {
                let piece = part.piece.map(|piece| python_bytes(py, &piece)).transpose()?;
                let stand_ins: Vec<_> = part.stand_ins.into_iter().map(|(at, r)| (at, r.start, r.end)).collect();
                let (symbols, ids) = (self.ints.list(py, &part.symbols)?, self.ints.list(py, &part.ids)?);
                list.append((part.span.start, part.span.end, piece, symbols, stand_ins, ids))?;
            }
            Ok(list)
        })
    }

    /// The base symbols of bytes as one piece, and which of them stand in for what bytes, as in `parts`.
    #[allow(clippy::type_complexity)] // a tuple that one caller unpacks
    fn symbols<'py>(
        &self,
        py: Python<'py>,
        piece: &[u8],
    ) -> PyResult<(Bound<'py, PyList>, Vec<(usize, usize, usize)>)> {
        let (symbols, stand_ins) = self.engine.symbols(piece).map_err(|error| exception(py, error, None))?;
        Ok((self.ints.list(py, &symbols)?, stand_ins.into_iter().map(|(at, r)| (at, r.start, r.end)).collect()))
    }

    /// The rank and the new id of the rule for two neighbours, where `reached` is one more than the rank applied last;
    /// None where there is no rule.
    #[pyo3(signature = (left, right, reached=0))]
    fn rule(&self, left: u32, right: u32, reached: u32) -> Option<(u32, u32)> {
        self.engine.vocabulary().merge(left, right, reached).map(|merge| (merge.rank, merge.id))
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
        let options = options(allowed, disallowed, template);
        let work = |engine: &encode::Encoder, document: Document, stop: &dyn Fn() -> bool| {
            engine.count(document, options, stop)
        };
        self.on_text(&Text::of(text)?, text.py(), work, |_, count| Ok(count))
    }

    /// The ids of many texts, end to end as flat u32, and the end of each text's ids as flat u64.
    #[pyo3(signature = (texts, allowed=None, disallowed=None, threads=None, template=false))]
    fn encode_batch_flat<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        allowed: Option<&Bound<'py, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        threads: Option<usize>,
        template: bool,
    ) -> PyResult<(Numbers, Bound<'py, PyByteArray>)> {
        let (ids, ends) = self.flat(texts, options(allowed, disallowed, template), threads)?;
        Ok((Numbers::new(ids), flat(texts.py(), &ends)))
    }

    /// The ids of many texts.
    #[pyo3(signature = (texts, allowed=None, disallowed=None, threads=None, template=false))]
    fn encode_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        allowed: Option<&Bound<'py, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        threads: Option<usize>,
        template: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        self.lists(texts, options(allowed, disallowed, template), threads)
    }

    /// The number of ids of each text, as flat u64.
    #[pyo3(signature = (texts, allowed=None, disallowed=None, threads=None, template=false))]
    fn count_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        allowed: Option<&Bound<'py, Allowed>>,
        disallowed: Option<&Bound<'_, Markers>>,
        threads: Option<usize>,
        template: bool,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let counts = self.counts(texts, options(allowed, disallowed, template), threads)?;
        Ok(flat(texts.py(), &counts))
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
        self.bytes(py, ids, skip_special, replace)
    }

    /// The text of ids; `errors` is an error handler of Python's.
    #[pyo3(signature = (ids, errors="replace", skip_special=false))]
    fn decode_text<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        errors: &str,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        self.text(py, ids, errors, skip_special)
    }

    /// The text of each list of ids.
    #[pyo3(signature = (lists, errors="replace", skip_special=false))]
    fn decode_batch<'py>(
        &self,
        lists: &Bound<'py, PyList>,
        errors: &str,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        self.texts(lists, errors, skip_special)
    }

    /// The bytes of each id.
    fn tokens_bytes<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for id in self::ids(ids, self.engine.vocabulary().tokens().len())? {
            match self.token_bytes(py, id)? {
                Some(bytes) => list.append(bytes)?,
                None => return Err(exception(py, Error::UnknownId { id: u64::from(id) }, None)),
            }
        }
        Ok(list)
    }

    /// The bytes of a token, or None for an id without one.
    fn token_bytes<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let tokens = self.engine.vocabulary().tokens();
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
        self.engine.vocabulary().token_id(token)
    }

    /// Whether an id is a special token's.
    fn is_special(&self, id: u32) -> bool {
        self.engine.vocabulary().tokens().is_special(id)
    }

    /// The length of each token in bytes by id, 0 for a gap, as flat u64.
    fn token_lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyByteArray> {
        let tokens = self.engine.vocabulary().tokens();
        let lengths: Vec<u64> = (0..tokens.len() as u32).map(|id| tokens.length(id)).collect();
        flat(py, &lengths)
    }

    /// The highest id + 1.
    #[getter]
    fn n_vocab(&self) -> usize {
        self.engine.vocabulary().tokens().len()
    }

    /// The merges, as flat u32 triples (left, right, new): given, or recovered.
    fn merges<'py>(&self, py: Python<'py>) -> Bound<'py, PyByteArray> {
        flat_triples(py, self.engine.vocabulary().merges())
    }

    /// The ids that fail the canonical check, as flat u32.
    fn not_canonical<'py>(&self, py: Python<'py>) -> Bound<'py, PyByteArray> {
        flat(py, self.engine.vocabulary().not_canonical())
    }

    /// What the build worked out, to be given to another one: see `Flat`. None for a list with repeated strings.
    fn found<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>)> {
        let found = self.engine.vocabulary().found()?;
        let not_canonical = flat(py, &found.not_canonical);
        Some((flat_triples(py, &found.merges), flat_triples(py, &found.rules), not_canonical))
    }

    /// The bytes that have no token.
    fn missing_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.engine.vocabulary().missing_bytes())
    }

    /// What splits: `none`, `scanner:...`, `automaton`, `regex` or `steps`.
    #[getter]
    fn split_engine(&self) -> &str {
        self.engine.splitter().engine()
    }
}
