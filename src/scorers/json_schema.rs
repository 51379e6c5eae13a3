//! `json-schema`: the strict tier finds a JSON value in the text and the schema holds for it.
//!
//! The schema is the five-keyword contract (`type`, `properties`, `required`, `items`, `enum`);
//! a schema that uses more is JSON Schema (draft 2020-12 unless `$schema` says other).
//!
//! ```json
//! {"type": "json-schema", "schema": {"type": "object", "required": ["status", "data"]}}
//! ```
//!
//! With `repair` the repair tier reads the text in place of the strict one, and `maxSeverity` says
//! how much a repair may have cost. With `coerce` values are read as the schema wants (`"3"` as 3)
//! before it is checked, as `parse_json` reads them. The detail of a failure names what was
//! changed, and each result the worst severity of it.

use crate::contract::{AnySchema, coerce, schema_shape_errors};
use crate::error::{IssueKind, Issues, Path};
use crate::field::{Bool, Choice, Shape, Typed, fields};
use crate::json::{
    self, Code, Diagnostic, Document, RepairErrorKind, RepairOptions, Severity, Value,
};
use crate::result::Outcome;
use crate::row::Row;
use crate::scorer::{Build, Options, Scorer, Warning};
use crate::target::Target;

/// The scorer.
pub struct JsonSchema {
    schema: AnySchema,
    repair: bool,
    max_severity: Option<Severity>,
    /// The schema as it was written, where values are read as it wants.
    coerce: Option<Value>,
}

impl Build for JsonSchema {
    const TYPE: &'static str = "json-schema";
    const SUMMARY: &'static str = "the text holds JSON that fits a schema";
    const EXAMPLE: &'static str =
        r#"{"type": "json-schema", "schema": {"type": "object", "required": ["status"]}}"#;
    const PASSES: &'static str = "Here it is: {\"status\": \"done\"}";
    const FAILS: &'static str = "{\"state\": \"done\"}";

    type Fields = Fields;

    fn rules(spec: &Value, fields: &Fields, path: &Path, issues: &mut Issues) {
        let known = spec.get("maxSeverity").and_then(Value::as_str).and_then(Severity::from_name);
        let boolean = matches!(spec.get("repair"), None | Some(Value::Bool(_)));
        if known.is_some() && boolean && !fields.repair {
            issues.add(IssueKind::Conflict, path.key("maxSeverity"), "needs repair: true");
        }
    }

    fn build(fields: Fields, options: &Options) -> Self {
        let Fields { schema, repair, max_severity, coerce } = fields;
        JsonSchema {
            schema: AnySchema::new(&schema, options.untrusted),
            repair,
            // Nothing is above lossy.
            max_severity: max_severity.filter(|severity| *severity != Severity::Lossy),
            coerce: coerce.then_some(schema),
        }
    }
}

/// A contract or a JSON Schema, which must be there.
struct SchemaField;

impl Shape for SchemaField {
    fn schema(&self) -> String {
        r#"{"type": ["object", "boolean"]}"#.to_owned()
    }

    fn words(&self) -> String {
        "object or boolean".to_owned()
    }

    fn default(&self) -> Option<String> {
        None
    }

    fn check(&self, given: Option<&Value>, path: &Path, scorer: &str, issues: &mut Issues) {
        match given {
            None | Some(Value::Null) => {
                let message = format!("required for '{scorer}'");
                issues.add(IssueKind::Missing, path.clone(), message);
            }
            Some(schema) => {
                for line in schema_shape_errors(schema, &path.to_string()) {
                    issues.add_line(IssueKind::BadSchema, path.clone(), line);
                }
            }
        }
    }
}

impl Typed for SchemaField {
    type Value = Value;

    fn read(&self, given: Option<&Value>) -> Value {
        given.cloned().unwrap_or(Value::Null)
    }
}

const SEVERITIES: [(&str, Severity); 3] =
    [("lossless", Severity::Lossless), ("guess", Severity::Guess), ("lossy", Severity::Lossy)];

fields! {
    pub struct Fields {
        schema: SchemaField = SchemaField, "a five-keyword contract or a JSON Schema";
        repair: Bool = Bool(false), "mend broken JSON before the schema is checked";
        max_severity as "maxSeverity": Choice<Severity> =
            Choice { of: &SEVERITIES, default: Some(2) },
            "the worst repair that is allowed, with `repair`";
        coerce: Bool = Bool(false),
            "read values as the schema wants (`\"3\"` as 3) before it is checked";
    }
}

