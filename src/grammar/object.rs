//! The JSON object of a reply: the strict tier's, or a repaired one.

use super::choices;
use super::marker::Reader;
use super::verdict;
use crate::json::{Code, Cursor, Document, Kind, RepairOptions, Source, object_spans, repair};
use crate::target::trim_js;

/// The object of a reply and how it was come by.
#[derive(Clone, Copy)]
pub(super) struct Object<'d> {
    root: Cursor<'d>,
    /// The text behind a repaired object.
    repaired: Option<&'d [u8]>,
}

impl<'d> Object<'d> {
    fn of(document: &'d Document<'d>, repaired: bool) -> Option<Self> {
        let root = document.root();
        (root.kind() == Kind::Object)
            .then(|| Object { root, repaired: repaired.then(|| document.text()) })
    }

    /// The value of a key that is present.
    pub(super) fn get(self, key: &str) -> Option<Cursor<'d>> {
        self.root.get(key.as_bytes())
    }

    /// The `reason`: a string that is not blank, trimmed.
    pub(super) fn reason(self) -> Option<Vec<u8>> {
        let reason = self.get("reason").filter(|v| v.kind() == Kind::String)?.content();
        let trimmed = trim_js(&reason);
        (!trimmed.is_empty()).then(|| trimmed.to_vec())
    }

    /// A boolean. In broken JSON `true|false` is the form of an answer and not one.
    pub(super) fn boolean(self, key: &str) -> Option<bool> {
        let value = self.get(key)?;
        let boolean = match value.kind() {
            Kind::True => true,
            Kind::False => false,
            _ => return None,
        };
        let form = self.tail(value).is_some_and(|mut tail| {
            let joint = tail.joint(b"", &[]);
            joint.bar || joint.or
        });
        (!form).then_some(boolean)
    }

    /// Whether the string `verdict` passes: it does unless it holds a word that blocks. In broken
    /// JSON `"pass"|"block"` is the form of an answer and not one.
    pub(super) fn verdict(self) -> Option<bool> {
        let value = self.get("verdict").filter(|v| v.kind() == Kind::String)?;
        let word = value.content();
        if self.repaired.is_some() && verdict::is_form(&word) {
            return None;
        }
        let passes = !verdict::blocks(&word);
        let form =
            passes && self.tail(value).is_some_and(|mut tail| verdict::listed(&mut tail, true));
        (!form).then_some(passes)
    }

    /// Whether the end of a broken text cuts a deciding value that would pass as far as it goes:
    /// `"verdict": "bl` was no pass, and `"score": 1` may have been 10%. Such an object says nothing.
    pub(super) fn is_cut(self, passes: Option<bool>, score: Option<f64>) -> bool {
        let cut = |key| self.get(key).is_some_and(|value| self.ends_with(value));
        (cut("verdict") && passes != Some(false))
            || (cut("score") && score.is_some_and(|s| s >= 0.5))
    }

    /// Whether nothing stands behind a string or number, not even the quote that closes it.
    fn ends_with(self, value: Cursor<'d>) -> bool {
        let Some(text) = self.repaired else { return false };
        if !matches!(value.kind(), Kind::String | Kind::Number) {
            return false;
        }
        // Of a value that was rewritten only the end of the whole text is known.
        let Some((_, end)) = value.text_span() else {
            return !matches!(trim_js(text).last(), Some(b'}' | b']' | b'"' | b'\'' | b'`'));
        };
        let behind = trim_js(text.get(end..).unwrap_or_default());
        behind.is_empty() || behind.starts_with(b"```")
    }

    /// Whether a number of broken JSON is one of a list, such as `1|2`.
    pub(super) fn is_list(self, value: Cursor<'d>, label: &[u8], words: &[&[u8]]) -> bool {
        let first = value.number_text() == "1";
        self.tail(value).is_some_and(|mut tail| choices::of_numbers(&mut tail, label, first, words))
    }

    /// What stands behind a value of broken JSON.
    pub(super) fn tail(self, value: Cursor<'d>) -> Option<Reader<'d>> {
        let text = self.repaired?;
        Some(Reader::new(text, value.text_span()?.1))
    }
}

/// What a reader finds in the strict tier's object.
pub(super) fn read_strict<T>(
    strict: Option<&Document<'_>>,
    read: impl Fn(Object<'_>) -> Option<T>,
) -> Option<T> {
    read(Object::of(strict?, false)?)
}

/// What a reader finds in the repaired object. The repair tier's choice is read first where it is a
/// block of its own (a fence, tags); among objects in prose the last readable one counts, as for
/// markers.
pub(super) fn read_repaired<T>(
    text: &[u8],
    keys: &[&str],
    read: impl Fn(Object<'_>) -> Option<T>,
) -> Option<T> {
    let options = RepairOptions { duplicates: false, ..RepairOptions::default() };
    let chosen = repair(text, &options);
    // Members without their opening brace are no answer.
    let whole = !chosen.diagnostics.iter().any(|d| d.code == Code::MissingOpener);
    let read_chosen = || read(Object::of(chosen.result.as_ref().ok().filter(|_| whole)?, true)?);
    let block = matches!(chosen.source, Source::Fence | Source::Tag);
    let first = if block { read_chosen() } else { None };
    first
        .or_else(|| {
            let spans = object_spans(text, keys).found;
            let tops = spans.iter().rev().filter(|span| span.at_top && !span.reasoning);
            tops.into_iter().find_map(|span| read(Object::of(&span.document, true)?))
        })
        .or_else(read_chosen)
}
