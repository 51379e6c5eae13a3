//! The score block: its shape errors and its JSON Schema.

use super::combine::{MODES, Mode};
use crate::error::{IssueKind, Issues, Path, SpecIssue};
use crate::grammar::{OnUnparseable, reply_issues};
use crate::hints;
use crate::json::Value;
use crate::scorers::{self, REGISTRY};
use crate::text::trim_js;

const KEYWORDS: [&str; 6] = ["target", "scorers", "combine", "weights", "threshold", "judge"];
/// Keys that say something to people and editors, and nothing to the gate.
const ANNOTATIONS: [&str; 4] = ["$schema", "$comment", "name", "description"];
const JUDGE_KEYWORDS: [&str; 6] = ["task", "agent", "when", "onUnparseable", "reply", "fields"];

/// Every shape error of a score block, in order: target, scorers, combine with weights and
/// threshold, judge, unknown keys. None when the block is valid.
pub fn score_shape_errors(block: &Value, path: &str) -> Vec<String> {
    score_issues(block, path).iter().map(SpecIssue::to_string).collect()
}

/// The shape errors of a score block as data.
pub fn score_issues(block: &Value, path: &str) -> Vec<SpecIssue> {
    let mut issues = Issues::new();
    block_errors(block, &Path::root(path), &mut issues);
    issues.into_list()
}

fn block_errors(block: &Value, path: &Path, issues: &mut Issues) {
    if !block.is_object() {
        let message = "must be an object ({scorers: [...], combine?, threshold?, judge?})";
        let hint = || {
            let array = !block.elements().is_empty();
            array.then(|| "a list of scorers stands under a key: {\"scorers\": [...]}".to_owned())
        };
        issues.add_hinted(IssueKind::WrongType, path.clone(), message, hint);
        return;
    }
    if block.get("target").is_some_and(|target| target.as_bytes().is_none()) {
        let message = "must be a string interpolation ref (e.g. \"{steps.gen.output}\")";
        issues.add(IssueKind::WrongType, path.key("target"), message);
    }
    let count = match block.get("scorers") {
        Some(Value::Array(scorers)) if !scorers.is_empty() => scorers.len(),
        given => {
            let message = "must be a non-empty array of scorers";
            let kind = match given {
                None => IssueKind::Missing,
                Some(Value::Array(_)) => IssueKind::WrongValue,
                Some(_) => IssueKind::WrongType,
            };
            let known: Vec<&str> = KEYWORDS.into_iter().chain(ANNOTATIONS).collect();
            let hint = || hints::missing_scorers(block, &known, &types());
            issues.add_hinted(kind, path.key("scorers"), message, hint);
            return;
        }
    };
    scorers_errors(block, path, issues);
    combine_errors(block, path, count, issues);
    if let Some(judge) = block.get("judge") {
        judge_errors(judge, &path.key("judge"), issues);
    }
    for (key, _) in block.members() {
        let known = |names: &[&str]| names.iter().any(|name| name.as_bytes() == key);
        if !known(&KEYWORDS) && !known(&ANNOTATIONS) {
            let message = format!("unknown score keyword (supported: {})", KEYWORDS.join(", "));
            let hint = || hints::block_key(key, &KEYWORDS);
            issues.add_hinted(IssueKind::UnknownKey, path.key(key), message, hint);
        }
    }
}

fn types() -> Vec<&'static str> {
    REGISTRY.iter().map(|entry| entry.name).collect()
}

fn scorers_errors(block: &Value, path: &Path, issues: &mut Issues) {
    let scorers = block.get("scorers").map(Value::elements).unwrap_or_default();
    for (i, scorer) in scorers.iter().enumerate() {
        let path = path.key("scorers").index(i);
        if !scorer.is_object() {
            issues.add(IssueKind::WrongType, path, "must be an object with a 'type'");
            continue;
        }
        let kind = scorer.get("type");
        match kind.and_then(Value::as_bytes).and_then(scorers::entry) {
            Some(entry) => entry.check(scorer, &path, issues),
            None => {
                let names = types();
                let message = format!("must be one of {}", names.join("|"));
                let what = match kind {
                    None => IssueKind::Missing,
                    Some(Value::String(_)) => IssueKind::UnknownType,
                    Some(_) => IssueKind::WrongType,
                };
                let hint = || hints::scorer_type(kind?, scorer, &names);
                issues.add_hinted(what, path.key("type"), message, hint);
            }
        }
    }
}

