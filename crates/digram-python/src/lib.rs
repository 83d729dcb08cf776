//! The binding between the engine and Python: converts, releases the interpreter lock, maps errors. No algorithm.
//!
//! Numbers cross as flat buffers (bytearrays of u32 or u64 in native byte order), text as str or bytes. No Python object is touched while
//! the lock is released.

mod build;
mod counts;
mod cutting;
mod encoder;
mod errors;
mod ids;
mod run;
mod steps;
mod stream;
mod text;

use pyo3::prelude::*;

/// The engine of digram. Private: use the `digram` package.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::build::{from_list, from_merges, from_pairs, from_ranks};
    #[pymodule_export]
    use crate::counts::{PieceCounts, train};
    #[pymodule_export]
    use crate::cutting::{chunks, fits, truncate};
    #[pymodule_export]
    use crate::encoder::{Allowed, Encoder, Markers};
    #[pymodule_export]
    use crate::stream::{StreamDecoder, StreamEncoder};
}
