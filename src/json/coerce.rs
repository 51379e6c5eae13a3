//! Bringing a value to the types that a schema asks for.
//!
//! Only what the schema names is changed, only where the value does not fit as it is, and each
//! change is a diagnostic: text to number, boolean or null; a number or boolean to text; a single
//! value to an array; an enum's or constant's member by case and space; JSON inside a string.
//! Keys are never renamed, missing values never made up.
//!
//! The keywords read are `type`, `properties`, `additionalProperties`, `items`, `prefixItems`,
//! `enum`, `const`, `anyOf`, `oneOf`, `allOf` and a `$ref` within the schema.

use super::diagnostics::{Code, Diagnostic};
use super::document::{Cursor, Kind, Place};
use super::repair::{RepairOptions, repair};
use super::value::{Number, Value};
use super::{Decimal, Document};
use crate::stack::with_room;

/// One change, and where in the value it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Coercion {
    /// The change; its span is that of the value in the text (empty where it was not read as it
    /// stands).
    pub diagnostic: Diagnostic,
    /// The place in the value: `$.items[2].price`.
    pub path: String,
}

/// A value brought to a schema's types.
#[derive(Clone, Debug, PartialEq)]
pub struct Coerced {
    /// The value.
    pub value: Value,
    /// What was changed.
    pub changes: Vec<Coercion>,
}

/// References followed in a row, and schemas nested in `anyOf` and the like.
const MAX_SCHEMAS: usize = 32;

/// Brings a document's value to the types that a schema (JSON Schema or a contract) asks for.
pub fn coerce(document: &Document<'_>, schema: &Value) -> Coerced {
    let mut coercer = Coercer { schema, changes: Vec::new(), path: "$".to_owned(), inside: None };
    let value = with_room(|| coercer.value(document.root(), schema, 0));
    Coerced { value, changes: coercer.changes }
}

struct Coercer<'s> {
    schema: &'s Value,
    changes: Vec<Coercion>,
    path: String,
    /// The span of the string whose JSON is being read.
    inside: Option<(usize, usize)>,
}

impl<'s> Coercer<'s> {
    // Recursion is bounded: every document is at most `MAX_DEPTH` deep.
    fn value(&mut self, cursor: Cursor<'_>, schema: &'s Value, depth: usize) -> Value {
        let mut schema = self.resolve(schema);
        for _ in 0..MAX_SCHEMAS {
            let Some(chosen) = self.choose(cursor, schema) else { break };
            schema = self.resolve(chosen);
        }
        if let Some(value) = self.member_of_enum(cursor, schema) {
            return value;
        }
        let types = types(schema);
        if types.is_empty() || types.iter().any(|t| fits(cursor, t)) {
            return self.children(cursor, schema);
        }
        for wanted in types {
            if let Some(value) = self.scalar(cursor, wanted) {
                return value;
            }
        }
        for wanted in types_with_containers(schema) {
            if let Some(value) = self.container(cursor, schema, wanted, depth) {
                return value;
            }
        }
        self.children(cursor, schema)
    }

    /// Follows `$ref` within the schema.
    fn resolve(&self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..MAX_SCHEMAS {
            let Some(pointer) =
                schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#'))
            else {
                return schema;
            };
            let mut target = Some(self.schema);
            for part in pointer.split('/').skip(1) {
                let part = part.replace("~1", "/").replace("~0", "~");
                target = target.and_then(|t| match t {
                    Value::Array(items) => items.get(part.parse::<usize>().ok()?),
                    other => other.get(&part),
                });
            }
            match target {
                Some(found) => schema = found,
                None => return schema,
            }
        }
        schema
    }

