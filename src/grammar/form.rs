//! A gate's own words and scale: `judge.reply` of a score block.
//!
//! ```json
//! {"pass": ["APPROVE"], "block": ["REQUEST_CHANGES"], "labels": {"verdict": ["Decision"], "score": ["Rating"]},
//!  "keys": {"verdict": ["decision"]}, "scale": [1, 5], "passAt": 0.6}
//! ```

use std::collections::HashSet;

use crate::error::SpecError;
use crate::error::{IssueKind, Issues, Path};
use crate::json::Value;
use crate::text::{to_utf8, trim_js};

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
        let mut issues = Issues::new();
        reply_issues(value, &Path::root(path), &mut issues);
        let issues = issues.into_list();
        if !issues.is_empty() {
            return Err(SpecError::new(issues));
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

/// Adds every shape error of a reply form, in order.
pub(crate) fn reply_issues(value: &Value, path: &Path, issues: &mut Issues) {
    if !value.is_object() {
        let message = "must be an object ({pass?, block?, labels?, keys?, scale?, passAt?})";
        return issues.add(IssueKind::WrongType, path.clone(), message);
    }
    for key in ["pass", "block"] {
        list_issues(value.get(key), &path.key(key), "words", issues);
    }
    both_issues(value, path, issues);
    for (key, names) in [("labels", &LABELS[..]), ("keys", &KEYS[..])] {
        let Some(group) = value.get(key) else { continue };
        let path = path.key(key);
        if !group.is_object() {
            let names: Vec<String> = names.iter().map(|name| format!("{name}?")).collect();
            let message = format!("must be an object ({{{}}})", names.join(", "));
            issues.add(IssueKind::WrongType, path, message);
            continue;
        }
        for name in names {
            list_issues(group.get(name), &path.key(name), key, issues);
        }
        unknown_issues(group, &path, "keyword", names, issues);
    }
    scale_issues(value, path, issues);
    unknown_issues(value, path, "reply keyword", &FIELDS, issues);
}

fn list_issues(value: Option<&Value>, path: &Path, what: &str, issues: &mut Issues) {
    let Some(value) = value else { return };
    let items = match value {
        Value::Array(items) if !items.is_empty() => items,
        _ => {
            let message = format!("must be a non-empty array of {what}");
            return issues.add(IssueKind::WrongType, path.clone(), message);
        }
    };
    for (i, item) in items.iter().enumerate() {
        let fault = match item.as_bytes() {
            Some(text) if text.contains(&b'\n') => "must be one line",
            Some(text) if !trim_js(text).is_empty() => continue,
            _ => "must be a non-empty string",
        };
        issues.add(IssueKind::WrongValue, path.index(i), fault);
    }
}

/// A word may not pass and block.
fn both_issues(value: &Value, path: &Path, issues: &mut Issues) {
    let words = |key: &str| value.get(key).map(Value::elements).unwrap_or_default();
    let folded = |word: &Value| word.as_bytes().map(|text| to_utf8(trim_js(text)).to_lowercase());
    let passing: HashSet<String> = words("pass").iter().filter_map(folded).collect();
    for (i, word) in words("block").iter().enumerate() {
        if folded(word).is_some_and(|word| passing.contains(&word)) {
            let path = path.key("block").index(i);
            issues.add(IssueKind::Conflict, path, "is also a word of 'pass'");
        }
    }
}

fn scale_issues(value: &Value, path: &Path, issues: &mut Issues) {
    if let Some(scale) = value.get("scale") {
        let ends: Vec<Option<f64>> = scale.elements().iter().map(Value::as_f64).collect();
        // Two far ends may have no finite distance.
        let good = matches!(ends[..], [Some(worst), Some(best)]
            if (best - worst).is_normal());
        if !good {
            let message = "must be two different numbers ([worst, best])";
            issues.add(IssueKind::WrongValue, path.key("scale"), message);
        }
    }
    let in_range = |at: f64| at > 0.0 && at <= 1.0;
    if value.get("passAt").is_some_and(|at| !at.as_f64().is_some_and(in_range)) {
        let message = "must be a number in (0, 1]";
        issues.add(IssueKind::WrongValue, path.key("passAt"), message);
    }
}

fn unknown_issues(value: &Value, path: &Path, what: &str, names: &[&str], issues: &mut Issues) {
    for (key, _) in value.members() {
        if !names.iter().any(|name| name.as_bytes() == key) {
            let message = format!("unknown {what} (supported: {})", names.join(", "));
            issues.add(IssueKind::UnknownKey, path.key(key), message);
        }
    }
}
