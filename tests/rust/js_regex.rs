//! The case tables of JavaScript regular expressions, answered by Node 20.

use std::collections::BTreeMap;
use std::path::Path;

use scoregate::js_regex::JsRegex;
use scoregate::target::Target;

/// Kinds that follow Unicode versions or later editions, where a few rows may differ.
const LENIENT: [&str; 3] = ["property", "v_flag", "es2025"];

struct Row {
    place: String,
    pattern: Vec<u8>,
    flags: String,
    target: Vec<u8>,
    matches: Option<bool>,
    error: Option<String>,
    kind: String,
}

/// A JSON string as WTF-8: `serde_json` refuses lone surrogates, which targets have.
fn wtf8_of_json(source: &str, key: &str) -> Vec<u8> {
    let start = source.find(&format!("\"{key}\":")).unwrap() + key.len() + 3;
    let mut units: Vec<u16> = Vec::new();
    let mut rest = source[start..].trim_start().strip_prefix('"').unwrap().chars();
    while let Some(c) = rest.next() {
        let c = match c {
            '"' => break,
            '\\' => match rest.next().unwrap() {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{C}',
                'u' => {
                    let hex: String = rest.by_ref().take(4).collect();
                    units.push(u16::from_str_radix(&hex, 16).unwrap());
                    continue;
                }
                other => other,
            },
            other => other,
        };
        units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
    }
    let mut bytes = Vec::new();
    for c in char::decode_utf16(units) {
        let code = c.map_or_else(|e| u32::from(e.unpaired_surrogate()), u32::from);
        scoregate::target::push_scalar(&mut bytes, code);
    }
    bytes
}

fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/js_regex");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let mut rows = Vec::new();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "jsonl")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for (i, line) in std::fs::read_to_string(file).unwrap().lines().enumerate() {
            let text = |key: &str| String::from_utf8(wtf8_of_json(line, key)).unwrap();
            let has = |value: &str| line.contains(value);
            rows.push(Row {
                place: format!("{name}:{}", i + 1),
                pattern: wtf8_of_json(line, "pattern"),
                flags: text("flags"),
                target: wtf8_of_json(line, "target"),
                matches: (!has("\"matches\":null,\"error\""))
                    .then(|| has("\"matches\":true,\"error\"")),
                error: (!has("\"error\":null,\"kind\"")).then(|| text("error")),
                kind: text("kind"),
            });
        }
    }
    rows
}

#[test]
fn every_row_has_nodes_answer() {
    let mut kinds: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in rows() {
        let got = JsRegex::new(&row.pattern, &row.flags)
            .map_err(|e| e.to_string())
            .map(|regex| regex.test(&Target::from_wtf8(&row.target)).map_err(|e| e.to_string()));
        let right = match (&got, &row.error) {
            (Ok(answer), None) => answer.as_ref().ok() == row.matches.as_ref(),
            (Err(message), Some(error)) => message == error,
            _ => false,
        };
        let count = kinds.entry(row.kind.clone()).or_default();
        count.0 += u32::from(right);
        count.1 += 1;
        if !right {
            let pattern = String::from_utf8_lossy(&row.pattern[..row.pattern.len().min(80)]);
            let line = format!(
                "{} {} /{pattern}/{}: want {:?} {:?}, got {got:?}",
                row.place, row.kind, row.flags, row.matches, row.error
            );
            if !LENIENT.contains(&row.kind.as_str()) {
                wrong.push(line.clone());
            }
            eprintln!("{line}");
        }
    }
    eprintln!("{kinds:?}");
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(kinds.len(), 43, "kinds");
    for (kind, (right, all)) in kinds {
        assert!(all >= 10 && right * 10 >= all * 9, "{kind}: {right} of {all}");
    }
}
