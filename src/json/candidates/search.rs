//! The search for candidates, and the choice among them.

use super::super::diagnostics::{Code, Codes, Log};
use super::super::document::{Kind, own};
use super::super::error::ErrorKind;
use super::super::reader::{Key, Left, Parser, State, Stop};
use super::super::refusal::{RepairErrorKind, step_budget};
use super::super::rewrite::Rewritten;
use super::super::strict::{Phase, Stopped, parse_sized};
use super::ahead::{Ahead, look};
use super::fence::FenceEnd;
use super::found::{Chosen, Other};
use super::run::{Attempt, Block, Context, Evidence, Rank, Run};

use crate::text::{trim_js, trim_js_span};

/// The likely length of a document amid prose.
const LIKELY: usize = 256;

/// The search through one text.
pub(in super::super) struct Search<'a> {
    pub(super) text: &'a [u8],
    max_depth: usize,
    partial: bool,
    all: bool,
    budget: u64,
    pub(in super::super) steps: u64,
    pub(in super::super) error: Option<(RepairErrorKind, usize)>,
    run: Option<Run>,
    pub(super) best: Option<(Rank, Run)>,
    others: Vec<Run>,
    other_spans: Log,
    lost: Vec<(usize, usize)>,
    /// Lists amid the code of a fence, which are no candidates, and their fences.
    passed: Vec<((usize, usize), (usize, usize))>,
    /// A list was passed over as a citation.
    pub(in super::super) cited: bool,
    /// An opening reasoning tag has no end: the last document is the answer.
    pub(super) open_reasoning: bool,
    pub(super) no_reasoning_end: bool,
    /// A list ran to the end of the text, a tag's document beyond its tag, a fence's beyond its
    /// fence: the next ones are not tried so far.
    open_lists: bool,
    pub(super) open_tags: bool,
    pub(super) open_fences: bool,
    /// The last search for the end of a fence.
    pub(super) fence_end: FenceEnd,
    /// For a region's end: what was found out behind the brackets in it.
    probed: (usize, Option<Box<State>>),
    /// How many closers are left, as counted last.
    left: [Left; 2],
    /// Documents that stand together are kept apart.
    pub(in super::super) apart: bool,
    /// Where the last document that was tried starts.
    pub(in super::super) last_start: usize,
}

impl<'a> Search<'a> {
    pub(in super::super) fn new(
        text: &'a [u8],
        max_depth: usize,
        partial: bool,
        all: bool,
    ) -> Self {
        Search {
            text,
            max_depth,
            partial,
            all,
            budget: step_budget(text.len()),
            steps: 0,
            error: None,
            run: None,
            best: None,
            others: Vec::new(),
            other_spans: Log::default(),
            lost: Vec::new(),
            passed: Vec::new(),
            cited: false,
            open_reasoning: false,
            no_reasoning_end: false,
            open_lists: false,
            open_tags: false,
            open_fences: false,
            fence_end: FenceEnd::default(),
            probed: (usize::MAX, None),
            left: [Left::default(); 2],
            apart: false,
            last_start: 0,
        }
    }

    /// Searches the trimmed text, which the strict parser could not read as a whole.
    pub(in super::super) fn run(&mut self, start: usize, end: usize, stopped: Stopped) {
        let whole = self.text.get(start..end).unwrap_or_default();
        // Comments before the first document take nothing from its place.
        let first = start + comments(whole);
        let context =
            Context { block: Block::Bare, reasoning: false, outer: (start, end), start: first };
        // White space at the end belongs to a string that is cut there.
        let region_end = self.text.len();
        let at = match self.text.get(start) {
            Some(b'{' | b'[') => self.head(start, region_end.max(end), context, Some(stopped)),
            Some(b'"') => self.headless(start, end, context),
            _ => start,
        };
        self.scan(at, region_end, context);
        self.finish_run();
    }

