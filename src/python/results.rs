//! The result classes.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

use super::text::Text;
use super::value::List;
use crate::gate;
use crate::json::Severity;
use crate::result::{self as core, Outcome, Verdict};
use crate::target::Target;
use crate::text::to_utf8;

/// A result is no truth value: `if gate.score(text)` would hold for a block too.
pub(super) fn no_truth_value(name: &str, field: &str) -> PyResult<bool> {
    Err(PyTypeError::new_err(format!("{name} has no truth value; use .{field}")))
}

/// What one scorer says of one text.
#[pyclass(frozen, eq, module = "scoregate", name = "ScorerResult", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(super) struct ScorerResult(pub(super) core::ScorerResult);

#[pymethods]
impl ScorerResult {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str, &'static str) {
        ("name", "type", "passed", "score", "detail")
    }

    #[new]
    #[pyo3(signature = (name, r#type, passed, score=None, detail=None, repaired=None))]
    fn new(
        name: Text,
        r#type: Text,
        passed: bool,
        score: Option<f64>,
        detail: Option<Text>,
        repaired: Option<&str>,
    ) -> PyResult<Self> {
        let score = score.unwrap_or(f64::from(u8::from(passed)));
        if !(0.0..=1.0).contains(&score) {
            return Err(PyValueError::new_err(format!("score: must be in [0, 1], got {score}")));
        }
        let owned = |text: &Text| to_utf8(text.as_ref()).into_owned();
        let known = repaired.map(|name| {
            Severity::from_name(name).ok_or("repaired: must be one of lossless|guess|lossy")
        });
        let repaired = known.transpose().map_err(PyValueError::new_err)?;
        let outcome = Outcome { passed, score, detail: detail.map(|d| owned(&d).into()), repaired };
        let (name, kind) = (owned(&name).into(), owned(&r#type).into());
        Ok(ScorerResult(core::ScorerResult { name, kind, outcome }))
    }

    /// The scorer's name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The scorer's type.
    #[getter]
    fn r#type(&self) -> &str {
        &self.0.kind
    }

    /// Whether the check holds.
    #[getter]
    fn passed(&self) -> bool {
        self.0.outcome.passed
    }

    /// How well it holds, in [0, 1].
    #[getter]
    fn score(&self) -> f64 {
        self.0.outcome.score
    }

    /// Why it does not hold; None for a pass.
    #[getter]
    fn detail(&self) -> Option<&str> {
        self.0.outcome.detail.as_deref()
    }

    /// The worst repair before the check (`lossless`, `guess`, `lossy`); None without one.
    #[getter]
    fn repaired(&self) -> Option<&'static str> {
        self.0.outcome.repaired.map(Severity::name)
    }

    /// The result as an output row holds it; `detail` and `repaired` only where there is one.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("name", self.name())?;
        dict.set_item("type", self.r#type())?;
        dict.set_item("passed", self.passed())?;
        dict.set_item("score", self.score())?;
        if let Some(detail) = self.detail() {
            dict.set_item("detail", detail)?;
        }
        if let Some(worst) = self.repaired() {
            dict.set_item("repaired", worst)?;
        }
        Ok(dict)
    }

    #[allow(clippy::unused_self)] // Python calls it on a result
    fn __bool__(&self) -> PyResult<bool> {
        no_truth_value("ScorerResult", "passed")
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let fields = Self::fields(slf)?;
        let names = ["name", "type", "passed", "score", "detail", "repaired"];
        // A result without repair is shown as it always was.
        let shown = if slf.get().repaired().is_some() { names.len() } else { names.len() - 1 };
        let parts: PyResult<Vec<String>> = names
            .iter()
            .zip(fields.iter())
            .take(shown)
            .map(|(n, v)| Ok(format!("{n}={}", v.repr()?)))
            .collect();
        Ok(format!("ScorerResult({})", parts?.join(", ")))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        Ok((slf.get_type(), Self::fields(slf)?))
    }
}

impl ScorerResult {
    fn fields<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let this = slf.get();
        (this.name(), this.r#type(), this.passed(), this.score(), this.detail(), this.repaired())
            .into_pyobject(slf.py())
    }
}

/// A combined score and whether it passes.
#[pyclass(frozen, eq, module = "scoregate", name = "Combination", get_all, skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(super) struct Combination {
    /// The score, in [0, 1].
    combined: f64,
    /// Whether it passes.
    passed: bool,
}

impl From<gate::Combination> for Combination {
    fn from(found: gate::Combination) -> Self {
        Combination { combined: found.combined, passed: found.passed }
    }
}

#[pymethods]
impl Combination {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("combined", "passed")
    }

    #[new]
    fn new(combined: f64, passed: bool) -> Self {
        Combination { combined, passed }
    }

    #[allow(clippy::unused_self)] // Python calls it on a result
    fn __bool__(&self) -> PyResult<bool> {
        no_truth_value("Combination", "passed")
    }

    fn __repr__(&self) -> String {
        let passed = if self.passed { "True" } else { "False" };
        format!("Combination(combined={:?}, passed={passed})", self.combined)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (f64, bool)) {
        (slf.get_type(), (slf.get().combined, slf.get().passed))
    }
}

/// What a gate says of one text.
#[pyclass(frozen, eq, module = "scoregate", name = "GateResult", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(super) struct GateResult {
    verdict: Verdict,
    combined: f64,
    results: Vec<core::ScorerResult>,
    threshold: Option<f64>,
    reason: Option<String>,
    decided_by: Option<String>,
    source: Source,
}

/// The gate and the text that a result is of, where it keeps them. Results are equal without.
#[derive(Clone, Default)]
struct Source(Option<Arc<(Arc<gate::Gate>, Option<Text>)>>);

