//! The texts of a batch as Python holds them: lists, iterables, series, Arrow arrays.

use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet, PyString,
};

use super::arrow::{Chunk, Stream};
use super::functions::row_of;
use super::text::{Text, not_text};
use crate::batch::arrow::{Fault, Layout, Strings};
use crate::batch::default_threads;
use crate::row::Row;

/// So many texts are held at a time while the GIL is released.
pub(super) const SLICE: usize = 65_536;

/// So many items are taken from an iterable between two looks for Ctrl-C.
const TAKEN: usize = 4096;

/// The texts of a batch.
pub(super) enum Texts<'py> {
    /// Python objects.
    List(Bound<'py, PyList>),
    /// Arrays of Arrow, and the row at which each starts.
    Arrow { layout: Layout, chunks: Vec<(usize, Chunk)>, rows: usize },
}

/// A text of a batch, in the memory of whoever gave it.
pub(super) enum Given<'a> {
    Python(Text),
    Arrow(&'a [u8]),
}

impl AsRef<[u8]> for Given<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Given::Python(text) => text.as_ref(),
            Given::Arrow(text) => text,
        }
    }
}

impl<'py> Texts<'py> {
    /// The texts of an argument; one `str`, a mapping, a set or a table is a mistake.
    pub(super) fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        if given.is_exact_instance_of::<PyList>() {
            return list_of(given, "texts", "str").map(Texts::List);
        }
        refuse_other(given, "texts", "str")?;
        match Self::arrow(given)? {
            Some(texts) => Ok(texts),
            None => list_of(given, "texts", "str").map(Texts::List),
        }
    }

    /// The texts of an array of Arrow; None where Python's items say more.
    fn arrow(given: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        // A series of objects holds texts of Python already.
        let dtype = given.getattr_opt(intern!(given.py(), "dtype"))?;
        let name = dtype.map(|dtype| dtype.getattr_opt("name")).transpose()?.flatten();
        if name.is_some_and(|name| name.eq("object").unwrap_or(false)) {
            return Ok(None);
        }
        let stream = match Stream::of(given) {
            Ok(stream) => stream,
            // What the library cannot give as Arrow may still be iterated.
            Err(error) if error.is_instance_of::<PyException>(given.py()) => None,
            Err(error) => return Err(error),
        };
        let Some(mut stream) = stream else { return Ok(None) };
        if stream.top().is_table() {
            return Err(no_table(given, "texts", "str"));
        }
        let Some(layout) = stream.top().layout().filter(Layout::is_text) else {
            // Of a series, the first item that is no text is named; all of it may be missing.
            return match given.try_iter() {
                Ok(_) if name_of_module(given)?.starts_with("pandas") => Ok(None),
                _ => {
                    let found = stream.top().words();
                    let message = format!("texts: expected texts, got a column of {found}");
                    Err(PyTypeError::new_err(message))
                }
            };
        };
        let (mut chunks, mut rows) = (Vec::new(), 0);
        while let Some(chunk) = stream.next(given.py())? {
            given.py().check_signals()?;
            rows += chunk.len();
            chunks.push((rows - chunk.len(), chunk));
        }
        Ok(Some(Texts::Arrow { layout, chunks, rows }))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Texts::List(list) => list.len(),
            Texts::Arrow { rows, .. } => *rows,
        }
    }

    /// Some of the texts, None for a missing one.
    pub(super) fn read(&self, start: usize, end: usize) -> PyResult<Vec<Option<Given<'_>>>> {
        let (layout, chunks) = match self {
            Texts::List(list) => return read_list(list, start, end),
            Texts::Arrow { layout, chunks, .. } => (layout, chunks),
        };
        let mut read = Vec::with_capacity(end - start);
        let first = chunks.partition_point(|(from, chunk)| from + chunk.len() <= start);
        for (from, chunk) in chunks.get(first..).unwrap_or_default() {
            if *from >= end {
                break;
            }
            let fault = |fault: Fault| {
                let row = from + fault.row;
                PyValueError::new_err(format!("texts[{row}]: {}", fault.what))
            };
            let strings = Strings::new(layout, chunk.array(layout)?).map_err(fault)?;
            let rows = start.saturating_sub(*from)..(end - from).min(chunk.len());
            let texts = strings.read(rows).map_err(fault)?;
            read.extend(texts.into_iter().map(|text| text.map(Given::Arrow)));
        }
        Ok(read)
    }

    /// The texts as a list of Python's.
    pub(super) fn into_list(self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = match self {
            Texts::List(list) => return Ok(list),
            Texts::Arrow { rows, .. } => rows,
        };
        let list = PyList::empty(py);
        let mut start = 0;
        while start < rows {
            py.check_signals()?;
            let end = (start + SLICE).min(rows);
            for text in self.read(start, end)? {
                match text {
                    Some(text) => list.append(PyString::from_bytes(py, text.as_ref())?)?,
                    None => list.append(py.None())?,
                }
            }
            start = end;
        }
        Ok(list)
    }
}

/// An iterator over the texts of an argument, which may have no end.
#[pyfunction]
pub(super) fn iter_texts<'py>(texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    refuse_other(texts, "texts", "str")?;
    let found = match Texts::arrow(texts)? {
        Some(found) => found.into_list(texts.py())?.into_any(),
        None => texts.clone(),
    };
    Ok(found.try_iter()?.into_any())
}

