//! The scorers and their registry.
//!
//! A scorer is one file with a struct that implements [`Build`] and [`Scorer`], and one line in
//! the table at the end of this file. Shape errors, the JSON Schema of a gate, the list of types
//! and the Python layer all read the table.

use crate::json::Value;
use crate::result::Outcome;
use crate::row::Row;
use crate::target::Target;

/// A check that can be run on many texts, from many threads.
pub trait Scorer: Send + Sync {
    /// Scores one text. A bad text is a failure with a detail, never an error.
    fn score(&self, target: &Target<'_>, row: &Row<'_>) -> Outcome<'_>;

    /// Why this scorer can never pass, or may pass more than its author thinks.
    fn warning(&self) -> Option<String> {
        None
    }
}

/// How a scorer is read from its spec.
pub trait Build: Scorer + Sized + 'static {
    /// The `type` of the scorer.
    const TYPE: &'static str;
    /// Its fields beyond `type` and `name`, in the order that messages list them.
    const FIELDS: &'static [Field];
    /// What it checks, in one line.
    const SUMMARY: &'static str;
    /// A spec that builds, as JSON.
    const EXAMPLE: &'static str;
    /// True for a scorer whose results the Python layer supplies.
    const IMPURE: bool = false;

    /// Adds what is wrong with the scorer's own fields; `path` names the scorer.
    fn shape_errors(spec: &Value, path: &str, errors: &mut Vec<String>);

    /// Builds the scorer. Shapes are not checked here: a missing field counts as empty.
    fn build(spec: &Value, options: &Options) -> Self;
}

/// What a gate tells its scorers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Patterns come from strangers: those that cannot be bounded are refused.
    pub untrusted: bool,
}

/// A field of a scorer.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// The JSON Schema of its values, as JSON.
    pub schema: &'static str,
    /// What it means, in one line.
    pub doc: &'static str,
    /// Whether a spec must have it.
    pub required: bool,
}

impl Field {
    /// A field that must be there.
    pub const fn required(name: &'static str, schema: &'static str, doc: &'static str) -> Self {
        Field { name, schema, doc, required: true }
    }

    /// A field that may be left out.
    pub const fn optional(name: &'static str, schema: &'static str, doc: &'static str) -> Self {
        Field { name, schema, doc, required: false }
    }
}

/// A row of the registry.
pub struct Entry {
    /// The `type`.
    pub name: &'static str,
    /// The fields beyond `type` and `name`.
    pub fields: &'static [Field],
    /// What it checks, in one line.
    pub summary: &'static str,
    /// A spec that builds, as JSON.
    pub example: &'static str,
    /// True when the Python layer supplies the results.
    pub impure: bool,
    shape_errors: fn(&Value, &str, &mut Vec<String>),
    build: fn(&Value, &Options) -> Box<dyn Scorer>,
}

impl Entry {
    const fn of<S: Build>() -> Self {
        Entry {
            name: S::TYPE,
            fields: S::FIELDS,
            summary: S::SUMMARY,
            example: S::EXAMPLE,
            impure: S::IMPURE,
            shape_errors: S::shape_errors,
            build: |spec, options| Box::new(S::build(spec, options)),
        }
    }

    /// Builds a scorer of this type without checking shapes.
    pub fn build(&self, spec: &Value, options: &Options) -> Box<dyn Scorer> {
        (self.build)(spec, options)
    }

    /// Adds the shape errors of a scorer of this type: fields that do not apply first, in key
    /// order, then the name, then the type's own.
    pub fn shape_errors(&self, spec: &Value, path: &str, errors: &mut Vec<String>) {
        let mut allowed = vec!["type", "name"];
        allowed.extend(self.fields.iter().map(|field| field.name));
        for (key, _) in spec.members() {
            if !allowed.iter().any(|name| name.as_bytes() == key) {
                let key = crate::target::to_utf8(key);
                let (name, list) = (self.name, allowed.join(", "));
                errors.push(format!(
                    "{path}.{key}: not applicable to '{name}' scorers (allowed: {list})"
                ));
            }
        }
        if spec.get("name").is_some_and(|name| name.as_bytes().is_none()) {
            errors.push(format!("{path}.name: must be a string"));
        }
        (self.shape_errors)(spec, path, errors);
    }
}

/// The registry row of a type.
pub fn entry(name: &[u8]) -> Option<&'static Entry> {
    REGISTRY.iter().find(|entry| entry.name.as_bytes() == name)
}

/// The scorer of a type that the registry does not have.
struct Unknown(String);

impl Scorer for Unknown {
    fn score(&self, _: &Target<'_>, _: &Row<'_>) -> Outcome<'_> {
        Outcome::fail(format!("unknown scorer type '{}'", self.0))
    }
}

/// Builds a scorer from a spec of any shape; an unknown type gives one that always fails.
pub fn build(spec: &Value, options: &Options) -> Box<dyn Scorer> {
    let name = spec.get("type").and_then(Value::as_bytes).unwrap_or_default();
    match entry(name) {
        Some(entry) => entry.build(spec, options),
        None => Box::new(Unknown(crate::target::to_utf8(name).into_owned())),
    }
}

/// The text of a field; a missing field or another type counts as empty.
pub(crate) fn text_field(spec: &Value, name: &str) -> Vec<u8> {
    spec.get(name).and_then(Value::as_bytes).unwrap_or_default().to_vec()
}

/// Adds the error of a required text field.
pub(crate) fn require_string<S: Build>(
    spec: &Value,
    name: &str,
    path: &str,
    errors: &mut Vec<String>,
) {
    if spec.get(name).and_then(Value::as_bytes).is_none() {
        errors.push(format!("{path}.{name}: required string for '{}'", S::TYPE));
    }
}

/// Declares the modules of the scorers and the registry, in the order that messages list them.
macro_rules! scorers {
    ($($module:ident::$scorer:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// Every scorer type.
        pub static REGISTRY: &[Entry] = &[$(Entry::of::<$module::$scorer>()),*];
    };
}

scorers! {
    exact_match::ExactMatch,
    contains::Contains,
    regex::Regex,
    json_schema::JsonSchema,
    length_range::LengthRange,
    code_compiles::CodeCompiles,
}
