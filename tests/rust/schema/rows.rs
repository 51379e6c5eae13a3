//! The rows of `tests/data/schema`: of each keyword, and of what differs between the drafts, the
//! values that fit and those that do not.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use scoregate::contract::AnySchema;
use scoregate::json::{Document, Value};

/// Values that a keyword has at least.
const LEAST: usize = 6;

#[test]
fn rows_of_keywords() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/schema/keywords.jsonl");
    let mut counts: HashMap<String, usize> = HashMap::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        let row = Value::parse(line.as_bytes()).unwrap();
        let keyword = row.get("keyword").unwrap().as_str().unwrap();
        let schema = AnySchema::new(row.get("schema").unwrap(), false);
        for (key, fits) in [("fits", true), ("unfit", false)] {
            for value in row.get(key).unwrap().elements() {
                let document = Document::from_value(value);
                let found = schema.violations(document.root());
                assert_eq!(found.is_empty(), fits, "{keyword}: {}: {found:?}", value.to_json());
                assert_eq!(schema.holds(document.root()), fits, "{keyword}: {}", value.to_json());
                *counts.entry(keyword.to_owned()).or_default() += 1;
            }
        }
    }
    assert!(counts.values().all(|&count| count >= LEAST), "{counts:?}");
}
