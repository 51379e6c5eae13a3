//! The repair parser: a lenient reading of one document, from its opening bracket on.
//!
//! It goes forward only. Each decision looks at a bounded stretch ahead, and [`State::steps`]
//! counts the bytes that any decision looked at. The state can be kept while a text grows, which
//! is how streams are read: `last` is false then, and a decision that needs bytes beyond the
//! end waits.

use std::ops::{Deref, DerefMut};

use super::super::diagnostics::{Code, Log};
use super::super::document::{Kind, Node, Place, index_u32};
use super::super::strict::{Phase, ROOT, Stopped};
use super::strings::{Open, Quote, Role};

/// Why parsing stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Stop {
    /// The top value is complete.
    Done,
    /// The text ended; what was open is closed.
    End,
    /// More text is needed.
    More,
    /// Arrays and objects nest too deep.
    TooDeep,
    /// The step budget ran out.
    Budget,
    /// The whole document is escaped once more.
    Escaped,
}

/// What happened, for a live value that is extended as text comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Event {
    Open(Kind),
    /// A key: the node.
    Key(u32),
    /// A complete scalar: the node.
    Scalar(u32),
    Close,
    StringOpen,
    /// The string that was told to be open is complete: its node.
    StringClose(u32),
}

/// Everything that lasts between two stretches of text.
#[derive(Debug)]
pub(in super::super) struct State {
    pub(in super::super) at: usize,
    pub(in super::super) phase: Phase,
    pub(in super::super) nodes: Vec<Node>,
    pub(in super::super) side: Vec<u8>,
    pub(in super::super) parent: u32,
    depth: usize,
    max_depth: usize,
    /// Open objects, arrays and round brackets.
    open: [usize; 3],
    /// Parents of values inside call wrappers.
    calls: Vec<u32>,
    pub(super) key: Option<u32>,
    /// The string that is being read.
    pub(super) string: Option<Open>,
    /// Its decoded text, once it is not simply a part of the text.
    pub(in super::super) scratch: Vec<u8>,
    /// Where the last comma stands while nothing has followed it.
    pub(super) comma: Option<usize>,
    /// An ellipsis was the last thing read.
    pub(super) ellipsis: bool,
    /// The kind and end of the last closer.
    closed: Option<(u8, usize)>,
    /// A token that waits for more text: its start, and how far it was looked at.
    pub(super) wait: (usize, usize),
    pub(in super::super) block_end: (usize, usize),
    pub(in super::super) line_end: (usize, usize),
    pub(in super::super) log: Log,
    pub(in super::super) steps: u64,
    pub(super) budget: u64,
    pub(in super::super) events: Option<Vec<Event>>,
    /// The line feed before the end belongs to a fence.
    pub(in super::super) fenced: bool,
    /// The text is the start of a longer one.
    pub(in super::super) partial: bool,
    /// A key in quotes, or at least a bare one, with a colon was read.
    pub(in super::super) quoted_key: bool,
    pub(in super::super) bare_key: bool,
}

impl State {
    pub(in super::super) fn new(at: usize, max_depth: usize, budget: u64) -> Self {
        State {
            at,
            phase: Phase::Value,
            nodes: Vec::new(),
            side: Vec::new(),
            parent: ROOT,
            depth: 0,
            max_depth,
            open: [0; 3],
            calls: Vec::new(),
            key: None,
            string: None,
            scratch: Vec::new(),
            comma: None,
            ellipsis: false,
            closed: None,
            wait: (usize::MAX, 0),
            block_end: (1, 0),
            line_end: (1, 0),
            log: Log::default(),
            steps: 0,
            budget,
            events: None,
            fenced: false,
            partial: false,
            quoted_key: false,
            bare_key: false,
        }
    }

