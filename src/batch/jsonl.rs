//! JSON lines in, JSON lines out, in bounded memory.
//!
//! Input: one JSON object a line; blank lines, CRLF, a byte order mark on the first line and a
//! missing last line feed are fine. Output, one line a row, in order:
//! `{"id", "verdict", "combined", "threshold"?, "reason"?, "decided_by"?, "results": [...]}`.

use std::collections::HashMap;
use std::ops::Range;

use super::columns::Totals;
use super::pool::Workers;
use crate::gate::Gate;
use crate::json::{Cursor, Kind, parse, quote_into};
use crate::result::{Decision, Outcome};
use crate::row::Row;
use crate::target::Target;

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

/// How lines are read and written.
#[derive(Clone, Debug)]
pub struct LineOptions {
    /// The key of the text.
    pub field: String,
    /// The key of the row's id.
    pub id_field: String,
    /// Which results an output line holds.
    pub shown: Shown,
    /// Longer lines are bad; in bytes.
    pub max_line: usize,
}

/// A line that is no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number in the input, from 1.
    pub line: u64,
    /// The offset of its first byte in the input.
    pub offset: u64,
    /// What is wrong.
    pub message: String,
    /// The line, without its end.
    pub raw: Vec<u8>,
}

/// What a block of input gave.
#[derive(Debug, Default)]
pub struct Fed {
    /// Output lines.
    pub output: Vec<u8>,
    /// Rows scored.
    pub rows: u64,
    /// Lines that are no rows.
    pub bad: Vec<BadLine>,
}

/// At most so many different details are counted, for the most frequent ones.
const COUNTED_DETAILS: usize = 4096;

/// Scores a stream of JSON lines, block by block.
pub struct LineScorer {
    options: LineOptions,
    carry: Vec<u8>,
    /// Bytes of an overlong line that were dropped while its end has not come.
    dropped: u64,
    line: u64,
    row: u64,
    offset: u64,
    totals: Totals,
    details: HashMap<(u32, String), u64>,
}

/// One piece of a block: whole lines.
struct Piece<'a> {
    text: &'a [u8],
    line: u64,
    row: u64,
    offset: u64,
    limit: u64,
}

#[derive(Default)]
struct Scored {
    fed: Fed,
    totals: Totals,
    details: HashMap<(u32, String), u64>,
}

impl LineScorer {
    /// A scorer at the start of its input.
    pub fn new(options: LineOptions, scorers: usize) -> Self {
        let totals = Totals { passed: vec![0; scorers], ..Totals::default() };
        LineScorer {
            options,
            carry: Vec::new(),
            dropped: 0,
            line: 0,
            row: 0,
            offset: 0,
            totals,
            details: HashMap::new(),
        }
    }

    /// Counts over the rows so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Rows scored so far.
    pub fn rows(&self) -> u64 {
        self.row
    }

    /// The most frequent failure details: scorer, detail, rows.
    pub fn frequent_details(&self, count: usize) -> Vec<(usize, &str, u64)> {
        let mut all: Vec<_> =
            self.details.iter().map(|((s, d), &n)| (*s as usize, d.as_str(), n)).collect();
        all.sort_by(|a, b| b.2.cmp(&a.2).then(a.0.cmp(&b.0)).then(a.1.cmp(b.1)));
        all.truncate(count);
        all
    }

    /// Starts another input: lines and offsets count from its start, rows go on.
    pub fn next_input(&mut self) {
        (self.line, self.offset, self.dropped) = (0, 0, 0);
        self.carry.clear();
    }

    /// Takes a block of input and scores the lines that are complete (`last`: all), at most
    /// `limit` rows. None when the workers were stopped.
    pub fn feed(
        &mut self,
        gate: &Gate,
        block: &[u8],
        last: bool,
        limit: u64,
        workers: &Workers<'_>,
        idle: &mut dyn FnMut(),
    ) -> Option<Fed> {
        let mut whole = std::mem::take(&mut self.carry);
        let complete = if last {
            whole.extend_from_slice(block);
            whole.len()
        } else {
            let end = memchr::memrchr(b'\n', block).map(|at| whole.len() + at + 1);
            whole.extend_from_slice(block);
            end.unwrap_or(0)
        };
        let mut fed = Fed::default();
        let start = self.end_overlong(&whole[..complete], last, &mut fed);
        self.score_block(gate, &whole[start..complete], limit, workers, idle, &mut fed)?;
        whole.drain(..complete);
        self.carry = whole;
        if self.carry.len() > self.options.max_line {
            // The head of the line is kept as evidence; its end is awaited without storing it.
            self.dropped += self.carry.len() as u64;
            self.carry.clear();
        }
        Some(fed)
    }

