//! Streams as Python sees them: ids to bytes and text to ids, part by part.

use crate::encoder::{Encoder, python_bytes};
use crate::errors::exception;
use crate::ids::ids;
use crate::run::{SHORT, watched};
use crate::specials::{Allowed, Markers, options};
use crate::text::{Text, with_room};
use digram::Result;
use digram::encode::{self, DecoderStream, EncoderStream};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyList};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of a stream. It is taken only while no Python object is touched, so that who waits for it can be waited for.
fn locked<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ids to bytes as the ids come.
#[pyclass(frozen)]
pub struct StreamDecoder {
    encoder: Py<Encoder>,
    state: Mutex<DecoderStream>,
}

#[pymethods]
impl StreamDecoder {
    /// The arguments are those of `Encoder.decode`.
    #[new]
    #[pyo3(signature = (encoder, skip_special=false, replace=false))]
    fn new(encoder: Py<Encoder>, skip_special: bool, replace: bool) -> Self {
        let state = Mutex::new(encoder.get().engine.stream_decoder(skip_special, replace));
        Self { encoder, state }
    }

    /// What the next id or ids make certain. UnknownTokenError takes none of them.
    fn feed<'py>(&self, py: Python<'py>, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let encoder = &self.encoder.get().engine;
        let single = object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>();
        let next = match object.extract::<u32>() {
            Ok(id) if single => vec![id],
            _ if single => ids(PyList::new(py, [object])?.as_any(), 0)?,
            _ => ids(object, encoder.vocabulary().tokens().len())?,
        };
        let mut out = Vec::new();
        py.detach(|| encoder.decode_next(&mut locked(&self.state), &next, &mut out))
            .map_err(|error| exception(py, error, None))?;
        python_bytes(py, &out)
    }

    /// What was held back; the stream begins anew.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = Vec::new();
        py.detach(|| locked(&self.state).finish(&mut out));
        python_bytes(py, &out)
    }

    /// The bytes that are held back.
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let held = py.detach(|| locked(&self.state).held());
        python_bytes(py, &held)
    }
}

/// Text to ids as the text comes.
#[pyclass(frozen)]
pub struct StreamEncoder {
    encoder: Py<Encoder>,
    allowed: Option<Py<Allowed>>,
    disallowed: Option<Py<Markers>>,
    template: bool,
    state: Mutex<(EncoderStream, Option<bool>)>,
}

impl StreamEncoder {
    /// Runs `work` on the state; so that Ctrl-C ends it where there is much text.
    fn run<'py>(
        &self,
        py: Python<'py>,
        bytes: usize,
        work: impl FnOnce(&encode::Encoder, &mut EncoderStream, &mut Vec<u32>, &dyn Fn() -> bool) -> Result<()> + Send,
    ) -> PyResult<Bound<'py, PyList>> {
        let encoder = &self.encoder.get().engine;
        let mut out = Vec::new();
        let result = if bytes < self.encoder.get().short(SHORT) {
            py.detach(|| work(encoder, &mut locked(&self.state).0, &mut out, &|| false))
        } else {
            let out = &mut out;
            watched(py, |stop| work(encoder, &mut locked(&self.state).0, out, stop))?
        };
        result.map_err(|error| exception(py, error, None))?;
        self.encoder.get().ints.list(py, &out)
    }

    fn options<'a>(&'a self, py: Python<'a>) -> (Option<&'a Bound<'a, Allowed>>, Option<&'a Bound<'a, Markers>>, bool) {
        (
            self.allowed.as_ref().map(|allowed| allowed.bind(py)),
            self.disallowed.as_ref().map(|markers| markers.bind(py)),
            self.template,
        )
    }
}

#[pymethods]
impl StreamEncoder {
    /// The arguments are those of `Encoder.encode`.
    #[new]
    #[pyo3(signature = (encoder, allowed=None, disallowed=None, template=false))]
    fn new(
        encoder: Py<Encoder>,
        allowed: Option<Py<Allowed>>,
        disallowed: Option<Py<Markers>>,
        template: bool,
    ) -> Self {
        Self { encoder, allowed, disallowed, template, state: Mutex::default() }
    }

    /// The ids that are certain when this part of the text has come. After an error it was not taken.
    fn feed<'py>(&self, part: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let (py, text) = (part.py(), Text::of(part)?);
        let characters = text.is_str();
        let (allowed, disallowed, template) = self.options(py);
        let options = options(allowed, disallowed, template);
        let other = py.detach(|| *locked(&self.state).1.get_or_insert(characters) != characters);
        if other {
            return Err(PyTypeError::new_err(
                "the parts of one text must be all str or all bytes: `flush` ends a text",
            ));
        }
        let view = text.view()?;
        with_room(|room| {
            let bytes = view.utf8(room).bytes();
            // Where a text is kept whole until its end, a part is soon taken however much there is.
            let size = match self.encoder.get().engine.settles_nothing(options) {
                true => 0,
                false => bytes.len() + py.detach(|| locked(&self.state).0.held().len()),
            };
            self.run(py, size, |encoder, state, out, stop| {
                encoder.encode_next(state, bytes, options, characters, out, stop)
            })
        })
    }

    /// The ids of what was held back; the stream begins anew.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (allowed, disallowed, template) = self.options(py);
        let options = options(allowed, disallowed, template);
        let (held, characters) = py.detach(|| {
            let state = locked(&self.state);
            (state.0.held().len(), state.1.unwrap_or(true))
        });
        let ids =
            self.run(py, held, |encoder, state, out, stop| encoder.encode_last(state, options, characters, out, stop))?;
        py.detach(|| locked(&self.state).1 = None);
        Ok(ids)
    }

    /// The text that is held back, in UTF-8.
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let held = py.detach(|| locked(&self.state).0.held().to_vec());
        python_bytes(py, &held)
    }
}
