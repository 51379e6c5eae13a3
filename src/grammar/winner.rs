//! The winner grammar: which of several variants (1-based) does a reply choose?

use super::decision::{self, Decision};
use super::form::ReplyForm;
use super::state::State;
use super::tables::{Label, Words};
use super::tokens::Tokens;
use super::value::{self, Pick};
use super::verdict::disputed;
use super::voice::own_voice;
use super::votes::{Asked, votes};

/// What a tournament judge's reply says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WinnerReading {
    /// The variant, from 1 to the number of variants.
    pub winner: u64,
    /// Why, as WTF-8; a marker gives none.
    pub reason: Option<Vec<u8>>,
    /// How the reply was read.
    pub state: State,
    /// The number was floored, or clamped to the variants that there are.
    pub clamped: bool,
    /// The reply says that none is better; `winner` is 1 then.
    pub tie: bool,
}

impl WinnerReading {
    /// Whether the reply itself names this winner, or a tie.
    pub fn parsed(&self) -> bool {
        self.state == State::Read && !self.clamped
    }
}

/// Reads a tournament judge's reply (WTF-8) on `count` variants; a count of 0 is taken as 1.
/// `labels` names them otherwise than by numbers and letters.
pub fn parse_winner(text: &[u8], count: u64, labels: &[String]) -> WinnerReading {
    let (count, form) = (count.max(1), ReplyForm::default());
    let voice = own_voice(text);
    let (tokens, words) = (Tokens::new(&voice), Words::new(&form));
    let votes = votes(&tokens, &Asked { label: Label::Winner, words: &words, count, labels });
    let default =
        WinnerReading { winner: 1, reason: None, state: State::Read, clamped: false, tie: false };
    let silent = WinnerReading {
        reason: Some(b"no parseable winner; defaulted to variant 1".to_vec()),
        state: State::Silent,
        ..default.clone()
    };
    match decision::winner(&votes, &tokens) {
        Decision::Read(Pick::Tie, index) => {
            WinnerReading { tie: true, reason: votes[index].reason.clone(), ..default }
        }
        Decision::Read(Pick::Variant(number), index) => {
            let (winner, clamped) = clamp(number, count);
            WinnerReading { winner, clamped, reason: votes[index].reason.clone(), ..default }
        }
        Decision::Disputed(what) => WinnerReading {
            reason: Some(disputed("winner", what)),
            state: State::Disputed,
            ..default
        },
        Decision::Silent if votes.is_empty() => match value::prose(&tokens, count) {
            Some(Pick::Variant(number)) => {
                WinnerReading { winner: clamp(number, count).0, ..default }
            }
            _ => silent,
        },
        Decision::Silent => silent,
    }
}
/// A number floored and clamped, and whether that changed it.
fn clamp(number: f64, count: u64) -> (u64, bool) {
    // The cast takes the whole part of what lies above 1, and saturates.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = if number < 1.0 { 1 } else { number as u64 };
    let winner = whole.clamp(1, count);
    #[allow(clippy::cast_precision_loss)] // equal only where nothing was lost
    let same = (winner as f64).to_bits() == number.to_bits();
    (winner, !same)
}