    /// The document at the start of a region: it needs less evidence than one amid prose.
    fn head(
        &mut self,
        start: usize,
        end: usize,
        context: Context,
        stopped: Option<Stopped>,
    ) -> usize {
        if section_mark(self.text.get(..end).unwrap_or_default(), start).is_some() {
            return start;
        }
        let ahead = self.ahead(start, end);
        let body = self.text.get(start..end).unwrap_or_default();
        let mut last = trim_js(body).last().copied();
        if context.block != Block::Bare && last == Some(b'`') {
            last = None;
        }
        let bracket = self.text.get(start).copied();
        let whole = matches!((bracket, last), (Some(b'['), Some(b']')) | (Some(b'{'), Some(b'}')));
        if ahead == Ahead::Nothing && !whole && bracket == Some(b'[') {
            return start;
        }
        let Some(attempt) = self.attempt(start, end, context, stopped) else { return start + 1 };
        self.head_of(attempt, start, end, context)
    }

    /// An object whose opening brace is missing: the text starts with a key.
    pub(super) fn headless(&mut self, start: usize, end: usize, context: Context) -> usize {
        // A reader of spans wants the brackets.
        if self.apart {
            return start;
        }
        let text = self.text.get(..end).unwrap_or(self.text);
        let budget = self.budget.saturating_sub(self.steps);
        let mut state = State::headless(start, self.max_depth, budget);
        state.log = Log::new(self.partial);
        state.partial = self.partial;
        let mut parser = Parser { text, last: true, state };
        let key = parser.key_at(start) == Ok(Key::Yes);
        let closed = key && parser.closers_left(start);
        let stop = if key { parser.run() } else { Stop::More };
        self.steps += parser.state.steps;
        // Where it is cut, a second key and plain values have to speak for it.
        let members = parser.state.nodes.first().map_or(0, |root| root.end);
        let plain = !parser.state.log.facts().codes.any_of(LOOSE_WORDS)
            && !parser.state.log.facts().codes.any_of(LOOSE_CUT);
        let cut = stop == Stop::End && members > 1 && plain;
        if !(stop == Stop::Done && closed || cut) {
            return start;
        }
        parser.state.log.add(Code::MissingOpener, start, start);
        let attempt = Attempt::of(parser.state, true);
        let next = attempt.end;
        self.add(attempt, start, context);
        next
    }

    /// Takes the document at the start of a region, if it is data.
    pub(super) fn head_of(
        &mut self,
        attempt: Attempt,
        start: usize,
        end: usize,
        context: Context,
    ) -> usize {
        let ahead = self.ahead(start, end);
        let bracket = self.text.get(start).copied();
        let rest = self.text.get(attempt.end..end).unwrap_or_default();
        if attempt.is_void() {
            return start + 1;
        }
        if attempt.evidence == Evidence::Values && self.is_citation(&attempt, start, context) {
            self.cited = true;
            return attempt.end;
        }
        if ahead == Ahead::Nothing {
            // `[x, y]` is a list where it is all there is, `{name}` is not data.
            let alone = trim_js(rest).is_empty() || trim_js(rest).first() == Some(&b',');
            let keys = attempt.evidence <= Evidence::BareKeys;
            if !(alone && (keys || bracket == Some(b'[')) || keys && attempt.closed) {
                return start + 1;
            }
        }
        let at = attempt.end;
        self.add(attempt, start, context);
        at
    }

    /// Searches a region for documents.
    pub(super) fn scan(&mut self, start: usize, end: usize, context: Context) {
        let mut at = start;
        let text = self.text.get(..end).unwrap_or(self.text);
        while self.error.is_none() {
            if self.run.as_ref().is_some_and(|run| run.span.1 == at) {
                let gap = comments(text.get(at..).unwrap_or_default());
                self.steps += gap as u64;
                at += gap;
            }
            let rest = text.get(at..).unwrap_or_default();
            let mark = |b: &u8| matches!(b, b'{' | b'[' | b'`' | b'~' | b'<');
            let found = rest.iter().position(mark);
            self.steps += found.unwrap_or(rest.len()) as u64;
            let Some(found) = found else { return };
            let mark = at + found;
            at = match text.get(mark) {
                Some(b'{' | b'[') => self.bracket(mark, end, context),
                Some(b'<') => self.tag(mark, end, context),
                Some(_) => self.fence(mark, end, context),
                None => return,
            };
            at = at.max(mark + 1);
        }
    }

