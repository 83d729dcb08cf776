//! Numbers in and out: lists of int, or flat buffers.

use crate::errors::named;
use crate::raw;
use crate::text::type_name;
use bytemuck::{AnyBitPattern, NoUninit};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyList};
use std::borrow::Cow;

/// Ids that memory is taken for before the first one is seen.
const MOST_AT_ONCE: usize = 1 << 16;

/// Ids between two looks for Ctrl-C.
const BETWEEN_SIGNALS: usize = 1 << 18;

/// A flat buffer of numbers in native byte order, for `memoryview(...).cast` or numpy.
pub fn flat<'py, T: NoUninit>(py: Python<'py>, numbers: &[T]) -> Bound<'py, PyByteArray> {
    PyByteArray::new(py, bytemuck::cast_slice(numbers))
}

/// Ids from a buffer of integers (numpy, array, memoryview) or from any iterable of int.
///
/// An int that can be no id raises UnknownTokenError as an id without a token does; anything else TypeError.
/// From `limit` on there is no token: such an id of an iterable raises at once, for it may be one of endlessly many.
pub fn ids(object: &Bound<'_, PyAny>, limit: usize) -> PyResult<Vec<u32>> {
    let mut ids = Vec::new();
    ids_into(object, limit, &mut ids)?;
    Ok(ids)
}

/// As [`ids`], appended to `out`.
pub fn ids_into(object: &Bound<'_, PyAny>, limit: usize, out: &mut Vec<u32>) -> PyResult<()> {
    if let Ok(list) = object.cast_exact::<PyList>() {
        let before = out.len();
        if from_list(list, limit, out)? {
            return Ok(());
        }
        out.truncate(before);
    } else if let Some(result) = from_buffer::<u32>(object, out)
        .or_else(|| from_buffer::<i64>(object, out))
        .or_else(|| from_buffer::<i32>(object, out))
        .or_else(|| from_buffer::<u16>(object, out))
        .or_else(|| from_buffer::<u64>(object, out))
    {
        return result;
    }
    // A length is only what an object says of itself: `range(10**12)` has one too, and no memory is taken for it at once.
    reserve(out, object.len().unwrap_or(0).min(MOST_AT_ONCE))?;
    for (i, item) in object.try_iter()?.enumerate() {
        let item = item?;
        if i.is_multiple_of(BETWEEN_SIGNALS) {
            item.py().check_signals()?; // a list or a range runs no Python code that would look
        }
        match item.extract::<u32>() {
            Ok(id) if !item.is_instance_of::<PyBool>() && (id as usize) < limit => {
                if out.len() == out.capacity() {
                    reserve(out, out.len().max(64))?;
                }
                out.push(id);
            }
            _ => return Err(no_id(i, &item)),
        }
    }
    Ok(())
}

/// Where memory ends, a push would end the process.
fn reserve(out: &mut Vec<u32>, more: usize) -> PyResult<()> {
    out.try_reserve(more).map_err(|_| PyMemoryError::new_err(()))
}

/// The ids of a list, if all of them are plain ints below `limit`.
fn from_list(list: &Bound<'_, PyList>, limit: usize, out: &mut Vec<u32>) -> PyResult<bool> {
    reserve(out, list.len())?;
    let mut start = 0;
    // The handler of a signal may change the list.
    while start < list.len() {
        let end = list.len().min(start + BETWEEN_SIGNALS);
        if !raw::lists::read(list, start..end, limit, out) {
            return Ok(false);
        }
        start = end;
        if start < list.len() {
            list.py().check_signals()?;
        }
    }
    Ok(true)
}

/// Why an item is no id: too large or negative, as an int or what acts as one (numpy's), or no int at all.
fn no_id(i: usize, item: &Bound<'_, PyAny>) -> PyErr {
    match item.call_method0("__index__") {
        Ok(id) if !item.is_instance_of::<PyBool>() => no_token(item.py(), id),
        // What the caller's own object raises comes through.
        Err(error) if item.hasattr("__index__").unwrap_or(false) => error,
        _ => PyTypeError::new_err(format!("ids must be int, but item {i} is {}", type_name(item))),
    }
}

fn no_token(py: Python<'_>, id: impl std::fmt::Display) -> PyErr {
    named(py, "UnknownTokenError", &format!("id {id} has no token in this vocabulary"))
}

fn from_buffer<T>(object: &Bound<'_, PyAny>, out: &mut Vec<u32>) -> Option<PyResult<()>>
where
    T: Element + Copy + std::fmt::Display,
    u32: TryFrom<T>,
{
    let buffer = PyBuffer::<T>::get(object).ok()?;
    let py = object.py();
    if buffer.format().to_bytes().first().is_some_and(|&order| order == b'>' || order == b'!') {
        return None; // of another byte order: item by item
    }
    if buffer.dimensions() != 1 {
        let message = format!("ids must have one dimension, not {}: decode row by row", buffer.dimensions());
        return Some(Err(PyTypeError::new_err(message)));
    }
    Some(reserve(out, buffer.item_count()).and_then(|()| match raw::lists::numbers(py, &buffer) {
        Some(numbers) => converted(py, numbers, out),
        None => converted(py, buffer.to_vec(py)?.into_iter(), out),
    }))
}

/// Appends numbers to `out`; UnknownTokenError names the first that can be no id.
fn converted<T>(py: Python<'_>, numbers: impl Iterator<Item = T>, out: &mut Vec<u32>) -> PyResult<()>
where
    T: Copy + std::fmt::Display,
    u32: TryFrom<T>,
{
    let mut wrong = None;
    out.extend(numbers.map_while(|number| match u32::try_from(number) {
        Ok(id) => Some(id),
        Err(_) => {
            wrong = Some(number);
            None
        }
    }));
    wrong.map_or(Ok(()), |number| Err(no_token(py, number)))
}

/// Numbers of a bytes object, where they are, or of another buffer that digram's own Python code made.
pub fn numbers<'a, T: Element + AnyBitPattern + NoUninit>(object: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [T]>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        let whole = &bytes[..bytes.len() - bytes.len() % size_of::<T>()];
        return Ok(match bytemuck::try_cast_slice(whole) {
            Ok(numbers) => Cow::Borrowed(numbers),
            Err(_) => Cow::Owned(whole.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()), // not aligned
        });
    }
    // CPython's empty array points to a byte of any alignment, which PyBuffer refuses.
    if object.len()? == 0 {
        return Ok(Cow::Borrowed(&[]));
    }
    PyBuffer::<T>::get(object)?.to_vec(object.py()).map(Cow::Owned)
}

/// The same in threes; numbers that are left over are dropped.
pub fn triples(object: &Bound<'_, PyAny>) -> PyResult<Vec<(u32, u32, u32)>> {
    Ok(numbers(object)?.chunks_exact(3).map(|m| (m[0], m[1], m[2])).collect())
}
