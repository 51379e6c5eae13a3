//! Canonical JSON text of a document: compact, UTF-8, the last of repeated keys.

use super::document::{Cursor, Document, Kind};
use super::meaning::members_once;
use super::string::quote_into;

impl Document<'_> {
    /// The document as compact JSON text: members in their order, the last of repeated keys at
    /// the first one's place, numbers as written (`null` for `NaN` and infinities), lone
    /// surrogate halves escaped.
    pub fn to_json(&self) -> String {
        let mut out = Vec::with_capacity(self.text.len().min(1 << 16));
        self.write_json(&mut out);
        String::from_utf8(out)
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
    }

    /// Appends the same text, which is UTF-8.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        let mut open: Vec<Level<'_>> = Vec::new();
        write_value(self.root(), out, &mut open);
        while let Some(level) = open.last_mut() {
            match level.children.pop() {
                Some((key, value)) => {
                    if level.started {
                        out.push(b',');
                    }
                    level.started = true;
                    if let Some(key) = key {
                        quote_into(out, &key.content());
                        out.push(b':');
                    }
                    write_value(value, out, &mut open);
                }
                None => {
                    out.push(level.closer);
                    open.pop();
                }
            }
        }
    }
}

/// An open container and its children that are still to come, the next one last.
struct Level<'d> {
    children: Vec<(Option<Cursor<'d>>, Cursor<'d>)>,
    started: bool,
    closer: u8,
}

fn write_value<'d>(value: Cursor<'d>, out: &mut Vec<u8>, open: &mut Vec<Level<'d>>) {
    match value.kind() {
        Kind::Null => out.extend_from_slice(b"null"),
        Kind::True => out.extend_from_slice(b"true"),
        Kind::False => out.extend_from_slice(b"false"),
        Kind::Number => {
            let text = value.number_text();
            let finite = text
                .bytes()
                .all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E'));
            out.extend_from_slice(if finite { text.as_bytes() } else { b"null" });
        }
        Kind::String => quote_into(out, &value.content()),
        Kind::Array => {
            out.push(b'[');
            let children = value.elements().map(|v| (None, v)).collect();
            open.push(level(children, b']'));
        }
        Kind::Object => {
            out.push(b'{');
            let members = members_once(value).into_iter();
            open.push(level(members.map(|(k, v)| (Some(k), v)).collect(), b'}'));
        }
    }
}

fn level<'d>(mut children: Vec<(Option<Cursor<'d>>, Cursor<'d>)>, closer: u8) -> Level<'d> {
    children.reverse();
    Level { children, started: false, closer }
}

#[cfg(test)]
mod tests {
    use crate::json::parse;

    #[test]
    fn text_is_compact_and_keys_are_single() {
        let text = br#" { "a" : [1, 2.50, {}], "b": "x\u00e9\ud800", "a": null, "c": [] } "#;
        let document = parse(text).unwrap();
        assert_eq!(document.to_json(), r#"{"a":null,"b":"xé\ud800","c":[]}"#);
        assert_eq!(parse(b"[[[]],1e5]").unwrap().to_json(), "[[[]],1e5]");
    }
}
