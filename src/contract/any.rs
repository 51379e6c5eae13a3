//! A schema in either language.

use super::evaluate::Contract;
use super::keywords;
use super::schema::Schema;
use crate::json::{Cursor, Document, Value};
use crate::stack::with_room;

/// A schema in either language.
pub enum AnySchema {
    /// The five keywords.
    Contract(Contract),
    /// JSON Schema, or why it cannot be used.
    Schema(Result<Box<Schema>, String>),
}

impl AnySchema {
    /// Reads a schema of any shape; malformed parts of a contract claim nothing. Patterns of an
    /// `untrusted` schema that cannot be bounded make it unusable.
    pub fn new(schema: &Value, untrusted: bool) -> Self {
        if keywords::is_contract(schema) {
            AnySchema::Contract(with_room(|| Contract::new(schema)))
        } else {
            AnySchema::Schema(with_room(|| Schema::new(schema, untrusted)).map(Box::new))
        }
    }

    /// What a value breaks, as `path: message`, at most [`MAX_VIOLATIONS`](super::MAX_VIOLATIONS).
    pub fn violations(&self, value: Cursor<'_>) -> Vec<String> {
        with_room(|| match self {
            AnySchema::Contract(contract) => contract.violations(value, "$"),
            AnySchema::Schema(Ok(schema)) => schema.violations(value),
            AnySchema::Schema(Err(reason)) => vec![reason.clone()],
        })
    }

    /// True when a value breaks nothing.
    pub fn holds(&self, value: Cursor<'_>) -> bool {
        with_room(|| match self {
            AnySchema::Contract(contract) => contract.holds(value),
            AnySchema::Schema(Ok(schema)) => schema.holds(value),
            AnySchema::Schema(Err(_)) => false,
        })
    }

    /// Why the schema can never hold, or lets more pass than its author may think.
    pub fn warning(&self) -> Option<String> {
        match self {
            AnySchema::Contract(_) => None,
            AnySchema::Schema(Err(reason)) => Some(reason.clone()),
            AnySchema::Schema(Ok(schema)) => schema.warning(),
        }
    }
}

/// What a value breaks of a contract, as `path: message`.
pub fn contract_violations(value: &Value, schema: &Value, path: &str) -> Vec<String> {
    with_room(|| Contract::new(schema).violations(Document::from_value(value).root(), path))
}
