//! Python values from a document, without anything in between and without recursion.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use super::super::text::to_str;
use super::keys::Keys;
use crate::json::{Cursor, Document, Kind};

/// Why a document gave no Python value.
pub(super) enum Failure {
    /// Python's own error: no memory.
    Python(PyErr),
    /// Python refuses an integer of so many digits; where it stands.
    Integer(usize),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Python(error)
    }
}

/// A Python value, and whether an object had a repeated key.
pub(super) struct Built<'py> {
    pub(super) value: Bound<'py, PyAny>,
    pub(super) repeated: bool,
}

/// An open container.
enum Open<'py> {
    /// Its elements stand in the list of values from this place on.
    Array(usize),
    Object(Bound<'py, PyDict>, Bound<'py, PyString>),
}

struct Level<'py> {
    open: Open<'py>,
    /// Children that are still to come.
    left: usize,
    /// The number of children.
    len: usize,
    /// The index of the node after it.
    after: usize,
}

/// The value of a document.
pub(super) fn build<'py>(
    py: Python<'py>,
    document: &Document<'_>,
    keys: &mut Keys,
) -> Result<Built<'py>, Failure> {
    let mut levels: Vec<Level<'py>> = Vec::new();
    let mut values: Vec<Bound<'py, PyAny>> = Vec::new();
    let mut repeated = false;
    let mut at = 0;
    loop {
        let Some(cursor) = document.at(at) else {
            return Err(PyValueError::new_err("the document has no value").into());
        };
        let mut value = match cursor.kind() {
            Kind::String => string(py, cursor)?.into_any(),
            Kind::Number => number(py, cursor)?,
            Kind::Null => py.None().into_bound(py),
            Kind::False => PyBool::new(py, false).to_owned().into_any(),
            Kind::True => PyBool::new(py, true).to_owned().into_any(),
            Kind::Array if cursor.is_empty() => PyList::empty(py).into_any(),
            Kind::Object if cursor.is_empty() => PyDict::new(py).into_any(),
            Kind::Array => {
                let (len, after) = (cursor.len(), cursor.after());
                levels.push(Level { open: Open::Array(values.len()), left: len, len, after });
                at += 1;
                continue;
            }
            Kind::Object => {
                let (len, after) = (cursor.len(), cursor.after());
                let key = key_at(py, document, at + 1, keys)?;
                let open = Open::Object(PyDict::new(py), key);
                levels.push(Level { open, left: len, len, after });
                at += 2;
                continue;
            }
        };
        at = cursor.after();
        // The value is complete: it goes into its container, which may complete that.
        loop {
            let Some(level) = levels.last_mut() else { return Ok(Built { value, repeated }) };
            level.left -= 1;
            match &mut level.open {
                Open::Array(base) => {
                    values.push(value);
                    if level.left > 0 {
                        break;
                    }
                    value = PyList::new(py, values.drain(*base..))?.into_any();
                }
                Open::Object(dict, key) => {
                    dict.set_item(&*key, value)?;
                    if level.left > 0 {
                        *key = key_at(py, document, at, keys)?;
                        at += 1;
                        break;
                    }
                    repeated |= dict.len() != level.len;
                    value = dict.clone().into_any();
                }
            }
            at = level.after;
            levels.pop();
        }
    }
}

#[inline]
fn key_at<'py>(
    py: Python<'py>,
    document: &Document<'_>,
    at: usize,
    keys: &mut Keys,
) -> PyResult<Bound<'py, PyString>> {
    match document.at(at) {
        Some(key) if key.is_raw() => keys.get(py, key.raw_bytes()),
        Some(key) => keys.get(py, &key.content()),
        None => Err(PyValueError::new_err("the document has no key")),
    }
}

#[inline]
fn string<'py>(py: Python<'py>, cursor: Cursor<'_>) -> PyResult<Bound<'py, PyString>> {
    if cursor.is_raw() { to_str(py, cursor.raw_bytes()) } else { to_str(py, &cursor.content()) }
}

#[inline]
fn number<'py>(py: Python<'py>, cursor: Cursor<'_>) -> Result<Bound<'py, PyAny>, Failure> {
    number_of(py, cursor.number_text())?.ok_or(Failure::Integer(cursor.start().unwrap_or(0)))
}

/// The number of a text; None where Python refuses its digits.
#[inline]
pub(super) fn number_of<'py>(py: Python<'py>, text: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if text.bytes().any(|b| !b.is_ascii_digit() && b != b'-') {
        return Ok(Some(PyFloat::new(py, text.parse().unwrap_or(f64::NAN)).into_any()));
    }
    match text.parse::<i64>() {
        Ok(small) => Ok(Some(small.into_pyobject(py)?.into_any())),
        Err(_) => match py.get_type::<PyInt>().call1((text,)) {
            Ok(large) => Ok(Some(large)),
            Err(error) if error.is_instance_of::<PyValueError>(py) => Ok(None),
            Err(error) => Err(error),
        },
    }
}
