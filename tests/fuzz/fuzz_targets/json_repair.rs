//! Repair and streams: no panic, bounded steps, valid JSON unchanged, prefixes stable.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scoregate::json::{
    Build, Document, JsonStream, Kind, RepairErrorKind, RepairOptions, object_spans, parse, repair,
};

#[derive(Default)]
struct Depth {
    open: usize,
    tail: bool,
}

impl Build for Depth {
    fn open_object(&mut self) {
        self.open += 1;
    }
    fn open_array(&mut self) {
        self.open += 1;
    }
    fn close(&mut self) {
        self.open = self.open.checked_sub(1).expect("a close without its open");
    }
    fn key(&mut self, _: &[u8]) {
        assert!(!self.tail && self.open > 0);
    }
    fn null(&mut self) {
        assert!(!self.tail);
    }
    fn boolean(&mut self, _: bool) {
        assert!(!self.tail);
    }
    fn number(&mut self, _: &str) {
        assert!(!self.tail);
    }
    fn string(&mut self, _: &[u8]) {
        assert!(!self.tail);
    }
    fn tail_open(&mut self) {
        assert!(!self.tail);
        self.tail = true;
    }
    fn tail_grow(&mut self, _: &[u8]) {
        assert!(self.tail);
    }
    fn tail_close(&mut self) {
        assert!(self.tail);
        self.tail = false;
    }
}

/// Keys are strings, and the nodes stand in the order of the tree.
fn well_formed(document: &Document<'_>) {
    let (mut open, mut next) = (vec![document.root()], 0);
    while let Some(cursor) = open.pop() {
        assert_eq!(cursor.index(), next);
        next += 1;
        let mut children: Vec<_> = cursor.elements().collect();
        for (key, value) in cursor.members() {
            assert_eq!(key.kind(), Kind::String);
            children.extend([key, value]);
        }
        open.extend(children.into_iter().rev());
    }
}

fuzz_target!(|data: &[u8]| {
    let repaired = repair(data, &RepairOptions::default());
    assert!(repaired.steps <= 8 * data.len() as u64 + 65_536, "{} steps", repaired.steps);
    assert!(!matches!(&repaired.result, Err(e) if e.kind == RepairErrorKind::Budget));
    for found in &repaired.diagnostics {
        assert!(found.start <= found.end && found.end <= data.len());
    }
    if let Ok(strict) = parse(data) {
        assert_eq!(repaired.result.as_ref().map(|d| d.to_json()), Ok(strict.to_json()));
    }
    if let Ok(document) = &repaired.result {
        well_formed(document);
        parse(document.to_json().as_bytes()).expect("canonical text is JSON");
    }
    let _ = object_spans(data, &["verdict", "a"]);

    let step = data.first().map_or(1, |b| usize::from(b % 16) + 1);
    let (mut stream, mut depth) = (JsonStream::default(), Depth::default());
    for piece in data.chunks(step) {
        if stream.feed(piece, &mut depth).is_err() {
            return;
        }
    }
    if stream.finish(&mut depth).is_ok() {
        assert!(depth.open == 0 && !depth.tail);
    }
});
