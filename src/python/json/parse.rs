//! `parse_json` and `extract_json`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use super::super::error::JSONNotFoundError;
use super::super::gil::detached;
use super::super::value::from_python;
use super::build::{Failure, build};
use super::input::Input;
use super::keys::Keys;
use super::result::{Diagnostic, JSONResult, diagnostics, failure};
use super::schemas::schema_of;
use crate::contract;
use crate::json::{
    self, Candidates, Code, Diagnostic as Core, Document, ErrorKind, MAX_DEPTH, Other,
    RepairErrorKind, RepairOptions, Severity, Value,
};

/// Why a text gave no value, as a code and a message.
const ERRORS: &[(&str, &str)] = &[
    ("no_json", "the text holds no JSON"),
    ("too_deep", "arrays and objects nest deeper than max_depth"),
    ("too_long", "the text is longer than 4 GiB"),
    ("too_many_steps", "the repair would take more steps than the length of the text allows"),
    ("above_max_severity", "a repair is above max_severity"),
    ("integer_too_long", "an integer has more digits than Python reads (4,300 unless set)"),
    ("not_utf8", "bytes that are not UTF-8"),
    ("model_refused", "the value does not fit the model"),
];

/// Every code: name, severity (`error` where there is no value), message.
#[pyfunction]
pub(in super::super) fn json_codes() -> Vec<(&'static str, &'static str, &'static str)> {
    let repairs = Code::ALL.iter().map(|c| (c.name(), c.severity().name(), c.message()));
    repairs.chain(ERRORS.iter().map(|&(name, message)| (name, "error", message))).collect()
}

/// What the strict or the repair tier found, before Python values.
struct Found<'t> {
    document: Document<'t>,
    diagnostics: Vec<(Core, Option<String>)>,
    span: (usize, usize),
    source: json::Source,
    others: Vec<Other<'t>>,
}

/// Why it found nothing: a code, a message, a place, and the repairs up to there.
struct Missed {
    code: &'static str,
    message: String,
    at: usize,
    diagnostics: Vec<(Core, Option<String>)>,
}

struct Options {
    repair: bool,
    core: RepairOptions,
}

