//! Random small patterns and texts, answered by Node where it is on the path.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::rows::Row;
use crate::tables::difference;

/// Patterns of a run, unless `SCOREGATE_RANDOM_PATTERNS` says how many.
const PATTERNS: u32 = 3_000;

fn setting(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn random_patterns_have_nodes_answer() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/js_regex_node.mjs");
    let patterns = setting("SCOREGATE_RANDOM_PATTERNS").unwrap_or(PATTERNS);
    let seed = setting("SCOREGATE_RANDOM_SEED").unwrap_or(20);
    let node = Command::new("node")
        .args([script, "random", &patterns.to_string(), &seed.to_string()])
        .stdout(Stdio::piped())
        .spawn();
    let mut node = match node {
        Ok(node) => node,
        Err(error) => {
            let required = std::env::var("SCOREGATE_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|tool| tool == "node"), "node: {error}");
            eprintln!("skipped: node cannot be run ({error})");
            return;
        }
    };
    let mut found = Vec::new();
    let mut count = 0;
    for line in BufReader::new(node.stdout.take().unwrap()).lines() {
        let row = Row::parse(format!("random {count}"), &line.unwrap());
        found.extend(difference(&row));
        count += 1;
    }
    node.wait().unwrap();
    eprintln!("{count} rows");
    assert!(count >= patterns, "node wrote {count} rows");
    let shown = found.iter().take(60).cloned().collect::<Vec<_>>().join("\n");
    assert!(found.is_empty(), "{} of {count} rows differ:\n{shown}", found.len());
}
