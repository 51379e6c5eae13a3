//! A gate's own words and scale: `judge.reply` of a score block.
//!
//! ```json
//! {"pass": ["APPROVE"], "block": ["REQUEST_CHANGES"], "labels": {"verdict": ["Decision"], "score": ["Rating"]},
//!  "keys": {"verdict": ["decision"]}, "scale": [1, 5], "passAt": 0.6}
//! ```

use crate::SpecError;
use crate::json::Value;
use crate::target::{to_utf8, trim_js};

const FIELDS: [&str; 6] = ["pass", "block", "labels", "keys", "scale", "passAt"];
const LABELS: [&str; 2] = ["verdict", "score"];
const KEYS: [&str; 3] = ["verdict", "score", "reason"];

/// How a judge is told to answer, and so how its reply is read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyForm {
    /// The words that pass, in place of the common ones; empty where the author gave none.
    pub pass: Vec<String>,
    /// The words that block, in place of the common ones; empty where the author gave none.
    pub block: Vec<String>,
    /// Labels of a verdict, beside `VERDICT`.
    pub verdict_labels: Vec<String>,
    /// Labels of a score, beside `SCORE`.
    pub score_labels: Vec<String>,
    /// Keys of a verdict in JSON, beside `verdict`.
    pub verdict_keys: Vec<String>,
    /// Keys of a score in JSON, beside `score`.
    pub score_keys: Vec<String>,
    /// Keys of the reason in JSON, beside `reason`.
    pub reason_keys: Vec<String>,
    /// The worst and the best score.
    pub scale: Option<(f64, f64)>,
    /// The normalised score from which on a reply passes.
    pub pass_at: f64,
}

impl Default for ReplyForm {
    fn default() -> Self {
        ReplyForm {
            pass: Vec::new(),
            block: Vec::new(),
            verdict_labels: Vec::new(),
            score_labels: Vec::new(),
            verdict_keys: Vec::new(),
            score_keys: Vec::new(),
            reason_keys: Vec::new(),
            scale: None,
            pass_at: 0.5,
        }
    }
}

impl ReplyForm {
    /// The form of a value such as `judge.reply`; `path` names it in errors.
    pub fn from_value(value: &Value, path: &str) -> Result<Self, SpecError> {
        let errors = reply_shape_errors(value, path);
        if !errors.is_empty() {
            return Err(SpecError::new(errors));
        }
        let list = |parent: Option<&Value>, key: &str| -> Vec<String> {
            let items = parent.and_then(|parent| parent.get(key)).map(Value::elements);
            let texts = items.unwrap_or_default().iter().filter_map(Value::as_bytes);
            texts.map(|text| to_utf8(trim_js(text)).into_owned()).collect()
        };
        let (labels, keys) = (value.get("labels"), value.get("keys"));
        let scale = value.get("scale").map(Value::elements).unwrap_or_default();
        let end = |at: usize| scale.get(at).and_then(Value::as_f64);
        Ok(ReplyForm {
            pass: list(Some(value), "pass"),
            block: list(Some(value), "block"),
            verdict_labels: list(labels, "verdict"),
            score_labels: list(labels, "score"),
            verdict_keys: list(keys, "verdict"),
            score_keys: list(keys, "score"),
            reason_keys: list(keys, "reason"),
            scale: end(0).zip(end(1)),
            pass_at: value.get("passAt").and_then(Value::as_f64).unwrap_or(0.5),
        })
    }
}

/// Every shape error of a reply form, in order.
pub fn reply_shape_errors(value: &Value, path: &str) -> Vec<String> {
    if !value.is_object() {
        return vec![format!(
            "{path}: must be an object ({{pass?, block?, labels?, keys?, scale?, passAt?}})"
        )];
    }
    let mut errors = Vec::new();
    for key in ["pass", "block"] {
        list_errors(value.get(key), &format!("{path}.{key}"), "words", &mut errors);
    }
    both_errors(value, path, &mut errors);
    for (key, names) in [("labels", &LABELS[..]), ("keys", &KEYS[..])] {
        let Some(group) = value.get(key) else { continue };
        let path = format!("{path}.{key}");
        if !group.is_object() {
            let names: Vec<String> = names.iter().map(|name| format!("{name}?")).collect();
            errors.push(format!("{path}: must be an object ({{{}}})", names.join(", ")));
            continue;
        }
        for name in names {
            list_errors(group.get(name), &format!("{path}.{name}"), key, &mut errors);
        }
        unknown_errors(group, &path, "keyword", names, &mut errors);
    }
    scale_errors(value, path, &mut errors);
    unknown_errors(value, path, "reply keyword", &FIELDS, &mut errors);
    errors
}

fn list_errors(value: Option<&Value>, path: &str, what: &str, errors: &mut Vec<String>) {
    let Some(value) = value else { return };
    let items = match value {
        Value::Array(items) if !items.is_empty() => items,
        _ => return errors.push(format!("{path}: must be a non-empty array of {what}")),
    };
    for (i, item) in items.iter().enumerate() {
        if item.as_bytes().is_none_or(|text| trim_js(text).is_empty()) {
            errors.push(format!("{path}[{i}]: must be a non-empty string"));
        } else if item.as_bytes().is_some_and(|text| text.contains(&b'\n')) {
            errors.push(format!("{path}[{i}]: must be one line"));
        }
    }
}

/// A word may not pass and block.
fn both_errors(value: &Value, path: &str, errors: &mut Vec<String>) {
    let words = |key: &str| value.get(key).map(Value::elements).unwrap_or_default();
    let folded = |word: &Value| word.as_bytes().map(|text| to_utf8(trim_js(text)).to_lowercase());
    let passing: Vec<Option<String>> = words("pass").iter().map(folded).collect();
    for (i, word) in words("block").iter().enumerate() {
        let word = folded(word);
        if word.is_some() && passing.contains(&word) {
            errors.push(format!("{path}.block[{i}]: is also a word of 'pass'"));
        }
    }
}

fn scale_errors(value: &Value, path: &str, errors: &mut Vec<String>) {
    if let Some(scale) = value.get("scale") {
        let ends: Vec<Option<f64>> = scale.elements().iter().map(Value::as_f64).collect();
        // Two far ends may have no finite distance.
        let good = matches!(ends[..], [Some(worst), Some(best)]
            if (best - worst).is_normal());
        if !good {
            errors.push(format!("{path}.scale: must be two different numbers ([worst, best])"));
        }
    }
    let in_range = |at: f64| at > 0.0 && at <= 1.0;
    if value.get("passAt").is_some_and(|at| !at.as_f64().is_some_and(in_range)) {
        errors.push(format!("{path}.passAt: must be a number in (0, 1]"));
    }
}

fn unknown_errors(value: &Value, path: &str, what: &str, names: &[&str], errors: &mut Vec<String>) {
    for (key, _) in value.members() {
        if !names.iter().any(|name| name.as_bytes() == key) {
            let (key, list) = (to_utf8(key), names.join(", "));
            errors.push(format!("{path}.{key}: unknown {what} (supported: {list})"));
        }
    }
}
