//! Strict parsing accepts what `serde_json` accepts, with the same values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scoregate::json::{Cursor, Kind, extract, parse};

fn same(cursor: Cursor<'_>, value: &serde_json::Value) -> bool {
    match (cursor.kind(), value) {
        (Kind::Null, serde_json::Value::Null) => true,
        (Kind::True, serde_json::Value::Bool(b)) => *b,
        (Kind::False, serde_json::Value::Bool(b)) => !*b,
        (Kind::Number, serde_json::Value::Number(n)) => {
            let (ours, theirs) = (cursor.number_text(), n.to_string());
            ours == theirs || ours.parse::<f64>().ok() == theirs.parse::<f64>().ok()
        }
        (Kind::String, serde_json::Value::String(s)) => cursor.content_is(s.as_bytes()),
        (Kind::Array, serde_json::Value::Array(items)) => {
            cursor.len() == items.len() && cursor.elements().zip(items).all(|(a, b)| same(a, b))
        }
        (Kind::Object, serde_json::Value::Object(members)) => {
            members.iter().all(|(k, v)| cursor.get(k.as_bytes()).is_some_and(|c| same(c, v)))
                && cursor
                    .members()
                    .all(|(k, _)| members.contains_key(&*String::from_utf8_lossy(&k.content())))
        }
        _ => false,
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        let _ = parse(data);
        return;
    };
    let ours = parse(data);
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(theirs) => {
            let ours = ours.expect("accepted by serde_json");
            assert!(same(ours.root(), &theirs));
            // The canonical text is the same value.
            let canonical = ours.to_json();
            assert!(same(parse(canonical.as_bytes()).expect("canonical").root(), &theirs));
            assert!(extract(data).is_some());
        }
        Err(error) => {
            // There deeper nesting (128) and lone halves of surrogates are errors.
            let lenient = text.contains("\\u") || error.to_string().contains("recursion");
            assert!(ours.is_err() || lenient, "{error}");
        }
    }
});
