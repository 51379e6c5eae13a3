//! The look ahead: what the next token is, and whether a key stands at a place. Every decision
//! asks here. A look reads one token (and the gap before it), counts the bytes it reads, and
//! waits where a stream has not brought them yet.

use super::super::diagnostics::Code;
use super::parser::Parser;
use super::quote::{Opening, Quote, closing, opening};
use super::state::Stop;
use super::words::{is_word, literal, run, wide};

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// The text ends.
    End,
    /// A fence or a closing tag: the document ends.
    Stop,
    /// A comma, or a sign in place of one, of so many bytes.
    Comma(usize),
    /// A colon, or a sign in place of one.
    Colon(usize),
    Open(u8),
    Close(u8),
    /// A quote that may open a string.
    Quote(Quote, usize),
    /// The first byte of a word or a number.
    Word,
    Other(u8),
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) at: usize,
    pub(super) token: Token,
}

/// Whether a key and a colon stand at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Key {
    No,
    Yes,
    /// The text ends in what may be a key.
    Cut,
}

impl Parser<'_> {
    /// The token behind the gap that starts at a place.
    pub(super) fn peek(&mut self, from: usize) -> Result<Next, Stop> {
        let at = self.gap_end(from)?;
        Ok(Next { at, token: self.token(at)? })
    }

    /// The token at a place.
    pub(super) fn token(&mut self, at: usize) -> Result<Token, Stop> {
        let Some(byte) = self.byte(at) else { return Ok(Token::End) };
        Ok(match byte {
            b',' | b';' => Token::Comma(1),
            b':' => Token::Colon(1),
            b'=' => {
                self.needs(at + 2)?;
                Token::Colon(1 + usize::from(self.byte(at + 1) == Some(b'>')))
            }
            b'{' | b'[' | b'(' => Token::Open(byte),
            b'}' | b']' | b')' => Token::Close(byte),
            b'+' => Token::Other(b'+'),
            _ if self.ends_document(at)? => Token::Stop,
            _ => match wide(self.text.get(at..).unwrap_or_default()) {
                Some((b':', len)) => Token::Colon(len),
                Some((_, len)) => Token::Comma(len),
                None => match self.opening_quote(at)? {
                    Some((quote, len)) => Token::Quote(quote, len),
                    None if is_word(byte) => Token::Word,
                    None => Token::Other(byte),
                },
            },
        })
    }

    /// The quote that opens at a place, with its length.
    pub(super) fn opening_quote(&mut self, at: usize) -> Result<Option<(Quote, usize)>, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let quote = match opening(rest, self.last) {
            Opening::Quote(quote, len) => Some((quote, len)),
            Opening::No => None,
            Opening::More => return Err(Stop::More),
        };
        Ok(match *rest {
            // `"""key": 1`: an empty string, and a key behind it.
            [b'"', b'"', b'"', ref key @ ..] if quoted_word_and_colon(key) => {
                Some((Quote::Double, 1))
            }
            [b'"', b'"', b, ..] if begins_text(b) && self.doubled(at)? => Some((Quote::Doubled, 2)),
            [b'\'', b'\'', b, ..] if begins_text(b) && self.doubled(at)? => {
                Some((Quote::DoubledSingle, 2))
            }
            _ => quote,
        })
    }

    /// `""a""`: the quote is written twice on both sides, as keys show, or what stands beside it
    /// in a list. Beside keys with single quotes it is speech in a string: `"k": ""No," he said"`.
    fn doubled(&mut self, at: usize) -> Result<bool, Stop> {
        let Some(end) = self.doubled_end(at)? else { return Ok(false) };
        let next = self.gap_end(end)?;
        let known = self.log.has(Code::DoubledQuotes);
        Ok(match self.byte(next) {
            Some(b':') => true,
            None | Some(b'}') => known,
            Some(b',') if known => true,
            Some(b',') => {
                let then = self.gap_end(next + 1)?;
                self.needs(then + 3)?;
                let quote = self.byte(at);
                !self.quoted_key
                    && self.byte(then) == quote
                    && self.byte(then + 1) == quote
                    && self.doubled_end(then)?.is_some()
            }
            Some(b']') => known || !self.quoted_key && self.behind_opener(at),
            _ => false,
        })
    }

    /// The end of a string whose quotes are written twice.
    fn doubled_end(&mut self, at: usize) -> Result<Option<usize>, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let quote = rest.first().copied().unwrap_or(b'"');
        let Some(end) = memchr::memchr2(quote, b'\n', rest.get(2..).unwrap_or_default()) else {
            let ends = |b| matches!(b, b'"' | b'\'' | b'\n');
            return if self.last { Ok(None) } else { Err(self.wait_for(ends, usize::MAX)) };
        };
        self.steps += end as u64;
        self.needs(at + end + 4)?;
        let twice = rest.get(2 + end) == Some(&quote) && rest.get(3 + end) == Some(&quote);
        Ok(twice.then_some(at + end + 4))
    }

    /// The token behind the commas that stand from a place on.
    pub(super) fn behind_commas(&mut self, from: usize) -> Result<Next, Stop> {
        let mut at = if self.memo.commas.0 == from { self.memo.commas.1 } else { from };
        loop {
            self.memo.commas = (from, at);
            let next = self.peek(at)?;
            match next.token {
                Token::Comma(len) => at = next.at + len,
                _ => return Ok(next),
            }
        }
    }

    /// The place behind the commas that stand from a place on.
    pub(in super::super) fn past_commas(&mut self, from: usize) -> Result<usize, Stop> {
        Ok(self.behind_commas(from)?.at)
    }

    /// Whether a key and a colon stand at a place.
    pub(in super::super) fn key_at(&mut self, at: usize) -> Result<Key, Stop> {
        let (end, quoted) = match self.opening_quote(at)? {
            Some((quote, len)) => match self.quoted_key_end(at, quote, len)? {
                Ok(end) => (end, true),
                Err(key) => return Ok(key),
            },
            None => {
                let from = self.memo.keys.read(at);
                let rest = self.text.get(from..).unwrap_or_default();
                let end = from + run(rest, is_word);
                self.steps += (end - from) as u64 + 1;
                if !self.last {
                    self.memo.keys.keep(at, end);
                }
                if end > at && matches!(self.byte(end), Some(b'"' | b'\'')) {
                    // `key":`: only the opening quote is missing.
                    (end + 1, true)
                } else {
                    (end, false)
                }
            }
        };
        if end >= self.text.len() {
            if self.last {
                return Ok(Key::Cut);
            }
            // Behind a closing quote any byte decides.
            let stops: fn(u8) -> bool = if quoted { |_| true } else { |b| !is_word(b) };
            return Err(self.wait_for(stops, usize::MAX));
        }
        if end == at {
            return Ok(Key::No);
        }
        let colon = self.gap_end(end)?;
        let rest = self.text.get(colon..).unwrap_or_default();
        self.memo.colon = colon + 1;
        Ok(match rest {
            [] => Key::Cut,
            [b':'] if !self.last => return Err(Stop::More),
            // `http://`, `std::`
            [b':', b'/' | b':', ..] if !quoted => Key::No,
            [b':', ..] => Key::Yes,
            [b'=', next, ..] if quoted => {
                self.memo.colon += usize::from(*next == b'>');
                Key::Yes
            }
            [b'=' | b'{' | b'[', ..] if quoted => {
                self.memo.colon = colon;
                Key::Yes
            }
            _ if matches!(wide(rest), Some((b':', _))) => {
                self.memo.colon = colon + 3;
                Key::Yes
            }
            _ => Key::No,
        })
    }

    /// The end of a key in quotes, or what else was found out about it.
    fn quoted_key_end(
        &mut self,
        at: usize,
        quote: Quote,
        len: usize,
    ) -> Result<Result<usize, Key>, Stop> {
        let text = self.text;
        let rest = text.get(at..).unwrap_or_default();
        let begun = len.max(self.memo.keys.read(at) - at);
        let mut i = begun;
        let mut sure = i;
        let ended = loop {
            // A closing quote is three bytes long at most.
            if i + 3 <= rest.len() {
                sure = i;
            }
            let Some(&byte) = rest.get(i) else { break None };
            match byte {
                b'\\' if quote != Quote::Escaped => i += 2,
                b'\n' => {
                    self.steps += (i - begun) as u64 + 1;
                    let colon = word_and_colon(rest.get(len..i).unwrap_or_default());
                    self.memo.colon = at + len + colon.unwrap_or(0) + 1;
                    return Ok(Err(if colon.is_some() { Key::Yes } else { Key::No }));
                }
                _ => match closing(rest.get(i..).unwrap_or_default(), quote) {
                    0 => i += 1,
                    n => break Some(n),
                },
            }
        };
        self.steps += (i - begun) as u64 + 1;
        let Some(n) = ended else {
            if self.last {
                return Ok(Ok(text.len()));
            }
            self.memo.keys.keep(at, at + sure);
            return Err(self.wait_for(ends_key(quote), usize::MAX));
        };
        if !self.last {
            self.memo.keys.keep(at, at + sure);
        }
        // `"key: "value"`, `"key: 1, "next"`: the key's closing quote is missing.
        if let Some(colon) = colon_alone(rest.get(len..i).unwrap_or_default())
            && !self.ends_after(at + i + n)?
        {
            self.memo.colon = at + len + colon + 1;
            return Ok(Err(Key::Yes));
        }
        Ok(Ok(at + i + n))
    }

    /// True where a token follows that stands behind a complete string.
    pub(super) fn ends_after(&mut self, at: usize) -> Result<bool, Stop> {
        let next = self.peek(at)?;
        Ok(matches!(next.token, Token::End | Token::Comma(_) | Token::Colon(_) | Token::Close(_)))
    }

    /// True for a line feed between two places.
    pub(super) fn has_line_feed(&mut self, from: usize, to: usize) -> bool {
        self.steps += (to - from) as u64;
        self.text.get(from..to).is_some_and(|t| memchr::memchr(b'\n', t).is_some())
    }
}

