//! The results of a batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyMemoryView, PySlice, PyString, PyType};

use super::arrow::{Pieces, schema_capsule, stream_capsule};
use super::error::spec_error;
use super::results::GateResult;
use crate::batch::arrow::{self, Id, IdParts, Ids};
use crate::batch::{Columns, Parts, Totals};
use crate::gate::Gate;
use crate::result::{Reason, Verdict};
use crate::scorer::Options;

/// The results of a batch, by column.
///
/// An index gives a row as a `GateResult`, a slice a list of them, a name a column. A batch is a
/// table for whatever reads `__arrow_c_stream__`.
#[pyclass(frozen, module = "scoregate", name = "BatchResult", skip_from_py_object)]
pub(super) struct BatchResult {
    gate: Arc<Gate>,
    untrusted: bool,
    columns: Arc<Columns>,
    ids: Option<Arc<Ids>>,
}

impl BatchResult {
    pub(super) fn new(
        gate: Arc<Gate>,
        untrusted: bool,
        columns: Columns,
        ids: Option<Ids>,
    ) -> Self {
        BatchResult { gate, untrusted, columns: Arc::new(columns), ids: ids.map(Arc::new) }
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

    fn fields(&self) -> Vec<arrow::Field> {
        arrow::batch_fields(&self.gate, self.ids.as_deref())
    }

    /// A column by its name.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let columns = &self.columns;
        if let Some(ids) = self.ids.as_ref().filter(|ids| ids.name() == name) {
            let id = |row| match ids.get(row) {
                None => Ok(py.None().into_bound(py)),
                Some(Id::Text(text)) => Ok(PyString::new(py, text).into_any()),
                Some(Id::Int(number)) => Ok(number.into_pyobject(py)?.into_any()),
            };
            let ids = (0..columns.len()).map(id).collect::<PyResult<Vec<_>>>()?;
            return Ok(PyList::new(py, ids)?.into_any());
        }
        match name {
            "verdict" => {
                let words = [Verdict::Block, Verdict::Pass, Verdict::Undecided]
                    .map(|verdict| PyString::intern(py, verdict.name()));
                let word = |&code: &u8| &words[usize::from(code.min(2))];
                Ok(PyList::new(py, columns.verdict.iter().map(word))?.into_any())
            }
            "verdict_code" => bytes_view(py, &columns.verdict, "B"),
            "passed" => {
                let passed = columns.verdict.iter().map(|&v| (v < 2).then_some(v == 1));
                Ok(PyList::new(py, passed)?.into_any())
            }
            "combined" => doubles_view(py, &columns.combined),
            "reason" => {
                let known = [Reason::BelowThreshold, Reason::OutOfReach, Reason::MissingInput]
                    .map(|reason| PyString::intern(py, reason.text()));
                let word = |&code: &u8| usize::from(code).checked_sub(1).and_then(|i| known.get(i));
                Ok(PyList::new(py, columns.reason.iter().map(word))?.into_any())
            }
            _ => self.scorer_column(py, name),
        }
    }

    /// A column of a scorer.
    fn scorer_column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        for (i, label) in arrow::labels(&self.gate).iter().enumerate() {
            match name.strip_prefix(label.as_str()) {
                Some(".passed") => return bytes_view(py, &self.columns.passed[i], "?"),
                Some(".score") => return doubles_view(py, &self.columns.score[i]),
                Some(".detail") => {
                    let details = (0..self.columns.len()).map(|row| self.columns.detail(row, i));
                    return Ok(PyList::new(py, details)?.into_any());
                }
                _ => {}
            }
        }
        let names: Vec<String> = self.fields().into_iter().map(|field| field.name).collect();
        let names = names.join(", ");
        Err(PyKeyError::new_err(format!("no column {name:?}; there are {names}")))
    }

    /// The batch in a table of a library.
    fn table<'py>(slf: &Bound<'py, Self>, function: &str) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import(intern!(slf.py(), "scoregate._tables"))?.call_method1(function, (slf,))
    }
}

