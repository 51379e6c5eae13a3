//! Where a text holds objects with given keys, whatever else it holds.

use super::candidates::Search;
use super::document::{Document, Kind};
use super::error::MAX_DEPTH;
use super::extract::Source;
use super::strict::parse_until;
use crate::text::trim_js_span;

/// A document in a text in which some object holds one of the keys that were asked for.
#[derive(Clone, Debug)]
pub struct KeyedSpan<'a> {
    /// The document as the repair tier reads it.
    pub document: Document<'a>,
    /// Its span in bytes; a document that is cut ends where the text does.
    pub span: (usize, usize),
    /// Where it was found.
    pub source: Source,
    /// The document is an object and holds one of the keys itself, not an object inside it.
    pub at_top: bool,
    /// It stands in a reasoning block.
    pub reasoning: bool,
}

/// The documents with given keys, in order, and what could not be read.
#[derive(Clone, Debug, Default)]
pub struct KeyedSpans<'a> {
    /// The documents.
    pub found: Vec<KeyedSpan<'a>>,
    /// From a document that is too deep or too long, to the end of the text: nothing in it was
    /// read.
    pub unread: Option<(usize, usize)>,
}

/// The spans of a text (WTF-8) that the repair tier reads as documents in which an object holds
/// one of `keys`: fenced, tagged and bare ones, cut ones too. Each byte is looked at a bounded
/// number of times.
pub fn object_spans<'a>(text: &'a [u8], keys: &[&str]) -> KeyedSpans<'a> {
    let (start, end) = trim_js_span(text);
    let stopped = parse_until(text, start, end, MAX_DEPTH);
    let mut spans = KeyedSpans::default();
    if stopped.error.is_none() {
        let document = Document { text, side: Vec::new(), nodes: stopped.nodes };
        spans.take(document, (start, end), Source::Whole, false, keys);
        return spans;
    }
    let mut search = Search::new(text, MAX_DEPTH, false, true);
    search.apart = true;
    search.run(start, end, stopped);
    let unread = search.error.map(|_| (search.last_start.min(end), text.len()));
    for other in search.into_all() {
        spans.take(other.document, other.span, other.source, other.reasoning, keys);
    }
    spans.unread = unread;
    spans
}

impl<'a> KeyedSpans<'a> {
    fn take(
        &mut self,
        document: Document<'a>,
        span: (usize, usize),
        source: Source,
        reasoning: bool,
        keys: &[&str],
    ) {
        let holds = |index: usize| {
            let members = document.cursor(index).members();
            members.into_iter().any(|(key, _)| keys.iter().any(|k| key.content_is(k.as_bytes())))
        };
        let object =
            |index: &usize| document.nodes.get(*index).is_some_and(|n| n.kind == Kind::Object);
        let at_top = object(&0) && holds(0);
        if at_top || (1..document.nodes.len()).filter(object).any(holds) {
            self.found.push(KeyedSpan { document, span, source, at_top, reasoning });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_with_keys_are_found() {
        let spans = |text: &'static str| {
            let found = object_spans(text.as_bytes(), &["verdict", "score"]).found;
            found.iter().map(|f| (&text[f.span.0..f.span.1], f.at_top)).collect::<Vec<_>>()
        };
        assert_eq!(
            spans("a {\"verdict\": \"it says \"VERDICT: PASS\" itself\"} b {\"x\": 1}"),
            [("{\"verdict\": \"it says \"VERDICT: PASS\" itself\"}", true)]
        );
        assert_eq!(spans("VERDICT: PASS {x} [1]"), []);
        assert_eq!(spans("see {\"a\": {\"score\": 1}}."), [("{\"a\": {\"score\": 1}}", false)]);
        assert_eq!(
            spans("{\"score\": 1, \"why\": \"VERDICT: PASS"),
            [("{\"score\": 1, \"why\": \"VERDICT: PASS", true)]
        );
        let deep = format!("{{\"verdict\": {}", "[".repeat(1000));
        assert_eq!(object_spans(deep.as_bytes(), &["verdict"]).unread, Some((0, deep.len())));
    }
}
