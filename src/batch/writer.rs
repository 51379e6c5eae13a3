//! Output lines.

use crate::gate::Gate;
use crate::json::{Cursor, Kind, quote_into};
use crate::result::{Decision, Outcome};

/// Which results an output line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Those of failed scorers.
    Failed,
    /// All.
    All,
    /// None.
    None,
}

/// `{"name": …, "type": …, "passed": `, which each result of a scorer starts with.
pub(super) fn result_head(name: &str, kind: &str) -> String {
    let mut head = b"{\"name\":".to_vec();
    quote_into(&mut head, name.as_bytes());
    head.extend_from_slice(b",\"type\":");
    quote_into(&mut head, kind.as_bytes());
    head.extend_from_slice(b",\"passed\":");
    String::from_utf8(head).unwrap_or_default()
}

/// Writes output lines.
pub(super) struct Writer<'a> {
    pub(super) gate: &'a Gate,
    pub(super) shown: Shown,
    /// What each result of a scorer starts with.
    pub(super) names: &'a [String],
}

impl Writer<'_> {
    pub(super) fn line(
        &mut self,
        out: &mut Vec<u8>,
        id: Option<Cursor<'_>>,
        row: u64,
        decision: &Decision,
        outcomes: &[Outcome<'_>],
    ) {
        out.extend_from_slice(b"{\"id\":");
        match id {
            Some(id) if id.kind() == Kind::String => quote_into(out, &id.content()),
            Some(id) if id.kind() == Kind::Number => {
                out.extend_from_slice(id.number_text().as_bytes());
            }
            Some(id) => {
                out.extend_from_slice(if id.kind() == Kind::True { b"true" } else { b"false" });
            }
            None => out.extend_from_slice(row.to_string().as_bytes()),
        }
        out.extend_from_slice(b",\"verdict\":\"");
        out.extend_from_slice(decision.verdict.name().as_bytes());
        out.extend_from_slice(b"\",\"combined\":");
        push_number(out, decision.combined);
        if let Some(threshold) = self.gate.threshold() {
            out.extend_from_slice(b",\"threshold\":");
            push_number(out, threshold);
        }
        if let Some(reason) = decision.reason {
            out.extend_from_slice(b",\"reason\":");
            quote_into(out, reason.text().as_bytes());
        }
        if let Some(who) = decision.decided_by() {
            out.extend_from_slice(b",\"decided_by\":");
            quote_into(out, who.as_bytes());
        }
        if self.shown != Shown::None {
            out.extend_from_slice(b",\"results\":[");
            self.results(out, outcomes);
            out.push(b']');
        }
        out.extend_from_slice(b"}\n");
    }

    fn results(&self, out: &mut Vec<u8>, outcomes: &[Outcome<'_>]) {
        let mut first = true;
        for (head, outcome) in self.names.iter().zip(outcomes) {
            if outcome.passed && self.shown == Shown::Failed {
                continue;
            }
            if !first {
                out.push(b',');
            }
            first = false;
            out.extend_from_slice(head.as_bytes());
            out.extend_from_slice(if outcome.passed { b"true" } else { b"false" });
            out.extend_from_slice(b",\"score\":");
            push_number(out, outcome.score);
            if let Some(detail) = &outcome.detail {
                out.extend_from_slice(b",\"detail\":");
                quote_into(out, detail.as_bytes());
            }
            if let Some(worst) = outcome.repaired {
                out.extend_from_slice(b",\"repaired\":");
                quote_into(out, worst.name().as_bytes());
            }
            out.push(b'}');
        }
    }
}

fn push_number(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(ryu_js::Buffer::new().format(value).as_bytes());
}
