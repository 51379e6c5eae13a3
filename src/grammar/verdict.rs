//! The verdict grammar: does a reply pass or block?

use super::decision::{self, Decision};
use super::form::ReplyForm;
use super::state::{OnUnparseable, State};
use super::tables::{Label, Say, Words};
use super::tokens::Tokens;
use super::value::Value;
use super::voice::own_voice;
use super::votes::{Asked, Vote, votes};
use crate::result::Verdict;

/// What a gate's reply says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictReading {
    /// Pass or block; undecided where the policy says so.
    pub verdict: Verdict,
    /// Why, as WTF-8; a marker gives none.
    pub reason: Option<Vec<u8>>,
    /// How the reply was read.
    pub state: State,
}

/// Reads a gate's reply (WTF-8).
pub fn parse_verdict(
    text: &[u8],
    form: &ReplyForm,
    on_unparseable: OnUnparseable,
) -> VerdictReading {
    let voice = own_voice(text);
    let (tokens, words) = (Tokens::new(&voice), Words::new(form));
    let asked = Asked { label: Label::Verdict, words: &words, count: 0, labels: &[] };
    let votes = votes(&tokens, &asked);
    match decision::verdict(&votes, &tokens, &words) {
        Decision::Read(say, index) => VerdictReading {
            verdict: verdict_of(say),
            reason: reason(&votes, say, index),
            state: State::Read,
        },
        Decision::Disputed(what) => {
            let reason = Some(disputed("verdict", what));
            VerdictReading { verdict: Verdict::Block, reason, state: State::Disputed }
        }
        Decision::Silent => VerdictReading {
            verdict: on_unparseable.verdict(),
            reason: silent(&votes, on_unparseable, "unparseable gate verdict (fail-closed)"),
            state: State::Silent,
        },
    }
}

pub(super) fn verdict_of(say: Say) -> Verdict {
    match say {
        Say::Pass => Verdict::Pass,
        Say::Block => Verdict::Block,
    }
}

pub(super) fn disputed(of: &str, what: &str) -> Vec<u8> {
    format!("disputed {of}: {what}").into_bytes()
}

/// The reason of the vote that decides, else of an object in the document's own form that agrees.
pub(super) fn reason(votes: &[Vote], say: Say, index: usize) -> Option<Vec<u8>> {
    let agrees = |vote: &&Vote| {
        vote.exact && matches!(vote.verdict, Some(Value::Said(other, _)) if other == say)
    };
    let other = || votes.iter().rev().find(agrees).and_then(|vote| vote.reason.clone());
    votes[index].reason.clone().or_else(other)
}

/// The reason of a silent reply: that of an object whose word says nothing, or that the policy
/// blocks.
pub(super) fn silent(votes: &[Vote], policy: OnUnparseable, closed: &str) -> Option<Vec<u8>> {
    let worded = |vote: &&Vote| vote.object && matches!(vote.verdict, Some(Value::Unknown));
    match votes.iter().rev().find(worded) {
        Some(vote) => vote.reason.clone(),
        None => (policy == OnUnparseable::Block).then(|| closed.as_bytes().to_vec()),
    }
}
