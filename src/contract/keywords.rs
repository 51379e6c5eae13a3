//! The keywords of both languages: which hold schemas, of which drafts and shapes they are.

use Draft::{V4, V6, V7, V2019, V2020};

use crate::json::Value;

/// The keywords of a contract.
pub(super) const CONTRACT: [&str; 5] = ["type", "properties", "required", "items", "enum"];

/// Keywords that say something about a schema and claim nothing; those of OpenAPI too. Keys
/// that start with `x-` are annotations too.
const ANNOTATIONS: [&str; 11] = [
    "title",
    "description",
    "$comment",
    "default",
    "examples",
    "example",
    "deprecated",
    "nullable",
    "discriminator",
    "xml",
    "externalDocs",
];

/// What the value of a keyword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// No schema.
    Data,
    /// One schema.
    Schema,
    /// A list of schemas.
    List,
    /// One schema or a list of them.
    SchemaOrList,
    /// An object of schemas.
    Map,
    /// An object whose values are schemas or lists of names.
    Dependencies,
}

/// The drafts, in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    /// Draft 4.
    V4,
    /// Draft 6.
    V6,
    /// Draft 7.
    V7,
    /// Draft 2019-09.
    V2019,
    /// Draft 2020-12.
    V2020,
}

impl Draft {
    /// The draft that a `$schema` names.
    pub(super) fn named(uri: &str) -> Option<Draft> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let place = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        Some(match place.strip_prefix("json-schema.org/")? {
            "draft-04/schema" => V4,
            "draft-06/schema" => V6,
            "draft-07/schema" => V7,
            "draft/2019-09/schema" => V2019,
            "draft/2020-12/schema" | "schema" => V2020,
            _ => return None,
        })
    }

    /// Its name for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            V4 => "4",
            V6 => "6",
            V7 => "7",
            V2019 => "2019-09",
            V2020 => "2020-12",
        }
    }
}

/// What the value of a keyword must be, apart from the schemas that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Anything.
    Any,
    /// A string.
    Text,
    /// A boolean.
    Bool,
    /// A number.
    Number,
    /// A number above 0.
    Above,
    /// A number; a boolean in draft 4.
    Limit,
    /// A whole number from 0 on.
    Count,
    /// An array.
    List,
    /// An array of different strings.
    Names,
    /// An object of such arrays.
    NamesByName,
    /// The name of a type, or a list of them.
    Types,
}

