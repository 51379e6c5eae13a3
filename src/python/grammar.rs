//! The reply grammars: functions, batches, and their result classes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple, PyType};

use super::gate::{SLICE, interruptible, read_texts, texts_list, thread_count};
use super::results::no_truth_value;
use super::text::{Text, to_str};
use crate::batch::SMALL;
use crate::grammar::{self as core, JudgeReading, OnUnparseable, VerdictReading, WinnerReading};
use crate::result::{self, Reason};

type OptionalStr<'py> = Option<Bound<'py, PyString>>;

fn reason_of<'py>(py: Python<'py>, reason: Option<&Vec<u8>>) -> PyResult<OptionalStr<'py>> {
    reason.map(|reason| to_str(py, reason)).transpose()
}

fn bytes_of(reason: Option<Text>) -> Option<Vec<u8>> {
    reason.map(|reason| reason.as_ref().to_vec())
}

fn verdict_named(name: &str) -> PyResult<result::Verdict> {
    let known = [result::Verdict::Pass, result::Verdict::Block];
    known.into_iter().find(|verdict| verdict.name() == name).ok_or_else(|| {
        PyValueError::new_err(format!("verdict: must be one of pass|block, got {name:?}"))
    })
}

fn repr(class: &str, names: &[&str], fields: &Bound<'_, PyTuple>) -> PyResult<String> {
    let parts: PyResult<Vec<String>> =
        names.iter().zip(fields.iter()).map(|(n, v)| Ok(format!("{n}={}", v.repr()?))).collect();
    Ok(format!("{class}({})", parts?.join(", ")))
}

/// What a gate's reply says.
#[pyclass(frozen, eq, module = "scoregate", name = "Verdict", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(super) struct Verdict(VerdictReading);

#[pymethods]
impl Verdict {
    #[allow(clippy::unused_self)] // Python calls it on a result
    fn __bool__(&self) -> PyResult<bool> {
        no_truth_value("Verdict", "verdict")
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("verdict", "reason")
    }

    #[new]
    #[pyo3(signature = (verdict, reason=None))]
    fn new(verdict: &str, reason: Option<Text>) -> PyResult<Self> {
        Ok(Verdict(VerdictReading { verdict: verdict_named(verdict)?, reason: bytes_of(reason) }))
    }

    /// `pass` or `block`.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.0.verdict.name()
    }

    /// Why; a text marker gives none.
    #[getter]
    fn reason<'py>(&self, py: Python<'py>) -> PyResult<OptionalStr<'py>> {
        reason_of(py, self.0.reason.as_ref())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr("Verdict", &["verdict", "reason"], &Self::fields(slf)?)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        Ok((slf.get_type(), Self::fields(slf)?))
    }
}

impl Verdict {
    fn fields<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let this = slf.get();
        (this.verdict(), this.reason(slf.py())?).into_pyobject(slf.py())
    }
}

/// What a tournament judge's reply says.
#[pyclass(frozen, eq, module = "scoregate", name = "Winner", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(super) struct Winner(WinnerReading);

#[pymethods]
impl Winner {
    #[allow(clippy::unused_self)] // Python calls it on a result
    fn __bool__(&self) -> PyResult<bool> {
        no_truth_value("Winner", "winner")
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("winner", "reason")
    }

    #[new]
    #[pyo3(signature = (winner, reason=None))]
    fn new(winner: i64, reason: Option<Text>) -> PyResult<Self> {
        let winner = at_least_one("winner", winner)?;
        Ok(Winner(WinnerReading { winner, reason: bytes_of(reason) }))
    }

    /// The variant, from 1.
    #[getter]
    fn winner(&self) -> u64 {
        self.0.winner
    }

    /// Why; a text marker gives none.
    #[getter]
    fn reason<'py>(&self, py: Python<'py>) -> PyResult<OptionalStr<'py>> {
        reason_of(py, self.0.reason.as_ref())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr("Winner", &["winner", "reason"], &Self::fields(slf)?)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        Ok((slf.get_type(), Self::fields(slf)?))
    }
}

impl Winner {
    fn fields<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let this = slf.get();
        (this.winner(), this.reason(slf.py())?).into_pyobject(slf.py())
    }
}

/// What a judge's reply says.
#[pyclass(frozen, eq, module = "scoregate", name = "JudgeVerdict", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(super) struct JudgeVerdict(JudgeReading);