impl PartialEq for Source {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl GateResult {
    /// The result of a text by a gate.
    pub(super) fn of_text(
        found: core::GateResult,
        gate: Arc<gate::Gate>,
        text: Option<Text>,
    ) -> Self {
        GateResult { source: Source(Some(Arc::new((gate, text)))), ..found.into() }
    }

    fn failures(&self) -> impl Iterator<Item = &core::ScorerResult> {
        self.results.iter().filter(|result| !result.outcome.passed)
    }
}

impl From<core::GateResult> for GateResult {
    fn from(found: core::GateResult) -> Self {
        GateResult {
            verdict: found.decision.verdict,
            combined: found.decision.combined,
            threshold: found.threshold,
            reason: found.decision.reason.map(|reason| reason.text().to_owned()),
            decided_by: found.decision.decided_by().map(str::to_owned),
            results: found.results,
            source: Source::default(),
        }
    }
}

#[pymethods]
impl GateResult {
    #[new]
    #[pyo3(signature = (verdict, combined, results, threshold=None, reason=None, decided_by=None))]
    fn new(
        verdict: &str,
        combined: f64,
        results: List<Bound<'_, ScorerResult>>,
        threshold: Option<f64>,
        reason: Option<Text>,
        decided_by: Option<String>,
    ) -> PyResult<Self> {
        let known = [Verdict::Pass, Verdict::Block, Verdict::Undecided];
        let Some(verdict) = known.into_iter().find(|v| v.name() == verdict) else {
            let message = format!("verdict: must be one of pass|block|undecided, got {verdict:?}");
            return Err(PyValueError::new_err(message));
        };
        Ok(GateResult {
            verdict,
            combined,
            results: results.0.iter().map(|r| r.get().0.clone()).collect(),
            threshold,
            reason: reason.map(|text| to_utf8(text.as_ref()).into_owned()),
            decided_by,
            source: Source::default(),
        })
    }

    /// `pass`, `block`, or `undecided` where a judge could still change the outcome.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.verdict.name()
    }

    /// True only for a pass.
    #[getter]
    fn passed(&self) -> bool {
        self.verdict == Verdict::Pass
    }

    /// The combined score, in [0, 1]; a lower bound while a judge with a weight has not run.
    #[getter]
    fn combined(&self) -> f64 {
        self.combined
    }

    /// The threshold of a weighted gate; None for the other modes.
    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.threshold
    }

    /// The results of the scorers, in order; empty for a missing text.
    #[getter]
    fn results(&self) -> Vec<ScorerResult> {
        self.results.iter().cloned().map(ScorerResult).collect()
    }

    /// The names of the scorers that failed, in order.
    #[getter]
    fn failed(&self) -> Vec<&str> {
        self.failures().map(|result| &*result.name).collect()
    }

    /// The results of the scorers that failed, in order.
    #[getter(failures)]
    fn failed_results(&self) -> Vec<ScorerResult> {
        self.failures().cloned().map(ScorerResult).collect()
    }

    /// The JSON value that the first `json-schema` scorer read in the text.
    ///
    /// Repaired and coerced as that scorer does; None where it read none. A result of
    /// `Gate.score` has it; rows of a batch and pickled results keep no text.
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Source(Some(source)) = &self.source else {
            let message = "value: the result keeps no text; gate.score(text).value() has it";
            return Err(PyValueError::new_err(message));
        };
        let (gate, text) = &**source;
        let read = |text: &Text| {
            let bytes = text.as_ref();
            super::gil::detached(py, bytes.len(), || gate.value(&Target::from_wtf8(bytes)))
        };
        match text.as_ref().and_then(read) {
            None => Ok(py.None().into_bound(py)),
            Some(json) => {
                py.import(intern!(py, "scoregate._native"))?.call_method1("extract_json", (json,))
            }
        }
    }

    /// Why the text does not pass.
    #[getter]
    fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Who decided: `scorers`, `judge` or `policy`; None while undecided.
    #[getter]
    fn decided_by(&self) -> Option<&str> {
        self.decided_by.as_deref()
    }

    /// The report that a judge reads: a line a scorer, then the combined score.
    #[getter]
    fn report(&self) -> String {
        gate::format_report(&self.results, self.combined, self.threshold)
    }

    /// The result with the keys of an output row.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("verdict", self.verdict())?;
        dict.set_item("combined", self.combined)?;
        let results = PyList::empty(py);
        for result in self.results() {
            results.append(result.to_dict(py)?)?;
        }
        dict.set_item("results", results)?;
        if let Some(threshold) = self.threshold {
            dict.set_item("threshold", threshold)?;
        }
        if let Some(reason) = self.reason() {
            dict.set_item("reason", reason)?;
        }
        if let Some(who) = self.decided_by() {
            dict.set_item("decided_by", who)?;
        }
        Ok(dict)
    }

    #[allow(clippy::unused_self)] // Python calls it on a result
    fn __bool__(&self) -> PyResult<bool> {
        no_truth_value("GateResult", "passed")
    }

    fn __repr__(&self) -> String {
        let failed = self.failed();
        let combined = gate::to_fixed3(self.combined);
        let reason = self.reason.as_ref().map(|r| format!(", reason={r:?}")).unwrap_or_default();
        format!("<GateResult {} combined={combined} failed={failed:?}{reason}>", self.verdict())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let this = slf.get();
        let fields = (
            this.verdict(),
            this.combined,
            this.results(),
            this.threshold,
            this.reason(),
            this.decided_by(),
        );
        Ok((slf.get_type(), fields.into_pyobject(slf.py())?))
    }
}
