//! Templates: contexts, interpolation, conditions.

// The texts here are Python's docstrings.
#![allow(clippy::doc_markdown, clippy::doc_link_with_quotes)]

use std::collections::HashMap;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::gil::detached;
use super::text::{Text, to_str};
use super::value::from_python;
use crate::json::Value;
use crate::template::{self, Step};

/// What the names of a template stand for.
///
/// Args:
///     args: the arguments, as `{args.NAME}`.
///     steps: what has run, by id: mappings with `output` (a text) and `json` (a value). Without a
///         value, `{steps.ID.json}` is the JSON that the output holds.
///     previous_output: the text of `{previous.output}`.
///     locals: any further names, such as `reflexion`.
///
/// Examples:
///     >>> import scoregate
///     >>> context = scoregate.Context(steps={"gen": {"output": '{"n": 3}'}})
///     >>> scoregate.interpolate("n is {steps.gen.json.n}", context).text
///     'n is 3'
#[pyclass(frozen, module = "scoregate")]
pub(super) struct Context(template::Context);

#[pymethods]
impl Context {
    #[new]
    #[pyo3(signature = (*, args=None, steps=None, previous_output=None, locals=None))]
    fn new(
        args: Option<&Bound<'_, PyAny>>,
        steps: Option<&Bound<'_, PyAny>>,
        previous_output: Option<Text>,
        locals: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut made = HashMap::new();
        if let Value::Object(steps) = object(steps, "steps")? {
            for (id, step) in steps {
                let step = read_step(step).map_err(|got| {
                    let id = String::from_utf8_lossy(&id);
                    PyTypeError::new_err(format!("steps.{id}: {got}"))
                })?;
                made.insert(id, step);
            }
        }
        let previous = previous_output.map(|text| text.as_ref().to_vec());
        let (args, locals) = (object(args, "args")?, object(locals, "locals")?);
        Ok(Context(template::Context::new(args, made, previous, locals)))
    }
}

fn object(given: Option<&Bound<'_, PyAny>>, path: &str) -> PyResult<Value> {
    let Some(given) = given else { return Ok(Value::Object(Vec::new())) };
    let value = from_python(given, path)?;
    if !value.is_object() {
        let name = given.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{path}: expected a mapping, got {name}")));
    }
    Ok(value)
}

fn read_step(step: Value) -> Result<Step, &'static str> {
    let Value::Object(members) = step else {
        return Err("expected a mapping with output and json");
    };
    let (mut output, mut json) = (None, None);
    for (key, value) in members {
        match (key.as_slice(), value) {
            (b"output", Value::String(text)) => output = Some(text),
            (b"output", Value::Null) => {}
            (b"output", _) => return Err("output: expected str"),
            (b"json", value) => json = Some(value),
            _ => {}
        }
    }
    Ok(Step::new(output, json))
}

fn names<'py>(py: Python<'py>, names: &[impl AsRef<[u8]>]) -> PyResult<Vec<Bound<'py, PyString>>> {
    names.iter().map(|name| to_str(py, name.as_ref())).collect()
}

/// A text whose placeholders are filled.
///
/// Attributes:
///     text: the text; a placeholder that stands for nothing stays as it is.
///     missing: the names that stand for nothing, in order, each as often as it stands there.
///
/// Examples:
///     >>> import scoregate
///     >>> found = scoregate.interpolate("{args.a}, {args.b}", scoregate.Context(args={"a": 1}))
///     >>> found.text, found.missing
///     ('1, {args.b}', ['args.b'])
#[pyclass(frozen, module = "scoregate")]
pub(super) struct Interpolation {
    text: Py<PyString>,
    missing: Py<PyList>,
}

#[pymethods]
impl Interpolation {
    #[getter]
    fn text(&self, py: Python<'_>) -> Py<PyString> {
        self.text.clone_ref(py)
    }

