//! The binding between the engine and Python: converts, releases the interpreter lock, maps errors. No algorithm.

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _native(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
