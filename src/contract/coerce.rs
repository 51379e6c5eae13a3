//! Bringing a value to the types that a schema asks for.
//!
//! Only what the schema names is changed, only where the value does not fit as it is, and each
//! change is a diagnostic: text to number, boolean or null; a number or boolean to text; a single
//! value to an array; an enum's or constant's member by case and space; JSON inside a string.
//! Keys are never renamed, missing values never made up.
//!
//! [`salvage`] goes further, for those who ask for it: see [`super::salvage`].
//!
//! The keywords read are `type`, `properties`, `patternProperties`, `additionalProperties`, `items`,
//! `prefixItems`, `additionalItems`, `enum`, `const`, `anyOf`, `oneOf` (with `discriminator`),
//! `allOf`, `nullable` and a `$ref` within the schema.

use std::collections::HashMap;

use super::schema::{Found, Index, Pattern};
use crate::json::{
    Code, Cursor, Decimal, Diagnostic, Document, Kind, Number, RepairOptions, Type, Value,
    members_once, parse, repair, same_value,
};
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
    coerced(document, schema, None)
}

/// Brings a document's value to a schema's types, and drops or makes up what stands in the way of
/// the rest.
pub fn salvage(document: &Document<'_>, schema: &Value) -> Coerced {
    coerced(document, schema, Some(Salvage::default()))
}

fn coerced(document: &Document<'_>, schema: &Value, salvage: Option<Salvage>) -> Coerced {
    let Ok(index) = Index::new(schema) else {
        // A schema of an unknown language asks for nothing.
        let value = with_room(|| Value::from_cursor(document.root()));
        return Coerced { value, changes: Vec::new() };
    };
    let (changes, path) = (Vec::new(), "$".to_owned());
    let mut coercer = Coercer { index, changes, path, inside: None, salvage };
    let value = with_room(|| coercer.value(document.root(), schema, 0));
    Coerced { value, changes: coercer.changes }
}

/// What a salvage has met so far.
#[derive(Debug, Default)]
pub(super) struct Salvage {
    /// Values that do not fit and could not be dropped.
    pub(super) unfit: usize,
    pub(super) steps: usize,
    /// Of a value of the text, by index, and a schema, by address: the branch that the value fits,
    /// or that it fits none. What fits at once is not listed.
    pub(super) known: HashMap<(usize, usize), Option<usize>>,
}

pub(super) struct Coercer<'s> {
    index: Index<'s>,
    pub(super) changes: Vec<Coercion>,
    pub(super) path: String,
    /// The span of the string whose JSON is being read.
    pub(super) inside: Option<(usize, usize)>,
    pub(super) salvage: Option<Salvage>,
}

impl<'s> Coercer<'s> {
    // Recursion is bounded: every document is at most `MAX_DEPTH` deep.
    pub(super) fn value(&mut self, cursor: Cursor<'_>, schema: &'s Value, depth: usize) -> Value {
        if self.salvage.is_some() {
            return self.salvaged(cursor, schema, depth);
        }
        let schema = self.chosen(cursor, schema);
        self.typed(cursor, schema, depth)
    }