#[pymethods]
impl JudgeVerdict {
    #[allow(clippy::unused_self)] // Python calls it on a result
    fn __bool__(&self) -> PyResult<bool> {
        no_truth_value("JudgeVerdict", "verdict")
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str) {
        ("score", "verdict", "reason", "parsed")
    }

    #[new]
    #[pyo3(signature = (score, verdict, reason=None, parsed=true))]
    fn new(score: f64, verdict: &str, reason: Option<Text>, parsed: bool) -> PyResult<Self> {
        if !(0.0..=1.0).contains(&score) {
            return Err(PyValueError::new_err(format!("score: must be in [0, 1], got {score}")));
        }
        let verdict = verdict_named(verdict)?;
        Ok(JudgeVerdict(JudgeReading { score, verdict, reason: bytes_of(reason), parsed }))
    }

    /// The score, in [0, 1].
    #[getter]
    fn score(&self) -> f64 {
        self.0.score
    }

    /// `pass` or `block`.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.0.verdict.name()
    }

    /// Why; text markers give none.
    #[getter]
    fn reason<'py>(&self, py: Python<'py>) -> PyResult<OptionalStr<'py>> {
        reason_of(py, self.0.reason.as_ref())
    }

    /// False where nothing could be read and the policy answered.
    #[getter]
    fn parsed(&self) -> bool {
        self.0.parsed
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr("JudgeVerdict", &["score", "verdict", "reason", "parsed"], &Self::fields(slf)?)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        Ok((slf.get_type(), Self::fields(slf)?))
    }
}

impl JudgeVerdict {
    fn fields<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let this = slf.get();
        (this.score(), this.verdict(), this.reason(slf.py())?, this.parsed())
            .into_pyobject(slf.py())
    }
}

fn policy_named(name: &str) -> PyResult<OnUnparseable> {
    OnUnparseable::named(name).ok_or_else(|| {
        PyValueError::new_err(format!("on_unparseable: must be one of pass|block, got {name:?}"))
    })
}

fn at_least_one(what: &str, count: i64) -> PyResult<u64> {
    u64::try_from(count)
        .ok()
        .filter(|&count| count > 0)
        .ok_or_else(|| PyValueError::new_err(format!("{what}: must be at least 1, got {count}")))
}

fn missing() -> Vec<u8> {
    Reason::MissingInput.text().as_bytes().to_vec()
}

/// A missing reply blocks.
fn read_verdict(text: Option<&[u8]>, policy: OnUnparseable) -> Verdict {
    Verdict(match text {
        Some(text) => core::parse_verdict(text, policy),
        None => VerdictReading { verdict: result::Verdict::Block, reason: Some(missing()) },
    })
}

/// A missing reply names no winner.
fn read_winner(text: Option<&[u8]>, count: u64) -> Winner {
    Winner(core::parse_winner(text.unwrap_or_default(), count))
}

/// A missing reply blocks.
fn read_judge(text: Option<&[u8]>, policy: OnUnparseable) -> JudgeVerdict {
    JudgeVerdict(match text {
        Some(text) => core::parse_judge(text, policy),
        None => JudgeReading {
            score: 0.0,
            verdict: result::Verdict::Block,
            reason: Some(missing()),
            parsed: false,
        },
    })
}

fn single<R: Send>(
    py: Python<'_>,
    text: Option<Text>,
    read: impl FnOnce(Option<&[u8]>) -> R + Send,
) -> R {
    let bytes = text.as_ref().map(AsRef::as_ref);
    super::detached(py, bytes.map_or(0, <[u8]>::len), || read(bytes))
}

/// Replies of a piece of a batch: enough work to pay for handing it out.
const PIECE: usize = 256;