/// The JSON that a text was meant to hold, and all that was done to get it.
///
/// A text that holds none is a result whose `ok` is False, never an exception. `schema` guides how
/// values are read; whether the value fits is not checked. `model` is a pydantic model: its schema
/// guides, and the value is an instance of it.
#[pyfunction]
#[pyo3(signature = (text, *, mode="repair", candidates="best", max_depth=512, max_severity=None, partial=false, schema=None, model=None))]
#[allow(clippy::too_many_arguments)] // the options
pub(in super::super) fn parse_json(
    py: Python<'_>,
    text: &Bound<'_, PyAny>,
    mode: &str,
    candidates: &str,
    max_depth: i64,
    max_severity: Option<&str>,
    partial: bool,
    schema: Option<&Bound<'_, PyAny>>,
    model: Option<&Bound<'_, PyAny>>,
) -> PyResult<JSONResult> {
    let schema = match (schema, model) {
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err("model: cannot be used together with schema"));
        }
        (Some(schema), None) => Some(schema_of(schema)?),
        (None, Some(model)) if model.hasattr(intern!(py, "model_validate_json"))? => {
            Some(schema_of(model)?)
        }
        (None, Some(_)) => return Err(PyTypeError::new_err("model: expected a pydantic model")),
        (None, None) => None,
    };
    let options = options(mode, candidates, max_depth, max_severity, partial, schema.is_some())?;
    let input = Input::of(text, "text")?;
    let schema = schema.as_ref().map(|known| &known.value);
    let found = detached(py, input.as_ref().len(), || find(&input, &options, schema));
    match found {
        Ok(found) => {
            let (text, start) = (model.map(|_| found.document.to_json()), found.span.0);
            let mut result = Keys::with(|keys| result(py, &input, found, &options, keys))?;
            if let (true, Some(model), Some(text)) = (result.ok, model, text) {
                match model.call_method1(intern!(py, "model_validate_json"), (text,)) {
                    Ok(instance) => result.value = instance.unbind(),
                    // What the model does not want is the text's fault.
                    Err(error) if error.is_instance_of::<PyValueError>(py) => {
                        let message = error.value(py).str()?.to_string_lossy().into_owned();
                        let why = failure("model_refused", message, start, &mut input.places());
                        result.refuse(py, why);
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(result)
        }
        Err(missed) => Ok(no_result(py, &input, missed)),
    }
}

fn options(
    mode: &str,
    candidates: &str,
    max_depth: i64,
    max_severity: Option<&str>,
    partial: bool,
    schema: bool,
) -> PyResult<Options> {
    let wrong = |message: &str| Err(PyValueError::new_err(message.to_owned()));
    let repair = match mode {
        "repair" => true,
        "strict" => false,
        _ => return wrong("mode: must be one of repair|strict"),
    };
    let candidates = match candidates {
        "best" => Candidates::Best,
        "all" => Candidates::All,
        _ => return wrong("candidates: must be one of best|all"),
    };
    let max_severity = match max_severity.map(|name| (name, Severity::from_name(name))) {
        None => None,
        Some((_, Some(severity))) => Some(severity),
        Some(_) => return wrong("max_severity: must be one of lossless|guess|lossy"),
    };
    if !repair && candidates == Candidates::All {
        return wrong("candidates: all needs mode repair");
    }
    if !repair && partial {
        return wrong("partial: needs mode repair");
    }
    let Some(max_depth) = usize::try_from(max_depth).ok().filter(|&depth| depth > 0) else {
        return wrong("max_depth: must be at least 1");
    };
    // Reading a schema's types recurses.
    let max_depth = if schema { max_depth.min(MAX_DEPTH) } else { max_depth };
    // Repeated keys show themselves where a dict is shorter than its object; only a limit needs
    // them before.
    let duplicates = max_severity.is_some_and(|max| max < Severity::Lossy);
    Ok(Options {
        repair,
        core: RepairOptions { max_depth, candidates, max_severity, partial, duplicates },
    })
}

fn find<'t>(
    input: &'t Input,
    options: &Options,
    schema: Option<&Value>,
) -> Result<Found<'t>, Missed> {
    let text = input.as_ref();
    if let Some(at) = input.fault {
        let message = "not UTF-8".to_owned();
        return Err(Missed { code: "not_utf8", message, at, diagnostics: Vec::new() });
    }
    let mut found = if options.repair { repaired(text, options)? } else { strict(text, options)? };
    if let Some(schema) = schema {
        coerce(&mut found, schema, options.core.max_severity)?;
    }
    Ok(found)
}

fn strict<'t>(text: &'t [u8], options: &Options) -> Result<Found<'t>, Missed> {
    let max_depth = options.core.max_depth;
    let Some(found) = json::extract_within(text, max_depth) else {
        let (start, end) = crate::text::trim_js_span(text);
        let missed = |code, message, at| Missed { code, message, at, diagnostics: Vec::new() };
        return Err(match json::parse_within(text, start, end, max_depth) {
            Err(error) if error.kind == ErrorKind::TooDeep => {
                missed("too_deep", format!("nested deeper than {max_depth} levels"), error.offset)
            }
            Err(error) if start < end => {
                missed("no_json", format!("no JSON found: {}", error.kind), error.offset)
            }
            _ => missed("no_json", "no JSON found: the text is empty".to_owned(), start),
        });
    };
    let mut diagnostics = Vec::new();
    if options.core.duplicates {
        diagnostics.extend(json::duplicate_keys(&found.document).into_iter().map(|d| (d, None)));
        if let (Some((first, _)), Some(max)) = (diagnostics.first(), options.core.max_severity)
            && first.severity > max
        {
            return Err(above(*first, diagnostics));
        }
    }
    let (span, source) = (found.span, found.source);
    Ok(Found { document: found.document, diagnostics, span, source, others: Vec::new() })
}

