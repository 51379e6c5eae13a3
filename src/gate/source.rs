//! The text of a gate: JSON as people write it, and where its issues stand in it.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::{IssueKind, Path, SpecIssue, Step};
use crate::json::{Cursor, parse};
use crate::position::Positions;

/// The text as strict JSON of the same length: comments (`//` and `/* */`) and commas before a
/// closer become spaces, so that every place stays what it was.
pub(super) fn strict(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'/') && !text.contains(&b',') {
        return Cow::Borrowed(text);
    }
    let mut out = Cow::Borrowed(text);
    let (mut at, mut comma) = (0, None);
    while let Some(&byte) = text.get(at) {
        let next = match byte {
            b'"' => end_of_string(text, at),
            b'/' => end_of_comment(text, at).unwrap_or(at + 1),
            _ => at + 1,
        };
        if byte == b'/' && next > at + 1 {
            for b in out.to_mut().iter_mut().take(next).skip(at) {
                if *b != b'\n' {
                    *b = b' ';
                }
            }
        } else if byte == b',' {
            comma = Some(at);
        } else if matches!(byte, b']' | b'}') {
            if let Some(b) = comma.take().and_then(|at| out.to_mut().get_mut(at)) {
                *b = b' ';
            }
        } else if !byte.is_ascii_whitespace() {
            comma = None;
        }
        at = next;
    }
    out
}

fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = text.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    text.len()
}

/// The end of the comment that starts here; None where none does, or where it has no end.
fn end_of_comment(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    if rest.starts_with(b"//") {
        return Some(memchr::memchr(b'\n', rest).map_or(text.len(), |end| start + end));
    }
    let body = rest.strip_prefix(b"/*")?;
    memchr::memmem::find(body, b"*/").map(|end| start + 2 + end + 2)
}

/// Tells issues where they stand in the (strict) text, of which `part` is the score block.
pub(super) fn locate(issues: &mut [SpecIssue], text: &[u8], part: &[Step]) {
    let Ok(document) = parse(text) else { return };
    let mut root = document.root();
    for step in part {
        let inner = match step {
            Step::Index(index) => root.element(*index),
            Step::Key(name) => root.get(name),
        };
        root = inner.unwrap_or(root);
    }
    let mut members = HashMap::new();
    let mut found: Vec<(usize, usize)> =
        issues.iter().enumerate().map(|(i, issue)| (place(root, issue, &mut members), i)).collect();
    found.sort_unstable();
    let mut positions = Positions::new(text);
    for (offset, i) in found {
        if let Some(issue) = issues.get_mut(i) {
            issue.set_place(positions.of(offset));
        }
    }
}

/// Where paths lead in a text: lines and columns, of the key where that is meant.
pub fn places(text: &[u8], paths: Vec<(Path, bool)>) -> Vec<Option<(usize, usize)>> {
    let kind = |of_key| if of_key { IssueKind::UnknownKey } else { IssueKind::WrongValue };
    let mut issues: Vec<SpecIssue> =
        paths.into_iter().map(|(path, of_key)| SpecIssue::new(kind(of_key), path, "")).collect();
    locate(&mut issues, &strict(text), &[]);
    issues.iter().map(|issue| issue.line_number().zip(issue.column())).collect()
}

type Members<'d> = HashMap<usize, HashMap<Cow<'d, [u8]>, (Cursor<'d>, Cursor<'d>)>>;

/// The byte at which an issue stands: its key where that is at fault, else its value; the nearest
/// value around it where it is missing.
fn place<'d>(root: Cursor<'d>, issue: &SpecIssue, members: &mut Members<'d>) -> usize {
    let keys = [IssueKind::UnknownKey, IssueKind::NotApplicable];
    let (mut value, mut key) = (root, None);
    for step in issue.path().steps() {
        let next = match step {
            Step::Index(index) => value.element(*index).map(|value| (None, value)),
            Step::Key(name) => {
                // A block may have many keys, and as many issues.
                let of = members.entry(value.index()).or_insert_with(|| {
                    value.members().map(|(k, v)| (k.content(), (k, v))).collect()
                });
                of.get(name.as_slice()).map(|&(key, value)| (Some(key), value))
            }
        };
        match next {
            Some(next) => (key, value) = next,
            None => return start(value),
        }
    }
    match key {
        Some(key) if keys.contains(&issue.kind()) => start(key),
        _ => start(value),
    }
}

/// Where a value starts; a string at its quote.
fn start(value: Cursor<'_>) -> usize {
    let quote = usize::from(value.kind() == crate::json::Kind::String);
    value.start().unwrap_or_default().saturating_sub(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_become_spaces() {
        for (text, wanted) in [
            ("[1, 2]", "[1, 2]"),
            ("[1, 2, ] // x", "[1, 2  ]     "),
            ("{\"a//,}\": 1, /* b\n */}", "{\"a//,}\": 1      \n   }"),
            ("[\"\\\"//\", // ,\n 1,\n]", "[\"\\\"//\",     \n 1 \n]"),
            ("[1, /* no end", "[1, /* no end"),
            ("/", "/"),
        ] {
            assert_eq!(String::from_utf8_lossy(&strict(text.as_bytes())), wanted);
        }
    }
}
