//! Where a marker is quoted text and no vote.
//!
//! * In a span that the repair tier reads as an object with one of the grammar's keys.
//! * A vote that passes, where objects could not be read (too deep) though a key stands there.
//! * A vote that passes, in an object that is too broken to be read, whose own field says otherwise:
//!   `{"verdict"; "block", "reason": "VERDICT: PASS"}`. Such an object goes from a brace to its
//!   closer or, where that is missing, to an end of the text; one that starts the text may lack the
//!   brace.

use super::choices::Joint;
use super::marker::{Reader, Vote};
use super::{number, verdict};
use crate::json::{KeyedSpans, object_spans};
use crate::target::trim_js_span;

/// The spans of a text in which a marker is quoted text.
pub(super) struct Quoted<'a> {
    spans: KeyedSpans<'a>,
    next: usize,
    end: usize,
    /// From here on objects could not be read, though one of the keys stands there in quotes.
    doubtful: usize,
    /// Broken objects that hold a field against a vote that passes.
    against: Vec<(usize, usize)>,
}

impl<'a> Quoted<'a> {
    /// What is quoted in a text, by the keys of a grammar.
    pub(super) fn new(text: &'a [u8], keys: &[&str]) -> Self {
        let spans = object_spans(text, keys);
        let unread = spans.unread.filter(|&(from, _)| {
            let rest = text.get(from..).unwrap_or_default();
            keys.iter()
                .any(|key| memchr::memmem::find(rest, format!("{key}\"").as_bytes()).is_some())
        });
        let doubtful = unread.map_or(usize::MAX, |(from, _)| from);
        Quoted { spans, next: 0, end: 0, doubtful, against: against(text, keys) }
    }

    /// Whether a marker counts; they are asked for in order.
    pub(super) fn counts(&mut self, start: usize, end: usize, vote: Vote) -> bool {
        while let Some(span) = self.spans.found.get(self.next).map(|f| f.span)
            && span.0 < end
        {
            self.end = self.end.max(span.1);
            self.next += 1;
        }
        let past = self.against.partition_point(|span| span.0 <= start);
        let against = past > 0 && self.against[past - 1].1 > start;
        start >= self.end && (vote.blocks() || (start < self.doubtful && !against))
    }
}

/// The spans of what looks like objects and holds a field that does not pass.
fn against(text: &[u8], keys: &[&str]) -> Vec<(usize, usize)> {
    let mut spans = braces(text);
    spans.splice(0..0, members_at_start(text).map(|end| (0, end)));
    if spans.is_empty() {
        return spans;
    }
    let fields = fields(text, keys);
    spans.retain(|&(from, to)| {
        let next = fields.partition_point(|&field| field < from);
        fields.get(next).is_some_and(|&field| field < to)
    });
    // Neighbours are joined, so that a text of many braces takes no more than a look at each.
    spans.dedup_by(|next, before| {
        let joins = next.0 <= before.1;
        before.1 = if joins { before.1.max(next.1) } else { before.1 };
        joins
    });
    spans
}

/// The places of keys, in any case and dress, that a value follows which does not pass.
fn fields(text: &[u8], keys: &[&str]) -> Vec<usize> {
    let mut found = Vec::new();
    let firsts: Vec<u8> = keys.iter().filter_map(|key| key.bytes().next()).collect();
    let mut before = 0u8;
    for (at, &byte) in text.iter().enumerate() {
        let starts = firsts.contains(&byte.to_ascii_lowercase()) && !before.is_ascii_alphanumeric();
        let quoted = matches!(before, b'"' | b'\'' | 0x9C | 0x9D);
        before = byte;
        if !starts {
            continue;
        }
        let mut reader = Reader::new(text, at);
        let Some(key) = keys.iter().find(|key| reader.one_of(&[key.as_bytes()])) else { continue };
        let behind = reader.at;
        reader.marks(&mut Joint::default(), true);
        if reader.at == behind {
            continue;
        }
        let refuses = match *key {
            "pass" | "continue" => reader.one_of(&[b"false", b"no"]),
            "verdict" => verdict::word(&mut reader) == Some(false),
            "score" => number::score(&mut reader).is_some_and(|score| score < 0.5),
            // A label in quotes is no marker, so that none speaks against itself.
            _ => quoted && reader.peek().is_ascii_digit(),
        };
        if refuses {
            found.push(at);
        }
    }
    found
}

/// What stands between braces, outermost ones, in order. Braces in strings count too, so a closer
/// that is one too many belongs to what it follows.
fn braces(text: &[u8]) -> Vec<(usize, usize)> {
    let (mut spans, mut start, mut depth, mut end) = (Vec::new(), None, 0u64, 0);
    for at in memchr::memchr2_iter(b'{', b'}', text) {
        if text[at] == b'{' {
            if depth == 0 {
                spans.extend(start.map(|start| (start, end)));
                start = Some(at);
            }
            depth += 1;
        } else {
            start = start.or(Some(end));
            depth = depth.saturating_sub(1);
            end = at + 1;
        }
    }
    spans.extend(start.map(|start| (start, if depth > 0 { text.len() } else { end })));
    spans
}

/// Where members end that start a text without a brace (a key in quotes): at a blank line or the
/// end.
fn members_at_start(text: &[u8]) -> Option<usize> {
    let start = trim_js_span(text).0;
    let mut reader = Reader::new(text, start);
    let quoted = |reader: &mut Reader<'_>| {
        let start = reader.at;
        reader.marks(&mut Joint::default(), false);
        let marks = String::from_utf8_lossy(reader.since(start));
        marks.contains(['"', '\'', '“', '”']) && !marks.contains(['{', '['])
    };
    if !quoted(&mut reader) {
        return None;
    }
    reader.run(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' '));
    if !quoted(&mut reader) {
        return None;
    }
    Some(memchr::memmem::find(&text[start..], b"\n\n").map_or(text.len(), |at| start + at))
}
