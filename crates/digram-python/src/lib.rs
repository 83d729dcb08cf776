//! The binding between the engine and Python: converts, releases the interpreter lock, maps errors. No algorithm.
//!
//! Numbers cross as flat buffers (u32 or u64 in native byte order), text as str or bytes-like. While the lock is released no Python object is
//! touched; the characters of a str, which never change, are read.

mod build;
mod counts;
mod cutting;
mod decode;
mod dropout;
mod encoder;
mod errors;
mod flat;
mod ids;
mod kept;
mod parity;
mod raw;
mod run;
mod specials;
mod steps;
mod stream;
mod text;
mod training;
mod work;

use pyo3::prelude::*;

/// The engine of digram. Private: use the `digram` package.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::build::{from_list, from_merges, from_pairs, from_ranks};
    #[pymodule_export]
    use crate::counts::{PieceCounts, PieceReader};
    #[pymodule_export]
    use crate::cutting::{chunks, fits, truncate};
    #[pymodule_export]
    use crate::dropout::{encode_batch_dropped, encode_dropped};
    #[pymodule_export]
    use crate::encoder::Encoder;
    #[pymodule_export]
    use crate::flat::FlatTexts;
    #[pymodule_export]
    use crate::parity::train_parity;
    #[pymodule_export]
    use crate::specials::{Allowed, Markers};
    #[pymodule_export]
    use crate::stream::{StreamDecoder, StreamEncoder};
    #[pymodule_export]
    use crate::training::train;
}
