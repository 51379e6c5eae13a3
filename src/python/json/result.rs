//! The result classes: what was found, and what was repaired.

use std::borrow::Cow;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};

use super::super::results::no_truth_value;
use super::super::value::List;
use super::input::Places;
use crate::json::Diagnostic as Core;

/// The severity of a diagnostic that says why there is no value.
pub(super) const ERROR: &str = "error";

/// One repair, or the reason why there is no value.
#[pyclass(frozen, eq, module = "scoregate", name = "JSONDiagnostic", skip_from_py_object)]
#[pyo3(get_all)]
#[derive(Clone, PartialEq)]
pub(in super::super) struct Diagnostic {
    /// A stable name, such as `trailing_comma`.
    pub(super) code: String,
    /// `lossless`, `guess`, `lossy`, or `error`.
    pub(super) severity: String,
    /// What it says to a reader.
    pub(super) message: String,
    /// Where it stands: characters of a `str`, bytes of `bytes`.
    pub(super) offset: usize,
    /// Its line, from 1.
    pub(super) line: usize,
    /// Its column in characters, from 1.
    pub(super) column: usize,
    /// The text that is meant, cut at 80 characters.
    pub(super) before: String,
    /// What it was read as, where that is one fixed text.
    pub(super) after: String,
    /// The place in the value (`$.items[2]`) of a change that a schema asked for.
    pub(super) path: Option<String>,
}

type Fields = (String, String, String, usize, usize, usize, String, String, Option<String>);

#[pymethods]
impl Diagnostic {
    #[new]
    #[pyo3(signature = (code, severity, message, offset, line, column, before="", after="", path=None))]
    #[allow(clippy::too_many_arguments)] // the fields
    fn new(
        code: &str,
        severity: &str,
        message: &str,
        offset: usize,
        line: usize,
        column: usize,
        before: &str,
        after: &str,
        path: Option<&str>,
    ) -> Self {
        let (code, severity, message) = (code.into(), severity.into(), message.into());
        let (before, after, path) = (before.into(), after.into(), path.map(Into::into));
        Diagnostic { code, severity, message, offset, line, column, before, after, path }
    }

    /// The fields by name; `path` only where there is one.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("code", &self.code)?;
        dict.set_item("severity", &self.severity)?;
        dict.set_item("message", &self.message)?;
        dict.set_item("offset", self.offset)?;
        dict.set_item("line", self.line)?;
        dict.set_item("column", self.column)?;
        dict.set_item("before", &self.before)?;
        dict.set_item("after", &self.after)?;
        if let Some(path) = &self.path {
            dict.set_item("path", path)?;
        }
        Ok(dict)
    }

    fn __str__(&self) -> String {
        format!("line {}, column {}: {}: {}", self.line, self.column, self.code, self.message)
    }

    fn __repr__(&self) -> String {
        let Diagnostic { code, severity, line, column, .. } = self;
        format!("<JSONDiagnostic {code} ({severity}) at line {line}, column {column}>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, Fields) {
        let Diagnostic { code, severity, message, offset, line, column, before, after, path } =
            slf.get().clone();
        (slf.get_type(), (code, severity, message, offset, line, column, before, after, path))
    }
}

/// The core's diagnostics with positions, in the order of the text; each may have a path.
pub(super) fn diagnostics(
    mut found: Vec<(Core, Option<String>)>,
    text: &[u8],
    places: &mut Places<'_>,
) -> Vec<Diagnostic> {
    found.sort_by_key(|(core, _)| core.start);
    let located = found.into_iter().map(|(core, path)| {
        let position = places.of(core.start);
        Diagnostic {
            code: core.code.name().to_owned(),
            severity: core.severity.name().to_owned(),
            message: core.message().to_owned(),
            offset: position.offset,
            line: position.line,
            column: position.column,
            before: core.before(text).into_owned(),
            after: core.after().to_owned(),
            path,
        }
    });
    located.collect()
}

/// The diagnostic that says why there is no value.
pub(super) fn failure(
    code: &str,
    message: String,
    at: usize,
    places: &mut Places<'_>,
) -> Diagnostic {
    let position = places.of(at);
    Diagnostic {
        code: code.to_owned(),
        severity: ERROR.to_owned(),
        message,
        offset: position.offset,
        line: position.line,
        column: position.column,
        before: String::new(),
        after: String::new(),
        path: None,
    }
}

