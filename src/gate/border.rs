//! Weights for which rounding decides at the threshold.
//!
//! A combined score is a sum of doubles over a sum of doubles. Where some of the scorers pass whose
//! weights, as they are written, make exactly the threshold, the doubles may fall short of it:
//! 0.1 + 0.7 over 1.0 is below 0.8.

use std::collections::BTreeSet;

use crate::json::Value;

/// Past so many different sums nothing is said.
const SUMS: usize = 1 << 14;

/// A decimal as it is written, without its point: digits and how many stand behind the point.
fn decimal(text: &str) -> Option<(i128, u32)> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let value: i128 = format!("{whole}{part}").parse().ok()?;
    let scale = i32::try_from(part.len()).ok()?.checked_sub(exponent)?;
    if scale >= 0 {
        return Some((value, u32::try_from(scale).ok()?));
    }
    let zeros = 10_i128.checked_pow(u32::try_from(-scale).ok()?)?;
    Some((value.checked_mul(zeros)?, 0))
}

fn number(value: &Value) -> Option<(i128, u32)> {
    match value {
        Value::Number(number) => decimal(number.text()),
        _ => None,
    }
}

/// What to say of the weights of a block, and the weights that would do; None where they are
/// exact, or too many to try.
pub(super) fn inexact(block: &Value, scorers: usize) -> Option<(String, Option<String>)> {
    let weights: Option<Vec<_>> =
        block.get("weights").map(Value::elements)?.iter().map(number).collect();
    let weights = weights?;
    let threshold = match block.get("threshold") {
        Some(value) => number(value)?,
        None => (5, 1),
    };
    let scale = weights.iter().map(|(_, scale)| *scale).max()?;
    let whole = |&(digits, at): &(i128, u32)| digits.checked_mul(10_i128.checked_pow(scale - at)?);
    let exact: Vec<i128> = weights.iter().map(whole).collect::<Option<_>>()?;
    let total = exact.iter().try_fold(0_i128, |sum, w| sum.checked_add(*w))?;
    // The sums that reach the threshold: sum * 10^scale(threshold) >= total * threshold.
    let unit = 10_i128.checked_pow(threshold.1)?;
    let border = total.checked_mul(threshold.0)?;
    if border % unit != 0 {
        return None; // No sum makes exactly the threshold.
    }
    let border = border / unit;
    let written: Vec<f64> =
        block.get("weights")?.elements().iter().filter_map(Value::as_f64).collect();
    let judge: f64 = written.get(scorers..)?.iter().sum();
    let wanted = block.get("threshold").and_then(Value::as_f64).unwrap_or(0.5);
    let sum = written.iter().take(scorers).fold(judge, |sum, weight| sum + weight);

    // Doubles of no sign order as their bits do.
    let mut sums = BTreeSet::from([(0_i128, 0_u64)]);
    for (exact, written) in exact.iter().zip(&written).take(scorers) {
        let more: Vec<(i128, u64)> = sums
            .iter()
            .map(|(so_far, bits)| (so_far + exact, (f64::from_bits(*bits) + written).to_bits()))
            .filter(|(so_far, _)| *so_far <= border)
            .collect();
        sums.extend(more);
        if sums.len() > SUMS {
            return None;
        }
    }
    let short = |bits: u64| f64::from_bits(bits) / sum < wanted;
    let missed = sums.iter().find(|(exact, bits)| *exact == border && short(*bits))?;
    let combined = f64::from_bits(missed.1) / sum;
    let message = format!(
        "weights that make exactly the threshold {wanted} sum to {combined} in doubles, which blocks"
    );
    Some((message, Some(format!("write whole weights: {exact:?}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_that_rounding_misses_are_found() {
        let found = |weights: &str, threshold: f64, scorers| {
            let block = format!("{{\"weights\": {weights}, \"threshold\": {threshold}}}");
            inexact(&Value::parse(block.as_bytes()).unwrap(), scorers)
        };
        let (message, hint) = found("[0.1, 0.2, 0.7]", 0.8, 3).unwrap();
        assert!(message.contains("0.7999999999999999"), "{message}");
        assert_eq!(hint.as_deref(), Some("write whole weights: [1, 2, 7]"));
        assert_eq!(found("[1, 2, 7]", 0.8, 3), None);
        assert_eq!(found("[0.3, 0.7]", 0.7, 2), None);
        assert_eq!(found("[0.1, 0.2, 0.7]", 0.85, 3), None);
        assert_eq!(found("[1e30, 2e-30]", 0.5, 2), None);
        // A judge's weight counts in the sum of weights.
        assert_eq!(found("[1, 1, 2]", 0.5, 2), None);
    }
}