    /// The state at a strict parser's fault. Strings that were read just before it are read
    /// again, since a quote inside them may have ended them too early.
    pub(in super::super) fn resume(
        text: &[u8],
        stopped: Stopped,
        max_depth: usize,
        budget: u64,
    ) -> Self {
        let mut state = State::new(stopped.at, max_depth, budget);
        state.nodes = stopped.nodes;
        state.parent = stopped.parent;
        state.depth = stopped.depth;
        state.phase = stopped.phase;
        let mut index = stopped.parent;
        while let Some(node) = state.nodes.get(index as usize) {
            state.open[usize::from(node.kind == Kind::Array)] += 1;
            index = node.next;
        }
        match stopped.phase {
            Phase::After => {
                // The strict parser counts a value at the comma or closer behind it.
                if !state.unread_value(text, false) {
                    state.count();
                    let before = text.get(..state.at).unwrap_or_default().trim_ascii_end();
                    let closer = before.last().filter(|b| matches!(b, b'}' | b']'));
                    state.closed = closer.map(|&b| (b, state.at));
                }
            }
            Phase::Key => {
                state.comma = previous_comma(text, state.at);
                let _ = state.unread_value(text, true);
            }
            Phase::Colon => {
                if let Some(key) = state.nodes.pop() {
                    state.at = (key.start as usize).saturating_sub(1);
                    state.phase = Phase::Key;
                    state.comma = previous_comma(text, state.at);
                    let _ = state.unread_value(text, true);
                }
            }
            Phase::Value => {
                state.unread_bracket();
                if state.parent_kind() == Some(Kind::Object) {
                    state.key = state.nodes.len().checked_sub(1).map(index_u32);
                } else if state.parent != ROOT {
                    state.comma = previous_comma(text, state.at);
                }
            }
            Phase::Done => {}
        }
        let count = state.nodes.len();
        let holds = |(i, n): (usize, &Node)| {
            n.kind == Kind::Object && (n.end > 0 || n.next as usize != i + 1 && i + 1 < count)
        };
        state.quoted_key = state.nodes.iter().enumerate().any(holds);
        state
    }

    /// Takes the last node back where it is a scalar with nothing but space (and a comma)
    /// between it and the fault.
    fn unread_value(&mut self, text: &[u8], after_comma: bool) -> bool {
        let Some(&last) = self.nodes.last() else { return false };
        let quote = usize::from(last.kind == Kind::String);
        let between = text.get(last.end as usize + quote..self.at);
        let plain =
            |b: &u8| matches!(b, b' ' | b'\n' | b'\r' | b'\t') || (after_comma && *b == b',');
        let container = matches!(last.kind, Kind::Array | Kind::Object);
        if container || self.parent == ROOT || !between.is_some_and(|b| b.iter().all(plain)) {
            return false;
        }
        self.nodes.pop();
        self.at = (last.start as usize).saturating_sub(quote);
        self.phase = Phase::Value;
        self.comma = None;
        let parent = self.parent as usize;
        if let Some(parent) = self.nodes.get_mut(parent) {
            parent.end -= u32::from(after_comma);
            if parent.kind == Kind::Object {
                self.key = self.nodes.len().checked_sub(1).map(index_u32);
            }
        }
        true
    }

    /// Takes back a square bracket that was only just opened inside a document: it may start a
    /// Markdown link.
    fn unread_bracket(&mut self) {
        let Some(&last) = self.nodes.last() else { return };
        if last.kind != Kind::Array
            || last.next == ROOT
            || self.parent as usize + 1 != self.nodes.len()
        {
            return;
        }
        self.nodes.pop();
        self.depth -= 1;
        self.open[1] -= 1;
        self.parent = last.next;
        self.at = last.start as usize;
        self.comma = None;
    }

    /// The key whose value is still to come.
    pub(in super::super) fn waiting_key(&self) -> Option<u32> {
        self.key
    }

    pub(super) fn parent_kind(&self) -> Option<Kind> {
        self.nodes.get(self.parent as usize).map(|n| n.kind)
    }

    /// The children that the innermost container has so far.
    pub(super) fn children(&self) -> u32 {
        self.nodes.get(self.parent as usize).map_or(0, |n| n.end)
    }

