//! The five-keyword contract, evaluated over a parsed document.

use super::keys::Keys;
use super::place::MAX_VIOLATIONS;
use crate::json::{Cursor, Document, Kind, Type, Value, same_value};

/// A contract, read once. Malformed parts claim nothing.
pub struct Contract {
    kind: Option<Type>,
    /// `nullable`: null holds, whatever else is claimed.
    nullable: bool,
    keys: Keys,
    /// Required keys, as places in `keys`.
    required: Vec<usize>,
    /// Declared properties in order, each with its place in `keys`.
    properties: Vec<(usize, Contract)>,
    items: Option<Box<Contract>>,
    literals: Vec<Document<'static>>,
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
            if object { Some(Type::Object) } else { array.then_some(Type::Array) }
        };
        let mut keys = Keys::default();
        let properties =
            properties.iter().map(|(k, v)| (keys.place(k), Contract::new(v))).collect();
        let required = list("required").iter().filter_map(Value::as_bytes);
        Contract {
            kind: schema
                .get("type")
                .and_then(Value::as_bytes)
                .and_then(Type::named)
                .or_else(implied),
            nullable: schema.get("nullable") == Some(&Value::Bool(true)),
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
        if self.nullable && value.kind() == Kind::Null {
            return true;
        }
        if self.kind.is_some_and(|kind| !kind.accepts(value)) || !self.literal_holds(value) {
            return false;
        }
        match value.kind() {
            Kind::Object => {
                let found = self.keys.find_in(value);
                self.required.iter().all(|&key| found[key].is_some())
                    && self.properties.iter().all(|(key, contract)| {
                        found[*key].is_none_or(|(_, inner)| contract.holds(inner))
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
        if self.nullable && value.kind() == Kind::Null {
            return;
        }
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
                if let Some((_, inner)) = found[*key]
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
