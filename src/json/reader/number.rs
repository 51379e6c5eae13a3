//! Numbers in forms that JSON does not have.

/// What a word is as a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A JSON number.
    Json,
    /// A number, written so for JSON: `+5`, `.5`, `5.`, `1_000`.
    Other(String),
    /// No number, or one whose digits say more than its value (`007`, `0x1F`).
    Text,
}

/// True for a JSON number.
pub(super) fn is_json(word: &[u8]) -> bool {
    form(word) == Form::Json
}

/// Reads a word as a number.
pub(super) fn form(word: &[u8]) -> Form {
    let (sign, digits) = match word.split_first() {
        Some((b'-', rest)) => ("-", rest),
        Some((b'+', rest)) => ("", rest),
        _ => ("", word),
    };
    let (mantissa, exponent) = match digits.iter().position(|b| matches!(b, b'e' | b'E')) {
        Some(at) => (digits.get(..at).unwrap_or_default(), digits.get(at + 1..)),
        None => (digits, None),
    };
    let (whole, fraction) = match mantissa.iter().position(|&b| b == b'.') {
        Some(at) => (mantissa.get(..at).unwrap_or_default(), mantissa.get(at + 1..)),
        None => (mantissa, None),
    };
    let fraction_digits = fraction.unwrap_or_default();
    let exponent_digits =
        exponent.map(|e| e.strip_prefix(b"+").or(e.strip_prefix(b"-")).unwrap_or(e));
    let ok = (grouped(whole) || whole.is_empty())
        && (grouped(fraction_digits) || fraction_digits.is_empty())
        && !(whole.is_empty() && fraction_digits.is_empty())
        && exponent_digits.is_none_or(|e| !e.is_empty() && e.iter().all(u8::is_ascii_digit))
        && !whole.starts_with(b"00");
    if !ok {
        return Form::Text;
    }
    // One zero before a number is not meant; more are.
    let zero = whole.len() > 1 && whole.first() == Some(&b'0');
    let whole = whole.get(usize::from(zero)..).unwrap_or_default();
    let plain = !word.contains(&b'_') && !word.starts_with(b"+") && !zero;
    if plain && !whole.is_empty() && fraction.is_none_or(|f| !f.is_empty()) {
        return Form::Json;
    }
    let mut text = String::with_capacity(word.len() + 2);
    let mut add =
        |part: &[u8]| text.extend(part.iter().filter(|&&b| b != b'_').map(|&b| char::from(b)));
    add(sign.as_bytes());
    add(if whole.is_empty() { b"0" } else { whole });
    if fraction.is_some() {
        add(b".");
        add(if fraction_digits.is_empty() { b"0" } else { fraction_digits });
    }
    if let Some(exponent) = exponent {
        add(b"e");
        add(exponent);
    }
    Form::Other(text)
}

/// Digits, with single underscores between them.
fn grouped(digits: &[u8]) -> bool {
    digits.first().is_some_and(u8::is_ascii_digit)
        && digits.last().is_some_and(u8::is_ascii_digit)
        && digits.iter().all(|b| b.is_ascii_digit() || *b == b'_')
        && !digits.windows(2).any(|w| w == b"__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for json in ["0", "-1", "1.5", "2e+3", "1E-9", "12345678901234567890"] {
            assert_eq!(form(json.as_bytes()), Form::Json, "{json}");
        }
        for (word, want) in [
            ("+5", "5"),
            (".5", "0.5"),
            ("-.5e1", "-0.5e1"),
            ("5.", "5.0"),
            ("1_000", "1000"),
            ("+1.", "1.0"),
            ("042", "42"),
            ("-07.5", "-7.5"),
        ] {
            assert_eq!(form(word.as_bytes()), Form::Other(want.into()), "{word}");
        }
        for text in
            ["", "-", "007", "0x1F", "1e", "1__0", "_1", "1_", ".", "1.2.3", "12a", "e5", "--1"]
        {
            assert_eq!(form(text.as_bytes()), Form::Text, "{text}");
        }
    }
}