fn combine_errors(block: &Value, path: &Path, count: usize, issues: &mut Issues) {
    let given = block.get("combine");
    let mode = Mode::read(given);
    if mode.is_none() {
        let names = MODES.map(|(name, _)| name);
        let message = format!("must be one of {}", names.join("|"));
        let hint = || hints::value(given?, &names);
        issues.add_hinted(IssueKind::WrongValue, path.key("combine"), message, hint);
    }
    if mode != Some(Mode::Weighted) {
        for key in ["weights", "threshold"] {
            if block.get(key).is_some() {
                let message = "only valid with combine:\"weighted\"";
                issues.add(IssueKind::Conflict, path.key(key), message);
            }
        }
        return;
    }
    weights_errors(block, &path.key("weights"), count, issues);
    let in_range = |t: f64| t > 0.0 && t <= 1.0;
    if let Some(given) = block.get("threshold").filter(|t| !t.as_f64().is_some_and(in_range)) {
        let number = given.as_f64().is_some();
        let kind = if number { IssueKind::WrongValue } else { IssueKind::WrongType };
        let message = "must be a number in (0, 1]";
        issues.add_hinted(kind, path.key("threshold"), message, || hints::share(given));
    }
}

fn weights_errors(block: &Value, path: &Path, count: usize, issues: &mut Issues) {
    let judge = block.get("judge").is_some_and(Value::is_object);
    let wanted = count + usize::from(judge);
    let weights = match block.get("weights") {
        Some(Value::Array(weights)) => weights,
        given => {
            let last = if judge { " — last one is the judge's weight" } else { "" };
            let message =
                format!("required array for combine:\"weighted\" ({wanted} entries{last})");
            let kind = if given.is_none() { IssueKind::Missing } else { IssueKind::WrongType };
            let object = given.is_some_and(Value::is_object);
            let hint = || object.then(|| "an array, in the order of the scorers".to_owned());
            issues.add_hinted(kind, path.clone(), message, hint);
            return;
        }
    };
    // With a judge, N weights leave the combination to the scorers alone.
    if weights.len() != wanted && !(judge && weights.len() == count) {
        let parts = if judge { "scorers + judge" } else { "scorers" };
        let message = format!("expected {wanted} entries ({parts}), got {}", weights.len());
        issues.add(IssueKind::Conflict, path.clone(), message);
    }
    for (i, weight) in weights.iter().enumerate() {
        if !weight.as_f64().is_some_and(|w| w.is_finite() && w > 0.0) {
            let number = weight.as_f64().is_some();
            let kind = if number { IssueKind::WrongValue } else { IssueKind::WrongType };
            let hint = || hints::other_type(weight);
            issues.add_hinted(kind, path.index(i), "must be a number > 0", hint);
        }
    }
}

fn judge_errors(judge: &Value, path: &Path, issues: &mut Issues) {
    if !judge.is_object() {
        let hint = || {
            let text = judge.as_str().map(|text| crate::json::quote(text.as_bytes()));
            text.filter(|text| text.len() < 80).map(|text| format!("{{\"task\": {text}}}"))
        };
        let message = "must be an object ({agent?, task})";
        issues.add_hinted(IssueKind::WrongType, path.clone(), message, hint);
        return;
    }
    let text = |key: &str| judge.get(key).map(Value::as_bytes);
    if text("task").flatten().is_none_or(|task| trim_js(task).is_empty()) {
        let kind =
            if text("task") == Some(None) { IssueKind::WrongType } else { IssueKind::Missing };
        issues.add(kind, path.key("task"), "required non-empty string");
    }
    if text("agent") == Some(None) {
        issues.add(IssueKind::WrongType, path.key("agent"), "must be a string agent name");
    }
    let choices = [("when", &["onFail", "always"][..]), ("onUnparseable", &OnUnparseable::NAMES)];
    for (key, allowed) in choices {
        let known = |v: Option<&[u8]>| allowed.iter().any(|name| Some(name.as_bytes()) == v);
        if text(key).is_some_and(|value| !known(value)) {
            let message = format!("must be one of {}", allowed.join("|"));
            let hint = || hints::value(judge.get(key)?, allowed);
            issues.add_hinted(IssueKind::WrongValue, path.key(key), message, hint);
        }
    }
    if let Some(reply) = judge.get("reply") {
        reply_issues(reply, &path.key("reply"), issues);
    }
    match judge.get("fields") {
        None => {}
        Some(Value::Array(fields)) => {
            for (i, field) in fields.iter().enumerate() {
                if field.as_bytes().is_none_or(<[u8]>::is_empty) {
                    let path = path.key("fields").index(i);
                    issues.add(IssueKind::WrongValue, path, "must be a non-empty string");
                }
            }
        }
        Some(_) => {
            let message = "must be an array of field names";
            issues.add(IssueKind::WrongType, path.key("fields"), message);
        }
    }
    for (key, _) in judge.members() {
        if !JUDGE_KEYWORDS.iter().any(|name| name.as_bytes() == key) {
            let list = JUDGE_KEYWORDS.join(", ");
            let message = format!("unknown judge keyword (supported: {list})");
            let hint = || hints::judge_key(key, &JUDGE_KEYWORDS);
            issues.add_hinted(IssueKind::UnknownKey, path.key(key), message, hint);
        }
    }
}

