//! A parsed document as a flat list of nodes over its text.
//!
//! Nodes stand in document order; an object's members are pairs of a string node and a value. A
//! container knows the index after its last descendant, so a value is skipped in one step and
//! nothing that walks a document needs recursion.

use std::borrow::Cow;

use super::number::Decimal;
use super::string::unescape;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// `null`
    Null,
    /// `false`
    False,
    /// `true`
    True,
    /// A number; its text is kept.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The name that contracts use: object, array, string, number, boolean or null.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::False | Kind::True => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

/// Where the bytes of a string or number stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the text, as they are.
    Plain,
    /// In the text, with escapes to decode.
    Escaped,
    /// In the side buffer, decoded.
    Side,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// First byte of the content (a container: its opener).
    pub(super) start: u32,
    /// End of the content (a container: the number of its elements or members).
    pub(super) end: u32,
    /// Index after the last descendant; while a container is open, the index of its parent.
    pub(super) next: u32,
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// A JSON document over a text (WTF-8).
#[derive(Clone, Debug)]
pub struct Document<'a> {
    pub(super) text: &'a [u8],
    pub(super) side: Vec<u8>,
    pub(super) nodes: Vec<Node>,
}

impl<'a> Document<'a> {
    pub(super) fn push_side(&mut self, kind: Kind, content: &[u8]) {
        let start = index_u32(self.side.len());
        self.side.extend_from_slice(content);
        let end = index_u32(self.side.len());
        let next = index_u32(self.nodes.len() + 1);
        self.nodes.push(Node { start, end, next, kind, place: Place::Side });
    }

    /// True for documents with the same values in the same order.
    pub(super) fn same(&self, other: &Document<'_>) -> bool {
        self.nodes.len() == other.nodes.len() && self.same_from(other, 0)
    }

    /// True where the first element of another document is this one.
    pub(super) fn same_as_first(&self, other: &Document<'_>) -> bool {
        let end = other.nodes.get(1).map(|first| first.next as usize);
        end == Some(self.nodes.len() + 1) && self.same_from(other, 1)
    }

    fn same_from(&self, other: &Document<'_>, from: usize) -> bool {
        (0..self.nodes.len()).all(|i| {
            let (a, b) = (self.cursor(i), other.cursor(from + i));
            let scalar = matches!(a.kind(), Kind::Number | Kind::String);
            a.kind() == b.kind() && a.len() == b.len() && (!scalar || a.content() == b.content())
        })
    }

    /// The same document as one of another text, with what it holds of its own text.
    pub(super) fn into_owned(self, text: &[u8]) -> Document<'_> {
        let Document { text: from, mut side, mut nodes } = self;
        own(&mut nodes, &mut side, from);
        Document { text, side, nodes }
    }

    /// The top value.
    pub fn root(&self) -> Cursor<'_> {
        Cursor { doc: self, index: 0 }
    }

    /// The value of a node, by [`Cursor::index`] or [`Cursor::after`].
    pub fn at(&self, index: usize) -> Option<Cursor<'_>> {
        (index < self.nodes.len()).then(|| self.cursor(index))
    }

    pub(super) fn cursor(&self, index: usize) -> Cursor<'_> {
        Cursor { doc: self, index: index_u32(index) }
    }

    /// The text that the document was read from.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }
}

/// Moves all texts into the side buffer.
pub(super) fn own(nodes: &mut [Node], side: &mut Vec<u8>, text: &[u8]) {
    let mut all = Vec::with_capacity(text.len() + side.len());
    all.extend_from_slice(text);
    let base = index_u32(all.len());
    all.extend_from_slice(side);
    for node in nodes {
        match node.place {
            _ if matches!(node.kind, Kind::Array | Kind::Object) => {}
            Place::Side => {
                node.start += base;
                node.end += base;
            }
            Place::Plain => {}
            Place::Escaped => {
                let raw = text.get(node.start as usize..node.end as usize).unwrap_or_default();
                let start = index_u32(all.len());
                super::string::unescape_into(&mut all, raw);
                (node.start, node.end) = (start, index_u32(all.len()));
            }
        }
        node.place = Place::Side;
    }
    *side = all;
}

