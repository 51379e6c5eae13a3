//! The judge grammar: a score, a verdict, or both.
//!
//! * JSON object: `score`, clamped to [0, 1], and string `verdict`, boolean `continue` or boolean
//!   `pass`, in this order, over it. A verdict alone gives score 1 or 0; a score alone passes from
//!   0.5 on.
//! * Markers: the last `SCORE: ` sets the score, the last `VERDICT: ` the verdict. A score outside
//!   [0, 1] is no marker: `SCORE: 10` never reads as 1.

use super::marker::{Label, Markers, Reader, Vote};
use super::number::{js_number, score as read_score};
use super::object::{Object, read_repaired, read_strict};
use super::verdict;
use super::{OnUnparseable, ReplyForm, State, pass_or_block};
use crate::Verdict;
use crate::json::{Kind, extract};
use crate::target::trim_js;

/// What a judge's reply says.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeReading {
    /// The score, in [0, 1]; None where nobody has decided.
    pub score: Option<f64>,
    /// Pass or block; undecided where the policy says so.
    pub verdict: Verdict,
    /// Why, as WTF-8; markers give none.
    pub reason: Option<Vec<u8>>,
    /// How the reply was read.
    pub state: State,
    /// The number was off the scale and counts as its end.
    pub clamped: bool,
}

const KEYS: &[&str] = &["score", "verdict", "pass", "continue"];

pub(super) const LABELS: &[Label] =
    &[Label { word: b"score", value: score_marker }, verdict::LABEL];

/// Reads a judge's reply (WTF-8).
pub fn parse_judge(text: &[u8], _form: &ReplyForm, on_unparseable: OnUnparseable) -> JudgeReading {
    let document = extract(text);
    read_strict(document.as_ref(), read)
        .or_else(|| markers(text))
        .or_else(|| if document.is_none() { read_repaired(text, KEYS, read) } else { None })
        .unwrap_or_else(|| unparseable(on_unparseable))
}

fn unparseable(policy: OnUnparseable) -> JudgeReading {
    let closed = policy == OnUnparseable::Block;
    let reason = closed.then(|| b"unparseable judge output (fail-closed)".to_vec());
    let score = match policy {
        OnUnparseable::Pass => Some(1.0),
        OnUnparseable::Block => Some(0.0),
        OnUnparseable::Undecided => None,
    };
    JudgeReading { score, verdict: policy.verdict(), reason, state: State::Silent, clamped: false }
}

/// A score, a verdict or both; None without any.
fn reading(
    score: Option<f64>,
    passes: Option<bool>,
    reason: Option<Vec<u8>>,
) -> Option<JudgeReading> {
    let passes = passes.or_else(|| score.map(|score| score >= 0.5))?;
    let score = score.unwrap_or(if passes { 1.0 } else { 0.0 });
    Some(JudgeReading {
        score: Some(score.clamp(0.0, 1.0) + 0.0),
        verdict: pass_or_block(passes),
        reason,
        state: State::Read,
        // The sum makes -0 plain.
        clamped: !(0.0..=1.0).contains(&score),
    })
}

fn markers(text: &[u8]) -> Option<JudgeReading> {
    let (mut score, mut passes) = (None, None);
    for vote in Markers::new(text, LABELS, KEYS) {
        match vote {
            Vote::Score(value) => score = Some(value),
            Vote::Verdict(value) => passes = Some(value),
            Vote::Winner(_) => {}
        }
    }
    reading(score, passes, None)
}

fn score_marker(reader: &mut Reader<'_>) -> Option<Vote> {
    read_score(reader).map(Vote::Score)
}

fn read(object: Object<'_>) -> Option<JudgeReading> {
    let passes =
        object.verdict().or_else(|| object.boolean("continue")).or_else(|| object.boolean("pass"));
    let score = score(object);
    if (passes.is_none() && score.is_none()) || object.is_cut(object.verdict(), score) {
        return None;
    }
    reading(score, passes, object.reason())
}

fn score(object: Object<'_>) -> Option<f64> {
    let value = object.get("score")?;
    let number = match value.kind() {
        Kind::Number => {
            // Broken JSON may go on: `85%`, `8/10`, `0.0-1.0`.
            if let Some(mut tail) = object.tail(value) {
                tail.wrapping(false);
                let plain = matches!(tail.rest(), [] | [b'\n' | b'\r' | b'}' | b']', ..])
                    || matches!(tail.rest(), [b',', next, ..] if !next.is_ascii_digit())
                    || tail.rest() == b",";
                if !plain {
                    let start = value.text_span()?.0;
                    tail.at = start;
                    return read_score(&mut tail);
                }
            }
            value.number_text().parse().ok().filter(|number: &f64| number.is_finite())?
        }
        Kind::String => {
            let text = value.content();
            if trim_js(&text).is_empty() {
                return None;
            }
            match js_number(&text) {
                Some(number) => number,
                None => {
                    let mut reader = Reader::new(&text, 0);
                    reader.wrapping(true);
                    read_score(&mut reader)?
                }
            }
        }
        _ => return None,
    };
    Some(number)
}
