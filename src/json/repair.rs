//! The repair tier: the JSON that a model's text was meant to hold.
//!
//! The whole text is read strictly first, so valid JSON is never changed. At a fault the repair
//! parser goes on from what was read so far. Where the text holds more than one document, fenced
//! blocks, tags and brackets are candidates and the best one is taken (see [`super::candidates`]);
//! everything else that looks like a document is named in the diagnostics. A text without one is
//! an error: prose is never made a value.
//!
//! Work is bounded by [`step_budget`], depth by [`RepairOptions::max_depth`]; nothing recurses.

use super::candidates::{Chosen, Found, Other, Search};
use super::diagnostics::{Code, Codes, Diagnostic, Log, Severity};
use super::document::{Document, Kind, Place};
use super::duplicates::duplicate_keys_into;
use super::error::ErrorKind;
use super::error::MAX_DEPTH;
use super::extract::{Extracted, Source, extract_with_source};
use super::latex::has_command;
use super::reader::{Parser, State, Stop};
use super::refusal::{RepairError, RepairErrorKind, step_budget};
use super::rewrite::Rewritten;
use super::strict::{Stopped, parse_until};
use crate::text::trim_js_span;

/// Which documents of a text are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Candidates {
    /// The best one.
    #[default]
    Best,
    /// The best one, and [`Repaired::others`].
    All,
}

/// How to repair.
#[derive(Clone, Debug)]
pub struct RepairOptions {
    /// The deepest nesting, [`MAX_DEPTH`] by default. What recurses over a document (schemas,
    /// owned values) takes none that is deeper than that.
    pub max_depth: usize,
    /// Which documents are wanted.
    pub candidates: Candidates,
    /// Repairs above this severity make the text an error.
    pub max_severity: Option<Severity>,
    /// The text is the start of a longer one: a cut end is expected (such diagnostics are
    /// lossless), and a last number or literal that may still grow is left out.
    pub partial: bool,
    /// Repeated keys and escapes that may be LaTeX are looked for, in valid JSON too.
    pub duplicates: bool,
}

impl Default for RepairOptions {
    fn default() -> Self {
        RepairOptions {
            max_depth: MAX_DEPTH,
            candidates: Candidates::Best,
            max_severity: None,
            partial: false,
            duplicates: true,
        }
    }
}

/// What a repair gave.
#[derive(Clone, Debug)]
pub struct Repaired<'a> {
    /// The document, or why there is none.
    pub result: Result<Document<'a>, RepairError>,
    /// What was repaired, in the order in which it was found; at most about a thousand, and an
    /// entry for those that are left out.
    pub diagnostics: Vec<Diagnostic>,
    /// How many more there were.
    pub more_diagnostics: usize,
    /// The span of the document in bytes.
    pub span: (usize, usize),
    /// Where the document was found.
    pub source: Source,
    /// The other documents, under [`Candidates::All`].
    pub others: Vec<Other<'a>>,
    /// The work that was done: bytes that decisions looked at.
    pub steps: u64,
}

impl Repaired<'_> {
    /// True when nothing was repaired: the text is JSON.
    pub fn is_strict(&self) -> bool {
        let repairs = |d: &Diagnostic| d.code != Code::SuspiciousEscape;
        self.result.is_ok() && !self.diagnostics.iter().any(repairs)
    }

    /// The worst severity among the diagnostics.
    pub fn severity(&self) -> Option<Severity> {
        self.diagnostics.iter().map(|d| d.severity).max()
    }
}

