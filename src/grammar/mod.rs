//! What a judge's reply says: a verdict, a winner, a score.
//!
//! Each grammar reads in the same order and takes the first step that gives an answer:
//!
//! 1. The JSON value of the strict tier, where it is an object with a readable key.
//! 2. Text markers (`VERDICT: BLOCK`), the last readable one. A marker inside a span that the
//!    repair tier reads as an object holding one of the grammar's keys is quoted text, no vote;
//!    neither is a list of choices, the form of an answer.
//! 3. Where the strict tier found no value at all: the repaired object.
//! 4. The policy for replies that cannot be read.
//!
//! Markers are found by one forward scan ([`marker_steps`] counts its work); nothing here raises.
//!
//! ```
//! use scoregate::Verdict;
//! use scoregate::grammar::{OnUnparseable, parse_verdict};
//!
//! let read = parse_verdict(b"Looks fine, but...\n**VERDICT**: NOT PASS", OnUnparseable::Block);
//! assert_eq!(read.verdict, Verdict::Block);
//! ```

mod choices;
mod judge;
mod marker;
mod number;
mod object;
mod quoted;
mod verdict;
mod winner;

pub use judge::{JudgeReading, parse_judge};
pub use marker::marker_steps;
pub use verdict::{VerdictReading, parse_verdict};
pub use winner::{WinnerReading, parse_winner};

/// What a reply that cannot be read counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnparseable {
    /// A pass: ambiguity does not block.
    #[default]
    Pass,
    /// A block, with a reason.
    Block,
}

impl OnUnparseable {
    /// The policy of a name: `pass` or `block`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "pass" => Some(OnUnparseable::Pass),
            "block" => Some(OnUnparseable::Block),
            _ => None,
        }
    }
}

fn pass_or_block(passes: bool) -> crate::Verdict {
    if passes { crate::Verdict::Pass } else { crate::Verdict::Block }
}
