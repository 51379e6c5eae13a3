//! Streams: every way to cut a text gives the value that the whole text gives, and no prefix is
//! ever taken back.

use proptest::prelude::*;
use scoregate::json::{self, Build, Code, JsonStream, Kind, Number, RepairOptions, Value};

/// Builds a tree as a caller would build live objects.
#[derive(Default)]
struct Tree {
    root: Option<Value>,
    /// The way to the innermost open container: an index or key each.
    open: Vec<usize>,
    key: Option<Vec<u8>>,
    tail: Option<Vec<u8>>,
    calls: usize,
    /// A key came again: its first value is gone.
    replaced: bool,
}

impl Tree {
    fn innermost(&mut self) -> Option<&mut Value> {
        let mut value = self.root.as_mut()?;
        for &at in &self.open {
            value = match value {
                Value::Array(items) => &mut items[at],
                Value::Object(members) => &mut members[at].1,
                _ => unreachable!(),
            };
        }
        Some(value)
    }

    /// Adds a value and gives its place.
    fn add(&mut self, value: Value) -> usize {
        self.calls += 1;
        let key = self.key.take();
        match self.innermost() {
            None => {
                self.root = Some(value);
                0
            }
            Some(Value::Array(items)) => {
                items.push(value);
                items.len() - 1
            }
            Some(Value::Object(members)) => {
                let key = key.expect("a key comes before a member");
                if let Some(at) = members.iter().position(|(k, _)| *k == key) {
                    members[at].1 = value;
                    self.replaced = true;
                    return at;
                }
                members.push((key, value));
                members.len() - 1
            }
            Some(_) => panic!("a value inside a scalar"),
        }
    }

    fn open(&mut self, value: Value) {
        let first = self.root.is_none();
        let at = self.add(value);
        if !first {
            self.open.push(at);
        }
    }

    fn value(&self) -> Option<Value> {
        let mut copy = Tree {
            root: self.root.clone(),
            open: self.open.clone(),
            key: self.key.clone(),
            ..Tree::default()
        };
        if let Some(tail) = &self.tail {
            copy.add(Value::String(tail.clone()));
        }
        copy.root
    }
}

impl Build for Tree {
    fn open_object(&mut self) {
        self.open(Value::Object(Vec::new()));
    }
    fn open_array(&mut self) {
        self.open(Value::Array(Vec::new()));
    }
    fn close(&mut self) {
        self.open.pop();
    }
    fn key(&mut self, key: &[u8]) {
        assert!(self.key.is_none(), "two keys");
        self.key = Some(key.to_vec());
    }
    fn null(&mut self) {
        self.add(Value::Null);
    }
    fn boolean(&mut self, value: bool) {
        self.add(Value::Bool(value));
    }
    fn number(&mut self, text: &str) {
        self.add(Value::Number(Number::new(text)));
    }
    fn string(&mut self, text: &[u8]) {
        self.add(Value::String(text.to_vec()));
    }
    fn tail_open(&mut self) {
        assert!(self.tail.is_none());
        let key = self.key.clone();
        if let Some(Value::Object(members)) = self.innermost() {
            let repeated = members.iter().any(|(k, _)| Some(k) == key.as_ref());
            self.replaced |= repeated;
        }
        self.tail = Some(Vec::new());
    }
    fn tail_grow(&mut self, text: &[u8]) {
        self.tail.as_mut().unwrap().extend_from_slice(text);
    }
    fn tail_close(&mut self) {
        let text = self.tail.take().unwrap();
        self.add(Value::String(text));
    }
}