/// Reads the JSON that a text (WTF-8) was meant to hold.
pub fn repair<'a>(text: &'a [u8], options: &RepairOptions) -> Repaired<'a> {
    let (start, end) = trim_js_span(text);
    let stopped = parse_until(text, start, end, options.max_depth);
    let Some(error) = stopped.error else {
        let document = Document { text, side: Vec::new(), nodes: stopped.nodes };
        let found = whole(document, start, end);
        let chosen = Chosen { found, log: Log::default(), others: Vec::new(), lost: Vec::new() };
        return finish(text, options, chosen, (end - start) as u64);
    };
    match error.kind {
        ErrorKind::TooDeep => {
            return failure(RepairErrorKind::TooDeep(options.max_depth), error.offset, 0);
        }
        ErrorKind::TooLong => return failure(RepairErrorKind::TooLong, 0, 0),
        _ => {}
    }
    // Read again without what is written around or into all of it.
    if let Some(plain) = Rewritten::without_marks(text)
        && let Some(found) = read_rewritten(text, &plain, Code::LinePrefix, options)
    {
        return found;
    }
    if let Some(plain) = Rewritten::without_entities(text)
        && let Some(found) = read_rewritten(text, &plain, Code::Entities, options)
    {
        return found;
    }
    search(text, options, start, end, stopped)
}

/// Searches a text that is not JSON as a whole.
fn search<'a>(
    text: &'a [u8],
    options: &RepairOptions,
    start: usize,
    end: usize,
    stopped: Stopped,
) -> Repaired<'a> {
    let all = options.candidates == Candidates::All;
    let mut search = Search::new(text, options.max_depth, options.partial, all);
    search.run(start, end, stopped);
    let steps = search.steps;
    if let Some((kind, offset)) = search.error {
        return failure(kind, offset, steps);
    }
    let plain = |found, log| Chosen { found, log, others: Vec::new(), lost: Vec::new() };
    let cited = search.cited;
    if let Some(chosen) = search.choose() {
        return finish(text, options, chosen, steps);
    }
    if let Some((document, log)) = scalar(text, start, end, options) {
        return finish(text, options, plain(whole(document, start, end), log), steps);
    }
    let list = |found: &Found<'_>| found.document.root().kind() == Kind::Array;
    match strict_tier(text).filter(|found| !(cited && list(found))) {
        Some(found) => finish(text, options, plain(found, Log::default()), steps),
        None => failure(RepairErrorKind::NoJson, start, steps),
    }
}

fn whole(document: Document<'_>, start: usize, end: usize) -> Found<'_> {
    let span = (start, end);
    Found { document, span, outer: span, source: Source::Whole, reasoning: false }
}

/// What a rewritten text holds, with its places in the text itself.
fn read_rewritten<'a>(
    text: &'a [u8],
    plain: &Rewritten,
    code: Code,
    options: &RepairOptions,
) -> Option<Repaired<'a>> {
    let options = RepairOptions { max_severity: None, ..options.clone() };
    let (start, end) = trim_js_span(&plain.text);
    let stopped = parse_until(&plain.text, start, end, options.max_depth);
    let found = search(&plain.text, &options, start, end, stopped);
    let document = found.result.ok()?;
    let map = |(from, to): (usize, usize)| (plain.original(from), plain.original(to));
    let mut diagnostics = vec![Diagnostic::new(code, 0, text.len())];
    diagnostics.extend(found.diagnostics.into_iter().map(|mut d| {
        (d.start, d.end) = map((d.start, d.end));
        d
    }));
    let others = found.others.into_iter().map(|other| Other {
        document: other.document.into_owned(text),
        span: map(other.span),
        ..other
    });
    let others = others.collect();
    Some(Repaired {
        result: Ok(document.into_owned(text)),
        diagnostics,
        more_diagnostics: found.more_diagnostics,
        span: map(found.span),
        source: found.source,
        others,
        steps: found.steps + text.len() as u64,
    })
}

#[cold]
fn failure<'a>(kind: RepairErrorKind, offset: usize, steps: u64) -> Repaired<'a> {
    Repaired {
        result: Err(RepairError { kind, offset }),
        diagnostics: Vec::new(),
        more_diagnostics: 0,
        span: (0, 0),
        source: Source::Whole,
        others: Vec::new(),
        steps,
    }
}