/// A keyword: its name, what it holds, its first and its last draft, its shape.
pub(super) type Keyword = (&'static str, Holds, Draft, Draft, Shape);

/// The keywords of JSON Schema, draft 4 to 2020-12. Where a keyword that claims nothing is older
/// or younger than its draft does not matter.
const KEYWORDS: [Keyword; 68] = [
    ("type", Holds::Data, V4, V2020, Shape::Types),
    ("properties", Holds::Map, V4, V2020, Shape::Any),
    ("required", Holds::Data, V4, V2020, Shape::Names),
    ("items", Holds::SchemaOrList, V4, V2020, Shape::Any),
    ("enum", Holds::Data, V4, V2020, Shape::List),
    ("title", Holds::Data, V4, V2020, Shape::Text),
    ("description", Holds::Data, V4, V2020, Shape::Text),
    ("$comment", Holds::Data, V4, V2020, Shape::Text),
    ("default", Holds::Data, V4, V2020, Shape::Any),
    ("examples", Holds::Data, V4, V2020, Shape::List),
    ("example", Holds::Data, V4, V2020, Shape::Any),
    ("deprecated", Holds::Data, V4, V2020, Shape::Bool),
    ("nullable", Holds::Data, V4, V2020, Shape::Bool),
    ("discriminator", Holds::Data, V4, V2020, Shape::Any),
    ("xml", Holds::Data, V4, V2020, Shape::Any),
    ("externalDocs", Holds::Data, V4, V2020, Shape::Any),
    ("readOnly", Holds::Data, V4, V2020, Shape::Bool),
    ("writeOnly", Holds::Data, V4, V2020, Shape::Bool),
    ("$schema", Holds::Data, V4, V2020, Shape::Text),
    ("$id", Holds::Data, V4, V2020, Shape::Text),
    ("id", Holds::Data, V4, V2020, Shape::Text),
    ("$anchor", Holds::Data, V2019, V2020, Shape::Text),
    ("$dynamicAnchor", Holds::Data, V2020, V2020, Shape::Text),
    ("$recursiveAnchor", Holds::Data, V2019, V2019, Shape::Bool),
    ("$vocabulary", Holds::Data, V2019, V2020, Shape::Any),
    ("$ref", Holds::Data, V4, V2020, Shape::Text),
    ("$dynamicRef", Holds::Data, V2020, V2020, Shape::Text),
    ("$recursiveRef", Holds::Data, V2019, V2019, Shape::Text),
    ("$defs", Holds::Map, V4, V2020, Shape::Any),
    ("definitions", Holds::Map, V4, V2020, Shape::Any),
    ("const", Holds::Data, V6, V2020, Shape::Any),
    ("multipleOf", Holds::Data, V4, V2020, Shape::Above),
    ("maximum", Holds::Data, V4, V2020, Shape::Number),
    ("exclusiveMaximum", Holds::Data, V4, V2020, Shape::Limit),
    ("minimum", Holds::Data, V4, V2020, Shape::Number),
    ("exclusiveMinimum", Holds::Data, V4, V2020, Shape::Limit),
    ("maxLength", Holds::Data, V4, V2020, Shape::Count),
    ("minLength", Holds::Data, V4, V2020, Shape::Count),
    ("pattern", Holds::Data, V4, V2020, Shape::Text),
    ("format", Holds::Data, V4, V2020, Shape::Text),
    ("contentEncoding", Holds::Data, V4, V2020, Shape::Text),
    ("contentMediaType", Holds::Data, V4, V2020, Shape::Text),
    ("contentSchema", Holds::Schema, V4, V2020, Shape::Any),
    ("prefixItems", Holds::List, V2020, V2020, Shape::Any),
    ("additionalItems", Holds::Schema, V4, V2019, Shape::Any),
    ("unevaluatedItems", Holds::Schema, V2019, V2020, Shape::Any),
    ("maxItems", Holds::Data, V4, V2020, Shape::Count),
    ("minItems", Holds::Data, V4, V2020, Shape::Count),
    ("uniqueItems", Holds::Data, V4, V2020, Shape::Bool),
    ("contains", Holds::Schema, V6, V2020, Shape::Any),
    ("maxContains", Holds::Data, V2019, V2020, Shape::Count),
    ("minContains", Holds::Data, V2019, V2020, Shape::Count),
    ("maxProperties", Holds::Data, V4, V2020, Shape::Count),
    ("minProperties", Holds::Data, V4, V2020, Shape::Count),
    ("patternProperties", Holds::Map, V4, V2020, Shape::Any),
    ("additionalProperties", Holds::Schema, V4, V2020, Shape::Any),
    ("unevaluatedProperties", Holds::Schema, V2019, V2020, Shape::Any),
    ("propertyNames", Holds::Schema, V6, V2020, Shape::Any),
    ("dependentRequired", Holds::Data, V2019, V2020, Shape::NamesByName),
    ("dependentSchemas", Holds::Map, V2019, V2020, Shape::Any),
    ("dependencies", Holds::Dependencies, V4, V2020, Shape::Any),
    ("allOf", Holds::List, V4, V2020, Shape::Any),
    ("anyOf", Holds::List, V4, V2020, Shape::Any),
    ("oneOf", Holds::List, V4, V2020, Shape::Any),
    ("not", Holds::Schema, V4, V2020, Shape::Any),
    ("if", Holds::Schema, V7, V2020, Shape::Any),
    ("then", Holds::Schema, V7, V2020, Shape::Any),
    ("else", Holds::Schema, V7, V2020, Shape::Any),
];

/// The keyword of a name; None for a name that JSON Schema does not have.
pub(super) fn keyword(key: &[u8]) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|keyword| keyword.0.as_bytes() == key)
}

/// What a keyword's value holds; None for a name that JSON Schema does not have.
pub(super) fn holds(key: &[u8]) -> Option<Holds> {
    let other = || is_annotation(key).then_some(Holds::Data);
    keyword(key).map(|&(_, holds, ..)| holds).or_else(other)
}

/// True for a keyword that claims nothing.
pub(super) fn is_annotation(key: &[u8]) -> bool {
    key.starts_with(b"x-") || ANNOTATIONS.iter().any(|name| name.as_bytes() == key)
}

/// True for one of the five keywords.
pub(super) fn is_contract_keyword(key: &[u8]) -> bool {
    CONTRACT.iter().any(|name| name.as_bytes() == key)
}

/// The schemas inside a schema, each with the path to it from its parent.
pub(super) fn subschemas(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (key, value) in schema.members() {
        let Some(holds) = holds(key) else { continue };
        let key = String::from_utf8_lossy(key);
        match holds {
            Holds::Data => {}
            Holds::Schema => found.push((format!(".{key}"), value)),
            Holds::SchemaOrList if !matches!(value, Value::Array(_)) => {
                found.push((format!(".{key}"), value));
            }
            Holds::List | Holds::SchemaOrList => {
                let items = value.elements().iter().enumerate();
                found.extend(items.map(|(i, item)| (format!(".{key}[{i}]"), item)));
            }
            Holds::Map | Holds::Dependencies => {
                for (name, item) in value.members() {
                    if holds == Holds::Map || !matches!(item, Value::Array(_)) {
                        let name = crate::text::to_utf8(name);
                        found.push((format!(".{key}.{name}"), item));
                    }
                }
            }
        }
    }
    found
}

/// True while a schema, at every depth, stays within the contract language: only its five
/// keywords, annotations and names that neither language has; `type` no list, no boolean schema.
pub(super) fn is_contract(schema: &Value) -> bool {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        if matches!(schema, Value::Bool(_)) {
            return false;
        }
        for (key, value) in schema.members() {
            let beyond = holds(key).is_some() && !is_contract_keyword(key) && !is_annotation(key);
            if beyond || (key == b"type" && matches!(value, Value::Array(_))) {
                return false;
            }
        }
        open.extend(subschemas(schema).into_iter().map(|(_, inner)| inner));
    }
    true
}