fn batch<'py, R: Send + IntoPyObject<'py>>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    threads: Option<&Bound<'_, PyAny>>,
    lengths: impl FnOnce(usize) -> PyResult<()>,
    read: impl Fn(usize, Option<&[u8]>) -> R + Sync,
) -> PyResult<Bound<'py, PyList>> {
    let threads = thread_count(threads)?;
    let texts = texts_list(texts)?;
    lengths(texts.len())?;
    let all = PyList::empty(py);
    let mut start = 0;
    while start < texts.len() {
        let slice = read_texts(&texts, start, (start + SLICE).min(texts.len()))?;
        let (read, slice) = (&read, &slice);
        let found = interruptible(py, threads, |workers| {
            let little =
                slice.iter().flatten().map(|text| text.as_ref().len()).sum::<usize>() < SMALL;
            let pieces = slice.len().div_ceil(PIECE);
            let workers = if pieces == 1 && little { workers.alone() } else { *workers };
            let work = |piece: usize| -> Option<Vec<R>> {
                let part = slice.iter().enumerate().skip(piece * PIECE).take(PIECE);
                part.map(|(i, text)| {
                    let read = || read(start + i, text.as_ref().map(AsRef::as_ref));
                    (!workers.stopped()).then(read)
                })
                .collect()
            };
            workers
                .run(pieces, &work)
                .into_iter()
                .map(Option::flatten)
                .collect::<Option<Vec<Vec<R>>>>()
        })?;
        for reading in found.into_iter().flatten() {
            all.append(reading)?;
        }
        start += slice.len();
    }
    py.check_signals()?;
    Ok(all)
}

/// Reads a gate's reply: pass or block.
///
/// JSON first, then the last `VERDICT:` marker, then broken JSON; else what `on_unparseable` says.
#[pyfunction]
#[pyo3(signature = (text, *, on_unparseable="pass"))]
pub(super) fn parse_verdict(
    py: Python<'_>,
    text: Option<Text>,
    on_unparseable: &str,
) -> PyResult<Verdict> {
    let policy = policy_named(on_unparseable)?;
    Ok(single(py, text, |text| read_verdict(text, policy)))
}

/// Reads a tournament judge's reply: which of `count` variants wins, from 1.
///
/// JSON first, then the last `WINNER:` marker, then broken JSON; else variant 1 with a reason.
#[pyfunction]
pub(super) fn parse_winner(py: Python<'_>, text: Option<Text>, count: i64) -> PyResult<Winner> {
    let count = at_least_one("count", count)?;
    Ok(single(py, text, |text| read_winner(text, count)))
}

/// Reads a judge's reply: a score, a verdict, or both.
///
/// JSON first, then the last `SCORE:` and `VERDICT:` markers, then broken JSON; else what
/// `on_unparseable` says.
#[pyfunction]
#[pyo3(signature = (text, *, on_unparseable="pass"))]
pub(super) fn parse_judge(
    py: Python<'_>,
    text: Option<Text>,
    on_unparseable: &str,
) -> PyResult<JudgeVerdict> {
    let policy = policy_named(on_unparseable)?;
    Ok(single(py, text, |text| read_judge(text, policy)))
}

/// Reads many gate replies, on several threads and without the GIL.
#[pyfunction]
#[pyo3(signature = (texts, *, on_unparseable="pass", threads=None))]
pub(super) fn parse_verdict_batch<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    on_unparseable: &str,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let policy = policy_named(on_unparseable)?;
    batch(py, texts, threads, |_| Ok(()), |_, text| read_verdict(text, policy))
}

/// Reads many tournament replies, on several threads and without the GIL.
///
/// `count` is one number for all texts, or one a text.
#[pyfunction]
#[pyo3(signature = (texts, count, *, threads=None))]
pub(super) fn parse_winner_batch<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    count: &Bound<'py, PyAny>,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    if let Ok(count) = count.extract::<i64>() {
        let count = at_least_one("count", count)?;
        return batch(py, texts, threads, |_| Ok(()), |_, text| read_winner(text, count));
    }
    let mut counts = Vec::new();
    for (index, count) in count.try_iter()?.enumerate() {
        if index % SLICE == 0 {
            py.check_signals()?;
        }
        counts.push(at_least_one(&format!("count[{index}]"), count?.extract()?)?);
    }
    let lengths = |texts: usize| {
        if texts == counts.len() {
            return Ok(());
        }
        let message = format!("count: {} counts for {texts} texts", counts.len());
        Err(PyValueError::new_err(message))
    };
    batch(py, texts, threads, lengths, |row, text| read_winner(text, counts[row]))
}

/// Reads many judge replies, on several threads and without the GIL.
#[pyfunction]
#[pyo3(signature = (texts, *, on_unparseable="pass", threads=None))]
pub(super) fn parse_judge_batch<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    on_unparseable: &str,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let policy = policy_named(on_unparseable)?;
    batch(py, texts, threads, |_| Ok(()), |_, text| read_judge(text, policy))
}