fn finish<'a>(
    text: &'a [u8],
    options: &RepairOptions,
    chosen: Chosen<'a>,
    steps: u64,
) -> Repaired<'a> {
    let Chosen { found, mut log, others, lost } = chosen;
    if options.duplicates {
        duplicate_keys_into(&found.document, &mut log);
        suspicious_escapes(&found.document, &mut log);
    }
    discarded(text, &found, &lost, &mut log);
    let mut result = Ok(found.document);
    if let (Some(max), Some((worst, code, offset))) = (options.max_severity, log.facts().worst)
        && worst > max
    {
        result = Err(RepairError { kind: RepairErrorKind::Severity(code), offset });
    }
    let (diagnostics, more_diagnostics) = log.finish(text.len());
    Repaired {
        result,
        diagnostics,
        more_diagnostics,
        span: found.span,
        source: found.source,
        others,
        steps,
    }
}

/// Notes escapes that spell LaTeX with what follows them.
fn suspicious_escapes(document: &Document<'_>, log: &mut Log) {
    for node in document.nodes.iter().filter(|node| node.place == Place::Escaped) {
        let (start, end) = (node.start as usize, node.end as usize);
        if node.kind == Kind::String
            && has_command(document.text.get(start..end).unwrap_or_default())
        {
            log.add(Code::SuspiciousEscape, start, end);
        }
    }
}

/// Notes the text around the document.
fn discarded(text: &[u8], found: &Found<'_>, lost: &[(usize, usize)], log: &mut Log) {
    let (start, end) = trim_js_span(text);
    for (from, to) in [(start, found.outer.0), (found.outer.1, end)] {
        let Some(part) = text.get(from..to) else { continue };
        let (a, b) = trim_js_span(part);
        if a < b {
            let mut found_text = Diagnostic::new(Code::DiscardedText, from + a, from + b);
            let behind = from == found.outer.1 && goes_on(part);
            if behind || holds_key(text, from, to, lost) {
                found_text.severity = Severity::Lossy;
            }
            log.push(found_text);
        }
    }
    // Inside a fence or a tag.
    for (from, to) in [(found.outer.0, found.span.0), (found.span.1, found.outer.1)] {
        let Some(part) = text.get(from..to).filter(|part| !part.is_empty()) else { continue };
        let marks = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'`' | b'~');
        let behind = from == found.span.1;
        let noise = part.iter().all(marks) || part.starts_with(b"</");
        let (a, b) = trim_js_span(part);
        if behind && (goes_on(part) || holds_key(text, from, to, lost)) {
            log.push(Diagnostic {
                severity: Severity::Lossy,
                ..Diagnostic::new(Code::DiscardedText, from + a, from + b)
            });
        } else if behind && !noise && found.source == Source::Fence {
            log.add(Code::DiscardedText, from + a, from + b);
        } else if !behind
            && let Some(line) = memchr::memchr(b'\n', part)
            && let (a, b) = trim_js_span(part.get(line..).unwrap_or_default())
            && a < b
        {
            let (a, b) = (from + line + a, from + line + b);
            let mut found_text = Diagnostic::new(Code::DiscardedText, a, b);
            if holds_key(text, from, to, lost) {
                found_text.severity = Severity::Lossy;
            }
            log.push(found_text);
        }
    }
}

/// True where, outside of the documents that were not chosen, a quoted key with a colon stands.
fn holds_key(text: &[u8], from: usize, to: usize, lost: &[(usize, usize)]) -> bool {
    let mut at = from;
    let part = |a: usize, b: usize| {
        let part = text.get(a..b).unwrap_or_default();
        memchr::memchr_iter(b':', part).any(|colon| {
            let key = part.get(..colon).unwrap_or_default().trim_ascii_end();
            key.ends_with(b"\"") && key.iter().filter(|&&b| b == b'"').take(2).count() == 2
        })
    };
    for &(start, end) in lost.iter().filter(|l| l.0 >= from && l.1 <= to) {
        if start > at && part(at, start) {
            return true;
        }
        at = at.max(end);
    }
    part(at, to)
}