    /// Reports the overlong line whose end a block brings; gives where the next line starts.
    fn end_overlong(&mut self, complete: &[u8], last: bool, fed: &mut Fed) -> usize {
        if self.dropped == 0 || (complete.is_empty() && !last) {
            return 0;
        }
        let end = memchr::memchr(b'\n', complete).map_or(complete.len(), |at| at + 1);
        let length = self.dropped + end as u64;
        self.line += 1;
        fed.bad.push(BadLine {
            line: self.line,
            offset: self.offset,
            message: format!(
                "line of {length} bytes is longer than the limit of {} bytes",
                self.options.max_line
            ),
            raw: Vec::new(),
        });
        self.offset += length;
        self.dropped = 0;
        end
    }

    fn score_block(
        &mut self,
        gate: &Gate,
        block: &[u8],
        limit: u64,
        workers: &Workers<'_>,
        idle: &mut dyn FnMut(),
        fed: &mut Fed,
    ) -> Option<()> {
        let ranges = pieces(block, workers.threads);
        let (mut line, mut row, mut offset, mut left) = (self.line, self.row, self.offset, limit);
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            let text = &block[range];
            let (lines, rows) = count_lines(text);
            parts.push(Piece { text, line, row, offset, limit: left });
            (line, row, offset) = (line + lines, row + rows, offset + text.len() as u64);
            left = left.saturating_sub(rows);
        }
        let options = &self.options;
        let work = |i: usize| score_piece(gate, options, &parts[i], workers);
        let scored = if parts.len() == 1 {
            vec![Some(work(0))]
        } else {
            workers.run(parts.len(), &work, idle)
        };
        (self.line, self.offset) = (line, offset);
        for part in scored {
            let part = part??;
            // A bad line keeps its number, so that ids of other rows do not depend on it.
            self.row += part.fed.rows + part.fed.bad.len() as u64;
            fed.output.extend(part.fed.output);
            fed.rows += part.fed.rows;
            fed.bad.extend(part.fed.bad);
            self.add(&part.totals, part.details);
        }
        Some(())
    }

    fn add(&mut self, totals: &Totals, details: HashMap<(u32, String), u64>) {
        for (sum, count) in self.totals.verdicts.iter_mut().zip(totals.verdicts) {
            *sum += count;
        }
        self.totals.missing += totals.missing;
        for (sum, count) in self.totals.passed.iter_mut().zip(&totals.passed) {
            *sum += count;
        }
        for (key, count) in details {
            add_detail(&mut self.details, key, count);
        }
    }
}

fn add_detail(details: &mut HashMap<(u32, String), u64>, key: (u32, String), count: u64) {
    if let Some(sum) = details.get_mut(&key) {
        *sum += count;
    } else if details.len() < COUNTED_DETAILS {
        details.insert(key, count);
    }
}

/// Cuts a block of whole lines into pieces of about the same size.
fn pieces(block: &[u8], threads: usize) -> Vec<Range<usize>> {
    const SMALLEST: usize = 64 << 10;
    let size = (block.len() / (threads * 4).max(1)).max(SMALLEST);
    let count = if threads == 1 { 1 } else { block.len().div_ceil(size).max(1) };
    let mut ranges = Vec::with_capacity(count);
    let mut start = 0;
    while start < block.len() {
        let cut = if count == 1 { block.len() } else { (start + size).min(block.len()) };
        let end = memchr::memchr(b'\n', &block[cut..]).map_or(block.len(), |at| cut + at + 1);
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// The lines of whole-line text, without their ends.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_suffix(b"\n").map_or((text, !text.is_empty()), |t| (t, true));
    text.0.split(|&b| b == b'\n').take_while(move |_| text.1)
}

/// Lines, and rows among them: lines that are not blank.
fn count_lines(text: &[u8]) -> (u64, u64) {
    lines(text).fold((0, 0), |(lines, rows), line| (lines + 1, rows + u64::from(!is_blank(line))))
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r'))
}

fn score_piece(
    gate: &Gate,
    options: &LineOptions,
    piece: &Piece<'_>,
    workers: &Workers<'_>,
) -> Option<Scored> {
    let scorers = gate.scorers().len();
    let mut scored = Scored::default();
    scored.totals.passed = vec![0; scorers];
    let names: Vec<String> = gate.scorers().map(|(name, kind)| result_head(name, kind)).collect();
    let mut writer = Writer { gate, shown: options.shown, names: &names };
    let mut outcomes = Vec::new();
    let (mut number, mut offset, mut row, mut left) =
        (piece.line, piece.offset, piece.row, piece.limit);
    for line in lines(piece.text) {
        if left == 0 {
            break;
        }
        if workers.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return None;
        }
        number += 1;
        let first = offset;
        offset += line.len() as u64 + 1;
        let mut content = line.strip_suffix(b"\r").unwrap_or(line);
        if number == 1 {
            content = content.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(content);
        }
        if is_blank(content) {
            continue;
        }
        left -= 1;
        let result = score_line(options, content, row, &mut writer, &mut outcomes, &mut scored);
        row += 1;
        if let Err(message) = result {
            let raw = line.to_vec();
            scored.fed.bad.push(BadLine { line: number, offset: first, message, raw });
        }
    }
    Some(scored)
}

