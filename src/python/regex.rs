//! JavaScript regular expressions.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use super::error::{JsRegexBudgetError, JsRegexError};
use super::text::{Text, str_of, to_str};
use crate::js_regex::{self, cached};
use crate::target::Target;
use crate::text::to_utf8;

/// Pattern, flags, and whether the pattern is untrusted.
type Fields<'py> = (Bound<'py, PyString>, String, bool);

/// A JavaScript regular expression.
#[pyclass(frozen, module = "scoregate", name = "JsRegex", skip_from_py_object)]
pub(super) struct JsRegex {
    core: Arc<js_regex::JsRegex>,
    untrusted: bool,
}

#[pymethods]
impl JsRegex {
    #[new]
    #[pyo3(signature = (pattern, flags="", *, untrusted=false))]
    fn new(pattern: Text, flags: &str, untrusted: bool) -> PyResult<Self> {
        JsRegex::build(pattern.as_ref(), flags.as_bytes(), untrusted)
    }

    /// JavaScript's `new RegExp(pattern, flags).test(text)`.
    fn test(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<bool> {
        let text = str_of(text)?;
        // CPython keeps text beyond ASCII in wide characters and makes UTF-8 of it when first
        // asked to: the first character may do.
        if self.core.looks_at_first() && text.len()? > 0 {
            let first = Text::of(text.get_item(0)?.cast()?)?;
            if self.core.refuted_by_first(first.as_ref()) {
                return Ok(false);
            }
        }
        let text = Text::of(text)?;
        let found = super::gil::detached(py, text.as_ref().len(), || {
            self.core.test(&Target::from_wtf8(text.as_ref()))
        });
        found.map_err(|spent| JsRegexBudgetError::new_err(spent.to_string()))
    }

    /// The source, as between the slashes of a JavaScript literal.
    #[getter]
    fn pattern<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        to_str(py, self.core.pattern())
    }

    /// The flags in the order in which V8 prints them.
    #[getter]
    fn flags(&self) -> &str {
        self.core.flags()
    }

    /// Whether backreferences are refused.
    #[getter]
    fn untrusted(&self) -> bool {
        self.untrusted
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<JsRegex>().is_ok_and(|other| self.key() == other.get().key())
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        let this = slf.get();
        (this.pattern(slf.py())?, this.flags()).into_pyobject(slf.py())?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let pattern = self.pattern(py)?.repr()?;
        let flags =
            if self.flags().is_empty() { String::new() } else { format!(", {:?}", self.flags()) };
        let untrusted = if self.untrusted { ", untrusted=True" } else { "" };
        Ok(format!("JsRegex({pattern}{flags}{untrusted})"))
    }

    #[classmethod]
    fn _restore(
        _: &Bound<'_, PyType>,
        pattern: Text,
        flags: Text,
        untrusted: bool,
    ) -> PyResult<Self> {
        JsRegex::build(pattern.as_ref(), flags.as_ref(), untrusted)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Fields<'py>)> {
        let this = slf.get();
        let fields = (this.pattern(slf.py())?, this.flags().to_owned(), this.untrusted);
        Ok((slf.get_type().getattr("_restore")?, fields))
    }
}

impl JsRegex {
    fn build(pattern: &[u8], flags: &[u8], untrusted: bool) -> PyResult<Self> {
        match cached(pattern, &to_utf8(flags), untrusted) {
            Ok(core) => Ok(JsRegex { core, untrusted }),
            Err(error) => Err(JsRegexError::new_err(error.to_string())),
        }
    }

    fn key(&self) -> (&[u8], &str, bool) {
        (self.core.pattern(), self.core.flags(), self.untrusted)
    }
}
