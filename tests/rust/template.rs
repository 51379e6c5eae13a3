//! The rows of interpolation and conditions, run on the core, and bounds.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use proptest::prelude::*;
use scoregate::json::Value;
use scoregate::template::{
    Context, MAX_BYTES, Step, TooLong, condition_references, evaluate_condition, interpolate,
    references,
};

fn rows(table: &str, function: &str) -> Vec<(Value, String)> {
    let rows = table.split('\n').filter(|line| !line.is_empty());
    let parsed = rows.map(|line| (Value::parse(line.as_bytes()).unwrap(), line.to_owned()));
    parsed.filter(|(row, _)| row.get("fn").unwrap().as_str() == Some(function)).collect()
}

const GIVEN: &str = include_str!("../data/gate_vectors.jsonl");
const OWN: &str = include_str!("../data/template.jsonl");

fn text(value: Option<&Value>) -> Option<Vec<u8>> {
    value.and_then(Value::as_bytes).map(<[u8]>::to_vec)
}

fn context(value: &Value) -> Context {
    let object = |key| value.get(key).cloned().unwrap_or(Value::Object(Vec::new()));
    let step = |step: &Value| Step::new(text(step.get("output")), step.get("json").cloned());
    let steps: HashMap<Vec<u8>, Step> =
        object("steps").members().iter().map(|(id, s)| (id.clone(), step(s))).collect();
    Context::new(object("args"), steps, text(value.get("previousOutput")), object("locals"))
}

fn check_interpolations(table: &str) {
    for (row, line) in rows(table, "interpolate") {
        let args = row.get("args").unwrap().elements();
        let found = interpolate(args[0].as_bytes().unwrap(), &context(&args[1])).unwrap();
        let out = row.get("out").unwrap();
        assert_eq!(Some(&found.text[..]), out.get("text").unwrap().as_bytes(), "{line}");
        let missing: Vec<_> =
            out.get("missing").unwrap().elements().iter().map(|v| text(Some(v)).unwrap()).collect();
        assert_eq!(found.missing, missing, "{line}");
    }
}

fn check_conditions(table: &str) {
    for (row, line) in rows(table, "evaluate_condition") {
        let args = row.get("args").unwrap().elements();
        let found = evaluate_condition(args[0].as_bytes().unwrap(), &context(&args[1]));
        let out = row.get("out").unwrap();
        assert_eq!(Some(found.value), out.get("value").unwrap().as_bool(), "{line}");
        assert_eq!(found.error.is_some(), out.get("error").is_some(), "{line}: {found:?}");
    }
}

#[test]
fn interpolations() {
    assert_eq!(rows(GIVEN, "interpolate").len(), 35);
    check_interpolations(GIVEN);
    check_interpolations(OWN);
}

#[test]
fn conditions() {
    assert_eq!(rows(GIVEN, "evaluate_condition").len(), 26);
    check_conditions(GIVEN);
    check_conditions(OWN);
}

#[test]
fn what_would_be_too_long_is_refused() {
    let chunk = Value::String(vec![b'x'; MAX_BYTES / 4]);
    let args = Value::Object(vec![(b"a".to_vec(), chunk)]);
    let context = Context::new(args, HashMap::new(), None, Value::Object(Vec::new()));
    assert!(interpolate("{args.a}".repeat(4).as_bytes(), &context).is_ok());
    assert_eq!(interpolate("{args.a}".repeat(5).as_bytes(), &context), Err(TooLong));
    let many = ["{args.a} == x"; 5].join(" || ");
    assert!(evaluate_condition(many.as_bytes(), &context).error.is_some());
}

#[test]
fn hostile_templates_stay_linear() {
    let context = Context::default();
    for unit in ["{", "{a", "{a.", "{args.a", "}", "{}", "{a}", "{a.b.c"] {
        let template = unit.repeat(1_000_000 / unit.len());
        let found = interpolate(template.as_bytes(), &context).unwrap();
        assert_eq!(found.text, template.as_bytes());
        assert_eq!(references(template.as_bytes()), found.missing);
        evaluate_condition(template.as_bytes(), &context);
        condition_references(template.as_bytes());
    }
}

proptest! {
    #[test]
    fn no_text_panics(template in "[{}a-c.\"'()|&=!<>0-9 \\\\-]{0,40}") {
        let found = interpolate(template.as_bytes(), &Context::default()).unwrap();
        prop_assert_eq!(found.text, template.as_bytes());
        let said = evaluate_condition(template.as_bytes(), &Context::default());
        prop_assert!(said.value || said.error.is_none());
        let named = condition_references(template.as_bytes());
        prop_assert!(said.missing.len() <= named.len());
    }
}
