//! Text with UTF-16 meaning, held as WTF-8: the lowest layer, which knows nobody.
//!
//! WTF-8 is UTF-8 in which a lone surrogate half is kept as its three bytes (`ED A0..BF xx`).
//! Halves that stand next to each other as high, low are always joined into one four-byte
//! character; [`wtf8`] does that.

use std::borrow::Cow;
use std::cell::OnceCell;

/// WTF-8 bytes, and what is known of them: each fact is computed at most once, when first asked
/// for.
///
/// Not `Sync`: a text belongs to the thread that looks at it.
pub struct Text<'a> {
    bytes: &'a [u8],
    utf16_len: OnceCell<usize>,
    facts: OnceCell<TextFacts>,
    cesu: OnceCell<Option<Vec<u8>>>,
}

/// What a look at every byte of a text says, in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextFacts {
    /// No byte is above 0x7F.
    pub is_ascii: bool,
    /// Some character needs two UTF-16 units (a byte of 0xF0 or more).
    pub has_astral: bool,
    /// Some surrogate half stands alone.
    pub has_lone_surrogate: bool,
    /// Some CR, U+2028 or U+2029 stands in the text (LF is not counted).
    pub has_cr_ls_ps: bool,
}

impl<'a> Text<'a> {
    /// UTF-8 text.
    pub fn new(text: &'a str) -> Self {
        Self::from_wtf8(text.as_bytes())
    }

    /// WTF-8 bytes, as [`wtf8`] makes them.
    pub fn from_wtf8(bytes: &'a [u8]) -> Self {
        Text { bytes, utf16_len: OnceCell::new(), facts: OnceCell::new(), cesu: OnceCell::new() }
    }

    /// The text as WTF-8.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The length in UTF-16 code units, JavaScript's `length`.
    pub fn utf16_len(&self) -> usize {
        *self.utf16_len.get_or_init(|| utf16_len(self.bytes))
    }

    /// The facts that one pass over the bytes gives.
    pub fn facts(&self) -> TextFacts {
        *self.facts.get_or_init(|| TextFacts::of(self.bytes))
    }

    /// The text as CESU-8: each UTF-16 unit is its own sequence of one to three bytes. Borrowed
    /// where the text has no astral character, since both encodings are equal then.
    pub fn cesu8(&self) -> &[u8] {
        match self.cesu.get_or_init(|| self.facts().has_astral.then(|| cesu8(self.bytes))) {
            Some(bytes) => bytes,
            None => self.bytes,
        }
    }

    /// The text without white space, in JavaScript's sense, at both ends.
    pub fn trimmed(&self) -> &'a [u8] {
        trim_js(self.bytes)
    }

    /// The text as UTF-8, with U+FFFD for each lone surrogate half.
    pub fn to_utf8(&self) -> Cow<'a, str> {
        to_utf8(self.bytes)
    }
}

impl TextFacts {
    /// The facts of a text.
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.is_ascii() {
            return TextFacts {
                is_ascii: true,
                has_astral: false,
                has_lone_surrogate: false,
                has_cr_ls_ps: memchr::memchr(b'\r', bytes).is_some(),
            };
        }
        // A greatest byte is found in vectors; the rarer marks by their first byte.
        let greatest = bytes.iter().fold(0, |greatest: u8, &byte| greatest.max(byte));
        let followed = |first: u8, by: fn(&[u8]) -> bool| {
            memchr::memchr_iter(first, bytes).any(|at| bytes.get(at + 1..at + 3).is_some_and(by))
        };
        TextFacts {
            is_ascii: false,
            has_astral: greatest >= 0xF0,
            has_lone_surrogate: followed(0xED, |next| next[0] >= 0xA0),
            has_cr_ls_ps: memchr::memchr(b'\r', bytes).is_some()
                || followed(0xE2, |next| next[0] == 0x80 && next[1] & 0xFE == 0xA8),
        }
    }
}

/// UTF-16 length of WTF-8 text: one for each character, one more for an astral one.
pub fn utf16_len(bytes: &[u8]) -> usize {
    // Bytes are summed in short runs so that the counts fit the lanes of a vector.
    let mut total = 0;
    for run in bytes.chunks(128) {
        let units: u8 = run.iter().map(|&b| u8::from(b & 0xC0 != 0x80) + u8::from(b >= 0xF0)).sum();
        total += usize::from(units);
    }
    total
}

