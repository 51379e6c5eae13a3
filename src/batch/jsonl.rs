//! JSON lines in, JSON lines out, in bounded memory.
//!
//! Input: one JSON object a line; blank lines, CRLF, a byte order mark on the first line and a
//! missing last line feed are fine. Output, one line a row, in order:
//! `{"id", "verdict", "combined", "threshold"?, "reason"?, "decided_by"?, "results": [...]}`.

use std::ops::Range;

use super::columns::Totals;
use super::frequent::FrequentDetails;
use super::pool::Workers;
use super::writer::{Shown, Writer, result_head};
use crate::gate::Gate;
use crate::json::{Cursor, Kind, parse};
use crate::result::{Decision, Outcome};
use crate::row::Row;
use crate::target::Target;

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
    /// Bad lines come with their bytes.
    pub keep_raw: bool,
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
    /// The line, without its line feed; of a line over the limit, the first 64 KiB. Empty unless
    /// [`LineOptions::keep_raw`].
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

/// So much of a line over the limit is kept.
const KEPT_HEAD: usize = 64 << 10;

/// A line may exceed the limit by its byte order mark, carriage return and line feed.
const LINE_ENDS: usize = 5;

/// Scores a stream of JSON lines, block by block.
pub struct LineScorer {
    options: LineOptions,
    /// The line that the last block left open, or its head once it is over the limit.
    carry: Vec<u8>,
    /// The bytes of the open line that were dropped, once it is over the limit.
    dropped: u64,
    line: u64,
    row: u64,
    offset: u64,
    totals: Totals,
    details: FrequentDetails,
}

/// Outcomes that the caller supplies for the rows of a block.
#[derive(Clone, Copy, Default)]
pub struct Supplied<'a> {
    /// Index of the scorer, one outcome a row: those that [`LineScorer::texts`] lists.
    pub columns: &'a [(usize, Vec<Outcome<'static>>)],
    /// The number of the first row.
    first: u64,
}

impl<'a> Supplied<'a> {
    /// Outcomes by scorer, in columns.
    pub fn new(columns: &'a [(usize, Vec<Outcome<'static>>)]) -> Self {
        Supplied { columns, first: 0 }
    }

    fn outcome(&self, scorer: usize, row: u64) -> Option<Outcome<'static>> {
        let column = self.columns.iter().find(|(at, _)| *at == scorer)?;
        column.1.get(usize::try_from(row - self.first).ok()?).cloned()
    }
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
    details: FrequentDetails,
}