/// The JSON Schema of a judge's `reply`.
const REPLY_SCHEMA: &str = r##"{"type": "object", "additionalProperties": false,
"description": "the judge's own words, labels, keys and scale", "properties": {
"pass": {"$ref": "#/$defs/texts"}, "block": {"$ref": "#/$defs/texts"},
"labels": {"type": "object", "additionalProperties": false, "properties": {
"verdict": {"$ref": "#/$defs/texts"}, "score": {"$ref": "#/$defs/texts"}}},
"keys": {"type": "object", "additionalProperties": false, "properties": {
"verdict": {"$ref": "#/$defs/texts"}, "score": {"$ref": "#/$defs/texts"}, "reason": {"$ref": "#/$defs/texts"}}},
"scale": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2,
"description": "[worst, best]"},
"passAt": {"type": "number", "exclusiveMinimum": 0, "maximum": 1,
"description": "the normalised score from which on a reply passes"}}}"##;

/// The JSON Schema (draft 2020-12) of a score block, as JSON text, from the registry.
pub fn gate_schema() -> String {
    let scorers: Vec<String> = REGISTRY
        .iter()
        .map(|entry| {
            let own: String = entry
                .fields
                .iter()
                .map(|field| {
                    let schema = field.shape.schema();
                    let body = schema.trim_start_matches('{');
                    let doc = crate::json::quote(field.doc.as_bytes());
                    format!(", \"{}\": {{\"description\": {doc}, {body}", field.name)
                })
                .collect();
            let required: String =
                entry.fields.iter().filter(|f| f.required()).map(|f| format!(", \"{}\"", f.name)).collect();
            let summary = crate::json::quote(entry.summary.as_bytes());
            format!(
                "{{\"description\": {summary}, \"type\": \"object\", \"required\": [\"type\"{required}], \
                 \"properties\": {{\"type\": {{\"const\": \"{}\"}}, \"name\": {{\"type\": \"string\"}}{own}}}, \
                 \"additionalProperties\": false}}",
                entry.name
            )
        })
        .collect();
    format!(
        r#"{{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "score block",
"$defs": {{"texts": {{"type": "array", "minItems": 1, "items": {{"type": "string", "minLength": 1}}}}}},
"type": "object", "required": ["scorers"], "additionalProperties": false, "properties": {{
"$schema": {{"type": "string"}}, "$comment": {{}}, "name": {{"type": "string"}},
"description": {{"type": "string"}},
"target": {{"type": "string", "description": "interpolation reference of the scored text"}},
"scorers": {{"type": "array", "minItems": 1, "items": {{"oneOf": [{}]}}}},
"combine": {{"enum": ["all", "any", "weighted", null]}},
"weights": {{"type": "array", "items": {{"type": "number", "exclusiveMinimum": 0}}}},
"threshold": {{"type": "number", "exclusiveMinimum": 0, "maximum": 1}},
"judge": {{"type": "object", "required": ["task"], "additionalProperties": false, "properties": {{
"task": {{"type": "string", "minLength": 1}}, "agent": {{"type": "string"}},
"when": {{"enum": ["onFail", "always"]}}, "onUnparseable": {{"enum": ["pass", "block", "undecided"]}},
"reply": {REPLY_SCHEMA},
"fields": {{"type": "array", "items": {{"type": "string", "minLength": 1}},
"description": "fields of the row that the prompt shows"}}}}}}}}}}"#,
        scorers.join(", ")
    )
}