impl JsonSchema {
    fn repaired(&self, target: &Target<'_>) -> Outcome<'_> {
        let repaired = target.repaired();
        let document = match &repaired.result {
            Ok(document) => document,
            Err(error) => {
                let why = error.kind;
                return Outcome::fail(format!(
                    "target is not valid JSON, nor to be repaired: {why}"
                ));
            }
        };
        if let Some(code) = self.above(target) {
            let why = RepairErrorKind::Severity(code);
            return Outcome::fail(format!("target {why}"));
        }
        self.check(document, &repaired.diagnostics)
    }

    /// Whether the document that was found holds, and what was done to it.
    fn check(&self, document: &Document<'_>, repairs: &[Diagnostic]) -> Outcome<'_> {
        let coerced = self.coerce.as_ref().map(|schema| coerce(document, schema));
        let mut done = repairs.to_vec();
        let changed = coerced.filter(|coerced| !coerced.changes.is_empty()).map(|coerced| {
            done.extend(coerced.changes.iter().map(|change| change.diagnostic));
            Document::from_value(&coerced.value)
        });
        let over = done.iter().find(|d| self.max_severity.is_some_and(|max| d.severity > max));
        if let Some(over) = over {
            let why = RepairErrorKind::Severity(over.code);
            return Outcome::fail(format!("target {why}"));
        }
        let root = changed.as_ref().map_or(document.root(), Document::root);
        let outcome = Outcome::check(self.schema.holds(root), || {
            let violations = self.schema.violations(root).join("; ");
            match codes(&done) {
                codes if codes.is_empty() => violations,
                codes => format!("{violations} (repaired: {codes})"),
            }
        });
        outcome.after_repair(done.iter().map(|d| d.severity).max())
    }

    /// A repair that costs more than is allowed.
    fn above(&self, target: &Target<'_>) -> Option<Code> {
        let max = self.max_severity?;
        let repaired = target.repaired();
        if repaired.more_diagnostics > 0 {
            // Not all are listed.
            let options = RepairOptions { max_severity: Some(max), ..RepairOptions::default() };
            return match json::repair(target.bytes(), &options).result.err()?.kind {
                RepairErrorKind::Severity(code) => Some(code),
                _ => None,
            };
        }
        let worst = repaired.diagnostics.iter().map(|d| d.severity).max()?;
        let first = repaired.diagnostics.iter().find(|d| d.severity == worst)?;
        (worst > max).then_some(first.code)
    }
}

/// What was repaired inside the document: each code once, at most eight.
fn codes(diagnostics: &[Diagnostic]) -> String {
    let mut codes: Vec<&str> = Vec::new();
    for diagnostic in diagnostics {
        let outside = matches!(diagnostic.code, Code::DiscardedText | Code::ReasoningSkipped);
        if !outside && !codes.contains(&diagnostic.code.name()) {
            codes.push(diagnostic.code.name());
        }
    }
    if codes.len() > 8 {
        codes.truncate(8);
        codes.push("…");
    }
    codes.join(", ")
}

impl Scorer for JsonSchema {
    fn score(&self, target: &Target<'_>, _: &Row<'_>) -> Outcome<'_> {
        if self.repair {
            return self.repaired(target);
        }
        let Some(document) = target.json() else {
            return Outcome::fail("target is not valid JSON");
        };
        self.check(document, &[])
    }

    fn value(&self, target: &Target<'_>) -> Option<String> {
        let document =
            if self.repair { target.repaired().result.as_ref().ok()? } else { target.json()? };
        let coerced = self.coerce.as_ref().map(|schema| coerce(document, schema));
        let changed = coerced.filter(|coerced| !coerced.changes.is_empty());
        Some(changed.map_or_else(|| document.to_json(), |coerced| coerced.value.to_json()))
    }

    fn warning(&self) -> Option<Warning> {
        let unusable = matches!(self.schema, AnySchema::Schema(Err(_)));
        let kind = if unusable { IssueKind::NeverPasses } else { IssueKind::LooseSchema };
        Some(Warning::new(kind, self.schema.warning()?))
    }
}