    /// The branch of `anyOf`, `oneOf` or a single `allOf` that the value fits best.
    fn choose(&self, cursor: Cursor<'_>, schema: &'s Value) -> Option<&'s Value> {
        if !types(schema).is_empty() {
            return None;
        }
        let branches =
            ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(key))?.elements();
        let fitting = |branch: &&&Value| {
            let branch = self.resolve(branch);
            let types = types(branch);
            let members = branch.get("enum").map_or(&[][..], Value::elements);
            let listed = members.is_empty() || members.iter().any(|m| same(cursor, m));
            (types.is_empty() || types.iter().any(|t| fits(cursor, t))) && listed
        };
        branches.iter().find(|b| fitting(&b)).or_else(|| branches.first())
    }

    fn member_of_enum(&mut self, cursor: Cursor<'_>, schema: &'s Value) -> Option<Value> {
        let constant = schema.get("const").map(std::slice::from_ref);
        let members =
            constant.unwrap_or_else(|| schema.get("enum").map_or(&[][..], Value::elements));
        if members.is_empty() || members.iter().any(|m| same(cursor, m)) {
            return None;
        }
        let text = match cursor.kind() {
            Kind::String | Kind::Number => cursor.content(),
            _ => return None,
        };
        let folded = fold(&text);
        let mut found = members.iter().filter(|m| match m {
            Value::String(member) => fold(member) == folded,
            Value::Number(number) => number.text().as_bytes() == folded,
            Value::Bool(value) => boolean(&folded) == Some(*value),
            Value::Null => folded == b"null" || folded == b"none",
            _ => false,
        });
        let member = found.next()?;
        // Two members that differ by case only: no guess.
        if found.next().is_some() {
            return None;
        }
        self.note(Code::CoercedEnum, cursor);
        Some(member.clone())
    }

    fn scalar(&mut self, cursor: Cursor<'_>, wanted: &str) -> Option<Value> {
        let (code, value) = match (cursor.kind(), wanted) {
            (Kind::String, "number" | "integer") => {
                let text = number(&cursor.content())?;
                let decimal = Decimal::parse(&text)?;
                if wanted == "integer" && !decimal.is_integer() {
                    return None;
                }
                (Code::CoercedNumber, Value::Number(Number::new(&text)))
            }
            (Kind::String, "boolean") => {
                (Code::CoercedBoolean, Value::Bool(boolean(&fold(&cursor.content()))?))
            }
            (Kind::String, "null") => {
                let text = fold(&cursor.content());
                if !matches!(&text[..], b"null" | b"none" | b"nil") {
                    return None;
                }
                (Code::CoercedNull, Value::Null)
            }
            (Kind::Number, "string") => (Code::CoercedString, Value::string(cursor.number_text())),
            (Kind::True, "string") => (Code::CoercedString, Value::string("true")),
            (Kind::False, "string") => (Code::CoercedString, Value::string("false")),
            (Kind::Number, "boolean") => match cursor.number_text() {
                "1" => (Code::CoercedBoolean, Value::Bool(true)),
                "0" => (Code::CoercedBoolean, Value::Bool(false)),
                _ => return None,
            },
            _ => return None,
        };
        self.note(code, cursor);
        Some(value)
    }

    fn container(
        &mut self,
        cursor: Cursor<'_>,
        schema: &'s Value,
        wanted: &str,
        depth: usize,
    ) -> Option<Value> {
        // A schema whose items are the schema itself would wrap a value for ever.
        if depth >= 4 {
            return None;
        }
        if cursor.kind() == Kind::String && self.inside.is_none() {
            let text = cursor.content();
            let options = RepairOptions { duplicates: false, ..RepairOptions::default() };
            let opens = text.trim_ascii_start().first().is_some_and(|b| matches!(b, b'{' | b'['));
            if opens
                && let Ok(inner) = repair(&text, &options).result
                && fits(inner.root(), wanted)
            {
                self.note(Code::CoercedJson, cursor);
                self.inside = Some(span(cursor));
                let value = self.value(inner.root(), schema, depth + 1);
                self.inside = None;
                return Some(value);
            }
        }
        if wanted == "array" && cursor.kind() != Kind::Array && cursor.kind() != Kind::Null {
            self.note(Code::CoercedArray, cursor);
            let item = item_schema(schema, 0);
            let value = match item {
                Some(item) => self.at("[0]", |c| c.value(cursor, item, depth + 1)),
                None => Value::from_cursor(cursor),
            };
            return Some(Value::Array(vec![value]));
        }
        None
    }

    fn children(&mut self, cursor: Cursor<'_>, schema: &'s Value) -> Value {
        match cursor.kind() {
            Kind::Array => Value::Array(
                cursor
                    .elements()
                    .enumerate()
                    .map(|(i, element)| match item_schema(schema, i) {
                        Some(item) => self.at(&format!("[{i}]"), |c| c.value(element, item, 0)),
                        None => Value::from_cursor(element),
                    })
                    .collect(),
            ),
            Kind::Object => {
                let plain = Value::from_cursor(cursor);
                let Value::Object(members) = plain else { return plain };
                let names: Vec<Vec<u8>> = members.into_iter().map(|(key, _)| key).collect();
                let mut last = std::collections::HashMap::with_capacity(names.len());
                for (key, value) in cursor.members() {
                    last.insert(key.content(), value);
                }
                let members = names.into_iter().filter_map(|name| {
                    let value = *last.get(&name[..])?;
                    let value = match property(schema, &name) {
                        Some(inner) => {
                            let step = format!(".{}", String::from_utf8_lossy(&name));
                            self.at(&step, |c| c.value(value, inner, 0))
                        }
                        None => Value::from_cursor(value),
                    };
                    Some((name, value))
                });
                Value::Object(members.collect())
            }
            _ => Value::from_cursor(cursor),
        }
    }

    fn at<T>(&mut self, step: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let len = self.path.len();
        self.path.push_str(step);
        let result = work(self);
        self.path.truncate(len);
        result
    }

    fn note(&mut self, code: Code, cursor: Cursor<'_>) {
        let (start, end) = self.inside.unwrap_or_else(|| span(cursor));
        self.changes.push(Coercion {
            diagnostic: Diagnostic::new(code, start, end),
            path: self.path.clone(),
        });
    }
}

