//! The parser: ES2024 patterns with Annex B, and V8's error messages.
//!
//! ```text
//! Disjunction := Alternative ("|" Alternative)*
//! Alternative := Term*
//! Term        := Assertion | Atom Quantifier?
//! Atom        := PatternCharacter | "." | Escape | Class | Group
//! Quantifier  := ("*" | "+" | "?" | "{" n ("," m?)? "}") "?"?
//! ```
//!
//! Without u the pattern is read as UTF-16 units, with u and v as code points. The first error
//! from the left wins; only a name that no group has is reported after the whole pattern.
//! Groups and classes nest at most `MAX_DEPTH` deep.

mod class;
mod class_set;
mod class_sets;
mod escape;
mod group;
mod parser;
mod property;
mod property_names;

pub(super) use parser::parse;
