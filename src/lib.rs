//! Deterministic scoring gates for LLM output.
//!
//! A gate says what good output looks like (a phrase, a JavaScript regex, a JSON schema, a
//! length) and is checked without spending a token.

pub mod js_regex;
pub mod json;
pub mod target;

pub use target::Target;