fn span(cursor: Cursor<'_>) -> (usize, usize) {
    let node = cursor.place();
    match (cursor.kind(), node.2) {
        (Kind::Array | Kind::Object, _) => (node.0, node.0 + 1),
        (_, Place::Side) => (0, 0),
        _ => (node.0, node.1),
    }
}

/// The scalar types that a schema names, and the containers.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        Some(one) => one.as_str().into_iter().collect(),
        None if schema.get("properties").is_some() || schema.get("required").is_some() => {
            vec!["object"]
        }
        None if schema.get("items").is_some() => vec!["array"],
        None => Vec::new(),
    }
}

fn types_with_containers(schema: &Value) -> Vec<&str> {
    types(schema).into_iter().filter(|t| matches!(*t, "array" | "object")).collect()
}

fn fits(cursor: Cursor<'_>, wanted: &str) -> bool {
    match wanted {
        "integer" => cursor.decimal().is_some_and(|d| d.is_integer()),
        other => cursor.kind().name() == other,
    }
}

fn same(cursor: Cursor<'_>, value: &Value) -> bool {
    match (cursor.kind(), value) {
        (Kind::String, Value::String(text)) => cursor.content_is(text),
        (Kind::Number, Value::Number(number)) => {
            match (cursor.decimal(), Decimal::parse(number.text())) {
                (Some(a), Some(b)) => a.same_value(&b),
                _ => false,
            }
        }
        (Kind::True, Value::Bool(b)) => *b,
        (Kind::False, Value::Bool(b)) => !b,
        (Kind::Null, Value::Null) => true,
        (Kind::Array | Kind::Object, Value::Array(_) | Value::Object(_)) => {
            Value::from_cursor(cursor) == *value
        }
        _ => false,
    }
}

fn property<'s>(schema: &'s Value, name: &[u8]) -> Option<&'s Value> {
    let properties = schema.get("properties").map_or(&[][..], Value::members);
    properties
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, inner)| inner)
        .or_else(|| schema.get("additionalProperties").filter(|s| s.is_object()))
}

fn item_schema(schema: &Value, index: usize) -> Option<&Value> {
    let prefix = schema.get("prefixItems").map_or(&[][..], Value::elements);
    prefix.get(index).or_else(|| schema.get("items").filter(|s| s.is_object()))
}

/// Text trimmed and in lower case, with spaces and hyphens as underscores.
fn fold(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text.trim_ascii()).to_lowercase();
    text.bytes().map(|b| if matches!(b, b' ' | b'-') { b'_' } else { b }).collect()
}

