//! The two schema languages of `json-schema`.
//!
//! * [`Contract`]: five keywords (`type`, `properties`, `required`, `items`, `enum`), evaluated
//!   over the parsed text without building values.
//! * [`Schema`]: full JSON Schema, as soon as a schema uses a keyword or a form beyond those five.
//! * [`coerce()`]: a value brought to the types that a schema in either language asks for;
//!   [`salvage()`] drops what does not fit as well.
//!
//! Both are evaluated over the parsed text, without building values. Annotations (`title`,
//! `description`, `default`, `example` of OpenAPI, keys that start with `x-`, and the like) belong
//! to both and switch nothing.

mod coerce;
mod evaluate;
mod keys;
mod keywords;
mod place;
mod salvage;
mod schema;
mod shape;

pub use coerce::{Coerced, Coercion, coerce, salvage};
pub use evaluate::Contract;
pub use schema::Schema;
pub use shape::{contract_shape_errors, schema_shape_errors};

use crate::json::{Cursor, Document, Value};
use crate::stack::with_room;

/// At most this many violations are told, from a node of a contract as from a whole schema.
pub const MAX_VIOLATIONS: usize = 8;

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

    /// What a value breaks, as `path: message`, at most [`MAX_VIOLATIONS`].
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