    /// A bracket amid prose.
    fn bracket(&mut self, at: usize, end: usize, context: Context) -> usize {
        if let Some(after) = section_mark(self.text.get(..end).unwrap_or_default(), at) {
            self.steps += (after - at) as u64;
            return after;
        }
        let ahead = self.ahead(at, end);
        let object = self.text.get(at) == Some(&b'{');
        match ahead {
            Ahead::Nothing => at + 1,
            Ahead::Cut if !object => at + 1,
            Ahead::Cut if trim_js(self.text.get(at + 1..end).unwrap_or_default()).is_empty() => {
                at + 1
            }
            Ahead::Values => self.values(at, end, context),
            Ahead::Keys | Ahead::Empty | Ahead::Cut => {
                let Some(attempt) = self.attempt(at, end, context, None) else { return at + 1 };
                let next = attempt.end;
                if !attempt.is_void() {
                    self.add(attempt, at, context);
                }
                next
            }
        }
    }

    /// A list of scalars amid prose: valid, or complete with small faults, or cut.
    fn values(&mut self, at: usize, end: usize, context: Context) -> usize {
        let text = self.text.get(..end).unwrap_or(self.text);
        let stopped = parse_sized(text, at, end, self.max_depth, LIKELY);
        let done = stopped.error.is_none() || stopped.phase == Phase::Done;
        if !done && self.open_lists {
            self.steps += (stopped.at - at) as u64;
            return stopped.at.max(at + 1);
        }
        let resume = stopped.at;
        let Some(attempt) = self.attempt(at, end, context, Some(stopped)) else { return end };
        let next = attempt.end;
        if done {
            if self.is_citation(&attempt, at, context) {
                self.cited = true;
            } else {
                self.add(attempt, at, context);
            }
            return next;
        }
        let quoted = matches!(text.get(at + 1), Some(b'"'));
        if attempt.closed {
            let comma = !quoted && attempt.has(Codes::of(&[Code::MissingComma]));
            if !attempt.has(LOOSE) && !attempt.has(LOOSE_WORDS) && !comma {
                self.add(attempt, at, context);
            }
            return next;
        }
        // The next list that is not closed would be read to the end too.
        self.open_lists = true;
        // `"I, ["` and a line feed: the bracket stands in a quotation.
        let plain = !attempt.has(LOOSE_WORDS) && !attempt.has(AMID_WORDS);
        if quoted && plain || attempt.evidence <= Evidence::BareKeys {
            self.add(attempt, at, context);
            return next;
        }
        resume.max(at + 1)
    }

    /// A whole number in brackets behind a word of a sentence points to a source.
    fn is_citation(&self, attempt: &Attempt, at: usize, context: Context) -> bool {
        let numbers = attempt.nodes.iter().skip(1).all(|node| {
            let digits = self.text.get(node.start as usize..node.end as usize);
            node.kind == Kind::Number && digits.is_some_and(|d| d.iter().all(u8::is_ascii_digit))
        });
        let before = self.text.get(..at).unwrap_or_default();
        let word = before.iter().rev().find(|b| !matches!(b, b' ' | b'\t'));
        let line = word.is_none_or(|b| *b == b'\n');
        let word =
            word.is_some_and(|&b| b.is_ascii_alphanumeric() || b >= 0x80 || b == b']' || b == b')');
        // `[1] Smith, 2020.`
        let behind = self.text.get(attempt.end..).unwrap_or_default();
        let entry =
            matches!(behind.trim_ascii_start(), [b, ..] if b.is_ascii_alphabetic() || *b >= 0x80);
        let single = attempt.nodes.len() == 2;
        let points = word && (single || self.cited) || line && entry && single;
        context.block == Block::Bare && numbers && points
    }

    /// True where documents are the items of a list that is all of the text so far.
    fn in_list(&self, from: usize, between: &[u8]) -> bool {
        let head = self.run.as_ref().and_then(|run| {
            let before = self.text.get(run.context.outer.0..run.span.0)?;
            (from >= run.span.0).then_some(before)
        });
        let line = between.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
        let breaks = between.get(..line).is_some_and(|gap| gap.contains(&b'\n'));
        breaks && is_mark(between) && head.is_some_and(is_mark)
    }

