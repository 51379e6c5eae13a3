//! `JSONStream`: one live Python value that grows with each piece of text.

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyString};

use super::super::text::{Text, to_str};
use super::build::{Failure, build, number_of};
use super::input::{Places, surrogates_or_fault};
use super::keys::Keys;
use super::result::{Diagnostic, JSONResult, diagnostics, failure};
use crate::json::{
    Build, JsonStream, Progress, RepairErrorKind, RepairOptions, duplicate_keys, repair,
};

/// A document that arrives in pieces.
#[pyclass(frozen, module = "scoregate", name = "JSONStream", skip_from_py_object)]
pub(in super::super) struct JSONStream(Mutex<Stream>);

struct Stream {
    core: JsonStream,
    live: Live,
    /// Bytes at the end of the last piece that are the start of a character.
    cut: Vec<u8>,
    /// Why it ended before its time.
    failed: Option<(&'static str, String, usize)>,
    closed: Option<Py<JSONResult>>,
    /// All documents are read; those that are complete.
    all: bool,
    documents: Vec<Py<PyAny>>,
}

/// The value so far.
#[derive(Default)]
struct Live {
    root: Option<Py<PyAny>>,
    /// Open dicts and lists.
    open: Vec<Py<PyAny>>,
    key: Option<Py<PyString>>,
    tail: Option<Vec<u8>>,
    /// A key came again.
    repeated: bool,
    /// The document is among those that are complete.
    told: bool,
}

/// Adds to the value. The first error ends the work.
struct Builder<'a, 'py> {
    py: Python<'py>,
    live: &'a mut Live,
    keys: &'a mut Keys,
    error: Option<PyErr>,
    long_integer: bool,
}

impl<'py> Builder<'_, 'py> {
    fn place(&mut self, value: PyResult<Bound<'py, PyAny>>) -> Option<Bound<'py, PyAny>> {
        let placed = value.and_then(|value| {
            match self.live.open.last().map(|open| open.bind(self.py)) {
                None => self.live.root = Some(value.clone().unbind()),
                Some(open) => match (open.cast::<PyDict>(), self.live.key.take()) {
                    (Ok(dict), Some(key)) => {
                        let len = dict.len();
                        dict.set_item(key, &value)?;
                        self.live.repeated |= dict.len() == len;
                    }
                    (Ok(_), None) => {}
                    (Err(_), _) => open.cast::<PyList>()?.append(&value)?,
                },
            }
            Ok(value)
        });
        match placed {
            Ok(value) => Some(value),
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }

    fn open(&mut self, container: Bound<'py, PyAny>) {
        if let Some(container) = self.place(Ok(container)) {
            self.live.open.push(container.unbind());
        }
    }
}

impl Build for Builder<'_, '_> {
    fn open_object(&mut self) {
        self.open(PyDict::new(self.py).into_any());
    }

    fn open_array(&mut self) {
        self.open(PyList::empty(self.py).into_any());
    }

    fn close(&mut self) {
        self.live.open.pop();
    }

    fn key(&mut self, key: &[u8]) {
        match self.keys.get(self.py, key) {
            Ok(key) => self.live.key = Some(key.unbind()),
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
    }

    fn null(&mut self) {
        self.place(Ok(self.py.None().into_bound(self.py)));
    }

    fn boolean(&mut self, value: bool) {
        self.place(Ok(PyBool::new(self.py, value).to_owned().into_any()));
    }

    fn number(&mut self, text: &str) {
        match number_of(self.py, text) {
            Ok(Some(number)) => {
                self.place(Ok(number));
            }
            Ok(None) => self.long_integer = true,
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
    }

    fn string(&mut self, text: &[u8]) {
        self.place(to_str(self.py, text).map(Bound::into_any));
    }

    fn tail_open(&mut self) {
        self.live.tail = Some(Vec::new());
    }

    fn tail_grow(&mut self, text: &[u8]) {
        if let Some(tail) = &mut self.live.tail {
            tail.extend_from_slice(text);
        }
    }

    fn tail_close(&mut self) {
        let tail = self.live.tail.take().unwrap_or_default();
        self.string(&tail);
    }
}

impl Stream {
    /// Feeds the core, or ends it where there is no piece.
    fn work(&mut self, py: Python<'_>, piece: Option<&[u8]>) -> PyResult<()> {
        if self.failed.is_some() {
            return Ok(());
        }
        Keys::with(|keys| {
            let live = &mut self.live;
            let mut builder = Builder { py, live, keys, error: None, long_integer: false };
            let mut result = match piece {
                Some(piece) => self.core.feed(piece, &mut builder),
                None => self.core.finish(&mut builder),
            };
            while self.core.progress() == Progress::Complete
                && builder.live.root.is_some()
                && builder.error.is_none()
                && result.is_ok()
            {
                let Some(root) = builder.live.root.as_ref().filter(|_| !builder.live.told) else {
                    break;
                };
                self.documents.push(root.clone_ref(py));
                if !self.all {
                    builder.live.told = true;
                    break;
                }
                *builder.live = Live::default();
                result = self.core.next_document(&mut builder);
                if piece.is_none() && self.core.progress() == Progress::Open {
                    result = self.core.finish(&mut builder);
                }
            }
            if let Some(error) = builder.error {
                self.failed = Some(("no_json", error.to_string(), self.core.text().len()));
                return Err(error);
            }
            if builder.long_integer {
                let at = self.core.span().map_or(0, |(_, end)| end);
                let message = "an integer has more digits than Python reads".to_owned();
                self.failed = Some(("integer_too_long", message, at));
            } else if let Err(error) = result {
                let code = match error.kind {
                    RepairErrorKind::TooDeep(_) => "too_deep",
                    RepairErrorKind::TooLong => "too_long",
                    RepairErrorKind::Budget => "too_many_steps",
                    RepairErrorKind::NoJson | RepairErrorKind::Severity(_) => "no_json",
                };
                self.failed = Some((code, error.kind.to_string(), error.offset));
            }
            Ok(())
        })
    }

    /// Reads a piece of text or bytes.
    fn read(&mut self, py: Python<'_>, chunk: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.closed.is_some() {
            return Err(PyValueError::new_err("the stream is closed"));
        }
        if let Ok(text) = chunk.cast::<PyString>() {
            let text = Text::of(text)?;
            if !self.cut.is_empty() {
                let at = self.core.text().len();
                self.failed.get_or_insert(("not_utf8", "not UTF-8".to_owned(), at));
            }
            return self.work(py, Some(text.as_ref()));
        }
        match chunk.cast::<PyBytes>() {
            Ok(bytes) => self.feed_bytes(py, bytes.as_bytes()),
            Err(_) => {
                let got = chunk.get_type().name()?;
                Err(PyTypeError::new_err(format!("chunk: expected str or bytes, got {got}")))
            }
        }
    }

    fn feed_bytes(&mut self, py: Python<'_>, piece: &[u8]) -> PyResult<()> {
        let mut joined = std::mem::take(&mut self.cut);
        joined.extend_from_slice(piece);
        match surrogates_or_fault(&joined) {
            Ok(_) => self.work(py, Some(&joined)),
            Err(at) if is_start(joined.get(at..).unwrap_or_default()) => {
                self.cut = joined.split_off(at);
                self.work(py, Some(&joined))
            }
            Err(at) => {
                self.work(py, joined.get(..at))?;
                let at = self.core.text().len();
                self.failed.get_or_insert(("not_utf8", "not UTF-8".to_owned(), at));
                Ok(())
            }
        }
    }

    /// The document of the whole text, where no piece had begun one.
    fn late(&mut self, py: Python<'_>) -> PyResult<Option<JSONResult>> {
        if self.live.root.is_some() {
            return Ok(None);
        }
        let Some(result) = repaired(py, self.core.text())? else { return Ok(None) };
        self.failed = None;
        self.live.root = Some(result.value.clone_ref(py));
        Ok(Some(result))
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found: Vec<_> = self.core.diagnostics().into_iter().map(|d| (d, None)).collect();
        let document = if self.live.repeated { self.core.snapshot() } else { None };
        if let Some(document) = document {
            found.extend(duplicate_keys(&document).into_iter().map(|d| (d, None)));
        }
        let text = self.core.text();
        let mut list = diagnostics(found, text, &mut Places::over(text));
        if let Some((code, message, at)) = &self.failed {
            list.push(failure(code, message.clone(), *at, &mut Places::over(text)));
        }
        list
    }

    fn result(&self, py: Python<'_>) -> JSONResult {
        let ok = self.failed.is_none();
        let mut places = Places::over(self.core.text());
        let span = self.core.span().filter(|_| ok);
        let value = self.live.root.as_ref().filter(|_| ok);
        let value = if self.all && ok {
            let all = self.documents.iter().map(|document| document.clone_ref(py));
            PyList::new(py, all).map_or_else(|_| py.None(), |list| list.into_any().unbind())
        } else {
            value.map_or_else(|| py.None(), |root| root.clone_ref(py))
        };
        JSONResult {
            value,
            ok,
            diagnostics: self.diagnostics(),
            span: span.map(|(start, end)| (places.of(start).offset, places.of(end).offset)),
            source: ok.then_some("stream".into()),
            others: Vec::new(),
        }
    }
}

/// What a whole text holds.
fn repaired(py: Python<'_>, text: &[u8]) -> PyResult<Option<JSONResult>> {
    let found = repair(text, &RepairOptions::default());
    let Ok(document) = found.result else { return Ok(None) };
    let value = match Keys::with(|keys| build(py, &document, keys)) {
        Ok(built) => built.value.unbind(),
        Err(Failure::Python(error)) => return Err(error),
        Err(Failure::Integer(_)) => return Ok(None),
    };
    let repairs = found.diagnostics.into_iter().map(|d| (d, None)).collect();
    let mut places = Places::over(text);
    let span = (places.of(found.span.0).offset, places.of(found.span.1).offset);
    Ok(Some(JSONResult {
        value,
        ok: true,
        diagnostics: diagnostics(repairs, text, &mut Places::over(text)),
        span: Some(span),
        source: Some(found.source.name().into()),
        others: Vec::new(),
    }))
}

/// True for the start of a character that more bytes may complete.
fn is_start(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => true,
        // The start of a surrogate half.
        _ => matches!(bytes, [0xED, 0xA0..=0xBF]),
    }
}

impl JSONStream {
    fn lock(&self) -> PyResult<MutexGuard<'_, Stream>> {
        self.0.try_lock().map_err(|_| PyRuntimeError::new_err("the stream is in use"))
    }
}

#[pymethods]
impl JSONStream {
    #[new]
    #[pyo3(signature = (*, max_depth=512, documents="first"))]
    fn new(max_depth: i64, documents: &str) -> PyResult<Self> {
        if !matches!(documents, "first" | "all") {
            return Err(PyValueError::new_err("documents: must be one of first|all"));
        }
        let max_depth = usize::try_from(max_depth).ok().filter(|&depth| depth > 0);
        let max_depth =
            max_depth.ok_or_else(|| PyValueError::new_err("max_depth: must be at least 1"))?;
        Ok(JSONStream(Mutex::new(Stream {
            core: JsonStream::new(max_depth),
            live: Live::default(),
            cut: Vec::new(),
            failed: None,
            closed: None,
            all: documents == "all",
            documents: Vec::new(),
        })))
    }