/// True when `later` only adds to `earlier`.
fn extends(earlier: &Value, later: &Value, last: bool) -> bool {
    match (earlier, later) {
        (Value::String(a), Value::String(b)) => {
            if last {
                b.starts_with(a)
            } else {
                a == b
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() <= b.len()
                && a.iter()
                    .zip(b)
                    .enumerate()
                    .all(|(i, (x, y))| extends(x, y, last && i + 1 == a.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() <= b.len()
                && a.iter()
                    .zip(b)
                    .enumerate()
                    .all(|(i, (x, y))| x.0 == y.0 && extends(&x.1, &y.1, last && i + 1 == a.len()))
        }
        _ => earlier == later,
    }
}

fn stream(text: &[u8], sizes: &[usize]) -> Option<Value> {
    let mut stream = JsonStream::default();
    let mut tree = Tree::default();
    let mut before: Option<Value> = None;
    let mut rest = text;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at((*sizes.next().unwrap()).clamp(1, rest.len()));
        stream.feed(piece, &mut tree).unwrap();
        rest = tail;
        let now = tree.value();
        let snapshot = stream.snapshot().map(|d| Value::from_cursor(d.root()));
        assert_eq!(snapshot, now, "snapshot before {:?}", String::from_utf8_lossy(tail));
        if let Some(before) = before.as_ref().filter(|_| !tree.replaced) {
            assert!(extends(before, now.as_ref().unwrap(), true), "{before:?} then {now:?}");
        }
        before = now;
    }
    if stream.finish(&mut tree).is_err() {
        return None;
    }
    let now = tree.value();
    if let (Some(before), Some(now), false) = (&before, &now, tree.replaced) {
        assert!(extends(before, now, true), "{before:?} then {now:?}");
    }
    assert!(stream.tail().is_none());
    now
}

fn whole(text: &[u8]) -> Option<Value> {
    let document = json::repair(text, &RepairOptions::default()).result.ok()?;
    let mut tree = Tree::default();
    document.build(&mut tree);
    let value = Value::from_cursor(document.root());
    assert_eq!(tree.value().as_ref(), Some(&value));
    assert!(tree.open.is_empty());
    Some(value)
}

#[test]
fn every_cut_gives_the_whole() {
    for text in [
        r#"{"a": [1, 2.5, true, null, "x\ud83d\ude00\n"], "long": "some words, and more, é漢😀", "o": {}}"#,
        "Here it is:\n```json\n{\"a\": \"it's, fine\", 'b': False,}\n```\nDone.",
        "<think>maybe {\"a\": 0}</think>\n{\"a\": \"say \"hi\" now\", \"b\": [1,,2]} tail",
        "{a: New York, b: [x, y], c: +5, // note\n d: \"\"\"q\"\"\"}",
        "[{\"t\": 1, \"c\": {\"a\": [{\"d\": 2}}}, {\"t\": 3}]",
        "{\"a\": \"cut str",
        "{\"a\": \"x\" + \"y\", \"c\": 2, \"b\": tru",
        "{\"a\": 12,500, \"b\": [docs](http://x.y), \"c\": [d]}",
        "{\"a\": [1, ... 98 more, ....], \"b\": \"\\u{1F600}\"}",
        "{\"path\": \"C:\\\", \"b\": \"x, \"c\": 1} </json>",
        "{\"a\": \"x, and\" \n\n /* one */ // two\n, \"b: \"y\"",
        "\"only text\"",
        "  -12.5e3 ",
    ] {
        let want = whole(text.as_bytes());
        assert!(want.is_some(), "{text}");
        for size in 1..=text.len() {
            assert_eq!(stream(text.as_bytes(), &[size]), want, "{text} by {size}");
        }
    }
}

#[test]
fn prose_is_no_document() {
    for text in ["I cannot help with that.", "see [1] and {name}", "", "  "] {
        assert_eq!(stream(text.as_bytes(), &[3]), None, "{text}");
    }
}

#[test]
fn work_is_proportional() {
    let string = format!("{{\"a\": \"{}\"}}", "some words, ".repeat(90_000));
    let many = format!("[{}1]", "{\"id\": 12, \"name\": \"x y\", \"ok\": true}, ".repeat(26_000));
    let quotes = format!("{{\"a\": \"{}", "\" , ".repeat(250_000));
    let bare = format!("{{\"a\": {}", "x".repeat(1_000_000));
    for text in [&string, &many, &quotes, &bare] {
        let mut stream = JsonStream::default();
        let mut tree = Count::default();
        for piece in text.as_bytes().chunks(1000) {
            stream.feed(piece, &mut tree).unwrap();
        }
        stream.finish(&mut tree).unwrap();
        // A pass in pieces, and one over the whole text in the end.
        assert!(stream.steps() < 16 * text.len() as u64, "{} steps", stream.steps());
        assert!(tree.bytes <= text.len());
    }
}

/// Counts what it is told.
#[derive(Default)]
struct Count {
    bytes: usize,
}

impl Build for Count {
    fn open_object(&mut self) {}
    fn open_array(&mut self) {}
    fn close(&mut self) {}
    fn key(&mut self, key: &[u8]) {
        self.bytes += key.len();
    }
    fn null(&mut self) {}
    fn boolean(&mut self, _: bool) {}
    fn number(&mut self, text: &str) {
        self.bytes += text.len();
    }
    fn string(&mut self, text: &[u8]) {
        self.bytes += text.len();
    }
    fn tail_open(&mut self) {}
    fn tail_grow(&mut self, text: &[u8]) {
        self.bytes += text.len();
    }
    fn tail_close(&mut self) {}
}

/// The work that a stream does in pieces of a size, for each byte.
fn work(text: &[u8], size: usize) -> u64 {
    let mut stream = JsonStream::default();
    let mut tree = Count::default();
    for piece in text.chunks(size) {
        if stream.feed(piece, &mut tree).is_err() {
            break;
        }
    }
    let _ = stream.finish(&mut tree);
    stream.steps() / text.len() as u64
}

/// What a decision can wait in: openings, and what may follow for as long as anyone likes.
#[test]
fn work_is_proportional_by_any_piece() {
    let openings = [
        "",
        "prose ",
        "prose {",
        "prose {\"",
        "prose [[[",
        "{",
        "{a",
        "{a ",
        "{\"a\"",
        "{\"a\" ",
        "{\"a\": ",
        "{\"a\": \"",
        "{\"a\": \"x\"",
        "{\"a\": \"x\" ",
        "{\"a\": \"x\",",
        "{\"a\": \"x, \"",
        "{\"a\": x",
        "{\"a\": 1",
        "{\"a\": 1,",
        "{\"a\": 1 ",
        "{\"a\": x;",
        "{\"a\": x {",
        "{\"a\": x ,",
        "[",
        "[tru",
        "[tru ",
        "[tru [",
        "[\"x\"",
        "[\"x\" ",
        "['x' ",
        "[...",
        "[... ",
        "[... 9",
        "[/*",
        "[//",
        "[(",
        "[b",
        "[`",
        "[\\\"",
        "[“",
        "[\"\"\"",
        "{'",
        "{\"a\": [docs",
        "{\"a\": [docs](http",
        "[{\"a\": 1]",
        "[{\"a\": 1],",
        "```",
        "```json",
        "```json\n",
        "<",
        "<think>",
        "<think></",
        "{\"a\"=",
        "{\"[[[[\"",
        "[1] {",
    ];
    let runs = [
        " ",
        "\n",
        "\t",
        "a",
        "1",
        ".",
        ",",
        ", ",
        ";",
        "; ",
        "\"",
        "\" ",
        "\", ",
        "'",
        "' ",
        "`",
        "[",
        "{",
        "]",
        "}",
        "(",
        ")",
        "[tru ",
        "{a ",
        "a ",
        "a, ",
        "a: ",
        "/",
        "//",
        "//\n",
        "/*",
        "/**/",
        "/* ",
        "*",
        "* /",
        "#",
        "# ",
        "# \n",
        "\\",
        "\\n",
        "\\\"",
        "\\u",
        "\\ud83d",
        "\\x4",
        "\\q",
        "…",
        "...",
        "... ",
        "é",
        "“",
        "\u{a0}",
        "<",
        "<a",
        "</",
        "</a",
        ":",
        "=",
        "-",
        "+",
        "\"a\" + ",
        "\"a\", ",
        "\"a ",
        "x\"y",
        "tru",
        "true ",
        "1 ",
        "1, ",
        "'a', ",
        "{\"",
        "{\"a\" ",
        ",/**/",
        " /**/\"",
        "{ ",
        "[ ",
        "\r",
        "] ",
        "}, ",
        "],",
        "[docs](http",
        "</think",
        "```\n",
        "``` ",
        "\u{1}",
    ];
    let mut worst = (0, String::new());
    for opening in openings {
        for run in runs {
            let text = format!("{opening}{}", run.repeat(4_000 / run.len()));
            for size in [1, 2, 7, 64] {
                let steps = work(text.as_bytes(), size);
                if steps > worst.0 {
                    worst = (steps, format!("{opening:?} then {run:?} by {size}"));
                }
            }
        }
    }
    assert!(worst.0 < 40, "{} steps a byte: {}", worst.0, worst.1);
}

#[test]
fn depth_is_an_error() {
    let mut stream = JsonStream::default();
    let mut tree = Count::default();
    assert!(stream.feed("[".repeat(100_000).as_bytes(), &mut tree).is_err());
    assert!(stream.snapshot().is_some_and(|d| d.root().kind() == Kind::Array));
}

type Told = (Option<Value>, Option<(usize, usize)>, Vec<Code>);

/// What a stream says in the end: the value, its span, and what was repaired.
fn told(text: &[u8], sizes: &[usize]) -> Option<Told> {
    let mut stream = JsonStream::default();
    let mut tree = Tree::default();
    let mut rest = text;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at((*sizes.next().unwrap()).clamp(1, rest.len()));
        stream.feed(piece, &mut tree).unwrap();
        rest = tail;
    }
    stream.finish(&mut tree).ok()?;
    let codes = stream.diagnostics().iter().map(|d| d.code).collect();
    Some((tree.value(), stream.span(), codes))
}

/// Words that decisions wait for, one after the other.
fn soup() -> impl Strategy<Value = String> {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\"",
        "'",
        "`",
        "```",
        "```json\n",
        "\n",
        " ",
        "  ",
        "//",
        "/*",
        "*/",
        "#",
        "# ",
        "...",
        ".",
        "…",
        "\\",
        "\\\"",
        "\\u",
        "\\ud83d",
        "\\ude00",
        "\\x4",
        "\\u{1F60",
        "true",
        "tru",
        "null",
        "None",
        "a",
        "key",
        "12",
        "-",
        "+",
        "1,5",
        "1e",
        "new ",
        "f(",
        ")",
        "(",
        ";",
        "=",
        "=>",
        "\"a\": ",
        "{\"k\": ",
        "\"x\", ",
        "\"y\" + ",
        "<",
        "</",
        "</t>",
        "<think>",
        "</think>",
        "“",
        "”",
        "é",
        "：",
        "，",
        "[docs](http://x.y)",
        "u\"",
        "\"\"\"",
        "'''",
        "prose ",
        "[tru ",
        "98 more",
        "\u{a0}",
        "\r\n",
        "\t",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..24).prop_map(|w| w.concat())
}

proptest! {
    #[test]
    fn any_cut_tells_the_same(text in soup(), start in 0usize..6, sizes in prop::collection::vec(1usize..9, 1..5)) {
        let text = format!("{}{text}", ["", "{", "[", "Here: {\"k\": ", "{\"a\": \"x", "[\"x"][start]);
        let once = told(text.as_bytes(), &[usize::MAX]);
        prop_assert_eq!(&told(text.as_bytes(), &[1]), &once, "{:?} by bytes", text);
        prop_assert_eq!(&told(text.as_bytes(), &sizes), &once, "{:?} by {:?}", text, sizes);
    }

    #[test]
    fn any_text_in_any_pieces(text in "[\\[\\]{}:,\"'a1 \\\\\ntrue<`é.+/*#-]{0,60}", sizes in prop::collection::vec(1usize..9, 1..5)) {
        let _ = stream(text.as_bytes(), &sizes);
        let _ = whole(text.as_bytes());
    }
}
