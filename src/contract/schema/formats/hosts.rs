//! Host names (RFC 1123), their internationalized form (RFC 5890 ff.) and mail addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::js_regex::cached;
use crate::text::Text;

/// The longest label, and the longest name.
const MAX_LABEL: usize = 63;
const MAX_NAME: usize = 253;

/// What a label of Unicode may be (RFC 5892): letters, digits and marks, and those characters
/// that are allowed beside certain others only.
const UNICODE_LABEL: &str = concat!(
    r"^(?!\p{M})(?![^]*[\u0660-\u0669][^]*[\u06F0-\u06F9])(?![^]*[\u06F0-\u06F9][^]*[\u0660-\u0669])",
    r"(?!(?=[^]*\u30FB)(?![^]*[\p{sc=Hira}\p{sc=Kana}\p{sc=Hani}]))(?:",
    r"(?![\u0640\u07FA\u302E\u302F\u3031-\u3035\u303B\u1100-\u11FF\uA960-\uA97F\uD7B0-\uD7FF])",
    r"[\-\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}\u06FD\u06FE\u0F0B\u3007\u30FB]",
    r"|(?<=l)\u00B7(?=l)|\u0375(?=\p{sc=Grek})|(?<=\p{sc=Hebr})[\u05F3\u05F4]",
    // Joiners stand behind a virama, or between letters that join.
    r"|(?<=[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA\u0E3A\u0F84\u1039\u17D2])",
    r"[\u200C\u200D]|(?<=\p{sc=Arab})\u200C(?=\p{sc=Arab}))+$",
);

/// A name of ASCII labels.
pub(super) fn hostname(name: &str) -> bool {
    name.len() <= MAX_NAME && name.split('.').all(ascii_label)
}

/// A name whose labels may be Unicode.
pub(super) fn idn_hostname(name: &str) -> bool {
    // The full stops of other scripts part labels too.
    let stop = ['.', '\u{3002}', '\u{FF0E}', '\u{FF61}'];
    let mut length = 0;
    let good = name.split(stop).all(|label| {
        let ascii = label.is_ascii();
        let encoded = if ascii { label.len() } else { 4 + punycode_len(label) };
        length += encoded + 1;
        if ascii { ascii_label(label) } else { encoded <= MAX_LABEL && unicode_label(label) }
    });
    good && length <= MAX_NAME + 1
}

fn ascii_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    let plain = (1..=MAX_LABEL).contains(&bytes.len())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-');
    if !plain || bytes.get(2..4) != Some(b"--") {
        return plain;
    }
    // Two hyphens there mark an encoded label.
    let (mark, encoded) = label.split_at(4);
    let decoded = if mark.eq_ignore_ascii_case("xn--") { from_punycode(encoded) } else { None };
    decoded.is_some_and(|label| !label.is_ascii() && unicode_label(&label))
}

fn unicode_label(label: &str) -> bool {
    let label = label.to_lowercase();
    let hyphens = label.starts_with('-') || label.ends_with('-');
    let marked = label.chars().skip(2).take(2).eq("--".chars());
    let engine = cached(UNICODE_LABEL.as_bytes(), "u", false);
    let allowed = engine.is_ok_and(|engine| engine.test(&Text::new(&label)) == Ok(true));
    !hyphens && !marked && allowed
}

/// The numbers of RFC 3492, section 5.
const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;

fn adapt(delta: u32, points: u32, first: bool) -> u32 {
    let mut delta = delta / if first { DAMP } else { 2 };
    delta += delta / points;
    let mut k = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        k += BASE;
    }
    k + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

fn from_punycode(text: &str) -> Option<String> {
    let (plain, digits) = text.rsplit_once('-').unwrap_or(("", text));
    let mut out: Vec<char> = plain.chars().collect();
    let (mut n, mut i, mut bias) = (128u32, 0u32, 72);
    let mut digits = digits.bytes().peekable();
    while digits.peek().is_some() {
        let (start, mut weight) = (i, 1u32);
        for k in (BASE..).step_by(BASE as usize) {
            let digit = match digits.next()? {
                b @ b'0'..=b'9' => u32::from(b - b'0') + 26,
                b => u32::from(b.to_ascii_lowercase().checked_sub(b'a')?),
            };
            i = i.checked_add(digit.checked_mul(weight)?)?;
            let t = k.saturating_sub(bias).clamp(T_MIN, T_MAX);
            if digit < t {
                break;
            }
            weight = weight.checked_mul(BASE - t)?;
        }
        let points = u32::try_from(out.len()).ok()? + 1;
        bias = adapt(i - start, points, start == 0);
        n = n.checked_add(i / points)?;
        i %= points;
        out.insert(i as usize, char::from_u32(n)?);
        i += 1;
    }
    Some(out.into_iter().collect())
}

