//! Engine errors -> the exceptions of `digram.errors`.

use digram::Error;
use digram::error::Place;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyValueError};
use pyo3::prelude::*;

/// The exception for an engine error. With the UTF-8 of a text that was a str, places are told in characters.
pub fn exception(py: Python<'_>, error: Error, text: Option<&[u8]>) -> PyErr {
    let error = match text {
        Some(text) => in_characters(error, text),
        None => error,
    };
    let message = error.to_string();
    let mut kind = &error;
    while let Error::InDocument { source, .. } = kind {
        kind = source;
    }
    let class = match kind {
        Error::Pattern { .. } | Error::Backtracking { .. } => "PatternError",
        Error::UnknownCharacter { .. } | Error::UnknownByte { .. } => "UnknownSymbolError",
        Error::UnknownId { .. } => "UnknownTokenError",
        Error::DisallowedSpecial { .. } => "SpecialTokenError",
        Error::Vocabulary(_) => "VocabularyError",
        Error::NotText { .. } | Error::NotUtf8 { .. } => "TextError",
        Error::OutOfMemory { .. } => return PyMemoryError::new_err(message),
        Error::CountOverflow => return PyOverflowError::new_err(message),
        Error::Temporary { folder, code, reason } => {
            let told = format!(
                "{reason}, where piece counts beyond memory_limit go to temporary files: name a temporary_folder with more \
                 room, or raise the limit"
            );
            return PyOSError::new_err((code.unwrap_or(0), told, folder.clone().into_os_string()));
        }
        Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
        _ => return PyValueError::new_err(message),
    };
    named(py, class, &message)
}

/// An exception of `digram.errors`, by name.
pub fn named(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let made =
        py.import("digram.errors").and_then(|errors| errors.getattr(class)).and_then(|class| class.call1((message,)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

fn in_characters(error: Error, text: &[u8]) -> Error {
    error.map_place(|place| match place {
        Place::Byte(n) => Place::Character(text.iter().take(n).filter(|&byte| byte & 0xC0 != 0x80).count()),
        other => other,
    })
}
