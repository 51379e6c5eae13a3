//! The five-keyword contract, evaluated over a parsed document.

use std::borrow::Cow;
use std::collections::HashMap;

use super::MAX_VIOLATIONS;
use crate::json::{Cursor, Document, Kind, Value};
use crate::target::to_utf8;

/// A contract, read once. Malformed parts claim nothing.
pub struct Contract {
    kind: Option<Type>,
    keys: Keys,
    /// Required keys, as places in `keys`.
    required: Vec<usize>,
    /// Declared properties in order, each with its place in `keys`.
    properties: Vec<(usize, Contract)>,
    items: Option<Box<Contract>>,
    literals: Vec<Document<'static>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Is(Kind),
    Boolean,
    Integer,
}

impl Type {
    fn read(value: &Value) -> Option<Type> {
        Some(match value.as_str()? {
            "object" => Type::Is(Kind::Object),
            "array" => Type::Is(Kind::Array),
            "string" => Type::Is(Kind::String),
            "number" => Type::Is(Kind::Number),
            "null" => Type::Is(Kind::Null),
            "integer" => Type::Integer,
            "boolean" => Type::Boolean,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Type::Is(kind) => kind.name(),
            Type::Boolean => "boolean",
            Type::Integer => "integer",
        }
    }

    fn accepts(self, value: Cursor<'_>) -> bool {
        match self {
            Type::Is(kind) => value.kind() == kind,
            Type::Boolean => matches!(value.kind(), Kind::True | Kind::False),
            Type::Integer => value.decimal().is_some_and(|d| d.is_integer()),
        }
    }
}

impl Contract {
    /// Reads a contract of any shape.
    pub fn new(schema: &Value) -> Self {
        // Recursion is bounded: a spec is at most MAX_DEPTH deep.
        let list = |key| schema.get(key).map(Value::elements).unwrap_or_default();
        let properties = schema.get("properties").map(Value::members).unwrap_or_default();
        let implied = || {
            let object = schema.get("properties").is_some_and(Value::is_object)
                || matches!(schema.get("required"), Some(Value::Array(_)));
            let array = schema.get("items").is_some_and(Value::is_object);
            let kind = if object { Some(Kind::Object) } else { array.then_some(Kind::Array) };
            kind.map(Type::Is)
        };
        let mut keys = Keys::default();
        let properties =
            properties.iter().map(|(k, v)| (keys.place(k), Contract::new(v))).collect();
        let required = list("required").iter().filter_map(Value::as_bytes);
        Contract {
            kind: schema.get("type").and_then(Type::read).or_else(implied),
            required: required.map(|key| keys.place(key)).collect(),
            properties,
            keys,
            items: schema.get("items").map(|items| Box::new(Contract::new(items))),
            literals: list("enum").iter().map(Document::from_value).collect(),
        }
    }

    fn claims_nothing(&self) -> bool {
        self.kind.is_none()
            && self.required.is_empty()
            && self.properties.is_empty()
            && self.items.is_none()
            && self.literals.is_empty()
    }

    /// True when a value breaks nothing.
    pub fn holds(&self, value: Cursor<'_>) -> bool {
        // Recursion follows the contract, whose depth is bounded by MAX_DEPTH.
        if self.kind.is_some_and(|kind| !kind.accepts(value)) || !self.literal_holds(value) {
            return false;
        }
        match value.kind() {
            Kind::Object => {
                let found = self.keys.find_in(value);
                self.required.iter().all(|&key| found[key].is_some())
                    && self.properties.iter().all(|(key, contract)| {
                        found[*key].is_none_or(|inner| contract.holds(inner))
                    })
            }
            Kind::Array => match &self.items {
                Some(items) if !items.claims_nothing() => {
                    value.elements().all(|inner| items.holds(inner))
                }
                _ => true,
            },
            _ => true,
        }
    }

    /// What a value breaks, as `path: message`: type (and then no more at this node), enum,
    /// required, properties in declaration order, items; a node passes up at most its first
    /// [`MAX_VIOLATIONS`].
    pub fn violations(&self, value: Cursor<'_>, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        if !self.holds(value) {
            self.collect(value, path, &mut found);
        }
        found
    }

