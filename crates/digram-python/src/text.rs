//! Texts from Python: str or bytes-like, where they are in memory.

use crate::flat::FlatTexts;
use crate::kept::{Kept, with_kept};
use crate::raw;
use digram::text::Text as View;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyMemoryView, PyString};
use std::borrow::Cow;

/// Texts, or lists of ids, between two looks for Ctrl-C.
pub const BETWEEN_SIGNALS: usize = 1 << 14;

/// One text, kept alive by its Python object.
pub enum Text<'py> {
    Str(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
    /// A read-only map of a file.
    Mapped(PyBuffer<u8>),
    /// What was in a buffer that others may write to.
    Copied(Vec<u8>),
}

impl<'py> Text<'py> {
    /// A str, or an object with a buffer of bytes; anything else is None.
    pub fn new(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Some(Self::Str(text.clone())));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Some(Self::Bytes(bytes.clone())));
        }
        let Ok(buffer) = PyBuffer::<u8>::get(object) else { return Ok(None) };
        let map = object.py().import("mmap")?.getattr("mmap")?;
        // A view that cannot be written to may be of an object that can.
        let whole = match object.cast::<PyMemoryView>() {
            Ok(view) => view.getattr("obj")?,
            Err(_) => object.clone(),
        };
        let stays = whole.is_exact_instance_of::<PyBytes>()
            || (whole.get_type().is(&map) && PyBuffer::<u8>::get(&whole)?.readonly());
        Ok(Some(match buffer.readonly() && buffer.is_c_contiguous() && stays {
            true => Self::Mapped(buffer),
            false => Self::Copied(buffer.to_vec(object.py())?),
        }))
    }

    /// As [`Self::new`], with a TypeError.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        match Self::new(object)? {
            Some(text) => Ok(text),
            None => Err(PyTypeError::new_err(format!("text must be str or bytes, not {}", type_name(object)))),
        }
    }

    /// The text as it is in memory. It does not change: it may be read without the interpreter lock.
    pub fn view(&self) -> PyResult<View<'_>> {
        Ok(match self {
            Self::Str(text) => raw::text::characters(text)?,
            Self::Bytes(bytes) => View::Bytes(bytes.as_bytes()),
            Self::Mapped(buffer) => View::Bytes(raw::text::mapped(buffer)),
            Self::Copied(bytes) => View::Bytes(bytes),
        })
    }

    /// Whether it came as str.
    pub fn is_str(&self) -> bool {
        matches!(self, Self::Str(_))
    }
}

/// Many texts, kept alive by their Python objects.
pub enum Texts<'a, 'py> {
    List(Vec<Text<'py>>),
    Flat(&'a Bound<'py, FlatTexts>),
}

impl<'a, 'py> Texts<'a, 'py> {
    /// A list of texts, with a TypeError that names the index, which counts from `first`, and the type of what is none;
    /// or flat texts.
    pub fn of(object: &'a Bound<'py, PyAny>, first: usize) -> PyResult<Self> {
        if let Ok(flat) = object.cast_exact::<FlatTexts>() {
            return Ok(Self::Flat(flat));
        }
        let list = object.cast::<PyList>()?;
        let text = |(i, object): (usize, Bound<'py, PyAny>)| {
            if i.is_multiple_of(BETWEEN_SIGNALS) {
                list.py().check_signals()?;
            }
            Text::new(&object)?.ok_or_else(|| {
                PyTypeError::new_err(format!("item {} must be str or bytes, not {}", first + i, type_name(&object)))
            })
        };
        list.iter().enumerate().map(text).collect::<PyResult<_>>().map(Self::List)
    }

    /// What the texts are in memory. A TextError counts from `first` where a string is not UTF-8.
    pub fn views(&self, first: usize) -> PyResult<Vec<View<'_>>> {
        match self {
            Self::List(texts) => texts.iter().map(Text::view).collect(),
            Self::Flat(flat) => flat.get().views(flat.py(), first),
        }
    }

    /// Whether text `i` came as a str, or as a string of Arrow's.
    pub fn is_str(&self, i: usize) -> bool {
        match self {
            Self::List(texts) => texts[i].is_str(),
            Self::Flat(flat) => flat.get().is_str(),
        }
    }
}

/// The bytes of texts; in UTF-8 where they came as str.
pub fn utf8<'a>(views: &[View<'a>]) -> Vec<Cow<'a, [u8]>> {
    let bytes = |view: &View<'a>| match *view {
        View::Bytes(bytes) => Cow::Borrowed(bytes),
        View::Utf8(text) => Cow::Borrowed(text.as_bytes()),
        view => {
            let mut room = Vec::new();
            view.utf8(&mut room);
            Cow::Owned(room)
        }
    };
    views.iter().map(bytes).collect()
}

/// Bytes that a thread keeps for texts in between.
const KEPT: usize = 1 << 20;

thread_local! {
    static ROOM: Kept<u8> = const { Kept::new(Vec::new()) };
}

/// Calls `work` with room for a text in UTF-8: that of the last call of this thread, unless it was large.
pub fn with_room<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    with_kept(&ROOM, KEPT, work)
}

pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "an unknown type".into(), |name| name.to_string())
}
