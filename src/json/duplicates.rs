//! Repeated keys.

use std::collections::HashMap;

use super::diagnostics::{Code, Diagnostic, Log};
use super::document::{Cursor, Document, Kind, Place};

/// The repeated keys of a document, each but the last of its name: one diagnostic each, at the
/// key. A reader that builds objects may call this only when an object has fewer members than
/// its node says.
pub fn duplicate_keys(document: &Document<'_>) -> Vec<Diagnostic> {
    let mut log = Log::default();
    duplicate_keys_into(document, &mut log);
    log.finish(document.text.len()).0
}

pub(super) fn duplicate_keys_into(document: &Document<'_>, log: &mut Log) {
    let mut keys: Vec<Cursor<'_>> = Vec::new();
    for (index, node) in document.nodes.iter().enumerate() {
        if node.kind != Kind::Object || node.end < 2 {
            continue;
        }
        keys.clear();
        keys.extend(document.cursor(index).members().map(|(key, _)| key));
        if keys.len() <= 12 { few(document, &keys, log) } else { many(document, &keys, log) }
    }
}

/// Compares each pair; lengths nearly always differ or the first bytes do.
fn few(document: &Document<'_>, keys: &[Cursor<'_>], log: &mut Log) {
    let plain = keys.iter().all(|k| k.is_raw());
    for (i, a) in keys.iter().enumerate() {
        let rest = keys.get(i + 1..).unwrap_or_default();
        let repeated = if plain {
            rest.iter().any(|b| a.raw_bytes() == b.raw_bytes())
        } else {
            rest.iter().any(|b| a.content() == b.content())
        };
        if repeated {
            report(document, *a, log);
        }
    }
}

fn many(document: &Document<'_>, keys: &[Cursor<'_>], log: &mut Log) {
    let mut last = HashMap::with_capacity(keys.len());
    for (i, key) in keys.iter().enumerate() {
        last.insert(key.content(), i);
    }
    if last.len() == keys.len() {
        return;
    }
    for (i, key) in keys.iter().enumerate() {
        if last.get(&key.content()) != Some(&i) {
            report(document, *key, log);
        }
    }
}

fn report(document: &Document<'_>, key: Cursor<'_>, log: &mut Log) {
    let Some(node) = document.nodes.get(key.index()) else { return };
    let (start, end) =
        if node.place == Place::Side { (0, 0) } else { (node.start as usize, node.end as usize) };
    log.add(Code::DuplicateKey, start, end);
}
