//! What a judge's reply says: a verdict, a winner, a score.
//!
//! A block needs only to be said; a pass must be plain, last and undisputed. One way for all three:
//!
//! 1. The reply's own voice: reasoning is taken out, template tokens are line ends.
//! 2. Its votes, in the order of the text: JSON objects with a key of the grammar, and markers
//!    (`VERDICT: BLOCK`). A marker inside such an object is quoted text; a list of choices is the
//!    form of an answer, and no vote.
//! 3. Which of them are plain, and which one counts. What contradicts or qualifies itself is
//!    disputed, and blocks; what holds no vote is silent, and goes by the policy.
//!
//! Nothing here raises, and work is linear in the text ([`reading_steps`] counts it).
//!
//! ```
//! use scoregate::Verdict;
//! use scoregate::grammar::{OnUnparseable, ReplyForm, parse_verdict};
//!
//! let form = ReplyForm::default();
//! let read = parse_verdict(b"Looks fine, but...\n**VERDICT**: NOT PASS", &form, OnUnparseable::Block);
//! assert_eq!(read.verdict, Verdict::Block);
//! ```

mod decision;
mod form;
mod judge;
mod number;
mod object;
mod state;
mod tables;
mod tokens;
mod value;
mod verdict;
mod voice;
mod votes;
mod winner;

pub use form::ReplyForm;
pub(crate) use form::reply_issues;
pub use judge::{JudgeReading, parse_judge};
pub use state::{OnUnparseable, State};
pub use verdict::{VerdictReading, parse_verdict};
pub use winner::{WinnerReading, parse_winner};

/// The bytes and tokens that the readings of a text look at, each time that they do, for the
/// grammar that looks at most.
pub fn reading_steps(text: &[u8]) -> u64 {
    let (form, voice) = (ReplyForm::default(), voice::own_voice(text));
    let words = tables::Words::new(&form);
    let labels = [tables::Label::Verdict, tables::Label::Score, tables::Label::Winner];
    let steps = labels.map(|label| {
        let tokens = tokens::Tokens::new(&voice);
        let asked = votes::Asked { label, words: &words, count: 3, labels: &[] };
        let votes = votes::votes(&tokens, &asked);
        decision::verdict(&votes, &tokens, &words);
        decision::score(&votes, 0.5, &tokens);
        decision::winner(&votes, &tokens);
        tokens.steps()
    });
    steps.into_iter().max().unwrap_or(0)
}