    fn parent_place(&self) -> Place {
        self.nodes.get(self.parent as usize).map_or(Place::Plain, |n| n.place)
    }

    pub(super) fn in_round(&self) -> bool {
        self.open[2] > 0 || !self.calls.is_empty()
    }

    pub(super) fn has_open(&self, closer: u8) -> bool {
        self.open[closer_index(closer)] > 0
    }

    /// The brackets that are open, innermost first, as closers.
    pub(super) fn closers(&self) -> impl Iterator<Item = u8> {
        let mut index = self.parent;
        std::iter::from_fn(move || {
            let node = self.nodes.get(index as usize)?;
            index = node.next;
            Some(closer_of(node))
        })
    }

    pub(super) fn event(&mut self, event: Event) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// Tells of the key that waits, now that its value is there.
    pub(super) fn begin_value(&mut self) {
        if let Some(key) = self.key.take() {
            self.event(Event::Key(key));
        }
        self.comma = None;
        self.ellipsis = false;
        self.closed = None;
    }

    /// Adds a node without children.
    pub(super) fn leaf(&mut self, kind: Kind, start: usize, end: usize, place: Place) -> u32 {
        let index = index_u32(self.nodes.len());
        self.nodes.push(Node {
            start: index_u32(start),
            end: index_u32(end),
            next: index + 1,
            kind,
            place,
        });
        index
    }

    /// Adds a scalar and goes on after it.
    pub(super) fn scalar(&mut self, kind: Kind, start: usize, end: usize, place: Place) {
        self.begin_value();
        let index = self.leaf(kind, start, end, place);
        self.event(Event::Scalar(index));
        self.phase = Phase::After;
        self.count();
    }

    /// Adds a scalar whose text is not in the text.
    pub(super) fn scalar_side(&mut self, kind: Kind, content: &[u8]) {
        let start = self.side.len();
        self.side.extend_from_slice(content);
        self.scalar(kind, start, self.side.len(), Place::Side);
    }

    pub(super) fn count(&mut self) {
        let parent = self.parent as usize;
        if let Some(parent) = self.nodes.get_mut(parent) {
            parent.end += 1;
        }
    }
}

/// The last comma before a place, if only space stands between.
fn previous_comma(text: &[u8], at: usize) -> Option<usize> {
    let before = text.get(..at)?;
    let last = before.iter().rposition(|b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t'))?;
    (before.get(last) == Some(&b',')).then_some(last)
}

/// The closer of an open container. Its place marks what does not follow from its kind: round
/// brackets by `Escaped`, the other kind's brackets by `Side`.
fn closer_of(node: &Node) -> u8 {
    match (node.kind, node.place) {
        (_, Place::Escaped) => b')',
        (Kind::Object, Place::Plain) | (Kind::Array, Place::Side) => b'}',
        _ => b']',
    }
}

fn closer_index(closer: u8) -> usize {
    match closer {
        b'}' => 0,
        b']' => 1,
        _ => 2,
    }
}

/// A state at work on a text.
pub(in super::super) struct Parser<'t> {
    pub(in super::super) text: &'t [u8],
    /// Nothing follows the text.
    pub(in super::super) last: bool,
    pub(in super::super) state: State,
}

impl Deref for Parser<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

/// How many brackets a closer's own one is looked for beyond.
const LEVELS_AHEAD: u64 = 16;

/// Goes on, or stops.
pub(super) type Flow = Result<(), Stop>;

