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
    use pyo3::exceptions::PyMemoryError;
    use pyo3::ffi;
    use std::sync::atomic::Ordering::Relaxed;

    impl Ints {
        /// For ids below `ids`.
        pub fn new(ids: usize) -> Self {
            Self { ids, objects: std::sync::OnceLock::new() }
        }

        /// A list of ids.
        pub fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
            let objects = self.objects.get_or_init(|| bytemuck::zeroed_slice_box(self.ids));
            let mut list = Unfilled::new(py, ids.len())?;
            let mut block = [0; BLOCK];
            for ids in ids.chunks(BLOCK) {
                // The objects of a large vocabulary lie far apart: those of a block are asked for before the first is touched.
                for (object, &id) in block.iter_mut().zip(ids) {
                    *object = match objects.get(id as usize).map_or(0, |place| place.load(Relaxed)) {
                        0 => made(id, objects)?,
                        object => object,
                    };
                    prefetch(*object);
                }
                // SAFETY: the objects are alive, for the table holds references.
                unsafe { list.extend(&block[..ids.len()]) };
            }
            Ok(list.filled())
        }
    }

    /// Ids whose objects are asked for together.
    const BLOCK: usize = 64;

    /// A list that nobody knows yet. Its memory is taken as CPython takes it, without the zeros that `PyList_New` would write
    /// over all of it first: they took a tenth of the time of a long text.
    struct Unfilled<'py> {
        list: Bound<'py, PyList>,
        items: *mut *mut ffi::PyObject,
        length: usize,
        room: usize,
    }

    impl<'py> Unfilled<'py> {
        fn new(py: Python<'py>, room: usize) -> PyResult<Self> {
            // SAFETY: a new reference, or null with an exception.
            let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(0))?.cast_into_unchecked() };
            let mut items: *mut *mut ffi::PyObject = std::ptr::null_mut();
            if room > 0 {
                // SAFETY: the interpreter lock is held, and a slice of u32 is at most half as long as its bytes may be many.
                items = unsafe { ffi::PyMem_Malloc(room * size_of::<*mut ffi::PyObject>()) }.cast();
                if items.is_null() {
                    return Err(PyMemoryError::new_err(()));
                }
            }
            Ok(Self { list, items, length: 0, room })
        }

        /// Adds objects.
        ///
        /// # Safety
        /// They are alive.
        unsafe fn extend(&mut self, objects: &[usize]) {
            assert!(objects.len() <= self.room - self.length);
            for (i, &object) in objects.iter().enumerate() {
                let object = object as *mut ffi::PyObject;
                // SAFETY: of the caller; there is room, as was asked above.
                unsafe {
                    ffi::Py_INCREF(object);
                    self.items.add(self.length + i).write(object);
                }
            }
            self.length += objects.len();
        }

        /// The list with its objects.
        fn filled(mut self) -> Bound<'py, PyList> {
            let list = self.list.as_ptr().cast::<ffi::PyListObject>();
            // SAFETY: the list is new and empty, without memory of its own, and takes over that of the items, of which `length`
            // are written. Nobody else knows it, and no collection runs while nothing is made.
            unsafe {
                (*list).ob_item = std::mem::replace(&mut self.items, std::ptr::null_mut());
                (*list).allocated = self.room as ffi::Py_ssize_t;
                (*list).ob_base.ob_size = self.length as ffi::Py_ssize_t;
            }
            self.list.clone()
        }
    }

    impl Drop for Unfilled<'_> {
        fn drop(&mut self) {
            if self.items.is_null() {
                return;
            }
            // An error came in between.
            for i in 0..self.length {
                // SAFETY: so many were written, with a reference each.
                unsafe { ffi::Py_DECREF(*self.items.add(i)) };
            }
            // SAFETY: taken by `PyMem_Malloc`, and not given to the list.
            unsafe { ffi::PyMem_Free(self.items.cast()) };
        }
    }

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
    fn made(id: u32, objects: &[std::sync::atomic::AtomicUsize]) -> PyResult<usize> {
        Python::attach(|py| {
            // SAFETY: a new reference, or null with an exception.
            let object = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromUnsignedLong(id.into()))? };
            let place = &objects[id as usize];
            place.store(object.into_ptr() as usize, Relaxed);
            Ok(place.load(Relaxed))
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
