//! The reply grammars: functions, batches, their result classes, and a gate's own words.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};

use super::error::spec_error;
use super::gate::interruptible;
use super::input::{SLICE, Texts, thread_count};
use super::results::no_truth_value;
use super::text::{Text, to_str};
use super::value::from_python;
use crate::batch::SMALL;
use crate::grammar::{
    self as core, JudgeReading, OnUnparseable, State, VerdictReading, WinnerReading,
};
use crate::result::{self, Reason};

type OptionalStr<'py> = Option<Bound<'py, PyString>>;

fn reason_of<'py>(py: Python<'py>, reason: Option<&Vec<u8>>) -> PyResult<OptionalStr<'py>> {
    reason.map(|reason| to_str(py, reason)).transpose()
}

fn bytes_of(reason: Option<Text>) -> Option<Vec<u8>> {
    reason.map(|reason| reason.as_ref().to_vec())
}

fn verdict_named(name: &str) -> PyResult<result::Verdict> {
    match OnUnparseable::named(name) {
        Some(known) => Ok(known.verdict()),
        None => {
            let message = format!("verdict: must be one of pass|block|undecided, got {name:?}");
            Err(PyValueError::new_err(message))
        }
    }
}

fn state_of(parsed: bool, disputed: bool) -> PyResult<State> {
    match (parsed, disputed) {
        (true, false) => Ok(State::Read),
        (false, true) => Ok(State::Disputed),
        (false, false) => Ok(State::Silent),
        (true, true) => {
            Err(PyValueError::new_err("disputed: a disputed reply is not a parsed one"))
        }
    }
}

fn repr(class: &str, names: &[&str], fields: &Bound<'_, PyTuple>) -> PyResult<String> {
    let parts: PyResult<Vec<String>> =
        names.iter().zip(fields.iter()).map(|(n, v)| Ok(format!("{n}={}", v.repr()?))).collect();
    Ok(format!("{class}({})", parts?.join(", ")))
}

/// A gate's own words and scale: `judge.reply` of a score block, checked and ready to read by.
#[pyclass(frozen, eq, module = "scoregate._native", name = "ReplyForm", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(super) struct ReplyForm(core::ReplyForm);

#[pymethods]
impl ReplyForm {
    #[new]
    #[pyo3(signature = (reply, *, path="reply"))]
    fn new(reply: &Bound<'_, PyAny>, path: &str) -> PyResult<Self> {
        let value = from_python(reply, path)?;
        let made = core::ReplyForm::from_value(&value, path).map(ReplyForm);
        made.map_err(|error| spec_error(reply.py(), &error))
    }

    /// The words that pass, in place of the common ones; empty where none were given.
    #[getter]
    fn pass_words(&self) -> Vec<String> {
        self.0.pass.clone()
    }

    /// The words that block, in place of the common ones; empty where none were given.
    #[getter]
    fn block_words(&self) -> Vec<String> {
        self.0.block.clone()
    }

    /// Labels of a verdict, beside `VERDICT`.
    #[getter]
    fn verdict_labels(&self) -> Vec<String> {
        self.0.verdict_labels.clone()
    }

    /// Labels of a score, beside `SCORE`.
    #[getter]
    fn score_labels(&self) -> Vec<String> {
        self.0.score_labels.clone()
    }

    /// Keys in JSON beside the common ones, by `verdict`, `score` and `reason`.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let keys = PyDict::new(py);
        for (name, list) in [
            ("verdict", &self.0.verdict_keys),
            ("score", &self.0.score_keys),
            ("reason", &self.0.reason_keys),
        ] {
            keys.set_item(name, list)?;
        }
        Ok(keys)
    }

    /// The worst and the best score; None for 0 to 1.
    #[getter]
    fn scale(&self) -> Option<(f64, f64)> {
        self.0.scale
    }

    /// The normalised score from which on a reply passes.
    #[getter]
    fn pass_at(&self) -> f64 {
        self.0.pass_at
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(format!("ReplyForm({})", slf.get().to_dict(slf.py())?.repr()?))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let reply = slf.get().to_dict(slf.py())?;
        Ok((slf.get_type(), PyTuple::new(slf.py(), [reply])?))
    }
}

