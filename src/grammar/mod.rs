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
//! use scoregate::grammar::{OnUnparseable, ReplyForm, parse_verdict};
//!
//! let form = ReplyForm::default();
//! let read = parse_verdict(b"Looks fine, but...\n**VERDICT**: NOT PASS", &form, OnUnparseable::Block);
//! assert_eq!(read.verdict, Verdict::Block);
//! ```

mod choices;
mod form;
mod judge;
mod marker;
mod number;
mod object;
mod quoted;
mod state;
mod verdict;
mod winner;

pub use form::{ReplyForm, reply_shape_errors};
pub use judge::{JudgeReading, parse_judge};
pub use marker::marker_steps;
pub use state::{OnUnparseable, State};
pub use verdict::{VerdictReading, parse_verdict};
pub use winner::{WinnerReading, parse_winner};

fn pass_or_block(passes: bool) -> crate::Verdict {
    if passes { crate::Verdict::Pass } else { crate::Verdict::Block }
}
