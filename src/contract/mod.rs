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

mod any;
mod coerce;
mod evaluate;
mod keys;
mod keywords;
mod place;
mod salvage;
mod schema;
mod shape;

pub use any::{AnySchema, contract_violations};
pub use coerce::{Coerced, Coercion, coerce, salvage};
pub use evaluate::Contract;
pub use place::MAX_VIOLATIONS;
pub use schema::Schema;
pub use shape::{contract_shape_errors, schema_shape_errors};
