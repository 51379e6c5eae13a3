//! From the core's errors to Python's.

use pyo3::import_exception;
use pyo3::prelude::*;

use crate::error::SpecError as CoreSpecError;

import_exception!(scoregate.errors, SpecError);
import_exception!(scoregate.errors, JSONNotFoundError);
import_exception!(scoregate.errors, JsRegexBudgetError);
import_exception!(scoregate.errors, JsRegexError);

/// Imports the exceptions: later, near the recursion limit or at the end of the interpreter, it
/// could fail, and an exception without a class is no exception.
pub(super) fn import(py: Python<'_>) {
    py.get_type::<SpecError>();
    py.get_type::<JSONNotFoundError>();
    py.get_type::<JsRegexBudgetError>();
    py.get_type::<JsRegexError>();
}

/// The exception of a gate that cannot be built.
pub(super) fn spec_error(error: &CoreSpecError) -> PyErr {
    SpecError::new_err((error.errors().to_vec(),))
}
