//! Deterministic scoring gates for LLM output.
//!
//! A gate says what good output looks like (a phrase, a JavaScript regex, a JSON schema, a
//! length) and is checked without spending a token; an LLM judge is asked only where it can still
//! change the outcome.
//!
//! ```
//! use scoregate::{Gate, Options, Row, Target, Verdict};
//!
//! let gate = Gate::from_json(br#"{"scorers": [{"type": "contains", "value": "ok"}]}"#, Options::default())?;
//! let result = gate.score(&Target::new("all ok"), &Row::empty());
//! assert_eq!(result.decision.verdict, Verdict::Pass);
//! # Ok::<(), scoregate::SpecError>(())
//! ```

pub mod batch;
pub mod contract;
mod error;
pub mod fence;
pub mod field;
pub mod gate;
pub mod grammar;
mod hints;
pub mod js_regex;
pub mod json;
pub mod position;
#[cfg(feature = "python")]
mod python;
mod result;
mod row;
pub mod scorer;
pub mod scorers;
mod stack;
mod target;
pub mod template;
pub mod text;

pub use error::{IssueKind, Issues, Path, SpecError, SpecIssue, Step};
pub use gate::Gate;
pub use result::{Decision, GateResult, Outcome, Reason, ScorerResult, Verdict};
pub use row::Row;
pub use scorer::Options;
pub use target::Target;
