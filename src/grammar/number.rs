//! Numbers in replies: JavaScript's `Number` of a text, and the score that a marker gives.

use super::choices;
use super::marker::Reader;
use crate::target::trim_js;

/// The finite number that JavaScript's `Number` reads in a text; empty text is 0.
pub(super) fn js_number(text: &[u8]) -> Option<f64> {
    let text = trim_js(text);
    let radix = match text {
        [] => return Some(0.0),
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'b' | b'B', ..] => 2,
        _ => 10,
    };
    let number = if radix == 10 {
        let mut reader = Reader::new(text, 0);
        if matches!(reader.peek(), b'+' | b'-') {
            reader.skip(1);
        }
        let whole = reader.run(|b| b.is_ascii_digit());
        let point = reader.take(b".");
        let fraction = if point { reader.run(|b| b.is_ascii_digit()) } else { 0 };
        if whole + fraction == 0 || !exponent(&mut reader) || reader.at < text.len() {
            return None;
        }
        std::str::from_utf8(text).ok()?.parse().ok()?
    } else {
        let digits = &text[2..];
        let mut number = 0.0;
        for &digit in digits {
            number = number * f64::from(radix) + f64::from(char::from(digit).to_digit(radix)?);
        }
        if digits.is_empty() {
            return None;
        }
        number
    };
    Some(number).filter(|number: &f64| number.is_finite())
}

/// Takes an exponent; false where an `e` has no digits.
fn exponent(reader: &mut Reader<'_>) -> bool {
    if !matches!(reader.peek(), b'e' | b'E') {
        return true;
    }
    reader.skip(1);
    if matches!(reader.peek(), b'+' | b'-') {
        reader.skip(1);
    }
    reader.run(|b| b.is_ascii_digit()) > 0
}

/// Reads a score in [0, 1]: one whole number token, with `%` or over another one.
///
/// Anything that goes on as a number does (`0.8.1`, `0-1`, `1_000`, `1,000`), or that gives it
/// another unit (`1 out of 10`, `1 percent`, `1 (1-5)`), is no score, so that no long number reads
/// as its start. Neither is a number in a list or at the start of a range (`0 or 1`, `1 to 5`): the
/// form of an answer.
pub(super) fn score(reader: &mut Reader<'_>) -> Option<f64> {
    let score = amount(reader)?;
    let end = score == 0.0 || (score - 1.0).abs() < f64::EPSILON;
    let behind = reader.at;
    if choices::of_numbers(reader, b"score", end, &[]) || other_scale(reader) {
        return None;
    }
    reader.at = behind;
    Some(score)
}

