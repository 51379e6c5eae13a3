//! Places in a target, in words that hold no more of it than they must.
//!
//! A detail is read by people and by a judge, and the keys of a target are whatever its author
//! wrote: a plain word stands as it is, any other is quoted as JSON and cut.

use std::borrow::Cow;

use crate::json::quote;
use crate::text::to_utf8;

/// At most this many violations are told, from a node of a contract as from a whole schema.
pub const MAX_VIOLATIONS: usize = 8;

/// A key is shown to so many characters.
const KEY: usize = 40;

/// A path is shown to so many bytes.
const PATH: usize = 200;

/// Appends a step to a path: `.key`, or `["any other"]`.
pub(super) fn push_key(path: &mut String, key: &str) {
    if is_plain(key) {
        path.push('.');
        path.push_str(key);
    } else {
        path.push_str(&format!("[{}]", shown(key)));
    }
}

/// A path that is cut where it is too long.
pub(super) fn cut_path(mut path: String) -> String {
    if path.len() > PATH {
        let end = (0..=PATH).rev().find(|&at| path.is_char_boundary(at)).unwrap_or_default();
        path.truncate(end);
        path.push('…');
    }
    path
}

/// Keys of a target (WTF-8) as a list, of which the first few are named.
pub(super) fn keys<'k>(keys: impl ExactSizeIterator<Item = Cow<'k, [u8]>>) -> String {
    const NAMED: usize = 3;
    let more = keys.len().saturating_sub(NAMED);
    let mut list: Vec<String> = keys.take(NAMED).map(|key| shown(&to_utf8(&key))).collect();
    if more > 0 {
        list.push(format!("and {more} more"));
    }
    list.join(", ")
}

fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key.chars().all(|c| c.is_ascii_alphanumeric() || "_$-".contains(c))
        && key.len() <= KEY
}

/// A key as JSON text, cut.
fn shown(key: &str) -> String {
    match key.char_indices().nth(KEY) {
        Some((at, _)) => quote(format!("{}…", &key[..at]).as_bytes()),
        None => quote(key.as_bytes()),
    }
}