    /// Reads a piece, and gives the documents that it completes.
    fn feed<'py>(
        &self,
        py: Python<'py>,
        chunk: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut stream = self.lock()?;
        let before = stream.documents.len();
        stream.read(py, chunk)?;
        let complete = stream.documents.get(before..).unwrap_or_default();
        PyList::new(py, complete.iter().map(|document| document.clone_ref(py)))
    }

    /// Ends the text: what is open is closed.
    fn close(&self, py: Python<'_>) -> PyResult<Py<JSONResult>> {
        let mut stream = self.lock()?;
        if let Some(closed) = &stream.closed {
            return Ok(closed.clone_ref(py));
        }
        if !stream.cut.is_empty() {
            let at = stream.core.text().len();
            stream.failed.get_or_insert(("not_utf8", "not UTF-8".to_owned(), at));
        }
        stream.work(py, None)?;
        // A list that stands in prose, and the like: found once the whole text is there.
        let late = matches!(stream.failed, Some(("no_json", ..))).then(|| stream.late(py));
        let result = late.transpose()?.flatten().unwrap_or_else(|| stream.result(py));
        let closed = Py::new(py, result)?;
        stream.closed = Some(closed.clone_ref(py));
        Ok(closed)
    }

    /// The live value; None before it begins.
    #[getter]
    fn value(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        Ok(self.lock()?.live.root.as_ref().map(|root| root.clone_ref(py)))
    }