fn boolean(text: &[u8]) -> Option<bool> {
    match text {
        b"true" | b"yes" | b"1" | b"on" => Some(true),
        b"false" | b"no" | b"0" | b"off" => Some(false),
        _ => None,
    }
}

/// The JSON number that a text is: spaces around it, a plus sign, and commas between groups of
/// three digits are dropped.
fn number(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    let text = text.strip_prefix('+').unwrap_or(text);
    let mut plain = text.to_owned();
    if text.contains(',') {
        let whole = text.split('.').next().unwrap_or_default().trim_start_matches('-');
        let groups: Vec<&str> = whole.split(',').collect();
        let grouped = groups.first().is_some_and(|g| (1..=3).contains(&g.len()))
            && groups.iter().skip(1).all(|g| g.len() == 3);
        if !grouped {
            return None;
        }
        plain = text.replace(',', "");
    }
    let document = super::parse(plain.as_bytes()).ok()?;
    (document.root().kind() == Kind::Number).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, schema: &str) -> (String, Vec<(&'static str, String)>) {
        let document = super::super::parse(text.as_bytes()).unwrap();
        let coerced = coerce(&document, &Value::parse(schema.as_bytes()).unwrap());
        let changes = coerced.changes.into_iter().map(|c| (c.diagnostic.code.name(), c.path));
        (coerced.value.to_json(), changes.collect())
    }

    #[test]
    fn rows() {
        let rows = [
            (
                r#"{"a":"12"}"#,
                r#"{"properties":{"a":{"type":"integer"}}}"#,
                r#"{"a":12}"#,
                "coerced_number $.a",
            ),
            (r#""1,234.5""#, r#"{"type":"number"}"#, "1234.5", "coerced_number $"),
            (r#""12.5""#, r#"{"type":"integer"}"#, r#""12.5""#, ""),
            (r#""Yes""#, r#"{"type":"boolean"}"#, "true", "coerced_boolean $"),
            (r#""None""#, r#"{"type":["integer","null"]}"#, "null", "coerced_null $"),
            ("5", r#"{"type":"string"}"#, r#""5""#, "coerced_string $"),
            (
                r#""x""#,
                r#"{"type":"array","items":{"type":"string"}}"#,
                r#"["x"]"#,
                "coerced_array $",
            ),
            (
                r#""4""#,
                r#"{"type":"array","items":{"type":"integer"}}"#,
                "[4]",
                "coerced_array $, coerced_number $[0]",
            ),
            (
                r#""In Progress""#,
                r#"{"enum":["in_progress","done"]}"#,
                r#""in_progress""#,
                "coerced_enum $",
            ),
            (r#""A""#, r#"{"enum":["a","A "]}"#, r#""A""#, ""),
            (r#""done""#, r#"{"enum":["done","DONE"]}"#, r#""done""#, ""),
            (
                r#"{"a":"{\"b\": \"1\",}"}"#,
                r#"{"properties":{"a":{"properties":{"b":{"type":"integer"}}}}}"#,
                r#"{"a":{"b":1}}"#,
                "coerced_json $.a, coerced_number $.a.b",
            ),
            (
                r#"[1,"2"]"#,
                r##"{"items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"number"}}}"##,
                "[1,2]",
                "coerced_number $[1]",
            ),
            (r#""x""#, r##"{"$ref":"#"}"##, r#""x""#, ""),
            ("null", r##"{"type":"array","items":{"$ref":"#"}}"##, "null", ""),
            (
                r#""7""#,
                r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#,
                "7",
                "coerced_number $",
            ),
            ("null", r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#, "null", ""),
            (
                r#"{"a":"1","b":"2"}"#,
                r#"{"properties":{"b":{"type":"string"}}}"#,
                r#"{"a":"1","b":"2"}"#,
                "",
            ),
        ];
        for (text, schema, value, changes) in rows {
            let (got, list) = run(text, schema);
            let list: Vec<String> =
                list.into_iter().map(|(code, path)| format!("{code} {path}")).collect();
            assert_eq!(
                (got.as_str(), list.join(", ").as_str()),
                (value, changes),
                "{text} {schema}"
            );
        }
    }
}
