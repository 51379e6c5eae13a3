//! The score block: its shape errors and its JSON Schema.

use super::combine::{MODES, Mode};
use crate::grammar::{OnUnparseable, reply_shape_errors};
use crate::json::Value;
use crate::scorers::{self, REGISTRY};
use crate::target::{to_utf8, trim_js};

const KEYWORDS: [&str; 6] = ["target", "scorers", "combine", "weights", "threshold", "judge"];
const JUDGE_KEYWORDS: [&str; 6] = ["task", "agent", "when", "onUnparseable", "reply", "fields"];

/// Every shape error of a score block, in order: target, scorers, combine with weights and
/// threshold, judge, unknown keys. None when the block is valid.
pub fn score_shape_errors(block: &Value, path: &str) -> Vec<String> {
    if !block.is_object() {
        return vec![format!(
            "{path}: must be an object ({{scorers: [...], combine?, threshold?, judge?}})"
        )];
    }
    let mut errors = Vec::new();
    if block.get("target").is_some_and(|target| target.as_bytes().is_none()) {
        errors.push(format!(
            "{path}.target: must be a string interpolation ref (e.g. \"{{steps.gen.output}}\")"
        ));
    }
    let count = match block.get("scorers") {
        Some(Value::Array(scorers)) if !scorers.is_empty() => scorers.len(),
        _ => {
            errors.push(format!("{path}.scorers: must be a non-empty array of scorers"));
            return errors;
        }
    };
    scorers_errors(block, path, &mut errors);
    combine_errors(block, path, count, &mut errors);
    if let Some(judge) = block.get("judge") {
        judge_errors(judge, &format!("{path}.judge"), &mut errors);
    }
    for (key, _) in block.members() {
        if !KEYWORDS.iter().any(|name| name.as_bytes() == key) {
            let (key, list) = (to_utf8(key), KEYWORDS.join(", "));
            errors.push(format!("{path}.{key}: unknown score keyword (supported: {list})"));
        }
    }
    errors
}

fn scorers_errors(block: &Value, path: &str, errors: &mut Vec<String>) {
    let scorers = block.get("scorers").map(Value::elements).unwrap_or_default();
    for (i, scorer) in scorers.iter().enumerate() {
        let path = format!("{path}.scorers[{i}]");
        if !scorer.is_object() {
            errors.push(format!("{path}: must be an object with a 'type'"));
            continue;
        }
        match scorer.get("type").and_then(Value::as_bytes).and_then(scorers::entry) {
            Some(entry) => entry.shape_errors(scorer, &path, errors),
            None => {
                let names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
                errors.push(format!("{path}.type: must be one of {}", names.join("|")));
            }
        }
    }
}

fn combine_errors(block: &Value, path: &str, count: usize, errors: &mut Vec<String>) {
    let mode = Mode::read(block.get("combine"));
    if mode.is_none() {
        let names = MODES.map(|(name, _)| name).join("|");
        errors.push(format!("{path}.combine: must be one of {names}"));
    }
    if mode != Some(Mode::Weighted) {
        for key in ["weights", "threshold"] {
            if block.get(key).is_some() {
                errors.push(format!("{path}.{key}: only valid with combine:\"weighted\""));
            }
        }
        return;
    }
    let judge = block.get("judge").is_some_and(Value::is_object);
    let wanted = count + usize::from(judge);
    match block.get("weights") {
        Some(Value::Array(weights)) => {
            // With a judge, N weights leave the combination to the scorers alone.
            if weights.len() != wanted && !(judge && weights.len() == count) {
                let parts = if judge { "scorers + judge" } else { "scorers" };
                let got = weights.len();
                errors.push(format!(
                    "{path}.weights: expected {wanted} entries ({parts}), got {got}"
                ));
            }
            for (i, weight) in weights.iter().enumerate() {
                if !weight.as_f64().is_some_and(|w| w.is_finite() && w > 0.0) {
                    errors.push(format!("{path}.weights[{i}]: must be a number > 0"));
                }
            }
        }
        _ => {
            let last = if judge { " — last one is the judge's weight" } else { "" };
            errors.push(format!(
                "{path}.weights: required array for combine:\"weighted\" ({wanted} entries{last})"
            ));
        }
    }
    let in_range = |t: f64| t > 0.0 && t <= 1.0;
    if block.get("threshold").is_some_and(|t| !t.as_f64().is_some_and(in_range)) {
        errors.push(format!("{path}.threshold: must be a number in (0, 1]"));
    }
}

fn judge_errors(judge: &Value, path: &str, errors: &mut Vec<String>) {
    if !judge.is_object() {
        errors.push(format!("{path}: must be an object ({{agent?, task}})"));
        return;
    }
    let text = |key: &str| judge.get(key).map(Value::as_bytes);
    if text("task").flatten().is_none_or(|task| trim_js(task).is_empty()) {
        errors.push(format!("{path}.task: required non-empty string"));
    }
    if text("agent") == Some(None) {
        errors.push(format!("{path}.agent: must be a string agent name"));
    }
    let choices = [("when", &["onFail", "always"][..]), ("onUnparseable", &OnUnparseable::NAMES)];
    for (key, allowed) in choices {
        let known = |v: Option<&[u8]>| allowed.iter().any(|name| Some(name.as_bytes()) == v);
        if text(key).is_some_and(|value| !known(value)) {
            errors.push(format!("{path}.{key}: must be one of {}", allowed.join("|")));
        }
    }
    if let Some(reply) = judge.get("reply") {
        errors.extend(reply_shape_errors(reply, &format!("{path}.reply")));
    }
    match judge.get("fields") {
        None => {}
        Some(Value::Array(fields)) => {
            for (i, field) in fields.iter().enumerate() {
                if field.as_bytes().is_none_or(<[u8]>::is_empty) {
                    errors.push(format!("{path}.fields[{i}]: must be a non-empty string"));
                }
            }
        }
        Some(_) => errors.push(format!("{path}.fields: must be an array of field names")),
    }
    for (key, _) in judge.members() {
        if !JUDGE_KEYWORDS.iter().any(|name| name.as_bytes() == key) {
            let (key, list) = (to_utf8(key), JUDGE_KEYWORDS.join(", "));
            errors.push(format!("{path}.{key}: unknown judge keyword (supported: {list})"));
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
                    let body = field.schema.trim_start_matches('{');
                    let doc = crate::json::quote(field.doc.as_bytes());
                    format!(", \"{}\": {{\"description\": {doc}, {body}", field.name)
                })
                .collect();
            let required: String =
                entry.fields.iter().filter(|f| f.required).map(|f| format!(", \"{}\"", f.name)).collect();
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
