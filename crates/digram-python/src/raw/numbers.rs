//! Numbers whose memory Python takes over: an object with the buffer protocol.

use bytemuck::NoUninit;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;

/// Flat numbers in native byte order, to be written to and read as a buffer of bytes; numpy takes it without a copy.
#[pyclass(frozen)]
pub struct Numbers {
    pointer: *mut c_void,
    bytes: usize,
    /// Frees the memory.
    free: fn(*mut c_void, usize, usize),
    length: usize,
    capacity: usize,
}

// SAFETY: after `new` no Rust code touches the memory; Python guards its buffers as it does those of a bytearray.
unsafe impl Send for Numbers {}
// SAFETY: as above.
unsafe impl Sync for Numbers {}

impl Numbers {
    /// Takes over the memory of a vector; what was reserved and not used is given back.
    pub fn new<T: NoUninit>(mut numbers: Vec<T>) -> Self {
        numbers.shrink_to_fit();
        let mut numbers = ManuallyDrop::new(numbers);
        let free = |pointer: *mut c_void, length, capacity| {
            // SAFETY: these are the parts of the vector, and it is made once, by `drop`.
            drop(unsafe { Vec::from_raw_parts(pointer.cast::<T>(), length, capacity) });
        };
        Self {
            pointer: numbers.as_mut_ptr().cast(),
            bytes: size_of_val(&numbers[..]),
            free,
            length: numbers.len(),
            capacity: numbers.capacity(),
        }
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        (self.free)(self.pointer, self.length, self.capacity);
    }
}

#[pymethods]
impl Numbers {
    fn __len__(&self) -> usize {
        self.bytes
    }

    // SAFETY: called by the interpreter alone, with a view to fill.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no view to fill"));
        }
        let (pointer, bytes) = (slf.get().pointer, slf.get().bytes as ffi::Py_ssize_t);
        // SAFETY: the view keeps `slf` alive, and the memory lives as long as that.
        match unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), pointer, bytes, 0, flags) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}
