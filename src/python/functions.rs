//! The functions of the module: one scorer, combinations, shapes.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::error::{issues, spec_error};
use super::results::{Combination, ScorerResult};
use super::text::Text;
use super::value::{List, from_python};
use crate::contract;
use crate::error::{IssueKind, Path};
use crate::gate::{self, Mode};
use crate::result::Outcome;
use crate::row::Row;
use crate::scorers::{REGISTRY, code_compiles};
use crate::target::Target;
use crate::text::to_utf8;

/// Scores one text with one scorer, whose shape is not checked.
#[pyfunction]
#[pyo3(signature = (spec, text, *, row=None, index=0))]
pub(super) fn evaluate_scorer(
    py: Python<'_>,
    spec: &Bound<'_, PyAny>,
    text: Text,
    row: Option<&Bound<'_, PyAny>>,
    index: usize,
) -> PyResult<ScorerResult> {
    let given = spec;
    let spec = from_python(given, "spec")?;
    if !spec.is_object() {
        let name = given.get_type().name()?;
        return Err(PyTypeError::new_err(format!("spec: expected a mapping, got {name}")));
    }
    let row = row_of(row)?;
    let result = super::gil::detached(py, text.as_ref().len(), || {
        gate::evaluate_scorer(&spec, index, &Target::from_wtf8(text.as_ref()), &row)
    });
    Ok(ScorerResult(result))
}

/// A language and code in it.
type Piece = (String, String);

/// What of a text a `code-compiles` scorer compiles, as (language, code), or else why nothing is.
#[pyfunction]
pub(super) fn what_to_compile(
    spec: &Bound<'_, PyAny>,
    text: Text,
) -> PyResult<(Vec<Piece>, Option<String>)> {
    let found = code_compiles::what_to_compile(&from_python(spec, "spec")?, text.as_ref());
    let pair = |snippet: code_compiles::Snippet| (snippet.language, snippet.code);
    Ok(match found {
        Ok(snippets) => (snippets.into_iter().map(pair).collect(), None),
        Err(detail) => (Vec::new(), Some(detail.into_owned())),
    })
}

