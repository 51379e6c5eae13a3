//! Documents with a slip, whose truth is known: the bytes choose the document and the slips, and
//! the value is the one that the document was made from.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scoregate::json::{RepairOptions, Severity, Value, parse, repair};

const WORDS: [&str; 12] = [
    "late",
    "one, two",
    "it's",
    "say \"no\"",
    "a: b",
    "{x}",
    "[1]",
    "été 😀",
    "x // y",
    "# z",
    "",
    "C:\\dir",
];
const KEYS: [&str; 8] = ["id", "name", "tags", "first name", "a-b", "x1", "note", "ok"];
const DEPTH: usize = 4;

/// The bytes, as choices.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn next(&mut self, below: usize) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first) % below
    }
}

/// How often a slip is made: at each place where the bytes say so.
#[derive(Clone, Copy)]
struct Slips {
    kind: usize,
}

const TRAILING: usize = 1;
const DOUBLED: usize = 2;
const MISSING: usize = 3;
const PYTHON: usize = 4;
const SINGLE: usize = 5;
const BARE: usize = 6;
const BLOCK: usize = 7;
const LINE: usize = 8;
const COLON: usize = 9;
const KINDS: usize = 10;

/// The text with slips, and the same document without.
struct Writer<'a> {
    choices: Choices<'a>,
    slips: Slips,
    slipped: String,
    clean: String,
}

impl Writer<'_> {
    fn both(&mut self, text: &str) {
        self.slipped.push_str(text);
        self.clean.push_str(text);
    }

    fn slips(&mut self, kind: usize) -> bool {
        self.slips.kind == kind && self.choices.next(3) == 0
    }

    fn string(&mut self, text: &str) {
        let quoted = Value::string(text).to_json();
        self.clean.push_str(&quoted);
        if self.slips(SINGLE) {
            let inner = quoted[1..quoted.len() - 1].replace("\\\"", "\"").replace('\'', "\\'");
            self.slipped.push_str(&format!("'{inner}'"));
        } else {
            self.slipped.push_str(&quoted);
        }
    }

    fn key(&mut self, key: &str) {
        if key.bytes().all(|b| b.is_ascii_alphanumeric()) && self.slips(BARE) {
            self.clean.push_str(&format!("\"{key}\""));
            self.slipped.push_str(key);
        } else {
            self.string(key);
        }
        self.clean.push(':');
        let colon = if self.slips(COLON) { " " } else { ": " };
        self.slipped.push_str(colon);
    }

    fn literal(&mut self, json: &str, python: &str) {
        self.clean.push_str(json);
        let text = if self.slips(PYTHON) { python } else { json };
        self.slipped.push_str(text);
    }

    fn comma(&mut self) {
        self.clean.push(',');
        let slipped = match self.slips.kind {
            DOUBLED => ",, ",
            MISSING => "\n",
            BLOCK => ", /* \"a\": 1, */ ",
            LINE => ", // it's \"so\"\n",
            _ => ", ",
        };
        let text = if self.slips(self.slips.kind) { slipped } else { ", " };
        self.slipped.push_str(text);
    }

    fn value(&mut self, depth: usize) {
        match self.choices.next(if depth == 0 { 6 } else { 9 }) {
            0 => self.both("12"),
            1 => self.both("-0.5"),
            2 => self.literal("true", "True"),
            3 => self.literal("null", "None"),
            4 | 5 => {
                let word = WORDS[self.choices.next(WORDS.len())];
                self.string(word);
            }
            6 => self.list(depth - 1),
            _ => self.object(depth - 1),
        }
    }

    fn list(&mut self, depth: usize) {
        self.both("[");
        let count = self.choices.next(4);
        for at in 0..count {
            if at > 0 {
                self.comma();
            }
            self.value(depth);
        }
        if count > 0 && self.slips(TRAILING) {
            self.slipped.push(',');
        }
        self.both("]");
    }

    fn object(&mut self, depth: usize) {
        self.both("{");
        let (first, count) = (self.choices.next(KEYS.len()), self.choices.next(4) + 1);
        for at in 0..count {
            if at > 0 {
                self.comma();
            }
            self.key(KEYS[(first + at) % KEYS.len()]);
            self.value(depth);
        }
        if self.slips(TRAILING) {
            self.slipped.push(',');
        }
        self.both("}");
    }
}

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let slips = Slips { kind: choices.next(KINDS) };
    let around = choices.next(5);
    let mut writer = Writer { choices, slips, slipped: String::new(), clean: String::new() };
    writer.object(DEPTH);
    let (slipped, clean) = (writer.slipped, writer.clean);
    let text = match around {
        0 => format!("```json\n{slipped}\n```"),
        1 => format!("Here it is:\n\n{slipped}"),
        2 => format!("{slipped}\n\nThat is all."),
        3 => format!("<think>Should it be [1]?</think>\n{slipped}"),
        _ => slipped,
    };
    let truth = parse(clean.as_bytes()).expect("the clean text is JSON").to_json();
    let repaired = repair(text.as_bytes(), &RepairOptions::default());
    let found = repaired.result.map(|document| document.to_json());
    let lossy = repaired.diagnostics.iter().any(|d| d.code.severity() == Severity::Lossy);
    assert!(found.as_ref() == Ok(&truth), "{text}\nwant {truth}\ngot  {found:?}");
    assert!(!lossy, "{text}");
});
