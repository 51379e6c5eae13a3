//! The scorers and their registry.
//!
//! A scorer is one file with a struct that implements [`Build`] and [`Scorer`], and one line in
//! the table at the end of this file. Shape errors, the JSON Schema of a gate, the list of types
//! and the Python layer all read the table.

use crate::error::{IssueKind, Issues, Path};
use crate::field::{Field, Fields};
use crate::hints;
use crate::json::Value;
use crate::result::Outcome;
use crate::row::Row;
use crate::scorer::{Build, Options, Scorer};
use crate::target::Target;
use crate::text::to_utf8;

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
    /// A text that passes the example.
    pub passes: &'static str,
    /// A text that fails it.
    pub fails: &'static str,
    /// True when the Python layer supplies the results.
    pub impure: bool,
    rules: fn(&Value, &Path, &mut Issues),
    build: fn(&Value, &Options) -> Box<dyn Scorer>,
}

impl Entry {
    const fn of<S: Build>() -> Self {
        Entry {
            name: S::TYPE,
            fields: S::Fields::LIST,
            summary: S::SUMMARY,
            example: S::EXAMPLE,
            passes: S::PASSES,
            fails: S::FAILS,
            impure: S::IMPURE,
            rules: |spec, path, issues| S::rules(spec, &S::Fields::read(spec), path, issues),
            build: |spec, options| Box::new(S::build(S::Fields::read(spec), options)),
        }
    }

    /// Builds a scorer of this type without checking shapes.
    pub fn build(&self, spec: &Value, options: &Options) -> Box<dyn Scorer> {
        (self.build)(spec, options)
    }

    /// The keys of a scorer of this type.
    pub fn keys(&self) -> Vec<&'static str> {
        ["type", "name"].into_iter().chain(self.fields.iter().map(|field| field.name)).collect()
    }

    /// Adds the shape errors of a scorer of this type: fields that do not apply first, in key
    /// order, then the name, the fields, and what is wrong between them.
    pub(crate) fn check(&self, spec: &Value, path: &Path, issues: &mut Issues) {
        let allowed = self.keys();
        for (key, _) in spec.members() {
            if !allowed.iter().any(|name| name.as_bytes() == key) {
                let (name, list) = (self.name, allowed.join(", "));
                let message = format!("not applicable to '{name}' scorers (allowed: {list})");
                let hint = || hints::scorer_key(key, spec, &allowed);
                issues.add_hinted(IssueKind::NotApplicable, path.key(key), message, hint);
            }
        }
        if let Some(name) = spec.get("name").filter(|name| name.as_bytes().is_none()) {
            let hint = || hints::quoted(name);
            let path = path.key("name");
            issues.add_hinted(IssueKind::WrongType, path, "must be a string", hint);
        }
        for field in self.fields {
            let path = path.key(field.name);
            field.shape.check(spec.get(field.name), &path, self.name, issues);
        }
        (self.rules)(spec, path, issues);
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
        None => Box::new(Unknown(to_utf8(name).into_owned())),
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
