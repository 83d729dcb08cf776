//! Special tokens of a call.

use crate::errors::exception;
use digram::encode::{self, Options};
use digram::specials::SpecialMatcher;
use pyo3::prelude::*;

/// Special tokens that a call lets through; made by `Encoder.allow`.
#[pyclass(frozen)]
pub struct Allowed(pub(crate) encode::Allowed);

/// Strings that a call refuses; made once, and given to many calls.
#[pyclass(frozen)]
pub struct Markers(pub(crate) SpecialMatcher);

#[pymethods]
impl Markers {
    #[new]
    fn new(py: Python<'_>, markers: Vec<String>) -> PyResult<Self> {
        SpecialMatcher::new(&markers).map(Self).map_err(|error| exception(py, error, None))
    }
}

/// What a call does with special tokens, and whether the ids of the template go around the text.
pub fn options<'a>(
    allowed: Option<&'a Bound<'_, Allowed>>,
    disallowed: Option<&'a Bound<'_, Markers>>,
    template: bool,
) -> Options<'a> {
    Options {
        allowed: allowed.map(|allowed| &allowed.get().0),
        disallowed: disallowed.map(|markers| &markers.get().0),
        template,
    }
}
