//! The other fields of the row that a text came with, read lazily by path.

use std::sync::OnceLock;

use crate::json::{Cursor, Document, Value, parse};

/// The fields of one row: an object, read when a scorer first asks for a path.
pub struct Row<'a> {
    text: Option<&'a [u8]>,
    document: OnceLock<Option<Document<'a>>>,
}

impl<'a> Row<'a> {
    /// A row without fields.
    pub fn empty() -> Self {
        Row { text: None, document: OnceLock::new() }
    }

    /// A row from the text of a JSON object (WTF-8). Text that is not JSON has no fields.
    pub fn from_json(text: &'a [u8]) -> Self {
        Row { text: Some(text), document: OnceLock::new() }
    }

    /// A row from a value.
    pub fn from_value(value: &Value) -> Row<'static> {
        Row { text: None, document: OnceLock::from(Some(Document::from_value(value))) }
    }

    /// The value at a path of keys and array indices joined by dots (`result.items.0.id`).
    pub fn get(&self, path: &str) -> Option<Cursor<'_>> {
        let document = self.document.get_or_init(|| parse(self.text?).ok()).as_ref()?;
        path.split('.').try_fold(document.root(), |value, step| {
            value.get(step.as_bytes()).or_else(|| value.element(step.parse().ok()?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_reach_into_objects_and_arrays() {
        let row = Row::from_json(br#"{"a": {"b": [10, {"c": "x"}]}, "a.b": 1}"#);
        assert_eq!(row.get("a.b.1.c").unwrap().content(), b"x".as_slice());
        assert_eq!(row.get("a.b.0").unwrap().number_text(), "10");
        assert!(row.get("a.b.2").is_none() && row.get("z").is_none());
        assert!(Row::empty().get("a").is_none());
        assert!(Row::from_json(b"{").get("a").is_none());
        let owned = Row::from_value(&Value::parse(br#"{"n": [1]}"#).unwrap());
        assert_eq!(owned.get("n.0").unwrap().number_text(), "1");
    }
}