    /// The text so far of the string that is open.
    #[getter]
    fn tail<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        let stream = self.lock()?;
        stream.live.tail.as_ref().map(|tail| to_str(py, tail)).transpose()
    }

    /// True once the document is complete or cannot be.
    #[getter]
    fn done(&self) -> PyResult<bool> {
        let stream = self.lock()?;
        Ok(stream.failed.is_some() || stream.core.progress() == Progress::Complete)
    }

    /// What was repaired so far; offsets count characters of all that was fed.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = self.lock()?.diagnostics();
        let list = PyList::empty(py);
        for diagnostic in found {
            list.append(Bound::new(py, diagnostic)?)?;
        }
        Ok(list)
    }

    /// A copy of the value so far, the open string included.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let stream = self.lock()?;
        let Some(document) = stream.core.snapshot() else { return Ok(None) };
        match Keys::with(|keys| build(py, &document, keys)) {
            Ok(built) => Ok(Some(built.value)),
            Err(Failure::Python(error)) => Err(error),
            Err(Failure::Integer(_)) => Ok(None),
        }
    }

    fn __repr__(&self) -> PyResult<String> {
        let stream = self.lock()?;
        let state = match (&stream.failed, stream.core.progress()) {
            (Some((code, ..)), _) => code,
            (None, Progress::Waiting) => "waiting",
            (None, Progress::Open) => "open",
            (None, Progress::Complete) => "complete",
        };
        Ok(format!("<JSONStream {state}, {} bytes read>", stream.core.text().len()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // While it is in use, what it holds is in use too.
        let Ok(stream) = self.0.try_lock() else { return Ok(()) };
        visit.call(&stream.live.root)?;
        visit.call(&stream.closed)?;
        stream.documents.iter().try_for_each(|document| visit.call(document))?;
        visit.call(&stream.live.key)?;
        stream.live.open.iter().try_for_each(|open| visit.call(open))
    }
}
