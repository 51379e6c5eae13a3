//! Streams against the whole text: wherever a text is cut, a stream tells the same, within its
//! budget; of valid JSON it tells what the strict parser reads.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scoregate::json::{Build, JsonStream, Value, parse};

/// A longer text is not cut everywhere.
const LONGEST: usize = 400;

/// What a stream told, as text; an open string that grew reads like one that came whole.
#[derive(Default)]
struct Log {
    told: Vec<u8>,
}

impl Log {
    fn tell(&mut self, sign: &[u8], text: &[u8]) {
        self.told.extend_from_slice(sign);
        self.told.extend_from_slice(text);
        self.told.push(b'\n');
    }
}

impl Build for Log {
    fn open_object(&mut self) {
        self.tell(b"{", b"");
    }
    fn open_array(&mut self) {
        self.tell(b"[", b"");
    }
    fn close(&mut self) {
        self.tell(b"end", b"");
    }
    fn key(&mut self, key: &[u8]) {
        self.tell(b"key ", key);
    }
    fn null(&mut self) {
        self.tell(b"null", b"");
    }
    fn boolean(&mut self, value: bool) {
        self.tell(if value { b"true" } else { b"false" }, b"");
    }
    fn number(&mut self, text: &str) {
        self.tell(b"number ", text.as_bytes());
    }
    fn string(&mut self, text: &[u8]) {
        self.tell(b"string ", text);
    }
    fn tail_open(&mut self) {
        self.told.extend_from_slice(b"string ");
    }
    fn tail_grow(&mut self, text: &[u8]) {
        self.told.extend_from_slice(text);
    }
    fn tail_close(&mut self) {
        self.told.push(b'\n');
    }
}

/// What a stream tells of a text in pieces, and whether it ends well.
fn told<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, length: usize) -> (Vec<u8>, bool) {
    let (mut stream, mut log) = (JsonStream::default(), Log::default());
    let fed = pieces.into_iter().all(|piece| stream.feed(piece, &mut log).is_ok());
    let ended = fed && stream.finish(&mut log).is_ok();
    assert!(stream.steps() <= 16 * length as u64 + 65_536, "{} steps", stream.steps());
    (log.told, ended)
}

fuzz_target!(|data: &[u8]| {
    if std::str::from_utf8(data).is_err() {
        return;
    }
    let whole = told([data], data.len());
    assert_eq!(told(data.chunks(1), data.len()), whole, "one byte at a time");
    for cut in 1..data.len().min(LONGEST) {
        assert_eq!(told([&data[..cut], &data[cut..]], data.len()), whole, "cut at {cut}");
    }
    if let Ok(document) = parse(data)
        && matches!(Value::from_cursor(document.root()), Value::Array(_) | Value::Object(_))
    {
        let mut log = Log::default();
        document.build(&mut log);
        assert_eq!(whole, (log.told, true), "valid JSON");
    }
});
