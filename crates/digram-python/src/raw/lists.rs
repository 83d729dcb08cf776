//! The numbers of a list of int, or of a buffer, read where they are.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::ops::Range;

/// An int whose value has one digit, as CPython lays it out.
#[cfg(not(Py_3_12))]
#[repr(C)]
struct Int {
    base: ffi::PyVarObject,
    digit: u32,
}

#[cfg(Py_3_12)]
#[repr(C)]
struct Int {
    base: ffi::PyObject,
    /// The number of digits in the bits from the third on; the lowest two are 0 for a positive number, 1 for zero.
    tag: usize,
    digit: u32,
}

/// The value of an int from 0 to 2^30 - 1.
///
/// # Safety
/// `object` is an int, and no instance of a class that inherits from it.
#[cfg(target_pointer_width = "64")]
unsafe fn small(object: *mut ffi::PyObject) -> Option<u32> {
    // SAFETY: of the caller. An int has room for a digit, whatever its size.
    let int = unsafe { &*object.cast::<Int>() };
    #[cfg(not(Py_3_12))]
    let digits = int.base.ob_size;
    #[cfg(Py_3_12)]
    let digits = match int.tag & 3 {
        0 => int.tag >> 3,
        1 => 0,
        _ => return None,
    };
    match digits {
        0 => Some(0),
        1 => Some(int.digit),
        _ => None,
    }
}

/// Appends ids of a list to `out`; false where an item is no int below `limit`: then some are there.
///
/// Where there is no interpreter lock, another thread may change the list meanwhile; then no item is read here.
#[cfg(all(target_pointer_width = "64", not(Py_GIL_DISABLED)))]
pub fn read(list: &Bound<'_, PyList>, range: Range<usize>, limit: usize, out: &mut Vec<u32>) -> bool {
    assert!(range.end <= list.len());
    for i in range {
        // SAFETY: the list is so long, and nothing here lets another thread run or drops an item. The type of an int is
        // int itself.
        let id = unsafe {
            let item = ffi::PyList_GET_ITEM(list.as_ptr(), i as ffi::Py_ssize_t);
            if ffi::PyLong_CheckExact(item) == 0 { None } else { small(item) }
        };
        match id {
            Some(id) if (id as usize) < limit => out.push(id),
            _ => return false,
        }
    }
    true
}

#[cfg(not(all(target_pointer_width = "64", not(Py_GIL_DISABLED))))]
pub fn read(_: &Bound<'_, PyList>, range: Range<usize>, _: usize, _: &mut Vec<u32>) -> bool {
    range.is_empty()
}

/// The numbers of a buffer, where they lie one behind the other.
pub fn numbers<'a, T: Element + Copy + 'a>(py: Python<'a>, buffer: &'a PyBuffer<T>) -> Option<impl Iterator<Item = T>> {
    let _ = py;
    let numbers = buffer.as_slice_ptr()?;
    // SAFETY: the buffer is held, and its numbers are aligned and in one block. They are read one by one, as they are at that
    // moment; code that writes to them meanwhile does so without the interpreter lock, as it may do to numpy.
    Some((0..numbers.len()).map(move |i| unsafe { numbers.cast::<T>().add(i).read() }))
}