impl LineScorer {
    /// A scorer at the start of its input.
    pub fn new(options: LineOptions, scorers: usize) -> Self {
        let totals = Totals::new(scorers);
        LineScorer {
            options,
            carry: Vec::new(),
            dropped: 0,
            line: 0,
            row: 0,
            offset: 0,
            totals,
            details: FrequentDetails::default(),
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
        self.details.most(count)
    }

    /// Starts another input: lines and offsets count from its start, rows go on.
    pub fn next_input(&mut self) {
        (self.line, self.offset, self.dropped) = (0, 0, 0);
        self.carry.clear();
    }

    /// The texts of the rows that [`LineScorer::feed`] would score or find bad, in order; None for
    /// a missing text and for a bad line.
    pub fn texts(&self, block: &[u8], last: bool, limit: u64) -> Vec<Option<Vec<u8>>> {
        let end =
            if last { block.len() } else { memchr::memrchr(b'\n', block).map_or(0, |at| at + 1) };
        if end == 0 && !last {
            return Vec::new();
        }
        let mut whole = self.carry.clone();
        whole.extend_from_slice(&block[..end]);
        let mut found = Vec::new();
        for (index, line) in lines(&whole).enumerate() {
            let content = content_of(line, self.line == 0 && index == 0);
            if found.len() as u64 == limit {
                break;
            }
            if index == 0 && self.dropped > 0 {
                found.push(None);
            } else if !is_blank(content) {
                found.push(text_of(&self.options, content));
            }
        }
        found
    }

    /// Takes a block of input and scores the lines that are complete (`last`: all), at most
    /// `limit` rows; `supplied` has outcomes of impure scorers. None when the workers were stopped.
    pub fn feed(
        &mut self,
        gate: &Gate,
        block: &[u8],
        last: bool,
        limit: u64,
        supplied: Supplied<'_>,
        workers: &Workers<'_>,
    ) -> Option<Fed> {
        let supplied = Supplied { first: self.row, ..supplied };
        let mut fed = Fed::default();
        let mut rest = block;
        if !self.carry.is_empty() {
            let end = match memchr::memchr(b'\n', block) {
                Some(at) => at + 1,
                None if last => block.len(),
                None => {
                    self.hold(block);
                    return Some(fed);
                }
            };
            self.hold(&block[..end]);
            rest = &block[end..];
            let line = std::mem::take(&mut self.carry);
            if self.dropped == 0 {
                self.score_block(gate, &line, limit, supplied, workers, &mut fed)?;
            } else {
                self.end_overlong(line, limit, &mut fed);
            }
        }
        let end = match memchr::memrchr(b'\n', rest) {
            _ if last => rest.len(),
            Some(at) => at + 1,
            None => 0,
        };
        let left = limit.saturating_sub(fed.rows + fed.bad.len() as u64);
        self.score_block(gate, &rest[..end], left, supplied, workers, &mut fed)?;
        self.hold(&rest[end..]);
        Some(fed)
    }

    /// Keeps more of the open line. Of a line over the limit only the head is kept; its end is
    /// awaited without storing it.
    fn hold(&mut self, more: &[u8]) {
        if self.dropped == 0 {
            self.carry.extend_from_slice(more);
            if self.carry.len() > self.options.max_line + LINE_ENDS {
                let head = self.carry[..self.carry.len().min(KEPT_HEAD)].to_vec();
                self.dropped = (self.carry.len() - head.len()) as u64;
                self.carry = head;
            }
        } else {
            self.dropped += more.len() as u64;
        }
    }

    /// Reports the open line, which is over the limit and ends here.
    fn end_overlong(&mut self, head: Vec<u8>, limit: u64, fed: &mut Fed) {
        let length = head.len() as u64 + self.dropped;
        let offset = self.offset;
        self.line += 1;
        self.offset += length;
        self.dropped = 0;
        if limit > 0 {
            self.row += 1;
            let message = overlong(self.options.max_line);
            let raw = if self.options.keep_raw { head } else { Vec::new() };
            fed.bad.push(BadLine { line: self.line, offset, message, raw });
        }
    }

    fn score_block(
        &mut self,
        gate: &Gate,
        block: &[u8],
        limit: u64,
        supplied: Supplied<'_>,
        workers: &Workers<'_>,
        fed: &mut Fed,
    ) -> Option<()> {
        let ranges = pieces(block, workers.threads());
        let (mut line, mut row, mut offset, mut left) = (self.line, self.row, self.offset, limit);
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            let text = &block[range];
            let (lines, rows) = count_lines(text, line == 0);
            parts.push(Piece { text, line, row, offset, limit: left });
            (line, row, offset) = (line + lines, row + rows, offset + text.len() as u64);
            left = left.saturating_sub(rows);
        }
        let options = &self.options;
        // Little work is done on the calling thread.
        let little = parts.len() == 1 && block.len() < super::pool::SMALL;
        let workers = if little { workers.alone() } else { *workers };
        let work = |i: usize| score_piece(gate, options, &parts[i], supplied, &workers);
        let scored = workers.run(parts.len(), &work);
        (self.line, self.offset) = (line, offset);
        for part in scored {
            let part = part??;
            // A bad line keeps its number, so that ids of other rows do not depend on it.
            self.row += part.fed.rows + part.fed.bad.len() as u64;
            if fed.output.is_empty() {
                fed.output = part.fed.output;
            } else {
                fed.output.extend_from_slice(&part.fed.output);
            }
            fed.rows += part.fed.rows;
            fed.bad.extend(part.fed.bad);
            self.add(&part.totals, &part.details);
        }
        Some(())
    }

