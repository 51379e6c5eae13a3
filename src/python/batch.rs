//! The results of a batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMemoryView, PySlice, PyType};

use super::error::spec_error;
use super::results::GateResult;
use crate::batch::{Columns, Parts, Totals};
use crate::gate::Gate;
use crate::scorer::Options;

/// The results of a batch, by column.
#[pyclass(frozen, module = "scoregate", name = "BatchResult", skip_from_py_object)]
pub(super) struct BatchResult {
    gate: Arc<Gate>,
    untrusted: bool,
    columns: Columns,
}

impl BatchResult {
    pub(super) fn new(gate: Arc<Gate>, untrusted: bool, columns: Columns) -> Self {
        BatchResult { gate, untrusted, columns }
    }

    /// A row; a negative index counts from the end.
    fn row(&self, index: isize) -> PyResult<GateResult> {
        let len = self.columns.len();
        let at = if index < 0 { index + len.cast_signed() } else { index };
        let found = usize::try_from(at).ok().and_then(|at| self.columns.result(&self.gate, at));
        found
            .map(Into::into)
            .ok_or_else(|| PyIndexError::new_err(format!("row {index} of a batch of {len} rows")))
    }
}

/// The gate's spec, whether its patterns are untrusted, and the columns.
type State = (String, bool, Parts);

#[pymethods]
impl BatchResult {
    #[new]
    fn restore(py: Python<'_>, spec: &str, untrusted: bool, columns: Parts) -> PyResult<Self> {
        let gate = Gate::from_json(spec.as_bytes(), Options { untrusted });
        let gate = Arc::new(gate.map_err(|error| spec_error(py, &error))?);
        let columns = Columns::from_parts(columns, gate.scorers().len());
        let columns = columns.ok_or_else(|| PyValueError::new_err("columns: not of this gate"))?;
        Ok(BatchResult { gate, untrusted, columns })
    }

    fn __len__(&self) -> usize {
        self.columns.len()
    }

    /// A row, or the rows of a slice as a list.
    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        if let Ok(slice) = index.cast::<PySlice>() {
            let at = slice.indices(self.columns.len().cast_signed())?;
            let rows = (0..at.slicelength).map(|n| at.start + n.cast_signed() * at.step);
            let rows = rows.map(|row| self.row(row)).collect::<PyResult<Vec<_>>>()?;
            return Ok(rows.into_pyobject(py)?.into_any());
        }
        Ok(self.row(index.extract()?)?.into_pyobject(py)?.into_any())
    }

    fn __iter__(slf: Bound<'_, Self>) -> Rows {
        Rows { batch: slf.unbind(), next: AtomicUsize::new(0) }
    }

    /// The columns by name, a value a row.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        columns.set_item("verdict", bytes_view(py, &self.columns.verdict, "B")?)?;
        let passed = self.columns.verdict.iter().map(|&v| if v > 1 { None } else { Some(v == 1) });
        columns.set_item("passed", PyList::new(py, passed.collect::<Vec<_>>())?)?;
        columns.set_item("combined", doubles_view(py, &self.columns.combined)?)?;
        let names: Vec<String> = self.gate.scorers().map(|(name, _)| name.to_string()).collect();
        for (i, name) in names.iter().enumerate() {
            // A name that two scorers share is told apart by the index.
            let shared = names.iter().filter(|other| *other == name).count() > 1;
            let name = if shared { format!("{name}[{i}]") } else { name.clone() };
            let passed = bytes_view(py, &self.columns.passed[i], "?")?;
            columns.set_item(format!("{name}.passed"), passed)?;
            columns.set_item(format!("{name}.score"), doubles_view(py, &self.columns.score[i])?)?;
        }
        Ok(columns)
    }

    /// Counts: rows, pass, block, undecided, missing, `pass_rate`, and passes by scorer.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        totals_dict(py, &self.gate, &self.columns.totals())
    }

    fn __repr__(&self) -> String {
        let [block, pass, undecided] = self.columns.totals().verdicts;
        let rows = self.columns.len();
        format!("<BatchResult {rows} rows: {pass} pass, {block} block, {undecided} undecided>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, State)> {
        let this = slf.get();
        let state = (this.gate.spec().to_json(), this.untrusted, this.columns.to_parts());
        Ok((slf.get_type(), state))
    }
}

/// The rows of a batch, one by one.
#[pyclass(frozen, module = "scoregate._native", name = "Rows")]
pub(super) struct Rows {
    batch: Py<BatchResult>,
    next: AtomicUsize,
}

#[pymethods]
impl Rows {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self) -> Option<GateResult> {
        let batch = self.batch.get();
        let row = self.next.fetch_add(1, Ordering::Relaxed);
        batch.columns.result(&batch.gate, row).map(Into::into)
    }
}

/// Totals as a dict.
pub(super) fn totals_dict<'py>(
    py: Python<'py>,
    gate: &Gate,
    totals: &Totals,
) -> PyResult<Bound<'py, PyDict>> {
    let [block, pass, undecided] = totals.verdicts;
    let rows = block + pass + undecided;
    let dict = PyDict::new(py);
    dict.set_item("rows", rows)?;
    dict.set_item("pass", pass)?;
    dict.set_item("block", block)?;
    dict.set_item("undecided", undecided)?;
    dict.set_item("missing", totals.missing)?;
    let rate = if rows == 0 { None } else { Some(pass as f64 / rows as f64) };
    dict.set_item("pass_rate", rate)?;
    let scorers = PyList::empty(py);
    let counts = totals.passed.iter().zip(&totals.repaired);
    for ((name, kind), (passed, &repaired)) in gate.scorers().zip(counts) {
        let scorer = PyDict::new(py);
        scorer.set_item("name", &**name)?;
        scorer.set_item("type", &**kind)?;
        scorer.set_item("passed", passed)?;
        if repaired > 0 {
            scorer.set_item("repaired", repaired)?;
        }
        scorers.append(scorer)?;
    }
    dict.set_item("scorers", scorers)?;
    Ok(dict)
}

fn bytes_view<'py>(py: Python<'py>, data: &[u8], format: &str) -> PyResult<Bound<'py, PyAny>> {
    PyMemoryView::from(PyBytes::new(py, data).as_any())?.call_method1("cast", (format,))
}

fn doubles_view<'py>(py: Python<'py>, data: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    let bytes: Vec<u8> = data.iter().flat_map(|value| value.to_ne_bytes()).collect();
    bytes_view(py, &bytes, "d")
}