    /// A whole stretch that is one valid scalar.
    pub(super) fn strict_scalar(&mut self, start: usize, end: usize) -> Option<Attempt> {
        let text = self.text.get(..end)?;
        let stopped = parse_sized(text, start, end, self.max_depth, LIKELY);
        self.steps += (stopped.at - start) as u64;
        if stopped.error.is_some() {
            return None;
        }
        Some(Attempt::of(State::resume(text, stopped, self.max_depth, 0), true))
    }

    /// What stands behind an opening bracket.
    fn ahead(&mut self, at: usize, end: usize) -> Ahead {
        let text = self.text.get(..end).unwrap_or(self.text);
        let known = self.probed.1.take().filter(|_| self.probed.0 == end);
        let mut state = known.unwrap_or_else(|| State::new(at, self.max_depth, u64::MAX));
        state.at = at;
        let before = state.steps;
        let mut probe = Parser { text, last: true, state };
        // What was found out about a region holds for all the brackets in it.
        let result = look(&mut probe, at);
        self.steps += probe.state.steps - before;
        self.probed = (end, Some(probe.state));
        result
    }

    /// Reads the document at a place.
    pub(super) fn attempt(
        &mut self,
        at: usize,
        end: usize,
        context: Context,
        stopped: Option<Stopped>,
    ) -> Option<Attempt> {
        self.last_start = at;
        let text = self.text.get(..end).unwrap_or(self.text);
        let stopped = stopped.unwrap_or_else(|| parse_sized(text, at, end, self.max_depth, LIKELY));
        if let Some(error) = stopped.error {
            match error.kind {
                ErrorKind::TooDeep => {
                    return self.fail(RepairErrorKind::TooDeep(self.max_depth), error.offset);
                }
                ErrorKind::TooLong => return self.fail(RepairErrorKind::TooLong, error.offset),
                _ => {}
            }
        }
        self.steps += (stopped.at - at) as u64;
        let budget = self.budget.saturating_sub(self.steps);
        let whole = stopped.error.is_none();
        let mut state = State::resume(text, stopped, self.max_depth, budget);
        state.fenced = context.block != Block::Bare;
        state.partial = self.partial;
        state.log = Log::new(self.partial);
        state.memo.left = self.left;
        let mut parser = Parser { text, last: true, state };
        let stop = if whole { Stop::Done } else { parser.run() };
        let state = parser.state;
        self.left = state.memo.left;
        self.steps += state.steps;
        match stop {
            Stop::Done | Stop::End | Stop::More => {}
            Stop::TooDeep => return self.fail(RepairErrorKind::TooDeep(self.max_depth), state.at),
            Stop::Budget => return self.fail(RepairErrorKind::Budget, state.at),
            Stop::Escaped => return self.escaped(at, end),
        }
        Some(Attempt::of(state, stop == Stop::Done))
    }

    fn fail(&mut self, kind: RepairErrorKind, offset: usize) -> Option<Attempt> {
        self.error.get_or_insert((kind, offset));
        None
    }

    /// A document that is escaped once more: `{\"a\": 1}`.
    fn escaped(&mut self, at: usize, end: usize) -> Option<Attempt> {
        let mut window = 48usize;
        loop {
            let stretch = end.min(at.saturating_add(window));
            let unescaped = Rewritten::unescaped(self.text.get(at..stretch).unwrap_or_default());
            self.steps += (stretch - at) as u64;
            let text = &unescaped.text[..];
            let stopped = parse_sized(text, 0, text.len(), self.max_depth, LIKELY);
            let whole = stopped.error.is_none();
            if stopped.error.is_some_and(|e| e.kind == ErrorKind::TooDeep) {
                return self.fail(RepairErrorKind::TooDeep(self.max_depth), at);
            }
            let budget = self.budget.saturating_sub(self.steps);
            let mut parser = Parser {
                text,
                last: true,
                state: State::resume(text, stopped, self.max_depth, budget),
            };
            let stop = if whole { Stop::Done } else { parser.run() };
            let state = parser.state;
            self.steps += state.steps;
            match stop {
                Stop::TooDeep => return self.fail(RepairErrorKind::TooDeep(self.max_depth), at),
                Stop::Budget => return self.fail(RepairErrorKind::Budget, at),
                Stop::Escaped => return None,
                _ => {}
            }
            if stop != Stop::Done && stretch < end {
                window = window.saturating_mul(4);
                continue;
            }
            let closed = stop == Stop::Done;
            let mut attempt = Attempt::of(state, closed);
            own(&mut attempt.nodes, &mut attempt.side, text);
            attempt.end = at + unescaped.original(attempt.end);
            let mut log = Log::new(self.partial);
            log.add(Code::EscapedDocument, at, attempt.end);
            let inner = std::mem::take(&mut attempt.log);
            log.append(inner.map(|offset| at + unescaped.original(offset)));
            attempt.log = log;
            return Some(attempt);
        }
    }