/// The texts of an argument as a list.
#[pyfunction]
pub(super) fn list_texts<'py>(texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    Texts::of(texts)?.into_list(texts.py())
}

/// A missing text: None, or what a series has in its place.
pub(super) fn is_missing(item: &Bound<'_, PyAny>) -> bool {
    if item.is_none() {
        return true;
    }
    if let Ok(number) = item.cast::<PyFloat>() {
        return number.value().is_nan();
    }
    let class = item.get_type();
    let name = class.name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let missing = matches!(name.as_str(), "NAType" | "NaTType");
    missing && name_of_module(item).is_ok_and(|module| module.starts_with("pandas."))
}

fn name_of_module(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(object.get_type().module()?.to_string_lossy().into_owned())
}

/// Refuses what can be iterated and yet is no list of texts.
pub(super) fn refuse_other(given: &Bound<'_, PyAny>, argument: &str, of: &str) -> PyResult<()> {
    let refuse = |what: &str| {
        Err(PyTypeError::new_err(format!("{argument}: expected a list of {of}, got {what}")))
    };
    if given.is_instance_of::<PyList>() {
        return Ok(());
    }
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() {
        return refuse("one text");
    }
    if given.cast::<PyMapping>().is_ok() {
        return refuse(&format!("a mapping; {}", column_idiom(argument)));
    }
    if given.is_instance_of::<PySet>() || given.is_instance_of::<PyFrozenSet>() {
        return refuse("a set, which has no order");
    }
    // Asked of the type: a series may have a label of that name.
    if given.get_type().hasattr("columns")? {
        return Err(no_table(given, argument, of));
    }
    Ok(())
}

/// How the values of one column are passed.
fn column_idiom(argument: &str) -> &'static str {
    match argument {
        "rows" => "pass a list with a dict for each text",
        _ => "pass the column that holds them, as in data[\"output\"]",
    }
}

fn no_table(given: &Bound<'_, PyAny>, argument: &str, of: &str) -> PyErr {
    let name = match given.get_type().name() {
        Ok(name) => name,
        Err(error) => return error,
    };
    let advice = column_idiom(argument);
    PyTypeError::new_err(format!("{argument}: expected a list of {of}, got a {name}; {advice}"))
}

/// An iterable as a list. It may have no end: Ctrl-C stops it.
fn list_of<'py>(
    given: &Bound<'py, PyAny>,
    argument: &str,
    of: &str,
) -> PyResult<Bound<'py, PyList>> {
    if let Ok(list) = given.cast::<PyList>() {
        return Ok(list.clone());
    }
    refuse_other(given, argument, of)?;
    let name = given.get_type().name()?;
    let items = given.try_iter().map_err(|_| {
        PyTypeError::new_err(format!("{argument}: expected a list of {of}, got {name}"))
    })?;
    let list = PyList::empty(given.py());
    for (taken, item) in items.enumerate() {
        if taken % TAKEN == 0 {
            given.py().check_signals()?;
        }
        list.append(item?)?;
    }
    Ok(list)
}

/// The rows of so many texts.
pub(super) fn rows_list<'py>(
    rows: &Bound<'py, PyAny>,
    texts: usize,
) -> PyResult<Bound<'py, PyList>> {
    let rows = list_of(rows, "rows", "mappings")?;
    if rows.len() == texts {
        return Ok(rows);
    }
    let message = format!("rows: {} rows for {texts} texts", rows.len());
    Err(PyValueError::new_err(message))
}

fn read_list<'a>(
    texts: &Bound<'_, PyList>,
    start: usize,
    end: usize,
) -> PyResult<Vec<Option<Given<'a>>>> {
    let mut slice = Vec::with_capacity(end - start);
    for index in start..end {
        let item = texts.get_item(index)?;
        slice.push(match item.cast::<PyString>() {
            Ok(text) => Some(Given::Python(Text::of(text)?)),
            Err(_) if is_missing(&item) => None,
            Err(_) => {
                return Err(not_text(&item, &format!("texts[{index}]: expected str or None")));
            }
        });
    }
    Ok(slice)
}

pub(super) fn read_rows(
    rows: &Bound<'_, PyList>,
    start: usize,
    end: usize,
) -> PyResult<Vec<Row<'static>>> {
    let row = |index: usize| {
        let item = rows.get_item(index)?;
        if !item.is_none() && item.cast::<PyMapping>().is_err() {
            let name = item.get_type().name()?;
            let message = format!("rows[{index}]: expected a mapping or None, got {name}");
            return Err(PyTypeError::new_err(message));
        }
        row_of(Some(&item))
    };
    (start..end).map(row).collect()
}

/// The number of threads asked for; no number of them is too large to be taken for the most.
pub(super) fn thread_count(threads: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    const MOST: usize = 1024;
    let Some(threads) = threads.filter(|threads| !threads.is_none()) else {
        return Ok(default_threads());
    };
    if !threads.is_instance_of::<PyInt>() || threads.is_instance_of::<PyBool>() {
        let name = threads.get_type().name()?;
        return Err(PyTypeError::new_err(format!("threads: expected int or None, got {name}")));
    }
    if threads.lt(1)? {
        return Err(PyValueError::new_err("threads: must be at least 1"));
    }
    Ok(threads.extract::<usize>().unwrap_or(MOST).min(MOST))
}
