//! From the core's errors to Python's.

use pyo3::PyErr;
use pyo3::import_exception;

use crate::error::SpecError as CoreSpecError;

import_exception!(scoregate.errors, SpecError);
import_exception!(scoregate.errors, JSONNotFoundError);
import_exception!(scoregate.errors, JsRegexBudgetError);
import_exception!(scoregate.errors, JsRegexError);

/// The exception of a gate that cannot be built.
pub(super) fn spec_error(error: &CoreSpecError) -> PyErr {
    SpecError::new_err((error.errors().to_vec(),))
}
