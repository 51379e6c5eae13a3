//! Full JSON Schema, over the `jsonschema` crate.
//!
//! Draft 2020-12 unless `$schema` says other; formats asserted; `pattern` and `patternProperties`
//! mean JavaScript patterns (flag u, then none where u refuses them); no reference is ever
//! fetched.

use std::collections::BTreeSet;
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Keyword, ValidationError, Validator};
use serde_json::Value as Tree;

use super::MAX_VIOLATIONS;
use super::keywords::{Holds, holds};
use super::place;
use crate::js_regex::{JsRegex, cached};
use crate::json::{Cursor, Kind, Value};
use crate::target::{Target, to_utf8};

/// A compiled JSON Schema.
pub struct Schema {
    validator: Validator,
    /// The schema, where some property pattern depends on the names that a value has.
    by_names: Option<Value>,
    warning: Option<String>,
}

impl Schema {
    /// Compiles a schema; the error is the detail of a scorer that always fails.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let mut by_names = false;
        let rewritten = with_patterns(schema, &mut |pattern| {
            let engine = engine(pattern)?;
            Ok(engine.rust_syntax().unwrap_or_else(|| {
                by_names = true;
                NOTHING.to_owned()
            }))
        });
        let validator = compile(&rewritten.map_err(unusable)?)?;
        let scalars = validator.is_valid(&Tree::Null) && validator.is_valid(&Tree::from(0));
        Ok(Schema {
            validator,
            by_names: by_names.then(|| schema.clone()),
            warning: scalars.then(|| {
                "the schema accepts values that are not objects; add a type if that is not meant"
                    .to_owned()
            }),
        })
    }

    /// True when a value holds.
    pub fn holds(&self, value: Cursor<'_>) -> bool {
        let tree = tree_at(value);
        match &self.by_names {
            None => self.validator.is_valid(&tree),
            Some(schema) => compile_for(schema, &tree).is_ok_and(|v| v.is_valid(&tree)),
        }
    }

    /// What a value breaks, as `path: message`, at most [`MAX_VIOLATIONS`].
    pub fn violations(&self, value: Cursor<'_>) -> Vec<String> {
        let tree = tree_at(value);
        let list = |validator: &Validator| {
            let errors = validator.iter_errors(&tree).take(MAX_VIOLATIONS);
            errors.map(|error| violation(&tree, &error)).collect()
        };
        match &self.by_names {
            None => list(&self.validator),
            Some(schema) => match compile_for(schema, &tree) {
                Ok(validator) => list(&validator),
                Err(reason) => vec![format!("$: {reason}")],
            },
        }
    }

    /// A warning where a value that is no object or array passes.
    pub fn warning(&self) -> Option<String> {
        self.warning.clone()
    }
}

/// A pattern that matches nothing.
const NOTHING: &str = r"[^\s\S]";

fn unusable(reason: impl std::fmt::Display) -> String {
    format!("unusable JSON Schema: {}", clip(&reason))
}

fn compile(schema: &Value) -> Result<Validator, String> {
    let tree: Tree = serde_json::from_str(&schema.to_json()).map_err(unusable)?;
    jsonschema::options()
        .should_validate_formats(true)
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .with_keyword("pattern", |_, value, _| Ok(Box::new(Pattern::new(value)?)))
        .build(&tree)
        .map_err(|error| match error.kind() {
            ValidationErrorKind::Referencing(jsonschema::ReferencingError::Unretrievable {
                uri,
                ..
            }) => unusable(format!("$ref {uri}: references are never fetched")),
            _ => unusable(error),
        })
}

/// The schema for one value: a property pattern that the validator's engine cannot say
/// (lookaround, backreferences, UTF-16 units) is replaced by the names of the value's properties
/// that it matches.
fn compile_for(schema: &Value, tree: &Tree) -> Result<Validator, String> {
    let mut names = BTreeSet::new();
    let mut open = vec![tree];
    while let Some(value) = open.pop() {
        match value {
            Tree::Array(items) => open.extend(items),
            Tree::Object(members) => {
                names.extend(members.keys());
                open.extend(members.values());
            }
            _ => {}
        }
    }
    let rewritten = with_patterns(schema, &mut |pattern| {
        let engine = engine(pattern)?;
        if let Some(same) = engine.rust_syntax() {
            return Ok(same);
        }
        let mut matched = Vec::new();
        for name in &names {
            if engine.test(&Target::new(name)).map_err(|spent| spent.to_string())? {
                matched.push(regex_syntax::escape(name));
            }
        }
        let some = format!("^(?:{})$", matched.join("|"));
        Ok(if matched.is_empty() { NOTHING.to_owned() } else { some })
    });
    compile(&rewritten?)
}