    /// Takes a document as a candidate, or as a part of the one before it.
    pub(super) fn add(&mut self, attempt: Attempt, start: usize, context: Context) {
        if let Some(run) = &self.run {
            let tags = run.context.block == Block::Tag && context.block == Block::Tag;
            let (from, to) =
                if tags { (run.context.outer.1, context.outer.0) } else { (run.span.1, start) };
            let head = self.text.get(..from).unwrap_or_default();
            let from = if tags { from } else { head.trim_ascii_end().len() };
            let between = self.text.get(from..to).unwrap_or_default();
            let near = tags && from <= to
                || run.context.outer == context.outer && run.context.block == context.block;
            let keys = |e: Evidence| e <= Evidence::BareKeys;
            let alike =
                keys(run.evidence) == keys(attempt.evidence) || run.span.0 == run.context.start;
            let together = separates(between) || self.in_list(from, between);
            if !self.apart
                && near
                && alike
                && together
                && let Some(run) = &mut self.run
            {
                if tags {
                    run.context.outer.1 = context.outer.1;
                }
                run.append(attempt);
                return;
            }
        }
        self.finish_run();
        if !self.is_data(&attempt, start, context) {
            let indexed = start.checked_sub(1).and_then(|i| self.text.get(i));
            let indexed = indexed.is_some_and(|b| b.is_ascii_alphanumeric() || b"_)]".contains(b));
            if context.block != Block::Bare && attempt.is_strict_list() && !indexed {
                self.passed.push(((start, attempt.end), context.outer));
            }
            return;
        }
        self.run = Some(Run {
            count: 1,
            span: (start, attempt.end),
            strict: attempt.log.is_empty(),
            evidence: attempt.evidence,
            nodes: attempt.nodes,
            side: attempt.side,
            log: attempt.log,
            context,
        });
    }

    /// Brackets amid code are mostly code: there only quoted keys make data, or a document that is
    /// all of its block. Amid prose an index (`x[0]`) and empty brackets (`f() {}`) are no data.
    fn is_data(&self, attempt: &Attempt, start: usize, context: Context) -> bool {
        let text = self.text;
        let first = start == context.start;
        match context.block {
            Block::JsonFence | Block::Tag => true,
            Block::PlainFence | Block::CodeFence => {
                let rest = text.get(attempt.end..context.outer.1).unwrap_or_default();
                let next = trim_js(rest).first();
                let alone = matches!(next, None | Some(b'`' | b'~' | b'{' | b'[' | b','));
                attempt.evidence == Evidence::QuotedKeys || (first && alone)
            }
            Block::Bare => {
                let before = start.checked_sub(1).and_then(|i| text.get(i)).copied();
                let index = before
                    .is_some_and(|b| b.is_ascii_alphanumeric() || b"_)]".contains(&b))
                    && attempt.evidence >= Evidence::Values
                    && attempt.closed;
                // What is cut may be empty still.
                let empty = attempt.evidence == Evidence::Empty && attempt.closed;
                first || !(empty || index || attempt.thin)
            }
        }
    }

