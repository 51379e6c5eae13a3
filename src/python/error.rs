//! From the core's errors to Python's.

use pyo3::import_exception;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{SpecError as CoreSpecError, SpecIssue};

import_exception!(scoregate._errors, SpecError);
import_exception!(scoregate._errors, JSONNotFoundError);
import_exception!(scoregate._errors, JsRegexBudgetError);
import_exception!(scoregate._errors, JsRegexError);

/// Imports the exceptions: later, near the recursion limit or at the end of the interpreter, it
/// could fail, and an exception without a class is no exception.
pub(super) fn import(py: Python<'_>) {
    py.get_type::<SpecError>();
    py.get_type::<JSONNotFoundError>();
    py.get_type::<JsRegexBudgetError>();
    py.get_type::<JsRegexError>();
}

/// The exception of a gate that cannot be built.
pub(super) fn spec_error(py: Python<'_>, error: &CoreSpecError) -> PyErr {
    match issues(py, error.issues()) {
        Ok(issues) => {
            let issues: Vec<Py<PyAny>> = issues.into_iter().map(Bound::unbind).collect();
            SpecError::new_err((issues,))
        }
        Err(error) => error,
    }
}

/// Issues as Python has them.
pub(super) fn issues<'py>(
    py: Python<'py>,
    issues: &[SpecIssue],
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let class = py.import("scoregate._errors")?.getattr("SpecIssue")?;
    let made = |issue: &SpecIssue| {
        let fields = PyDict::new(py);
        fields.set_item("hint", issue.hint())?;
        fields.set_item("line", issue.line_number())?;
        fields.set_item("column", issue.column())?;
        fields.set_item("text", issue.to_string())?;
        let parts = (issue.kind().name(), issue.path().to_string(), issue.message());
        class.call(parts, Some(&fields))
    };
    issues.iter().map(made).collect()
}