    /// The schema that stands behind references and choices.
    pub(super) fn chosen(&self, cursor: Cursor<'_>, schema: &'s Value) -> &'s Value {
        let mut schema = self.resolve(schema);
        for _ in 0..MAX_SCHEMAS {
            let Some(chosen) = self.choose(cursor, schema) else { break };
            schema = self.resolve(chosen);
        }
        schema
    }

    /// The value under a schema that is no reference and no choice.
    pub(super) fn typed(&mut self, cursor: Cursor<'_>, schema: &'s Value, depth: usize) -> Value {
        if let Some(value) = self.member_of_enum(cursor, schema) {
            return value;
        }
        let types = types(schema);
        let null = nullable(schema) && cursor.kind() == Kind::Null;
        if null || types.is_empty() || types.iter().any(|t| fits(cursor, t)) {
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
    pub(super) fn resolve(&self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..MAX_SCHEMAS {
            let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { break };
            match self.index.find(self.index.home(schema).unwrap_or(0), reference) {
                Ok(Found::Schema(found, _)) => schema = found,
                _ => break,
            }
        }
        schema
    }

    /// The branch of `anyOf`, `oneOf` or a single `allOf` that the value fits best: the one that
    /// the discriminator names, else the first whose type and constants fit, else the first whose
    /// type fits, else the first.
    fn choose(&self, cursor: Cursor<'_>, schema: &'s Value) -> Option<&'s Value> {
        if !types(schema).is_empty() {
            return None;
        }
        let branches =
            ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(key))?.elements();
        if let Some(named) = self.discriminated(cursor, schema) {
            return Some(named);
        }
        let typed = |branch: &&&Value| {
            let branch = self.resolve(branch);
            let types = types(branch);
            let null = nullable(branch) && cursor.kind() == Kind::Null;
            let typed = types.is_empty() || types.iter().any(|t| fits(cursor, t)) || null;
            typed && listed(cursor, branch)
        };
        let told = |branch: &&&Value| {
            let properties = self.resolve(branch).get("properties").map_or(&[][..], Value::members);
            properties.iter().all(|(name, schema)| {
                cursor.get(name).is_none_or(|inner| listed(inner, self.resolve(schema)))
            })
        };
        let best = branches.iter().find(|b| typed(&b) && told(&b));
        best.or_else(|| branches.iter().find(|b| typed(&b))).or_else(|| branches.first())
    }

    /// The branch that the value's own key names, as `discriminator` of OpenAPI maps it.
    fn discriminated(&self, cursor: Cursor<'_>, schema: &'s Value) -> Option<&'s Value> {
        let stated = schema.get("discriminator")?;
        let name = cursor.get(stated.get("propertyName")?.as_bytes()?)?;
        let known = stated.get("mapping")?.members();
        let reference = known.iter().find(|(known, _)| name.content_is(known))?.1.as_str()?;
        match self.index.find(self.index.home(schema).unwrap_or(0), reference) {
            Ok(Found::Schema(found, _)) => Some(found),
            _ => None,
        }
    }

    fn member_of_enum(&mut self, cursor: Cursor<'_>, schema: &'s Value) -> Option<Value> {
        let members = members(schema);
        if listed(cursor, schema) {
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
            (Kind::Number, "boolean") => match cursor.decimal()?.count()? {
                1 => (Code::CoercedBoolean, Value::Bool(true)),
                0 => (Code::CoercedBoolean, Value::Bool(false)),
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
            if self.salvage.is_some() {
                let kept = self.at("[0]", |c| c.kept_item(cursor, schema, 0, depth + 1));
                return Some(Value::Array(kept.into_iter().collect()));
            }
            let item = item_schema(schema, 0);
            let value = match item {
                Some(item) => self.at("[0]", |c| c.value(cursor, item, depth + 1)),
                None => Value::from_cursor(cursor),
            };
            return Some(Value::Array(vec![value]));
        }
        if wanted == "object" && cursor.kind() == Kind::Array && self.salvage.is_some() {
            return self.object_of_list(cursor, schema, depth);
        }
        None
    }

    pub(super) fn children(&mut self, cursor: Cursor<'_>, schema: &'s Value) -> Value {
        match cursor.kind() {
            Kind::Array => {
                let elements = cursor.elements().enumerate();
                let values = elements.filter_map(|(i, element)| {
                    let step = format!("[{i}]");
                    if self.salvage.is_some() {
                        return self.at(&step, |c| c.kept_item(element, schema, i, 0));
                    }
                    Some(match item_schema(schema, i) {
                        Some(item) => self.at(&step, |c| c.value(element, item, 0)),
                        None => Value::from_cursor(element),
                    })
                });
                Value::Array(values.collect())
            }
            Kind::Object => {
                let members = members_once(cursor).into_iter().filter_map(|(key, value)| {
                    let name = key.content().into_owned();
                    let step = format!(".{}", String::from_utf8_lossy(&name));
                    let value = match property(schema, &name) {
                        Some(inner) => self.at(&step, |c| c.value(value, inner, 0)),
                        None if self.salvage.is_some() && closed(schema) => {
                            self.at(&step, |c| c.note(Code::UnfitKey, key));
                            return None;
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

    pub(super) fn at<T>(&mut self, step: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let len = self.path.len();
        self.path.push_str(step);
        let result = work(self);
        self.path.truncate(len);
        result
    }

    pub(super) fn note(&mut self, code: Code, cursor: Cursor<'_>) {
        let (start, end) = self.inside.unwrap_or_else(|| span(cursor));
        self.changes.push(Coercion {
            diagnostic: Diagnostic::new(code, start, end),
            path: self.path.clone(),
        });
    }
}

fn span(cursor: Cursor<'_>) -> (usize, usize) {
    let opener = || cursor.start().map(|start| (start, start + 1));
    cursor.text_span().or_else(opener).unwrap_or((0, 0))
}

/// The scalar types that a schema names, and the containers.
pub(super) fn types(schema: &Value) -> Vec<&str> {
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
    Type::named(wanted.as_bytes()).is_some_and(|kind| kind.accepts(cursor))
}

pub(super) fn nullable(schema: &Value) -> bool {
    schema.get("nullable") == Some(&Value::Bool(true))
}

/// The values that a schema lists: its constant, or those of its enum.
pub(super) fn members(schema: &Value) -> &[Value] {
    let constant = schema.get("const").map(std::slice::from_ref);
    constant.unwrap_or_else(|| schema.get("enum").map_or(&[][..], Value::elements))
}

/// True where a schema lists the value, or none.
pub(super) fn listed(cursor: Cursor<'_>, schema: &Value) -> bool {
    let members = members(schema);
    members.is_empty() || members.iter().any(|member| same(cursor, member))
}

fn same(cursor: Cursor<'_>, value: &Value) -> bool {
    same_value(cursor, Document::from_value(value).root())
}

/// The schema of a member; where several patterns match, the first.
fn property<'s>(schema: &'s Value, name: &[u8]) -> Option<&'s Value> {
    let members = |key: &str| schema.get(key).map_or(&[][..], Value::members);
    let declared = members("properties").iter().find(|(key, _)| key == name);
    let matched = || {
        members("patternProperties").iter().find(|(pattern, _)| {
            Pattern::new(pattern, false).is_ok_and(|pattern| pattern.test(name).0 == Ok(true))
        })
    };
    let found = declared.or_else(matched).map(|(_, inner)| inner);
    found.or_else(|| schema.get("additionalProperties").filter(|s| s.is_object()))
}

/// True for an object that may have no other keys than those that its schema names.
fn closed(schema: &Value) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
}

pub(super) fn item_schema(schema: &Value, index: usize) -> Option<&Value> {
    let (prefix, rest) = match schema.get("items") {
        Some(Value::Array(list)) => (&list[..], schema.get("additionalItems")),
        items => (schema.get("prefixItems").map_or(&[][..], Value::elements), items),
    };
    prefix.get(index).or_else(|| rest.filter(|s| s.is_object()))
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
    let document = parse(plain.as_bytes()).ok()?;
    (document.root().kind() == Kind::Number).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, schema: &str) -> (String, Vec<(&'static str, String)>) {
        let document = parse(text.as_bytes()).unwrap();
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
