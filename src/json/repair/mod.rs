//! The repair tier: the JSON that a model's text was meant to hold.
//!
//! The whole text is read strictly first, so valid JSON is never changed. At a fault the repair
//! parser goes on from what was read so far. Where the text holds more than one document, fenced
//! blocks, tags and brackets are candidates and the best one is taken (see [`super::candidates`]);
//! everything else that looks like a document is named in the diagnostics. A text without one is
//! an error: prose is never made a value.
//!
//! Work is bounded by [`step_budget`], depth by [`RepairOptions::max_depth`]; nothing recurses.

mod bare;
mod closers;
mod number;
mod parser;
mod quotes;
mod space;
mod state;
mod strings;
mod waiting;

use std::fmt;

use super::MAX_DEPTH;
use super::candidates::{Found, Search};
use super::diagnostics::{Code, Diagnostic, Log, Severity};
use super::document::{Document, Kind, Node, Place, index_u32};
use super::duplicates::duplicate_keys_into;
use super::extract::{Extracted, Source, extract_with_source};
use super::strict::{ErrorKind, parse_until};
use crate::target::trim_js_span;
pub(super) use parser::Parser;
pub(super) use state::{Event, Left, State, Stop};
pub(super) use waiting::Reach;

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
    /// Repeated keys are looked for, in valid JSON too.
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

/// Why a text gave no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairErrorKind {
    /// The text holds no JSON.
    NoJson,
    /// Arrays and objects nest deeper than the limit.
    TooDeep(usize),
    /// The text is longer than 4 GiB.
    TooLong,
    /// The step budget ran out.
    Budget,
    /// A repair is above the highest severity that was allowed.
    Severity(Code),
}

/// Why a text gave no value, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairError {
    /// What is wrong.
    pub kind: RepairErrorKind,
    /// The byte that is meant.
    pub offset: usize,
}

impl fmt::Display for RepairErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepairErrorKind::NoJson => f.write_str("no JSON found"),
            RepairErrorKind::TooDeep(limit) => write!(f, "nested deeper than {limit} levels"),
            RepairErrorKind::TooLong => f.write_str("longer than 4 GiB"),
            RepairErrorKind::Budget => f.write_str("repair took too many steps"),
            RepairErrorKind::Severity(code) => {
                write!(f, "needs a {} repair: {}", code.severity().name(), code.message())
            }
        }
    }
}

impl fmt::Display for RepairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for RepairError {}

/// A document that was not chosen.
#[derive(Clone, Debug)]
pub struct Other<'a> {
    /// The document.
    pub document: Document<'a>,
    /// Its span in bytes.
    pub span: (usize, usize),
    /// Where it was found.
    pub source: Source,
    /// It stands in a reasoning block.
    pub reasoning: bool,
}

/// What a repair gave.
#[derive(Clone, Debug)]
pub struct Repaired<'a> {
    /// The document, or why there is none.
    pub result: Result<Document<'a>, RepairError>,
    /// What was repaired, in the order in which it was found; at most about a thousand.
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
        self.result.is_ok() && self.diagnostics.is_empty()
    }

    /// The worst severity among the diagnostics.
    pub fn severity(&self) -> Option<Severity> {
        self.diagnostics.iter().map(|d| d.severity).max()
    }
}

/// The steps that a text of this length may take.
pub fn step_budget(len: usize) -> u64 {
    16 * len as u64 + 65_536
}

