//! What holds for any text: strict parsing agrees with `serde_json`, repair leaves valid JSON
//! alone whatever stands around it, never panics, and takes a bounded number of steps.

use proptest::prelude::*;
use scoregate::json::{self, Code, RepairErrorKind, RepairOptions, Severity, Value, step_budget};

fn repaired(text: &[u8]) -> Option<Value> {
    let repaired = json::repair(text, &RepairOptions::default());
    assert!(
        repaired.steps <= step_budget(text.len()),
        "{} steps for {} bytes",
        repaired.steps,
        text.len()
    );
    assert!(!matches!(repaired.result, Err(e) if e.kind == RepairErrorKind::Budget));
    for found in &repaired.diagnostics {
        assert!(found.start <= found.end && found.end <= text.len(), "{found:?}");
    }
    let document = repaired.result.ok()?;
    well_formed(&document);
    Some(Value::from_cursor(document.root()))
}

/// Keys are strings, and every node belongs to the tree.
fn well_formed(document: &json::Document<'_>) {
    let (mut open, mut next) = (vec![document.root()], 0);
    while let Some(cursor) = open.pop() {
        assert_eq!(cursor.index(), next);
        next += 1;
        let mut children: Vec<_> = cursor.elements().collect();
        for (key, value) in cursor.members() {
            assert_eq!(key.kind(), json::Kind::String);
            children.extend([key, value]);
        }
        open.extend(children.into_iter().rev());
    }
    let mut told = Told(0);
    document.build(&mut told);
    assert_eq!(told.0, next);
}

/// Counts nodes.
struct Told(usize);

impl json::Build for Told {
    fn open_object(&mut self) {
        self.0 += 1;
    }
    fn open_array(&mut self) {
        self.0 += 1;
    }
    fn close(&mut self) {}
    fn key(&mut self, _: &[u8]) {
        self.0 += 1;
    }
    fn null(&mut self) {
        self.0 += 1;
    }
    fn boolean(&mut self, _: bool) {
        self.0 += 1;
    }
    fn number(&mut self, _: &str) {
        self.0 += 1;
    }
    fn string(&mut self, _: &[u8]) {
        self.0 += 1;
    }
    fn tail_open(&mut self) {}
    fn tail_grow(&mut self, _: &[u8]) {}
    fn tail_close(&mut self) {}
}

/// The value of `serde_json`, through our own tree: numbers keep their digits.
fn oracle(text: &str) -> Option<Value> {
    fn tree(value: &serde_json::Value) -> Value {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(b) => Value::Bool(*b),
            serde_json::Value::Number(n) => Value::Number(json::Number::new(&n.to_string())),
            serde_json::Value::String(s) => Value::string(s),
            serde_json::Value::Array(items) => Value::Array(items.iter().map(tree).collect()),
            serde_json::Value::Object(members) => Value::Object(
                members.iter().map(|(k, v)| (k.clone().into_bytes(), tree(v))).collect(),
            ),
        }
    }
    serde_json::from_str::<serde_json::Value>(text).ok().map(|v| tree(&v))
}

fn numbers_alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.text() == b.text() || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| numbers_alike(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && numbers_alike(&a.1, &b.1))
        }
        _ => a == b,
    }
}

/// An empty list, or whole numbers in square brackets: a task's box and a citation are no data.
fn is_citation(document: &json::Document<'_>) -> bool {
    let root = document.root();
    let digits = |c: json::Cursor<'_>| {
        c.kind() == json::Kind::Number && c.number_text().bytes().all(|b| b.is_ascii_digit())
    };
    root.kind() == json::Kind::Array && root.elements().all(digits)
}

