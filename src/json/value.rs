//! An owned JSON tree, for what an author wrote (gates, schemas) and for values given by callers.

use super::document::{Cursor, Document, Kind, Node, Place, index_u32};
use super::error::{MAX_DEPTH, ParseError};
use super::number::Decimal;
use super::strict::parse;
use super::string::quote_into;
use crate::stack::with_room;

/// A JSON value. Strings and keys are WTF-8; keys keep their order and are unique.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number by its digits.
    Number(Number),
    /// A string.
    String(Vec<u8>),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Vec<(Vec<u8>, Value)>),
}

/// A number as it was written; from Python also `NaN` and `Infinity`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(Box<str>);

impl Number {
    /// A number from its text.
    pub fn new(text: &str) -> Self {
        Number(text.into())
    }

    /// The number as it was written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The nearest double.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Number(ryu_js::Buffer::new().format(value).into())
    }
}

impl Value {
    /// Parses JSON text.
    pub fn parse(text: &[u8]) -> Result<Value, ParseError> {
        let document = parse(text)?;
        Ok(with_room(|| Value::from_cursor(document.root())))
    }

    /// The value at a cursor; where a key is repeated the last value stands at the first place.
    pub fn from_cursor(cursor: Cursor<'_>) -> Value {
        // Recursion is bounded: every document is at most MAX_DEPTH deep.
        match cursor.kind() {
            Kind::Null => Value::Null,
            Kind::False => Value::Bool(false),
            Kind::True => Value::Bool(true),
            Kind::Number => Value::Number(Number::new(cursor.number_text())),
            Kind::String => Value::String(cursor.content().into_owned()),
            Kind::Array => Value::Array(cursor.elements().map(Value::from_cursor).collect()),
            Kind::Object => {
                let mut members = Members::default();
                for (key, value) in cursor.members() {
                    members.set(key.content().into_owned(), Value::from_cursor(value));
                }
                Value::Object(members.list)
            }
        }
    }

    /// A string value from text.
    pub fn string(text: &str) -> Value {
        Value::String(text.as_bytes().to_vec())
    }

    /// The member of an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.members().iter().find(|(k, _)| k == key.as_bytes()).map(|(_, v)| v)
    }

    /// The members of an object; none for another value.
    pub fn members(&self) -> &[(Vec<u8>, Value)] {
        if let Value::Object(members) = self { members } else { &[] }
    }

    /// The elements of an array; none for another value.
    pub fn elements(&self) -> &[Value] {
        if let Value::Array(items) = self { items } else { &[] }
    }

    /// The bytes of a string.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::String(text) = self { Some(text) } else { None }
    }

    /// A string that is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()?).ok()
    }

    /// A number as a double.
    pub fn as_f64(&self) -> Option<f64> {
        if let Value::Number(number) = self { Some(number.as_f64()) } else { None }
    }

    /// A boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(value) = self { Some(*value) } else { None }
    }

    /// True for an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Value::Object(_))
    }

    /// The value as compact JSON text (UTF-8; lone halves are escaped).
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        with_room(|| write_json(self, &mut out));
        String::from_utf8(out).unwrap_or_default()
    }

    /// True when arrays and objects nest no deeper than [`MAX_DEPTH`].
    pub fn depth_ok(&self) -> bool {
        let mut level: Vec<&Value> = vec![self];
        for _ in 0..=MAX_DEPTH {
            level = level
                .into_iter()
                .flat_map(|v| v.elements().iter().chain(v.members().iter().map(|(_, v)| v)))
                .collect();
            if level.is_empty() {
                return true;
            }
        }
        false
    }
}

fn write_json(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        // From Python a number may be NaN or infinite, which JSON cannot say.
        Value::Number(number) if Decimal::parse(number.text()).is_none() => {
            out.extend_from_slice(b"null");
        }
        Value::Number(number) => out.extend_from_slice(number.text().as_bytes()),
        Value::String(text) => quote_into(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_json(item, out);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            out.push(b'{');
            for (i, (key, item)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                quote_into(out, key);
                out.push(b':');
                write_json(item, out);
            }
            out.push(b'}');
        }
    }
}

/// Members under construction: a repeated key takes the new value and keeps its place.
#[derive(Default)]
struct Members {
    list: Vec<(Vec<u8>, Value)>,
    places: std::collections::HashMap<Vec<u8>, usize>,
}

impl Members {
    fn set(&mut self, key: Vec<u8>, value: Value) {
        match self.places.get(&key) {
            Some(&at) => self.list[at].1 = value,
            None => {
                self.places.insert(key.clone(), self.list.len());
                self.list.push((key, value));
            }
        }
    }
}

impl Document<'_> {
    /// A document that holds a value of its own.
    pub fn from_value(value: &Value) -> Document<'static> {
        let mut doc = Document { text: b"", side: Vec::new(), nodes: Vec::new() };
        let mut open: Vec<(usize, Children<'_>)> = Vec::new();
        doc.push_value(value, &mut open);
        while let Some((index, children)) = open.last_mut() {
            let index = *index;
            match children.next() {
                Some((key, child)) => {
                    if let Some(key) = key {
                        doc.push_side(Kind::String, key);
                    }
                    doc.push_value(child, &mut open);
                }
                None => {
                    doc.nodes[index].next = index_u32(doc.nodes.len());
                    open.pop();
                }
            }
        }
        doc
    }

    fn push_value<'v>(&mut self, value: &'v Value, open: &mut Vec<(usize, Children<'v>)>) {
        let (kind, children, len) = match value {
            Value::Null => return self.push_side(Kind::Null, b""),
            Value::Bool(false) => return self.push_side(Kind::False, b""),
            Value::Bool(true) => return self.push_side(Kind::True, b""),
            Value::Number(n) => return self.push_side(Kind::Number, n.text().as_bytes()),
            Value::String(s) => return self.push_side(Kind::String, s),
            Value::Array(items) => (Kind::Array, Children::Array(items.iter()), items.len()),
            Value::Object(members) => {
                (Kind::Object, Children::Object(members.iter()), members.len())
            }
        };
        open.push((self.nodes.len(), children));
        let node = Node { start: 0, end: index_u32(len), next: 0, kind, place: Place::Side };
        self.nodes.push(node);
    }
}

enum Children<'v> {
    Array(std::slice::Iter<'v, Value>),
    Object(std::slice::Iter<'v, (Vec<u8>, Value)>),
}

impl<'v> Iterator for Children<'v> {
    type Item = (Option<&'v [u8]>, &'v Value);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Children::Array(items) => items.next().map(|v| (None, v)),
            Children::Object(members) => members.next().map(|(k, v)| (Some(k.as_slice()), v)),
        }
    }
}