fn score_line(
    options: &LineOptions,
    line: &[u8],
    row: u64,
    writer: &mut Writer<'_>,
    outcomes: &mut Vec<Outcome>,
    scored: &mut Scored,
) -> Result<(), String> {
    if line.len() > options.max_line {
        let (length, limit) = (line.len(), options.max_line);
        return Err(format!("line of {length} bytes is longer than the limit of {limit} bytes"));
    }
    if let Err(error) = std::str::from_utf8(line) {
        return Err(format!("invalid UTF-8 at byte {}", error.valid_up_to()));
    }
    let document = parse(line).map_err(|error| format!("not JSON: {error}"))?;
    let root = document.root();
    if root.kind() != Kind::Object {
        return Err(format!("expected an object, got {}", root.kind().name()));
    }
    let (text, id) = text_and_id(root, options)?;
    let decision = match text {
        Some(text) => {
            let content = text.content();
            let target = Target::from_wtf8(&content);
            writer.gate.outcomes(&target, &Row::from_json(line), &|_| None, outcomes);
            writer.gate.decide(outcomes)
        }
        None => {
            outcomes.clear();
            Decision::missing_input()
        }
    };
    count(scored, &decision, outcomes, text.is_none());
    writer.line(&mut scored.fed.output, id, row, &decision, outcomes);
    Ok(())
}

/// The text of a row (None when it is null) and its id.
fn text_and_id<'d>(
    root: Cursor<'d>,
    options: &LineOptions,
) -> Result<(Option<Cursor<'d>>, Option<Cursor<'d>>), String> {
    let (mut text, mut id) = (None, None);
    for (key, value) in root.members() {
        if key.content_is(options.field.as_bytes()) {
            text = Some(value);
        }
        if key.content_is(options.id_field.as_bytes()) {
            id = Some(value);
        }
    }
    let field = &options.field;
    let text = text.ok_or_else(|| format!("no field \"{field}\""))?;
    let text = match text.kind() {
        Kind::String => Some(text),
        Kind::Null => None,
        other => {
            let got = other.name();
            return Err(format!("field \"{field}\": expected a string or null, got {got}"));
        }
    };
    match id.map(Cursor::kind) {
        Some(Kind::Array | Kind::Object) => {
            let field = &options.id_field;
            Err(format!("field \"{field}\": expected a string or a number as id"))
        }
        Some(Kind::Null) | None => Ok((text, None)),
        _ => Ok((text, id)),
    }
}

fn count(scored: &mut Scored, decision: &Decision, outcomes: &[Outcome], missing: bool) {
    scored.fed.rows += 1;
    scored.totals.verdicts[decision.verdict as usize] += 1;
    scored.totals.missing += u64::from(missing);
    for (i, outcome) in outcomes.iter().enumerate() {
        scored.totals.passed[i] += u64::from(outcome.passed);
        if let Some(detail) = &outcome.detail {
            let key = (u32::try_from(i).unwrap_or(u32::MAX), detail.to_string());
            add_detail(&mut scored.details, key, 1);
        }
    }
}

/// `{"name": …, "type": …, "passed": `, which each result of a scorer starts with.
fn result_head(name: &str, kind: &str) -> String {
    let mut head = b"{\"name\":".to_vec();
    quote_into(&mut head, name.as_bytes());
    head.extend_from_slice(b",\"type\":");
    quote_into(&mut head, kind.as_bytes());
    head.extend_from_slice(b",\"passed\":");
    String::from_utf8(head).unwrap_or_default()
}

/// Writes output lines.
struct Writer<'a> {
    gate: &'a Gate,
    shown: Shown,
    names: &'a [String],
}

impl Writer<'_> {
    fn line(
        &mut self,
        out: &mut Vec<u8>,
        id: Option<Cursor<'_>>,
        row: u64,
        decision: &Decision,
        outcomes: &[Outcome],
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

    fn results(&self, out: &mut Vec<u8>, outcomes: &[Outcome]) {
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
            out.push(b'}');
        }
    }
}

fn push_number(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(ryu_js::Buffer::new().format(value).as_bytes());
}
