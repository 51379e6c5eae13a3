//! Properties: no input panics, overflows the stack or takes more than linear time.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use proptest::prelude::*;
use scoregate::gate::{evaluate_scorer, score_shape_errors};
use scoregate::json::{Document, Kind, Value, extract, parse};
use scoregate::text::wtf8;
use scoregate::{Gate, Options, Row, Target, Verdict};

const GATE: &[u8] = br#"{"scorers": [
    {"type": "exact-match", "value": "x"},
    {"type": "contains", "value": "\"status\""},
    {"type": "regex", "pattern": "\"status\"\\s*:\\s*\"success\""},
    {"type": "json-schema", "schema": {"type": "object", "required": ["status"]}},
    {"type": "json-schema", "schema": {"type": "object", "minProperties": 1}},
    {"type": "length-range", "min": 5, "max": 5000},
    {"type": "length-range", "max": 50, "unit": "grapheme"},
    {"type": "length-range", "max": 50, "unit": "word"}],
    "combine": "weighted", "weights": [1, 1, 1, 1, 1, 1, 1, 1], "threshold": 0.5}"#;

fn gate() -> Gate {
    Gate::from_json(GATE, Options::default()).unwrap()
}

/// Generalised UTF-8 from UTF-16 units, made WTF-8: any text that Python or JavaScript can hold.
fn text_of(units: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for unit in char::decode_utf16(units.iter().copied()) {
        match unit {
            Ok(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(lone) => {
                let unit = lone.unpaired_surrogate();
                let [high, low] = unit.to_be_bytes();
                bytes.extend([0xED, 0x80 | (high & 0x0F) << 2 | low >> 6, 0x80 | low & 0x3F]);
            }
        }
    }
    wtf8(bytes)
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let unit = prop_oneof![
        4 => prop::sample::select("{}[]\",:\\`'ntrue0123e-. \nstau".encode_utf16().collect::<Vec<_>>()),
        1 => any::<u16>(),
        1 => 0xD800u16..0xE000,
    ];
    prop::collection::vec(unit, 0..200).prop_map(|units| text_of(&units))
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        prop::num::f64::NORMAL.prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in any_text()) {
        let result = gate().score(&Target::from_wtf8(&text), &Row::empty());
        prop_assert_eq!(result.results.len(), 8);
        for found in &result.results {
            prop_assert!((0.0..=1.0).contains(&found.outcome.score));
            prop_assert_eq!(found.outcome.passed, found.outcome.detail.is_none());
        }
        prop_assert_eq!(result, gate().score(&Target::from_wtf8(&text), &Row::empty()));
    }

    #[test]
    fn lengths_are_those_of_utf16(units in prop::collection::vec(any::<u16>(), 0..100)) {
        let text = text_of(&units);
        let target = Target::from_wtf8(&text);
        prop_assert_eq!(target.utf16_len(), units.len());
        // In CESU-8 each unit starts with one byte that is no continuation.
        let starts = target.cesu8().iter().filter(|&&b| b & 0xC0 != 0x80).count();
        prop_assert_eq!(starts, units.len());
    }

    #[test]
    fn contains_is_by_units(units in prop::collection::vec(prop_oneof![Just(0x61u16), Just(0xD83D), Just(0xDE00)], 0..12), from in 0usize..12, len in 0usize..4) {
        let from = from.min(units.len());
        let part = &units[from..(from + len).min(units.len())];
        let value = Value::String(text_of(part));
        let spec = Value::Object(vec![(b"type".to_vec(), Value::string("contains")), (b"value".to_vec(), value)]);
        let text = text_of(&units);
        prop_assert!(evaluate_scorer(&spec, 0, &Target::from_wtf8(&text), &Row::empty()).outcome.passed);
    }

    #[test]
    fn strict_json_agrees_with_serde_json(text in any_text()) {
        let Ok(utf8) = std::str::from_utf8(&text) else { return Ok(()) };
        let mine = parse(&text).ok().map(|d| Value::from_cursor(d.root()).to_json());
        // serde_json alone refuses lone surrogates in escapes.
        if !utf8.contains("\\u") {
            let its = serde_json::from_str::<serde_json::Value>(utf8).ok();
            prop_assert_eq!(mine.is_some(), its.is_some(), "{}", utf8);
        }
    }

    #[test]
    fn documents_keep_their_value(value in any_json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.unwrap();
        let found = Value::from_cursor(parse(text.as_bytes()).unwrap().root());
        let back: serde_json::Value = serde_json::from_str(&found.to_json()).unwrap();
        prop_assert_eq!(&back, &value);
        let again = Document::from_value(&found);
        prop_assert_eq!(Value::from_cursor(again.root()), found);
        let fenced = format!("Here it is:\n\n```json\n{text}\n```\nDone.");
        if !text.contains("```") {
            prop_assert!(extract(fenced.as_bytes()).is_some());
        }
    }

    #[test]
    fn no_block_panics(value in any_json()) {
        let text = value.to_string();
        let spec = Value::parse(text.as_bytes()).unwrap();
        let errors = score_shape_errors(&spec, "score");
        prop_assert_eq!(errors.is_empty(), Gate::new(&spec, Options::default()).is_ok());
        evaluate_scorer(&spec, 0, &Target::new("x"), &Row::empty());
    }
}

