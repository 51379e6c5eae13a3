//! Building a caller's own values from a document, in one pass without recursion.

use super::document::{Document, Kind, Node, Place};
use super::string::unescape_into;

/// What a caller's value is built with: whole ([`Document::build`]) or as it comes in
/// ([`super::JsonStream`]). Values are added to the innermost open container: under the
/// key that came before in an object, at the end of an array; the first one is the root.
pub trait Build {
    /// An object opens.
    fn open_object(&mut self);
    /// An array opens.
    fn open_array(&mut self);
    /// The innermost container is complete.
    fn close(&mut self);
    /// A key (WTF-8); its value comes next. A key that came before is set again.
    fn key(&mut self, key: &[u8]);
    /// `null`
    fn null(&mut self);
    /// A boolean.
    fn boolean(&mut self, value: bool);
    /// A number by its text; also `NaN`, `Infinity`, `-Infinity`.
    fn number(&mut self, text: &str);
    /// A complete string (WTF-8).
    fn string(&mut self, text: &[u8]);
    /// A string begins that this piece does not end; its place in the value waits for it.
    fn tail_open(&mut self);
    /// The open string grows by this text (WTF-8).
    fn tail_grow(&mut self, text: &[u8]);
    /// The open string is complete.
    fn tail_close(&mut self);
}

impl Document<'_> {
    /// Tells a builder the whole document, in order. Repeated keys are told as they stand: the
    /// last one wins if a key that came before is set again. Strings come whole; `tail_open` and
    /// its like are not called.
    pub fn build(&self, build: &mut impl Build) {
        // For each open container: is it an object, and how many nodes are to come.
        let mut open: Vec<(bool, u32)> = Vec::new();
        let mut decoded = Vec::new();
        // A key comes next, and not a value.
        let mut at_key = false;
        for node in &self.nodes {
            if at_key {
                build.key(self.text_of(node, &mut decoded));
                at_key = false;
                continue;
            }
            match node.kind {
                Kind::Null => build.null(),
                Kind::True => build.boolean(true),
                Kind::False => build.boolean(false),
                Kind::Number => {
                    let text = self.text_of(node, &mut decoded);
                    build.number(std::str::from_utf8(text).unwrap_or("NaN"));
                }
                Kind::String => build.string(self.text_of(node, &mut decoded)),
                Kind::Array | Kind::Object => {
                    let object = node.kind == Kind::Object;
                    if object {
                        build.open_object();
                    } else {
                        build.open_array();
                    }
                    // One more, which the loop below takes for the container itself.
                    open.push((object, node.end + 1));
                }
            }
            while let Some((object, left)) = open.last_mut() {
                *left -= 1;
                at_key = *object;
                if *left > 0 {
                    break;
                }
                build.close();
                open.pop();
                at_key = false;
            }
        }
    }

    /// The decoded text of a string or number.
    fn text_of<'s>(&'s self, node: &Node, decoded: &'s mut Vec<u8>) -> &'s [u8] {
        let from = if node.place == Place::Side { &self.side[..] } else { self.text };
        let raw = from.get(node.start as usize..node.end as usize).unwrap_or_default();
        if node.place != Place::Escaped {
            return raw;
        }
        decoded.clear();
        unescape_into(decoded, raw);
        decoded
    }
}