/// A schema with each pattern of `patternProperties` rewritten. The results are made different
/// from each other, since they are keys.
fn with_patterns(
    schema: &Value,
    rewrite: &mut dyn FnMut(&[u8]) -> Result<String, String>,
) -> Result<Value, String> {
    // Recursion is bounded: a spec is at most MAX_DEPTH deep.
    let Value::Object(members) = schema else { return Ok(schema.clone()) };
    let mut list = Vec::with_capacity(members.len());
    for (key, value) in members {
        let value = match (holds(key), value) {
            (Some(Holds::Map), Value::Object(inner)) => {
                let mut schemas = Vec::with_capacity(inner.len());
                for (i, (name, schema)) in inner.iter().enumerate() {
                    let name = if key == b"patternProperties" {
                        format!("(?P<p{i}>{})", rewrite(name)?).into_bytes()
                    } else {
                        name.clone()
                    };
                    schemas.push((name, with_patterns(schema, rewrite)?));
                }
                Value::Object(schemas)
            }
            (Some(Holds::Dependencies), Value::Object(inner)) => {
                let schemas: Result<Vec<_>, String> = inner
                    .iter()
                    .map(|(name, schema)| Ok((name.clone(), with_patterns(schema, rewrite)?)))
                    .collect();
                Value::Object(schemas?)
            }
            (Some(Holds::List | Holds::SchemaOrList), Value::Array(items)) => {
                let schemas: Result<Vec<_>, String> =
                    items.iter().map(|schema| with_patterns(schema, rewrite)).collect();
                Value::Array(schemas?)
            }
            (Some(Holds::Schema | Holds::SchemaOrList), _) => with_patterns(value, rewrite)?,
            _ => value.clone(),
        };
        list.push((key.clone(), value));
    }
    Ok(Value::Object(list))
}

/// A pattern of a schema: JavaScript's, with flag u, or without it where u refuses the pattern.
fn engine(pattern: &[u8]) -> Result<Arc<JsRegex>, String> {
    cached(pattern, "u", false)
        .or_else(|_| cached(pattern, "", false))
        .map_err(|error| error.to_string())
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
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            format!("{path}: keys that are not allowed: {}", place::keys(unexpected))
        }
        ValidationErrorKind::PropertyNames { error } => {
            format!("{path}: a key is not allowed: {}", clip(&error.masked()))
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
            place::push_key(&mut path, &step);
            at = at.and_then(|v| v.get(&step));
        }
    }
    place::cut_path(path)
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
fn clip(message: &impl std::fmt::Display) -> String {
    let text = message.to_string().replace(['\n', '\r'], " ");
    match text.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The `pattern` keyword with JavaScript's meaning.
struct Pattern {
    engine: Arc<JsRegex>,
}

impl Pattern {
    fn new<'a>(value: &Tree) -> Result<Self, ValidationError<'a>> {
        let Some(pattern) = value.as_str() else {
            return Err(ValidationError::custom("pattern: must be a string"));
        };
        let engine = engine(pattern.as_bytes()).map_err(ValidationError::custom)?;
        Ok(Pattern { engine })
    }
}

impl<'i> Keyword<'i> for Pattern {
    fn validate(&self, instance: &'i Tree) -> Result<(), ValidationError<'i>> {
        let Some(text) = instance.as_str() else { return Ok(()) };
        match self.engine.test(&Target::new(text)) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let pattern = to_utf8(self.engine.pattern()).into_owned();
                Err(ValidationError::custom(format!("value does not match /{pattern}/")))
            }
            Err(spent) => Err(ValidationError::custom(spent.to_string())),
        }
    }

    fn is_valid(&self, instance: &'i Tree) -> bool {
        instance.as_str().is_none_or(|text| self.engine.test(&Target::new(text)) == Ok(true))
    }
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