    fn collect(&self, value: Cursor<'_>, path: &str, out: &mut Vec<String>) {
        if let Some(kind) = self.kind
            && !kind.accepts(value)
        {
            out.push(format!("{path}: expected {}, got {}", kind.name(), value.kind().name()));
            return;
        }
        // The first violations of the whole are the first of each node in order, so one list with
        // one limit gives what nested limits would.
        if !self.literal_holds(value) {
            out.push(format!("{path}: value is not one of the allowed enum literals"));
        }
        if value.kind() == Kind::Object {
            let found = self.keys.find_in(value);
            for &key in self.required.iter().filter(|&&key| found[key].is_none()) {
                out.push(format!("{path}.{}: required key is missing", self.keys.name(key)));
            }
            for (key, contract) in &self.properties {
                if let Some(inner) = found[*key]
                    && out.len() < MAX_VIOLATIONS
                {
                    contract.collect(inner, &format!("{path}.{}", self.keys.name(*key)), out);
                }
            }
        }
        if let (Kind::Array, Some(items)) = (value.kind(), &self.items) {
            for (i, inner) in value.elements().enumerate() {
                if out.len() >= MAX_VIOLATIONS {
                    break;
                }
                if !items.holds(inner) {
                    items.collect(inner, &format!("{path}[{i}]"), out);
                }
            }
        }
        out.truncate(MAX_VIOLATIONS);
    }

    fn literal_holds(&self, value: Cursor<'_>) -> bool {
        self.literals.is_empty() || self.literals.iter().any(|l| same_value(l.root(), value))
    }
}

/// The keys that a contract asks for, each once.
#[derive(Default)]
struct Keys {
    list: Vec<Vec<u8>>,
    /// The place of each key; used once there are more than a few.
    places: HashMap<Vec<u8>, usize>,
}

/// Up to this many keys, comparing with each is faster than hashing.
const FEW: usize = 8;

impl Keys {
    /// The place of a key, which is added if it is new.
    fn place(&mut self, key: &[u8]) -> usize {
        let next = self.list.len();
        let place = *self.places.entry(key.to_vec()).or_insert(next);
        if place == next {
            self.list.push(key.to_vec());
        }
        place
    }

    fn name(&self, place: usize) -> Cow<'_, str> {
        to_utf8(&self.list[place])
    }

    /// The member of each key, the last one where a key is repeated, in one pass over an object.
    fn find_in<'d>(&self, object: Cursor<'d>) -> Vec<Option<Cursor<'d>>> {
        let mut found = vec![None; self.list.len()];
        if self.list.is_empty() {
            return found;
        }
        for (key, value) in object.members() {
            let place = if self.list.len() <= FEW {
                self.list.iter().position(|name| key.content_is(name))
            } else {
                self.places.get(&*key.content()).copied()
            };
            if let Some(place) = place {
                found[place] = Some(value);
            }
        }
        found
    }
}

/// Equality of JSON values: numbers by value, objects without regard to the order of their keys.
pub(super) fn same_value(a: Cursor<'_>, b: Cursor<'_>) -> bool {
    let mut open = vec![(a, b)];
    while let Some((a, b)) = open.pop() {
        if a.kind() != b.kind() {
            return false;
        }
        let same = match a.kind() {
            Kind::Null | Kind::False | Kind::True => true,
            Kind::String => a.content() == b.content(),
            Kind::Number => match (a.decimal(), b.decimal()) {
                (Some(a), Some(b)) => a.same_value(&b),
                _ => a.number_text() == b.number_text(),
            },
            Kind::Array => {
                let same = a.len() == b.len();
                if same {
                    open.extend(a.elements().zip(b.elements()));
                }
                same
            }
            Kind::Object => {
                let (a, b) = (unique_members(a), unique_members(b));
                let same = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.0 == b.0);
                open.extend(a.iter().zip(&b).map(|(a, b)| (a.1, b.1)));
                same
            }
        };
        if !same {
            return false;
        }
    }
    true
}

/// An object's members by key, each key once with its last value.
fn unique_members(object: Cursor<'_>) -> Vec<(Cow<'_, [u8]>, Cursor<'_>)> {
    let mut members: Vec<_> = object.members().map(|(k, v)| (k.content(), v)).collect();
    members.reverse();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    members.dedup_by(|later, first| later.0 == first.0);
    members
}
