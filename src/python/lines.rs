//! JSON lines in, JSON lines out.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::batch::totals_dict;
use super::gate::{Gate, interruptible};
use super::input::thread_count;
use super::text::to_str;
use crate::batch::{self, LineOptions, Shown, Supplied};

/// Scores a stream of JSON lines, block by block.
#[pyclass(frozen, module = "scoregate._native", name = "LineScorer", skip_from_py_object)]
pub(super) struct LineScorer {
    gate: Gate,
    threads: usize,
    state: Mutex<batch::LineScorer>,
}

type Bad<'py> = (u64, u64, String, Bound<'py, PyBytes>);

#[pymethods]
impl LineScorer {
    #[new]
    #[pyo3(signature = (gate, *, field="output", id_field="id", details="failed", max_line=67_108_864, keep_raw=true, threads=None))]
    fn new(
        gate: &Bound<'_, Gate>,
        field: &str,
        id_field: &str,
        details: &str,
        max_line: usize,
        keep_raw: bool,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let shown = match details {
            "failed" => Shown::Failed,
            "all" => Shown::All,
            "none" => Shown::None,
            _ => return Err(PyValueError::new_err("details: must be one of failed|all|none")),
        };
        let gate = gate.get().clone();
        let options = LineOptions {
            field: field.into(),
            id_field: id_field.into(),
            shown,
            max_line,
            keep_raw,
        };
        let state = Mutex::new(batch::LineScorer::new(options, gate.core.scorers().len()));
        Ok(LineScorer { gate, threads: thread_count(threads)?, state })
    }

    /// Takes a block of input: (output lines, rows scored, bad lines as (line, byte offset,
    /// message, raw)). `last` scores a line without a line feed too; `limit` bounds the rows;
    /// `impure` supplies the results of scorers by index, one for each text of `texts`.
    #[pyo3(signature = (block, *, last=false, limit=None, impure=None))]
    fn feed<'py>(
        &self,
        py: Python<'py>,
        block: &[u8],
        last: bool,
        limit: Option<u64>,
        impure: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Bound<'py, PyBytes>, u64, Vec<Bad<'py>>)> {
        let columns = impure.map(|columns| self.gate.impure_columns(columns, None)).transpose()?;
        let columns = columns.unwrap_or_default();
        let fed = interruptible(py, self.threads, |workers| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.feed(
                &self.gate.core,
                block,
                last,
                limit.unwrap_or(u64::MAX),
                Supplied::new(&columns),
                workers,
            )
        })?;
        let bad = fed.bad.iter();
        let bad = bad.map(|b| (b.line, b.offset, b.message.clone(), PyBytes::new(py, &b.raw)));
        Ok((PyBytes::new(py, &fed.output), fed.rows, bad.collect()))
    }

    /// The texts of the rows that `feed` would score or find bad; None for a missing text and for a
    /// bad line.
    #[pyo3(signature = (block, *, last=false, limit=None))]
    fn texts<'py>(
        &self,
        py: Python<'py>,
        block: &[u8],
        last: bool,
        limit: Option<u64>,
    ) -> PyResult<Vec<Option<Bound<'py, PyString>>>> {
        let limit = limit.unwrap_or(u64::MAX);
        let texts = self.with_state(py, |state| state.texts(block, last, limit));
        texts.iter().map(|text| text.as_deref().map(|t| to_str(py, t)).transpose()).collect()
    }

    /// Starts another input: line numbers and offsets count from its start, rows go on.
    fn next_input(&self, py: Python<'_>) {
        self.with_state(py, batch::LineScorer::next_input);
    }

    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let totals = self.with_state(py, |state| state.totals().clone());
        totals_dict(py, &self.gate.core, &totals)
    }

    /// The most frequent failure details: (scorer index, detail, rows).
    fn frequent_details(&self, py: Python<'_>, count: usize) -> Vec<(usize, String, u64)> {
        self.with_state(py, |state| {
            let found = state.frequent_details(count).into_iter();
            found.map(|(scorer, detail, rows)| (scorer, detail.to_owned(), rows)).collect()
        })
    }
}

impl LineScorer {
    /// A block may be at work in another thread, so the lock is waited for without the GIL.
    fn with_state<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut batch::LineScorer) -> R + Send,
    ) -> R {
        py.detach(|| work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
