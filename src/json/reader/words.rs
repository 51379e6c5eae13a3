//! The one list of literals, of the bytes of words, and of wide punctuation.

use super::super::document::Kind;

/// A literal of JSON, Python or JavaScript, and what JSON calls it.
pub(in super::super) fn literal(word: &[u8]) -> Option<(Kind, &'static str)> {
    Some(match word {
        b"true" | b"True" | b"TRUE" => (Kind::True, "true"),
        b"false" | b"False" | b"FALSE" => (Kind::False, "false"),
        b"null" | b"None" | b"undefined" | b"NULL" | b"Null" | b"NONE" | b"nil" => {
            (Kind::Null, "null")
        }
        b"NaN" | b"nan" => (Kind::Number, "NaN"),
        b"Infinity" | b"+Infinity" | b"inf" => (Kind::Number, "Infinity"),
        b"-Infinity" | b"-inf" => (Kind::Number, "-Infinity"),
        _ => return None,
    })
}

/// The literal that a cut word is the start of.
pub(super) fn cut_literal(word: &[u8]) -> Option<(Kind, &'static str)> {
    const WHOLE: [&[u8]; 6] = [b"true", b"false", b"null", b"True", b"False", b"None"];
    let whole = WHOLE.iter().find(|whole| !word.is_empty() && whole.starts_with(word))?;
    literal(whole)
}

/// A byte of a word: a key or a value without quotes.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'.') || byte >= 0x80
}

/// A byte of a literal or a number.
pub(super) fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'.' | b'+')
}

/// How many bytes of a kind stand at the start.
pub(super) fn run(text: &[u8], kind: fn(u8) -> bool) -> usize {
    text.iter().position(|&b| !kind(b)).unwrap_or(text.len())
}

/// Full-width punctuation, as the sign that it stands for, and its length.
pub(in super::super) fn wide(rest: &[u8]) -> Option<(u8, usize)> {
    let sign = match rest {
        [0xEF, 0xBC, 0x8C, ..] | [0xE3, 0x80, 0x81, ..] => b',',
        [0xEF, 0xBC, 0x9A, ..] => b':',
        [0xEF, 0xBC, 0x9B, ..] => b';',
        _ => return None,
    };
    Some((sign, 3))
}