/// CESU-8 of WTF-8 text.
pub fn cesu8(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 4);
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&b| b >= 0xF0) {
        out.extend_from_slice(&rest[..at]);
        let Some((&[a, b, c, d], tail)) = rest[at..].split_first_chunk::<4>() else {
            rest = &rest[at..];
            break;
        };
        let scalar = u32::from(a & 7) << 18
            | u32::from(b & 63) << 12
            | u32::from(c & 63) << 6
            | u32::from(d & 63);
        let v = scalar.wrapping_sub(0x1_0000);
        push_unit(&mut out, 0xD800 | (v >> 10 & 0x3FF));
        push_unit(&mut out, 0xDC00 | (v & 0x3FF));
        rest = tail;
    }
    out.extend_from_slice(rest);
    out
}

/// Appends one surrogate half as three bytes.
fn push_unit(out: &mut Vec<u8>, unit: u32) {
    let byte = |v: u32| u8::try_from(v & 0xFF).unwrap_or(0);
    out.extend([0xE0 | byte(unit >> 12), 0x80 | byte(unit >> 6 & 63), 0x80 | byte(unit & 63)]);
}

/// Joins neighbouring surrogate halves (high, low) of generalised UTF-8, which gives WTF-8.
///
/// The input is UTF-8 in which surrogates may stand as three bytes each, as Python's
/// `surrogatepass` writes them.
pub fn wtf8(bytes: Vec<u8>) -> Vec<u8> {
    let pair =
        |w: &[u8]| w[0] == 0xED && w[1] & 0xF0 == 0xA0 && w[3] == 0xED && w[4] & 0xF0 == 0xB0;
    if !bytes.windows(6).any(pair) {
        return bytes;
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = &bytes[..];
    while let Some((w, tail)) = rest.split_first_chunk::<6>() {
        if pair(w) {
            let high = u32::from(w[1] & 0x0F) << 6 | u32::from(w[2] & 63);
            let low = u32::from(w[4] & 0x0F) << 6 | u32::from(w[5] & 63);
            push_scalar(&mut out, 0x1_0000 + (high << 10 | low));
            rest = tail;
        } else {
            out.push(w[0]);
            rest = &rest[1..];
        }
    }
    out.extend_from_slice(rest);
    out
}

/// Appends a code point as WTF-8; the caller joins pairs of surrogates.
pub fn push_scalar(out: &mut Vec<u8>, code: u32) {
    match char::from_u32(code) {
        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => push_unit(out, code & 0xFFFF),
    }
}

/// The first `units` UTF-16 units of WTF-8 text; a pair that the cut splits leaves its high half.
pub fn cut_units(bytes: &[u8], units: usize) -> Cow<'_, [u8]> {
    let mut seen = 0;
    for (at, &byte) in bytes.iter().enumerate().filter(|&(_, b)| b & 0xC0 != 0x80) {
        if seen == units {
            return Cow::Borrowed(&bytes[..at]);
        }
        seen += 1 + usize::from(byte >= 0xF0);
        if seen > units {
            let mut cut = bytes[..at].to_vec();
            let halves = cesu8(bytes.get(at..at + 4).unwrap_or_default());
            cut.extend_from_slice(halves.get(..3).unwrap_or_default());
            return Cow::Owned(cut);
        }
    }
    Cow::Borrowed(bytes)
}

/// UTF-8 of WTF-8 text: each lone surrogate half becomes U+FFFD.
pub fn to_utf8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut fixed = bytes.to_vec();
            let mut at = 0;
            while at + 2 < fixed.len() {
                if fixed[at] == 0xED && fixed[at + 1] >= 0xA0 {
                    fixed[at..at + 3].copy_from_slice("\u{FFFD}".as_bytes());
                }
                at += 1;
            }
            Cow::Owned(String::from_utf8_lossy(&fixed).into_owned())
        }
    }
}

