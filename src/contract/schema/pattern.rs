//! Patterns of schemas: JavaScript's, with flag u, or without it where u refuses the pattern.

use std::sync::Arc;

use crate::js_regex::{JsRegex, cached};
use crate::text::{Text, to_utf8};

/// A compiled pattern.
pub(in super::super) struct Pattern {
    engine: Arc<JsRegex>,
}

/// What a pattern says of a text, and the steps that it took.
pub(super) type Tested = (Result<bool, String>, u64);

impl Pattern {
    /// Compiles a pattern; where it comes from strangers, what cannot be bounded is refused.
    pub(in super::super) fn new(pattern: &[u8], untrusted: bool) -> Result<Self, String> {
        let engine = cached(pattern, "u", untrusted).or_else(|_| cached(pattern, "", untrusted));
        Ok(Pattern { engine: engine.map_err(|error| error.to_string())? })
    }

    /// Tests a text (WTF-8); the error is that the budget is spent.
    pub(in super::super) fn test(&self, text: &[u8]) -> Tested {
        let (found, steps) = self.engine.test_counted(&Text::from_wtf8(text));
        // What an automaton reads counts too.
        (found.map_err(|spent| spent.to_string()), steps + text.len() as u64 / 16)
    }

    /// The pattern as it was written.
    pub(super) fn text(&self) -> String {
        to_utf8(self.engine.pattern()).into_owned()
    }
}
