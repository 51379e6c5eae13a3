//! JSON values from Python to the core. Depth and what shared parts multiply are limited, and
//! nothing recurses.

use std::collections::HashSet;
use std::fmt::Write;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple, PyType};

use super::text::Text;
use crate::json::{MAX_DEPTH, Number, Value};

/// So many values may be read again from parts that a value holds several times.
const MAX_REPEATED: usize = 1_000_000;

/// A JSON value from Python: dict (any mapping), list, tuple, str, int, float, bool or None. A
/// pydantic model stands for its JSON Schema.
///
/// `path` names the value in errors.
pub(super) fn from_python(object: &Bound<'_, PyAny>, path: &str) -> PyResult<Value> {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut object = object.clone();
    // A part that stands in several places is read in each of them, which doubles with each level
    // at worst.
    let (mut seen, mut repeated, mut inside) = (HashSet::new(), 0, None);
    loop {
        if inside.is_some_and(|depth| open.len() < depth) {
            inside = None;
        }
        repeated += usize::from(inside.is_some());
        if repeated > MAX_REPEATED {
            let message = format!("{path}: shared parts hold more than {MAX_REPEATED} values");
            return Err(PyValueError::new_err(message));
        }
        if open.len() > MAX_DEPTH {
            let message = format!("{path}: nested deeper than {MAX_DEPTH} levels");
            return Err(PyValueError::new_err(message));
        }
        let mut done = match begin(&object).map_err(|fault| fault.at(path, &open))? {
            Begun::Scalar(value) => Some(value),
            Begun::Container(container) => {
                open.push(container);
                if !seen.insert(object.as_ptr() as usize) && inside.is_none() {
                    inside = Some(open.len());
                }
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
    if object.cast::<PyType>().is_ok()
        && let Some(schema) = object.getattr_opt(intern!(object.py(), "model_json_schema"))?
    {
        let schema = schema.call0()?;
        let fields = schema.cast::<PyDict>().map_err(PyErr::from)?;
        return Ok(Open::object(fields.items()));
    }
    Err(Fault::Type(format!("{} is not a JSON value", object.get_type().name()?)))
}

/// The elements of an iterable. The length that it claims is not believed.
pub(super) struct List<T>(pub(super) Vec<T>);

impl<'py, T> FromPyObject<'_, 'py> for List<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("expected a list, got str"));
        }
        let items = object.try_iter()?;
        items.map(|item| item?.extract().map_err(Into::into)).collect::<PyResult<_>>().map(List)
    }
}
