//! What the repair parser keeps between two tokens, and how it takes over from the strict one.

use super::super::diagnostics::Log;
use super::super::document::{Kind, Node, Place, index_u32};
use super::super::strict::{Phase, ROOT, Stopped};
use super::memo::Memo;
use super::quote::Open;
use super::verdict::Fallback;

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
    pub(in super::super) depth: usize,
    pub(in super::super) max_depth: usize,
    /// Open objects, arrays and round brackets.
    pub(in super::super) open: [usize; 3],
    /// Parents of values inside call wrappers.
    pub(in super::super) calls: Vec<u32>,
    pub(in super::super) key: Option<u32>,
    /// The string that is being read.
    pub(super) string: Option<Open>,
    /// Its decoded text, once it is not simply a part of the text.
    pub(in super::super) scratch: Vec<u8>,
    /// Where the last comma stands while nothing has followed it.
    pub(in super::super) comma: Option<usize>,
    /// An ellipsis was the last thing read.
    pub(in super::super) ellipsis: bool,
    /// The kind and end of the last closer.
    pub(in super::super) closed: Option<(u8, usize)>,
    /// A quote in the open string that may have closed it.
    pub(super) fallback: Option<Fallback>,
    pub(in super::super) memo: Memo,
    pub(in super::super) log: Log,
    pub(in super::super) steps: u64,
    pub(in super::super) budget: u64,
    pub(in super::super) events: Option<Vec<Event>>,
    /// The line feed before the end belongs to a fence.
    pub(in super::super) fenced: bool,
    /// The text is the start of a longer one.
    pub(in super::super) partial: bool,
    /// A key in quotes, or at least a bare one, with a colon was read.
    pub(in super::super) quoted_key: bool,
    pub(in super::super) bare_key: bool,
    /// A semicolon, or a comma, stood behind a member.
    pub(in super::super) semicolons: bool,
    pub(in super::super) commas: bool,
    /// The end of the last value.
    pub(super) ended: Option<usize>,
    /// The container that was closed last, while nothing has followed it.
    pub(super) last_closed: Option<u32>,
}

impl State {
    pub(in super::super) fn new(at: usize, max_depth: usize, budget: u64) -> Box<Self> {
        Box::new(State {
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
            fallback: None,
            memo: Memo::default(),
            log: Log::default(),
            steps: 0,
            budget,
            events: None,
            fenced: false,
            partial: false,
            quoted_key: false,
            bare_key: false,
            semicolons: false,
            commas: false,
            ended: None,
            last_closed: None,
        })
    }

    /// The state in an object whose opening brace is not there.
    pub(in super::super) fn headless(at: usize, max_depth: usize, budget: u64) -> Box<Self> {
        let mut state = State::new(at, max_depth, budget);
        state.phase = Phase::Key;
        let start = index_u32(at);
        state.nodes.push(Node {
            start,
            end: 0,
            next: ROOT,
            kind: Kind::Object,
            place: Place::Plain,
        });
        state.parent = 0;
        state.depth = 1;
        state.open[0] = 1;
        state
    }

    /// The state at a strict parser's fault. Strings that were read just before it are read
    /// again, since a quote inside them may have ended them too early.
    pub(in super::super) fn resume(
        text: &[u8],
        stopped: Stopped,
        max_depth: usize,
        budget: u64,
    ) -> Box<Self> {
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
            Phase::After | Phase::Done if state.unread_closers(text) => {}
            Phase::After => {
                // The strict parser counts a value at the comma or closer behind it.
                if !state.unread_value(text, false) {
                    state.count();
                    let before = text.get(..state.at).unwrap_or_default().trim_ascii_end();
                    state.ended = Some(before.len());
                    let closer = before.last().filter(|b| matches!(b, b'}' | b']'));
                    state.closed = closer.map(|&b| (b, state.at));
                }
            }
            Phase::Key => {
                state.comma = previous_comma(text, state.at);
                if !state.unread_value(text, true) {
                    state.last_closed = state.last_container();
                }
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

    /// The last child of the innermost container, if it is a container.
    fn last_container(&self) -> Option<u32> {
        let mut index = self.parent as usize + 1;
        while let Some(node) = self.nodes.get(index) {
            if node.next as usize >= self.nodes.len() {
                let container = matches!(node.kind, Kind::Array | Kind::Object);
                return container.then(|| index_u32(index));
            }
            index = node.next as usize;
        }
        None
    }

    /// Opens the containers again that were closed right before the fault, and takes the string
    /// before their closers back, where a bracket stands in it: they may be a part of it, as in
    /// `"[^"]+"`.
    fn unread_closers(&mut self, text: &[u8]) -> bool {
        let Some(&last) = self.nodes.last().filter(|n| n.kind == Kind::String) else {
            return false;
        };
        let (start, end) = (last.start as usize, last.end as usize);
        let content = text.get(start..end).unwrap_or_default();
        let between = text.get(end + 1..self.at).unwrap_or_default();
        let closers = between.iter().filter(|b| matches!(b, b'}' | b']')).count();
        let plain = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'}' | b']');
        if closers == 0
            || !between.iter().all(plain)
            || memchr::memchr2(b'{', b'[', content).is_none()
        {
            return false;
        }
        let len = index_u32(self.nodes.len());
        let container = |n: &Node| matches!(n.kind, Kind::Array | Kind::Object) && n.next == len;
        let mut opened: Vec<usize> = (0..self.nodes.len())
            .rev()
            .filter(|&i| self.nodes.get(i).is_some_and(container))
            .take(closers)
            .collect();
        self.steps += content.len() as u64;
        opened.reverse();
        for (level, &index) in opened.iter().enumerate() {
            let Some(node) = self.nodes.get_mut(index) else { return false };
            node.next = self.parent;
            let array = node.kind == Kind::Array;
            // The outermost one was not counted yet.
            if level > 0
                && let Some(parent) = self.nodes.get_mut(self.parent as usize)
            {
                parent.end -= 1;
            }
            self.open[usize::from(array)] += 1;
            self.depth += 1;
            self.parent = index_u32(index);
        }
        self.nodes.pop();
        if let Some(parent) = self.nodes.get_mut(self.parent as usize) {
            parent.end -= 1;
            if parent.kind == Kind::Object {
                self.key = self.nodes.len().checked_sub(1).map(index_u32);
            }
        }
        self.at = start.saturating_sub(1);
        self.phase = Phase::Value;
        true
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

    pub(super) fn parent_place(&self) -> Place {
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
        self.ended = None;
        self.last_closed = None;
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
pub(super) fn closer_of(node: &Node) -> u8 {
    match (node.kind, node.place) {
        (_, Place::Escaped) => b')',
        (Kind::Object, Place::Plain) | (Kind::Array, Place::Side) => b'}',
        _ => b']',
    }
}

pub(super) fn closer_index(closer: u8) -> usize {
    match closer {
        b'}' => 0,
        b']' => 1,
        _ => 2,
    }
}
