//! Patterns in the forms of other languages.

use crate::json::quote;

const FLAGS: &str = "dgimsuvy";

/// The fields that say what a pattern with its flags in front, `(?i)x`, means.
fn leading_flags(pattern: &str) -> Option<(String, &str)> {
    let (flags, rest) = pattern.strip_prefix("(?")?.split_once(')')?;
    let letters = !flags.is_empty() && flags.chars().all(|c| c.is_ascii_lowercase());
    letters.then(|| (flags.chars().filter(|c| "ims".contains(*c)).collect(), rest))
}

fn fields(pattern: &str, flags: &str) -> String {
    let pattern = quote(pattern.as_bytes());
    if flags.is_empty() {
        return format!("\"pattern\": {pattern}");
    }
    format!("\"pattern\": {pattern}, \"flags\": \"{flags}\"")
}

/// What says the same as a pattern that JavaScript refuses.
pub(crate) fn invalid_pattern(pattern: &str) -> Option<String> {
    if let Some((flags, rest)) = leading_flags(pattern) {
        return Some(format!("flags are a field of their own: {}", fields(rest, &flags)));
    }
    if pattern.contains("(?P<") {
        return Some("JavaScript names a group (?<name>…), without P".to_owned());
    }
    if pattern.contains("(?P=") {
        return Some(r"JavaScript refers to a named group by \k<name>".to_owned());
    }
    let atomic = pattern.contains("(?>") || ["*+", "++", "?+"].iter().any(|q| pattern.contains(q));
    atomic.then(|| "JavaScript has no atomic groups and no possessive quantifiers".to_owned())
}

/// Why a pattern that builds may not mean what its author thinks, and what would.
pub(crate) fn doubtful_pattern(pattern: &str, flags: &str) -> Option<(String, String)> {
    if let Some((inner, tail)) = pattern.strip_prefix('/').and_then(|p| p.rsplit_once('/'))
        && !inner.is_empty()
        && tail.chars().all(|c| FLAGS.contains(c))
        // A path has more slashes, and an escaped one belongs to the pattern.
        && !inner.replace("\\/", "").contains('/')
        && !inner.ends_with('\\')
    {
        let said = "the slashes around the pattern are part of it".to_owned();
        return Some((said, format!("without them: {}", fields(&inner.replace("\\/", "/"), tail))));
    }
    if flags.contains(['u', 'v']) {
        return None; // There these are errors.
    }
    let mut letters = pattern.chars();
    while let Some(c) = letters.next() {
        let escape = if c == '\\' { letters.next() } else { None };
        if let Some(letter @ ('A' | 'Z' | 'z')) = escape {
            let means = if letter == 'A' { "^" } else { "$" };
            return Some((
                format!("\\{letter} is the letter {letter} in JavaScript"),
                format!(
                    "for the {} of the text write {means}",
                    if letter == 'A' { "start" } else { "end" }
                ),
            ));
        }
    }
    pattern.contains("[[:").then(|| {
        (
            "JavaScript has no classes such as [[:alpha:]]".to_owned(),
            r"write \p{Alphabetic} with the flag u, or the letters".to_owned(),
        )
    })
}
