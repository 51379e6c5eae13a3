//! JSON that arrives in pieces: one live value that only grows.
//!
//! [`JsonStream::feed`] reads a piece and tells a [`Build`] what to add to the value: nothing
//! that was told is ever taken back, so each prefix is stable. What is not certain yet (a number
//! that may go on, a quote whose meaning depends on the next token) waits. Text before the
//! document is skipped as in the repair tier: prose, reasoning blocks, a fence's first line.
//!
//! The work is proportional to the text, in whatever pieces it comes, and the value does not depend
//! on the pieces: an open string is decoded as it comes, and a decision that waits goes on where it
//! stopped (see the repair parser's `waiting`).

use std::borrow::Cow;

use super::build::Build;
use super::candidates::{Ahead, look};
use super::diagnostics::{Code, Diagnostic, Log, Severity};
use super::document::{Document, Kind, Node, Place, index_u32};
use super::error::MAX_DEPTH;
use super::reader::{Event, Parser, State, Stop};
use super::refusal::{RepairError, RepairErrorKind};
use super::repair::{RepairOptions, repair};
use super::strict::{Phase, ROOT};
use super::string::{next_special, unescape};
use crate::text::{space_at_start, trim_js};

/// The longest first line of a fence.
const INFO: usize = 64;

/// The longest tag.
const TAG: usize = 64;

/// How far a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// No document has begun.
    Waiting,
    /// The document is open.
    Open,
    /// The document is complete; later text is only looked at in the end.
    Complete,
}

/// A document that arrives in pieces.
#[derive(Debug)]
pub struct JsonStream {
    text: Vec<u8>,
    /// The last bytes of a piece that end inside a character.
    cut: Vec<u8>,
    state: Option<Box<State>>,
    progress: Progress,
    search: usize,
    /// Where the document starts.
    start: usize,
    /// A reasoning block whose end is looked for: its name.
    reasoning: Option<Vec<u8>>,
    fenced: bool,
    prose: bool,
    /// The repairs of the documents before, and how many those are.
    earlier: Log,
    documents: usize,
    /// A bracket whose words have not all come yet: its place, and the look behind it.
    probe: Option<(usize, Box<State>)>,
    /// The look behind the bracket before.
    spare: Option<Box<State>>,
    /// How far a string at the start of the text was read.
    quoted: usize,
    /// The back-ticks that a run at `search` has so far.
    ticks: usize,
    /// From `search` to here no tag ends.
    no_tag_end: usize,
    /// From `search` to here no line ends.
    no_line_end: usize,
    /// How much of the open string was told.
    tail: usize,
    tail_open: bool,
    max_depth: usize,
    finished: bool,
    steps: u64,
}

impl Default for JsonStream {
    fn default() -> Self {
        Self::new(MAX_DEPTH)
    }
}

impl JsonStream {
    /// A stream that nests at most `max_depth` levels.
    pub fn new(max_depth: usize) -> Self {
        JsonStream {
            text: Vec::new(),
            cut: Vec::new(),
            state: None,
            progress: Progress::Waiting,
            search: 0,
            start: 0,
            reasoning: None,
            fenced: false,
            prose: false,
            earlier: Log::default(),
            documents: 0,
            probe: None,
            spare: None,
            quoted: 0,
            ticks: 0,
            no_tag_end: 0,
            no_line_end: 0,
            tail: 0,
            tail_open: false,
            max_depth,
            finished: false,
            steps: 0,
        }
    }

    /// How far the stream is.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// The text so far.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The span of the document in bytes, as far as it was read.
    pub fn span(&self) -> Option<(usize, usize)> {
        self.state.as_ref().map(|s| (self.start, s.at.min(self.text.len())))
    }

