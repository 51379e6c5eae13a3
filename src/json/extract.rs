//! The strict tier: which JSON value a text holds, without repairs.
//!
//! 1. The whole text, trimmed (JavaScript white space). An empty text holds nothing.
//! 2. Each fence `` ```info⏎ body ``` ``, those tagged exactly `json` (trimmed, any case) first;
//!    the first body that parses. A body ends at the next three back-ticks, even inside a string;
//!    the info string holds no back-tick.
//! 3. One attempt: from whichever of `[` and `{` comes first to the last closer of its kind.
//!
//! Each byte is looked at a bounded number of times.

use memchr::memmem;

use super::document::Document;
use super::error::MAX_DEPTH;
use super::strict::parse_within;
use crate::text::{trim_js, trim_js_span};

/// Where the strict tier found its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The whole text.
    Whole,
    /// A fenced block.
    Fence,
    /// A span between brackets.
    Brackets,
    /// A block in tags such as `<tool_call>` (repair tier only).
    Tag,
}

impl Source {
    /// `whole`, `fence`, `brackets` or `tag`.
    pub fn name(self) -> &'static str {
        match self {
            Source::Whole => "whole",
            Source::Fence => "fence",
            Source::Brackets => "brackets",
            Source::Tag => "tag",
        }
    }
}

/// What the strict tier found: the document, its span in bytes, and by which step.
#[derive(Clone, Debug)]
pub struct Extracted<'a> {
    /// The parsed value; its positions count from the start of the text.
    pub document: Document<'a>,
    /// Start and end of the parsed span.
    pub span: (usize, usize),
    /// The step that found it.
    pub source: Source,
}

/// The JSON value that the strict tier finds in a text (WTF-8).
pub fn extract(text: &[u8]) -> Option<Document<'_>> {
    extract_with_source(text).map(|found| found.document)
}

/// The same, with the span and the step.
pub fn extract_with_source(text: &[u8]) -> Option<Extracted<'_>> {
    extract_within(text, MAX_DEPTH)
}

/// The same with another limit of depth.
pub fn extract_within(text: &[u8], max_depth: usize) -> Option<Extracted<'_>> {
    let (start, end) = trimmed_span(text, 0, text.len());
    if start == end {
        return None;
    }
    let attempt = |(start, end), source| {
        let document = parse_within(text, start, end, max_depth).ok()?;
        Some(Extracted { document, span: (start, end), source })
    };
    attempt((start, end), Source::Whole)
        .or_else(|| {
            let fences = fences(text, start, end);
            let tagged = fences.iter().filter(|fence| fence.json);
            let others = fences.iter().filter(|fence| !fence.json);
            tagged.chain(others).find_map(|fence| attempt(fence.body, Source::Fence))
        })
        .or_else(|| attempt(brackets(text, start, end)?, Source::Brackets))
}

fn trimmed_span(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let (from, to) = trim_js_span(&text[start..end]);
    (start + from, start + to)
}

struct Fence {
    json: bool,
    body: (usize, usize),
}

fn fences(text: &[u8], start: usize, end: usize) -> Vec<Fence> {
    let find = memmem::Finder::new("```");
    let mut found = Vec::new();
    let mut at = start;
    while let Some(open) = find.find(&text[at..end]).map(|i| at + i) {
        let info = open + 3;
        let stop = memchr::memchr2(b'\n', b'`', &text[info..end]).map(|i| info + i);
        match stop {
            Some(line_end) if text[line_end] == b'\n' => {
                let body = line_end + 1;
                let Some(close) = find.find(&text[body..end]).map(|i| body + i) else { break };
                let json = trim_js(&text[info..line_end]).eq_ignore_ascii_case(b"json");
                found.push(Fence { json, body: trimmed_span(text, body, close) });
                at = close + 3;
            }
            Some(_) => at = open + 1,
            None => break,
        }
    }
    found
}

fn brackets(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let open = start + memchr::memchr2(b'[', b'{', &text[start..end])?;
    let closer = if text[open] == b'[' { b']' } else { b'}' };
    let close = open + memchr::memrchr(closer, &text[open..end])?;
    Some((open, close + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(Source, &str)> {
        let found = extract_with_source(text.as_bytes())?;
        Some((found.source, &text[found.span.0..found.span.1]))
    }

    #[test]
    fn steps_in_order() {
        assert_eq!(found(" \u{FEFF}{\"a\":1}\n"), Some((Source::Whole, "{\"a\":1}")));
        assert_eq!(found("```\n1\n```\n```JSON\n2\n```"), Some((Source::Fence, "2")));
        assert_eq!(found("````json\n[1]\n````"), Some((Source::Fence, "[1]")));
        assert_eq!(found("so: {\"a\": [1]}. Done"), Some((Source::Brackets, "{\"a\": [1]}")));
        assert_eq!(found("so: [1] and {\"a\": 2}"), Some((Source::Brackets, "[1]")));
        assert_eq!(found("[x] then {\"a\": 2}"), None);
        assert_eq!(found("  \n "), None);
        assert_eq!(found("```json\n{\"a\":1}"), Some((Source::Brackets, "{\"a\":1}")));
    }

    #[test]
    fn hostile_fences_stay_linear() {
        for unit in ["```", "```a\n", "`", "```\n", "\n```json\n"] {
            let text = unit.repeat(400_000 / unit.len());
            assert!(extract(text.as_bytes()).is_none());
        }
    }
}
