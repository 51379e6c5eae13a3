//! The winner grammar: which of several variants (1-based) does a reply choose?
//!
//! * JSON object: the first of `winner`, `best` and `choice` that is present and not null decides
//!   alone: a number, a string that JavaScript's `Number` reads as one, or a string that reads
//!   like a marker's value; floored and clamped.
//! * Marker: `WINNER: ` and `2`, `#2`, `variant 2` (variant, option, candidate, response, no.).

use super::State;
use super::choices;
use super::marker::{Label, Markers, Reader, Vote};
use super::number::js_number;
use super::object::{Object, read_repaired, read_strict};
use crate::json::{Kind, extract};

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

const KEYS: &[&str] = &["winner", "best", "choice"];

const WORDS: [&[u8]; 5] = [b"variant", b"option", b"candidate", b"response", b"no."];

pub(super) const LABELS: &[Label] = &[Label { word: b"winner", value }];

/// Reads a tournament judge's reply (WTF-8) on `count` variants; a count of 0 is taken as 1.
/// `labels` names them otherwise than by numbers and letters.
pub fn parse_winner(text: &[u8], count: u64, _labels: &[String]) -> WinnerReading {
    let count = count.max(1);
    let document = extract(text);
    let read = |object: Object<'_>| read(object, count);
    read_strict(document.as_ref(), read)
        .or_else(|| match Markers::new(text, LABELS, KEYS).last()? {
            Vote::Winner(winner) => Some(WinnerReading {
                winner: winner.clamp(1, count),
                reason: None,
                state: State::Read,
                clamped: winner != winner.clamp(1, count),
                tie: false,
            }),
            _ => None,
        })
        .or_else(|| if document.is_none() { read_repaired(text, KEYS, read) } else { None })
        .unwrap_or_else(|| WinnerReading {
            winner: 1,
            reason: Some(b"no parseable winner; defaulted to variant 1".to_vec()),
            state: State::Silent,
            clamped: false,
            tie: false,
        })
}

fn read(object: Object<'_>, count: u64) -> Option<WinnerReading> {
    let present = |key: &&str| object.get(key).filter(|value| value.kind() != Kind::Null);
    let value = KEYS.iter().find_map(present)?;
    let (mut written, mut number_clamped) = (None, false);
    let mut clamp = |number: f64| {
        written = Some(number);
        clamp(number, count)
    };
    let winner = match value.kind() {
        Kind::Number if object.is_list(value, LABELS[0].word, &WORDS) => return None,
        Kind::Number => clamp(value.number_text().parse().ok()?)?,
        Kind::String => {
            let text = value.content();
            match js_number(&text) {
                Some(number) => clamp(number)?,
                None => {
                    let mut reader = Reader::new(&text, 0);
                    reader.wrapping(true);
                    let number = variant(&mut reader)?;
                    number_clamped = number != number.clamp(1, count);
                    number.clamp(1, count)
                }
            }
        }
        _ => return None,
    };
    #[allow(clippy::cast_precision_loss)] // equal only where nothing was lost
    let same = written.is_none_or(|number| number.to_bits() == (winner as f64).to_bits());
    Some(WinnerReading {
        winner,
        reason: object.reason(),
        state: State::Read,
        clamped: number_clamped || !same,
        tie: false,
    })
}

/// A number floored and clamped; None unless it is finite.
fn clamp(number: f64, count: u64) -> Option<u64> {
    if !number.is_finite() {
        return None;
    }
    // The cast takes the whole part of what lies above 1, and saturates.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = if number < 1.0 { 1 } else { number as u64 };
    Some(whole.clamp(1, count))
}

fn value(reader: &mut Reader<'_>) -> Option<Vote> {
    variant(reader).map(Vote::Winner)
}

/// Takes `#?` and digits, after a word for a variant or none.
///
/// A number in a list or range that starts at 1 (`1|2|3`, `1-N`), or before `or`, is the form of an
/// answer and not one.
fn variant(reader: &mut Reader<'_>) -> Option<u64> {
    let number = number(reader)?;
    let behind = reader.at;
    if choices::of_numbers(reader, LABELS[0].word, number == 1, &WORDS) {
        return None;
    }
    reader.at = behind;
    Some(number)
}

fn number(reader: &mut Reader<'_>) -> Option<u64> {
    if WORDS.iter().any(|word| reader.word(word)) {
        reader.wrapping(true);
    }
    reader.take(b"#");
    let start = reader.at;
    if reader.run(|b| b.is_ascii_digit()) == 0 {
        return None;
    }
    let digit = |sum: u64, b: &u8| sum.saturating_mul(10).saturating_add(u64::from(b - b'0'));
    Some(reader.since(start).iter().fold(0, digit))
}
