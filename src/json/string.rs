//! Strings in JSON: scanning, decoding, quoting.

use super::error::ErrorKind;
use crate::text::push_scalar;

/// From the byte after an opening quote: where the closing quote is, and whether an escape stands
/// before it. The error names the byte at fault.
#[inline]
pub(super) fn scan_string(text: &[u8], from: usize) -> Result<(usize, bool), (usize, ErrorKind)> {
    let mut at = from;
    let mut escaped = false;
    loop {
        at = next_special(text, at);
        match text.get(at) {
            Some(b'"') => return Ok((at, escaped)),
            Some(b'\\') => {
                escaped = true;
                match text.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                    Some(b'u') => match text.get(at + 2..at + 6) {
                        Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => at += 6,
                        _ => return Err(short(text, at, at + 6)),
                    },
                    _ => return Err(short(text, at, at + 2)),
                }
            }
            Some(_) => return Err((at, ErrorKind::ControlCharacter)),
            None => return Err((text.len(), ErrorKind::UnexpectedEnd)),
        }
    }
}

#[cold]
fn short(text: &[u8], at: usize, end: usize) -> (usize, ErrorKind) {
    let cut = end > text.len() && text[at..].iter().skip(2).all(u8::is_ascii_hexdigit);
    if cut { (text.len(), ErrorKind::UnexpectedEnd) } else { (at, ErrorKind::InvalidEscape) }
}

/// The next quote, backslash or control character at or after `from`; the length when none is.
/// Eight bytes a step: the lowest marked byte of a word is always a true find.
#[inline]
pub(super) fn next_special(text: &[u8], from: usize) -> usize {
    next_special_or(text, from, b'"')
}

/// The same with another quote.
#[inline]
pub(super) fn next_special_or(text: &[u8], from: usize, quote: u8) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let zero = |w: u64| w.wrapping_sub(ONES) & !w & HIGH;
    let rest = text.get(from..).unwrap_or_default();
    let (words, tail) = rest.as_chunks::<8>();
    let mut at = from;
    for word in words {
        let w = u64::from_le_bytes(*word);
        let quote = zero(w ^ (ONES * u64::from(quote)));
        let slash = zero(w ^ (ONES * 0x5C));
        let control = w.wrapping_sub(ONES * 0x20) & !w & HIGH;
        let found = quote | slash | control;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at + tail.iter().position(|&b| b < 0x20 || b == quote || b == b'\\').unwrap_or(tail.len())
}

/// Decodes the escapes of a valid JSON string's inside to WTF-8: surrogate pairs are joined, a
/// lone half is kept.
pub fn unescape(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    unescape_into(&mut out, raw);
    out
}

/// The same, added to what `out` holds.
pub(super) fn unescape_into(out: &mut Vec<u8>, raw: &[u8]) {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        push_text(out, &rest[..at]);
        let (decoded, used) = escape(&rest[at..]);
        match decoded {
            Escape::Byte(byte) => out.push(byte),
            Escape::Unit(unit) => push_joined(out, unit),
        }
        rest = rest.get(at + used..).unwrap_or_default();
    }
    push_text(out, rest);
}

/// Appends raw text; a raw low half may follow an escaped high one.
pub(super) fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    if let (Some(&[0xED, b, c]), Some(&[0xED, 0xA0..=0xAF, _])) =
        (text.get(..3).and_then(|t| t.first_chunk::<3>()), out.last_chunk::<3>())
        && b >= 0xB0
    {
        push_joined(out, 0xD000 | u32::from(b & 63) << 6 | u32::from(c & 63));
        out.extend_from_slice(&text[3..]);
    } else {
        out.extend_from_slice(text);
    }
}

enum Escape {
    Byte(u8),
    Unit(u32),
}

/// Reads the escape at the start of `text` (a backslash) and how many bytes it takes.
fn escape(text: &[u8]) -> (Escape, usize) {
    let byte = match text.get(1) {
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'u') => {
            let hex = text.get(2..6).and_then(|h| std::str::from_utf8(h).ok());
            let unit = hex.and_then(|h| u32::from_str_radix(h, 16).ok()).unwrap_or(0xFFFD);
            return (Escape::Unit(unit), 6);
        }
        Some(&other) => other,
        None => b'\\',
    };
    (Escape::Byte(byte), 2)
}

/// Appends a UTF-16 unit; a low half joins the high half that ends `out`.
pub(super) fn push_joined(out: &mut Vec<u8>, unit: u32) {
    if (0xDC00..0xE000).contains(&unit)
        && let Some(&[0xED, b @ 0xA0..=0xAF, c]) = out.last_chunk::<3>()
    {
        let high = u32::from(b & 0x0F) << 6 | u32::from(c & 63);
        out.truncate(out.len() - 3);
        push_scalar(out, 0x1_0000 + (high << 10 | (unit - 0xDC00)));
    } else {
        push_scalar(out, unit);
    }
}

/// JavaScript's `JSON.stringify` of a string (WTF-8): lone halves are escaped, so the result is
/// UTF-8.
pub fn quote(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    quote_into(&mut out, text);
    String::from_utf8(out).unwrap_or_default()
}

/// Appends the quoted string as UTF-8.
pub(crate) fn quote_into(out: &mut Vec<u8>, text: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let mut from = 0;
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            8 => b'b',
            12 => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0..0x20 => 0,
            0xED if text.get(at + 1).is_some_and(|&b| b >= 0xA0) => 0,
            _ => {
                at += 1;
                continue;
            }
        };
        out.extend_from_slice(&text[from..at]);
        let mut used = 1;
        if short != 0 {
            out.extend([b'\\', short]);
        } else {
            let mut unit = u16::from(byte);
            if byte == 0xED {
                let low = text.get(at + 2).copied().unwrap_or(0x80);
                unit = 0xD000 | u16::from(text[at + 1] & 63) << 6 | u16::from(low & 63);
                used = 3;
            }
            out.extend_from_slice(b"\\u");
            out.extend([12, 8, 4, 0].map(|shift| HEX[usize::from(unit >> shift & 15)]));
        }
        at += used;
        from = at;
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_decode_and_halves_join() {
        assert_eq!(unescape(br"a\n\u00e9\ud83d\ude00\/"), "a\né😀/".as_bytes());
        assert_eq!(unescape(br"\ud83dx\ude00"), b"\xED\xA0\xBDx\xED\xB8\x80");
        assert_eq!(unescape(b"\xED\xA0\xBD\\ude00"), "😀".as_bytes());
        assert_eq!(unescape(b"\\ud83d\xED\xB8\x80!"), "😀!".as_bytes());
    }

    #[test]
    fn specials_are_found_at_every_place() {
        for special in [b'"', b'\\', 0x1F, 0] {
            for at in 0..40 {
                let mut text = vec![b'\x7F'; 40];
                text[at] = special;
                assert_eq!(next_special(&text, 0), at);
                assert_eq!(next_special(&text, at), at);
            }
        }
        assert_eq!(next_special("é漢 !#[]".as_bytes(), 0), 10);
    }

    #[test]
    fn quoting_is_javascripts() {
        assert_eq!(quote("a\"\\\n\u{1}é😀\u{7F}".as_bytes()), "\"a\\\"\\\\\\n\\u0001é😀\u{7F}\"");
        assert_eq!(quote(b"\xED\xA0\xBDx"), "\"\\ud83dx\"");
    }
}