/// The bytes that may end a key in quotes.
fn ends_key(quote: Quote) -> fn(u8) -> bool {
    match quote {
        Quote::Double | Quote::TripleDouble | Quote::Doubled | Quote::Escaped => {
            |b| matches!(b, b'"' | b'\n')
        }
        Quote::Single | Quote::TripleSingle | Quote::DoubledSingle => {
            |b| matches!(b, b'\'' | b'\n')
        }
        _ => |b| matches!(b, b'"' | b'\'' | b'`' | b'\n' | 0xC2 | 0xE2),
    }
}

/// The colon behind a word.
fn word_and_colon(text: &[u8]) -> Option<usize> {
    let word = run(text, is_word);
    (word > 0 && text.get(word) == Some(&b':')).then_some(word)
}

/// The same with nothing behind it but space and brackets, numbers and literals.
fn colon_alone(text: &[u8]) -> Option<usize> {
    let sign = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'[' | b'{' | b'}' | b']' | b',');
    let scalar = |word: &[u8]| literal(word).is_some() || super::number::is_json(word);
    let sound = |rest: &[u8]| rest.split(sign).all(|word| word.is_empty() || scalar(word));
    word_and_colon(text).filter(|&colon| text.get(colon + 1..).is_some_and(sound))
}

/// A byte behind two quotes that does not make them an empty string.
fn begins_text(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b':' | b',' | b'}' | b']')
}

/// `key":`
fn quoted_word_and_colon(text: &[u8]) -> bool {
    let word = run(text, is_word);
    word > 0 && text.get(word..).is_some_and(|rest| rest.starts_with(b"\":"))
}
