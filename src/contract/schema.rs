//! Full JSON Schema, over the `jsonschema` crate.
//!
//! Draft 2020-12 unless `$schema` says other; formats asserted; `pattern` means a JavaScript
//! pattern (flag u, then none where u refuses it); no reference is ever fetched.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Keyword, ValidationError, Validator};
use serde_json::Value as Tree;

use super::MAX_VIOLATIONS;
use crate::js_regex::JsRegex;
use crate::json::{Cursor, Kind, Value};
use crate::target::{Target, to_utf8};

/// A compiled JSON Schema.
pub struct Schema {
    validator: Validator,
    accepts_scalars: bool,
}

impl Schema {
    /// Compiles a schema; the error is the detail of a scorer that always fails.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let tree = tree_of(schema)?;
        let refused =
            |error: ValidationError<'_>| format!("unusable JSON Schema: {}", clip(&error));
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .with_keyword("pattern", |_, value, _| Ok(Box::new(Pattern::new(value)?)))
            .build(&tree)
            .map_err(refused)?;
        let accepts_scalars = validator.is_valid(&Tree::Null) && validator.is_valid(&Tree::from(0));
        Ok(Schema { validator, accepts_scalars })
    }

    /// True when a value holds.
    pub fn holds(&self, value: Cursor<'_>) -> bool {
        self.validator.is_valid(&tree_at(value))
    }

    /// What a value breaks, as `path: message`, at most [`MAX_VIOLATIONS`].
    pub fn violations(&self, value: Cursor<'_>) -> Vec<String> {
        let tree = tree_at(value);
        let errors = self.validator.iter_errors(&tree).take(MAX_VIOLATIONS);
        errors.map(|error| violation(&tree, &error)).collect()
    }

    /// A warning where a value that is no object or array passes.
    pub fn warning(&self) -> Option<String> {
        self.accepts_scalars.then(|| {
            "the schema accepts values that are not objects; add a type if that is not meant".into()
        })
    }
}

/// One violation: `path: wanted, got`, worded as contracts word it where both have the rule.
fn violation(tree: &Tree, error: &ValidationError<'_>) -> String {
    let path = path_text(tree, error.instance_path().as_str());
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                jsonschema::error::TypeKind::Single(kind) => kind.to_string(),
                jsonschema::error::TypeKind::Multiple(kinds) => {
                    kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
                }
            };
            format!("{path}: expected {wanted}, got {}", type_name(error.instance()))
        }
        ValidationErrorKind::Enum { .. } => {
            format!("{path}: value is not one of the allowed enum literals")
        }
        ValidationErrorKind::Required { property } => {
            format!("{path}.{}: required key is missing", property.as_str().unwrap_or_default())
        }
        _ => format!("{path}: {}", clip(&error.masked())),
    }
}

/// `$.a[1]` of a JSON Pointer into a value.
fn path_text(tree: &Tree, pointer: &str) -> String {
    let mut path = String::from("$");
    let mut at = Some(tree);
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if let Some(Tree::Array(items)) = at {
            path.push_str(&format!("[{step}]"));
            at = step.parse().ok().and_then(|i: usize| items.get(i));
        } else {
            path.push('.');
            path.push_str(&step);
            at = at.and_then(|v| v.get(&step));
        }
    }
    path
}

fn type_name(tree: &Tree) -> &'static str {
    match tree {
        Tree::Null => "null",
        Tree::Bool(_) => "boolean",
        Tree::Number(_) => "number",
        Tree::String(_) => "string",
        Tree::Array(_) => "array",
        Tree::Object(_) => "object",
    }
}

/// A message of the validator, on one line and at most 200 characters.
fn clip(message: &dyn std::fmt::Display) -> String {
    let text = message.to_string().replace(['\n', '\r'], " ");
    match text.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The `pattern` keyword with JavaScript's meaning.
struct Pattern {
    engine: JsRegex,
}

impl Pattern {
    fn new<'a>(value: &Tree) -> Result<Self, ValidationError<'a>> {
        let Some(pattern) = value.as_str() else {
            return Err(ValidationError::custom("pattern: must be a string"));
        };
        let pattern = pattern.as_bytes();
        let engine = JsRegex::new(pattern, "u")
            .or_else(|_| JsRegex::new(pattern, ""))
            .map_err(|error| ValidationError::custom(error.to_string()))?;
        Ok(Pattern { engine })
    }
}

impl<'i> Keyword<'i> for Pattern {
    fn validate(&self, instance: &'i Tree) -> Result<(), ValidationError<'i>> {
        let Some(text) = instance.as_str() else { return Ok(()) };
        match self.engine.test(&Target::new(text)) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let pattern = to_utf8(self.engine.pattern().as_ref()).into_owned();
                Err(ValidationError::custom(format!("value does not match /{pattern}/")))
            }
            Err(spent) => Err(ValidationError::custom(spent.to_string())),
        }
    }

    fn is_valid(&self, instance: &'i Tree) -> bool {
        instance.as_str().is_none_or(|text| self.engine.test(&Target::new(text)) == Ok(true))
    }
}

/// The schema as the validator's own tree.
fn tree_of(schema: &Value) -> Result<Tree, String> {
    serde_json::from_str(&schema.to_json())
        .map_err(|error| format!("unusable JSON Schema: {error}"))
}

/// A parsed value as the validator's own tree; lone surrogate halves become U+FFFD.
fn tree_at(value: Cursor<'_>) -> Tree {
    // Recursion is bounded: every document is at most MAX_DEPTH deep.
    match value.kind() {
        Kind::Null => Tree::Null,
        Kind::False => Tree::Bool(false),
        Kind::True => Tree::Bool(true),
        Kind::Number => value.number_text().parse().map_or(Tree::Null, Tree::Number),
        Kind::String => Tree::String(to_utf8(&value.content()).into_owned()),
        Kind::Array => Tree::Array(value.elements().map(tree_at).collect()),
        Kind::Object => {
            let text = |key: Cursor<'_>| to_utf8(&key.content()).into_owned();
            Tree::Object(value.members().map(|(k, v)| (text(k), tree_at(v))).collect())
        }
    }
}