/// Positions fit `u32`: the parser refuses larger texts, and a value has fewer nodes than bytes.
pub(super) fn index_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// One value of a document.
#[derive(Clone, Copy)]
pub struct Cursor<'d> {
    doc: &'d Document<'d>,
    index: u32,
}

impl<'d> Cursor<'d> {
    fn node(self) -> &'d Node {
        &self.doc.nodes[self.index as usize]
    }

    /// What the value is.
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// The number of elements or members; 0 for a scalar.
    pub fn len(self) -> usize {
        let node = self.node();
        if matches!(node.kind, Kind::Array | Kind::Object) { node.end as usize } else { 0 }
    }

    /// True for a container without children.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The index of the value's node: stable, and unique in its document.
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// The index after the value's last descendant: where its next sibling stands. A container's
    /// first child stands right behind it.
    pub fn after(self) -> usize {
        self.node().next as usize
    }

    /// Where the value starts in the text; None where it was not read as it stands.
    pub fn start(self) -> Option<usize> {
        let node = self.node();
        (node.place != Place::Side).then_some(node.start as usize)
    }

    fn raw(self) -> &'d [u8] {
        let node = self.node();
        let from = if node.place == Place::Side { &self.doc.side[..] } else { self.doc.text };
        from.get(node.start as usize..node.end as usize).unwrap_or_default()
    }

    /// Where a scalar's content stands in the text; None where it was decoded or rewritten.
    pub fn text_span(self) -> Option<(usize, usize)> {
        let node = self.node();
        let scalar = !matches!(node.kind, Kind::Array | Kind::Object);
        (scalar && node.place != Place::Side).then_some((node.start as usize, node.end as usize))
    }

    /// The bytes of the content, where [`Cursor::is_raw`] says that they are not escaped.
    pub fn raw_bytes(self) -> &'d [u8] {
        self.raw()
    }

    /// True when the content stands as it is, without escapes to decode.
    pub fn is_raw(self) -> bool {
        self.node().place != Place::Escaped
    }

    /// The text of a string as WTF-8, escapes decoded; the digits of a number.
    pub fn content(self) -> Cow<'d, [u8]> {
        if self.node().place == Place::Escaped {
            Cow::Owned(unescape(self.raw()))
        } else {
            Cow::Borrowed(self.raw())
        }
    }

    /// True when a string's text equals these WTF-8 bytes.
    pub fn content_is(self, bytes: &[u8]) -> bool {
        match self.node().place {
            Place::Escaped => unescape(self.raw()) == bytes,
            _ => self.raw() == bytes,
        }
    }

    /// A number as written.
    pub fn number_text(self) -> &'d str {
        std::str::from_utf8(self.raw()).unwrap_or("NaN")
    }

    /// A number as an exact decimal.
    pub fn decimal(self) -> Option<Decimal<'d>> {
        if self.kind() == Kind::Number { Decimal::parse(self.number_text()) } else { None }
    }

    /// The elements of an array.
    pub fn elements(self) -> impl Iterator<Item = Cursor<'d>> {
        let array = self.kind() == Kind::Array;
        let doc = self.doc;
        let mut index = self.index + 1;
        (0..if array { self.len() } else { 0 }).map(move |_| {
            let value = Cursor { doc, index };
            index = value.node().next;
            value
        })
    }

    /// The members of an object as they stand in the text, repeated keys included.
    pub fn members(self) -> impl Iterator<Item = (Cursor<'d>, Cursor<'d>)> {
        let object = self.kind() == Kind::Object;
        let doc = self.doc;
        let mut index = self.index + 1;
        (0..if object { self.len() } else { 0 }).map(move |_| {
            let key = Cursor { doc, index };
            let value = Cursor { doc, index: index + 1 };
            index = value.node().next;
            (key, value)
        })
    }

    /// The value of an object's member; the last one where the key is repeated.
    pub fn get(self, key: &[u8]) -> Option<Cursor<'d>> {
        self.members().filter(|(k, _)| k.content_is(key)).last().map(|(_, v)| v)
    }

    /// The element of an array.
    pub fn element(self, at: usize) -> Option<Cursor<'d>> {
        self.elements().nth(at)
    }
}
