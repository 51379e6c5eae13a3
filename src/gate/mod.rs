//! A gate: scorers, how their results combine, and what the combination decides.

mod border;
mod combine;
mod report;
mod source;
mod spec;

use std::borrow::Cow;
use std::sync::Arc;

pub use combine::{Combination, Mode, combine_scores, combine_with_judge};
pub use report::{format_report, to_fixed3};
pub use source::places;
pub use spec::{gate_schema, score_issues, score_shape_errors};

use crate::error::{IssueKind, Path, SpecError, SpecIssue, Step};
use crate::json::{self, ErrorKind, MAX_DEPTH, ParseError, Value};
use crate::position::{Position, Positions};
use crate::result::{Decision, GateResult, Outcome, Reason, ScorerResult, Verdict};
use crate::row::Row;
use crate::scorer::{Options, Scorer};
use crate::scorers;
use crate::target::Target;
use crate::text::{to_utf8, trim_js};

/// A built gate: immutable, shared by every thread.
pub struct Gate {
    scorers: Vec<Named>,
    mode: Mode,
    weights: Vec<f64>,
    threshold: f64,
    judge: Option<Judge>,
    source: Value,
    /// The text that the gate was read from, as strict JSON.
    text: Option<Box<[u8]>>,
    /// Where the score block is in that text.
    part: Vec<Step>,
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
            return Err(SpecError::one(too_deep()));
        }
        let issues = score_issues(spec, "score");
        if !issues.is_empty() {
            return Err(SpecError::new(issues));
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
            text: None,
            part: Vec::new(),
        })
    }

    /// Builds a gate from the JSON text of a score block, in which comments and a comma after the
    /// last element are fine. Issues say where they stand in it.
    pub fn from_json(text: &[u8], options: Options) -> Result<Self, SpecError> {
        Gate::from_part(text, &[], options)
    }

    /// Builds a gate from a part of a JSON text, such as the score block of one phase of a flow.
    pub fn from_part(text: &[u8], part: &[Step], options: Options) -> Result<Self, SpecError> {
        let strict = source::strict(text);
        let whole =
            Value::parse(&strict).map_err(|error| SpecError::one(not_json(&error, text)))?;
        let inner = |value: &Value, step: &Step| match step {
            Step::Index(index) => value.elements().get(*index).cloned(),
            Step::Key(key) => {
                value.members().iter().find(|(k, _)| k == key).map(|(_, v)| v.clone())
            }
        };
        let spec = part.iter().fold(whole, |v, step| inner(&v, step).unwrap_or(Value::Null));
        let mut gate = Gate::new(&spec, options).map_err(|mut error| {
            source::locate(error.issues_mut(), &strict, part);
            error
        })?;
        gate.text = Some(strict.into());
        gate.part = part.to_vec();
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

    /// The fields of a row that are read besides its text: those that the judge is shown.
    pub fn columns(&self) -> Vec<&str> {
        let judge = self.source.get("judge").and_then(|judge| judge.get("fields"));
        judge.map(Value::elements).unwrap_or_default().iter().filter_map(Value::as_str).collect()
    }

    /// The threshold of a weighted gate.
    pub fn threshold(&self) -> Option<f64> {
        (self.mode == Mode::Weighted).then_some(self.threshold)
    }

    /// What an author should know: keys that are repeated, scorers that can never pass or never
    /// fail, schemas that let much pass, weights that miss the threshold by rounding.
    pub fn warnings(&self) -> Vec<SpecIssue> {
        let root = Path::root("score");
        let warning = |(i, named): (usize, &Named)| {
            let found = named.scorer.warning()?;
            let path = root.key("scorers").index(i);
            let line = format!("{path} ({}): {}", named.name, found.message);
            Some(SpecIssue::line(found.kind, path, line).hinted(found.hint))
        };
        let mut found: Vec<SpecIssue> =
            self.scorers.iter().enumerate().filter_map(warning).collect();
        if self.mode == Mode::Weighted
            && let Some(border) = border::inexact(&self.source, self.scorers.len())
        {
            let path = root.key("weights");
            found.push(SpecIssue::new(IssueKind::InexactBorder, path, border.0).hinted(border.1));
        }
        let Some(text) = &self.text else { return found };
        source::locate(&mut found, text, &self.part);
        // A text of several gates is told of once, by whoever reads it.
        let mut all = if self.part.is_empty() { repeated_keys(text) } else { Vec::new() };
        all.append(&mut found);
        all
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

/// The JSON text of a gate file as strict JSON of the same length: comments and commas after a last
/// element become spaces.
pub fn strict_json(text: &[u8]) -> Result<Cow<'_, [u8]>, SpecError> {
    let strict = source::strict(text);
    parse(&strict)?;
    Ok(strict)
}

fn parse(strict: &[u8]) -> Result<Value, SpecError> {
    Value::parse(strict).map_err(|error| SpecError::one(not_json(&error, strict)))
}

fn too_deep() -> SpecIssue {
    let message = format!("nested deeper than {MAX_DEPTH} levels");
    SpecIssue::new(IssueKind::TooDeep, Path::root("score"), message)
}

/// The issue of a text that is not JSON.
fn not_json(error: &ParseError, text: &[u8]) -> SpecIssue {
    let at = Positions::new(text).of(error.offset);
    let mut message = format!("not JSON: {error}");
    // In a text of one line the byte says enough.
    if text.contains(&b'\n') {
        message.push_str(&format!(" (line {}, column {})", at.line, at.column));
    }
    let deep = error.kind == ErrorKind::TooDeep;
    let kind = if deep { IssueKind::TooDeep } else { IssueKind::NotJson };
    let mut issue = SpecIssue::new(kind, Path::root("score"), message);
    issue.set_place(at);
    issue
}

/// What an author should know of keys that stand twice in one object of a gate's JSON text.
pub fn repeated_keys(text: &[u8]) -> Vec<SpecIssue> {
    let strict = source::strict(text);
    let Ok(document) = json::parse(&strict) else { return Vec::new() };
    let mut positions = Positions::new(text);
    let told = |found: json::Diagnostic| {
        let key = to_utf8(text.get(found.start..found.end).unwrap_or_default()).into_owned();
        let at: Position = positions.of(found.start);
        let place = format!("line {}, column {}", at.line, at.column);
        let message = format!("repeated key \"{key}\" ({place}); its last value counts");
        let mut issue = SpecIssue::new(IssueKind::RepeatedKey, Path::root("score"), message);
        issue.set_place(at);
        issue
    };
    json::duplicate_keys(&document).into_iter().map(told).collect()
}

const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Gate>();
};