impl Parser<'_> {
    /// Reads until the top value is complete or the text ends.
    pub(in super::super) fn run(&mut self) -> Stop {
        loop {
            self.steps += 1;
            if self.steps > self.budget {
                return Stop::Budget;
            }
            let flow = if self.string.is_some() {
                self.string()
            } else {
                match self.phase {
                    Phase::Value => self.value(),
                    Phase::Key => self.key(),
                    Phase::Colon => self.colon(),
                    Phase::After => self.after(),
                    Phase::Done => self.done(),
                }
            };
            if let Err(stop) = flow {
                return stop;
            }
        }
    }

    /// Where the look at the token at `at` goes on.
    pub(super) fn looked(&self, at: usize) -> usize {
        if self.wait.0 == at { self.wait.1.max(at) } else { at }
    }

    /// Waits for more text in the token at `at`, which was looked at to the end of the text.
    pub(super) fn wait(&mut self, at: usize) -> Stop {
        self.wait = (at, self.text.len());
        Stop::More
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// At the end of the text: waits, or closes what is open.
    pub(super) fn at_end(&mut self) -> Stop {
        if !self.last {
            return Stop::More;
        }
        let end = self.text.len();
        if let Some(key) = self.key.take() {
            let start = self.nodes.get(key as usize).map_or(end, |n| n.start as usize);
            let in_text = self.nodes.get(key as usize).is_some_and(|n| n.place != Place::Side);
            self.nodes.truncate(key as usize);
            self.log.add(Code::DroppedKey, if in_text { start } else { end }, end);
        }
        if self.parent != ROOT {
            self.log.add(Code::ClosedAtEof, end, end);
        }
        self.calls.clear();
        while self.parent != ROOT {
            self.close();
        }
        self.phase = Phase::Done;
        Stop::End
    }

    fn value(&mut self) -> Flow {
        self.space(true)?;
        let at = self.at;
        let Some(byte) = self.byte(at) else { return Err(self.at_end()) };
        if let Some((quote, len)) = self.opening_quote(at)? {
            if quote == Quote::Escaped && self.only_openers() {
                return Err(Stop::Escaped);
            }
            return self.open_string(quote, at, len);
        }
        match byte {
            b'{' => self.open(Kind::Object, Place::Plain),
            b'[' => match self.markdown_link(at) {
                Some(end) => {
                    self.log.add(Code::MarkdownLink, at, end);
                    self.at = end;
                    self.scalar(Kind::String, at, end, Place::Plain);
                    Ok(())
                }
                None => self.open(Kind::Array, Place::Plain),
            },
            b'(' => self.open(Kind::Array, Place::Escaped),
            b'}' | b']' | b')' if self.parent_kind().is_some() => {
                if self.key.is_some() {
                    self.missing_value(at);
                    return Ok(());
                }
                self.closer(byte)
            }
            b',' | b';' => {
                if self.key.is_some() {
                    self.missing_value(at);
                } else {
                    self.extra_comma(at);
                }
                Ok(())
            }
            b':' => {
                self.log.extend(Code::WrongSeparator, at, at + 1);
                self.at += 1;
                Ok(())
            }
            _ if self.ends_document(at) => Err(self.at_end_early()),
            _ => self.bare(),
        }
    }

    fn extra_comma(&mut self, at: usize) {
        if !self.ellipsis {
            self.log.extend(Code::ExtraComma, at, at + 1);
        }
        self.ellipsis = false;
        self.at = at + 1;
    }

    /// Null for a key that has no value.
    fn missing_value(&mut self, at: usize) {
        self.log.push(super::super::Diagnostic {
            read_as: "null",
            ..super::super::Diagnostic::new(Code::MissingValue, at, at)
        });
        self.scalar_side(Kind::Null, b"");
    }

    /// True while nothing but containers was opened.
    fn only_openers(&self) -> bool {
        self.events.is_none()
            && self.nodes.len() <= 8
            && self.nodes.iter().all(|n| matches!(n.kind, Kind::Array | Kind::Object))
    }

    fn open(&mut self, kind: Kind, place: Place) -> Flow {
        if self.depth >= self.max_depth {
            return Err(Stop::TooDeep);
        }
        self.begin_value();
        self.depth += 1;
        let start = index_u32(self.at);
        let index = index_u32(self.nodes.len());
        let node = Node { start, end: 0, next: self.parent, kind, place };
        self.open[closer_index(closer_of(&node))] += 1;
        self.nodes.push(node);
        self.parent = index;
        self.at += 1;
        self.phase = if kind == Kind::Object { Phase::Key } else { Phase::Value };
        self.event(Event::Open(kind));
        Ok(())
    }

    /// Closes the innermost container.
    fn close(&mut self) {
        let (index, next) = (self.parent as usize, index_u32(self.nodes.len()));
        let Some(node) = self.state.nodes.get_mut(index) else { return };
        let closer = closer_of(node);
        let (start, place) = (node.start as usize, node.place);
        let single = place == Place::Escaped && node.end == 1 && self.state.comma.is_none();
        self.state.parent = node.next;
        node.next = next;
        node.place = Place::Plain;
        self.open[closer_index(closer)] -= 1;
        self.depth -= 1;
        if place == Place::Escaped {
            let at = self.at;
            self.log.add(Code::Tuple, start, at);
            // Round brackets around one value are not a tuple.
            if single && self.events.is_none() {
                self.unwrap_single(index);
            }
        }
        self.event(Event::Close);
        self.phase = if self.parent == ROOT { Phase::Done } else { Phase::After };
        self.comma = None;
        self.ellipsis = false;
        self.count();
    }

    /// Takes a container away from around its only child. The child has few nodes or is paid
    /// for: what a container holds is moved at most once for each bracket around it.
    fn unwrap_single(&mut self, index: usize) {
        if self.nodes.len() - index > 64 {
            return;
        }
        self.nodes.remove(index);
        for node in self.nodes.iter_mut().skip(index) {
            node.next -= 1;
        }
    }

    /// Reads a closer where one may stand.
    fn closer(&mut self, byte: u8) -> Flow {
        let at = self.at;
        if byte == b')' && self.calls.last() == Some(&self.parent) {
            self.calls.pop();
            self.at += 1;
            return Ok(());
        }
        let fits = self.nodes.get(self.parent as usize).map(closer_of) == Some(byte);
        let repeated = self.closed == Some((byte, at));
        let outer = !fits && self.has_open(byte);
        let sound = !outer || self.closes_well(byte, repeated)?;
        self.at += 1;
        if !fits && ((repeated && !(outer && sound)) || (byte == b')' && !outer)) {
            self.log.add(Code::SurplusCloser, at, at + 1);
            self.closed = Some((byte, at + 1));
            return Ok(());
        }
        if let Some(comma) = self.comma
            && !self.ellipsis
            && self.parent_place() != Place::Escaped
        {
            self.log.add(Code::TrailingComma, comma, comma + 1);
        }
        if outer && sound {
            self.log.add(Code::MissingCloser, at, at);
            while let Some(node) = self.nodes.get(self.parent as usize) {
                let done = closer_of(node) == byte;
                self.close();
                self.steps += 1;
                if done {
                    break;
                }
            }
        } else {
            if !fits {
                self.log.add(Code::WrongCloser, at, at + 1);
            }
            self.close();
        }
        let parent = self.parent;
        let inside = |p: &u32| *p != ROOT && (parent == ROOT || *p > parent);
        while self.calls.last().is_some_and(inside) {
            self.state.calls.pop();
        }
        self.closed = Some((byte, self.at));
        Ok(())
    }

    /// True where a closer of an outer container may end it, judged by what follows: behind an
    /// object's value a key, in an array a value, at the top nothing that goes on.
    fn closes_well(&mut self, byte: u8, repeated: bool) -> Result<bool, Stop> {
        let mut index = self.parent;
        let mut levels = 0;
        let (outer, ended) = loop {
            let Some(node) = self.nodes.get(index as usize) else { return Ok(true) };
            let ended = index as usize;
            index = node.next;
            if closer_of(node) == byte {
                break (self.nodes.get(index as usize).map(|n| n.kind), ended);
            }
            levels += 1;
            if levels == LEVELS_AHEAD {
                return Ok(true);
            }
        };
        self.steps += levels;
        let (next, more) = self.space_after(self.at + 1);
        if more {
            return Err(Stop::More);
        }
        match (outer, self.byte(next)) {
            (None, Some(b'}' | b']')) => Ok(false),
            (outer, Some(b',')) => {
                let (then, more) = self.space_after(next + 1);
                if more {
                    return Err(Stop::More);
                }
                Ok(match (outer, self.byte(then)) {
                    (_, None) | (Some(_), Some(b'}' | b']')) => true,
                    (Some(Kind::Object), _) => {
                        let first =
                            self.nodes.get(ended + 1).map(|n| (n.start as usize).saturating_sub(1));
                        // A key in line with the ended object's keys is one of them.
                        let inside = first.is_some_and(|f| {
                            let indent = self.indent(f);
                            indent.is_some() && indent == self.indent(then)
                        });
                        !inside && self.key_ahead(then)? != Some(false)
                    }
                    (Some(_), _) => self.key_ahead(then)? != Some(true),
                    // Documents that stand one after the other.
                    (None, byte) => byte == Some(b'{') && !repeated,
                })
            }
            _ => Ok(true),
        }
    }

    /// The spaces before a place, if nothing else stands before it on its line.
    fn indent(&self, at: usize) -> Option<usize> {
        let before = self.text.get(..at)?;
        let spaces =
            before.iter().rev().take(128).take_while(|b| matches!(b, b' ' | b'\t')).count();
        let line = before.len().checked_sub(spaces + 1)?;
        (before.get(line) == Some(&b'\n')).then_some(spaces)
    }

    fn key(&mut self) -> Flow {
        self.space(false)?;
        let at = self.at;
        let Some(byte) = self.byte(at) else { return Err(self.at_end()) };
        if let Some((quote, len)) = self.opening_quote(at)? {
            if quote == Quote::Escaped && self.only_openers() {
                return Err(Stop::Escaped);
            }
            return self.open_string(quote, at, len);
        }
        match byte {
            b',' | b';' => self.extra_comma(at),
            b'}' | b']' | b')' => return self.closer(byte),
            b'{' if self.comma.is_some() && self.outer_kind() == Some(Kind::Array) => {
                // The object before the comma was not closed.
                self.log.add(Code::MissingCloser, at, at);
                self.close();
                self.phase = Phase::Value;
            }
            b'{' => {
                self.log.add(Code::SurplusOpener, at, at + 1);
                self.at += 1;
            }
            _ if self.ends_document(at) => return Err(self.at_end_early()),
            b':' | b'[' | b'(' => self.drop_byte(at),
            _ => return self.bare_key(),
        }
        Ok(())
    }

    pub(super) fn drop_byte(&mut self, at: usize) {
        let len = self.char_len(at);
        self.log.extend(Code::DroppedText, at, at + len);
        self.at = at + len;
    }

    /// The bytes of the character at a place.
    pub(super) fn char_len(&self, at: usize) -> usize {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        1 + rest.iter().take(3).take_while(|&&b| b & 0xC0 == 0x80).count()
    }

    fn colon(&mut self) -> Flow {
        self.space(true)?;
        let at = self.at;
        let Some(byte) = self.byte(at) else { return Err(self.at_end()) };
        match byte {
            b':' => {
                self.at += 1;
                self.phase = Phase::Value;
            }
            b'=' => {
                let len = 1 + usize::from(self.byte(at + 1) == Some(b'>'));
                self.log.add(Code::WrongSeparator, at, at + len);
                self.at += len;
                self.phase = Phase::Value;
            }
            0xEF if self.text.get(at..at + 3) == Some("：".as_bytes()) => {
                self.log.add(Code::WrongSeparator, at, at + 3);
                self.at += 3;
                self.phase = Phase::Value;
            }
            b',' | b'}' if self.is_set() => self.make_set(),
            b',' | b'}' | b']' | b';' => {
                self.missing_value(at);
            }
            _ if self.ends_document(at) => return Err(self.at_end_early()),
            _ => {
                self.log.add(Code::MissingColon, at, at);
                self.phase = Phase::Value;
            }
        }
        if self.phase == Phase::Value && self.key.is_some() {
            self.note_key();
        }
        Ok(())
    }

    fn note_key(&mut self) {
        let key = self.key.and_then(|k| self.nodes.get(k as usize)).copied();
        let Some(key) = key else { return };
        let before = (key.start as usize).checked_sub(1).and_then(|i| self.byte(i));
        let bare = key.place == Place::Plain
            && before.is_none_or(|b| !matches!(b, b'"' | b'\'' | b'`' | 0x80..=0xFF));
        if bare { self.bare_key = true } else { self.quoted_key = true }
    }

    /// True for the first word of `{"a", "b"}` inside a document.
    pub(super) fn is_set(&self) -> bool {
        self.events.is_none() && self.children() == 0 && self.depth > 1
    }

    fn make_set(&mut self) {
        let parent = self.parent as usize;
        let Some(key) = self.key.take() else { return };
        let start = self.nodes.get(parent).map_or(0, |n| n.start as usize);
        if let Some(node) = self.nodes.get_mut(parent) {
            node.kind = Kind::Array;
            node.place = Place::Side;
        }
        self.log.add(Code::Set, start, start + 1);
        let word = self.nodes.get(key as usize).copied();
        if let Some(word) = word
            && word.place == Place::Plain
            && (word.start as usize).checked_sub(1).and_then(|i| self.byte(i)) != Some(b'"')
            && self.byte(word.start as usize).is_some_and(|b| b.is_ascii_digit() || b == b'-')
        {
            // A bare number: read it again as a value.
            self.nodes.truncate(key as usize);
            self.at = word.start as usize;
            self.phase = Phase::Value;
            return;
        }
        self.phase = Phase::After;
        self.count();
    }

    fn after(&mut self) -> Flow {
        self.space(false)?;
        let at = self.at;
        if self.parent == ROOT && self.calls.is_empty() {
            self.phase = Phase::Done;
            return Ok(());
        }
        let Some(byte) = self.byte(at) else { return Err(self.at_end()) };
        let object = self.parent_kind() == Some(Kind::Object);
        match byte {
            b',' => self.comma(at, 1),
            b';' => {
                self.log.add(Code::WrongSeparator, at, at + 1);
                self.comma(at, 1);
            }
            0xEF if self.text.get(at..at + 3) == Some("，".as_bytes()) => {
                self.log.add(Code::WrongSeparator, at, at + 3);
                self.comma(at, 3);
            }
            b'}' | b']' | b')' => return self.closer(byte),
            b':' if self.is_object_after_all() => self.make_object(),
            b':' if self.is_key_of_outer() => self.leave_array(at),
            b'{' if object && self.outer_kind() == Some(Kind::Array) => {
                self.log.add(Code::MissingCloser, at, at);
                self.close();
            }
            _ if self.ends_document(at) => return Err(self.at_end_early()),
            _ if self.starts_next(at, object) => {
                self.log.push(super::super::Diagnostic {
                    read_as: ",",
                    ..super::super::Diagnostic::new(Code::MissingComma, at, at)
                });
                self.phase = if object { Phase::Key } else { Phase::Value };
            }
            _ => self.drop_byte(at),
        }
        Ok(())
    }

    fn comma(&mut self, at: usize, len: usize) {
        self.at = at + len;
        self.comma = Some(at);
        let object = self.parent_kind() == Some(Kind::Object);
        self.phase = if object { Phase::Key } else { Phase::Value };
    }

    /// True for `["a": …`: the first element is a string and a colon follows.
    fn is_object_after_all(&self) -> bool {
        self.events.is_none()
            && self.parent_kind() == Some(Kind::Array)
            && self.children() == 1
            && self.nodes.len() == self.parent as usize + 2
            && self.nodes.last().is_some_and(|n| n.kind == Kind::String)
    }

    /// The kind of the container around the innermost one.
    pub(super) fn outer_kind(&self) -> Option<Kind> {
        let outer = self.nodes.get(self.parent as usize)?.next;
        self.nodes.get(outer as usize).map(|n| n.kind)
    }

    /// True for `{"a": [1, "b": …`: the array was not closed, and the string is a key of the
    /// object around it.
    fn is_key_of_outer(&self) -> bool {
        self.events.is_none()
            && self.closed.is_none()
            && self.parent_kind() == Some(Kind::Array)
            && self.outer_kind() == Some(Kind::Object)
            && self.children() > 1
            && self.nodes.last().is_some_and(|n| n.kind == Kind::String)
    }

    fn leave_array(&mut self, at: usize) {
        let Some(key) = self.nodes.pop() else { return };
        let parent = self.parent as usize;
        if let Some(array) = self.nodes.get_mut(parent) {
            array.end -= 1;
        }
        self.log.add(Code::MissingCloser, at, at);
        self.close();
        let (start, end) = (key.start as usize, key.end as usize);
        self.key = Some(self.leaf(Kind::String, start, end, key.place));
        self.phase = Phase::Colon;
    }

    fn make_object(&mut self) {
        let (parent, at) = (self.parent as usize, self.at);
        if let Some(node) = self.nodes.get_mut(parent) {
            node.kind = Kind::Object;
            node.end = 0;
            if node.place == Place::Plain {
                node.place = Place::Side;
            }
        }
        self.key = self.nodes.len().checked_sub(1).map(index_u32);
        self.log.add(Code::ArrayAsObject, at, at + 1);
        self.phase = Phase::Colon;
    }

    /// The top value is complete: a closer that came too early is taken back.
    fn done(&mut self) -> Flow {
        let Some(root) = self.nodes.first().copied() else { return Err(Stop::Done) };
        if self.events.is_some() || !matches!(root.kind, Kind::Object | Kind::Array) {
            return Err(Stop::Done);
        }
        let (at, more) = self.space_after(self.at);
        if more {
            return Err(Stop::More);
        }
        if self.byte(at) != Some(b',')
            || root.kind != Kind::Object
            || root.next as usize != self.nodes.len()
        {
            return Err(Stop::Done);
        }
        let (key, _) = self.space_after(at + 1);
        if !matches!(self.byte(key), Some(b'"' | b'\'')) || self.key_ahead(key)? != Some(true) {
            return Err(Stop::Done);
        }
        if self.byte(key) == Some(b'"') || self.quoted_key {
            let end = self.at;
            self.log.add(Code::SurplusCloser, end.saturating_sub(1), end);
            self.parent = 0;
            self.depth = 1;
            self.open[0] += 1;
            if let Some(root) = self.nodes.first_mut() {
                root.next = ROOT;
            }
            self.comma(at, 1);
            return Ok(());
        }
        Err(Stop::Done)
    }

    /// A place at which the document ends although its brackets are open: a fence or a closing
    /// tag.
    pub(super) fn ends_document(&self, at: usize) -> bool {
        match self.byte(at) {
            Some(b'`') => self.text.get(at..at + 3) == Some(b"```"),
            Some(b'<') => {
                self.byte(at + 1) == Some(b'/')
                    && self.byte(at + 2).is_some_and(|b| b.is_ascii_alphabetic())
            }
            _ => false,
        }
    }

    /// Ends the document here.
    fn at_end_early(&mut self) -> Stop {
        let (text, last) = (self.text, self.last);
        self.text = text.get(..self.at).unwrap_or(text);
        self.last = true;
        let stop = self.at_end();
        self.text = text;
        self.last = last;
        stop
    }

    /// Marks the inside of a call as the place of a value.
    pub(super) fn enter_call(&mut self) {
        let parent = self.parent;
        self.calls.push(parent);
    }

    pub(super) fn may_enter_call(&self) -> bool {
        self.calls.len() < 16 && self.events.is_none()
    }

    pub(super) fn role(&self) -> Role {
        match (self.phase, self.parent_kind()) {
            (Phase::Key, _) => Role::Key,
            (_, Some(Kind::Object)) => Role::Member,
            (_, Some(_)) => Role::Element,
            _ => Role::Root,
        }
    }
}
