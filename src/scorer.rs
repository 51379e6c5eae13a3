//! What a scorer is, and how one is read from its spec.

use crate::error::{IssueKind, Issues, Path};
use crate::field::Fields;
use crate::json::Value;
use crate::result::Outcome;
use crate::row::Row;
use crate::target::Target;

/// A check that can be run on many texts, from many threads.
pub trait Scorer: Send + Sync {
    /// Scores one text. A bad text is a failure with a detail, never an error.
    fn score(&self, target: &Target<'_>, row: &Row<'_>) -> Outcome<'_>;

    /// The JSON text of the value that it reads in a text; None where it reads none.
    fn value(&self, _target: &Target<'_>) -> Option<String> {
        None
    }

    /// Why this scorer can never pass or never fail, or may pass more than its author thinks.
    fn warning(&self) -> Option<Warning> {
        None
    }
}

/// What an author should know of a scorer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What kind of thing it is.
    pub kind: IssueKind,
    /// What to know.
    pub message: String,
    /// What may be meant.
    pub hint: Option<String>,
}

impl Warning {
    /// A warning without a hint.
    pub fn new(kind: IssueKind, message: impl Into<String>) -> Self {
        Warning { kind, message: message.into(), hint: None }
    }
}

/// How a scorer is read from its spec.
pub trait Build: Scorer + Sized + 'static {
    /// The `type` of the scorer.
    const TYPE: &'static str;
    /// What it checks, in one line.
    const SUMMARY: &'static str;
    /// A spec that builds, as JSON.
    const EXAMPLE: &'static str;
    /// A text that passes the example.
    const PASSES: &'static str;
    /// A text that fails it.
    const FAILS: &'static str;
    /// True for a scorer whose results the Python layer supplies.
    const IMPURE: bool = false;

    /// Its fields beyond `type` and `name`.
    type Fields: Fields;

    /// Adds what is wrong between fields that are each right; `path` names the scorer.
    fn rules(_spec: &Value, _fields: &Self::Fields, _path: &Path, _issues: &mut Issues) {}

    /// Builds the scorer. Shapes are not checked here: a missing field counts as left out.
    fn build(fields: Self::Fields, options: &Options) -> Self;
}

/// What a gate tells its scorers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Patterns come from strangers: those that cannot be bounded are refused.
    pub untrusted: bool,
}