impl ReplyForm {
    /// The mapping that gives this form.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let form = &self.0;
        let dict = PyDict::new(py);
        let put = |dict: &Bound<'py, PyDict>, name: &str, list: &Vec<String>| {
            if list.is_empty() { Ok(()) } else { dict.set_item(name, list) }
        };
        put(&dict, "pass", &form.pass)?;
        put(&dict, "block", &form.block)?;
        let (labels, keys) = (PyDict::new(py), PyDict::new(py));
        put(&labels, "verdict", &form.verdict_labels)?;
        put(&labels, "score", &form.score_labels)?;
        put(&keys, "verdict", &form.verdict_keys)?;
        put(&keys, "score", &form.score_keys)?;
        put(&keys, "reason", &form.reason_keys)?;
        for (name, group) in [("labels", labels), ("keys", keys)] {
            if !group.is_empty() {
                dict.set_item(name, group)?;
            }
        }
        if let Some((worst, best)) = form.scale {
            dict.set_item("scale", PyList::new(py, [worst, best])?)?;
        }
        dict.set_item("passAt", form.pass_at)?;
        Ok(dict)
    }
}

/// The form that an argument `reply` gives: None, a mapping, or a form.
fn form_of(reply: Option<&Bound<'_, PyAny>>) -> PyResult<core::ReplyForm> {
    let Some(reply) = reply else { return Ok(core::ReplyForm::default()) };
    match reply.cast::<ReplyForm>() {
        Ok(form) => Ok(form.get().0.clone()),
        Err(_) => ReplyForm::new(reply, "reply").map(|form| form.0),
    }
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
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str) {
        ("verdict", "reason", "parsed", "disputed")
    }

    #[new]
    #[pyo3(signature = (verdict, reason=None, parsed=true, disputed=false))]
    fn new(verdict: &str, reason: Option<Text>, parsed: bool, disputed: bool) -> PyResult<Self> {
        let (verdict, state) = (verdict_named(verdict)?, state_of(parsed, disputed)?);
        Ok(Verdict(VerdictReading { verdict, reason: bytes_of(reason), state }))
    }

    /// `pass`, `block`, or `undecided` where the policy says so.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.0.verdict.name()
    }

    /// Why; a text marker gives none.
    #[getter]
    fn reason<'py>(&self, py: Python<'py>) -> PyResult<OptionalStr<'py>> {
        reason_of(py, self.0.reason.as_ref())
    }

    /// True where the reply itself says so.
    #[getter]
    fn parsed(&self) -> bool {
        self.0.state == State::Read
    }

    /// True where the reply contradicts or qualifies itself.
    #[getter]
    fn disputed(&self) -> bool {
        self.0.state == State::Disputed
    }

    /// `read`, `disputed` or `silent`.
    #[getter]
    fn state(&self) -> &'static str {
        self.0.state.name()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr("Verdict", &["verdict", "reason", "parsed", "disputed"], &Self::fields(slf)?)
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
        (this.verdict(), this.reason(slf.py())?, this.parsed(), this.disputed())
            .into_pyobject(slf.py())
    }
}

/// What a tournament judge's reply says.
#[pyclass(frozen, eq, module = "scoregate", name = "Winner", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(super) struct Winner(WinnerReading);

const WINNER_FIELDS: [&str; 6] = ["winner", "reason", "parsed", "disputed", "tie", "clamped"];