type Span = Option<(usize, usize)>;

/// What a text holds.
#[pyclass(frozen, module = "scoregate", name = "JSONResult", skip_from_py_object)]
pub(in super::super) struct JSONResult {
    pub(super) value: Py<PyAny>,
    pub(super) ok: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) span: Span,
    pub(super) source: Option<Cow<'static, str>>,
    pub(super) others: Vec<Py<JSONResult>>,
}

impl JSONResult {
    /// Takes the value back, and says why.
    pub(super) fn refuse(&mut self, py: Python<'_>, why: Diagnostic) {
        self.value = py.None();
        self.ok = false;
        self.diagnostics.push(why);
    }
}

#[pymethods]
impl JSONResult {
    #[allow(clippy::unused_self)] // Python calls it on a result
    fn __bool__(&self) -> PyResult<bool> {
        no_truth_value("JSONResult", "ok")
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str, &'static str) {
        ("value", "ok", "diagnostics", "span", "source")
    }

    #[new]
    #[pyo3(signature = (value, ok, diagnostics=List(Vec::new()), span=None, source=None, others=List(Vec::new())))]
    fn new(
        value: Py<PyAny>,
        ok: bool,
        diagnostics: List<Bound<'_, Diagnostic>>,
        span: Span,
        source: Option<String>,
        others: List<Py<JSONResult>>,
    ) -> Self {
        let source = source.map(Cow::Owned);
        let diagnostics = diagnostics.0.iter().map(|d| d.get().clone()).collect();
        JSONResult { value, ok, diagnostics, span, source, others: others.0 }
    }

    /// The value; None where `ok` is False.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyAny> {
        self.value.clone_ref(py)
    }

    /// Whether the text held JSON that may be used.
    #[getter]
    fn ok(&self) -> bool {
        self.ok
    }

    /// What was repaired, in the order of the text; without a value the last one says why.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for diagnostic in &self.diagnostics {
            list.append(Bound::new(py, diagnostic.clone())?)?;
        }
        Ok(list)
    }

    /// Why there is no value.
    #[getter]
    fn error(&self) -> Option<Diagnostic> {
        self.diagnostics.iter().find(|d| d.severity == ERROR).cloned()
    }

    /// The worst severity among the repairs.
    #[getter]
    fn severity(&self) -> Option<&'static str> {
        ["lossy", "guess", "lossless"]
            .into_iter()
            .find(|name| self.diagnostics.iter().any(|d| d.severity == *name))
    }

    /// Start and end of the document: characters of a `str`, bytes of `bytes`.
    #[getter]
    fn span(&self) -> Span {
        self.span
    }

    /// Where it was found: `whole`, `fence`, `tag`, `brackets` or `stream`.
    #[getter]
    fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// The documents that were not chosen, under `candidates="all"`.
    #[getter]
    fn others<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.others.iter().map(|other| other.clone_ref(py)))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<bool> {
        let other = other.get();
        Ok(self.ok == other.ok
            && self.span == other.span
            && self.source == other.source
            && self.diagnostics == other.diagnostics
            && self.value.bind(py).eq(&other.value)?
            && self.others(py)?.eq(other.others(py)?)?)
    }

    fn __repr__(&self) -> String {
        let repairs = self.diagnostics.iter().filter(|d| d.severity != ERROR).count();
        match self.error() {
            Some(error) => format!("<JSONResult not ok: {error}>", error = error.__str__()),
            None => {
                let source = self.source.as_deref().unwrap_or("-");
                format!("<JSONResult ok, from {source}, {repairs} diagnostics>")
            }
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Parts<'py>)> {
        let (this, py) = (slf.get(), slf.py());
        let parts = (
            this.value(py),
            this.ok,
            this.diagnostics(py)?,
            this.span,
            this.source().map(str::to_owned),
            this.others(py)?,
        );
        Ok((slf.get_type(), parts))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.value)?;
        self.others.iter().try_for_each(|other| visit.call(other))
    }
}

type Parts<'py> = (Py<PyAny>, bool, Bound<'py, PyList>, Span, Option<String>, Bound<'py, PyList>);
