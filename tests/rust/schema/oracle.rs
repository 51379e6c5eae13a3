//! Schemas and values made at random: the crate `jsonschema` agrees, and the scorer with coercion.

use proptest::prelude::*;
use scoregate::contract::{AnySchema, Schema, coerce};
use scoregate::gate::evaluate_scorer;
use scoregate::json::{Document, RepairOptions, Value, parse, repair};
use scoregate::{Row, Target};
use serde_json::{Value as Tree, json};

fn value() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Into::into),
        (-3i64..4).prop_map(Into::into),
        prop::sample::select(vec![json!(1.0), json!(0.5), json!(1e2)]),
        prop::sample::select(vec!["", "a", "b", "ab", "1", "true"]).prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|members| Tree::Object(members.into_iter().collect())),
        ]
    })
}

fn schema() -> impl Strategy<Value = Tree> {
    let types = ["object", "array", "string", "number", "integer", "boolean", "null"];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Into::into),
        prop::sample::select(types.to_vec()).prop_map(|kind| json!({"type": kind})),
        prop::sample::subsequence(types.to_vec(), 1..4).prop_map(|kinds| json!({"type": kinds})),
        value().prop_map(|value| json!({"const": value})),
        prop::collection::vec(value(), 1..4).prop_map(|values| json!({"enum": values})),
        (-3i64..4, -3i64..4).prop_map(|(a, b)| json!({"minimum": a, "exclusiveMaximum": b})),
        (1u32..4).prop_map(|n| json!({"multipleOf": f64::from(n) / 2.0})),
        (0u32..3, 0u32..3).prop_map(|(a, b)| json!({"minLength": a, "maxLength": b})),
        (0u32..3).prop_map(|n| json!({"maxItems": n, "minProperties": n, "uniqueItems": true})),
        Just(json!({"pattern": "^a|1$", "required": ["a"]})),
        Just(json!({"dependentRequired": {"a": ["b"]}})),
        Just(json!({"$ref": "#/$defs/other"})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        let one = || inner.clone();
        prop_oneof![
            (list(), prop::sample::select(vec!["allOf", "anyOf", "oneOf"]))
                .prop_map(|(list, key)| json!({key: list})),
            one().prop_map(|inner| json!({"not": inner})),
            (one(), one(), one()).prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            (one(), one(), one()).prop_map(|(a, b, c)| {
                json!({"properties": {"a": a}, "patternProperties": {"^b": b}, "additionalProperties": c})
            }),
            (list(), one()).prop_map(|(list, inner)| json!({"prefixItems": list, "items": inner})),
            (one(), 0u32..2, 1u32..3)
                .prop_map(|(a, min, max)| json!({"contains": a, "minContains": min, "maxContains": max})),
            one().prop_map(|inner| json!({"propertyNames": inner})),
            one().prop_map(|inner| json!({"dependentSchemas": {"a": inner}})),
            (list(), one(), prop::sample::select(vec!["unevaluatedProperties", "unevaluatedItems"]))
                .prop_map(|(list, inner, key)| json!({"anyOf": list, key: inner, "properties": {"c": true}})),
        ]
    })
}

fn read(tree: &Tree) -> Value {
    Value::parse(tree.to_string().as_bytes()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_oracle_agrees(schema in schema(), other in schema(), values in prop::collection::vec(value(), 1..5)) {
        // A reference within the second schema would name itself.
        let other = if other.to_string().contains("$ref") { json!({"type": "string"}) } else { other };
        let schema = json!({"allOf": [schema], "$defs": {"other": other}});
        let oracle = jsonschema::validator_for(&schema).unwrap();
        let ours = Schema::new(&read(&schema), false).unwrap();
        for value in values {
            let text = value.to_string();
            let document = parse(text.as_bytes()).unwrap();
            let found = ours.violations(document.root());
            prop_assert_eq!(oracle.is_valid(&value), found.is_empty(), "{} {} {:?}", schema, value, found);
            prop_assert_eq!(ours.holds(document.root()), found.is_empty());
        }
    }

    #[test]
    fn a_coercing_scorer_reads_values_as_coercion_does(schema in schema(), value in value(), cut in 0usize..4) {
        let schema = json!({"anyOf": [schema], "$defs": {"other": {"type": "boolean"}}});
        let mut text = value.to_string();
        text.truncate(text.len().saturating_sub(cut));
        let spec = json!({"type": "json-schema", "schema": schema, "coerce": true, "repair": true});
        let scored = evaluate_scorer(&read(&spec), 0, &Target::new(&text), &Row::empty()).outcome;
        let schema = read(&schema);
        let fits = repair(text.as_bytes(), &RepairOptions::default()).result.is_ok_and(|document| {
            let coerced = Document::from_value(&coerce(&document, &schema).value);
            AnySchema::new(&schema, false).holds(coerced.root())
        });
        prop_assert_eq!(scored.passed, fits, "{:?}", scored.detail);
    }
}