#[pymethods]
impl Winner {
    #[allow(clippy::unused_self)] // Python calls it on a result
    fn __bool__(&self) -> PyResult<bool> {
        no_truth_value("Winner", "winner")
    }

    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, WINNER_FIELDS)
    }

    #[new]
    #[allow(clippy::fn_params_excessive_bools)] // keywords in Python
    #[pyo3(signature = (winner, reason=None, parsed=true, disputed=false, tie=false, clamped=false))]
    fn new(
        winner: i64,
        reason: Option<Text>,
        parsed: bool,
        disputed: bool,
        tie: bool,
        clamped: bool,
    ) -> PyResult<Self> {
        if parsed && clamped {
            return Err(PyValueError::new_err("clamped: a clamped winner is not a parsed one"));
        }
        let winner = at_least_one("winner", winner)?;
        // A clamped winner was read, though nothing vouches for its number.
        let state = state_of(parsed || clamped, disputed)?;
        Ok(Winner(WinnerReading { winner, reason: bytes_of(reason), state, clamped, tie }))
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

    /// True where the reply itself names this winner, or a tie.
    #[getter]
    fn parsed(&self) -> bool {
        self.0.parsed()
    }

    /// True where the reply contradicts or qualifies itself.
    #[getter]
    fn disputed(&self) -> bool {
        self.0.state == State::Disputed
    }

    /// True where the reply says that none is better; the winner is 1 then.
    #[getter]
    fn tie(&self) -> bool {
        self.0.tie
    }

    /// True where the number was floored, or clamped to the variants that there are.
    #[getter]
    fn clamped(&self) -> bool {
        self.0.clamped
    }

    /// `read`, `disputed` or `silent`.
    #[getter]
    fn state(&self) -> &'static str {
        self.0.state.name()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr("Winner", &WINNER_FIELDS, &Self::fields(slf)?)
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
        let reason = this.reason(slf.py())?;
        (this.winner(), reason, this.parsed(), this.disputed(), this.tie(), this.clamped())
            .into_pyobject(slf.py())
    }
}

/// What a judge's reply says.
#[pyclass(frozen, eq, module = "scoregate", name = "JudgeVerdict", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(super) struct JudgeVerdict(JudgeReading);

const JUDGE_FIELDS: [&str; 6] = ["score", "verdict", "reason", "parsed", "disputed", "clamped"];

#[pymethods]
impl JudgeVerdict {
    #[allow(clippy::unused_self)] // Python calls it on a result
    fn __bool__(&self) -> PyResult<bool> {
        no_truth_value("JudgeVerdict", "verdict")
    }

    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, JUDGE_FIELDS)
    }

    #[new]
    #[pyo3(signature = (score, verdict, reason=None, parsed=true, disputed=false, clamped=false))]
    fn new(
        score: Option<f64>,
        verdict: &str,
        reason: Option<Text>,
        parsed: bool,
        disputed: bool,
        clamped: bool,
    ) -> PyResult<Self> {
        let verdict = verdict_named(verdict)?;
        let in_range = |score: f64| (0.0..=1.0).contains(&score);
        match score {
            None if verdict != result::Verdict::Undecided => {
                return Err(PyValueError::new_err("score: only an undecided reply has none"));
            }
            Some(score) if !in_range(score) => {
                let message = format!("score: must be in [0, 1], got {score}");
                return Err(PyValueError::new_err(message));
            }
            _ => {}
        }
        let (reason, state) = (bytes_of(reason), state_of(parsed, disputed)?);
        Ok(JudgeVerdict(JudgeReading { score, verdict, reason, state, clamped }))
    }

    /// The score, in [0, 1]; None where the reply is undecided.
    #[getter]
    fn score(&self) -> Option<f64> {
        self.0.score
    }

    /// `pass`, `block`, or `undecided` where the policy says so.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.0.verdict.name()
    }

    /// Why; text markers give none.
    #[getter]
    fn reason<'py>(&self, py: Python<'py>) -> PyResult<OptionalStr<'py>> {
        reason_of(py, self.0.reason.as_ref())
    }

    /// True where the reply itself says so.
    #[getter]
    fn parsed(&self) -> bool {
        self.0.state == State::Read
    }

    /// True where the reply contradicts or qualifies itself.
    #[getter]
    fn disputed(&self) -> bool {
        self.0.state == State::Disputed
    }

    /// True where the number was below the scale and counts as its end.
    #[getter]
    fn clamped(&self) -> bool {
        self.0.clamped
    }

    /// `read`, `disputed` or `silent`.
    #[getter]
    fn state(&self) -> &'static str {
        self.0.state.name()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr("JudgeVerdict", &JUDGE_FIELDS, &Self::fields(slf)?)
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
        let reason = this.reason(slf.py())?;
        (this.score(), this.verdict(), reason, this.parsed(), this.disputed(), this.clamped())
            .into_pyobject(slf.py())
    }
}

