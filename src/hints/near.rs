//! The nearest name, and hints for values.

use std::borrow::Cow;

use crate::json::{Value, quote};
use crate::text::to_utf8;

/// Names are compared, and shown, up to so many characters.
const LENGTH: usize = 40;

/// A name as people vary it: lower case, without the marks that join words.
pub(super) fn normal(name: &str) -> String {
    let kept = name.chars().filter(|c| !matches!(c, '-' | '_' | ' ' | '.')).take(LENGTH);
    kept.flat_map(char::to_lowercase).collect()
}

/// A name as messages show it.
pub(super) fn clip(name: &[u8]) -> String {
    let name = to_utf8(name);
    match name.char_indices().nth(2 * LENGTH) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.into_owned(),
    }
}

/// The one known name that is nearest to a misspelt one.
pub(crate) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = normal(name);
    if negation(&name).is_some() {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    let mut tie = false;
    for &candidate in known {
        let plain = normal(candidate);
        let distance = if plain != name && (plain.starts_with(&name) || name.starts_with(&plain)) {
            // A part of a name that is long enough to be recognised.
            1 + usize::from(name.len().min(plain.len()) < 4) * LENGTH
        } else {
            distance(&name, &plain)
        };
        if distance > name.chars().count().max(plain.chars().count()) / 3 {
            continue;
        }
        tie = best.is_some_and(|(least, _)| least == distance);
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.filter(|_| !tie).map(|(_, name)| name)
}

/// What a name negates: `notcontains` negates `contains`.
pub(super) fn negation(name: &str) -> Option<&str> {
    const WORDS: [&str; 10] =
        ["doesnot", "doesnt", "isnot", "isnt", "must not", "never", "without", "not", "non", "!"];
    let rest = WORDS.iter().find_map(|word| name.strip_prefix(word))?;
    (rest.len() > 2).then_some(rest)
}

/// How many letters are added, left out, changed or swapped between two names.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// A hint for a key that is near to a known one.
pub(super) fn near_key(key: &[u8], known: &[&str]) -> Option<String> {
    nearest(&to_utf8(key), known).map(|name| format!("did you mean '{name}'?"))
}

/// Words of other tools for values, and ours.
const VALUES: [(&str, &str); 24] = [
    ("and", "all"),
    ("every", "all"),
    ("or", "any"),
    ("some", "any"),
    ("one", "any"),
    ("mean", "weighted"),
    ("average", "weighted"),
    ("avg", "weighted"),
    ("sum", "weighted"),
    ("words", "word"),
    ("lines", "line"),
    ("bytes", "byte"),
    ("utf8", "byte"),
    ("graphemes", "grapheme"),
    ("codepoints", "codepoint"),
    ("units", "utf16"),
    ("js", "javascript"),
    ("node", "javascript"),
    ("ts", "typescript"),
    ("fail", "block"),
    ("reject", "block"),
    ("accept", "pass"),
    ("allow", "pass"),
    ("failure", "onFail"),
];

/// A hint for a value that is none of the allowed names.
pub(crate) fn value(given: &Value, names: &[&str]) -> Option<String> {
    let Some(text) = given.as_bytes() else { return other_type(given) };
    let shown = clip(text);
    let plain = normal(&to_utf8(text));
    if names.contains(&"codepoint") {
        match &*plain {
            "chars" | "characters" | "char" | "character" => {
                return Some(format!(
                    "got '{shown}'; 'utf16' counts as JavaScript does, 'codepoint' as Python's \
                     len, 'grapheme' as readers do"
                ));
            }
            "tokens" | "token" => {
                return Some("no unit counts tokens; 'word' comes nearest".into());
            }
            _ => {}
        }
    }
    let ours = VALUES.iter().find(|(word, ours)| *word == plain && names.contains(ours));
    let ours = ours.map(|(_, ours)| *ours).or_else(|| nearest(&to_utf8(text), names))?;
    Some(format!("got '{shown}'; did you mean '{ours}'?"))
}

/// A hint for a value of another type that says the same.
pub(crate) fn other_type(given: &Value) -> Option<String> {
    let text = given.as_str()?.trim();
    let plain: Cow<'_, str> = match text {
        "True" | "yes" | "on" => "true".into(),
        "False" | "no" | "off" => "false".into(),
        _ => text.into(),
    };
    match Value::parse(plain.as_bytes()).ok()? {
        Value::Bool(_) | Value::Number(_) if plain.len() <= LENGTH => {
            Some(format!("write {plain}, without quotes"))
        }
        _ => None,
    }
}

/// A hint for a value that is no text where one is wanted.
pub(crate) fn quoted(given: &Value) -> Option<String> {
    match given {
        Value::Bool(_) | Value::Number(_) => {
            Some(format!("write {}, in quotes", quote(given.to_json().as_bytes())))
        }
        Value::Array(_) => {
            Some("one text; for several texts use a scorer each, with combine all or any".into())
        }
        Value::Object(_) => Some("expected JSON text in quotes, not an object".into()),
        Value::Null | Value::String(_) => None,
    }
}

/// A hint for a share that is written as a percentage.
pub(crate) fn share(given: &Value) -> Option<String> {
    let percent = match given {
        Value::Number(number) => number.as_f64(),
        _ => given.as_str()?.trim().trim_end_matches('%').parse().ok()?,
    };
    let share = if given.as_f64().is_none() && percent <= 1.0 { percent } else { percent / 100.0 };
    (share > 0.0 && share <= 1.0).then(|| format!("a share, such as {share}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_ties_are_not() {
        let known =
            ["exact-match", "contains", "regex", "json-schema", "length-range", "min", "max"];
        for (name, wanted) in [
            ("Contain", Some("contains")),
            ("contian", Some("contains")),
            ("exact_match", Some("exact-match")),
            ("jsonschema", Some("json-schema")),
            ("regexp", Some("regex")),
            ("length", Some("length-range")),
            ("mix", None),
            ("not-contains", None),
            ("notcontains", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &known), wanted, "{name}");
        }
    }
}
