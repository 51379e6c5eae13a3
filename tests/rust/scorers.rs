//! The table of each scorer type, run on the core. Python runs the same rows.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use scoregate::gate::{evaluate_scorer, score_shape_errors};
use scoregate::json::Value;
use scoregate::scorers::REGISTRY;
use scoregate::{Gate, Options, Row, Target};

fn table(kind: &str) -> Vec<Value> {
    let path = format!("{}/tests/data/scorers/{kind}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{kind} has no {path}"));
    text.lines().map(|line| Value::parse(line.as_bytes()).unwrap()).collect()
}

#[test]
fn every_type_has_a_table_with_every_kind_of_row() {
    for entry in REGISTRY {
        let rows = table(entry.name);
        let passed = |row: &Value| row.get("passed").and_then(Value::as_bool);
        assert!(entry.impure || rows.iter().any(|r| passed(r) == Some(true)), "{}", entry.name);
        assert!(entry.impure || rows.iter().any(|r| passed(r) == Some(false)), "{}", entry.name);
        assert!(rows.iter().any(|row| row.get("errors").is_some()), "{}", entry.name);
    }
}

#[test]
fn rows_hold() {
    for entry in REGISTRY {
        for row in table(entry.name) {
            let name = row.get("name").unwrap().as_str().unwrap().to_owned();
            let name = format!("{}: {name}", entry.name);
            let spec = row.get("spec").unwrap();
            let block =
                Value::Object(vec![(b"scorers".to_vec(), Value::Array(vec![spec.clone()]))]);
            let errors = score_shape_errors(&block, "score");
            if let Some(wanted) = row.get("errors") {
                let wanted: Vec<&str> =
                    wanted.elements().iter().map(|e| e.as_str().unwrap()).collect();
                assert_eq!(errors, wanted, "{name}");
                continue;
            }
            assert_eq!(errors, Vec::<String>::new(), "{name}");
            let fields = row.get("row").map_or_else(Row::empty, Row::from_value);
            let target = Target::from_wtf8(row.get("text").unwrap().as_bytes().unwrap());
            let found = evaluate_scorer(spec, 0, &target, &fields).outcome;
            let passed = row.get("passed").unwrap().as_bool().unwrap();
            let score = row.get("score").and_then(Value::as_f64);
            assert_eq!(found.passed, passed, "{name}: {:?}", found.detail);
            assert_eq!(found.score, score.unwrap_or(f64::from(u8::from(passed))), "{name}");
            if let Some(detail) = row.get("detail") {
                assert_eq!(found.detail.as_deref(), detail.as_str(), "{name}");
            }
            assert_eq!(found.detail.is_none(), passed, "{name}");
        }
    }
}

#[test]
fn examples_build_and_their_texts_pass_and_fail() {
    for entry in REGISTRY {
        let block = format!("{{\"scorers\": [{}]}}", entry.example);
        let gate = Gate::from_json(block.as_bytes(), Options::default()).unwrap();
        for (text, wanted) in [(entry.passes, true), (entry.fails, false)] {
            let found = gate.score(&Target::new(text), &Row::empty());
            let passed = found.results[0].outcome.passed;
            // What the runtime is to supply fails without it.
            assert_eq!(passed, wanted && !entry.impure, "{}: {text}", entry.name);
        }
        for field in entry.fields {
            let schema = Value::parse(field.shape.schema().as_bytes()).unwrap();
            assert!(schema.is_object(), "{}", field.name);
            assert!(!field.doc.is_empty() && !field.shape.words().is_empty(), "{}", field.name);
        }
    }
    let schema = Value::parse(scoregate::gate::gate_schema().as_bytes()).unwrap();
    assert!(schema.get("properties").unwrap().get("scorers").is_some());
}
