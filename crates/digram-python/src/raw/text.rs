//! The characters of a str, where CPython has them.

use digram::text::Text;
use pyo3::buffer::PyBuffer;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::types::string::PyStringData;

/// The characters of a str, without a copy. A str never changes, so they may be read without the interpreter lock for as
/// long as it lives.
///
/// `PyUnicode_AsUTF8AndSize` is not asked: it would leave a copy of the text in the str for good. One that is there is used.
pub fn characters<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Text<'a>> {
    if let Some(utf8) = cached(text) {
        return Ok(Text::Utf8(utf8));
    }
    // SAFETY: not for strings that are being made; this one has come from Python.
    Ok(match unsafe { text.data() }? {
        PyStringData::Ucs1(units) if is_ascii(text, units) => {
            // SAFETY: all ASCII.
            Text::Utf8(unsafe { std::str::from_utf8_unchecked(units) })
        }
        PyStringData::Ucs1(units) => Text::Latin1(units),
        PyStringData::Ucs2(units) => Text::Ucs2(units),
        PyStringData::Ucs4(units) => Text::Ucs4(units),
    })
}

#[cfg(not(Py_3_14))]
fn is_ascii(text: &Bound<'_, PyString>, _: &[u8]) -> bool {
    // SAFETY: it is a str, and `data` has made it ready.
    unsafe { ffi::PyUnicode_IS_ASCII(text.as_ptr()) != 0 }
}

#[cfg(Py_3_14)]
fn is_ascii(_: &Bound<'_, PyString>, units: &[u8]) -> bool {
    units.is_ascii()
}

/// The UTF-8 that somebody has asked for before. Another thread may be just setting it where there is no lock to hold.
#[cfg(not(any(Py_3_14, Py_GIL_DISABLED)))]
fn cached<'a>(text: &'a Bound<'_, PyString>) -> Option<&'a str> {
    let pointer = text.as_ptr();
    // SAFETY: it is a str; one that is not compact ASCII begins with a PyCompactUnicodeObject, and the lock is held. CPython
    // frees the UTF-8 with the str.
    unsafe {
        if ffi::PyUnicode_IS_COMPACT_ASCII(pointer) != 0 {
            return None;
        }
        let object = pointer.cast::<ffi::PyCompactUnicodeObject>();
        let utf8 = (*object).utf8.cast::<u8>().cast_const();
        if utf8.is_null() {
            return None;
        }
        Some(std::str::from_utf8_unchecked(std::slice::from_raw_parts(utf8, (*object).utf8_length as usize)))
    }
}

#[cfg(any(Py_3_14, Py_GIL_DISABLED))]
fn cached<'a>(_: &'a Bound<'_, PyString>) -> Option<&'a str> {
    None
}

/// The bytes of a buffer of an Arrow array, which is never written to once it is made: Arrow says so, and all that share its
/// arrays without a copy rely on it.
pub fn arrow(buffer: &PyBuffer<u8>) -> &[u8] {
    mapped(buffer)
}

/// The bytes of a buffer that nobody writes to, as of a file that is mapped to be read.
pub fn mapped(buffer: &PyBuffer<u8>) -> &[u8] {
    let (pointer, length) = (buffer.buf_ptr().cast::<u8>(), buffer.item_count());
    if length == 0 {
        return &[];
    }
    // SAFETY: the buffer is contiguous and alive; the callers take only those that no Python code can write to, or may. A
    // file that another program writes to meanwhile is the usual risk of a map.
    unsafe { std::slice::from_raw_parts(pointer, length) }
}
