//! The report that a judge reads.

use crate::result::ScorerResult;

/// The report: a heading, a line a scorer, the combined score. No line feed at the end.
pub fn format_report(results: &[ScorerResult], combined: f64, threshold: Option<f64>) -> String {
    let mut report = String::from("## Deterministic scorer report");
    for result in results {
        let said = if result.outcome.passed { "PASS" } else { "FAIL" };
        report.push_str(&format!("\n- [{said}] {} ({})", result.name, result.kind));
        if let Some(detail) = &result.outcome.detail {
            report.push_str(": ");
            report.push_str(detail);
        }
    }
    report.push_str(&format!("\nCombined score: {}", shown(combined, threshold)));
    if let Some(threshold) = threshold {
        let mut buffer = ryu_js::Buffer::new();
        report.push_str(&format!(" (threshold {})", buffer.format(threshold)));
    }
    report
}

/// A score with three decimals; with all its digits where three would put it on the other side of
/// the threshold.
fn shown(combined: f64, threshold: Option<f64>) -> String {
    let short = to_fixed3(combined);
    let side = |value: f64| threshold.is_none_or(|threshold| value >= threshold);
    if short.parse().is_ok_and(|value| side(value) == side(combined)) {
        return short;
    }
    ryu_js::Buffer::new().format(combined).to_owned()
}

/// Three decimals as JavaScript's `toFixed(3)` rounds: a tie goes to the larger.
pub fn to_fixed3(value: f64) -> String {
    ryu_js::Buffer::new().format_to_fixed(value, 3).to_owned()
}
