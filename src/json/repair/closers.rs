//! Opening and closing containers: closers that are missing, wrong or too many.

use super::super::diagnostics::Code;
use super::super::document::{Kind, Node, Place, index_u32};
use super::super::strict::{Phase, ROOT};
use super::parser::{Flow, Parser};
use super::state::{Event, Left, Stop, closer_index, closer_of};

/// How many brackets a closer's own one is looked for beyond.
const LEVELS_AHEAD: u64 = 16;

impl Parser<'_> {
    pub(super) fn open(&mut self, kind: Kind, place: Place) -> Flow {
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
    pub(super) fn close(&mut self) {
        let (index, next) = (self.parent as usize, index_u32(self.nodes.len()));
        let Some(node) = self.state.nodes.get_mut(index) else { return };
        let closer = closer_of(node);
        let (start, place) = (node.start as usize, node.place);
        let single = node.kind == Kind::Array
            && place == Place::Escaped
            && node.end == 1
            && self.state.comma.is_none();
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
    pub(super) fn unwrap_single(&mut self, index: usize) {
        if self.nodes.len() - index > 64 {
            return;
        }
        self.nodes.remove(index);
        for node in self.nodes.iter_mut().skip(index) {
            node.next -= 1;
        }
    }

    /// Takes back that the top container was closed.
    pub(super) fn reopen_root(&mut self) {
        let Some(root) = self.state.nodes.first_mut() else { return };
        root.next = ROOT;
        let closer = closer_of(root);
        self.parent = 0;
        self.depth = 1;
        self.open[closer_index(closer)] += 1;
    }

    /// True where the top container, which stands at the start of its line, is closed at the end of
    /// the text by a bracket that nothing opens from a place on.
    pub(super) fn root_closes_later(&mut self, at: usize) -> bool {
        let Some(&root) = self.nodes.first() else { return false };
        let mut tail = self.text.iter().rev().take(64);
        let last = tail.find(|b| !b.is_ascii_whitespace());
        let start = root.start as usize;
        let before = self.text.get(start.saturating_sub(64)..start).unwrap_or_default();
        let before = before.iter().rev().find(|b| !matches!(b, b' ' | b'\t'));
        last == Some(&closer_of(&root))
            && matches!(before, None | Some(b'\n'))
            && self.closers_left(at)
    }

    /// True where more brackets are closed than opened from a place to the end of the text. Places
    /// come in order, so that a text is counted once.
    fn closers_left(&mut self, at: usize) -> bool {
        let text = self.text;
        let len = text.len();
        let slot = usize::from(self.left[0].end > len);
        let known = self.left.get(slot).copied().unwrap_or_default();
        let net = |part: &[u8]| {
            let opened = memchr::memchr2_iter(b'{', b'[', part).count();
            i64::try_from(memchr::memchr2_iter(b'}', b']', part).count()).unwrap_or(0)
                - i64::try_from(opened).unwrap_or(0)
        };
        let (from, to) =
            if known.end == len && known.at <= at { (known.at, at) } else { (at, len) };
        let counted = net(text.get(from..to).unwrap_or_default());
        self.steps += (to - from) as u64;
        let closers = if to == len { counted } else { known.closers - counted };
        if let Some(left) = self.left.get_mut(slot) {
            *left = Left { end: len, at, closers };
        }
        closers > 0
    }

    /// Reads a closer where one may stand.
    pub(super) fn closer(&mut self, byte: u8) -> Flow {
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
    pub(super) fn closes_well(&mut self, byte: u8, repeated: bool) -> Result<bool, Stop> {
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
        let next = self.gap_end(self.at + 1)?;
        match (outer, self.byte(next)) {
            (None, Some(b'}' | b']')) => Ok(false),
            (outer, Some(b',')) => {
                let then = self.gap_end(next + 1)?;
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
    pub(super) fn indent(&self, at: usize) -> Option<usize> {
        let before = self.text.get(..at)?;
        let spaces =
            before.iter().rev().take(128).take_while(|b| matches!(b, b' ' | b'\t')).count();
        let line = before.len().checked_sub(spaces + 1)?;
        (before.get(line) == Some(&b'\n')).then_some(spaces)
    }

    /// True for the first word of `{"a", "b"}` inside a document.
    pub(super) fn is_set(&self) -> bool {
        self.events.is_none() && self.children() == 0 && self.depth > 1
    }

    pub(super) fn make_set(&mut self) {
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

    /// True for `["a": …`: the first element is a string and a colon follows.
    pub(super) fn is_object_after_all(&self) -> bool {
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
    pub(super) fn is_key_of_outer(&self) -> bool {
        self.events.is_none()
            && self.closed.is_none()
            && self.parent_kind() == Some(Kind::Array)
            && self.outer_kind() == Some(Kind::Object)
            && self.children() > 1
            && self.nodes.last().is_some_and(|n| n.kind == Kind::String)
    }

    pub(super) fn leave_array(&mut self, at: usize) {
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

    pub(super) fn make_object(&mut self) {
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
}