/// The row of a mapping; none has no fields.
pub(super) fn row_of(row: Option<&Bound<'_, PyAny>>) -> PyResult<Row<'static>> {
    match row {
        Some(row) if !row.is_none() => {
            let value = from_python(row, "row")?;
            if !value.is_object() {
                let name = row.get_type().name()?;
                return Err(PyTypeError::new_err(format!("row: expected a mapping, got {name}")));
            }
            Ok(Row::from_value(&value))
        }
        _ => Ok(Row::empty()),
    }
}

fn outcomes(results: &[Bound<'_, ScorerResult>]) -> Vec<Outcome<'static>> {
    results.iter().map(|result| result.get().0.outcome.clone()).collect()
}

/// Combines results into one score in [0, 1], and says whether it passes.
///
/// `combine` is `all`, `any` or `weighted`, which passes at a combined score of `threshold`. Fewer
/// `weights` than results count as all 1. A judge that has not run counts with score 0 and weight
/// `judge_weight`. No results: combined 0, not passed.
#[pyfunction]
#[pyo3(signature = (results, combine="all", *, weights=None, threshold=0.5, judge_weight=0.0))]
pub(super) fn combine_scores(
    results: List<Bound<'_, ScorerResult>>,
    combine: &str,
    weights: Option<List<f64>>,
    threshold: f64,
    judge_weight: f64,
) -> PyResult<Combination> {
    let Some(mode) = Mode::named(combine.as_bytes()) else {
        return Err(PyValueError::new_err("combine: must be one of all|any|weighted"));
    };
    let weights = weights.as_ref().map(|weights| &weights.0[..]);
    Ok(gate::combine_scores(&outcomes(&results.0), mode, weights, threshold, judge_weight).into())
}

/// Folds a judge's score, clamped to [0, 1], into the weighted combination.
///
/// The last of N+1 weights is the judge's; any other number of weights counts as all 1.
#[pyfunction]
pub(super) fn combine_with_judge(
    results: List<Bound<'_, ScorerResult>>,
    weights: List<f64>,
    threshold: f64,
    judge_score: f64,
) -> Combination {
    gate::combine_with_judge(&outcomes(&results.0), &weights.0, threshold, judge_score).into()
}

/// The report that a judge reads; the combined score with three decimals.
#[pyfunction]
#[pyo3(signature = (results, combined, *, threshold=None))]
pub(super) fn format_report(
    results: List<Bound<'_, ScorerResult>>,
    combined: f64,
    threshold: Option<f64>,
) -> String {
    let results: Vec<_> = results.0.iter().map(|result| result.get().0.clone()).collect();
    gate::format_report(&results, combined, threshold)
}

/// Every shape error of a score block, in order, each as `path: what is wrong`.
#[pyfunction]
#[pyo3(signature = (block, path="score"))]
pub(super) fn score_shape_errors(block: &Bound<'_, PyAny>, path: &str) -> PyResult<Vec<String>> {
    Ok(gate::score_shape_errors(&from_python(block, path)?, path))
}

/// Every shape error of a five-keyword contract, in order, each as `path: what is wrong`.
#[pyfunction]
#[pyo3(signature = (schema, path="expect"))]
pub(super) fn contract_shape_errors(
    schema: &Bound<'_, PyAny>,
    path: &str,
) -> PyResult<Vec<String>> {
    Ok(contract::contract_shape_errors(&from_python(schema, path)?, path))
}

/// What a value breaks of a five-keyword contract, as `path: message`, at most 8.
///
/// Malformed parts of the contract claim nothing.
#[pyfunction]
#[pyo3(signature = (value, schema, path="$"))]
pub(super) fn contract_violations(
    value: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    path: &str,
) -> PyResult<Vec<String>> {
    let schema = from_python(schema, "schema")?;
    Ok(contract::contract_violations(&from_python(value, path)?, &schema, path))
}

/// The JSON Schema (draft 2020-12) of a score block, as JSON text.
#[pyfunction]
pub(super) fn gate_schema() -> String {
    gate::gate_schema()
}

/// What an author should know of keys that stand twice in one object of a JSON text, as data.
#[pyfunction]
pub(super) fn repeated_keys(py: Python<'_>, text: Text) -> PyResult<Vec<Bound<'_, PyAny>>> {
    issues(py, &gate::repeated_keys(text.as_ref()))
}

/// The JSON text of a gate file without comments and last commas.
///
/// Raises `SpecError` where it is not JSON.
#[pyfunction]
pub(super) fn strict_json(py: Python<'_>, text: Text) -> PyResult<String> {
    let strict = gate::strict_json(text.as_ref()).map_err(|error| spec_error(py, &error))?;
    Ok(to_utf8(&strict).into_owned())
}

/// A step into a value from Python: a key or an index.
#[derive(FromPyObject)]
pub(super) enum PathStep {
    Index(usize),
    Key(String),
}

/// Where values stand in a JSON text (comments and last commas are fine): line and column, from 1.
///
/// Each path is the steps from the root, and whether its key is meant in place of its value. What
/// is absent stands at the value around it.
#[pyfunction]
pub(super) fn json_places(
    text: Text,
    paths: Vec<(Vec<PathStep>, bool)>,
) -> Vec<Option<(usize, usize)>> {
    let path = |steps: Vec<PathStep>| {
        steps.into_iter().fold(Path::root(""), |path, step| match step {
            PathStep::Index(index) => path.index(index),
            PathStep::Key(key) => path.key(key),
        })
    };
    let paths = paths.into_iter().map(|(steps, of_key)| (path(steps), of_key)).collect();
    gate::places(text.as_ref(), paths)
}

/// The one known name that is nearest to a misspelt one.
#[pyfunction]
pub(super) fn nearest_name(name: &str, known: Vec<String>) -> Option<String> {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    crate::hints::nearest(name, &known).map(str::to_owned)
}

/// The kinds of issues: name and meaning.
#[pyfunction]
pub(super) fn issue_kinds() -> Vec<(&'static str, &'static str)> {
    IssueKind::ALL.iter().map(|kind| (kind.name(), kind.doc())).collect()
}

/// The registry: a dict a type, with name, summary, fields, example and impure.
#[pyfunction]
pub(super) fn scorer_table(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |entry: &'static crate::scorers::Entry| {
        let dict = PyDict::new(py);
        dict.set_item("type", entry.name)?;
        dict.set_item("summary", entry.summary)?;
        dict.set_item("example", entry.example)?;
        dict.set_item("passes", entry.passes)?;
        dict.set_item("fails", entry.fails)?;
        dict.set_item("impure", entry.impure)?;
        let field = |f: &crate::field::Field| {
            let dict = PyDict::new(py);
            dict.set_item("name", f.name)?;
            dict.set_item("schema", f.shape.schema())?;
            dict.set_item("values", f.shape.words())?;
            dict.set_item("default", f.shape.default())?;
            dict.set_item("doc", f.doc)?;
            Ok::<_, PyErr>(dict)
        };
        let fields = entry.fields.iter().map(field).collect::<PyResult<Vec<_>>>()?;
        dict.set_item("fields", fields)?;
        Ok(dict)
    };
    REGISTRY.iter().map(row).collect()
}
