//! The extension module `scoregate._native`: the only folder that knows Python.

// PyO3 hands extracted arguments over by value, and `__reduce__` may fail in some classes.
#![allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]

mod arrow;
mod batch;
mod error;
mod functions;
mod gate;
mod gil;
mod grammar;
mod input;
mod json;
mod lines;
mod regex;
mod results;
mod table;
mod template;
mod text;
mod value;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::batch::BatchResult;
    #[pymodule_export]
    use super::functions::{
        combine_scores, combine_with_judge, contract_shape_errors, contract_violations,
        evaluate_scorer, format_report, gate_schema, issue_kinds, json_places, nearest_name,
        repeated_keys, score_shape_errors, scorer_table, strict_json, what_to_compile,
    };
    #[pymodule_export]
    use super::gate::Gate;
    #[pymodule_export]
    use super::grammar::{
        JudgeVerdict, ReplyForm, Verdict, Winner, parse_judge, parse_judge_batch, parse_verdict,
        parse_verdict_batch, parse_winner, parse_winner_batch,
    };
    #[pymodule_export]
    use super::input::{iter_texts, list_texts};
    #[pymodule_export]
    use super::json::{
        Diagnostic, JSONResult, JSONStream, coerce_json, extract_json, extract_json_batch,
        json_codes, parse_json, schema_violations, single_document,
    };
    #[pymodule_export]
    use super::lines::LineScorer;
    #[pymodule_export]
    use super::regex::JsRegex;
    #[pymodule_export]
    use super::results::{Combination, GateResult, ScorerResult};
    #[pymodule_export]
    use super::table::ArrowSchema;
    #[pymodule_export]
    use super::template::{
        Condition, Context, Interpolation, evaluate_condition, interpolate, references,
    };

    #[pymodule_export]
    const BUILD_PROFILE: &str = if cfg!(debug_assertions) { "debug" } else { "release" };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::batch::note_process();
        super::error::import(module.py());
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
