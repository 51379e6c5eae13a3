//! JSON from model text.

use pyo3::prelude::*;

use super::error::JSONNotFoundError;
use super::text::Text;
use super::value::to_python;
use crate::json::extract;

/// The JSON value that the strict tier finds in a text; `default`, or `JSONNotFoundError`, where
/// there is none.
#[pyfunction]
#[pyo3(signature = (text, default=None, *, has_default=false))]
pub(super) fn extract_json<'py>(
    py: Python<'py>,
    text: Text,
    default: Option<Bound<'py, PyAny>>,
    has_default: bool,
) -> PyResult<Bound<'py, PyAny>> {
    match super::detached(py, text.as_ref().len(), || extract(text.as_ref())) {
        Some(document) => to_python(py, document.root()),
        None if has_default => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
        None => Err(JSONNotFoundError::new_err("no JSON found in the text")),
    }
}
