//! URIs and IRIs (RFC 3986, RFC 3987), URI templates (RFC 6570) and JSON Pointers (RFC 6901).

use std::net::Ipv6Addr;

/// An absolute URI.
pub(super) fn uri(text: &str) -> bool {
    text.is_ascii() && iri(text)
}

/// A URI, or a reference relative to one.
pub(super) fn uri_reference(text: &str) -> bool {
    text.is_ascii() && iri_reference(text)
}

/// A URI with Unicode.
pub(super) fn iri(text: &str) -> bool {
    scheme(text).is_some_and(after_scheme)
}

/// A URI reference with Unicode.
pub(super) fn iri_reference(text: &str) -> bool {
    if iri(text) {
        return true;
    }
    // The first step of a relative path holds no colon.
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    !first.contains(':') && after_scheme(text)
}

/// What follows a scheme.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let mut bytes = scheme.bytes();
    let letter = bytes.next().is_some_and(|b| b.is_ascii_alphabetic());
    let good = bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    (letter && good).then_some(rest)
}

fn after_scheme(text: &str) -> bool {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (text, query) = text.split_once('?').unwrap_or((text, ""));
    let path = match text.strip_prefix("//") {
        Some(rest) => {
            let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !authority(place) {
                return false;
            }
            path
        }
        None => text,
    };
    written(path, ":@/") && written(query, ":@/?") && written(fragment, ":@/?")
}

fn authority(text: &str) -> bool {
    let (user, place) = text.rsplit_once('@').unwrap_or(("", text));
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let Some((literal, port)) = rest.split_once(']') else { return false };
            let future = literal.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.'));
            let good = match future {
                Some((version, rest)) => {
                    let hex = !version.is_empty() && version.bytes().all(|b| b.is_ascii_hexdigit());
                    hex && !rest.is_empty()
                        && rest.is_ascii()
                        && !rest.contains('%')
                        && written(rest, ":")
                }
                None => literal.parse::<Ipv6Addr>().is_ok(),
            };
            if !good || !(port.is_empty() || port.starts_with(':')) {
                return false;
            }
            ("", port.strip_prefix(':').unwrap_or(""))
        }
        None => place.rsplit_once(':').unwrap_or((place, "")),
    };
    written(user, ":") && written(host, "") && port.bytes().all(|b| b.is_ascii_digit())
}

/// True where every character may stand in a URI: unreserved, a delimiter of components, one of
/// `more`, or percent-encoded.
fn written(text: &str, more: &str) -> bool {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let good = match c {
            '%' => (0..2).all(|_| rest.next().is_some_and(|c| c.is_ascii_hexdigit())),
            c if c.is_ascii() => {
                c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=".contains(c) || more.contains(c)
            }
            c => !c.is_control() && !matches!(c, '\u{FFF0}'..='\u{FFFF}'),
        };
        if !good {
            return false;
        }
    }
    true
}

/// Text with expressions in braces.
pub(super) fn uri_template(text: &str) -> bool {
    let mut rest = text;
    loop {
        let (literal, inner) = match rest.split_once('{') {
            Some((literal, inner)) => (literal, Some(inner)),
            None => (rest, None),
        };
        let banned = |c: char| c.is_control() || " \"'<>\\^`|}".contains(c);
        if literal.contains(banned) || !percent(literal) {
            return false;
        }
        let Some(inner) = inner else { return true };
        let Some((expression, after)) = inner.split_once('}') else { return false };
        let operator = |c: char| "+#./;?&=,!@|".contains(c);
        let variables = expression.strip_prefix(operator).unwrap_or(expression);
        if !variables.split(',').all(variable) {
            return false;
        }
        rest = after;
    }
}

fn variable(text: &str) -> bool {
    let name = match text.split_once(':') {
        Some((name, length)) => {
            let digits =
                (1..=4).contains(&length.len()) && length.bytes().all(|b| b.is_ascii_digit());
            if !digits || length.starts_with('0') {
                return false;
            }
            name
        }
        None => text.strip_suffix('*').unwrap_or(text),
    };
    let word = |part: &str| {
        let plain = part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '%'));
        !part.is_empty() && plain && percent(part)
    };
    name.split('.').all(word)
}

/// True where each percent sign begins a code.
fn percent(text: &str) -> bool {
    let hex = |code: &str| code.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    text.split('%').skip(1).all(hex)
}

/// Steps that each begin with a slash.
pub(super) fn json_pointer(text: &str) -> bool {
    let escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && escapes
}

/// How many steps up, then a pointer or `#`.
pub(super) fn relative_json_pointer(text: &str) -> bool {
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        (end > 0 && (end == 1 || !text.starts_with('0'))).then_some(end)
    };
    let Some(end) = number(text) else { return false };
    let mut rest = &text[end..];
    if let Some(shift) = rest.strip_prefix(['+', '-']) {
        let Some(end) = number(shift) else { return false };
        rest = &shift[end..];
    }
    rest == "#" || json_pointer(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris() {
        for good in [
            "http://foo.bar/?baz=qux#quux",
            "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
            "ldap://[2001:db8::7]/c=GB?objectClass?one",
            "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
            "mailto:a@b.c",
        ] {
            assert!(uri(good), "{good}");
        }
        for bad in
            ["//foo.bar/", "/abs", "\\\\WINDOWS\\a", "abc", ":// no", "bar,baz:foo", "http:// a"]
        {
            assert!(!uri(bad), "{bad}");
        }
        for bad in ["http://[1.2.3.4]", "http://a/%zz", "http://a:b/", "http://a/<>", "http://é"] {
            assert!(!uri(bad), "{bad}");
        }
        assert!(uri_reference("//a/b?c") && uri_reference("a/b") && uri_reference("#f"));
        assert!(uri_reference("") && !uri_reference("1:a") && !uri_reference("#a\\b"));
        assert!(iri("http://ƒøø.ßår/?∂éœ=πîx#πîüx") && iri_reference("/âππ") && !iri("âππ"));
    }

    #[test]
    fn templates_and_pointers() {
        assert!(uri_template("http://a/{term:1}/{term}{?x,y*}") && uri_template(""));
        assert!(!uri_template("http://a/{term") && !uri_template("a{}") && !uri_template("a}"));
        for good in ["", "/foo/bar~0/baz~1/%a", "/", "/ "] {
            assert!(json_pointer(good), "{good}");
        }
        assert!(!json_pointer("/foo/bar~") && !json_pointer("a") && !json_pointer("#/"));
        for good in ["1", "0/foo/bar", "2/0/baz/1/zip", "0#", "120/foo", "0-1/a"] {
            assert!(relative_json_pointer(good), "{good}");
        }
        for bad in ["/foo", "-1/foo", "+1/a", "0##", "01/a", "01#", "", "1a"] {
            assert!(!relative_json_pointer(bad), "{bad}");
        }
    }
}