/// True for text behind a document that seems to go on with it: closers or commas, and words up
/// to a closer that nothing opens.
fn goes_on(text: &[u8]) -> bool {
    let lead = |b: &u8| matches!(b, b'}' | b']' | b',') || b.is_ascii_whitespace();
    let words = text.iter().position(|b| !lead(b)).unwrap_or(text.len());
    let (head, rest) = text.split_at(words);
    let mut depth = 0usize;
    !head.trim_ascii().is_empty()
        && rest.iter().any(|b| match b {
            b'{' | b'[' => {
                depth += 1;
                false
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                false
            }
            b'}' | b']' => true,
            _ => false,
        })
}

/// What the strict tier finds where the search finds nothing, so that repair never reads less. The
/// box of a task (`- [ ] buy milk`) is no data, though it parses.
fn strict_tier(text: &[u8]) -> Option<Found<'_>> {
    let found = extract_with_source(text)?;
    let before = text.get(..found.span.0)?.trim_ascii_end();
    let task = matches!(before.last(), Some(b'-' | b'*' | b'+' | b'.'));
    if task && text.get(found.span.0..found.span.1) == Some(b"[ ]") {
        return None;
    }
    let Extracted { document, span, source } = found;
    Some(Found { document, span, outer: span, source, reasoning: false })
}

/// The longest bare literal or number that a whole text may be.
const LONGEST_WORD: usize = 4096;

/// Repairs that a whole text that is a scalar does not have.
const BAD: Codes = Codes::of(&[
    Code::UnquotedValue,
    Code::NumberAsText,
    Code::DroppedText,
    Code::ClosedAtEof,
    Code::InnerQuote,
    Code::DroppedKey,
]);

/// A whole text that is one scalar, or a value in round brackets, in a form that JSON does not
/// have.
fn scalar<'a>(
    text: &'a [u8],
    start: usize,
    end: usize,
    options: &RepairOptions,
) -> Option<(Document<'a>, Log)> {
    let body = text.get(start..end)?;
    let first = *body.first()?;
    // Prose in back-ticks or typographic quotes is no value.
    if matches!(first, b'[' | b'{' | b'`' | 0x80..=0xFF) {
        return None;
    }
    let quoted = matches!(first, b'"' | b'\'');
    if quoted && body.len() == 1 {
        return None;
    }
    if !quoted && first != b'(' && body.len() > LONGEST_WORD {
        return None;
    }
    let words = body.iter().filter(|b| b.is_ascii_whitespace()).count();
    let cut_string = first == b'"' && memchr::memchr(b'"', body.get(1..)?).is_none();
    if !quoted && first != b'(' && words > 0 {
        return None;
    }
    let mut state = State::new(start, options.max_depth, step_budget(body.len()));
    state.partial = options.partial;
    let mut parser = Parser { text: text.get(..end)?, last: true, state };
    if matches!(parser.run(), Stop::TooDeep | Stop::Budget | Stop::Escaped) {
        return None;
    }
    let Parser { state, .. } = parser;
    let facts = state.log.facts();
    let bad = facts.codes.any_of(BAD) || (state.log.has(Code::TruncatedString) && !cut_string);
    // A word that ends the text is complete here; `tru` alone may be anything.
    let short = body.len() < 3 && state.log.has(Code::TruncatedLiteral);
    if short || state.at < end || bad || state.nodes.is_empty() {
        return None;
    }
    let mut log = state.log;
    // A number that ends the text is not cut.
    if body.last().is_some_and(u8::is_ascii_digit) {
        log = log.without(Code::TruncatedNumber);
    }
    Some((Document { text, side: state.side, nodes: state.nodes }, log))
}
