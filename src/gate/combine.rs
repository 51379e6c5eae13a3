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
            let scores = results.iter().map(|result| result.score).enumerate();
            let parts = scores.map(|(i, score)| (score, weights.map_or(1.0, |w| w[i])));
            let combined = mean(&parts, judge_weight);
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
    let judge = if judge_score.is_nan() { 0.0 } else { judge_score.clamp(0.0, 1.0) };
    let scores = results.iter().map(|r| r.score).chain([judge]).enumerate();
    let combined = mean(&scores.map(|(i, score)| (score, weight(i))), 0.0);
    Combination { combined, passed: combined >= threshold }
}

/// The mean of scores with weights, the sum of which starts at `base`. Weights whose sum overflows
/// are scaled down by a power of two, which changes no digit of them.
fn mean(parts: &(impl Iterator<Item = (f64, f64)> + Clone), base: f64) -> f64 {
    let sums = |scale: f64| {
        parts.clone().fold((0.0, base * scale), |(sum, total), (score, weight)| {
            (sum + score * (weight * scale), total + weight * scale)
        })
    };
    let mut sums_of = sums(1.0);
    if !sums_of.1.is_finite() {
        sums_of = sums(1.0 / 18_446_744_073_709_551_616.0);
    }
    let (sum, total) = sums_of;
    if total > 0.0 && total.is_finite() { sum / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_weights_do_not_overflow() {
        let outcome = |score| Outcome { score, ..Outcome::check(score >= 0.5, String::new) };
        let results = [outcome(1.0), outcome(0.0), outcome(1.0), outcome(1.0)];
        let combine = |weights: &[f64], judge| {
            combine_scores(&results, Mode::Weighted, Some(weights), 0.7, judge).combined.to_bits()
        };
        assert_eq!(combine(&[1e308; 4], 0.0), 0.75f64.to_bits());
        assert_eq!(combine(&[f64::MAX; 4], f64::MAX), 0.6f64.to_bits());
        assert_eq!(combine(&[1e308, 1e308, 1.0, 1e-300], 0.0), 0.5f64.to_bits());
        assert_eq!(combine(&[f64::INFINITY, 1.0, 1.0, 1.0], 0.0), 0.0f64.to_bits());
        let folded = combine_with_judge(&results, &[1e308; 5], 0.7, 1.0);
        assert_eq!((folded.combined.to_bits(), folded.passed), (0.8f64.to_bits(), true));
    }
}
