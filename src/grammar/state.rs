//! What the three readings have in common: how a reply was read, and what silence counts as.

use crate::result::Verdict;

/// How a reply was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It says so, beyond doubt.
    Read,
    /// It says something, but contradicts or qualifies itself: it blocks, whatever the policy.
    Disputed,
    /// It holds no vote at all: the policy answers.
    Silent,
}

impl State {
    /// `read`, `disputed` or `silent`.
    pub fn name(self) -> &'static str {
        match self {
            State::Read => "read",
            State::Disputed => "disputed",
            State::Silent => "silent",
        }
    }
}

/// What a reply without any vote counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnparseable {
    /// A pass: ambiguity does not block.
    #[default]
    Pass,
    /// A block, with a reason.
    Block,
    /// Neither: nobody has decided.
    Undecided,
}

impl OnUnparseable {
    /// The names, in order.
    pub const NAMES: [&str; 3] = ["pass", "block", "undecided"];

    /// The policy of a name: `pass`, `block` or `undecided`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "pass" => Some(OnUnparseable::Pass),
            "block" => Some(OnUnparseable::Block),
            "undecided" => Some(OnUnparseable::Undecided),
            _ => None,
        }
    }

    /// The verdict on a silent reply.
    pub fn verdict(self) -> Verdict {
        match self {
            OnUnparseable::Pass => Verdict::Pass,
            OnUnparseable::Block => Verdict::Block,
            OnUnparseable::Undecided => Verdict::Undecided,
        }
    }
}