fn repaired<'t>(text: &'t [u8], options: &Options) -> Result<Found<'t>, Missed> {
    let repaired = json::repair(text, &options.core);
    let diagnostics = repaired.diagnostics.into_iter().map(|d| (d, None)).collect();
    match repaired.result {
        Ok(document) => Ok(Found {
            document,
            diagnostics,
            span: repaired.span,
            source: repaired.source,
            others: repaired.others,
        }),
        Err(error) => {
            let code = match error.kind {
                RepairErrorKind::NoJson => "no_json",
                RepairErrorKind::TooDeep(_) => "too_deep",
                RepairErrorKind::TooLong => "too_long",
                RepairErrorKind::Budget => "too_many_steps",
                RepairErrorKind::Severity(_) => "above_max_severity",
            };
            let message = error.kind.to_string();
            Err(Missed { code, message, at: error.offset, diagnostics })
        }
    }
}

fn coerce(found: &mut Found<'_>, schema: &Value, max: Option<Severity>) -> Result<(), Missed> {
    let coerced = crate::contract::coerce(&found.document, schema);
    if coerced.changes.is_empty() {
        return Ok(());
    }
    let worst = coerced.changes.iter().map(|c| c.diagnostic).max_by_key(|d| d.severity);
    let changes = coerced.changes.into_iter().map(|c| (c.diagnostic, Some(c.path)));
    // A repeated key is not seen in the new value.
    found.diagnostics.extend(json::duplicate_keys(&found.document).into_iter().map(|d| (d, None)));
    found.diagnostics.extend(changes);
    if let (Some(worst), Some(max)) = (worst, max)
        && worst.severity > max
    {
        return Err(above(worst, std::mem::take(&mut found.diagnostics)));
    }
    found.document = Document::from_value(&coerced.value);
    Ok(())
}

fn above(found: Core, diagnostics: Vec<(Core, Option<String>)>) -> Missed {
    let message = RepairErrorKind::Severity(found.code).to_string();
    Missed { code: "above_max_severity", message, at: found.start, diagnostics }
}

fn result(
    py: Python<'_>,
    input: &Input,
    found: Found<'_>,
    options: &Options,
    keys: &mut Keys,
) -> PyResult<JSONResult> {
    let Found { document, diagnostics: mut list, span, source, others } = found;
    let built = match build(py, &document, keys) {
        Ok(built) => built,
        Err(Failure::Python(error)) => return Err(error),
        Err(Failure::Integer(at)) => {
            return Ok(no_result(py, input, long_integer(at, list)));
        }
    };
    if built.repeated && !options.core.duplicates {
        list.extend(json::duplicate_keys(&document).into_iter().map(|d| (d, None)));
    }
    let text = input.as_ref();
    let mut places = input.places();
    let list = if list.is_empty() { Vec::new() } else { diagnostics(list, text, &mut places) };
    let mut shown = Vec::with_capacity(others.len());
    // They are in order, so that their places are counted once.
    let mut starts = input.places();
    for other in others {
        let Ok(value) = build(py, &other.document, keys) else { continue };
        let (start, end) = other.span;
        let span = (starts.of(start).offset, starts.of(end).offset);
        let source = if other.reasoning { "reasoning" } else { other.source.name() };
        let other = JSONResult {
            value: value.value.unbind(),
            ok: true,
            diagnostics: Vec::new(),
            span: Some(span),
            source: Some(source.into()),
            others: Vec::new(),
        };
        shown.push(Py::new(py, other)?);
    }
    Ok(JSONResult {
        value: built.value.unbind(),
        ok: true,
        diagnostics: list,
        span: Some(input.span(span)),
        source: Some(source.name().into()),
        others: shown,
    })
}

fn long_integer(at: usize, diagnostics: Vec<(Core, Option<String>)>) -> Missed {
    let message = "an integer has more digits than Python reads".to_owned();
    Missed { code: "integer_too_long", message, at, diagnostics }
}

