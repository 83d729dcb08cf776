//! New bytes and str objects.

use crate::errors::exception;
use digram::Error;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// A bytes object of a length, written by `write` without the interpreter lock: all of it, else it panics.
pub fn written<'py>(
    py: Python<'py>,
    length: usize,
    write: impl FnOnce(&mut [MaybeUninit<u8>]) + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let size = ffi::Py_ssize_t::try_from(length).unwrap_or(ffi::Py_ssize_t::MAX);
    // SAFETY: a new reference to bytes that are not written yet, or null with an exception, which says nothing.
    let bytes = unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), size)) };
    let Some(bytes) = bytes else {
        PyErr::take(py);
        return Err(exception(py, Error::OutOfMemory { bytes: length as u64 }, None));
    };
    // SAFETY: the object has so many bytes, and nobody else knows of it yet. (The empty one is shared, and nothing is
    // written to it.)
    let out = unsafe {
        let start = ffi::PyBytes_AsString(bytes.as_ptr()).cast::<MaybeUninit<u8>>();
        std::slice::from_raw_parts_mut(start, length)
    };
    py.detach(|| write(out));
    Ok(bytes.cast_into::<PyBytes>()?)
}

/// A str of UTF-8; `errors` is an error handler of Python's.
pub fn decoded<'py>(py: Python<'py>, utf8: &[u8], errors: &CStr) -> PyResult<Bound<'py, PyString>> {
    let length = utf8.len() as ffi::Py_ssize_t;
    // SAFETY: the bytes are so many; a new reference, or null with an exception.
    let text = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_DecodeUTF8(utf8.as_ptr().cast(), length, errors.as_ptr()))?
    };
    Ok(text.cast_into::<PyString>()?)
}
