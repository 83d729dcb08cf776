//! Lists of ids: int objects are made once for a tokenizer, and shared by all of its lists.

use pyo3::prelude::*;
use pyo3::types::PyList;

/// The int objects of a tokenizer's ids, each made when it first goes out: 28 bytes an id at most once, and 8 for its place.
/// CPython has those below 257 already.
///
/// Without an interpreter lock all threads would count the references to the same few objects; there every list has
/// ints of its own.
#[cfg(not(Py_GIL_DISABLED))]
pub struct Ints {
    ids: usize,
    /// Owned references, or null. They are touched only where the interpreter lock is held.
    objects: std::sync::OnceLock<Box<[std::sync::atomic::AtomicUsize]>>,
}

#[cfg(not(Py_GIL_DISABLED))]
mod shared {
    use super::*;
    use pyo3::ffi;
    use std::sync::atomic::Ordering::Relaxed;

    impl Ints {
        /// For ids below `ids`.
        pub fn new(ids: usize) -> Self {
            Self { ids, objects: std::sync::OnceLock::new() }
        }

        /// A list of ids.
        pub fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
            let length = ids.len() as ffi::Py_ssize_t; // no slice is longer than that
            // SAFETY: a new reference, or null with an exception.
            let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length))?.cast_into_unchecked() };
            let objects = self.objects.get_or_init(|| bytemuck::zeroed_slice_box(self.ids));
            for (i, &id) in ids.iter().enumerate() {
                // The objects of a large vocabulary lie far apart.
                if let Some(place) = ids.get(i + AHEAD).and_then(|&later| objects.get(later as usize)) {
                    prefetch(place.load(Relaxed));
                }
                let object = match objects.get(id as usize).map(|place| place.load(Relaxed)) {
                    Some(object) if object != 0 => object as *mut ffi::PyObject,
                    _ => made(id, objects)?,
                };
                // SAFETY: the object is alive, for the table holds a reference; the list has `length` places, and nobody
                // else knows it yet. Nothing here runs Python code.
                unsafe {
                    ffi::Py_INCREF(object);
                    ffi::PyList_SET_ITEM(list.as_ptr(), i as ffi::Py_ssize_t, object);
                }
            }
            Ok(list)
        }
    }

    /// How many ids before it is wanted an object is asked for.
    const AHEAD: usize = 12;

    fn prefetch(address: usize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint; any address may be given, null too.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = address;
    }

    /// Makes the int of an id; the table owns it.
    #[cold]
    fn made(id: u32, objects: &[std::sync::atomic::AtomicUsize]) -> PyResult<*mut ffi::PyObject> {
        Python::attach(|py| {
            // SAFETY: a new reference, or null with an exception.
            let object = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromUnsignedLong(id.into()))? };
            let place = &objects[id as usize];
            place.store(object.into_ptr() as usize, Relaxed);
            Ok(place.load(Relaxed) as *mut ffi::PyObject)
        })
    }

    impl Drop for Ints {
        fn drop(&mut self) {
            let Some(objects) = self.objects.take() else { return };
            // A tokenizer is freed by the interpreter, which has the lock; where there is none any more, its ints are gone.
            Python::try_attach(|_| {
                for object in objects {
                    // SAFETY: an owned reference, or null.
                    unsafe { ffi::Py_XDECREF(object.into_inner() as *mut ffi::PyObject) }
                }
            });
        }
    }
}

#[cfg(Py_GIL_DISABLED)]
pub struct Ints;

#[cfg(Py_GIL_DISABLED)]
impl Ints {
    /// For ids below `ids`.
    pub fn new(_ids: usize) -> Self {
        Self
    }

    /// A list of ids.
    pub fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, ids)
    }
}