fn policy_named(name: &str) -> PyResult<OnUnparseable> {
    OnUnparseable::named(name).ok_or_else(|| {
        let known = OnUnparseable::NAMES.join("|");
        PyValueError::new_err(format!("on_unparseable: must be one of {known}, got {name:?}"))
    })
}

/// The names of the variants, one a variant; None where there are none.
fn labels_of(labels: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<String>>> {
    let Some(labels) = labels else { return Ok(None) };
    if labels.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("labels: expected a list of str, got one text"));
    }
    let mut names = Vec::new();
    for (index, label) in labels.try_iter()?.enumerate() {
        let label: String = label?.extract()?;
        if label.trim().is_empty() {
            return Err(PyValueError::new_err(format!("labels[{index}]: must not be blank")));
        }
        names.push(label.trim().to_owned());
    }
    Ok(Some(names))
}

fn check_labels(labels: Option<&Vec<String>>, count: u64) -> PyResult<()> {
    match labels {
        Some(labels) if labels.len() as u64 != count => {
            let message = format!("labels: {} labels for {count} variants", labels.len());
            Err(PyValueError::new_err(message))
        }
        _ => Ok(()),
    }
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
fn read_verdict(text: Option<&[u8]>, form: &core::ReplyForm, policy: OnUnparseable) -> Verdict {
    Verdict(match text {
        Some(text) => core::parse_verdict(text, form, policy),
        None => VerdictReading {
            verdict: result::Verdict::Block,
            reason: Some(missing()),
            state: State::Silent,
        },
    })
}

/// A missing reply names no winner.
fn read_winner(text: Option<&[u8]>, count: u64, labels: &[String]) -> Winner {
    Winner(core::parse_winner(text.unwrap_or_default(), count, labels))
}

/// A missing reply blocks.
fn read_judge(text: Option<&[u8]>, form: &core::ReplyForm, policy: OnUnparseable) -> JudgeVerdict {
    JudgeVerdict(match text {
        Some(text) => core::parse_judge(text, form, policy),
        None => JudgeReading {
            score: Some(0.0),
            verdict: result::Verdict::Block,
            reason: Some(missing()),
            state: State::Silent,
            clamped: false,
        },
    })
}

fn single<R: Send>(
    py: Python<'_>,
    text: Option<Text>,
    read: impl FnOnce(Option<&[u8]>) -> R + Send,
) -> R {
    let bytes = text.as_ref().map(AsRef::as_ref);
    super::gil::detached(py, bytes.map_or(0, <[u8]>::len), || read(bytes))
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
    let texts = Texts::of(texts)?;
    lengths(texts.len())?;
    let all = PyList::empty(py);
    let mut start = 0;
    while start < texts.len() {
        let slice = texts.read(start, (start + SLICE).min(texts.len()))?;
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
/// A block needs only to be said; a pass must be plain, last and undisputed. A reply without any
/// vote gives what `on_unparseable` says.
#[pyfunction]
#[pyo3(signature = (text, *, on_unparseable="pass", reply=None))]
pub(super) fn parse_verdict(
    py: Python<'_>,
    text: Option<Text>,
    on_unparseable: &str,
    reply: Option<&Bound<'_, PyAny>>,
) -> PyResult<Verdict> {
    let (policy, form) = (policy_named(on_unparseable)?, form_of(reply)?);
    Ok(single(py, text, |text| read_verdict(text, &form, policy)))
}

/// Reads a tournament judge's reply: which of `count` variants wins, from 1, or that none does.
///
/// A reply that names none gives variant 1 with a reason.
#[pyfunction]
#[pyo3(signature = (text, count, *, labels=None))]
pub(super) fn parse_winner(
    py: Python<'_>,
    text: Option<Text>,
    count: i64,
    labels: Option<&Bound<'_, PyAny>>,
) -> PyResult<Winner> {
    let (count, labels) = (at_least_one("count", count)?, labels_of(labels)?);
    check_labels(labels.as_ref(), count)?;
    Ok(single(py, text, |text| read_winner(text, count, labels.as_deref().unwrap_or_default())))
}

/// Reads a judge's reply: a score, a verdict, or both.
///
/// A block needs only to be said; a pass must be plain, last and undisputed. A reply without any
/// vote gives what `on_unparseable` says.
#[pyfunction]
#[pyo3(signature = (text, *, on_unparseable="pass", reply=None))]
pub(super) fn parse_judge(
    py: Python<'_>,
    text: Option<Text>,
    on_unparseable: &str,
    reply: Option<&Bound<'_, PyAny>>,
) -> PyResult<JudgeVerdict> {
    let (policy, form) = (policy_named(on_unparseable)?, form_of(reply)?);
    Ok(single(py, text, |text| read_judge(text, &form, policy)))
}

/// Reads many gate replies, on several threads and without the GIL.
#[pyfunction]
#[pyo3(signature = (texts, *, on_unparseable="pass", reply=None, threads=None))]
pub(super) fn parse_verdict_batch<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    on_unparseable: &str,
    reply: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let (policy, form) = (policy_named(on_unparseable)?, form_of(reply)?);
    batch(py, texts, threads, |_| Ok(()), |_, text| read_verdict(text, &form, policy))
}

/// Reads many tournament replies, on several threads and without the GIL.
///
/// `count` is one number for all texts, or one a text.
#[pyfunction]
#[pyo3(signature = (texts, count, *, labels=None, threads=None))]
pub(super) fn parse_winner_batch<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    count: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let labels = labels_of(labels)?;
    let names = labels.as_deref().unwrap_or_default();
    if let Ok(count) = count.extract::<i64>() {
        let count = at_least_one("count", count)?;
        check_labels(labels.as_ref(), count)?;
        return batch(py, texts, threads, |_| Ok(()), |_, text| read_winner(text, count, names));
    }
    let mut counts = Vec::new();
    for (index, count) in count.try_iter()?.enumerate() {
        if index % SLICE == 0 {
            py.check_signals()?;
        }
        counts.push(at_least_one(&format!("count[{index}]"), count?.extract()?)?);
        check_labels(labels.as_ref(), counts[index])?;
    }
    let lengths = |texts: usize| {
        if texts == counts.len() {
            return Ok(());
        }
        let message = format!("count: {} counts for {texts} texts", counts.len());
        Err(PyValueError::new_err(message))
    };
    batch(py, texts, threads, lengths, |row, text| read_winner(text, counts[row], names))
}

/// Reads many judge replies, on several threads and without the GIL.
#[pyfunction]
#[pyo3(signature = (texts, *, on_unparseable="pass", reply=None, threads=None))]
pub(super) fn parse_judge_batch<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    on_unparseable: &str,
    reply: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let (policy, form) = (policy_named(on_unparseable)?, form_of(reply)?);
    batch(py, texts, threads, |_| Ok(()), |_, text| read_judge(text, &form, policy))
}