/// Reads the JSON that a text (WTF-8) was meant to hold.
pub fn repair<'a>(text: &'a [u8], options: &RepairOptions) -> Repaired<'a> {
    let max_depth = options.max_depth;
    let (start, end) = trim_js_span(text);
    let stopped = parse_until(text, start, end, max_depth);
    let Some(error) = stopped.error else {
        let document = Document { text, side: Vec::new(), nodes: stopped.nodes };
        let found = Found {
            document,
            span: (start, end),
            outer: (start, end),
            source: Source::Whole,
            reasoning: false,
        };
        return finish(text, options, found, Log::default(), Vec::new(), (end - start) as u64);
    };
    match error.kind {
        ErrorKind::TooDeep => return failure(RepairErrorKind::TooDeep(max_depth), error.offset, 0),
        ErrorKind::TooLong => return failure(RepairErrorKind::TooLong, 0, 0),
        _ => {}
    }
    let mut search =
        Search::new(text, max_depth, options.partial, options.candidates == Candidates::All);
    search.run(start, end, stopped);
    let steps = search.steps;
    if let Some((kind, offset)) = search.error {
        return failure(kind, offset, steps);
    }
    match search.choose() {
        Some((found, log, others)) => finish(text, options, found, log, others, steps),
        None => match scalar(text, start, end, options) {
            Some((document, log)) => {
                let found = Found {
                    document,
                    span: (start, end),
                    outer: (start, end),
                    source: Source::Whole,
                    reasoning: false,
                };
                finish(text, options, found, log, Vec::new(), steps)
            }
            None => match strict_tier(text) {
                Some(found) => finish(text, options, found, Log::default(), Vec::new(), steps),
                None => failure(RepairErrorKind::NoJson, start, steps),
            },
        },
    }
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
    found: Found<'a>,
    mut log: Log,
    others: Vec<Other<'a>>,
    steps: u64,
) -> Repaired<'a> {
    if options.duplicates {
        duplicate_keys_into(&found.document, &mut log);
    }
    discarded(text, &found, &mut log);
    if options.partial {
        let cut = |code| {
            matches!(
                code,
                Code::ClosedAtEof
                    | Code::TruncatedString
                    | Code::TruncatedEscape
                    | Code::TruncatedNumber
                    | Code::TruncatedLiteral
                    | Code::DroppedKey
            )
        };
        let mut kept = Log { more: log.more, ..Log::default() };
        for mut diagnostic in log.list {
            if cut(diagnostic.code) {
                diagnostic.severity = Severity::Lossless;
            }
            kept.push(diagnostic);
        }
        log = kept;
    }
    let mut result = Ok(found.document);
    if let (Some(max), Some((worst, code, offset))) = (options.max_severity, log.worst)
        && worst > max
    {
        result = Err(RepairError { kind: RepairErrorKind::Severity(code), offset });
    }
    Repaired {
        result,
        diagnostics: log.list,
        more_diagnostics: log.more,
        span: found.span,
        source: found.source,
        others,
        steps,
    }
}

/// Notes the text around the document.
fn discarded(text: &[u8], found: &Found<'_>, log: &mut Log) {
    let (start, end) = trim_js_span(text);
    for (from, to) in [(start, found.outer.0), (found.outer.1, end)] {
        let Some(part) = text.get(from..to) else { continue };
        let (a, b) = trim_js_span(part);
        if a < b {
            let mut found_text = Diagnostic::new(Code::DiscardedText, from + a, from + b);
            if from == found.outer.1 && goes_on(part) {
                found_text.severity = Severity::Lossy;
            }
            log.push(found_text);
        }
    }
    // Inside a fence or a tag.
    if let Some(part) = text.get(found.span.1..found.outer.1).filter(|part| goes_on(part)) {
        let (a, b) = trim_js_span(part);
        let at = found.span.1;
        log.push(Diagnostic {
            severity: Severity::Lossy,
            ..Diagnostic::new(Code::DiscardedText, at + a, at + b)
        });
    }
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
    let root = state.nodes.first()?;
    let bad = |d: &Diagnostic| {
        matches!(
            d.code,
            Code::UnquotedValue
                | Code::NumberAsText
                | Code::DroppedText
                | Code::ClosedAtEof
                | Code::InnerQuote
                | Code::DroppedKey
        ) || (d.code == Code::TruncatedString && !cut_string)
    };
    // A word that ends the text is complete here; `tru` alone may be anything.
    let short = body.len() < 3 && state.log.list.iter().any(|d| d.code == Code::TruncatedLiteral);
    if short || state.at < end || state.log.list.iter().any(bad) {
        return None;
    }
    let _ = root;
    let mut log = state.log;
    log.list.retain(|d| {
        d.code != Code::TruncatedNumber || !body.last().is_some_and(u8::is_ascii_digit)
    });
    Some((Document { text, side: state.side, nodes: state.nodes }, log))
}

/// Puts an array around documents that stand one after the other.
pub(super) fn list_of(nodes: &mut Vec<Node>, count: usize) {
    for node in nodes.iter_mut() {
        node.next += 1;
    }
    let next = index_u32(nodes.len() + 1);
    nodes.insert(
        0,
        Node { start: 0, end: index_u32(count), next, kind: Kind::Array, place: Place::Plain },
    );
}
