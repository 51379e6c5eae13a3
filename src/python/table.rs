//! A table that is scored: its column of texts, its column of ids.

use std::ops::Range;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyMapping};

use super::arrow::{Chunk, Stream, Type, schema_capsule};
use crate::batch::arrow::{Fault, Field, Ids, Layout, Strings, fields, type_name};
use crate::gate::Gate;

/// The names and types of the columns that a gate gives, before any row is there.
///
/// `pyarrow.schema` and the like read it by `__arrow_c_schema__`.
#[pyclass(frozen, module = "scoregate._native", name = "ArrowSchema", skip_from_py_object)]
pub(super) struct ArrowSchema {
    fields: Vec<Field>,
}

impl ArrowSchema {
    pub(super) fn new(fields: Vec<Field>) -> Self {
        ArrowSchema { fields }
    }
}

#[pymethods]
impl ArrowSchema {
    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|field| field.name.as_str()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.fields)
    }

    fn __len__(&self) -> usize {
        self.fields.len()
    }

    fn __repr__(&self) -> String {
        let field = |field: &Field| {
            let kind = if field.words.is_some() { "string" } else { type_name(field.format) };
            format!("{}: {kind}{}", field.name, if field.nullable { " or null" } else { "" })
        };
        let fields: Vec<String> = self.fields.iter().map(field).collect();
        format!("<ArrowSchema {}>", fields.join(", "))
    }
}

/// A table that is read array by array.
pub(super) struct Table {
    stream: Stream,
    texts: Source,
    ids: Option<(Source, Ids)>,
}

/// A column that is read.
struct Source {
    name: String,
    index: usize,
    layout: Layout,
}

impl Source {
    fn fault(&self, fault: Fault, before: usize) -> PyErr {
        let row = before + fault.row;
        PyValueError::new_err(format!("column {:?}, row {row}: {}", self.name, fault.what))
    }
}

impl Table {
    /// A table that an object gives, with its column of texts and its column of ids.
    pub(super) fn open(
        data: &Bound<'_, PyAny>,
        column: &str,
        id: Option<&str>,
        gate: &Gate,
    ) -> PyResult<Self> {
        let refuse = |what: &str| Err(PyTypeError::new_err(format!("data: {what}")));
        let name = data.get_type().name()?;
        let Some(stream) = Stream::of(data)? else {
            let advice = if data.cast::<PyMapping>().is_ok() {
                "; for columns of your own use score_batch(data[\"output\"])"
            } else if data.hasattr("collect")? || data.get_type().hasattr("map_batches")? {
                "; collect it first, or see the page of engines"
            } else {
                "; for a list of texts use score_batch"
            };
            return refuse(&format!(
                "expected a table with __arrow_c_stream__, got {name}{advice}"
            ));
        };
        if !stream.top().is_table() {
            return refuse(&format!("expected a table, got a column ({name}); use score_batch"));
        }
        let texts = source(stream.columns(), "column", column, Layout::is_text, "texts")?;
        let ids = id.map(|id| {
            if fields(gate).iter().any(|field| field.name == id) {
                let message = format!("id: {id:?} is the name of a column of the results");
                return Err(PyValueError::new_err(message));
            }
            let source = source(stream.columns(), "id", id, |_| true, "texts or whole numbers")?;
            let ids = Ids::new(id, &source.layout);
            Ok((source, ids))
        });
        let ids = ids.transpose()?;
        Ok(Table { stream, texts, ids })
    }

    /// The next array.
    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Chunk>> {
        py.check_signals()?;
        self.stream.next(py)
    }

    /// The texts of an array; its ids are kept. So many rows came before.
    pub(super) fn texts<'a>(&mut self, chunk: &'a Chunk, before: usize) -> PyResult<Strings<'a>> {
        if let Some((source, ids)) = &mut self.ids {
            let array = chunk.column(source.index, &source.layout)?;
            ids.append(&source.layout, array).map_err(|fault| source.fault(fault, before))?;
        }
        let array = chunk.column(self.texts.index, &self.texts.layout)?;
        let texts = Strings::new(&self.texts.layout, array);
        texts.map_err(|fault| self.texts.fault(fault, before))
    }

    /// Some texts of an array before which so many rows came.
    pub(super) fn read<'a>(
        &self,
        texts: &Strings<'a>,
        rows: Range<usize>,
        before: usize,
    ) -> PyResult<Vec<Option<&'a [u8]>>> {
        texts.read(rows).map_err(|fault| self.texts.fault(fault, before))
    }

    /// The ids of all arrays that were read.
    pub(super) fn into_ids(self) -> Option<Ids> {
        self.ids.map(|(_, ids)| ids)
    }
}

/// A column by its name, which must be one column's and of a type that is read.
fn source(
    columns: &[Type],
    argument: &str,
    name: &str,
    of: impl Fn(&Layout) -> bool,
    wanted: &str,
) -> PyResult<Source> {
    let refuse = |what: String| PyValueError::new_err(format!("{argument}: {what}"));
    let mut found = columns.iter().enumerate().filter(|(_, column)| column.name == name);
    let Some((index, column)) = found.next() else {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(refuse(format!("no column {name:?}; the table has {has}")));
    };
    if found.next().is_some() {
        return Err(refuse(format!("the table has two columns {name:?}")));
    }
    let Some(layout) = column.layout().filter(of) else {
        let kind = column.words();
        let message = format!("{argument}: column {name:?} holds {kind}, expected {wanted}");
        return Err(PyTypeError::new_err(message));
    };
    Ok(Source { name: name.to_owned(), index, layout })
}
