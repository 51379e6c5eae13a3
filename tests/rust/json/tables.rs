//! The case tables of `tests/data/json`, and properties of the strict and the repair tier.

use std::fs;
use std::path::PathBuf;

use scoregate::json::{self, Code, RepairOptions, Value};

struct Row {
    file: String,
    id: String,
    modes: Vec<String>,
    input: Vec<u8>,
    expected: Option<Value>,
    codes: Option<Vec<String>>,
    severity: Option<String>,
}

fn rows() -> Vec<Row> {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/json");
    let list = |folder: &str| fs::read_dir(data.join(folder)).unwrap().map(|f| f.unwrap().path());
    let mut files: Vec<_> = ["", "kinds", "peers"].into_iter().flat_map(list).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for line in fs::read(&file).unwrap().split(|&b| b == b'\n').filter(|l| !l.is_empty()) {
            // Some rows expect NaN, which strict JSON does not have.
            let read = json::repair(
                line,
                &RepairOptions { duplicates: false, ..RepairOptions::default() },
            );
            let document = read.result.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(read.diagnostics.iter().all(|d| d.code == Code::NotFinite), "{name}");
            rows.push(row(&name, &Value::from_cursor(document.root())));
        }
    }
    rows
}

fn row(file: &str, value: &Value) -> Row {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |key: &str| {
        let items = value.get(key)?.elements();
        Some(items.iter().map(|v| v.as_str().unwrap().to_owned()).collect::<Vec<_>>())
    };
    let none = value.get("expected_none").and_then(Value::as_bool) == Some(true);
    let id = text("id").unwrap();
    assert!(none != value.get("expected").is_some(), "{file} {id}: expected or expected_none");
    Row {
        file: file.to_owned(),
        modes: list("modes").unwrap(),
        input: value
            .get("input")
            .and_then(Value::as_bytes)
            .unwrap_or_else(|| panic!("{id}: input"))
            .to_vec(),
        expected: value.get("expected").cloned(),
        codes: list("codes"),
        severity: text("severity"),
        id,
    }
}

/// Numbers by value, objects without order.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            match (json::Decimal::parse(a.text()), json::Decimal::parse(b.text())) {
                (Some(a), Some(b)) => a.same_value(&b),
                _ => a.text() == b.text(),
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(k, v)| {
                    b.iter().find(|(other, _)| other == k).is_some_and(|(_, w)| same(v, w))
                })
        }
        _ => a == b,
    }
}

fn show(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".into(), Value::to_json)
}

#[test]
fn tables() {
    let rows = rows();
    let mut wrong = Vec::new();
    for row in &rows {
        for mode in &row.modes {
            let (value, codes) = match mode.as_str() {
                "strict" => (json::extract(&row.input).map(|d| Value::from_cursor(d.root())), None),
                "repair" => {
                    let repaired = json::repair(&row.input, &RepairOptions::default());
                    assert!(
                        repaired.steps <= json::step_budget(row.input.len()),
                        "{}: steps",
                        row.id
                    );
                    let codes: Vec<_> = repaired.diagnostics.iter().map(|d| d.code).collect();
                    let severity = repaired.severity().map(|s| s.name().to_owned());
                    if row.severity.is_some() && row.severity != severity {
                        wrong.push(format!("{} {}: {severity:?}", row.file, row.id));
                    }
                    (repaired.result.ok().map(|d| Value::from_cursor(d.root())), Some(codes))
                }
                other => panic!("{}: mode {other}", row.id),
            };
            let equal = match (&value, &row.expected) {
                (Some(a), Some(b)) => same(a, b),
                (None, None) => true,
                _ => false,
            };
            let input = String::from_utf8_lossy(&row.input);
            if !equal {
                wrong.push(format!(
                    "{} {} ({mode}): {input:?}\n  want {}\n  got  {}",
                    row.file,
                    row.id,
                    show(row.expected.as_ref()),
                    show(value.as_ref())
                ));
            }
            if let (Some(want), Some(got)) = (&row.codes, codes) {
                let names: Vec<_> = got.iter().map(|c: &Code| c.name()).collect();
                if !want.iter().all(|w| names.contains(&w.as_str()))
                    || (want.is_empty() && !names.is_empty())
                {
                    wrong.push(format!(
                        "{} {}: {input:?}\n  codes {want:?}\n  got   {names:?}",
                        row.file, row.id
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