    fn add(&mut self, totals: &Totals, details: &FrequentDetails) {
        for (sum, count) in self.totals.verdicts.iter_mut().zip(totals.verdicts) {
            *sum += count;
        }
        self.totals.missing += totals.missing;
        for (sum, count) in self.totals.passed.iter_mut().zip(&totals.passed) {
            *sum += count;
        }
        for (sum, count) in self.totals.repaired.iter_mut().zip(&totals.repaired) {
            *sum += count;
        }
        self.details.merge(details);
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
    let open = (!text.is_empty() && !text.ends_with(b"\n")).then_some(text.len());
    let mut start = 0;
    memchr::memchr_iter(b'\n', text).chain(open).map(move |end| {
        let line = &text[start..end];
        start = end + 1;
        line
    })
}

/// Lines, and rows among them: lines that are not blank. `start` is the start of an input.
fn count_lines(text: &[u8], start: bool) -> (u64, u64) {
    let mut first = start;
    lines(text).fold((0, 0), |(lines, rows), line| {
        let blank = is_blank(content_of(line, std::mem::take(&mut first)));
        (lines + 1, rows + u64::from(!blank))
    })
}

/// A line without a carriage return at its end and, on the first, without a byte order mark.
fn content_of(line: &[u8], first: bool) -> &[u8] {
    let content = line.strip_suffix(b"\r").unwrap_or(line);
    if first { content.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(content) } else { content }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r'))
}

fn overlong(limit: usize) -> String {
    format!("line is longer than the limit of {limit} bytes")
}

fn score_piece(
    gate: &Gate,
    options: &LineOptions,
    piece: &Piece<'_>,
    supplied: Supplied<'_>,
    workers: &Workers<'_>,
) -> Option<Scored> {
    let scorers = gate.scorers().len();
    let mut scored = Scored { totals: Totals::new(scorers), ..Scored::default() };
    let names: Vec<String> = gate.scorers().map(|(name, kind)| result_head(name, kind)).collect();
    let mut writer = Writer { gate, shown: options.shown, names: &names };
    let mut outcomes = Vec::new();
    let (mut number, mut offset, mut row, mut left) =
        (piece.line, piece.offset, piece.row, piece.limit);
    for line in lines(piece.text) {
        if left == 0 {
            break;
        }
        if workers.stopped() {
            return None;
        }
        number += 1;
        let first = offset;
        offset += line.len() as u64 + 1;
        let content = content_of(line, number == 1);
        if is_blank(content) {
            continue;
        }
        left -= 1;
        let result =
            score_line(options, content, row, supplied, &mut writer, &mut outcomes, &mut scored);
        row += 1;
        if let Err(message) = result {
            let kept = if content.len() > options.max_line { KEPT_HEAD } else { line.len() };
            let kept = if options.keep_raw { kept.min(line.len()) } else { 0 };
            let raw = line[..kept].to_vec();
            scored.fed.bad.push(BadLine { line: number, offset: first, message, raw });
        }
    }
    Some(scored)
}

fn score_line<'g>(
    options: &LineOptions,
    line: &[u8],
    row: u64,
    supplied: Supplied<'_>,
    writer: &mut Writer<'g>,
    outcomes: &mut Vec<Outcome<'g>>,
    scored: &mut Scored,
) -> Result<(), String> {
    if line.len() > options.max_line {
        return Err(overlong(options.max_line));
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
            let given = |scorer| supplied.outcome(scorer, row);
            writer.gate.outcomes(&target, &Row::from_json(line), &given, outcomes);
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

/// The text of a line; None where it is missing or the line bad.
fn text_of(options: &LineOptions, line: &[u8]) -> Option<Vec<u8>> {
    if line.len() > options.max_line || std::str::from_utf8(line).is_err() {
        return None;
    }
    let document = parse(line).ok()?;
    let root = Some(document.root()).filter(|root| root.kind() == Kind::Object)?;
    let (text, _) = text_and_id(root, options).ok()?;
    Some(text?.content().into_owned())
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
        Some(Kind::Array | Kind::Object | Kind::True | Kind::False) => {
            let field = &options.id_field;
            Err(format!("field \"{field}\": expected a string or a number as id"))
        }
        Some(Kind::Null) | None => Ok((text, None)),
        _ => Ok((text, id)),
    }
}

fn count(scored: &mut Scored, decision: &Decision, outcomes: &[Outcome<'_>], missing: bool) {
    scored.fed.rows += 1;
    scored.totals.verdicts[decision.verdict as usize] += 1;
    scored.totals.missing += u64::from(missing);
    for (i, outcome) in outcomes.iter().enumerate() {
        scored.totals.passed[i] += u64::from(outcome.passed);
        let repaired = outcome.passed && outcome.repaired.is_some();
        scored.totals.repaired[i] += u64::from(repaired);
        if let Some(detail) = &outcome.detail {
            scored.details.add(i, detail, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool::Watch;
    use super::*;
    use crate::scorer::Options;

    fn gate() -> Gate {
        let spec = br#"{"scorers": [{"type": "contains", "value": "ok"}]}"#;
        Gate::from_json(spec, Options::default()).unwrap()
    }

    fn run(input: &[u8], block: usize, max_line: usize, threads: usize) -> (String, Vec<BadLine>) {
        let gate = gate();
        let options = LineOptions {
            field: "output".into(),
            id_field: "id".into(),
            shown: Shown::Failed,
            max_line,
            keep_raw: true,
        };
        let mut scorer = LineScorer::new(options, 1);
        let mut idle = || false;
        let watch = Watch::new(&mut idle);
        let workers = Workers::new(threads, &watch);
        let (mut output, mut bad, mut rows) = (Vec::new(), Vec::new(), 0);
        let blocks: Vec<&[u8]> = input.chunks(block).chain([&b""[..]]).collect();
        for (i, part) in blocks.iter().enumerate() {
            let last = i + 1 == blocks.len();
            let fed =
                scorer.feed(&gate, part, last, u64::MAX, Supplied::default(), &workers).unwrap();
            output.extend(fed.output);
            rows += fed.rows;
            bad.extend(fed.bad);
        }
        assert_eq!(scorer.rows(), rows + bad.len() as u64);
        (String::from_utf8(output).unwrap(), bad)
    }

    #[test]
    fn blocks_of_any_size_give_the_same() {
        let long = "x".repeat(90);
        let input = format!(
            "\u{FEFF}\r\n{{\"output\": \"ok\"}}\r\n\n7\n{{\"output\": \"{long}\"}}\n{{\"output\": null}}"
        );
        let (output, bad) = run(input.as_bytes(), input.len(), 64, 1);
        let ids: Vec<&str> = output.lines().map(|l| l.split(',').next().unwrap()).collect();
        assert_eq!(ids, ["{\"id\":0", "{\"id\":3"]);
        let places: Vec<_> = bad.iter().map(|b| (b.line, b.offset, b.message.as_str())).collect();
        let wanted = [
            (4, 24, "expected an object, got number"),
            (5, 26, "line is longer than the limit of 64 bytes"),
        ];
        assert_eq!(places, wanted);
        for block in 1..=input.len() {
            assert_eq!(
                run(input.as_bytes(), block, 64, 1),
                (output.clone(), bad.clone()),
                "{block}"
            );
        }
    }

    #[test]
    fn a_line_at_the_limit_is_a_row_wherever_blocks_end() {
        let line = r#"{"output": "ok"}"#;
        for end in ["", "\n", "\r\n"] {
            let input = format!("\u{FEFF}{line}{end}");
            for block in 1..=input.len() {
                assert!(run(input.as_bytes(), block, line.len(), 1).1.is_empty());
                assert_eq!(run(input.as_bytes(), block, line.len() - 1, 1).1.len(), 1);
            }
        }
    }

    #[test]
    fn threads_give_the_same() {
        let mut input = "\u{FEFF}\n".to_owned();
        for i in 0..20_000 {
            input += if i % 7 == 0 { "[]\n" } else { "{\"output\": \"ok\"}\n" };
        }
        let one = run(input.as_bytes(), usize::MAX, 64, 1);
        assert_eq!(one.1.len(), 2858);
        assert_eq!(run(input.as_bytes(), usize::MAX, 64, 3), one);
    }
}
