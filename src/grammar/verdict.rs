//! The verdict grammar: does a reply pass or block?
//!
//! * JSON object: boolean `continue`, else boolean `pass`, else string `verdict`, which blocks
//!   when it holds block, fail, stop, reject or halt. `reason` comes along.
//! * Marker: `VERDICT: ` and one of the words, as a prefix (`PASSED`), or `NOT PASS`; the last
//!   one counts. A word in a list of choices (`PASS|BLOCK`) is the form of an answer and not one.

use super::choices;
use super::marker::{Label, Markers, Reader, Vote};
use super::object::{Object, read_repaired, read_strict};
use super::{OnUnparseable, ReplyForm, State, pass_or_block};
use crate::Verdict;
use crate::json::extract;

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

const KEYS: &[&str] = &["continue", "pass", "verdict"];

pub(super) const BLOCKING: [&[u8]; 5] = [b"block", b"fail", b"stop", b"reject", b"halt"];

pub(super) const LABEL: Label = Label { word: b"verdict", value };

/// Reads a gate's reply (WTF-8).
pub fn parse_verdict(
    text: &[u8],
    _form: &ReplyForm,
    on_unparseable: OnUnparseable,
) -> VerdictReading {
    let document = extract(text);
    read_strict(document.as_ref(), read)
        .or_else(|| {
            let last = Markers::new(text, &[LABEL], KEYS).last()?;
            let passes = matches!(last, Vote::Verdict(true));
            Some(VerdictReading {
                verdict: pass_or_block(passes),
                reason: None,
                state: State::Read,
            })
        })
        .or_else(|| if document.is_none() { read_repaired(text, KEYS, read) } else { None })
        .unwrap_or_else(|| unparseable(on_unparseable))
}

fn unparseable(policy: OnUnparseable) -> VerdictReading {
    let closed = policy == OnUnparseable::Block;
    let reason = closed.then(|| b"unparseable gate verdict (fail-closed)".to_vec());
    VerdictReading { verdict: policy.verdict(), reason, state: State::Silent }
}

fn read(object: Object<'_>) -> Option<VerdictReading> {
    let passes = object
        .boolean("continue")
        .or_else(|| object.boolean("pass"))
        .or_else(|| object.verdict())?;
    if object.is_cut(object.verdict(), None) {
        return None;
    }
    Some(VerdictReading {
        verdict: pass_or_block(passes),
        reason: object.reason(),
        state: State::Read,
    })
}

/// Whether a verdict in JSON holds a word that blocks.
pub(super) fn blocks(verdict: &[u8]) -> bool {
    let lower = verdict.to_ascii_lowercase();
    BLOCKING.iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}

/// Whether a text starts with a list of verdict words.
pub(super) fn is_form(text: &[u8]) -> bool {
    let mut reader = Reader::new(text, 0);
    reader.wrapping(true);
    word(&mut reader).is_some() && choices::barred(&mut reader, word)
}

fn value(reader: &mut Reader<'_>) -> Option<Vote> {
    let passes = word(reader)?;
    let behind = reader.at;
    if listed(reader, passes) {
        return None;
    }
    reader.at = behind;
    Some(Vote::Verdict(passes))
}

/// Whether the verdict that was taken is one of a list of choices.
pub(super) fn listed(reader: &mut Reader<'_>, passes: bool) -> bool {
    choices::of_verdicts(reader, LABEL.word, passes, word)
}

/// Takes a verdict word and the letters behind it, and says whether it passes.
pub(super) fn word(reader: &mut Reader<'_>) -> Option<bool> {
    if reader.word(b"do") {
        reader.wrapping(true);
        if !reader.word(b"not") {
            return None;
        }
        return negated(reader);
    }
    if reader.word(b"not") {
        return negated(reader);
    }
    let passes = plain_word(reader)?;
    reader.run(|b| b.is_ascii_alphabetic());
    Some(passes)
}

/// `NOT PASS` blocks; `NOT` before another word says nothing.
fn negated(reader: &mut Reader<'_>) -> Option<bool> {
    reader.wrapping(true);
    let passes = plain_word(reader)?;
    reader.run(|b| b.is_ascii_alphabetic());
    passes.then_some(false)
}

fn plain_word(reader: &mut Reader<'_>) -> Option<bool> {
    if reader.word(b"pass") || reader.word(b"ok") {
        return Some(true);
    }
    BLOCKING.iter().any(|word| reader.word(word)).then_some(false)
}