/// The length of a label's encoded form, without its mark.
fn punycode_len(label: &str) -> usize {
    let points: Vec<u32> = label.chars().map(u32::from).collect();
    if points.len() > MAX_LABEL {
        return points.len();
    }
    let ascii: u32 = points.iter().map(|&c| u32::from(c < 128)).sum();
    let mut length = ascii as usize + usize::from(ascii > 0);
    let (mut n, mut delta, mut bias, mut done) = (128u32, 0u32, 72, ascii);
    while (done as usize) < points.len() {
        let Some(next) = points.iter().copied().filter(|&c| c >= n).min() else { break };
        delta = delta.saturating_add((next - n).saturating_mul(done + 1));
        n = next;
        for &c in &points {
            delta = delta.saturating_add(u32::from(c < n));
            if c != n {
                continue;
            }
            let mut q = delta;
            for k in (BASE..).step_by(BASE as usize) {
                length += 1;
                let t = k.saturating_sub(bias).clamp(T_MIN, T_MAX);
                if q < t {
                    break;
                }
                q = (q - t) / (BASE - t);
            }
            bias = adapt(delta, done + 1, done == ascii);
            delta = 0;
            done += 1;
        }
        delta = delta.saturating_add(1);
        n += 1;
    }
    length
}

/// A mail address of ASCII (RFC 5321).
pub(super) fn email(text: &str) -> bool {
    text.is_ascii() && address(text, hostname)
}

/// A mail address with Unicode (RFC 6531).
pub(super) fn idn_email(text: &str) -> bool {
    address(text, idn_hostname)
}

fn address(text: &str, host: fn(&str) -> bool) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let word =
        |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let local = match local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted_words(quoted),
        None => local.split('.').all(|part| !part.is_empty() && part.chars().all(word)),
    };
    let domain = match domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(literal) => match literal.strip_prefix("IPv6:") {
            Some(six) => six.parse::<Ipv6Addr>().is_ok(),
            None => literal.parse::<Ipv4Addr>().is_ok(),
        },
        None => host(domain),
    };
    local && domain
}

fn quoted_words(text: &str) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let good = match c {
            '"' => false,
            '\\' => chars.next().is_some_and(|c| matches!(c, ' '..='~')),
            c => !c.is_ascii_control(),
        };
        if !good {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts() {
        for good in ["www.example.com", "a", "1host", "xn--4gbwdl.xn--wgbh1c", "a-b--c"] {
            assert!(hostname(good), "{good}");
        }
        for bad in ["", "a..b", "-a", "a-", "a_b", "aa--b", "xn--X", "a.", ".a"] {
            assert!(!hostname(bad), "{bad}");
        }
        assert!(!hostname(&"a".repeat(64)) && !hostname(&"a.".repeat(127)));
    }

    #[test]
    fn names_of_unicode() {
        for good in ["실례.테스트", "bücher.example", "l·l", "͵β", "א׳ב", "・ァ", "क्‍ष", "نامه‌ای"]
        {
            assert!(idn_hostname(good), "{good}");
        }
        for bad in
            ["〮실례", "a·l", "͵S", "A׳ב", "def・abc", "क‍ष", "ab・c", "☃.net", "\u{300}a", "१२--३"]
        {
            assert!(!idn_hostname(bad), "{bad}");
        }
        assert!(!idn_hostname(&"ü".repeat(70)) && !idn_hostname(&"ü漢".repeat(31)));
        assert_eq!(from_punycode("bcher-kva").as_deref(), Some("bücher"));
        assert_eq!((punycode_len("bücher"), punycode_len("테스트")), (9, 10));
    }

    #[test]
    fn addresses() {
        for good in
            ["joe.bloggs@example.com", "te~st@example.com", "\"joe @ b\"@a.b", "j@[127.0.0.1]"]
        {
            assert!(email(good), "{good}");
        }
        for bad in
            ["2962", ".a@b.c", "a.@b.c", "a..b@c.d", "a b@c.d", "a@[300.1.1.1]", "é@b.c", "a@"]
        {
            assert!(!email(bad), "{bad}");
        }
        assert!(idn_email("실례@실례.테스트") && !idn_email("2962"));
    }
}
