//! A gate: scorers, how their results combine, and what the combination decides.

mod combine;
mod report;
mod spec;

use std::sync::Arc;

pub use combine::{Combination, Mode, combine_scores, combine_with_judge};
pub use report::{format_report, to_fixed3};
pub use spec::{gate_schema, score_shape_errors};

use crate::error::SpecError;
use crate::json::{self, MAX_DEPTH, ParseError, Positions, Value};
use crate::result::{Decision, GateResult, Outcome, Reason, ScorerResult, Verdict};
use crate::row::Row;
use crate::scorers::{self, Options, Scorer};
use crate::target::{Target, to_utf8, trim_js};

/// A built gate: immutable, shared by every thread.
pub struct Gate {
    scorers: Vec<Named>,
    mode: Mode,
    weights: Vec<f64>,
    threshold: f64,
    judge: Option<Judge>,
    source: Value,
    /// What is said of keys that the text of the gate repeats.
    repeated: Vec<String>,
}

/// A scorer under its name.
struct Named {
    name: Arc<str>,
    kind: Arc<str>,
    impure: bool,
    scorer: Box<dyn Scorer>,
}

/// What a gate's judge may change.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Judge {
    /// The judge is asked even when the scorers pass.
    always: bool,
    /// The judge's weight, where its score is folded into the combination.
    weight: Option<f64>,
}

/// A name for a scorer: its own, trimmed, or `<type>-<index>`.
fn scorer_name(spec: &Value, kind: &str, index: usize) -> Arc<str> {
    let own = trim_js(spec.get("name").and_then(Value::as_bytes).unwrap_or_default());
    if own.is_empty() { format!("{kind}-{index}").into() } else { to_utf8(own).into() }
}

/// Scores one text with one scorer, whose shape is not checked: a missing field counts as empty.
pub fn evaluate_scorer(
    spec: &Value,
    index: usize,
    target: &Target<'_>,
    row: &Row<'_>,
) -> ScorerResult {
    let kind = to_utf8(spec.get("type").and_then(Value::as_bytes).unwrap_or_default());
    let outcome = scorers::build(spec, &Options::default()).score(target, row).into_owned();
    ScorerResult { name: scorer_name(spec, &kind, index), kind: kind.into(), outcome }
}

impl Gate {
    /// Builds a gate from a score block.
    pub fn new(spec: &Value, options: Options) -> Result<Self, SpecError> {
        if !spec.depth_ok() {
            let message = format!("score: nested deeper than {MAX_DEPTH} levels");
            return Err(SpecError::one(message));
        }
        let errors = score_shape_errors(spec, "score");
        if !errors.is_empty() {
            return Err(SpecError::new(errors));
        }
        let list = |key| spec.get(key).map(Value::elements).unwrap_or_default();
        let scorers: Vec<Named> = list("scorers")
            .iter()
            .enumerate()
            .map(|(index, spec)| {
                let kind = spec.get("type").and_then(Value::as_str).unwrap_or_default();
                Named {
                    name: scorer_name(spec, kind, index),
                    kind: kind.into(),
                    impure: scorers::entry(kind.as_bytes()).is_some_and(|entry| entry.impure),
                    scorer: scorers::build(spec, &options),
                }
            })
            .collect();
        let mut weights: Vec<f64> = list("weights").iter().filter_map(Value::as_f64).collect();
        let judge_weight = weights.get(scorers.len()).copied();
        weights.truncate(scorers.len());
        let judge = spec.get("judge").map(|judge| Judge {
            always: judge.get("when").and_then(Value::as_str) == Some("always"),
            weight: judge_weight,
        });
        Ok(Gate {
            mode: Mode::read(spec.get("combine")).unwrap_or(Mode::All),
            threshold: spec.get("threshold").and_then(Value::as_f64).unwrap_or(0.5),
            scorers,
            weights,
            judge,
            source: spec.clone(),
            repeated: Vec::new(),
        })
    }

    /// Builds a gate from the JSON text of a score block.
    pub fn from_json(text: &[u8], options: Options) -> Result<Self, SpecError> {
        let not_json = |error: ParseError| {
            let mut message = format!("score: not JSON: {error}");
            // In a text of one line the byte says enough.
            if text.contains(&b'\n') {
                let at = Positions::new(text).of(error.offset);
                message.push_str(&format!(" (line {}, column {})", at.line, at.column));
            }
            SpecError::one(message)
        };
        let spec = Value::parse(text).map_err(not_json)?;
        let mut gate = Gate::new(&spec, options)?;
        gate.repeated = repeated_keys(text).into_iter().map(|m| format!("score: {m}")).collect();
        Ok(gate)
    }

