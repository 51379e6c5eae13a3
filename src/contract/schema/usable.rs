//! A schema that was read, and what it says of values.

use super::super::keywords::Draft;
use super::super::place::MAX_VIOLATIONS;
use super::evaluate::{Walk, clip};
use super::node::Compiled;
use super::{compile, malformed};
use crate::json::{Cursor, Value};

/// A compiled JSON Schema.
pub struct Schema {
    compiled: Compiled,
    warnings: Vec<String>,
}

impl Schema {
    /// Compiles a schema; the error is the detail of a scorer that always fails. Patterns of an
    /// `untrusted` schema that cannot be bounded are refused.
    pub fn new(schema: &Value, untrusted: bool) -> Result<Self, String> {
        let unusable = |reason: String| format!("unusable JSON Schema: {}", clip(&reason));
        if let Some(fault) = malformed::malformed(schema, Draft::V2020) {
            return Err(unusable(fault));
        }
        let (compiled, mut warnings) = compile::compile(schema, untrusted).map_err(unusable)?;
        let scalars = [Value::Null, Value::Number(0.0.into())];
        let holds = |value: &Value| {
            let document = crate::json::Document::from_value(value);
            Walk::new(&compiled, document.root()).visit(0, document.root())
        };
        if scalars.iter().all(holds) {
            warnings.push(
                "the schema accepts values that are not objects; add a type if that is not meant"
                    .to_owned(),
            );
        }
        Ok(Schema { compiled, warnings })
    }

    /// True when a value holds.
    pub fn holds(&self, value: Cursor<'_>) -> bool {
        let mut walk = Walk::new(&self.compiled, value);
        walk.visit(0, value) && walk.stopped.is_none()
    }

    /// What a value breaks, as `path: message`, at most [`MAX_VIOLATIONS`].
    pub fn violations(&self, value: Cursor<'_>) -> Vec<String> {
        self.violations_counted(value).0
    }

    /// As [`Schema::violations`], with the steps that were taken.
    pub fn violations_counted(&self, value: Cursor<'_>) -> (Vec<String>, u64) {
        let mut walk = Walk::new(&self.compiled, value);
        if !walk.visit(0, value) && walk.stopped.is_none() {
            walk.tell(value);
        }
        let steps = walk.steps();
        let Walk { mut told, stopped, .. } = walk;
        if stopped.is_some() {
            told.truncate(MAX_VIOLATIONS - 1);
        }
        told.extend(stopped.map(|why| format!("$: {why}")));
        (told, steps)
    }

    /// What the author of the schema may not know: values that are no objects pass, a keyword or a
    /// format claims nothing.
    pub fn warning(&self) -> Option<String> {
        (!self.warnings.is_empty()).then(|| self.warnings.join("; "))
    }
}