fn amount(reader: &mut Reader<'_>) -> Option<f64> {
    let number = token(reader)?;
    let behind = reader.at;
    reader.wrapping(false);
    let score = match reader.rest() {
        [b'%', ..] | [0xEF, 0xBC, 0x85, ..] => {
            reader.skip(if reader.peek() == b'%' { 1 } else { 3 });
            number / 100.0
        }
        [b'/', ..] | [0xEF, 0xBC, 0x8F, ..] => {
            reader.skip(if reader.peek() == b'/' { 1 } else { 3 });
            let letter = reader.peek().is_ascii_alphabetic();
            reader.wrapping(false);
            match token(reader) {
                Some(of) => {
                    let end = reader.at;
                    reader.wrapping(false);
                    if matches!(reader.peek(), b'/' | b'%') {
                        return None;
                    }
                    reader.at = end;
                    number / of
                }
                // `1/` at the end of a text is a cut `1/10`.
                None if reader.rest().is_empty() => return None,
                None if letter || reader.peek().is_ascii_digit() => return None,
                None => {
                    reader.at = behind;
                    number
                }
            }
        }
        _ => {
            if other_unit(reader) {
                return None;
            }
            reader.at = behind;
            number
        }
    };
    let whole = !matches!(reader.peek(), b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z');
    // The sum makes -0 plain.
    (whole && (0.0..=1.0).contains(&score)).then_some(score + 0.0)
}

/// One number, with a point or a comma, that ends where its text ends.
fn token(reader: &mut Reader<'_>) -> Option<f64> {
    let start = reader.at;
    if matches!(reader.peek(), b'+' | b'-') {
        reader.skip(1);
    }
    let whole = reader.run(|b| b.is_ascii_digit());
    let mut comma = None;
    if matches!(reader.peek(), b'.' | b',') && reader.peek_at(1).is_ascii_digit() {
        comma = (reader.peek() == b',').then_some(reader.at - start);
        let thousands = comma.is_some() && !reader.since(start).starts_with(b"0");
        reader.skip(1);
        // `1,000` may be a thousand.
        if reader.run(|b| b.is_ascii_digit()) == 3 && thousands && whole > 0 {
            return None;
        }
    } else if whole == 0 {
        return None;
    }
    if !exponent(reader) || goes_on(reader.rest()) {
        return None;
    }
    let mut text = reader.since(start).to_vec();
    if let Some(at) = comma {
        text[at] = b'.';
    }
    std::str::from_utf8(&text).ok()?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// True where a number goes on: a letter, a digit of another script, or a digit behind a joiner.
fn goes_on(rest: &[u8]) -> bool {
    let [first, ..] = rest else { return false };
    if first.is_ascii_alphanumeric() {
        return true;
    }
    let text = rest.get(..rest.len().min(4)).unwrap_or_default();
    let valid = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or(""),
    };
    if valid.chars().next().is_some_and(|c| c.is_numeric() || c == '\u{2030}') {
        return true;
    }
    // A run of joiners is short: a longer one is prose or emphasis.
    let joined = |from: usize| {
        let next = rest.get(from..).unwrap_or_default();
        matches!(next, [b'0'..=b'9', ..] | [b'.' | b',', b'0'..=b'9', ..])
    };
    match rest {
        [b'.', b'.', ..] => joined(2),
        [b'*' | b'_' | b'~' | b'`', ..] => joined(
            rest.iter().take(8).take_while(|b| matches!(b, b'*' | b'_' | b'~' | b'`')).count(),
        ),
        [b'.' | b',' | b':' | b'-' | b'+' | b'^' | b'\'', ..] => joined(1),
        [0xE2, 0x80, 0x90..=0x95 | 0x99, ..] | [0xE2, 0x88, 0x92, ..] => joined(3),
        _ => false,
    }
}

/// Takes words that give a number another meaning: `out of 10`, `of 10`, `percent`.
fn other_unit(reader: &mut Reader<'_>) -> bool {
    if reader.word(b"percent") || reader.word(b"per cent") {
        return true;
    }
    if reader.word(b"out ") {
        reader.wrapping(false);
    }
    if !reader.word(b"of ") {
        return false;
    }
    reader.wrapping(false);
    reader.peek().is_ascii_digit()
}

/// True where a note in brackets names a scale that ends above 1: `(out of 10)`, `(1-5)`.
fn other_scale(reader: &mut Reader<'_>) -> bool {
    reader.wrapping(false);
    if !matches!(reader.peek(), b'(' | b'[') {
        return false;
    }
    reader.skip(1);
    let mut named = false;
    while reader.one_of(&[b"on", b"a", b"the", b"out", b"of", b"scale", b"range", b"from", b"max"])
    {
        named = true;
        reader.run(|b| matches!(b, b' ' | b':'));
    }
    let mut numbers = 0;
    let mut last = None;
    while numbers < 2 {
        let start = reader.at;
        if reader.run(|b| b.is_ascii_digit() || b == b'.') == 0 {
            break;
        }
        let digits = std::str::from_utf8(reader.since(start)).unwrap_or_default();
        last = digits.trim_end_matches('.').parse::<f64>().ok();
        numbers += 1;
        while reader.one_of(&[b"to"])
            || reader.take("–".as_bytes())
            || reader.run(|b| matches!(b, b' ' | b'-' | b'.')) > 0
        {}
    }
    let closed = matches!(reader.peek(), b')' | b']') || reader.one_of(&[b"scale", b"points"]);
    closed && (named || numbers > 1) && last.is_some_and(|last| last > 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_javascripts() {
        for (text, want) in [
            ("", Some(0.0)),
            (" \u{FEFF}2\n", Some(2.0)),
            ("0x1F", Some(31.0)),
            ("0b11", Some(3.0)),
            ("0o17", Some(15.0)),
            ("-1.5e1", Some(-15.0)),
            ("+.5", Some(0.5)),
            ("5.", Some(5.0)),
            ("Infinity", None),
            ("1e999", None),
            ("nan", None),
            ("-0x1", None),
            ("0x", None),
            ("1_000", None),
            (".", None),
            ("1e", None),
            ("2 3", None),
            ("inf", None),
        ] {
            assert_eq!(js_number(text.as_bytes()), want, "{text:?}");
        }
    }

    #[test]
    fn scores_are_whole_tokens() {
        let read = |text: &str| score(&mut Reader::new(text.as_bytes(), 0));
        for (text, want) in [
            ("0.8", 0.8),
            (".8.", 0.8),
            ("0,8", 0.8),
            ("1e-3", 0.001),
            ("85%", 0.85),
            ("85 ％", 0.85),
            ("8/10", 0.8),
            ("8**/10", 0.8),
            ("1.", 1.0),
            ("1, fine", 1.0),
            ("0.5 / fine", 0.5),
            ("-0", 0.0),
            ("0.8分", 0.8),
        ] {
            assert_eq!(read(text), Some(want), "{text:?}");
        }
        for text in [
            "10",
            "1.7",
            "-0.1",
            "1e3",
            "12/10",
            "1/0",
            "0/0",
            "101%",
            "1,000",
            "1_000",
            "0.8.1",
            "0.0-1.0",
            "1st",
            "0x1",
            "1e",
            "1０",
            "1½",
            "1‰",
            "1/2/2024",
            "8/10%",
            "1 out of 10",
            "1 of 10",
            "1 percent",
            "1:0",
            "1'000",
            "x",
            "",
            "%",
            "1/N",
            "0..1",
            "0~1",
            "1–5",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
