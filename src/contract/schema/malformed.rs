//! What is wrong with a schema itself, by the drafts' own schemas.

use super::super::keywords::{Draft, Holds, Shape, keyword, subschemas};
use crate::json::{Decimal, Type, Value};
use crate::text::to_utf8;

/// The first fault of a schema, as `path: what is wrong`; the draft counts unless `$schema` says
/// other.
pub(super) fn malformed(schema: &Value, draft: Draft) -> Option<String> {
    // An explicit stack, filled in reverse: faults come in the order of the document.
    let mut open = vec![("$".to_owned(), schema, draft)];
    while let Some((path, schema, outer)) = open.pop() {
        if !matches!(schema, Value::Bool(_) | Value::Object(_)) {
            return Some(format!("{path}: must be a schema (an object, true or false)"));
        }
        let named = schema.get("$schema").and_then(Value::as_str).and_then(Draft::named);
        let draft = named.unwrap_or(outer);
        for (key, value) in schema.members() {
            if let Some(wanted) = fault(key, value, draft) {
                return Some(format!("{path}.{}: must be {wanted}", to_utf8(key)));
            }
        }
        let inner = subschemas(schema).into_iter().rev();
        open.extend(inner.map(|(step, schema)| (format!("{path}{step}"), schema, draft)));
    }
    None
}

/// What a keyword's value must be, where it is not.
fn fault(key: &[u8], value: &Value, draft: Draft) -> Option<&'static str> {
    let &(name, holds, first, last, shape) = keyword(key)?;
    if !(first..=last).contains(&draft) {
        return None;
    }
    let list = matches!(value, Value::Array(_));
    match holds {
        Holds::List if !list || value.elements().is_empty() => {
            return Some("a list of schemas that is not empty");
        }
        Holds::SchemaOrList if list && draft == Draft::V2020 => {
            return Some("a schema (lists of schemas are prefixItems)");
        }
        Holds::Map | Holds::Dependencies if !value.is_object() => {
            return Some("an object of schemas");
        }
        Holds::Dependencies => {
            let lists = value.members().iter().map(|(_, needed)| needed);
            let mut lists = lists.filter(|needed| matches!(needed, Value::Array(_)));
            return (!lists.all(names))
                .then_some("an object of schemas or lists of different names");
        }
        _ => {}
    }
    let number = |value: &Value| match value {
        Value::Number(number) => Some(Decimal::parse(number.text())?.count()),
        _ => None,
    };
    let above = || value.as_f64().is_some_and(|number| number > 0.0);
    let (good, wanted) = match shape {
        Shape::Any => (true, ""),
        Shape::Text => (value.as_bytes().is_some(), "a string"),
        Shape::Bool => (value.as_bool().is_some(), "a boolean"),
        Shape::Above => (number(value).is_some() && above(), "a number > 0"),
        Shape::Limit if draft == Draft::V4 => (value.as_bool().is_some(), "a boolean in draft 4"),
        Shape::Number | Shape::Limit => (number(value).is_some(), "a number"),
        Shape::Count => (number(value).flatten().is_some(), "a whole number >= 0"),
        Shape::List => (list, "a list"),
        Shape::Names if name == "required" && draft == Draft::V4 => {
            (names(value) && !value.elements().is_empty(), "a list of different names, not empty")
        }
        Shape::Names => (names(value), "a list of different names"),
        Shape::NamesByName => {
            let good = value.is_object() && value.members().iter().all(|(_, list)| names(list));
            (good, "an object of lists of different names")
        }
        Shape::Types => {
            let named = |value: &Value| value.as_bytes().and_then(Type::named).is_some();
            let good = if list {
                names(value) && !value.elements().is_empty() && value.elements().iter().all(named)
            } else {
                named(value)
            };
            (good, "the name of a type, or a list of different ones")
        }
    };
    (!good).then_some(wanted)
}

/// True for a list of different strings.
fn names(value: &Value) -> bool {
    let mut seen = std::collections::HashSet::new();
    let new = |name: &Value| name.as_bytes().is_some_and(|name| seen.insert(name.to_vec()));
    matches!(value, Value::Array(_)) && value.elements().iter().all(new)
}
