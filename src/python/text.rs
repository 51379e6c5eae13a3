//! Text that crosses the border: Python `str` as WTF-8.

use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyMapping, PySequence, PyString};

use crate::text::wtf8;

/// A `str`: its UTF-8 borrowed from the object where it has one, else WTF-8 of our own, in which
/// neighbouring surrogate halves are joined and lone ones kept.
pub(super) enum Text {
    Utf8(PyBackedStr),
    Wtf8(Vec<u8>),
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        match self {
            Text::Utf8(text) => text.as_bytes(),
            Text::Wtf8(bytes) => bytes,
        }
    }
}

impl Text {
    /// The text of a `str`.
    pub(super) fn of(text: &Bound<'_, PyString>) -> PyResult<Text> {
        let error = match PyBackedStr::try_from(text.clone()) {
            Ok(utf8) => return Ok(Text::Utf8(utf8)),
            Err(error) => error,
        };
        if !error.is_instance_of::<PyUnicodeEncodeError>(text.py()) {
            return Err(error);
        }
        let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        Ok(Text::Wtf8(wtf8(encoded.cast::<PyBytes>()?.as_bytes().to_vec())))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Text::of(str_of(&object)?)
    }
}

/// The object as a `str`.
pub(super) fn str_of<'a, 'py>(object: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyString>> {
    object.cast::<PyString>().map_err(|_| not_text(object, "expected str"))
}

/// The error of an object that is no text, with what to do about it.
#[cold]
pub(super) fn not_text(object: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let name = match object.get_type().name() {
        Ok(name) => name,
        Err(error) => return error,
    };
    let advice = if object.is_instance_of::<PyBytes>() {
        "; decode it first"
    } else if object.cast::<PyMapping>().is_ok() {
        "; pass the field that holds the text"
    } else if object.cast::<PySequence>().is_ok() {
        "; pass one text, or use the batch form"
    } else {
        ""
    };
    PyTypeError::new_err(format!("{wanted}, got {name}{advice}"))
}

/// A Python `str` of WTF-8 bytes, lone halves kept.
#[inline]
pub(super) fn to_str<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyString>> {
    // Python checks the UTF-8 while it reads it.
    PyString::from_bytes(py, bytes).or_else(|_| surrogates_to_str(py, bytes))
}

#[cold]
fn surrogates_to_str<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyString>> {
    let decoded = PyBytes::new(py, bytes).call_method1("decode", ("utf-8", "surrogatepass"))?;
    Ok(decoded.cast_into::<PyString>()?)
}