/// True for JavaScript's `WhiteSpace` and `LineTerminator`: U+FEFF is one, U+0085 is not.
pub fn is_js_space(c: char) -> bool {
    matches!(c, '\u{9}'..='\u{D}' | ' ' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}'
        | '\u{2028}' | '\u{2029}' | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{FEFF}')
}

/// Trims JavaScript white space from both ends of WTF-8 text.
pub fn trim_js(bytes: &[u8]) -> &[u8] {
    let (start, end) = trim_js_span(bytes);
    &bytes[start..end]
}

/// Where the text starts and ends without white space at its ends.
pub fn trim_js_span(bytes: &[u8]) -> (usize, usize) {
    let mut start = 0;
    while let Some(n) = space_at_start(&bytes[start..]) {
        start += n;
    }
    let mut end = bytes.len();
    while let Some(n) = space_at_end(&bytes[start..end]) {
        end -= n;
    }
    (start, end)
}

/// The length in bytes of the white-space character that the text starts with.
pub fn space_at_start(text: &[u8]) -> Option<usize> {
    match *text.first()? {
        0x09..=0x0D | b' ' => Some(1),
        0xC2 if text.get(1) == Some(&0xA0) => Some(2),
        0xE1..=0xEF => three_byte_space(text.get(..3)?).then_some(3),
        _ => None,
    }
}

fn space_at_end(text: &[u8]) -> Option<usize> {
    match *text.last()? {
        0x09..=0x0D | b' ' => Some(1),
        0xA0 if text.len() >= 2 && text[text.len() - 2] == 0xC2 => Some(2),
        0x80..=0xBF => three_byte_space(text.get(text.len().checked_sub(3)?..)?).then_some(3),
        _ => None,
    }
}

fn three_byte_space(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    text.is_ok_and(|t| t.chars().count() == 1 && t.chars().all(is_js_space))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_utf16_units() {
        for (text, want) in [("", 0), ("abc", 3), ("é漢", 2), ("😀", 2), (&"a😀".repeat(500), 1500)]
        {
            assert_eq!(Text::new(text).utf16_len(), want);
            assert_eq!(text.encode_utf16().count(), want);
        }
    }

    #[test]
    fn cesu8_splits_astral_characters() {
        assert_eq!(Text::new("a😀b").cesu8(), b"a\xED\xA0\xBD\xED\xB8\x80b");
        assert_eq!(Text::new("é").cesu8(), "é".as_bytes());
    }

    #[test]
    fn cuts_count_units() {
        assert_eq!(*cut_units("a😀b".as_bytes(), 3), *"a😀".as_bytes());
        assert_eq!(*cut_units("a😀b".as_bytes(), 2), *b"a\xED\xA0\xBD");
        assert_eq!(*cut_units("é".as_bytes(), 1), *"é".as_bytes());
        assert_eq!(*cut_units("abc".as_bytes(), 0), *b"");
    }

    #[test]
    fn wtf8_joins_pairs_and_keeps_lone_halves() {
        assert_eq!(wtf8(b"x\xED\xA0\xBD\xED\xB8\x80y".to_vec()), "x😀y".as_bytes());
        let lone = b"\xED\xB8\x80\xED\xA0\xBD".to_vec();
        assert_eq!(wtf8(lone.clone()), lone);
        assert_eq!(to_utf8(&lone), "\u{FFFD}\u{FFFD}");
        assert!(TextFacts::of(&lone).has_lone_surrogate);
    }

    #[test]
    fn trimming_is_javascripts() {
        assert_eq!(trim_js("\u{FEFF}\u{3000} \u{2028}a \u{A0}\n".as_bytes()), b"a");
        assert_eq!(trim_js("\u{85}a\u{180E}".as_bytes()), "\u{85}a\u{180E}".as_bytes());
        assert_eq!(trim_js("  \u{2003}".as_bytes()), b"");
    }

    #[test]
    fn facts_name_the_line_ends() {
        assert!(TextFacts::of("é\u{2029}".as_bytes()).has_cr_ls_ps);
        assert!(TextFacts::of(b"a\r\n").has_cr_ls_ps);
        assert!(!TextFacts::of("é\n\u{2027}".as_bytes()).has_cr_ls_ps);
    }
}
