//! How the results of scorers become one score. Sums are IEEE doubles, in order.

use crate::json::Value;
use crate::result::Outcome;

/// How results aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every scorer passed.
    All,
    /// At least one scorer passed.
    Any,
    /// The weighted mean of the scores reaches the threshold.
    Weighted,
}

/// The names of the modes.
pub(super) const MODES: [(&str, Mode); 3] =
    [("all", Mode::All), ("any", Mode::Any), ("weighted", Mode::Weighted)];

impl Mode {
    /// Reads a mode's name; none and null are `all`.
    pub fn read(value: Option<&Value>) -> Option<Mode> {
        match value {
            None | Some(Value::Null) => Some(Mode::All),
            Some(value) => value.as_bytes().and_then(Mode::named),
        }
    }

    /// The mode of a name.
    pub fn named(name: &[u8]) -> Option<Mode> {
        MODES.iter().find(|(n, _)| n.as_bytes() == name).map(|&(_, mode)| mode)
    }
}

/// A combined score and whether it passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combination {
    /// The score, in [0, 1].
    pub combined: f64,
    /// Whether it passes.
    pub passed: bool,
}

/// Combines results. In weighted mode, a judge that has not run counts with score 0 and weight
/// `judge_weight`, which makes the sum a lower bound; fewer weights than results count as all 1.
/// No results: combined 0, not passed.
pub fn combine_scores(
    results: &[Outcome<'_>],
    mode: Mode,
    weights: Option<&[f64]>,
    threshold: f64,
    judge_weight: f64,
) -> Combination {
    let binary = |passed: bool| Combination { combined: if passed { 1.0 } else { 0.0 }, passed };
    match mode {
        _ if results.is_empty() => binary(false),
        Mode::All => binary(results.iter().all(|r| r.passed)),
        Mode::Any => binary(results.iter().any(|r| r.passed)),
        Mode::Weighted => {
            let weights = weights.filter(|w| w.len() >= results.len());
            let (mut sum, mut total) = (0.0, judge_weight);
            for (i, result) in results.iter().enumerate() {
                let weight = weights.map_or(1.0, |w| w[i]);
                sum += result.score * weight;
                total += weight;
            }
            let combined = if total > 0.0 { sum / total } else { 0.0 };
            Combination { combined, passed: combined >= threshold }
        }
    }
}

/// Folds the judge's score, clamped to [0, 1], into the combination, with the last of N+1
/// weights; any other number of weights counts as all 1.
pub fn combine_with_judge(
    results: &[Outcome<'_>],
    weights: &[f64],
    threshold: f64,
    judge_score: f64,
) -> Combination {
    let given = weights.len() == results.len() + 1;
    let weight = |i: usize| if given { weights[i] } else { 1.0 };
    let (mut sum, mut total) = (0.0, 0.0);
    let judge = if judge_score.is_nan() { 0.0 } else { judge_score.clamp(0.0, 1.0) };
    for (i, score) in results.iter().map(|r| r.score).chain([judge]).enumerate() {
        sum += score * weight(i);
        total += weight(i);
    }
    let combined = if total > 0.0 { sum / total } else { 0.0 };
    Combination { combined, passed: combined >= threshold }
}
