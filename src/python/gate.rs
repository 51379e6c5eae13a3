//! The gate.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};

use super::batch::BatchResult;
use super::error::{issues, spec_error};
use super::functions::row_of;
use super::input::{SLICE, Texts, read_rows, rows_list, thread_count};
use super::results::{GateResult, ScorerResult};
use super::table::{ArrowSchema, Table};
use super::text::{Text, to_str};
use super::value::{List, from_python};
use crate::batch::arrow;
use crate::batch::{Batch, Columns, Watch, Workers, score_texts};
use crate::error::{IssueKind, Path, SpecError, SpecIssue, Step};
use crate::gate::Gate as Core;
use crate::json::{MAX_DEPTH, Value};
use crate::result::Outcome;
use crate::scorer::Options;
use crate::target::Target;

/// So many texts stay in a core's cache between reading and scoring them.
const CACHED: usize = 1024;

/// A longer wait for the GIL says that other Python threads work, which take it for 5 ms a time.
const CONTENDED: Duration = Duration::from_millis(1);

/// A built gate.
#[pyclass(frozen, module = "scoregate._native", name = "Gate", skip_from_py_object)]
#[derive(Clone)]
pub(super) struct Gate {
    pub(super) core: Arc<Core>,
    untrusted: bool,
}

#[pymethods]
impl Gate {
    #[new]
    #[pyo3(signature = (spec, untrusted=false, part=None))]
    fn new(
        spec: &Bound<'_, PyAny>,
        untrusted: bool,
        part: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<Self> {
        let options = Options { untrusted };
        let part = part.unwrap_or_default().iter().map(step).collect::<PyResult<Vec<_>>>()?;
        let built = if let Ok(text) = spec.cast::<PyString>() {
            Core::from_part(Text::of(text)?.as_ref(), &part, options)
        } else if let Ok(text) = spec.cast::<PyBytes>() {
            let text = std::str::from_utf8(text.as_bytes())
                .map_err(|_| PyValueError::new_err("spec: bytes must be UTF-8"))?;
            Core::from_part(text.as_bytes(), &part, options)
        } else {
            Core::new(&spec_value(spec)?, options)
        };
        let core = Arc::new(built.map_err(|error| spec_error(spec.py(), &error))?);
        Ok(Gate { core, untrusted })
    }

    /// The score block as JSON text.
    fn to_json(&self) -> String {
        self.core.spec().to_json()
    }

    #[getter]
    fn untrusted(&self) -> bool {
        self.untrusted
    }

    /// Name and type of each scorer.
    fn scorers(&self) -> Vec<(String, String)> {
        self.core.scorers().map(|(name, kind)| (name.to_string(), kind.to_string())).collect()
    }

    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.core.threshold()
    }

    /// Index and type of each scorer whose results the caller supplies.
    fn impure(&self) -> Vec<(usize, String)> {
        let kinds: Vec<_> = self.core.scorers().map(|(_, kind)| kind.to_string()).collect();
        self.core.impure().map(|index| (index, kinds[index].clone())).collect()
    }

    /// What an author should know, as data.
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        issues(py, &self.core.warnings())
    }

    #[pyo3(signature = (text, row=None))]
    fn score(
        &self,
        py: Python<'_>,
        text: Option<Text>,
        row: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<GateResult> {
        let row = row_of(row)?;
        let result = match &text {
            None => self.core.missing_input(),
            Some(text) => super::gil::detached(py, text.as_ref().len(), || {
                self.core.score(&Target::from_wtf8(text.as_ref()), &row)
            }),
        };
        Ok(GateResult::of_text(result, self.core.clone(), text))
    }

    #[pyo3(signature = (texts, rows=None, *, impure=None, threads=None, details="failed"))]
    fn score_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        rows: Option<&Bound<'_, PyAny>>,
        impure: Option<&Bound<'_, PyDict>>,
        threads: Option<&Bound<'_, PyAny>>,
        details: &str,
    ) -> PyResult<BatchResult> {
        let (details, threads) = (details_kept(details)?, thread_count(threads)?);
        let texts = Texts::of(texts)?;
        let rows = rows
            .filter(|rows| !rows.is_none())
            .map(|rows| rows_list(rows, texts.len()))
            .transpose()?;
        let impure =
            impure.map(|columns| self.impure_columns(columns, Some(texts.len()))).transpose()?;
        let impure = impure.unwrap_or_default();
        let mut all = Columns::new(self.core.scorers().len());
        let mut rows_at_once = if threads == 1 { CACHED } else { SLICE };
        let mut start = 0;
        while start < texts.len() {
            let end = (start + rows_at_once).min(texts.len());
            let slice = texts.read(start, end)?;
            let slice_rows = match &rows {
                Some(rows) => read_rows(rows, start, end)?,
                None => Vec::new(),
            };
            let part: Vec<(usize, Vec<Outcome<'static>>)> = impure
                .iter()
                .map(|(i, column)| (*i, column.get(start..end).unwrap_or_default().to_vec()))
                .collect();
            let batch = Batch { texts: &slice, rows: &slice_rows, impure: &part, details };
            let mut scored = Instant::now();
            all.append(interruptible(py, threads, |workers| {
                let columns = score_texts(&self.core, &batch, workers);
                scored = Instant::now();
                columns
            })?);
            if scored.elapsed() > CONTENDED {
                rows_at_once = SLICE.min(rows_at_once * 4);
            }
            start = end;
        }
        Ok(BatchResult::new(self.core.clone(), self.untrusted, all, None))
    }

    /// `impure` gives the columns of impure scorers for a list of texts.
    #[pyo3(signature = (data, column="output", *, id=None, impure=None, threads=None, details="failed"))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn score_table(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        column: &str,
        id: Option<&str>,
        impure: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
        details: &str,
    ) -> PyResult<BatchResult> {
        let (details, threads) = (details_kept(details)?, thread_count(threads)?);
        let mut table = Table::open(data, column, id, &self.core)?;
        let mut all = Columns::new(self.core.scorers().len());
        while let Some(chunk) = table.next(py)? {
            let texts = table.texts(&chunk, all.len())?;
            let mut start = 0;
            while start < texts.len() {
                let end = (start + SLICE).min(texts.len());
                let slice = table.read(&texts, start..end, all.len() - start)?;
                let mut supplied = Vec::new();
                if let Some(impure) = impure {
                    let text = |t: &Option<_>| t.as_ref().map(|t| wtf8_str(py, t)).transpose();
                    let list = slice.iter().map(text).collect::<PyResult<Vec<_>>>()?;
                    let columns = impure.call1((list,))?.cast_into::<PyDict>()?;
                    supplied = self.impure_columns(&columns, Some(slice.len()))?;
                }
                let batch = Batch { texts: &slice, rows: &[], impure: &supplied, details };
                all.append(interruptible(py, threads, |workers| {
                    score_texts(&self.core, &batch, workers)
                })?);
                start = end;
            }
        }
        py.check_signals()?;
        Ok(BatchResult::new(self.core.clone(), self.untrusted, all, table.into_ids()))
    }

    fn columns(&self) -> Vec<&str> {
        self.core.columns()
    }

    fn output_schema(&self) -> ArrowSchema {
        ArrowSchema::new(arrow::fields(&self.core))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String, bool)) {
        (slf.get_type(), (slf.get().to_json(), slf.get().untrusted))
    }
}