/// Any JSON value, as `serde_json` holds it.
fn values() -> impl Strategy<Value = serde_json::Value> {
    let text = prop_oneof![
        "[ -~]{0,12}",
        "[a-z\"\\\\{}\\[\\]:,'`/#. \n\t]{0,12}",
        "[é漢😀a\u{0}-\u{1f}\u{2028}\u{feff}]{0,6}",
        Just("```json".to_owned()),
        Just("</think> <think>".to_owned()),
        Just("\", \"a\": ".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::Bool),
        any::<i64>().prop_map(serde_json::Value::from),
        (-1e9..1e9f64).prop_map(serde_json::Value::from),
        text.clone().prop_map(serde_json::Value::String),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::Array),
            prop::collection::vec((text.clone(), inner), 0..5)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn containers() -> impl Strategy<Value = serde_json::Value> {
    values().prop_map(|v| {
        if v.is_object() && v != serde_json::json!({}) {
            v
        } else {
            serde_json::json!({"value": v})
        }
    })
}

/// Pieces that JSON, its faults and what stands around it are made of.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ":",
        ",",
        "a",
        "b c",
        "\"k\": 1",
        "true",
        "Non",
        "1",
        "-",
        ".5",
        "e3",
        "\\",
        "\\\"",
        "\\u",
        "d83d",
        "\n",
        " ",
        "```",
        "```json\n",
        "~~~\n",
        "<think>",
        "</think>",
        "<x>",
        "</x>",
        "//",
        "/*",
        "*/",
        "# ",
        "...",
        "…",
        "+",
        "(",
        ")",
        "f(",
        "“",
        "”",
        "‘",
        "`",
        "\u{a0}",
        "é",
        "😀",
        "=",
        ";",
        "\"\"\"",
        "{\\\"a\\\": 1}",
        "{\"a\": \"b\",}",
        "[1]",
        "(\"a\"",
        "(1",
        ",)",
        "{\"x\"",
        "[\"k\": ",
        "\"k\" 2",
        "null",
        "prose here",
        "：",
        "，",
        "\u{0}",
        "\\x4",
        "http://x",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|p| p.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_json_is_never_changed(value in values(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let want = oracle(&text).unwrap();
        let got = json::repair(text.as_bytes(), &RepairOptions::default());
        prop_assert!(got.is_strict(), "{:?}", got.diagnostics);
        prop_assert_eq!(Value::from_cursor(got.result.unwrap().root()), want.clone());
        prop_assert_eq!(json::extract(text.as_bytes()).map(|d| Value::from_cursor(d.root())), Some(want.clone()));
        let canonical = json::parse(text.as_bytes()).unwrap().to_json();
        prop_assert_eq!(oracle(&canonical), Some(want));
    }

    #[test]
    fn what_stands_around_changes_nothing(value in containers(), around in 0usize..8, pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let wrapped = match around {
            0 => format!("Here is the answer: {text} and that's \"all\"."),
            1 => format!("See [1] and {{name}}:\n```json\n{text}\n```\nDone [2]."),
            2 => format!("```\n{text}\n```"),
            3 => format!("~~~~json\n{text}\n~~~~"),
            4 => format!("<tool_call>\n{text}\n</tool_call>"),
            5 => format!("<think>perhaps {{\"guess\": 0}} or [x]</think>\n{text}"),
            6 => format!("callback({text});"),
            _ => format!("- [ ] task\n\n{text}\n\n(as in [3], see {{note}})"),
        };
        prop_assert_eq!(repaired(wrapped.as_bytes()), oracle(&text), "{}", wrapped);
    }

    #[test]
    fn a_trailing_comma_changes_nothing(value in containers()) {
        let text = serde_json::to_string(&value).unwrap();
        let broken = format!("{},}}", &text[..text.len() - 1]);
        prop_assert_eq!(repaired(broken.as_bytes()), oracle(&text), "{}", broken);
    }

    #[test]
    fn prefixes_are_read(value in containers()) {
        let text = serde_json::to_string(&value).unwrap();
        for end in (1..text.len()).filter(|&i| text.is_char_boundary(i)) {
            let got = repaired(&text.as_bytes()[..end]);
            prop_assert!(matches!(got, Some(Value::Object(_))), "{}", &text[..end]);
        }
    }

    #[test]
    fn strict_agrees_with_serde(text in soup()) {
        let ours = json::parse(text.as_bytes()).ok().map(|d| Value::from_cursor(d.root()));
        match (ours, oracle(&text)) {
            (Some(a), Some(b)) => prop_assert!(numbers_alike(&a, &b)),
            // Lone halves of surrogates are text here and an error there.
            (Some(_), None) => prop_assert!(text.contains("\\u"), "{}", text),
            (None, other) => prop_assert_eq!(other, None),
        }
    }

    #[test]
    fn any_text_is_bounded(text in soup()) {
        let value = repaired(text.as_bytes());
        if let Ok(strict) = json::parse(text.as_bytes()) {
            prop_assert_eq!(value, Some(Value::from_cursor(strict.root())));
        }
        for severity in [Severity::Lossless, Severity::Guess] {
            let options = RepairOptions { max_severity: Some(severity), partial: true, ..RepairOptions::default() };
            let got = json::repair(text.as_bytes(), &options);
            if got.result.is_ok() {
                prop_assert!(got.severity().is_none_or(|s| s <= severity));
            }
        }
        let spans = json::object_spans(text.as_bytes(), &["a", "k"]);
        prop_assert!(spans.found.iter().all(|s| s.span.0 <= s.span.1 && s.span.1 <= text.len()));
    }

    #[test]
    fn what_the_strict_tier_reads_is_read(text in soup()) {
        if json::extract(text.as_bytes()).is_some_and(|d| !is_citation(&d)) {
            prop_assert!(repaired(text.as_bytes()).is_some(), "{}", text);
        }
    }

    #[test]
    fn any_bytes_are_bounded(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = repaired(&bytes);
        let _ = json::object_spans(&bytes, &["a"]);
    }
}

/// One megabyte of each, bare and inside a document.
#[test]
fn hostile_texts_take_linear_steps() {
    let units = [
        "[",
        "{",
        "(",
        "\"",
        "'",
        "`",
        "\\",
        "[\"",
        "{\"",
        "{\"a\":",
        "{\"a\":\"",
        "```json\n",
        "```",
        "```\n",
        "````\n```\n",
        "~~~\n",
        "<think>",
        "</think>",
        "<a>{",
        "<a>{\"x\":\"</a>",
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
        "\" /* ",
        "\" // ",
        "#",
        "...",
        "[...",
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
        "“",
        "{“a",
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
        "\" ,",
        "\" , '",
        "{a: x,'",
        "[a](http",
        "{\"a\":[b](",
        "\u{a0}",
        "\\n",
        "; ",
        "[1] ",
        "...a,",
        "\" \"",
        "\"\n",
        "x\"",
        "\\u",
        "\\ud83d",
        "=",
        "<think>{\"a\":1}</think>",
        "</",
        "<",
        "```json {",
        "{\"a\":1 ",
        "[1], 1,",
        "[1]], 1 [1]] ",
        "{\"a\":1}}, ",
        "[1]}, [",
        "```\n[1], [\n```\n[1], [\n",
        "[1]], \"x ",
        "{a: 1}}, b: ",
        "null```json\n",
        "”null//,~>",
        "“`//[T",
        "n///[",
        "\n>true```<think>",
        "```json\ntrue```'r",
    ];
    for unit in units {
        let text = unit.repeat(1_000_000 / unit.len());
        for text in [
            text.clone(),
            format!("{{\"a\": {text}"),
            format!("{{\"a\": \"x {text}"),
            format!("[\"x {text}"),
            format!("so {text}"),
        ] {
            let steps = json::repair(text.as_bytes(), &RepairOptions::default()).steps;
            assert!(
                steps <= 8 * text.len() as u64,
                "{:?}: {steps}",
                text.chars().take(30).collect::<String>()
            );
        }
    }
}

#[test]
fn depth_is_an_ordinary_error() {
    for text in [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        "[{\"a\":".repeat(50_000),
        format!("x {}", "[".repeat(100_000)),
    ] {
        let repaired = json::repair(text.as_bytes(), &RepairOptions::default());
        assert_eq!(repaired.result.unwrap_err().kind, RepairErrorKind::TooDeep(512));
    }
    let deep = |n: usize| format!("{}1,{}", "[".repeat(n), "]".repeat(n));
    assert!(repaired(deep(512).as_bytes()).is_some());
    assert!(repaired(deep(513).as_bytes()).is_none());
    let options = RepairOptions { max_depth: 3, ..RepairOptions::default() };
    assert!(json::repair(b"[[[1]]]", &options).result.is_ok());
    assert!(json::repair(b"[[[[1]]]]", &options).result.is_err());
}

/// Ten documents, cut at every byte: what was complete is there, a cut string is kept as far as
/// it goes, nothing else is made up.
#[test]
fn truncation_at_every_byte() {
    let documents = [
        r#"{"name": "Ada Lovelace", "born": 1815, "alive": false}"#,
        r#"[1, -2.5, 3e10, true, false, null, "end"]"#,
        r#"{"a": {"b": {"c": [{"d": []}, {}]}}, "e": [[], [[]]]}"#,
        r#"{"text": "line\nbreak \"quoted\" back\\slash \/ tab\t", "next": ""}"#,
        r#"{"u": "\u00e9\u6f22\ud83d\ude00 end", "v": "é漢😀"}"#,
        "{\n  \"pretty\": [\n    1,\n    2\n  ],\n  \"more\": {\n    \"x\": \"y\"\n  }\n}",
        r#"[{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": []}]"#,
        r#"{"code": "if (a[0] == {}) { return; }", "json": "{\"k\": [1, 2]}"}"#,
        r#"{"": "empty key", "long number": 123456789012345678901234567890, "z": 0}"#,
        r##"{"mixed": [{"a": "it's"}, "// no comment", "...", "# hash", "`tick`", "“curly”"], "ok": true}"##,
    ];
    for document in documents {
        let whole = oracle(document).unwrap();
        for end in 1..document.len() {
            if !document.is_char_boundary(end) {
                continue;
            }
            let cut = &document[..end];
            let got = repaired(cut.as_bytes()).unwrap_or_else(|| panic!("nothing from {cut}"));
            assert!(prefix(&got, &whole, true), "{cut}\n{}", got.to_json());
        }
    }
}

/// True when `cut` is what is left of `whole`.
fn prefix(cut: &Value, whole: &Value, last: bool) -> bool {
    match (cut, whole) {
        (Value::Array(a), Value::Array(b)) => {
            (last && a.len() <= b.len() || a.len() == b.len())
                && a.iter()
                    .zip(b)
                    .enumerate()
                    .all(|(i, (x, y))| prefix(x, y, last && i + 1 == a.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            (last && a.len() <= b.len() || a.len() == b.len())
                && a.iter()
                    .zip(b)
                    .enumerate()
                    .all(|(i, (x, y))| x.0 == y.0 && prefix(&x.1, &y.1, last && i + 1 == a.len()))
        }
        (Value::String(a), Value::String(b)) if last => b.starts_with(a),
        (Value::Number(a), Value::Number(b)) if last => {
            b.text().starts_with(a.text()) || b.text().starts_with(&a.text()[..1])
        }
        _ => numbers_alike(cut, whole),
    }
}

#[test]
fn options_hold() {
    let text = br#"x {"a": 1,} and {"b": tru"#;
    let all = RepairOptions { candidates: json::Candidates::All, ..RepairOptions::default() };
    let got = json::repair(text, &all);
    assert_eq!(got.result.unwrap().to_json(), r#"{"a":1}"#);
    assert_eq!(
        got.others.iter().map(|o| o.document.to_json()).collect::<Vec<_>>(),
        [r#"{"b":true}"#]
    );
    assert_eq!(got.others[0].span, (16, 25));
    let partial = RepairOptions {
        partial: true,
        max_severity: Some(Severity::Lossless),
        ..RepairOptions::default()
    };
    for (text, want) in [
        (r#"{"a": "b", "c": 12"#, r#"{"a":"b"}"#),
        (r#"{"a": "b", "c": tr"#, r#"{"a":"b"}"#),
        (r#"{"a": "b"#, r#"{"a":"b"}"#),
        (r#"{"a": 12 "#, r#"{"a":12}"#),
    ] {
        assert_eq!(
            json::repair(text.as_bytes(), &partial).result.map(|d| d.to_json()),
            Ok(want.to_owned())
        );
    }
    let lossless =
        RepairOptions { max_severity: Some(Severity::Lossless), ..RepairOptions::default() };
    assert!(json::repair(b"{\"a\": 1,}", &lossless).result.is_ok());
    let refused = json::repair(b"{\"a\": \"x", &lossless).result.unwrap_err();
    assert_eq!(refused.kind, RepairErrorKind::Severity(Code::TruncatedString));
}

#[test]
fn types_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<json::Document<'_>>();
    check::<json::Repaired<'_>>();
    check::<json::RepairOptions>();
    check::<json::JsonStream>();
    check::<json::KeyedSpans<'_>>();
    check::<scoregate::contract::Coerced>();
}

/// Around every power of two a text reads alike: no bound on a look ahead decides a value.
#[test]
fn sizes_change_nothing() {
    let read = |text: &str| repaired(text.as_bytes()).map(|v| v.to_json());
    for size in [1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 253, 254, 255, 256, 257, 999]
    {
        let word = "w".repeat(size);
        let items = vec!["1"; size].join(", ");
        let fences = "```\nx\n".repeat(size.min(40));
        let rows = [
            (format!("{{\"a\": {word}, \"b\": 1}}"), format!("{{\"a\":\"{word}\",\"b\":1}}")),
            (format!("{{a: 1, {word}: 2}}"), format!("{{\"a\":1,\"{word}\":2}}")),
            (
                format!("{{\"a\": \"x \"q\" y\", \"{word}\": 1}}"),
                format!("{{\"a\":\"x \\\"q\\\" y\",\"{word}\":1}}"),
            ),
            (format!("[\"{word}\" \"{word}\"]"), format!("[\"{word}\",\"{word}\"]")),
            (format!("({{\"a\": [{items}]}})"), format!("{{\"a\":[{}]}}", items.replace(' ', ""))),
            (format!("{{\"a\": 1 ({word}), \"b\": 2}}"), "{\"a\":1,\"b\":2}".to_owned()),
            (
                format!("{{\"a\": \"x\",{}\"b\": 2,}}", " ".repeat(size)),
                "{\"a\":\"x\",\"b\":2}".to_owned(),
            ),
            (
                format!("```json\n{{\"a\": \"{fences}z\", \"b\": 1}}\n```"),
                format!("{{\"a\":\"{}z\",\"b\":1}}", fences.replace('\n', "\\n")),
            ),
        ];
        for (text, want) in rows {
            assert_eq!(read(&text).as_deref(), Some(&*want), "{size}");
        }
    }
}

/// How many repairs are listed changes neither the value nor the severity.
#[test]
fn the_list_decides_nothing() {
    for count in [10, 1023, 1024, 1025, 3000] {
        let commas = "1,, ".repeat(count);
        let text = format!("{{\"a\": [{commas}], \"b\": x y, \"c\": \"cut");
        let got = json::repair(text.as_bytes(), &RepairOptions::default());
        assert_eq!(got.severity(), Some(Severity::Lossy), "{count}");
        let value = Value::from_cursor(got.result.unwrap().root());
        assert_eq!(value.get("c"), Some(&Value::string("cut")));
        let more = got.diagnostics.last().is_some_and(|d| d.code == Code::MoreRepairs);
        assert_eq!(more, got.more_diagnostics > 0);
    }
}
