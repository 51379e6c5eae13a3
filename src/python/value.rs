//! JSON values from Python to the core. Depth is limited.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use super::text::Text;
use crate::json::{MAX_DEPTH, Number, Value};

/// A JSON value from Python: dict (any mapping), list, tuple, str, int, float, bool or None.
///
/// `path` names the value in errors.
pub(super) fn from_python(object: &Bound<'_, PyAny>, path: &str) -> PyResult<Value> {
    read(object, path, 0)
}

/// The same for a whole score block, which may be deeper than is read: that is the builder's
/// error to tell.
fn read(object: &Bound<'_, PyAny>, path: &str, depth: usize) -> PyResult<Value> {
    // Recursion is bounded by the limit.
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err(format!(
            "{path}: nested deeper than {MAX_DEPTH} levels"
        )));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(Text::of(text)?.as_ref().to_vec()));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let mut members = Vec::with_capacity(dict.len());
        for (key, value) in dict {
            members.push(member(&key, &value, path, depth)?);
        }
        return Ok(Value::Object(members));
    }
    if let Ok(list) = object.cast::<PyList>() {
        return items(list.iter(), path, depth);
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if object.cast::<PyInt>().is_ok() {
        let digits = object.call_method0(intern!(object.py(), "__int__"))?.repr()?;
        return Ok(Value::Number(Number::new(&digits.to_string_lossy())));
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(Value::Number(Number::from(float.value())));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return items(tuple.iter(), path, depth);
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        let mut members = Vec::new();
        for pair in mapping.items()?.iter() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            members.push(member(&key, &value, path, depth)?);
        }
        return Ok(Value::Object(members));
    }
    let name = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("{path}: {name} is not a JSON value")))
}

fn member(
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    path: &str,
    depth: usize,
) -> PyResult<(Vec<u8>, Value)> {
    let Ok(key) = key.cast::<PyString>() else {
        let name = key.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{path}: keys must be str, got {name}")));
    };
    let value =
        read(value, path, depth + 1).map_err(|error| deepen(value.py(), error, path, key))?;
    Ok((Text::of(key)?.as_ref().to_vec(), value))
}

/// Adds a key to the path that an error names.
fn deepen(py: Python<'_>, error: PyErr, path: &str, key: &Bound<'_, PyString>) -> PyErr {
    let text = error.value(py).to_string();
    match text.strip_prefix(path) {
        Some(rest) if error.is_instance_of::<PyTypeError>(py) => {
            PyTypeError::new_err(format!("{path}.{}{rest}", key.to_string_lossy()))
        }
        _ => error,
    }
}

fn items<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    path: &str,
    depth: usize,
) -> PyResult<Value> {
    let mut list = Vec::new();
    for item in items {
        list.push(read(&item, path, depth + 1)?);
    }
    Ok(Value::Array(list))
}