#[test]
fn every_prefix_of_the_demo_outputs_is_scored() {
    let gate = gate();
    let outputs = include_str!("../../examples/outputs.jsonl");
    let mut seen = 0;
    for line in outputs.lines() {
        let row = Value::parse(line.as_bytes()).unwrap();
        let text = row.get("output").and_then(Value::as_bytes).unwrap_or_default();
        for end in 0..=text.len() {
            // A cut inside a character leaves no text; what is whole is scored.
            if let Ok(prefix) = std::str::from_utf8(&text[..end]) {
                let result = gate.score(&Target::new(prefix), &Row::empty());
                assert_ne!(result.decision.verdict, Verdict::Undecided);
                seen += 1;
            }
        }
    }
    assert!(seen > 5_000, "{seen}");
}

#[test]
fn brackets_and_big_texts_end_well() {
    let gate = gate();
    for text in ["[".repeat(100_000), "{\"a\":".repeat(100_000), "[".repeat(512) + &"]".repeat(512)]
    {
        gate.score(&Target::new(&text), &Row::empty());
    }
    let big = "x é 漢 😀 \"status\": ".repeat(50 * 1024 * 1024 / 24);
    let small = r#"{"scorers": [{"type": "contains", "value": "nowhere"}, {"type": "length-range", "min": 1}, {"type": "json-schema", "schema": {}}]}"#;
    let small = Gate::from_json(small.as_bytes(), Options::default()).unwrap();
    let result = small.score(&Target::new(&big), &Row::empty());
    let passed: Vec<bool> = result.results.iter().map(|r| r.outcome.passed).collect();
    assert_eq!(passed, [false, true, false]);
}

/// The validator recurses on the depth of a document: the deepest that is read must fit the stack
/// that Python's threads and ours have.
#[test]
fn the_deepest_document_fits_a_small_stack() {
    let deep = |n: usize| format!("{}{}", "{\"a\":[".repeat(n / 2), "]}".repeat(n / 2));
    let schema = r##"{"scorers": [{"type": "json-schema", "schema": {"$ref": "#/$defs/n", "$defs": {"n":
        {"anyOf": [{"type": "object", "additionalProperties": {"$ref": "#/$defs/n"}}, {"type": "array", "items": {"$ref": "#/$defs/n"}}]}}}}]}"##;
    let run = move || {
        let gate = Gate::from_json(schema.as_bytes(), Options::default()).unwrap();
        let text = deep(512);
        let result = gate.score(&Target::new(&text), &Row::empty());
        assert!(result.results[0].outcome.passed, "{:?}", result.results[0].outcome.detail);
    };
    std::thread::Builder::new().stack_size(8 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    for schema in [
        r##"{"$ref": "#"}"##,
        r##"{"allOf": [{"$ref": "#"}]}"##,
        r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
        r##"{"$dynamicRef": "#x", "$dynamicAnchor": "x"}"##,
        r#"{"$ref": "https://example.com/schema.json"}"#,
        r#"{"$ref": "file:///etc/passwd"}"#,
        r#"{"$schema": "https://example.com/none", "minimum": 1}"#,
    ] {
        let spec =
            format!("{{\"scorers\": [{{\"type\": \"json-schema\", \"schema\": {schema}}}]}}");
        let gate = Gate::from_json(spec.as_bytes(), Options::default()).unwrap();
        gate.score(&Target::new("{\"a\": [1]}"), &Row::empty());
    }
}

#[test]
fn a_gate_that_is_too_deep_is_refused() {
    let mut spec = Value::Null;
    for _ in 0..600 {
        spec = Value::Array(vec![spec]);
    }
    let error = Gate::new(&spec, Options::default()).err().unwrap();
    assert_eq!(error.errors(), ["score: nested deeper than 512 levels"]);
    let text = "[".repeat(10_000) + &"]".repeat(10_000);
    let error = Gate::from_json(text.as_bytes(), Options::default()).err().unwrap();
    assert_eq!(error.errors(), ["score: not JSON: nested deeper than 512 levels at byte 512"]);
    // Dropping a deep tree is the caller's: the parser never builds one.
    assert_eq!(parse(b"[1]").unwrap().root().kind(), Kind::Array);
}
