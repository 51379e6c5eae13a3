//! Contracts against an evaluator written from their definition: the bytes choose a contract and a
//! value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scoregate::contract::{AnySchema, Contract};
use scoregate::json::{Document, Value, parse};

const DEPTH: usize = 4;
const KEYS: [&str; 6] = ["a", "b", "c", "d", "é", ""];
const TYPES: [&str; 8] =
    ["object", "array", "string", "number", "integer", "boolean", "null", "unknown"];
/// The same numbers written in several ways.
const NUMBERS: [&str; 9] = ["0", "-0", "1", "1.0", "1e0", "1.5", "100", "1e2", "-3"];

struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn next(&mut self, below: usize) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first) % below
    }
}

fn value(choices: &mut Choices<'_>, depth: usize, out: &mut String) {
    match choices.next(if depth == 0 { 5 } else { 8 }) {
        0 => out.push_str("null"),
        1 => out.push_str(["true", "false"][choices.next(2)]),
        2 => out.push_str(NUMBERS[choices.next(NUMBERS.len())]),
        3 | 4 => out.push_str(["\"\"", "\"a\"", "\"\\u0061\"", "\"é\""][choices.next(4)]),
        5 => list(choices, out, "[", "]", 4, |choices, out, _| value(choices, depth - 1, out)),
        // Keys may come twice: the last one counts.
        _ => list(choices, out, "{", "}", 5, |choices, out, _| {
            out.push_str(&format!("\"{}\":", KEYS[choices.next(KEYS.len())]));
            value(choices, depth - 1, out);
        }),
    }
}

fn list(
    choices: &mut Choices<'_>,
    out: &mut String,
    left: &str,
    right: &str,
    below: usize,
    mut item: impl FnMut(&mut Choices<'_>, &mut String, usize),
) {
    out.push_str(left);
    for at in 0..choices.next(below) {
        if at > 0 {
            out.push(',');
        }
        item(choices, out, at);
    }
    out.push_str(right);
}

fn schema(choices: &mut Choices<'_>, depth: usize, out: &mut String) {
    let parts = choices.next(32);
    let mut first = true;
    let mut key = |out: &mut String, name: &str| {
        out.push_str(if std::mem::take(&mut first) { "{" } else { "," });
        out.push_str(&format!("\"{name}\":"));
    };
    if parts & 1 > 0 {
        key(out, "type");
        out.push_str(&format!("\"{}\"", TYPES[choices.next(TYPES.len())]));
    }
    if parts & 2 > 0 {
        key(out, "required");
        list(choices, out, "[", "]", 3, |choices, out, _| {
            out.push_str(&format!("\"{}\"", KEYS[choices.next(KEYS.len())]));
        });
    }
    if parts & 4 > 0 {
        key(out, "enum");
        list(choices, out, "[", "]", 4, |choices, out, _| value(choices, 2, out));
    }
    if parts & 8 > 0 && depth > 0 {
        key(out, "properties");
        let start = choices.next(KEYS.len());
        list(choices, out, "{", "}", 4, |choices, out, at| {
            out.push_str(&format!("\"{}\":", KEYS[(start + at) % KEYS.len()]));
            schema(choices, depth - 1, out);
        });
    }
    if parts & 16 > 0 && depth > 0 {
        key(out, "items");
        schema(choices, depth - 1, out);
    }
    out.push_str(if first { "{}" } else { "}" });
}

/// The value of a key, the last one where it comes twice.
fn last<'v>(value: &'v Value, key: &[u8]) -> Option<&'v Value> {
    value.members().iter().rev().find(|(k, _)| k == key).map(|(_, v)| v)
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(x), Value::Object(y)) => {
            let within = |members: &[(Vec<u8>, Value)], other: &Value, own: &Value| {
                members.iter().all(|(key, _)| match (last(own, key), last(other, key)) {
                    (Some(a), Some(b)) => same(a, b),
                    _ => false,
                })
            };
            within(x, b, a) && within(y, a, b)
        }
        _ => a == b,
    }
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => matches!(value, Value::Object(_)),
        "array" => matches!(value, Value::Array(_)),
        "string" => matches!(value, Value::String(_)),
        "number" => matches!(value, Value::Number(_)),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        "boolean" => matches!(value, Value::Bool(_)),
        "null" => matches!(value, Value::Null),
        _ => true,
    }
}

/// The definition, keyword by keyword.
fn holds(schema: &Value, value: &Value) -> bool {
    let named = schema.get("type").and_then(Value::as_str).filter(|n| *n != "unknown");
    let implied = || {
        if schema.get("properties").is_some() || schema.get("required").is_some() {
            Some("object")
        } else {
            schema.get("items").map(|_| "array")
        }
    };
    let literals = schema.get("enum").map(Value::elements).unwrap_or_default();
    let required = schema.get("required").map(Value::elements).unwrap_or_default();
    named.or_else(implied).is_none_or(|name| is_type(name, value))
        && (literals.is_empty() || literals.iter().any(|literal| same(literal, value)))
        && (!value.is_object()
            || required.iter().filter_map(Value::as_bytes).all(|key| last(value, key).is_some()))
        && schema
            .get("properties")
            .map(Value::members)
            .unwrap_or_default()
            .iter()
            .all(|(key, inner)| last(value, key).is_none_or(|found| holds(inner, found)))
        && schema
            .get("items")
            .is_none_or(|inner| value.elements().iter().all(|item| holds(inner, item)))
}

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let (mut schema_text, mut text) = (String::new(), String::new());
    schema(&mut choices, DEPTH, &mut schema_text);
    value(&mut choices, DEPTH, &mut text);
    let read = |text: &str| Value::parse(text.as_bytes()).expect("made text is JSON");
    let (schema, value) = (read(&schema_text), read(&text));
    let document: Document<'_> = parse(text.as_bytes()).expect("made text is JSON");
    let contract = Contract::new(&schema);
    let want = holds(&schema, &value);
    assert_eq!(contract.holds(document.root()), want, "{schema_text}\n{text}");
    let told = contract.violations(document.root(), "$");
    assert_eq!(told.is_empty(), want, "{schema_text}\n{text}\n{told:?}");
    assert_eq!(AnySchema::new(&schema).holds(document.root()), want, "{schema_text}\n{text}");
});
