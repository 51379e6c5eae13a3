//! References of schemas: a URI reference against the URI of what holds it (RFC 3986, section 5).

/// The reference without its fragment, and the fragment, decoded.
pub(super) fn split(reference: &str) -> (&str, String) {
    match reference.split_once('#') {
        Some((uri, fragment)) => (uri, decode(fragment)),
        None => (reference, String::new()),
    }
}

/// A reference without fragment as an absolute URI, where its base is one.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() || scheme(reference).is_some() {
        let whole = if reference.is_empty() { base } else { reference };
        return whole.to_owned();
    }
    let start = scheme(base).map_or(0, |scheme| scheme.len() + 1);
    let (scheme, rest) = base.split_at(start);
    if reference.starts_with("//") {
        return format!("{scheme}{reference}");
    }
    let authority = rest
        .strip_prefix("//")
        .map_or(0, |place| place.find('/').map_or(rest.len(), |end| end + 2));
    let (authority, path) = rest.split_at(authority);
    let path = path.split('?').next().unwrap_or_default();
    if reference.starts_with('?') {
        return format!("{scheme}{authority}{path}{reference}");
    }
    let (wanted, query) = match reference.find('?') {
        Some(at) => reference.split_at(at),
        None => (reference, ""),
    };
    let joined = if wanted.starts_with('/') {
        wanted.to_owned()
    } else {
        let folder = path.rfind('/').map_or("", |end| &path[..=end]);
        let root = if folder.is_empty() && !authority.is_empty() { "/" } else { "" };
        format!("{root}{folder}{wanted}")
    };
    format!("{scheme}{authority}{}{query}", without_dots(&joined))
}

/// The scheme that a reference begins with.
fn scheme(reference: &str) -> Option<&str> {
    let (scheme, _) = reference.split_once(':')?;
    let mut bytes = scheme.bytes();
    let letter = bytes.next().is_some_and(|b| b.is_ascii_alphabetic());
    let rest = bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    (letter && rest).then_some(scheme)
}

fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut list = path.split('/').peekable();
    while let Some(part) = list.next() {
        let last = list.peek().is_none();
        match part {
            "." | ".." => {
                // The first part of an absolute path is empty and stays.
                if part == ".." && parts.len() > usize::from(path.starts_with('/')) {
                    parts.pop();
                }
                if last {
                    parts.push("");
                }
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The steps of a JSON Pointer.
pub(super) fn steps(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
}

/// Percent-decoded text; what is no code stays.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let code = code.and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_the_standard_says() {
        let base = "http://a/b/c/d;p?q";
        let cases = [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../g", "http://a/g"),
            ("urn:x:y", "urn:x:y"),
        ];
        for (reference, whole) in cases {
            assert_eq!(resolve(base, reference), whole, "{reference}");
        }
        assert_eq!(resolve("http://a", "g"), "http://a/g");
        assert_eq!(resolve("", "g.json"), "g.json");
        assert_eq!(resolve("urn:uuid:1", ""), "urn:uuid:1");
    }

    #[test]
    fn fragments_are_decoded() {
        assert_eq!(split("a#/b%25c~0"), ("a", "/b%c~0".to_owned()));
        assert_eq!(split("a"), ("a", String::new()));
        assert_eq!(steps("/a~1b/c~0d").collect::<Vec<_>>(), ["a/b", "c~d"]);
    }
}