impl Gate {
    /// The results of impure scorers, one for each of the rows where their number is known.
    pub(super) fn impure_columns(
        &self,
        columns: &Bound<'_, PyDict>,
        rows: Option<usize>,
    ) -> PyResult<Vec<(usize, Vec<Outcome<'static>>)>> {
        let mut found = Vec::new();
        for (index, column) in columns {
            let index: usize = index.extract()?;
            if !self.core.impure().any(|i| i == index) {
                return Err(PyIndexError::new_err(format!("impure: scorer {index} is not impure")));
            }
            let List(column): List<Bound<'_, ScorerResult>> = column.extract()?;
            if let Some(rows) = rows.filter(|&rows| rows != column.len()) {
                let message = format!("impure[{index}]: {} results for {rows} texts", column.len());
                return Err(PyValueError::new_err(message));
            }
            found.push((index, column.iter().map(|r| r.get().0.outcome.clone()).collect()));
        }
        Ok(found)
    }
}

/// Whether the details of failures are kept.
fn details_kept(details: &str) -> PyResult<bool> {
    match details {
        "failed" => Ok(true),
        "none" => Ok(false),
        _ => Err(PyValueError::new_err("details: must be one of failed|none")),
    }
}

fn wtf8_str<'py>(py: Python<'py>, text: &impl AsRef<[u8]>) -> PyResult<Bound<'py, PyString>> {
    to_str(py, text.as_ref())
}

/// A step into a JSON text: a key or an index.
fn step(step: &Bound<'_, PyAny>) -> PyResult<Step> {
    match step.extract::<usize>() {
        Ok(index) => Ok(Step::Index(index)),
        Err(_) => Ok(Step::Key(Text::of(step.cast::<PyString>()?)?.as_ref().to_vec())),
    }
}

/// A score block from Python. A block that is too deep is the author's error, like any shape.
fn spec_value(spec: &Bound<'_, PyAny>) -> PyResult<Value> {
    from_python(spec, "score").map_err(|error| {
        if error.is_instance_of::<PyValueError>(spec.py()) {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            let issue = SpecIssue::new(IssueKind::TooDeep, Path::root("score"), message);
            spec_error(spec.py(), &SpecError::one(issue))
        } else {
            error
        }
    })
}

/// Runs a batch, or a slice of one, without the GIL; Ctrl-C stops it within about 50 ms. One that
/// came before is seen at once: what is done with the GIL between two slices looks for none.
pub(super) fn interruptible<R: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&Workers<'_>) -> Option<R> + Send,
) -> PyResult<R> {
    py.check_signals()?;
    let mut raised: Option<PyErr> = None;
    let result = py.detach(|| {
        let mut idle = || {
            #[allow(clippy::redundant_closure_for_method_calls)] // the method is not general enough
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                raised = Some(error);
            }
            raised.is_some()
        };
        let watch = Watch::new(&mut idle);
        work(&Workers::new(threads, &watch))
    });
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Some(result)) => Ok(result),
        // Only a raised signal stops the workers.
        (None, None) => Err(PyValueError::new_err("the batch was stopped")),
    }
}