    /// What was repaired so far.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let open = self.state.as_ref().map_or(&[][..], |s| s.log.listed());
        self.earlier.listed().iter().chain(open).copied().collect()
    }

    /// Goes on to the next document, once one is complete: what was fed behind it is read.
    pub fn next_document(&mut self, build: &mut impl Build) -> Result<(), RepairError> {
        let Some(state) = self.state.take().filter(|_| self.progress == Progress::Complete) else {
            return Ok(());
        };
        self.search = state.at;
        self.steps += state.steps;
        self.earlier.append(state.log);
        self.documents += 1;
        self.progress = Progress::Waiting;
        self.prose = false;
        self.fenced = false;
        (self.tail, self.tail_open) = (0, false);
        self.go(self.finished, build)
    }

    /// The decoded text of the string that is open, if the value has one.
    pub fn tail(&self) -> Option<&[u8]> {
        if !self.tail_open {
            return None;
        }
        self.state.as_ref().map(|s| &s.scratch[..])
    }

    /// The work that was done: bytes that decisions looked at.
    pub fn steps(&self) -> u64 {
        self.steps + self.state.as_ref().map_or(0, |s| s.steps)
    }

    /// Reads a piece (WTF-8, which may end inside a character).
    pub fn feed(&mut self, piece: &[u8], build: &mut impl Build) -> Result<(), RepairError> {
        if self.finished {
            return Ok(());
        }
        let joined;
        let piece = if self.cut.is_empty() {
            piece
        } else {
            self.cut.extend_from_slice(piece);
            joined = std::mem::take(&mut self.cut);
            &joined[..]
        };
        let (whole, cut) = piece.split_at(piece.len() - cut_len(piece));
        self.cut = cut.to_vec();
        if u32::try_from(self.text.len() + whole.len()).is_err() {
            return Err(RepairError { kind: RepairErrorKind::TooLong, offset: self.text.len() });
        }
        // A surrogate pair may come in two pieces.
        if memchr::memchr(0xED, whole).is_some() {
            self.text.extend_from_slice(&crate::text::wtf8(whole.to_vec()));
        } else {
            self.text.extend_from_slice(whole);
        }
        if self.progress == Progress::Complete {
            return Ok(());
        }
        self.go(false, build)
    }

    /// Ends the text: what is open is closed, and a last scalar is read. An error where no
    /// document has begun.
    pub fn finish(&mut self, build: &mut impl Build) -> Result<(), RepairError> {
        if self.finished {
            return Ok(());
        }
        let cut = std::mem::take(&mut self.cut);
        self.text.extend_from_slice(&cut);
        let complete = self.progress == Progress::Complete;
        let result = if complete { Ok(()) } else { self.go(true, build) };
        self.finished = true;
        result?;
        if self.progress == Progress::Waiting && self.documents == 0 {
            self.begin_late(build)?;
        }
        if self.progress == Progress::Waiting && self.documents == 0 {
            return Err(RepairError { kind: RepairErrorKind::NoJson, offset: 0 });
        }
        self.progress = Progress::Complete;
        if self.documents == 0 {
            self.compare();
        }
        Ok(())
    }

    /// Brackets that no look made plausible may be all that the text has.
    fn begin_late(&mut self, build: &mut impl Build) -> Result<(), RepairError> {
        let options = RepairOptions { max_depth: self.max_depth, ..RepairOptions::default() };
        let whole = repair(&self.text, &options);
        self.steps += whole.steps;
        let start = whole.span.0;
        if whole.result.is_ok() && matches!(self.text.get(start), Some(b'{' | b'[')) {
            self.begin(start);
            self.go(true, build)?;
        }
        Ok(())
    }

    /// Says what the value does not show: the text is read as a whole, unless it is plain JSON.
    fn compare(&mut self) {
        let Some(shown) = self.snapshot() else { return };
        let Some((start, end)) = self.span() else { return };
        let rest = self.text.get(end..).unwrap_or_default();
        let clean = self.state.as_ref().is_some_and(|s| s.log.is_empty());
        if clean && self.text.get(..start).is_some_and(<[u8]>::is_empty) && trim_js(rest).is_empty()
        {
            return;
        }
        let options = RepairOptions { max_depth: self.max_depth, ..RepairOptions::default() };
        let whole = repair(&self.text, &options);
        let steps = whole.steps;
        let around = |d: &&Diagnostic| {
            d.code == Code::OtherCandidate || d.code == Code::DiscardedText && d.start >= end
        };
        let mut said: Vec<_> = whole.diagnostics.iter().filter(around).copied().collect();
        let several = whole.diagnostics.iter().find(|d| d.code == Code::SeveralDocuments);
        if let Some(all) = several.filter(|all| all.end > end) {
            // Whoever reads the first document alone loses the others.
            said.push(Diagnostic {
                severity: Severity::Lossy,
                ..Diagnostic::new(Code::OtherCandidate, end, all.end)
            });
        }
        let same = match whole.result {
            Ok(document) if several.is_some() => shown.same_as_first(&document),
            Ok(document) => shown.same(&document),
            Err(_) => false,
        };
        if !same {
            said.push(Diagnostic::new(Code::ReadsOtherwise, start, end));
        }
        self.steps += steps;
        if let Some(state) = &mut self.state {
            for found in said {
                state.log.push(found);
            }
        }
    }

    fn go(&mut self, last: bool, build: &mut impl Build) -> Result<(), RepairError> {
        if self.progress == Progress::Waiting {
            match self.find_start(last) {
                Some(at) => self.begin(at),
                None => return Ok(()),
            }
        }
        let Some(state) = self.state.take() else { return Ok(()) };
        let mut parser = Parser { text: &self.text, last, state };
        if parser.asleep() && !last {
            self.state = Some(parser.state);
            return Ok(());
        }
        let stop = parser.run();
        let mut state = parser.state;
        self.tell(&mut state, build);
        let offset = state.at;
        self.state = Some(state);
        match stop {
            Stop::Done | Stop::End => self.progress = Progress::Complete,
            Stop::TooDeep => {
                self.finished = true;
                return Err(RepairError { kind: RepairErrorKind::TooDeep(self.max_depth), offset });
            }
            Stop::Budget => return Err(RepairError { kind: RepairErrorKind::Budget, offset }),
            Stop::More | Stop::Escaped => {}
        }
        Ok(())
    }

    fn begin(&mut self, at: usize) {
        self.start = at;
        let mut state = State::new(at, self.max_depth, u64::MAX);
        state.events = Some(Vec::new());
        state.fenced = self.fenced;
        self.state = Some(state);
        self.progress = Progress::Open;
    }

    /// Tells the builder what happened.
    fn tell(&mut self, state: &mut State, build: &mut impl Build) {
        let mut events = state.events.take().unwrap_or_default();
        for event in events.drain(..) {
            match event {
                Event::Open(Kind::Object) => build.open_object(),
                Event::Open(_) => build.open_array(),
                Event::Close => build.close(),
                Event::Key(node) => build.key(&content(&self.text, state, node)),
                Event::Scalar(node) => tell_scalar(&self.text, state, node, build),
                Event::StringOpen => {
                    self.tail = 0;
                    self.tail_open = true;
                    build.tail_open();
                }
                Event::StringClose(node) => {
                    let text = content(&self.text, state, node);
                    if let Some(rest) = text.get(self.tail..).filter(|r| !r.is_empty()) {
                        build.tail_grow(rest);
                    }
                    self.tail_open = false;
                    build.tail_close();
                }
            }
        }
        state.events = Some(events);
        // Half a pair may get its other half from a string that is joined to this one.
        let half = matches!(state.scratch.as_slice(), [.., 0xED, 0xA0..=0xAF, _]);
        let end = state.scratch.len() - if half { 3 } else { 0 };
        if self.tail_open
            && let Some(rest) = state.scratch.get(self.tail..end).filter(|r| !r.is_empty())
        {
            build.tail_grow(rest);
            self.tail = end;
        }
    }

    /// The place at which the document starts, once it is certain.
    fn find_start(&mut self, last: bool) -> Option<usize> {
        loop {
            if let Some(name) = self.reasoning.take()
                && !self.skip_reasoning(&name)
            {
                self.reasoning = Some(name);
                return None;
            }
            let rest = self.text.get(self.search..).unwrap_or_default();
            // Documents may be separated by more than space.
            let between = self.documents > 0 && !self.prose;
            // 0x1E stands before each text of a sequence (RFC 7464).
            let separator = |rest: &[u8]| match rest.first() {
                Some(b',' | b';') if between => Some(1),
                Some(0x1E) => Some(1),
                _ => None,
            };
            let mut skipped = 0;
            while let Some(n) = rest.get(skipped..).and_then(|r| space_at_start(r).or(separator(r)))
            {
                skipped += n;
            }
            let at = self.search + skipped;
            self.steps += skipped as u64;
            self.search = at;
            let rest = self.text.get(at..).unwrap_or_default();
            let first = *rest.first()?;
            if !self.prose {
                // Nothing but space (and a fence or a reasoning block) came before.
                match first {
                    b'{' => return Some(at),
                    b'"' => match self.head_string(at, last) {
                        Head::Value => return Some(at),
                        Head::Prose(end) => {
                            self.search = end;
                            self.prose = true;
                            continue;
                        }
                        Head::Waits => return None,
                    },
                    b'-' | b'0'..=b'9' | b't' | b'f' | b'n' if last => {
                        return super::strict::parse_range(&self.text, at, self.text.len())
                            .ok()
                            .map(|_| at);
                    }
                    b'-' | b'0'..=b'9' | b't' | b'f' | b'n'
                        if rest.len() < 64 && !rest.trim_ascii_end().contains(&b' ') =>
                    {
                        return None;
                    }
                    _ => {}
                }
            }
            let mark = rest.iter().position(|b| matches!(b, b'{' | b'[' | b'`' | b'<'));
            self.steps += mark.unwrap_or(rest.len()) as u64;
            let Some(mark) = mark else {
                self.search = self.text.len();
                self.prose = true;
                return None;
            };
            self.prose |= mark > 0;
            self.search = at + mark;
            match self.mark(last) {
                Mark::Start => return Some(self.search),
                Mark::Skip(len) => {
                    self.search += len;
                    self.prose |= len == 1;
                }
                Mark::Wait => return None,
            }
        }
    }

    /// A text that begins with a quote is a value where nothing follows the string: replies that
    /// begin with a quoted title are prose.
    fn head_string(&mut self, at: usize, last: bool) -> Head {
        let mut end = self.quoted.max(at + 1);
        let closed = loop {
            let next = next_special(&self.text, end);
            self.steps += (next - end) as u64 + 1;
            self.quoted = next;
            match self.text.get(next) {
                None => break None,
                Some(b'"') => break Some(next + 1),
                // The byte behind a backslash may not have come yet.
                Some(b'\\') if next + 1 == self.text.len() => break None,
                Some(b'\\') => end = next + 2,
                Some(_) => end = next + 1,
            }
        };
        let Some(closed) = closed else {
            return if last && self.text.len() > at + 1 { Head::Value } else { Head::Waits };
        };
        let rest = trim_js(self.text.get(closed..).unwrap_or_default());
        match rest {
            [] if last => Head::Value,
            [] => Head::Waits,
            _ => Head::Prose(closed),
        }
    }

    fn mark(&mut self, last: bool) -> Mark {
        let at = self.search;
        let rest = self.text.get(at..).unwrap_or_default();
        match rest.first() {
            Some(b'{' | b'[') => {
                let known = self.probe.take().filter(|known| known.0 == at);
                let state = known.map(|known| known.1);
                // What was found out behind the brackets before holds here too.
                let mut state = state
                    .or_else(|| self.spare.take())
                    .unwrap_or_else(|| State::new(at, self.max_depth, u64::MAX));
                state.at = at;
                let before = state.steps;
                let mut probe = Parser { text: &self.text, last, state };
                let waits = probe.asleep() && !last;
                let ahead = if waits { Ahead::Cut } else { look(&mut probe, at) };
                self.steps += probe.state.steps - before;
                match ahead {
                    Ahead::Keys => Mark::Start,
                    Ahead::Values | Ahead::Empty if !self.prose => Mark::Start,
                    Ahead::Cut if !last => {
                        self.probe = Some((at, probe.state));
                        Mark::Wait
                    }
                    _ => {
                        self.spare = Some(probe.state);
                        Mark::Skip(1)
                    }
                }
            }
            Some(b'`') => {
                let more = rest.iter().skip(self.ticks).take_while(|&&b| b == b'`').count();
                let run = self.ticks + more;
                self.steps += more as u64;
                if run == rest.len() && !last {
                    self.ticks = run;
                    return Mark::Wait;
                }
                self.ticks = 0;
                if run < 3 {
                    return Mark::Skip(run);
                }
                // The same window, however the text was cut.
                match first_of(
                    b'\n',
                    rest.get(..INFO).unwrap_or(rest),
                    at,
                    &mut self.no_line_end,
                    &mut self.steps,
                ) {
                    Some(line) => {
                        let info = rest.get(run..line).unwrap_or_default().trim_ascii();
                        let data =
                            info.is_empty() || info.to_ascii_lowercase().starts_with(b"json");
                        self.fenced = data;
                        self.prose = !data;
                        Mark::Skip(line + 1)
                    }
                    None if rest.len() < INFO && !last => Mark::Wait,
                    None => Mark::Skip(run),
                }
            }
            _ => {
                let window = rest.get(..TAG).unwrap_or(rest);
                let close = first_of(b'>', window, at, &mut self.no_tag_end, &mut self.steps);
                let Some(close) = close else {
                    return if rest.len() < TAG && !last { Mark::Wait } else { Mark::Skip(1) };
                };
                let name = rest.get(1..close).unwrap_or_default();
                if super::candidates::is_reasoning(name) {
                    self.reasoning = Some(name.to_vec());
                }
                Mark::Skip(close + 1)
            }
        }
    }

    /// Skips to the end of a reasoning block; false where it has not come yet.
    fn skip_reasoning(&mut self, name: &[u8]) -> bool {
        loop {
            let rest = self.text.get(self.search..).unwrap_or_default();
            let Some(at) = memchr::memmem::find(rest, b"</") else {
                self.steps += rest.len() as u64;
                self.search = self.text.len().saturating_sub(1).max(self.search);
                return false;
            };
            self.search += at;
            self.steps += at as u64;
            let tag = rest.get(at + 2..).unwrap_or_default();
            match tag.get(..=name.len()) {
                Some([word @ .., b'>']) if word.eq_ignore_ascii_case(name) => {
                    self.search += name.len() + 3;
                    return true;
                }
                Some(_) => self.search += 2,
                None => return false,
            }
        }
    }

    /// A copy of the value so far, as a document: what is open is closed, a key that waits for
    /// its value is left out. None where no value has begun.
    pub fn snapshot(&self) -> Option<Document<'_>> {
        let state = self.state.as_ref()?;
        let mut document =
            Document { text: &self.text, side: state.side.clone(), nodes: state.nodes.clone() };
        let waiting = state.waiting_key();
        if self.tail_open {
            document.push_side(Kind::String, &state.scratch);
            if let Some(parent) = document.nodes.get_mut(state.parent as usize) {
                parent.end += 1;
            }
        } else if let Some(key) = waiting {
            document.nodes.truncate(key as usize);
        }
        let next = index_u32(document.nodes.len());
        let mut index = state.parent;
        while index != ROOT
            && let Some(node) = document.nodes.get_mut(index as usize)
        {
            index = node.next;
            node.next = next;
            node.place = Place::Plain;
            // A container counts for its parent when it closes.
            if let Some(parent) = document.nodes.get_mut(index as usize) {
                parent.end += 1;
            }
        }
        let begun = !document.nodes.is_empty()
            && (state.phase != Phase::Value || state.parent != ROOT || self.tail_open);
        begun.then_some(document)
    }
}

