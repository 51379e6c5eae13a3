//! Shape errors of contracts and schemas: what their authors wrote wrong.

use super::keywords::{CONTRACT, is_annotation, is_contract, is_contract_keyword};
use super::keywords::{holds, subschemas};
use crate::json::{Type, Value};
use crate::text::to_utf8;

/// Every shape error of a contract, in order; none when it is valid.
pub fn contract_shape_errors(schema: &Value, path: &str) -> Vec<String> {
    shape_errors(schema, path, |_| false)
}

/// Every shape error of the schema of a `json-schema` scorer, in whichever language it is.
pub fn schema_shape_errors(schema: &Value, path: &str) -> Vec<String> {
    if is_contract(schema) {
        return shape_errors(schema, path, is_annotation);
    }
    let mut errors = Vec::new();
    let mut open = vec![(path.to_owned(), schema)];
    while let Some((path, schema)) = open.pop() {
        if !matches!(schema, Value::Bool(_) | Value::Object(_)) {
            errors.push(format!("{path}: must be a schema (an object, true or false)"));
        }
        for (key, _) in schema.members() {
            if holds(key).is_none() {
                errors.push(format!("{path}.{}: unknown schema keyword", to_utf8(key)));
            }
        }
        let inner = subschemas(schema).into_iter().rev();
        open.extend(inner.map(|(step, schema)| (format!("{path}{step}"), schema)));
    }
    errors
}

fn shape_errors(schema: &Value, path: &str, allowed: fn(&[u8]) -> bool) -> Vec<String> {
    let mut errors = Vec::new();
    // An explicit stack, filled in reverse: errors come out in document order.
    let mut open = vec![(path.to_owned(), schema)];
    while let Some((path, schema)) = open.pop() {
        node_errors(schema, &path, allowed, &mut errors);
        let mut inner = Vec::new();
        if let Some(properties) = schema.get("properties") {
            for (key, value) in properties.members() {
                inner.push((format!("{path}.properties.{}", to_utf8(key)), value));
            }
        }
        if let Some(items) = schema.get("items") {
            inner.push((format!("{path}.items"), items));
        }
        open.extend(inner.into_iter().rev());
    }
    errors
}

fn node_errors(schema: &Value, path: &str, allowed: fn(&[u8]) -> bool, errors: &mut Vec<String>) {
    if !schema.is_object() {
        errors.push(format!(
            "{path}: must be an object (a contract like {{\"type\":\"object\",\"required\":[…]}})"
        ));
        return;
    }
    for (key, _) in schema.members() {
        if !is_contract_keyword(key) && !allowed(key) {
            let (key, list) = (to_utf8(key), CONTRACT.join(", "));
            errors.push(format!("{path}.{key}: unknown contract keyword (supported: {list})"));
        }
    }
    if schema.get("type").is_some_and(|kind| kind.as_bytes().and_then(Type::named).is_none()) {
        let names = Type::ALL.map(Type::name).join("|");
        errors.push(format!("{path}.type: must be one of {names}"));
    }
    let strings = |v: &Value| matches!(v, Value::Array(items) if items.iter().all(|i| i.as_bytes().is_some()));
    if schema.get("required").is_some_and(|required| !strings(required)) {
        errors.push(format!("{path}.required: must be an array of strings"));
    }
    if schema.get("properties").is_some_and(|properties| !properties.is_object()) {
        errors.push(format!("{path}.properties: must be an object of sub-contracts"));
    }
    if schema.get("enum").is_some_and(|list| list.elements().is_empty()) {
        errors.push(format!("{path}.enum: must be a non-empty array of literals"));
    }
}
