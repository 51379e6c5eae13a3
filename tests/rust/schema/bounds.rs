//! Work on schemas is bounded: steps are counted, and a spent budget is a violation that says so.

use scoregate::contract::Schema;
use scoregate::json::{Value, parse};

fn schema(text: &str) -> Schema {
    Schema::new(&Value::parse(text.as_bytes()).unwrap(), false).unwrap()
}

fn run(schema: &Schema, text: &str) -> (Vec<String>, u64) {
    schema.violations_counted(parse(text.as_bytes()).unwrap().root())
}

/// A tree of filters, each `and` or `or` of others, or a leaf.
const FILTER: &str = r##"{"$ref": "#/$defs/f", "$defs": {"f": {"KEYWORD": [
    {"type": "object", "required": ["and"], "properties": {"and": {"items": {"$ref": "#/$defs/f"}}}},
    {"type": "object", "required": ["or"], "properties": {"or": {"items": {"$ref": "#/$defs/f"}}}},
    {"type": "object", "required": ["and"], "properties": {"and": {"type": "array", "items": {"$ref": "#/$defs/f"}}}},
    {"type": "string"}]}}}"##;

#[test]
fn a_recursive_schema_takes_steps_for_each_schema_and_value_once() {
    for keyword in ["oneOf", "anyOf"] {
        let schema = schema(&FILTER.replace("KEYWORD", keyword));
        let steps = |depth: usize| {
            let text = r#"{"and":["#.repeat(depth) + "7" + &"]}".repeat(depth);
            let (found, steps) = run(&schema, &text);
            assert!(!found.is_empty() && found.len() <= 8, "{found:?}");
            assert!(!found[0].contains("steps"), "{found:?}");
            steps
        };
        let (twenty, forty) = (steps(20), steps(40));
        assert!(forty < 3 * twenty && forty < 10_000, "{keyword}: {twenty}, {forty}");
    }
}

#[test]
fn chained_schemas_that_use_the_one_before_twice() {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let mut defs = String::from(r#""d0": {"type": "integer"}"#);
        for i in 1..=60 {
            let before = format!(r##"{{"$ref": "#/$defs/d{}"}}"##, i - 1);
            defs += &format!(r#", "d{i}": {{"{keyword}": [{before}, {before}]}}"#);
        }
        let schema = schema(&format!(r##"{{"$ref": "#/$defs/d60", "$defs": {{{defs}}}}}"##));
        let (found, steps) = run(&schema, r#""x""#);
        assert!(!found.is_empty() && steps < 10_000, "{keyword}: {steps}, {found:?}");
    }
}

#[test]
fn nested_claims_on_what_is_left_over() {
    let mut text = String::from("{}");
    for _ in 0..60 {
        text = format!(r#"{{"allOf": [{text}], "unevaluatedProperties": {{"type": "integer"}}}}"#);
    }
    let (found, steps) = run(&schema(&text), r#"{"a": "x"}"#);
    assert!(!found.is_empty() && steps < 100_000, "{steps}, {found:?}");
}

#[test]
fn unique_items_are_told_by_hash() {
    let numbers: Vec<String> = (0..30_000).map(|i| format!("1{i:030}")).collect();
    let schema = schema(r#"{"uniqueItems": true}"#);
    let (found, steps) = run(&schema, &format!("[{}]", numbers.join(",")));
    assert_eq!(found, Vec::<String>::new());
    assert!(steps < 100_000, "{steps}");
    let (found, _) = run(&schema, &format!("[{},{}.0]", numbers.join(","), numbers[7]));
    assert_eq!(found, ["$: value has non-unique elements ([7] and [30000] are equal)"]);
}

#[test]
fn a_schema_that_never_ends_is_a_violation() {
    for text in [
        r##"{"$ref": "#"}"##,
        r##"{"not": {"$ref": "#"}}"##,
        r##"{"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
    ] {
        let schema = schema(text);
        let (found, _) = run(&schema, "1");
        assert_eq!(found, ["$: the schema refers to itself without end"], "{text}");
        assert!(!schema.holds(parse(b"1").unwrap().root()));
    }
}

#[test]
fn patterns_share_one_budget_over_a_text() {
    let schema = schema(r#"{"items": {"pattern": "^(?:(a+)+)\\1$"}, "type": "array"}"#);
    let hostile = format!("\"{}b\"", "a".repeat(40));
    let (found, _) = run(&schema, &format!("[{}]", vec![hostile; 200].join(",")));
    assert!(found.len() <= 8 && found.last().unwrap().starts_with("$: "), "{found:?}");
}

#[test]
fn schemas_nest_as_deep_as_documents() {
    let depth = 255;
    let text =
        r#"{"minProperties":0,"properties":{"a":"#.repeat(depth) + "{}" + &"}}".repeat(depth);
    let (found, _) = run(&schema(&text), r#"{"a":1}"#);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn patterns_of_strangers_are_refused_where_they_have_no_bound() {
    for text in [r#"{"pattern": "(a)\\1"}"#, r#"{"patternProperties": {"(a)\\1": true}}"#] {
        let value = Value::parse(text.as_bytes()).unwrap();
        assert!(Schema::new(&value, false).is_ok());
        assert!(Schema::new(&value, true).is_err_and(|e| e.contains("Backreferences")), "{text}");
    }
}

#[test]
fn multiples_of_long_numbers_are_exact_or_too_many_steps() {
    let long = "7".repeat(200);
    let divisor = schema(&format!(r#"{{"multipleOf": {long}}}"#));
    for (value, holds) in [(format!("{long}e5"), true), (format!("{long}1"), false)] {
        let (found, steps) = run(&divisor, &value);
        assert_eq!((found.is_empty(), steps < 10_000), (holds, true), "{found:?}");
    }
    let divisor = schema(&format!(r#"{{"multipleOf": {}}}"#, "7".repeat(100_000)));
    let (found, _) = run(&divisor, &"7".repeat(200_000));
    assert!(found.len() == 1 && found[0].contains("steps"), "{found:?}");
}
