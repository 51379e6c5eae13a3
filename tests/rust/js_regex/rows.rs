//! Rows of the case tables, with targets as WTF-8.

use std::path::PathBuf;

use scoregate::text::to_utf8;

pub(crate) struct Row {
    pub(crate) place: String,
    pub(crate) pattern: Vec<u8>,
    pub(crate) flags: String,
    pub(crate) target: Vec<u8>,
    pub(crate) matches: Option<bool>,
    pub(crate) error: Option<String>,
    pub(crate) kind: String,
}

impl Row {
    /// Reads one line; `serde_json` refuses the lone surrogates that targets have.
    pub(crate) fn parse(place: String, line: &str) -> Row {
        let text = |key: &str| to_utf8(&wtf8_of_json(line, key)).into_owned();
        Row {
            place,
            pattern: wtf8_of_json(line, "pattern"),
            flags: text("flags"),
            target: wtf8_of_json(line, "target"),
            matches: (!line.contains("\"matches\":null,\"error\""))
                .then(|| line.contains("\"matches\":true,\"error\"")),
            error: (!line.contains("\"error\":null,\"kind\"")).then(|| text("error")),
            kind: text("kind"),
        }
    }
}

/// All rows under `tests/data/js_regex`.
pub(crate) fn all() -> Vec<Row> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/js_regex");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let numbered = text.lines().enumerate();
        rows.extend(numbered.map(|(i, line)| Row::parse(format!("{name}:{}", i + 1), line)));
    }
    rows
}

/// The string under a key of a one-line JSON object, as WTF-8.
fn wtf8_of_json(source: &str, key: &str) -> Vec<u8> {
    let start = source.find(&format!("\"{key}\":")).unwrap() + key.len() + 3;
    let mut rest = source[start..].trim_start().strip_prefix('"').unwrap().chars();
    let mut units: Vec<u16> = Vec::new();
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
    wtf8_of_units(&units)
}

/// WTF-8 of UTF-16 units.
pub(crate) fn wtf8_of_units(units: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for c in char::decode_utf16(units.iter().copied()) {
        let code = c.map_or_else(|e| u32::from(e.unpaired_surrogate()), u32::from);
        scoregate::text::push_scalar(&mut bytes, code);
    }
    bytes
}
