//! Full JSON Schema: drafts 4, 6, 7, 2019-09 and 2020-12 over parsed documents.
//!
//! Draft 2020-12 unless `$schema` says other; formats asserted; `pattern` and `patternProperties`
//! mean JavaScript patterns (flag u, then none where u refuses them); no reference is ever
//! fetched.
//!
//! A schema is read once ([`index`], [`compile`]) into nodes that name each other ([`node`]); a
//! value is one counted walk over both ([`evaluate`]), which ends with a violation that says so
//! where its budget is spent.

mod branches;
mod compile;
mod evaluate;
mod formats;
mod index;
mod malformed;
mod node;
mod pattern;
mod unevaluated;
mod uri;
mod usable;

pub(super) use index::{Found, Index};
pub(super) use pattern::Pattern;
pub use usable::Schema;