fn no_result(py: Python<'_>, input: &Input, missed: Missed) -> JSONResult {
    let mut list: Vec<Diagnostic> =
        diagnostics(missed.diagnostics, input.as_ref(), &mut input.places());
    list.push(failure(missed.code, missed.message, missed.at, &mut input.places()));
    JSONResult {
        value: py.None(),
        ok: false,
        diagnostics: list,
        span: None,
        source: None,
        others: Vec::new(),
    }
}

/// The JSON value that a text holds; `default`, or `JSONNotFoundError`, where there is none.
#[pyfunction]
#[pyo3(signature = (text, default=None, *, repair=false, has_default=false))]
pub(in super::super) fn extract_json<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    default: Option<Bound<'py, PyAny>>,
    repair: bool,
    has_default: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let input = Input::of(text, "text")?;
    let core = RepairOptions { duplicates: false, ..RepairOptions::default() };
    let options = Options { repair, core };
    let missed = match detached(py, input.as_ref().len(), || find(&input, &options, None)) {
        Ok(found) => match Keys::with(|keys| build(py, &found.document, keys)) {
            Ok(built) => return Ok(built.value),
            Err(Failure::Python(error)) => return Err(error),
            Err(Failure::Integer(at)) => long_integer(at, Vec::new()),
        },
        Err(missed) => missed,
    };
    if has_default {
        return Ok(default.unwrap_or_else(|| py.None().into_bound(py)));
    }
    let offset = input.places().of(missed.at).offset;
    Err(JSONNotFoundError::new_err((missed.message, offset)))
}

/// The value of a text that holds one document.
///
/// `otherwise` where it holds none, several with prose between them, or one that is refused.
#[pyfunction]
pub(in super::super) fn single_document<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    otherwise: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let input = Input::of(text, "text")?;
    let core = RepairOptions { duplicates: false, ..RepairOptions::default() };
    let options = Options { repair: true, core };
    let found = detached(py, input.as_ref().len(), || find(&input, &options, None));
    let several = |found: &Found<'_>| {
        found.diagnostics.iter().any(|(found, _)| found.code == Code::OtherCandidate)
    };
    let Some(found) = found.ok().filter(|found| !several(found)) else { return Ok(otherwise) };
    match Keys::with(|keys| build(py, &found.document, keys)) {
        Ok(built) => Ok(built.value),
        Err(Failure::Python(error)) => Err(error),
        Err(Failure::Integer(_)) => Ok(otherwise),
    }
}

/// What a value breaks of a contract or a JSON Schema.
#[pyfunction]
pub(in super::super) fn schema_violations(
    value: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
) -> PyResult<Vec<String>> {
    let schema = schema_of(schema)?;
    let value = Document::from_value(&from_python(value, "value")?);
    Ok(schema.built.violations(value.root()))
}

/// A code, its severity, a place in a value, a message.
type Change = (&'static str, &'static str, String, &'static str);

/// The value of a JSON text brought to what a schema asks for, and what was changed. With
/// `salvage` what does not fit is dropped, and what is missing made up, where that may be.
#[pyfunction]
#[pyo3(signature = (text, schema, *, salvage=false))]
pub(in super::super) fn coerce_json<'py>(
    py: Python<'py>,
    text: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    salvage: bool,
) -> PyResult<(Bound<'py, PyAny>, Vec<Change>)> {
    let schema = schema_of(schema)?;
    let text = Input::of(text, "text")?;
    let document = json::repair(text.as_ref(), &RepairOptions::default()).result;
    let document = document.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let bring = if salvage { contract::salvage } else { contract::coerce };
    let coerced = bring(&document, &schema.value);
    let changes = coerced.changes.into_iter().map(|change| {
        let found = change.diagnostic;
        (found.code.name(), found.severity.name(), change.path, found.message())
    });
    let document = Document::from_value(&coerced.value);
    match Keys::with(|keys| build(py, &document, keys)) {
        Ok(built) => Ok((built.value, changes.collect())),
        Err(Failure::Python(error)) => Err(error),
        Err(Failure::Integer(_)) => Err(PyValueError::new_err("text: an integer is too long")),
    }
}
