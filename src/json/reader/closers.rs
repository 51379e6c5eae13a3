//! Opening and closing containers: closers that are missing, wrong or too many.

use super::super::diagnostics::Code;
use super::super::document::{Kind, Node, Place, index_u32};
use super::super::strict::{Phase, ROOT};
use super::memo::Left;
use super::parser::{Flow, Parser};
use super::peek::{Key, Token};
use super::state::{Event, Stop, closer_index, closer_of};

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
        self.state.last_closed = Some(index_u32(index));
        self.state.ended = None;
        let Some(node) = self.state.nodes.get_mut(index) else { return };
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
            if single && self.may_take_back() {
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
        let last = self.text.trim_ascii_end().last();
        let start = root.start as usize;
        let before = self.text.get(..start).unwrap_or_default();
        let before = before.iter().rev().find(|b| !matches!(b, b' ' | b'\t'));
        last == Some(&closer_of(&root))
            && matches!(before, None | Some(b'\n'))
            && self.closers_left(at)
    }

    /// True where more brackets are closed than opened from a place to the end of the text. Places
    /// come in order, so that a text is counted once.
    pub(in super::super) fn closers_left(&mut self, at: usize) -> bool {
        self.net_closers(at) > 0
    }

    /// How many more brackets are closed than opened from a place to the end of the text.
    fn net_closers(&mut self, at: usize) -> i64 {
        let text = self.text;
        let len = text.len();
        let slot = usize::from(self.memo.left[0].end > len);
        let known = self.memo.left.get(slot).copied().unwrap_or_default();
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
        if let Some(left) = self.memo.left.get_mut(slot) {
            *left = Left { end: len, at, closers };
        }
        closers
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
        let stray = byte == b')' && !fits && !outer && !self.round_closes(at)?;
        self.at += 1;
        let misplaced = !fits && repeated && !(outer && sound);
        let surplus = misplaced && !self.is_missed(at);
        if surplus || stray {
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
            let object_in_list = byte == b'}' && self.opened_as_list();
            if object_in_list {
                self.put_object_in_list(at);
            } else if !fits {
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

    /// True where, without the closer at a place, one more is missing: it stands for another kind.
    fn is_missed(&mut self, at: usize) -> bool {
        let open = i64::try_from(self.depth).unwrap_or(i64::MAX);
        self.may_take_back() && self.net_closers(at + 1) == open - 1
    }

    /// A round bracket in place of another closer: nothing else may close the container.
    pub(super) fn round_closes(&mut self, at: usize) -> Result<bool, Stop> {
        let own = self.nodes.get(self.parent as usize).map(closer_of);
        let next = self.peek(at + 1)?;
        let open = i64::try_from(self.depth).unwrap_or(i64::MAX);
        Ok(match next.token {
            Token::End | Token::Stop => true,
            // There are not closers enough without this one.
            Token::Close(_) if self.may_take_back() && self.net_closers(next.at) < open => true,
            // `{"a": "x") Done.`
            Token::Word if own == Some(b'}') && open == 1 && next.at > at + 1 => {
                self.may_take_back() && self.net_closers(next.at) < open
            }
            Token::Close(closer) => Some(closer) != own && closer != b')',
            Token::Comma(len) => {
                let then = self.peek(next.at + len)?;
                match (own, self.outer_kind()) {
                    (Some(b']'), Some(Kind::Array)) => then.token == Token::Open(b'['),
                    (Some(b'}'), Some(Kind::Array)) => then.token == Token::Open(b'{'),
                    (Some(b']'), Some(_)) => self.key_at(then.at)? == Key::Yes,
                    // There are not closers enough without this one.
                    (Some(_), Some(_)) if self.may_take_back() => {
                        self.key_at(then.at)? == Key::Yes && self.net_closers(then.at) < open
                    }
                    _ => false,
                }
            }
            _ => false,
        })
    }

    /// `"k": ["a"], ["b"]` where a key should stand: the list goes on in the one before it. Where
    /// that holds rows, scalars at its end are a row whose opening bracket is missing.
    pub(super) fn goes_on_in_array(&mut self, at: usize) -> bool {
        let Some(last) = self.last_closed.filter(|_| self.may_take_back()) else { return false };
        let (parent, list) = (self.parent, last as usize);
        let Some(array) = self.state.nodes.get_mut(list).filter(|n| n.kind == Kind::Array) else {
            return false;
        };
        array.next = parent;
        array.place = Place::Plain;
        if let Some(object) = self.state.nodes.get_mut(parent as usize) {
            object.end -= 1;
        }
        self.parent = last;
        self.depth += 1;
        self.open[1] += 1;
        self.last_closed = None;
        self.phase = Phase::Value;
        let rows = self.nodes.get(list + 1).is_some_and(|n| n.kind == Kind::Array);
        let inner = self.text.get(at + 1..).unwrap_or_default().iter();
        let of_lists = inner.copied().find(|b| !b.is_ascii_whitespace()) == Some(b'[');
        if !rows || of_lists {
            self.log.add(Code::JoinedArrays, at, at + 1);
            self.comma = None;
            self.at = at + 1;
            return true;
        }
        self.gather_row(list, at);
        true
    }

    /// Makes the scalars at the end of a list of rows a row: its opening bracket is missing.
    pub(super) fn gather_row(&mut self, list: usize, at: usize) {
        let (mut child, mut first) = (list + 1, list + 1);
        while let Some(node) = self.nodes.get(child).copied() {
            child = node.next as usize;
            if matches!(node.kind, Kind::Array | Kind::Object) {
                first = child;
            }
            self.steps += 1;
        }
        let tail = self.nodes.len() - first;
        let start = self.nodes.get(first).map_or(index_u32(at), |n| n.start);
        self.log.add(Code::UnclosedRow, start as usize, at);
        if tail > 0 {
            for node in self.nodes.iter_mut().skip(first) {
                node.next += 1;
            }
            let (end, next) = (index_u32(tail), index_u32(first + tail + 1));
            let row = Node { start, end, next, kind: Kind::Array, place: Place::Plain };
            self.nodes.insert(first, row);
            if let Some(rows) = self.nodes.get_mut(list) {
                rows.end = rows.end + 1 - end;
            }
        }
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
        };
        self.steps += levels;
        // Every other container has its closer: this one stands for the innermost one's.
        let others = i64::try_from(self.depth - 1).unwrap_or(i64::MAX);
        if self.may_take_back() && self.net_closers(self.at + 1) == others {
            return Ok(false);
        }
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
                        !inside && self.key_at(then)? != Key::No
                    }
                    (Some(_), _) => self.key_at(then)? != Key::Yes,
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
        let spaces = before.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let line = before.len().checked_sub(spaces + 1)?;
        (before.get(line) == Some(&b'\n')).then_some(spaces)
    }

    /// True for the first word of `{"a", "b"}` inside a document.
    pub(super) fn is_set(&self) -> bool {
        self.may_take_back() && self.children() == 0 && self.depth > 1
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
        self.may_take_back()
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
        self.may_take_back()
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

    /// True in an object that a square bracket opened.
    fn opened_as_list(&self) -> bool {
        let node = self.nodes.get(self.parent as usize);
        node.is_some_and(|n| {
            n.kind == Kind::Object
                && n.place == Place::Side
                && self.byte(n.start as usize) == Some(b'[')
        })
    }

    /// `["a": 1}`: the brace that opens the object in the list is missing.
    fn put_object_in_list(&mut self, at: usize) {
        let list = self.parent as usize;
        let next = index_u32(list + 1);
        for node in self.state.nodes.iter_mut().skip(list + 1) {
            node.next += 1;
        }
        self.state.steps += (self.state.nodes.len() - list) as u64;
        let Some(array) = self.state.nodes.get_mut(list) else { return };
        let members = array.end;
        let start = array.start;
        (array.kind, array.place, array.end) = (Kind::Array, Place::Plain, 0);
        let parent = index_u32(list);
        let object =
            Node { start, end: members, next: parent, kind: Kind::Object, place: Place::Plain };
        self.state.nodes.insert(list + 1, object);
        self.parent = next;
        self.depth += 1;
        // The list counts as such now, and the object beside it.
        self.open[closer_index(b'}')] += 1;
        self.log.add(Code::MissingOpener, start as usize, at);
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