/// The gate's spec, whether its patterns are untrusted, the columns and the ids.
type State = (String, bool, Parts, Option<IdParts>);

#[pymethods]
impl BatchResult {
    #[new]
    #[pyo3(signature = (spec, untrusted, columns, ids=None))]
    fn restore(
        py: Python<'_>,
        spec: &str,
        untrusted: bool,
        columns: Parts,
        ids: Option<IdParts>,
    ) -> PyResult<Self> {
        let other = || PyValueError::new_err("columns: not of this gate");
        let gate = Gate::from_json(spec.as_bytes(), Options { untrusted });
        let gate = Arc::new(gate.map_err(|error| spec_error(py, &error))?);
        let columns = Columns::from_parts(columns, gate.scorers().len()).ok_or_else(other)?;
        let ids =
            ids.map(|ids| Ids::from_parts(ids, columns.len()).ok_or_else(other)).transpose()?;
        Ok(BatchResult::new(gate, untrusted, columns, ids))
    }

    fn __len__(&self) -> usize {
        self.columns.len()
    }

    /// A row, the rows of a slice as a list, or a column by its name.
    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        if let Ok(name) = index.cast::<PyString>() {
            return self.column(py, &name.to_string_lossy());
        }
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

    /// The columns by name, each with a value a row.
    ///
    /// The ids first, where `score_table` kept them. Then `verdict` (list of str: `pass`, `block`,
    /// `undecided`), `verdict_code` (memoryview of bytes: 0 block, 1 pass, 2 undecided), `passed`
    /// (list of bool, None while undecided), `combined` (memoryview of doubles), `reason` (list of
    /// str or None), and per scorer `<name>.passed` (memoryview of bools), `<name>.score`
    /// (memoryview of doubles) and `<name>.detail` (list of str or None). Where two scorers share
    /// a name it is followed by the scorer's index, as in `contains[2].score`.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for field in self.fields() {
            columns.set_item(&field.name, self.column(py, &field.name)?)?;
        }
        Ok(columns)
    }

    /// The rows as dicts, with the columns as keys.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let column = |field: arrow::Field| {
            let values = self.column(py, &field.name)?;
            let values = match values.cast_into::<PyList>() {
                Ok(list) => list,
                Err(view) => view.into_inner().call_method0("tolist")?.cast_into::<PyList>()?,
            };
            Ok((PyString::new(py, &field.name), values))
        };
        let columns = self.fields().into_iter().map(column).collect::<PyResult<Vec<_>>>()?;
        let row = |row: usize| {
            let dict = PyDict::new(py);
            for (name, values) in &columns {
                dict.set_item(name, values.get_item(row)?)?;
            }
            Ok(dict)
        };
        PyList::new(py, (0..self.columns.len()).map(row).collect::<PyResult<Vec<_>>>()?)
    }

    /// The columns as a table of pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::table(slf, "to_arrow")
    }

    /// The columns as a data frame of polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::table(slf, "to_polars")
    }

    /// The columns as a data frame of pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::table(slf, "to_pandas")
    }

    /// The schema of the columns, in a capsule of Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.fields())
    }

    /// The columns as a stream, in a capsule of Arrow. They keep their types.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let (columns, ids) = (self.columns.clone(), self.ids.clone());
        let mut start = 0;
        let pieces: Pieces = Box::new(move || {
            let rows = arrow::piece(&columns, ids.as_deref(), start)?;
            start = rows.end;
            Some((rows.len(), arrow::batch_columns(&columns, ids.as_deref(), rows)))
        });
        stream_capsule(py, self.fields(), pieces)
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

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'_, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, State)> {
        let this = slf.get();
        let ids = this.ids.as_ref().map(|ids| ids.to_parts());
        let spec = this.gate.spec().to_json();
        Ok((slf.get_type(), (spec, this.untrusted, this.columns.to_parts(), ids)))
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