/// The first such byte in the window at a place, where up to `none` there is none.
fn first_of(
    byte: u8,
    window: &[u8],
    at: usize,
    none: &mut usize,
    steps: &mut u64,
) -> Option<usize> {
    let known = none.saturating_sub(at).min(window.len());
    let fresh = window.get(known..).unwrap_or_default();
    let found = memchr::memchr(byte, fresh);
    *steps += found.unwrap_or(fresh.len()) as u64;
    *none = (*none).max(at + known + found.unwrap_or(fresh.len()));
    found.map(|found| known + found)
}

/// What a quote at the start of a text is.
enum Head {
    /// A string that is all of the text.
    Value,
    /// The first word of a sentence: where its string ends.
    Prose(usize),
    Waits,
}

enum Mark {
    Start,
    Skip(usize),
    Wait,
}

fn node_text<'s>(text: &'s [u8], state: &'s State, node: Node) -> &'s [u8] {
    let from = if node.place == Place::Side { &state.side[..] } else { text };
    from.get(node.start as usize..node.end as usize).unwrap_or_default()
}

fn content<'s>(text: &'s [u8], state: &'s State, index: u32) -> Cow<'s, [u8]> {
    let Some(&node) = state.nodes.get(index as usize) else { return Cow::Borrowed(b"") };
    let raw = node_text(text, state, node);
    if node.place == Place::Escaped { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) }
}

fn tell_scalar(text: &[u8], state: &State, index: u32, build: &mut impl Build) {
    match state.nodes.get(index as usize).map(|n| n.kind) {
        Some(Kind::Null) => build.null(),
        Some(Kind::True) => build.boolean(true),
        Some(Kind::False) => build.boolean(false),
        Some(Kind::Number) => {
            build.number(std::str::from_utf8(&content(text, state, index)).unwrap_or("NaN"));
        }
        _ => build.string(&content(text, state, index)),
    }
}

/// The bytes at the end of a piece that are only the start of a character, or a high surrogate
/// half, whose low half may come next.
fn cut_len(piece: &[u8]) -> usize {
    if let [.., 0xED, 0xA0..=0xAF, _] = piece {
        return 3;
    }
    for (back, &byte) in piece.iter().rev().take(3).enumerate() {
        let wanted = match byte {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xFF => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if back + 1 < wanted { back + 1 } else { 0 };
    }
    0
}
