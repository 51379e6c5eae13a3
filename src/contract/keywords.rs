//! The keywords of both languages, and which of them hold schemas.

use crate::json::Value;

/// The keywords of a contract.
pub(super) const CONTRACT: [&str; 5] = ["type", "properties", "required", "items", "enum"];

/// Keywords that say something about a schema and claim nothing.
const ANNOTATIONS: [&str; 5] = ["title", "description", "$comment", "default", "examples"];

/// The names of types.
pub(super) const TYPES: [&str; 7] =
    ["object", "array", "string", "number", "integer", "boolean", "null"];

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

/// The keywords of JSON Schema, draft 4 to 2020-12.
const KEYWORDS: [(&str, Holds); 60] = [
    ("type", Holds::Data),
    ("properties", Holds::Map),
    ("required", Holds::Data),
    ("items", Holds::SchemaOrList),
    ("enum", Holds::Data),
    ("title", Holds::Data),
    ("description", Holds::Data),
    ("$comment", Holds::Data),
    ("default", Holds::Data),
    ("examples", Holds::Data),
    ("deprecated", Holds::Data),
    ("readOnly", Holds::Data),
    ("writeOnly", Holds::Data),
    ("$schema", Holds::Data),
    ("$id", Holds::Data),
    ("id", Holds::Data),
    ("$anchor", Holds::Data),
    ("$dynamicAnchor", Holds::Data),
    ("$recursiveAnchor", Holds::Data),
    ("$vocabulary", Holds::Data),
    ("$ref", Holds::Data),
    ("$dynamicRef", Holds::Data),
    ("$recursiveRef", Holds::Data),
    ("$defs", Holds::Map),
    ("definitions", Holds::Map),
    ("const", Holds::Data),
    ("multipleOf", Holds::Data),
    ("maximum", Holds::Data),
    ("exclusiveMaximum", Holds::Data),
    ("minimum", Holds::Data),
    ("exclusiveMinimum", Holds::Data),
    ("maxLength", Holds::Data),
    ("minLength", Holds::Data),
    ("pattern", Holds::Data),
    ("format", Holds::Data),
    ("contentEncoding", Holds::Data),
    ("contentMediaType", Holds::Data),
    ("contentSchema", Holds::Schema),
    ("prefixItems", Holds::List),
    ("additionalItems", Holds::Schema),
    ("unevaluatedItems", Holds::Schema),
    ("maxItems", Holds::Data),
    ("minItems", Holds::Data),
    ("uniqueItems", Holds::Data),
    ("contains", Holds::Schema),
    ("maxContains", Holds::Data),
    ("minContains", Holds::Data),
    ("maxProperties", Holds::Data),
    ("minProperties", Holds::Data),
    ("patternProperties", Holds::Map),
    ("additionalProperties", Holds::Schema),
    ("unevaluatedProperties", Holds::Schema),
    ("propertyNames", Holds::Schema),
    ("dependentRequired", Holds::Data),
    ("dependentSchemas", Holds::Map),
    ("dependencies", Holds::Dependencies),
    ("allOf", Holds::List),
    ("anyOf", Holds::List),
    ("oneOf", Holds::List),
    ("not", Holds::Schema),
];

/// The three that choose between schemas.
const CONDITIONALS: [&str; 3] = ["if", "then", "else"];

/// What a keyword's value holds; None for a name that JSON Schema does not have.
pub(super) fn holds(key: &[u8]) -> Option<Holds> {
    if CONDITIONALS.iter().any(|name| name.as_bytes() == key) {
        return Some(Holds::Schema);
    }
    KEYWORDS.iter().find(|(name, _)| name.as_bytes() == key).map(|&(_, holds)| holds)
}

/// True for a keyword that claims nothing.
pub(super) fn is_annotation(key: &[u8]) -> bool {
    ANNOTATIONS.iter().any(|name| name.as_bytes() == key)
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
                        let name = crate::target::to_utf8(name);
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