    #[getter]
    fn missing(&self, py: Python<'_>) -> Py<PyList> {
        self.missing.clone_ref(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (text, missing) = (self.text.bind(py).repr()?, self.missing.bind(py).repr()?);
        Ok(format!("Interpolation(text={text}, missing={missing})"))
    }
}

/// Fills the placeholders of a template: `{steps.gen.output}`, `{args.name}`, `{previous.output}`.
///
/// Strings are put in as they are, None is empty, other values are JSON with an indent of two. What
/// a filled text holds is not read again.
///
/// Args:
///     template: the text with placeholders.
///     context: what they stand for.
///
/// Raises:
///     ValueError: the text would be longer than 64 MiB.
#[pyfunction]
pub(super) fn interpolate(
    py: Python<'_>,
    template: Text,
    context: &Bound<'_, Context>,
) -> PyResult<Interpolation> {
    let context = &context.get().0;
    let made =
        detached(py, template.as_ref().len(), || template::interpolate(template.as_ref(), context));
    let made = made.map_err(|error| PyValueError::new_err(format!("text: {error}")))?;
    Ok(Interpolation {
        text: to_str(py, &made.text)?.unbind(),
        missing: PyList::new(py, names(py, &made.missing)?)?.unbind(),
    })
}

/// What a condition says.
///
/// Attributes:
///     value: its value; true where it cannot be read, and for an empty text.
///     error: why it cannot be read, or None.
///     missing: the names that stand for nothing, which count as null.
///
/// Examples:
///     >>> import scoregate
///     >>> context = scoregate.Context(args={"n": 3})
///     >>> scoregate.evaluate_condition("{args.n} > 2 && !{args.dry}", context)
///     Condition(value=True, error=None, missing=['args.dry'])
#[pyclass(frozen, module = "scoregate")]
pub(super) struct Condition {
    value: bool,
    error: Option<String>,
    missing: Py<PyList>,
}

#[pymethods]
impl Condition {
    #[getter]
    fn value(&self) -> bool {
        self.value
    }

    #[getter]
    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    #[getter]
    fn missing(&self, py: Python<'_>) -> Py<PyList> {
        self.missing.clone_ref(py)
    }

    #[allow(clippy::unused_self)] // Python calls it on a condition
    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err("a condition has no truth value; ask for .value"))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let value = if self.value { "True" } else { "False" };
        let error = self.error.as_ref().into_pyobject(py)?.repr()?;
        let missing = self.missing.bind(py).repr()?;
        Ok(format!("Condition(value={value}, error={error}, missing={missing})"))
    }
}

/// Evaluates a condition such as `{steps.gen.json.count} > 3 && {args.mode} == strict`.
///
/// Two sides that look like numbers compare as numbers, else both as text. False are the empty
/// text, `false`, `0`, `no`, `off` and `null` in any case, None, and the empty list and object.
///
/// Args:
///     expression: `||`, `&&`, `==`, `!=`, `>=`, `<=`, `>`, `<`, `!`, parentheses, quoted strings,
///         numbers, true, false, null, bare words, placeholders.
///     context: what the placeholders stand for.
#[pyfunction]
pub(super) fn evaluate_condition(
    py: Python<'_>,
    expression: Text,
    context: &Bound<'_, Context>,
) -> PyResult<Condition> {
    let context = &context.get().0;
    let found = detached(py, expression.as_ref().len(), || {
        template::evaluate_condition(expression.as_ref(), context)
    });
    let missing = PyList::new(py, names(py, &found.missing)?)?.unbind();
    Ok(Condition { value: found.value, error: found.error, missing })
}

/// The names in the placeholders of a template, or of a condition, in order.
#[pyfunction]
#[pyo3(signature = (text, *, condition=false))]
pub(super) fn references(
    py: Python<'_>,
    text: Text,
    condition: bool,
) -> PyResult<Vec<Bound<'_, PyString>>> {
    let bytes = text.as_ref();
    let found =
        if condition { template::condition_references(bytes) } else { template::references(bytes) };
    names(py, &found)
}
