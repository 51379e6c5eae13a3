//! JSON values from Python to the core. Depth is limited, and nothing recurses.

use std::fmt::Write;

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
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut object = object.clone();
    loop {
        if open.len() > MAX_DEPTH {
            let message = format!("{path}: nested deeper than {MAX_DEPTH} levels");
            return Err(PyValueError::new_err(message));
        }
        let mut done = match begin(&object).map_err(|fault| fault.at(path, &open))? {
            Begun::Scalar(value) => Some(value),
            Begun::Container(container) => {
                open.push(container);
                None
            }
        };
        object = loop {
            let Some(container) = open.last_mut() else { return Ok(done.unwrap_or(Value::Null)) };
            let added = done.take().map_or(Ok(()), |value| container.add(value));
            match added.and_then(|()| container.next()) {
                Ok(Some(item)) => break item,
                Ok(None) => done = open.pop().map(Open::close),
                Err(fault) => return Err(fault.at(path, &open)),
            }
        };
    }
}

/// A list or mapping whose items are being read.
struct Open<'py> {
    /// A list's items, or a mapping's pairs: what Python code does to a mapping meanwhile does
    /// not matter.
    items: Bound<'py, PyList>,
    next: usize,
    built: Built<'py>,
}

enum Built<'py> {
    Array(Vec<Value>),
    Object { members: Vec<(Vec<u8>, Value)>, key: Option<Bound<'py, PyString>> },
}

enum Begun<'py> {
    Scalar(Value),
    Container(Open<'py>),
}

enum Fault {
    /// Not of JSON: what is wrong, without the place.
    Type(String),
    /// Raised by Python.
    Raised(PyErr),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Fault::Raised(error)
    }
}

impl Fault {
    fn at(self, path: &str, open: &[Open<'_>]) -> PyErr {
        match self {
            Fault::Raised(error) => error,
            Fault::Type(message) => {
                let mut place = path.to_owned();
                for container in open {
                    let _ = match &container.built {
                        Built::Object { key: Some(key), .. } => {
                            write!(place, ".{}", key.to_string_lossy())
                        }
                        Built::Object { key: None, .. } => Ok(()),
                        // The item that is at fault has been taken.
                        Built::Array(_) => write!(place, "[{}]", container.next.saturating_sub(1)),
                    };
                }
                PyTypeError::new_err(format!("{place}: {message}"))
            }
        }
    }
}

impl<'py> Open<'py> {
    fn array(items: Bound<'py, PyList>) -> Begun<'py> {
        let built = Built::Array(Vec::with_capacity(items.len()));
        Begun::Container(Open { items, next: 0, built })
    }

    fn object(items: Bound<'py, PyList>) -> Begun<'py> {
        let built = Built::Object { members: Vec::with_capacity(items.len()), key: None };
        Begun::Container(Open { items, next: 0, built })
    }

    /// The next value to read; None at the end.
    fn next(&mut self) -> Result<Option<Bound<'py, PyAny>>, Fault> {
        // A list may have been cut meanwhile.
        let Ok(item) = self.items.get_item(self.next) else { return Ok(None) };
        self.next += 1;
        let Built::Object { key, .. } = &mut self.built else { return Ok(Some(item)) };
        *key = None;
        let (name, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item.extract()?;
        match name.cast_into::<PyString>() {
            Ok(name) => *key = Some(name),
            Err(error) => {
                let name = error.into_inner().get_type().name()?;
                return Err(Fault::Type(format!("keys must be str, got {name}")));
            }
        }
        Ok(Some(value))
    }

    fn add(&mut self, value: Value) -> Result<(), Fault> {
        match &mut self.built {
            Built::Array(list) => list.push(value),
            Built::Object { members, key } => {
                if let Some(key) = key {
                    members.push((Text::of(key)?.as_ref().to_vec(), value));
                }
            }
        }
        Ok(())
    }

    fn close(self) -> Value {
        match self.built {
            Built::Array(list) => Value::Array(list),
            Built::Object { members, .. } => Value::Object(members),
        }
    }
}

fn begin<'py>(object: &Bound<'py, PyAny>) -> Result<Begun<'py>, Fault> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Begun::Scalar(Value::String(Text::of(text)?.as_ref().to_vec())));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return Ok(Open::object(dict.items()));
    }
    if let Ok(list) = object.cast::<PyList>() {
        return Ok(Open::array(list.clone()));
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Begun::Scalar(Value::Bool(flag.is_true())));
    }
    if object.is_none() {
        return Ok(Begun::Scalar(Value::Null));
    }
    if object.cast::<PyInt>().is_ok() {
        let digits = object.call_method0(intern!(object.py(), "__int__"))?.repr()?;
        return Ok(Begun::Scalar(Value::Number(Number::new(&digits.to_string_lossy()))));
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(Begun::Scalar(Value::Number(Number::from(float.value()))));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return Ok(Open::array(tuple.to_list()));
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        return Ok(Open::object(mapping.items()?));
    }
    Err(Fault::Type(format!("{} is not a JSON value", object.get_type().name()?)))
}
