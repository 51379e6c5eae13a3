//! The judge grammar: a score, a verdict, or both.

use super::decision::{self, Decision};
use super::form::ReplyForm;
use super::state::{OnUnparseable, State};
use super::tables::{Label, Say, Words};
use super::tokens::{Kind, Tokens};
use super::value::{self, Score, Span, Value};
use super::verdict::{disputed, reason, silent, verdict_of};
use super::voice::own_voice;
use super::votes::{Asked, Vote, votes};
use crate::result::Verdict;

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

/// Reads a judge's reply (WTF-8).
pub fn parse_judge(text: &[u8], form: &ReplyForm, on_unparseable: OnUnparseable) -> JudgeReading {
    let voice = own_voice(text);
    let (tokens, words) = (Tokens::new(&voice), Words::new(form));
    let asked = Asked { label: Label::Score, words: &words, count: 0, labels: &[] };
    let votes = votes(&tokens, &asked);
    match decide(&votes, &tokens, &words) {
        Ok(Some(reading)) => reading,
        Ok(None) => JudgeReading {
            score: match on_unparseable {
                OnUnparseable::Pass => Some(1.0),
                OnUnparseable::Block => Some(0.0),
                OnUnparseable::Undecided => None,
            },
            verdict: on_unparseable.verdict(),
            reason: silent(&votes, on_unparseable, "unparseable judge output (fail-closed)"),
            state: State::Silent,
            clamped: false,
        },
        Err(what) => JudgeReading {
            score: Some(0.0),
            verdict: Verdict::Block,
            reason: Some(disputed("verdict", what)),
            state: State::Disputed,
            clamped: false,
        },
    }
}

fn read(say: Say, score: Option<Score>, reason: Option<Vec<u8>>) -> JudgeReading {
    let alone = if say == Say::Pass { 1.0 } else { 0.0 };
    JudgeReading {
        score: Some(score.map_or(alone, |score| score.value)),
        verdict: verdict_of(say),
        reason,
        state: State::Read,
        clamped: score.is_some_and(|score| score.clamped),
    }
}

fn own_score(vote: &Vote) -> Option<Score> {
    match vote.score {
        Some(Value::Said(score, true)) => Some(score),
        _ => None,
    }
}

/// What the votes come to; None where there are none, an error for a dispute.
fn decide(
    votes: &[Vote],
    tokens: &Tokens<'_>,
    words: &Words<'_>,
) -> Result<Option<JudgeReading>, &'static str> {
    let pass_at = words.form.pass_at;
    let (say, index) = match decision::verdict(votes, tokens, words) {
        Decision::Read(say, index) => (say, index),
        Decision::Disputed(what) => {
            let label = what == "a block without its label";
            return match decision::score(votes, pass_at, tokens) {
                // A score under the mark blocks whatever else is said.
                Decision::Read(score, at) if label && score.value < pass_at => {
                    Ok(Some(read(Say::Block, Some(score), votes[at].reason.clone())))
                }
                _ => Err(what),
            };
        }
        Decision::Silent => return scores_alone(votes, tokens, words),
    };
    let vote = &votes[index];
    // Of several scores the last plain one; of an object that decides its own.
    let marked = || {
        let own = |v: &&Vote| own_score(v).is_some() && (!v.object || v.plain) && placed(v);
        votes.iter().rev().find(own).and_then(own_score)
    };
    let score = if vote.object { own_score(vote) } else { None }.or_else(marked);
    if say == Say::Pass {
        let low = |v: &Vote| match v.score {
            Some(Value::Said(score, plain)) => score.value < pass_at || !plain,
            _ => false,
        };
        if votes[index + 1..].iter().any(low) {
            return Err("a score behind the pass blocks");
        }
    }
    Ok(Some(read(say, score, reason(votes, say, index))))
}

fn placed(vote: &Vote) -> bool {
    vote.plain || vote.of.is_none() || vote.is_final
}

/// A number without a label blocks where it is all there is, or is what the reply rates.
fn unlabelled(
    tokens: &Tokens<'_>,
    words: &Words<'_>,
) -> Result<Option<JudgeReading>, &'static str> {
    let low = |score: &Score| score.value < words.form.pass_at;
    let at = |from: usize, to: usize| match value::score(tokens, Span { from, to }, words, None) {
        Value::Said(score, true) if low(&score) => Some(score),
        _ => None,
    };
    let dress = |&i: &usize| !matches!(tokens.kind(i), Some(Kind::Line | Kind::Mark('`')));
    let first = (0..tokens.len()).find(dress).unwrap_or(0);
    if let Some(score) = at(first, tokens.len()) {
        return Ok(Some(read(Say::Block, Some(score), None)));
    }
    let rated = (0..tokens.len()).any(|i| {
        tokens.word(i) == "rate" && (i + 1..i + 4).any(|from| at(from, tokens.len()).is_some())
    });
    if rated { Err("a low score without its label") } else { Ok(None) }
}

fn scores_alone(
    votes: &[Vote],
    tokens: &Tokens<'_>,
    words: &Words<'_>,
) -> Result<Option<JudgeReading>, &'static str> {
    let pass_at = words.form.pass_at;
    let (score, index) = match decision::score(votes, pass_at, tokens) {
        Decision::Read(score, index) => (score, index),
        Decision::Disputed(what) => return Err(what),
        Decision::Silent if votes.is_empty() => return unlabelled(tokens, words),
        Decision::Silent => return Ok(None),
    };
    let vote = &votes[index];
    let unknown = votes.iter().any(|vote| matches!(vote.verdict, Some(Value::Unknown)));
    let say = if score.value >= pass_at {
        if unknown {
            return Err("a word that says nothing beside a passing score");
        }
        if vote.object && !vote.plain {
            return Err("the score is quoted");
        }
        Say::Pass
    } else if score.clamped && matches!(vote.verdict, Some(Value::Unknown)) {
        // A number below its scale speaks only where nothing stands beside it in its object: any
        // other word passes there, as the document has it.
        Say::Pass
    } else {
        Say::Block
    };
    Ok(Some(read(say, Some(score), vote.reason.clone())))
}
