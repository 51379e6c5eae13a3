//! Speed and exactness of strict parsing and repair over a generated corpus.
//!
//! ```text
//! cargo bench --bench json -- CORPUS.jsonl TRUTH.jsonl [--wrong K]
//! ```
//!
//! Times are CPU-bound wall times of one thread, the best of several runs; without files only the
//! hostile inputs run.

#![allow(clippy::print_stdout)]

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use scoregate::json::{self, Build, JsonStream, RepairOptions, Value};

struct Row {
    text: Vec<u8>,
    kind: String,
    truth: Value,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let wrong = args
        .iter()
        .position(|a| a == "--wrong")
        .and_then(|i| args.get(i + 1)?.parse().ok())
        .unwrap_or(0);
    if let [corpus, truth, ..] = args.as_slice() {
        corpus_speed(&rows(corpus, truth), wrong);
    }
    late_fault();
    streams();
    if !args.iter().any(|a| a == "--quick") {
        hostile();
    }
}

fn rows(corpus: &str, truth: &str) -> Vec<Row> {
    let read = |path: &str| fs::read(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let (corpus, truth) = (read(corpus), read(truth));
    let lines = |bytes: &[u8]| bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let mut rows = Vec::new();
    for (output, truth) in lines(&corpus).iter().zip(lines(&truth)).filter(|(l, _)| !l.is_empty()) {
        let output = Value::parse(output).expect("corpus line");
        let truth = Value::parse(&truth).expect("truth line");
        rows.push(Row {
            text: output.get("output").and_then(Value::as_bytes).expect("output").to_vec(),
            kind: truth.get("kind").and_then(Value::as_str).expect("kind").to_owned(),
            truth: truth.get("truth").expect("truth").clone(),
        });
    }
    rows
}

fn best(mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn corpus_speed(rows: &[Row], wrong: usize) {
    let options = RepairOptions { duplicates: false, ..RepairOptions::default() };
    for kind in ["clean", "fenced", "inline", "broken", "prose"] {
        let part: Vec<&Row> = rows.iter().filter(|r| r.kind == kind).collect();
        let bytes: usize = part.iter().map(|r| r.text.len()).sum();
        let mut right = 0;
        let mut shown = 0;
        for row in &part {
            let value =
                json::repair(&row.text, &options).result.ok().map(|d| Value::from_cursor(d.root()));
            let value = value.unwrap_or(Value::Null);
            if value.to_json()
                == Value::from_cursor(json::Document::from_value(&row.truth).root()).to_json()
            {
                right += 1;
            } else if shown < wrong {
                shown += 1;
                println!(
                    "WRONG {}\n got  {}\n want {}",
                    String::from_utf8_lossy(&row.text),
                    value.to_json(),
                    row.truth.to_json()
                );
            }
        }
        let repair = best(|| {
            for row in &part {
                black_box(json::repair(&row.text, &options).steps);
            }
        });
        let strict = best(|| {
            for row in &part {
                black_box(json::parse(&row.text).is_ok());
            }
        });
        let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
        println!(
            "{kind}: {} rows, {:.1} MB, {right} right, repair {:.0} MB/s, strict parse {:.0} MB/s",
            part.len(),
            bytes as f64 / 1e6,
            rate(repair),
            rate(strict)
        );
    }
}

/// A 100 kB document whose only fault is at its end.
fn late_fault() {
    let mut clean = String::from("[");
    while clean.len() < 100_000 {
        clean.push_str(
            "{\"id\": 12, \"name\": \"some words here\", \"ok\": true, \"list\": [1, 2.5, null]}, ",
        );
    }
    clean.push_str("{\"id\": 1}");
    let broken = format!("{clean},]");
    clean.push(']');
    let options = RepairOptions { duplicates: false, ..RepairOptions::default() };
    let time = |text: &str| best(|| drop(black_box(json::repair(text.as_bytes(), &options))));
    let (clean, broken) = (time(&clean), time(&broken));
    println!(
        "late fault: clean {:.0} µs, broken {:.0} µs, ratio {:.2}",
        clean * 1e6,
        broken * 1e6,
        broken / clean
    );
}

/// One megabyte in pieces of 1 kB, against one strict parse and build of the whole.
fn streams() {
    let string = format!("{{\"a\": \"{}\"}}", "some words, ".repeat(87_000));
    let escapes = format!("{{\"a\": \"{}\"}}", "some\\nwords\\u00e9 ".repeat(52_000));
    let many = format!("[{}1]", "{\"id\": 12, \"name\": \"x y\", \"ok\": true}, ".repeat(24_000));
    for (name, text) in
        [("one string", &string), ("one string with escapes", &escapes), ("many values", &many)]
    {
        let whole = best(|| {
            let mut told = Told::default();
            json::parse(text.as_bytes()).expect("valid").build(&mut told);
            black_box(told.bytes);
        });
        let pieces = best(|| {
            let (mut stream, mut told) = (JsonStream::default(), Told::default());
            for piece in text.as_bytes().chunks(1000) {
                stream.feed(piece, &mut told).expect("valid");
            }
            stream.finish(&mut told).expect("valid");
            black_box(told.bytes);
        });
        println!(
            "stream, {name}: {:.2} ms in pieces, {:.2} ms whole, ratio {:.2}",
            pieces * 1e3,
            whole * 1e3,
            pieces / whole
        );
    }
}

#[derive(Default)]
struct Told {
    bytes: Vec<u8>,
}

impl Build for Told {
    fn open_object(&mut self) {
        self.bytes.push(b'{');
    }
    fn open_array(&mut self) {
        self.bytes.push(b'[');
    }
    fn close(&mut self) {
        self.bytes.push(b'}');
    }
    fn key(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
    }
    fn null(&mut self) {
        self.bytes.push(b'n');
    }
    fn boolean(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }
    fn number(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }
    fn string(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }
    fn tail_open(&mut self) {}
    fn tail_grow(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }
    fn tail_close(&mut self) {}
}

fn hostile() {
    for unit in [
        "[",
        "{",
        "{\"a\":",
        "\"",
        "\\",
        "[\"",
        "```json\n",
        "```",
        "`",
        "~~~\n",
        "<think>",
        "</think>",
        "<a>{",
        "{\"a\":\"",
        "[[1],",
        "[1",
        ",",
        "{,",
        "[,",
        "{:",
        "[\"a\",",
        "{\"a\"\"",
        "\",",
        "[x",
        "{a:",
        "{a:b,",
        "//",
        "/*",
        "[/*",
        "[\"/*",
        "[ \"a\" /* ",
        "#",
        "...",
        "[...",
        "(",
        "[(",
        "f(",
        "[f(",
        "{\"a\":f(",
        "\\\"",
        "{\\\"",
        "{\\\"a\\\":1} ",
        "{\"a\":1} x ",
        "{'a':'b' ",
        "[1,2] x ",
        "[\"x ]",
        "\u{201C}",
        "{\u{201C}a",
        "<tool_call>{\"a\":\"",
        "+",
        "[\"a\"+",
        "-",
        "[-",
        "{\"a\":1}",
        "```\n{\"a\":\"x\n```\n",
        "{\"a\":\"x, \"b\":\"y, ",
        "}",
        "]",
        "[}",
        "{]",
        "{\"a\":1]",
    ] {
        let text = unit.repeat(1_000_000 / unit.len());
        for text in [
            text.clone(),
            format!("{{\"a\": {text}"),
            format!("{{\"a\": \"x {text}"),
            format!("[\"x {text}"),
        ] {
            let mut steps = 0;
            let seconds =
                best(|| steps = json::repair(text.as_bytes(), &RepairOptions::default()).steps);
            if seconds > 0.02 || steps > 4 * text.len() as u64 {
                println!(
                    "hostile {:?}: {:.1} ms, {:.2} steps a byte",
                    text.chars().take(24).collect::<String>(),
                    seconds * 1e3,
                    steps as f64 / text.len() as f64
                );
            }
        }
    }
}