    /// The score block that the gate was built from.
    pub fn spec(&self) -> &Value {
        &self.source
    }

    /// The names and types of the scorers, in order.
    pub fn scorers(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Arc<str>)> {
        self.scorers.iter().map(|named| (&named.name, &named.kind))
    }

    /// The indices of the scorers whose results the caller supplies.
    pub fn impure(&self) -> impl Iterator<Item = usize> {
        (0..self.scorers.len()).filter(|&i| self.scorers[i].impure)
    }

    /// The threshold of a weighted gate.
    pub fn threshold(&self) -> Option<f64> {
        (self.mode == Mode::Weighted).then_some(self.threshold)
    }

    /// What an author should know: scorers that can never pass, schemas that let much pass.
    pub fn warnings(&self) -> Vec<String> {
        let warning = |(i, named): (usize, &Named)| {
            let text = named.scorer.warning()?;
            Some(format!("score.scorers[{i}] ({}): {text}", named.name))
        };
        let scorers = self.scorers.iter().enumerate().filter_map(warning);
        self.repeated.iter().cloned().chain(scorers).collect()
    }

    /// Scores one text with every scorer; `impure` supplies the outcomes that it has.
    pub fn outcomes<'a>(
        &'a self,
        target: &Target<'_>,
        row: &Row<'_>,
        impure: &dyn Fn(usize) -> Option<Outcome<'a>>,
        out: &mut Vec<Outcome<'a>>,
    ) {
        out.clear();
        out.extend(self.scorers.iter().enumerate().map(|(i, named)| {
            let given = if named.impure { impure(i) } else { None };
            given.unwrap_or_else(|| named.scorer.score(target, row))
        }));
    }

    /// What the scorers' outcomes decide.
    pub fn decide(&self, outcomes: &[Outcome<'_>]) -> Decision {
        let judge_weight = self.judge.and_then(|judge| judge.weight);
        let found = combine_scores(
            outcomes,
            self.mode,
            Some(&self.weights),
            self.threshold,
            judge_weight.unwrap_or(0.0),
        );
        let decision = |verdict, reason| Decision { verdict, combined: found.combined, reason };
        match self.judge {
            Some(judge) if found.passed && judge.always && self.mode != Mode::Weighted => {
                decision(Verdict::Undecided, None)
            }
            _ if found.passed => decision(Verdict::Pass, None),
            None => decision(Verdict::Block, Some(Reason::BelowThreshold)),
            Some(Judge { weight: Some(weight), .. }) => {
                let mut weights = self.weights.clone();
                weights.push(weight);
                let best = combine_with_judge(outcomes, &weights, self.threshold, 1.0);
                if best.passed {
                    decision(Verdict::Undecided, None)
                } else {
                    decision(Verdict::Block, Some(Reason::OutOfReach))
                }
            }
            Some(_) => decision(Verdict::Undecided, None),
        }
    }

    /// Scores one text.
    pub fn score(&self, target: &Target<'_>, row: &Row<'_>) -> GateResult {
        let mut outcomes = Vec::new();
        self.outcomes(target, row, &|_| None, &mut outcomes);
        self.result(self.decide(&outcomes), outcomes)
    }

    /// The result of a row without text.
    pub fn missing_input(&self) -> GateResult {
        self.result(Decision::missing_input(), Vec::new())
    }

    /// A result from its parts.
    pub fn result(&self, decision: Decision, outcomes: Vec<Outcome<'_>>) -> GateResult {
        let named = |(named, outcome): (&Named, Outcome<'_>)| ScorerResult {
            name: named.name.clone(),
            kind: named.kind.clone(),
            outcome: outcome.into_owned(),
        };
        let results = self.scorers.iter().zip(outcomes).map(named).collect();
        GateResult { decision, results, threshold: self.threshold() }
    }
}

/// What an author should know of keys that stand twice in one object of a JSON text.
pub fn repeated_keys(text: &[u8]) -> Vec<String> {
    let Ok(document) = json::parse(text) else { return Vec::new() };
    let mut positions = Positions::new(text);
    let told = |found: json::Diagnostic| {
        let key = to_utf8(text.get(found.start..found.end).unwrap_or_default()).into_owned();
        let at = positions.of(found.start);
        let place = format!("line {}, column {}", at.line, at.column);
        format!("repeated key \"{key}\" ({place}); its last value counts")
    };
    json::duplicate_keys(&document).into_iter().map(told).collect()
}

const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Gate>();
};