    pub(super) fn finish_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        let rank = run.rank(self.text);
        let better = match &self.best {
            None => true,
            Some((best, _)) if self.open_reasoning => rank <= *best,
            Some((best, _)) => rank < *best,
        };
        let loser =
            if better { self.best.replace((rank, run)).map(|(_, run)| run) } else { Some(run) };
        if let Some(run) = loser {
            self.lose(run);
        }
    }

    fn lose(&mut self, run: Run) {
        let code =
            if run.context.reasoning { Code::ReasoningSkipped } else { Code::OtherCandidate };
        self.other_spans.add(code, run.span.0, run.span.1);
        self.lost.push(run.context_span());
        if self.all {
            self.others.push(run);
        }
    }

    /// The best document, its diagnostics, and the others.
    pub(in super::super) fn choose(mut self) -> Option<Chosen<'a>> {
        let text = self.text;
        let (_, run) = self.best?;
        let mut log = Log::new(self.partial);
        if run.context.reasoning {
            log.add(Code::ReasoningUsed, run.span.0, run.span.1);
        }
        // Lists amid the code of its fence are named as lists amid prose are.
        let outer = run.context.outer;
        for (span, _) in self.passed.iter().filter(|passed| passed.1 == outer) {
            self.other_spans.add(Code::OtherCandidate, span.0, span.1);
        }
        let (found, run_log) = run.found(text);
        log.append(run_log);
        log.append(self.other_spans);
        let mut others = self.others;
        others.sort_by_key(|run| run.span.0);
        let others = others.into_iter().map(|run| run.found(text).0.into()).collect();
        let mut lost = self.lost;
        lost.sort_unstable();
        Some(Chosen { found, log, others, lost })
    }

    /// Every candidate in order, for [`object_spans`](crate::json::object_spans).
    pub(in super::super) fn into_all(mut self) -> Vec<Other<'a>> {
        let text = self.text;
        let mut runs = std::mem::take(&mut self.others);
        runs.extend(self.best.take().map(|(_, run)| run));
        runs.sort_by_key(|run| run.span.0);
        runs.into_iter().map(|run| run.found(text).0.into()).collect()
    }
}

/// Repairs that a plain list amid prose does not need.
const LOOSE: Codes = Codes::of(&[Code::ClosedAtEof, Code::InnerQuote, Code::RawControl]);
const LOOSE_WORDS: Codes =
    Codes::of(&[Code::UnquotedValue, Code::NumberAsText, Code::DroppedText, Code::Ellipsis]);

/// Repairs that a cut object without its brace does not need.
const LOOSE_CUT: Codes = Codes::of(&[Code::InnerQuote, Code::RawControl, Code::MissingComma]);

/// Repairs that a list of strings amid prose, cut at the end of the text, does not need.
const AMID_WORDS: Codes = Codes::of(&[Code::RawControl, Code::MissingComma]);

/// The end of a mark `[[ ## name ## ]]`, which names a section of the text.
fn section_mark(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(b"[[ ## ")?;
    let end = memchr::memchr2(b']', b'\n', rest)?;
    rest.get(..end)?.ends_with(b" ## ").then_some(())?;
    rest.get(end..)?.starts_with(b"]]").then_some(at + 6 + end + 2)
}

/// True for text that only keeps two documents apart: space, commas, comments.
fn separates(text: &[u8]) -> bool {
    trim_js(text.get(comments(text)..).unwrap_or_default()).is_empty()
}

/// True for space and the mark of a list's item.
fn is_mark(text: &[u8]) -> bool {
    match text.trim_ascii() {
        [b'-' | b'*' | b'+'] => true,
        [digits @ .., b'.' | b')'] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// The length of the space, commas and whole comments at the start of a text.
fn comments(text: &[u8]) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        let behind = match rest {
            [b',' | b';', behind @ ..] => Some(behind),
            [b'/', b'/', ..] | [b'#', b' ' | b'#', ..] => {
                memchr::memchr(b'\n', rest).and_then(|line| rest.get(line..))
            }
            [b'/', b'*', inside @ ..] => {
                memchr::memmem::find(inside, b"*/").and_then(|close| inside.get(close + 2..))
            }
            _ => None,
        };
        match behind {
            Some(behind) => rest = behind,
            None => return text.len() - rest.len(),
        }
    }
}

/// The span of a region without white space at its ends.
pub(super) fn trimmed(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let (from, to) = trim_js_span(text.get(start..end).unwrap_or_default());
    (start + from, start + to)
}
