//! The scored text and what several scorers want to know of it, each computed at most once.

use std::cell::OnceCell;
use std::ops::Deref;

use crate::json::{self, Document, RepairOptions, Repaired};
use crate::text::Text;

/// One text to score: a [`Text`], and the JSON in it.
///
/// Not `Sync`: a target belongs to the thread that scores it.
pub struct Target<'a> {
    text: Text<'a>,
    json: OnceCell<Option<Document<'a>>>,
    repaired: OnceCell<Box<Repaired<'a>>>,
}

impl<'a> Target<'a> {
    /// A target over UTF-8 text.
    pub fn new(text: &'a str) -> Self {
        Self::from_wtf8(text.as_bytes())
    }

    /// A target over WTF-8 bytes, as [`wtf8`](crate::text::wtf8) makes them.
    pub fn from_wtf8(bytes: &'a [u8]) -> Self {
        let text = Text::from_wtf8(bytes);
        Target { text, json: OnceCell::new(), repaired: OnceCell::new() }
    }

    /// The JSON value that the strict tier finds in the text.
    pub fn json(&self) -> Option<&Document<'a>> {
        self.json.get_or_init(|| json::extract(self.bytes())).as_ref()
    }

    /// What the repair tier finds in the text.
    pub fn repaired(&self) -> &Repaired<'a> {
        let repair = || Box::new(json::repair(self.bytes(), &RepairOptions::default()));
        self.repaired.get_or_init(repair)
    }
}

impl<'a> Deref for Target<'a> {
    type Target = Text<'a>;

    fn deref(&self) -> &Text<'a> {
        &self.text
    }
}
