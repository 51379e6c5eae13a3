//! Numbers in replies: JavaScript's `Number` of a text, and one number token of a score.

use crate::text::{space_at_start, trim_js};

/// A place in a text.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn take(&mut self, bytes: &[u8]) -> bool {
        let found = self.rest().get(..bytes.len()).is_some_and(|b| b.eq_ignore_ascii_case(bytes));
        self.at += if found { bytes.len() } else { 0 };
        found
    }

    fn run(&mut self, kind: impl Fn(u8) -> bool) -> usize {
        let start = self.at;
        while self.at < self.text.len() && kind(self.peek()) {
            self.at += 1;
        }
        self.at - start
    }

    /// Takes space and emphasis.
    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let line = rest.starts_with(b"\n");
            match space_at_start(rest) {
                Some(bytes) if !line => self.at += bytes,
                _ if matches!(self.peek(), b'*' | b'_' | b'`' | b'~') => self.at += 1,
                _ => return,
            }
        }
    }
}

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
        let mut scan = Scan { text, at: 0 };
        if matches!(scan.peek(), b'+' | b'-') {
            scan.at += 1;
        }
        let whole = scan.run(|b| b.is_ascii_digit());
        let point = scan.take(b".");
        let fraction = if point { scan.run(|b| b.is_ascii_digit()) } else { 0 };
        if whole + fraction == 0 || !exponent(&mut scan) || scan.at < text.len() {
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
fn exponent(scan: &mut Scan<'_>) -> bool {
    if !matches!(scan.peek(), b'e' | b'E') {
        return true;
    }
    scan.at += 1;
    if matches!(scan.peek(), b'+' | b'-') {
        scan.at += 1;
    }
    scan.run(|b| b.is_ascii_digit()) > 0
}

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amount {
    /// The number, in percent where `of` is 100 and it was written so.
    pub(super) value: f64,
    /// What it is out of.
    pub(super) of: Option<f64>,
    /// It is a percentage.
    pub(super) percent: bool,
    /// It is written as one digit without more.
    pub(super) bare: bool,
    /// The bytes that it takes.
    pub(super) bytes: usize,
}

/// The number token that a text starts with: `0.8`, `.8`, `0,8`, `1e-3`, `85%`, `8/10`,
/// `7.5 out of 10`. None where it goes on as no number does.
pub(super) fn amount(text: &[u8]) -> Option<Amount> {
    // Full-width digits take three bytes each; places are mapped back by them.
    let (ascii, back) = narrow(text);
    let mut scan = Scan { text: &ascii, at: 0 };
    let value = token(&mut scan)?;
    let bare = scan.at == 1;
    let end = scan.at;
    scan.space();
    let mut found = Amount { value, of: None, percent: false, bare, bytes: end };
    if scan.take(b"%") || scan.take("％".as_bytes()) {
        found = Amount { percent: true, of: Some(100.0), bare: false, bytes: scan.at, ..found };
    } else if scan.take(b"/") || scan.take("／".as_bytes()) {
        scan.space();
        let of = token(&mut scan)?;
        if matches!(scan.peek(), b'/' | b'%') {
            return None;
        }
        found = Amount { of: Some(of), bare: false, bytes: scan.at, ..found };
    } else if scan.take(b"(") {
        scan.space();
        if scan.take(b"out of ") {
            let of = token(&mut scan)?;
            found = Amount { of: Some(of), bare: false, bytes: scan.at, ..found };
        }
    } else if scan.take(b"out of ") {
        scan.space();
        let of = token(&mut scan)?;
        found = Amount { of: Some(of), bare: false, bytes: scan.at, ..found };
    }
    found.bytes = back(found.bytes);
    Some(found)
}

/// The start of a text with digits made ASCII, and where a place in it was.
fn narrow(text: &[u8]) -> (Vec<u8>, impl Fn(usize) -> usize) {
    // No number token is longer; what is cut off goes on and is none.
    let (mut ascii, mut places, mut at) = (Vec::new(), Vec::new(), 0);
    while at < text.len() && ascii.len() < 96 {
        places.push(at);
        match text[at..] {
            [0xEF, 0xBC, digit @ 0x90..=0x99, ..] => {
                ascii.push(digit - 0x90 + b'0');
                at += 3;
            }
            _ => {
                ascii.push(text[at]);
                at += 1;
            }
        }
    }
    places.push(at);
    (ascii, move |place: usize| places.get(place).copied().unwrap_or(0))
}

/// One number, with a point or a comma, that ends where its text ends.
fn token(scan: &mut Scan<'_>) -> Option<f64> {
    let start = scan.at;
    if matches!(scan.peek(), b'+' | b'-') {
        scan.at += 1;
    }
    let whole = scan.run(|b| b.is_ascii_digit());
    let mut comma = None;
    let digit_next = scan.text.get(scan.at + 1).is_some_and(u8::is_ascii_digit);
    if matches!(scan.peek(), b'.' | b',') && digit_next {
        comma = (scan.peek() == b',').then_some(scan.at - start);
        let thousands = comma.is_some() && scan.text.get(start) != Some(&b'0');
        scan.at += 1;
        // `1,000` may be a thousand.
        if scan.run(|b| b.is_ascii_digit()) == 3 && thousands && whole > 0 {
            return None;
        }
    } else if whole == 0 {
        return None;
    }
    if !exponent(scan) || goes_on(scan.rest()) {
        return None;
    }
    let mut text = scan.text.get(start..scan.at)?.to_vec();
    if let Some(at) = comma {
        text[at] = b'.';
    }
    std::str::from_utf8(&text).ok()?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// True where a number goes on: a letter, another digit, or a digit behind a joiner.
fn goes_on(rest: &[u8]) -> bool {
    let joined = |from: usize| {
        let next = rest.get(from..).unwrap_or_default();
        matches!(next, [b'0'..=b'9', ..] | [b'.' | b',', b'0'..=b'9', ..])
    };
    match rest {
        // Letters; fractions, digits of other scripts, per mille.
        [b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z', ..]
        | [0xC2, 0xB2 | 0xB3 | 0xB9 | 0xBC..=0xBE, ..]
        | [0xE2, 0x85, ..]
        | [0xE2, 0x80, 0xB0, ..]
        | [0xD9, 0xA0..=0xA9, ..] => true,
        [b'.', b'.' | b'?', ..] => joined(2) || rest[1] == b'?',
        [b'*' | b'_' | b'~' | b'`', ..] => {
            let run = rest.iter().take(8).take_while(|b| matches!(b, b'*' | b'_' | b'~' | b'`'));
            joined(run.count())
        }
        [b'.' | b',' | b':' | b'-' | b'+' | b'^' | b'\'', ..] => joined(1),
        [0xE2, 0x80, 0x90..=0x95 | 0x99, ..] | [0xE2, 0x88, 0x92, ..] => joined(3),
        _ => false,
    }
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
}
