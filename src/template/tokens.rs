//! The tokens of a condition: operators, strings, numbers, placeholders, words.
//!
//! A number is `-?d+[.d+][e±d+]`; a word is a run without white space, quotes, braces, parentheses
//! and `| & = ! < >`.

use crate::text::{space_at_start, trim_js};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    AtLeast,
    AtMost,
    Over,
    Under,
}

pub(super) enum Token<'e> {
    Or,
    And,
    Not,
    Open,
    Close,
    Compare(Operator, &'static str),
    Text(Vec<u8>),
    Number(f64),
    Word(&'e [u8]),
    Placeholder(&'e [u8]),
}

/// The tokens of an expression.
pub(super) struct Tokens<'e> {
    text: &'e [u8],
    at: usize,
}

const OPERATORS: [(&str, Token<'static>); 11] = [
    ("||", Token::Or),
    ("&&", Token::And),
    ("==", Token::Compare(Operator::Equal, "==")),
    ("!=", Token::Compare(Operator::Unequal, "!=")),
    (">=", Token::Compare(Operator::AtLeast, ">=")),
    ("<=", Token::Compare(Operator::AtMost, "<=")),
    (">", Token::Compare(Operator::Over, ">")),
    ("<", Token::Compare(Operator::Under, "<")),
    ("!", Token::Not),
    ("(", Token::Open),
    (")", Token::Close),
];

impl<'e> Tokens<'e> {
    pub(super) fn new(text: &'e [u8]) -> Self {
        Tokens { text, at: 0 }
    }

    pub(super) fn next(&mut self) -> Result<Option<Token<'e>>, String> {
        while let Some(size) = space_at_start(&self.text[self.at..]) {
            self.at += size;
        }
        let rest = &self.text[self.at..];
        let Some(&first) = rest.first() else { return Ok(None) };
        let (token, size) = match first {
            b'"' | b'\'' => quoted(rest)?,
            b'{' => {
                let end = memchr::memchr(b'}', rest).ok_or("a placeholder has no end")?;
                (Token::Placeholder(trim_js(&rest[1..end])), end + 1)
            }
            _ if rest[usize::from(first == b'-')..].first().is_some_and(u8::is_ascii_digit) => {
                let size = number(rest);
                let value = std::str::from_utf8(&rest[..size]).ok().and_then(|n| n.parse().ok());
                (Token::Number(value.unwrap_or(f64::NAN)), size)
            }
            _ => match operator(rest) {
                Some(found) => found,
                None => match word(rest) {
                    0 => return Err(format!("unexpected character '{}'", first as char)),
                    size => (Token::Word(&rest[..size]), size),
                },
            },
        };
        self.at += size;
        Ok(Some(token))
    }
}

fn operator<'e>(rest: &[u8]) -> Option<(Token<'e>, usize)> {
    let (name, token) = OPERATORS.iter().find(|(name, _)| rest.starts_with(name.as_bytes()))?;
    let token = match token {
        Token::Or => Token::Or,
        Token::And => Token::And,
        Token::Not => Token::Not,
        Token::Open => Token::Open,
        Token::Compare(operator, name) => Token::Compare(*operator, name),
        _ => Token::Close,
    };
    Some((token, name.len()))
}

/// A quoted string, in which a back-slash stands before a character that is meant as it is.
fn quoted<'e>(rest: &[u8]) -> Result<(Token<'e>, usize), String> {
    let (quote, mut text, mut at) = (rest[0], Vec::new(), 1);
    while let Some(&byte) = rest.get(at) {
        if byte == quote {
            return Ok((Token::Text(text), at + 1));
        }
        at += usize::from(byte == b'\\');
        text.extend(rest.get(at));
        at += 1;
    }
    Err("a quoted string has no end".to_owned())
}

/// The length of `-?d+[.d+][e±d+]`.
fn number(rest: &[u8]) -> usize {
    let digits = |from: usize| rest[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(rest[0] == b'-');
    let mut end = sign + digits(sign);
    if rest.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(rest.get(end), Some(b'e' | b'E')) {
        let from = end + 1 + usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
        let count = rest.get(from..).map_or(0, |_| digits(from));
        if count > 0 {
            end = from + count;
        }
    }
    end
}

fn word(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = rest.get(at) {
        let ends = b"\"'{}()|&=!<>".contains(&byte) || space_at_start(&rest[at..]).is_some();
        if ends {
            break;
        }
        at += 1;
    }
    at
}
