//! Texts from Python: str or bytes, borrowed where CPython allows.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

/// Texts, or lists of ids, between two looks for Ctrl-C.
pub const BETWEEN_SIGNALS: usize = 1 << 14;

/// One text, kept alive by its Python object.
pub enum Text<'py> {
    Str(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
}

impl<'py> Text<'py> {
    /// A str or bytes object; anything else is None. In a str, pairs of surrogates are joined and lone ones become U+FFFD.
    pub fn new(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Some(Self::Str(whole_characters(text)?)));
        }
        Ok(object.cast::<PyBytes>().ok().map(|bytes| Self::Bytes(bytes.clone())))
    }

    /// As [`Self::new`], with a TypeError.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        match Self::new(object)? {
            Some(text) => Ok(text),
            None => Err(PyTypeError::new_err(format!("text must be str or bytes, not {}", type_name(object)))),
        }
    }

    /// UTF-8, or whatever the bytes object holds.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.to_str().expect("has no surrogates: checked").as_bytes(),
            Self::Bytes(bytes) => bytes.as_bytes(),
        }
    }

    /// The text, where it came as str.
    pub fn str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => text.to_str().ok(),
            Self::Bytes(_) => None,
        }
    }
}

/// The texts of a list, with a TypeError that names the index and the type.
pub fn texts<'py>(list: &Bound<'py, PyList>, first: usize) -> PyResult<Vec<Text<'py>>> {
    let text = |(i, object): (usize, Bound<'py, PyAny>)| {
        if i.is_multiple_of(BETWEEN_SIGNALS) {
            list.py().check_signals()?;
        }
        Text::new(&object)?.ok_or_else(|| {
            PyTypeError::new_err(format!("item {} must be str or bytes, not {}", first + i, type_name(&object)))
        })
    };
    list.iter().enumerate().map(text).collect()
}

/// The same str where it is valid Unicode; else pairs of surrogates joined and lone ones replaced.
fn whole_characters<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
    if text.to_str().is_ok() {
        return Ok(text.clone());
    }
    let units = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    Ok(units.call_method1("decode", ("utf-16-le", "replace"))?.cast_into()?)
}

pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "an unknown type".into(), |name| name.to_string())
}
