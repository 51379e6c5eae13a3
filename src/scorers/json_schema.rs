//! `json-schema`: the strict tier finds a JSON value in the text and the schema holds for it.
//!
//! The schema is the five-keyword contract (`type`, `properties`, `required`, `items`, `enum`);
//! a schema that uses more is JSON Schema (draft 2020-12 unless `$schema` says other).
//!
//! ```json
//! {"type": "json-schema", "schema": {"type": "object", "required": ["status", "data"]}}
//! ```

use super::{Build, Field, Options, Scorer};
use crate::contract::{AnySchema, schema_shape_errors};
use crate::json::Value;
use crate::result::Outcome;
use crate::row::Row;
use crate::target::Target;

/// The scorer.
pub struct JsonSchema {
    schema: AnySchema,
}

impl Build for JsonSchema {
    const TYPE: &'static str = "json-schema";
    const FIELDS: &'static [Field] = &[Field::required(
        "schema",
        r#"{"type": ["object", "boolean"]}"#,
        "a five-keyword contract or a JSON Schema",
    )];
    const SUMMARY: &'static str = "the text holds JSON that fits a schema";
    const EXAMPLE: &'static str =
        r#"{"type": "json-schema", "schema": {"type": "object", "required": ["status"]}}"#;

    fn shape_errors(spec: &Value, path: &str, errors: &mut Vec<String>) {
        match spec.get("schema") {
            None | Some(Value::Null) => {
                errors.push(format!("{path}.schema: required for 'json-schema'"));
            }
            Some(schema) => errors.extend(schema_shape_errors(schema, &format!("{path}.schema"))),
        }
    }

    fn build(spec: &Value, _: &Options) -> Self {
        JsonSchema { schema: AnySchema::new(spec.get("schema").unwrap_or(&Value::Null)) }
    }
}

impl Scorer for JsonSchema {
    fn score(&self, target: &Target<'_>, _: &Row<'_>) -> Outcome {
        let Some(document) = target.json() else {
            return Outcome::fail("target is not valid JSON");
        };
        let root = document.root();
        Outcome::check(self.schema.holds(root), || self.schema.violations(root).join("; "))
    }

    fn warning(&self) -> Option<String> {
        self.schema.warning()
    }
}
