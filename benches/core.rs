//! The core alone, without Python: `cargo bench`, or `cargo bench -- json` for names with `json`.
//!
//! Each line is the median over rounds of about 5 ms. It needs no bench library, so `cargo test`
//! builds nothing for it.

#![allow(clippy::print_stdout)] // a program that prints a table

use std::hint::black_box;
use std::time::{Duration, Instant};

use scoregate::batch::{LineOptions, LineScorer, Shown, Supplied, Watch, Workers};
use scoregate::contract::AnySchema;
use scoregate::json::{Value, extract, parse, quote};
use scoregate::{Gate, Options, Row, Target};

const GATE: &str = r#"{
  "scorers": [
    {"type": "contains", "value": "\"status\""},
    {"type": "regex", "pattern": "\"status\"\\s*:\\s*\"success\""},
    {"type": "json-schema", "schema": {"type": "object", "required": ["status", "data"],
      "properties": {"status": {"enum": ["success", "error"]}, "data": {"type": "object"}}}},
    {"type": "length-range", "min": 50, "max": 5000}
  ],
  "combine": "weighted", "weights": [0.2, 0.3, 0.4, 0.1], "threshold": 0.7
}"#;

/// A response of an API, as a model writes it.
fn answer() -> String {
    let item = |i: u32| {
        format!(
            r#"{{"id": {i}, "title": "The parser reads the report", "score": {i}.25, "tags": ["index", "queue"], "note": null}}"#
        )
    };
    let items: Vec<String> = (0..6).map(item).collect();
    format!(r#"{{"status": "success", "data": {{"items": [{}], "count": 6}}}}"#, items.join(", "))
}

fn texts() -> [(&'static str, String); 4] {
    let json = answer();
    let prose = "The report lists the rows, and the queue holds what is left. ".repeat(10);
    [
        ("json", json.clone()),
        ("fence", format!("{prose}\n\n```json\n{json}\n```\n{prose}")),
        ("broken", json[..json.len() - 1].to_owned()),
        ("prose", format!("{prose}\n\nVERDICT: PASS 通过 ✅")),
    ]
}

/// How long a round takes, at least.
const ROUND: Duration = Duration::from_millis(5);
const ROUNDS: usize = 61;

/// Times one thing and prints a line.
fn time<R>(name: &str, bytes: usize, mut work: impl FnMut() -> R) {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
        return;
    }
    let mut round = |count: u32| {
        let start = Instant::now();
        for _ in 0..count {
            black_box(work());
        }
        start.elapsed()
    };
    let mut count = 1;
    while round(count) < ROUND {
        count *= 2;
    }
    let mut spent: Vec<Duration> = (0..ROUNDS).map(|_| round(count) / count).collect();
    spent.sort();
    let median = spent[ROUNDS / 2];
    let rate = bytes as f64 / median.as_secs_f64() / 1e6;
    println!("{name:<16} {:>9.2} µs {rate:>9.0} MB/s", median.as_secs_f64() * 1e6);
}

fn main() {
    if cfg!(debug_assertions) {
        println!("this is a debug build, whose times mean nothing: cargo bench");
        return;
    }
    let gate = Gate::from_json(GATE.as_bytes(), Options::default()).expect("the gate builds");
    let spec = Value::parse(GATE.as_bytes()).expect("the gate is JSON");
    let schema = spec.get("scorers").and_then(|list| list.elements()[2].get("schema").cloned());
    let contract = AnySchema::new(&schema.expect("the third scorer has a schema"), false);
    let json = answer();
    let document = parse(json.as_bytes()).expect("the answer is JSON");
    time("parse", json.len(), || parse(black_box(json.as_bytes())).is_ok());
    time("contract", json.len(), || contract.holds(black_box(document.root())));
    for (name, text) in texts() {
        time(&format!("extract {name}"), text.len(), || {
            extract(black_box(text.as_bytes())).is_some()
        });
        let mut outcomes = Vec::new();
        time(&format!("gate {name}"), text.len(), || {
            let target = Target::new(black_box(&text));
            gate.outcomes(&target, &Row::empty(), &|_| None, &mut outcomes);
            gate.decide(&outcomes).combined
        });
    }
    time_lines(&gate);
}

/// JSON lines, 64 of each text.
fn time_lines(gate: &Gate) {
    let mut block = String::new();
    for (i, (_, text)) in texts().iter().cycle().take(256).enumerate() {
        block.push_str(&format!("{{\"id\": {i}, \"output\": {}}}\n", quote(text.as_bytes())));
    }
    let options = LineOptions {
        field: "output".into(),
        id_field: "id".into(),
        shown: Shown::Failed,
        max_line: 1 << 20,
        keep_raw: true,
    };
    let mut idle = || false;
    let watch = Watch::new(&mut idle);
    let workers = Workers::new(1, &watch);
    time("lines, 256 rows", block.len(), || {
        let mut scorer = LineScorer::new(options.clone(), gate.scorers().len());
        scorer.feed(
            gate,
            black_box(block.as_bytes()),
            true,
            u64::MAX,
            Supplied::default(),
            &workers,
        )
    });
}
