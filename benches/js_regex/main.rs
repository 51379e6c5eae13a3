//! Nanoseconds a check and text of the realistic checks over a corpus:
//!
//! ```sh
//! cargo bench --bench js_regex -- CORPUS.jsonl
//! ```
//!
//! The corpus has one `{"output": …}` a line. Prints one JSON object a check; `cpython.py` and
//! `node.mjs` beside this file print the same for `CPython` and Node.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use scoregate::js_regex::JsRegex;
use scoregate::text::Text;
use serde_json::Value;

/// Processor time for each check.
const SECONDS: f64 = 0.1;

/// Seconds that this process was on a processor: the clock of the wall is noisy.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn main() {
    let Some(corpus) = std::env::args().skip(1).find(|a| !a.starts_with("--")) else {
        println!("no corpus given");
        return;
    };
    if cfg!(debug_assertions) {
        println!("a debug build times nothing");
        return;
    }
    let lines = std::fs::read_to_string(corpus).unwrap();
    let texts: Vec<String> = lines
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap()["output"].as_str().unwrap().to_owned())
        .collect();
    for line in include_str!("checks.jsonl").lines() {
        let check: Value = serde_json::from_str(line).unwrap();
        let field = |key: &str| check[key].as_str().unwrap();
        let regex = JsRegex::new(field("pattern").as_bytes(), field("flags")).unwrap();
        // The facts of a text are shared by the checks of a gate: not part of one of them.
        let targets: Vec<Text> = texts.iter().map(|t| Text::new(t)).collect();
        for target in &targets {
            let _ = (target.facts(), target.cesu8(), target.utf16_len());
        }
        let pass = || targets.iter().filter(|t| regex.test(t) == Ok(true)).count();
        let matched = pass();
        let mut passes = 0;
        let start = cpu_seconds();
        while cpu_seconds() - start < SECONDS {
            pass();
            passes += 1;
        }
        let nanoseconds = (cpu_seconds() - start) * 1e9 / (f64::from(passes) * texts.len() as f64);
        println!(r#"{{"name":{:?},"matched":{matched},"ns":{nanoseconds:.1}}}"#, field("name"));
    }
}
