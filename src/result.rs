//! What scoring gives: outcomes, results, verdicts.

use std::borrow::Cow;
use std::sync::Arc;

use crate::json::Severity;

/// What one scorer says of one text; a detail may be the scorer's own text.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<'a> {
    /// Whether the check holds.
    pub passed: bool,
    /// How well it holds, in [0, 1].
    pub score: f64,
    /// Why it does not hold; None for a pass.
    pub detail: Option<Cow<'a, str>>,
    /// The worst repair that the text needed before it could be checked.
    pub repaired: Option<Severity>,
}

impl<'a> Outcome<'a> {
    /// A pass with score 1.
    pub fn pass() -> Self {
        Outcome { passed: true, score: 1.0, detail: None, repaired: None }
    }

    /// A failure with score 0 and its detail.
    pub fn fail(detail: impl Into<Cow<'a, str>>) -> Self {
        Outcome { passed: false, score: 0.0, detail: Some(detail.into()), repaired: None }
    }

    /// A pass, or a failure whose detail is made only then.
    pub fn check<T: Into<Cow<'a, str>>>(passed: bool, detail: impl FnOnce() -> T) -> Self {
        if passed { Self::pass() } else { Self::fail(detail()) }
    }

    /// The same outcome of a text that was repaired before, at most this badly.
    #[must_use]
    pub fn after_repair(self, worst: Option<Severity>) -> Self {
        Outcome { repaired: worst, ..self }
    }

    /// The outcome on its own, apart from its scorer.
    pub fn into_owned(self) -> Outcome<'static> {
        let detail = self.detail.map(|detail| Cow::Owned(detail.into_owned()));
        Outcome { detail, ..self }
    }
}

/// An outcome under the name and type of its scorer.
#[derive(Clone, Debug, PartialEq)]
pub struct ScorerResult {
    /// The scorer's name, or `<type>-<index>`.
    pub name: Arc<str>,
    /// The scorer's type.
    pub kind: Arc<str>,
    /// What it said.
    pub outcome: Outcome<'static>,
}

/// What a gate says of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Verdict {
    /// The text is refused.
    Block = 0,
    /// The text is good.
    Pass = 1,
    /// A judge is configured and could still change the outcome.
    Undecided = 2,
}

impl Verdict {
    /// `block`, `pass` or `undecided`.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Block => "block",
            Verdict::Pass => "pass",
            Verdict::Undecided => "undecided",
        }
    }
}

/// Why a gate did not pass, where the scorers' results alone do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// The scorers failed and no judge is configured.
    BelowThreshold = 1,
    /// Not even a judge's score of 1 could reach the threshold.
    OutOfReach = 2,
    /// There was no text.
    MissingInput = 3,
}

impl Reason {
    /// The reason as users read it.
    pub const fn text(self) -> &'static str {
        match self {
            Reason::BelowThreshold => "deterministic scorers below threshold",
            Reason::OutOfReach => "scorers too low for any judge score to reach the threshold",
            Reason::MissingInput => "missing input",
        }
    }

    /// Who decided: the scorers, or for missing input the policy.
    pub fn decided_by(self) -> &'static str {
        if self == Reason::MissingInput { "policy" } else { "scorers" }
    }
}

/// A gate's verdict before any result is named: what a batch keeps of each row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// The combined score, in [0, 1].
    pub combined: f64,
    /// Why the gate did not pass.
    pub reason: Option<Reason>,
}

impl Decision {
    /// The decision on a row without text.
    pub fn missing_input() -> Self {
        let reason = Some(Reason::MissingInput);
        Decision { verdict: Verdict::Block, combined: 0.0, reason }
    }

    /// Who decided; None while undecided.
    pub fn decided_by(&self) -> Option<&'static str> {
        match self.verdict {
            Verdict::Undecided => None,
            _ => Some(self.reason.map_or("scorers", Reason::decided_by)),
        }
    }
}

/// A gate's decision with the results it stands on.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// The decision.
    pub decision: Decision,
    /// The results, in the order of the scorers; empty for missing input.
    pub results: Vec<ScorerResult>,
    /// The threshold of a weighted gate.
    pub threshold: Option<f64>,
}
