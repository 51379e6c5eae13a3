//! Strings: which quotes open and close them, escapes, and where a quote is part of the text.
//!
//! A quote inside a string is judged by the next token only: in a key a colon closes; in an
//! object's value a closer, the end, or a comma with a key and a colon behind it; in an array a
//! comma or a closer. Anything else makes it part of the text. The look ahead is one key, at most
//! [`KEY_AHEAD`] bytes.

use super::super::diagnostics::Code;
use super::super::document::{Kind, Place, index_u32};
use super::super::strict::Phase;
use super::super::string::{next_special, unescape_into};
use super::parser::{Event, Flow, Parser, Stop};
use crate::target::push_scalar;

/// The longest key that is looked for behind a comma.
const KEY_AHEAD: usize = 256;

/// What opened a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    Backtick,
    CurlyDouble,
    CurlySingle,
    TripleDouble,
    TripleSingle,
    /// `\"`
    Escaped,
}

/// Where a string stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Key,
    Member,
    Element,
    Root,
}

/// A string under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) quote: Quote,
    pub(super) role: Role,
    /// First byte of the text.
    start: usize,
    /// First byte that is not decoded yet, where decoding has begun.
    from: usize,
    /// Where the scan goes on.
    at: usize,
    /// An escape was seen since `from`.
    escaped: bool,
    /// The text is being decoded piece by piece.
    decoding: bool,
    /// A quote was read as text.
    inner: bool,
    /// An opening bracket stands in the text before this place.
    bracket: bool,
    bracket_to: usize,
    /// Its opening was told of.
    told: bool,
}

/// What a quote inside a string is.
enum Judgement {
    Closes,
    /// Another string follows a plus sign: its quote, and where its text starts.
    Joins(Quote, usize),
    Text,
}

impl Parser<'_> {
    /// The quote that opens at a place, with its length.
    pub(super) fn opening_quote(&self, at: usize) -> Result<Option<(Quote, usize)>, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let cut = |n: usize| rest.len() < n && !self.last;
        Ok(Some(match *rest {
            [b'"' | b'\''] if cut(3) => return Err(Stop::More),
            [a, b] if a == b && (a == b'"' || a == b'\'') && cut(3) => return Err(Stop::More),
            [b'"', b'"', b'"', ..] => (Quote::TripleDouble, 3),
            [b'\'', b'\'', b'\'', ..] => (Quote::TripleSingle, 3),
            [b'"', ..] => (Quote::Double, 1),
            [b'\'', ..] => (Quote::Single, 1),
            [b'`', b'`', b'`', ..] => return Ok(None),
            [b'`' | b'\\'] | [b'`', b'`'] if !self.last => return Err(Stop::More),
            [b'`', ..] => (Quote::Backtick, 1),
            [b'\\', b'"', ..] => (Quote::Escaped, 2),
            [0xE2, 0x80, 0x9C..=0x9F, ..] => (Quote::CurlyDouble, 3),
            [0xE2, 0x80, 0x98..=0x9B, ..] => (Quote::CurlySingle, 3),
            [0xC2, 0xAB, ..] => (Quote::CurlyDouble, 2),
            _ => return Ok(None),
        }))
    }

    pub(super) fn open_string(&mut self, quote: Quote, at: usize, len: usize) -> Flow {
        let code = match quote {
            Quote::Double => None,
            Quote::Single => Some(Code::SingleQuotes),
            Quote::Backtick => Some(Code::BacktickQuotes),
            Quote::CurlyDouble | Quote::CurlySingle => Some(Code::CurlyQuotes),
            Quote::TripleDouble | Quote::TripleSingle => Some(Code::TripleQuotes),
            Quote::Escaped => Some(Code::EscapedQuotes),
        };
        if let Some(code) = code {
            self.log.add(code, at, at + len);
        }
        let start = at + len;
        let role = self.role();
        self.state.string = Some(Open {
            quote,
            role,
            start,
            from: start,
            at: start,
            escaped: false,
            decoding: false,
            inner: false,
            bracket: false,
            bracket_to: start,
            told: false,
        });
        self.scratch.clear();
        self.string()
    }

    /// Reads on in the open string.
    pub(super) fn string(&mut self) -> Flow {
        let Some(mut open) = self.string else { return Ok(()) };
        let result = self.scan(&mut open);
        if result == Err(Stop::More) {
            self.string_waits(&mut open);
            self.string = Some(open);
        }
        result
    }

    fn scan(&mut self, open: &mut Open) -> Flow {
        loop {
            let at = next_of_interest(self.text, open.at, open.quote);
            self.steps += (at - open.at) as u64 + 1;
            open.at = at;
            let Some(byte) = self.byte(at) else {
                if !self.last {
                    return Err(Stop::More);
                }
                self.string_ends_text(open);
                return Ok(());
            };
            if byte == b'\\' && !(open.quote == Quote::Escaped && self.byte(at + 1) == Some(b'"')) {
                if self.escape(open)? {
                    self.string_ends_text(open);
                    return Ok(());
                }
                continue;
            }
            if byte < 0x20 {
                if byte == b'\n'
                    && open.role == Role::Key
                    && let Some(colon) = self.colon_inside(open, at)
                {
                    self.close_key(open, colon);
                    return Ok(());
                }
                self.log.extend(Code::RawControl, at, at + 1);
                open.at += 1;
                continue;
            }
            let len = closing_len(self.text, at, open.quote, self.last)?;
            if len == 0 {
                open.at += 1;
                continue;
            }
            if open.role == Role::Key
                && self.byte(at + len) != Some(b':')
                && let Some(colon) = self.colon_before(open, at)
            {
                self.close_key(open, colon);
                return Ok(());
            }
            match self.judge(open, at, len)? {
                Judgement::Closes => {
                    self.finish_string(open, at, at + len);
                    return Ok(());
                }
                Judgement::Joins(quote, start) => {
                    self.log.add(Code::Concatenation, at, start);
                    self.decode_to(open, at);
                    open.quote = quote;
                    (open.from, open.at) = (start, start);
                }
                Judgement::Text => {
                    if let Some(comma) = self.missing_quote(open, at)? {
                        self.close_before(open, comma);
                        return Ok(());
                    }
                    open.inner = true;
                    self.log.add(Code::InnerQuote, at, at + len);
                    open.at = at + len;
                }
            }
        }
    }

    /// Reads the escape at `open.at`; true where the text ends inside it.
    fn escape(&mut self, open: &mut Open) -> Result<bool, Stop> {
        let at = open.at;
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let hex = |from: usize, n: usize| {
            rest.get(from..from + n).filter(|h| h.iter().all(u8::is_ascii_hexdigit))
        };
        match rest.first() {
            None => return if self.last { Ok(true) } else { Err(Stop::More) },
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                open.escaped = true;
                open.at += 2;
            }
            Some(b'\'' | b'`') => {
                self.log.add(Code::ForeignEscape, at, at + 2);
                open.escaped = true;
                open.at += 2;
            }
            Some(b'u') if hex(1, 4).is_some() => {
                open.escaped = true;
                open.at += 6;
            }
            Some(b'u') if rest.len() < 5 && rest.iter().skip(1).all(u8::is_ascii_hexdigit) => {
                return if self.last { Ok(true) } else { Err(Stop::More) };
            }
            Some(b'x') if rest.len() < 3 && rest.iter().skip(1).all(u8::is_ascii_hexdigit) => {
                return if self.last { Ok(true) } else { Err(Stop::More) };
            }
            Some(b'x') if let Some(digits) = hex(1, 2) => {
                let code = digits.iter().fold(0, |n, &d| n << 4 | hex_value(d));
                self.log.add(Code::ForeignEscape, at, at + 4);
                self.decode_to(open, at);
                push_scalar(&mut self.scratch, code);
                (open.from, open.at) = (at + 4, at + 4);
            }
            Some(b'u') if rest.get(1) == Some(&b'{') && self.braced_escape(open, at) => {}
            Some(_) => {
                let end = at + 1 + self.char_len(at + 1);
                self.log.add(Code::InvalidEscape, at, end);
                self.decode_to(open, at);
                self.scratch.push(b'\\');
                (open.from, open.at) = (at + 1, at + 1);
                // The byte after it is text, whatever it is; a quote was handled above.
                if self.byte(at + 1).is_some_and(|b| b >= 0x20) {
                    open.at += 1;
                }
            }
        }
        Ok(false)
    }

    /// `\u{1F600}`
    fn braced_escape(&mut self, open: &mut Open, at: usize) -> bool {
        let digits = self.text.get(at + 3..).unwrap_or_default();
        let len = digits.iter().take(7).take_while(|b| b.is_ascii_hexdigit()).count();
        if !(1..=6).contains(&len) || digits.get(len) != Some(&b'}') {
            return false;
        }
        let code = digits.iter().take(len).fold(0, |n, &d| n << 4 | hex_value(d));
        if code > 0x10_FFFF {
            return false;
        }
        let end = at + 4 + len;
        self.log.add(Code::ForeignEscape, at, end);
        self.decode_to(open, at);
        push_scalar(&mut self.scratch, code);
        (open.from, open.at) = (end, end);
        true
    }

    /// Decodes what was read up to a place.
    fn decode_to(&mut self, open: &mut Open, end: usize) {
        let raw = self.text.get(open.from..end).unwrap_or_default();
        if open.escaped {
            unescape_into(&mut self.state.scratch, raw);
        } else {
            super::super::string::push_text(&mut self.state.scratch, raw);
        }
        open.decoding = true;
        open.escaped = false;
        open.from = end;
    }

    /// What the quote at `at` is, judged by what follows it.
    fn judge(&mut self, open: &Open, at: usize, len: usize) -> Result<Judgement, Stop> {
        let after = at + len;
        // What nearly every string looks like.
        match (open.role, self.byte(after)) {
            (Role::Key, Some(b':'))
            | (Role::Member, Some(b'}' | b']'))
            | (Role::Element, Some(b',' | b']')) => return Ok(Judgement::Closes),
            _ => {}
        }
        let (next, more) = self.space_after(after);
        if more {
            return Err(Stop::More);
        }
        let Some(byte) = self.byte(next) else { return Ok(Judgement::Closes) };
        if open.role == Role::Root {
            return Ok(Judgement::Text);
        }
        if self.ends_document(next) {
            return Ok(Judgement::Closes);
        }
        if byte == b'+' && open.role != Role::Key {
            return self.joined(next);
        }
        let closes = match open.role {
            Role::Key => self.key_closes(byte, after, next)?,
            Role::Member => self.member_closes(byte, after, next)?,
            _ => self.element_closes(open, byte, after, next)?,
        };
        Ok(if closes { Judgement::Closes } else { Judgement::Text })
    }

    fn joined(&mut self, plus: usize) -> Result<Judgement, Stop> {
        let (at, more) = self.space_after(plus + 1);
        if more {
            return Err(Stop::More);
        }
        Ok(match self.opening_quote(at)? {
            Some((quote, len)) => Judgement::Joins(quote, at + len),
            None => Judgement::Text,
        })
    }

    fn key_closes(&mut self, byte: u8, after: usize, next: usize) -> Result<bool, Stop> {
        Ok(match byte {
            b':' | b'=' | b',' | b'}' | b'{' | b'[' => true,
            0xEF => self.text.get(next..next + 3) == Some("：".as_bytes()),
            // A value without its colon, unless what follows is the end of this key.
            b'"' | b'\'' => next > after && self.key_ahead(next)? != Some(true),
            b'-' | b'0'..=b'9' => next > after,
            b't' | b'f' | b'n' | b'T' | b'F' | b'N' => next > after && self.literal_ahead(next),
            _ => false,
        })
    }

    fn literal_ahead(&self, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        let len = rest.iter().take(8).take_while(|b| b.is_ascii_alphabetic()).count();
        matches!(rest.get(..len), Some(b"true" | b"false" | b"null" | b"True" | b"False" | b"None"))
    }

    fn member_closes(&mut self, byte: u8, after: usize, next: usize) -> Result<bool, Stop> {
        match byte {
            b'}' | b']' => Ok(true),
            b')' => Ok(self.in_round()),
            b',' | b';' | 0xEF => {
                let comma = byte != 0xEF || self.text.get(next..next + 3) == Some("，".as_bytes());
                if !comma {
                    return Ok(false);
                }
                let mut key = next + if byte == 0xEF { 3 } else { 1 };
                loop {
                    let (at, more) = self.space_after(key);
                    if more {
                        return Err(Stop::More);
                    }
                    if self.byte(at) != Some(b',') {
                        key = at;
                        break;
                    }
                    key = at + 1;
                }
                Ok(match self.byte(key) {
                    None | Some(b'}' | b']') => true,
                    Some(_) if self.ends_document(key) => true,
                    Some(b'{') if self.outer_kind() == Some(Kind::Array) => {
                        let (inner, more) = self.space_after(key + 1);
                        if more {
                            return Err(Stop::More);
                        }
                        self.byte(inner) == Some(b'"') && self.key_ahead(inner)? == Some(true)
                    }
                    Some(_) => self.key_ahead(key)? != Some(false) || self.key_without_colon(key),
                })
            }
            b'"' | b'\'' | b'\\' | 0xE2 if next > after => Ok(self.key_ahead(next)? == Some(true)),
            _ if next > after && self.has_line_feed(after, next) => {
                Ok(self.key_ahead(next)? == Some(true))
            }
            _ => Ok(false),
        }
    }

    /// `"key" 12`, `"key" "value"`: a plain key whose colon is missing.
    fn key_without_colon(&mut self, at: usize) -> bool {
        let Some(rest) = self.text.get(at..).and_then(|r| r.strip_prefix(b"\"")) else {
            return false;
        };
        let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        let len = rest.iter().take(64).position(|b| !word(b)).unwrap_or(0);
        self.steps += len as u64;
        if len == 0 || rest.get(len) != Some(&b'"') {
            return false;
        }
        let (value, _) = self.space_after(at + len + 2);
        value > at + len + 2
            && match self.byte(value) {
                Some(b'"' | b'0'..=b'9' | b'-') => true,
                Some(_) => self.literal_ahead(value),
                None => false,
            }
    }

    fn has_line_feed(&self, from: usize, to: usize) -> bool {
        self.text.get(from..to).is_some_and(|t| memchr::memchr(b'\n', t).is_some())
    }

    fn element_closes(
        &mut self,
        open: &Open,
        byte: u8,
        after: usize,
        next: usize,
    ) -> Result<bool, Stop> {
        Ok(match byte {
            b',' | b']' | b';' => true,
            b'}' => self.has_open(b'}') || !self.has_open(b']'),
            b')' => self.in_round(),
            b':' => {
                let key = self.children() == 0 || self.outer_kind() == Some(Kind::Object);
                !open.inner && key && self.events.is_none()
            }
            b'"' | b'\'' => self.another_string(next, after)?,
            b'[' => next > after && !open.inner,
            b'{' => {
                let (key, more) = self.space_after(next + 1);
                if more {
                    return Err(Stop::More);
                }
                next > after && self.key_ahead(key)? == Some(true)
            }
            b'-' | b'0'..=b'9' if self.has_line_feed(after, next) => true,
            b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                next > after && self.scalar_ahead(next)?
            }
            0xEF => self.text.get(next..next + 3) == Some("，".as_bytes()),
            _ => false,
        })
    }

    /// True where a whole string stands at `next`, so that only a comma is missing before it.
    fn another_string(&mut self, next: usize, after: usize) -> Result<bool, Stop> {
        let Some((_, len)) = self.opening_quote(next)? else { return Ok(false) };
        let quote = self.byte(next);
        let rest = self.text.get(next + len..).unwrap_or_default();
        let stop = |b: &u8| Some(*b) == quote || *b == b'\n';
        let found = rest.iter().take(KEY_AHEAD).position(stop);
        self.steps += found.unwrap_or(KEY_AHEAD.min(rest.len())) as u64;
        let Some(found) = found else {
            if rest.len() < KEY_AHEAD && !self.last {
                return Err(Stop::More);
            }
            return Ok(next > after);
        };
        if rest.get(found) == Some(&b'\n') {
            return Ok(false);
        }
        let (then, more) = self.space_after(next + len + found + 1);
        if more {
            return Err(Stop::More);
        }
        Ok(match self.byte(then) {
            None | Some(b',' | b']') => true,
            Some(b'"' | b'\'') => next > after && then > next + len + found + 1,
            _ => false,
        })
    }

    /// Whether a key and a colon stand at a place: yes, no, or (None) the text ends in the key.
    pub(in super::super) fn key_ahead(&mut self, at: usize) -> Result<Option<bool>, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let window = rest.get(..KEY_AHEAD).unwrap_or(rest);
        let (len, quoted) = match self.opening_quote(at)? {
            Some((quote, len)) => {
                let mut i = len;
                loop {
                    match window.get(i) {
                        None => break (i, true),
                        Some(b'\\') if quote != Quote::Escaped => i += 2,
                        Some(b'\n') => return Ok(Some(word_and_colon(window, len) && i > len)),
                        Some(_) => match closing_len(rest, i, quote, true)? {
                            0 => i += 1,
                            // `"key: "value"`: the key's closing quote is missing.
                            _ if colon_alone(window.get(len..i).unwrap_or_default())
                                && !self.ends_after(at + i + 1) =>
                            {
                                return Ok(Some(true));
                            }
                            n => break (i + n, true),
                        },
                    }
                }
            }
            None => {
                let word = |b: &u8| {
                    b.is_ascii_alphanumeric()
                        || matches!(b, b'_' | b'$' | b'-' | b'.')
                        || *b >= 0x80
                };
                let len = window.iter().position(|b| !word(b)).unwrap_or(window.len());
                // `key":`: only the opening quote is missing.
                if len > 0 && window.get(len) == Some(&b'"') {
                    (len + 1, true)
                } else {
                    (len, false)
                }
            }
        };
        self.steps += len as u64;
        if at + len >= self.text.len() {
            return if self.last { Ok(None) } else { Err(Stop::More) };
        }
        if len == 0 || (len >= window.len() && window.len() == KEY_AHEAD) {
            return Ok(Some(false));
        }
        let (colon, more) = self.space_after(at + len);
        if more {
            return Err(Stop::More);
        }
        Ok(match self.byte(colon) {
            None => None,
            Some(b':') => match self.byte(colon + 1) {
                None if !self.last => return Err(Stop::More),
                Some(b'/') if !quoted => Some(false),
                _ => Some(true),
            },
            Some(b'=' | b'{' | b'[') if quoted => Some(true),
            Some(0xEF) => Some(self.text.get(colon..colon + 3) == Some("：".as_bytes())),
            Some(_) => Some(false),
        })
    }

    /// True where a token follows that stands behind a complete string.
    fn ends_after(&self, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        let next = rest.iter().take(16).find(|b| !b.is_ascii_whitespace());
        matches!(next, Some(b':' | b',' | b'}' | b']') | None)
    }

    /// Where this quote starts the next key, since the string's own closing quote is missing: the
    /// comma before it.
    fn missing_quote(&mut self, open: &mut Open, at: usize) -> Result<Option<usize>, Stop> {
        if open.role != Role::Member || open.quote != Quote::Double || open.bracket {
            return Ok(None);
        }
        let text = self.text.get(open.start..at).unwrap_or_default();
        let Some(comma) = text.iter().rposition(|b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t'))
        else {
            return Ok(None);
        };
        if text.get(comma) != Some(&b',') || self.key_ahead(at)? != Some(true) {
            return Ok(None);
        }
        // Brackets that are closed again do not count.
        let fresh = self.text.get(open.bracket_to..at).unwrap_or_default();
        let opened = memchr::memchr2_iter(b'{', b'[', fresh).count();
        open.bracket = opened > memchr::memchr2_iter(b'}', b']', fresh).count();
        open.bracket_to = at;
        Ok((!open.bracket).then_some(open.start + comma))
    }

    /// The colon in a key's text, where only a word stands before it: its closing quote is missing.
    fn colon_inside(&self, open: &Open, end: usize) -> Option<usize> {
        let text = self.text.get(open.start..end)?;
        let word = |b: &u8| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'$') || *b >= 0x80
        };
        let at = text.iter().take(KEY_AHEAD).position(|b| !word(b))?;
        (at > 0 && text.get(at) == Some(&b':') && !open.decoding).then_some(open.start + at)
    }

    /// The same at a quote: `"key: "value"`, `"key: ["value"`.
    fn colon_before(&self, open: &Open, quote: usize) -> Option<usize> {
        let text = self.text.get(open.start..quote)?;
        let value = |b: &u8| !matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b'[' | b'{');
        let colon = text.iter().rposition(value)?;
        let head = text.get(..colon)?;
        let plain = text.get(colon) == Some(&b':')
            && !head.is_empty()
            && head.len() < KEY_AHEAD
            && memchr::memchr2(b'"', b':', head).is_none();
        (plain && !open.decoding).then_some(open.start + colon)
    }

    fn close_key(&mut self, open: &mut Open, colon: usize) {
        self.log.add(Code::MissingQuote, colon, colon);
        self.finish_string(open, colon, colon);
    }

    /// Ends a string whose closing quote is missing before a comma.
    fn close_before(&mut self, open: &mut Open, comma: usize) {
        self.log.add(Code::MissingQuote, comma, comma);
        let ends_in_quote =
            comma >= open.from + 2 && self.text.get(comma - 2..comma) == Some(b"\\\"");
        if ends_in_quote {
            // `"C:\",`: the backslash was meant as itself.
            self.decode_to(open, comma - 2);
            self.scratch.push(b'\\');
            open.from = comma;
        }
        self.finish_string(open, comma, comma);
    }

    /// The text ends while the string is open.
    fn string_ends_text(&mut self, open: &mut Open) {
        let text_end = self.text.len();
        if open.role == Role::Key
            && let Some(colon) = self.colon_inside(open, text_end)
        {
            return self.close_key(open, colon);
        }
        // The scan stops before an escape that is cut.
        let mut end = open.at;
        let mut code = Code::TruncatedString;
        if end < text_end {
            code = Code::TruncatedEscape;
        } else if self.fenced {
            end = without_line_feed(self.text, open.from, end);
        }
        if let Some(high) = high_surrogate_before(self.text, open.from, end) {
            end = high;
            code = Code::TruncatedEscape;
        }
        if code == Code::TruncatedString
            && let Some(at) = self.closers_before(open, end)
        {
            self.log.add(Code::MissingQuote, at, at);
            self.finish_string(open, at, at);
            return;
        }
        self.log.add(code, end, text_end);
        self.finish_string(open, end, text_end);
    }

    /// Where the text ends in exactly the closers that are open, and no bracket was opened in
    /// the string: a closing quote is missing before them.
    fn closers_before(&self, open: &Open, end: usize) -> Option<usize> {
        if open.role == Role::Key || self.events.is_some() || open.quote != Quote::Double {
            return None;
        }
        let text = self.text.get(open.start..end)?;
        let mut at = text.len();
        self.parent_kind()?;
        for closer in self.closers() {
            at =
                text.get(..at)?.iter().rposition(|b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t'))?;
            if text.get(at) != Some(&closer) {
                return None;
            }
        }
        let head = text.get(..at)?;
        if memchr::memchr3(b'{', b'[', b'"', head).is_some()
            || memchr::memchr2(b'}', b']', head).is_some()
        {
            return None;
        }
        let content =
            head.iter().rposition(|b| !matches!(b, b'\n' | b'\r' | b'\t')).map_or(0, |i| i + 1);
        Some(open.start + content)
    }

    /// Adds the string's node: its text ends at `end`, and reading goes on at `next`.
    fn finish_string(&mut self, open: &mut Open, end: usize, next: usize) {
        if open.decoding {
            self.decode_to(open, end);
        }
        let (start, stop, place) = if open.decoding {
            let start = self.side.len();
            let state = &mut self.state;
            state.side.extend_from_slice(&state.scratch);
            (start, state.side.len(), Place::Side)
        } else {
            (open.start, end, if open.escaped { Place::Escaped } else { Place::Plain })
        };
        self.at = next;
        self.string = None;
        if open.role == Role::Key {
            self.key = Some(self.leaf(Kind::String, start, stop, place));
            self.comma = None;
            self.phase = Phase::Colon;
        } else if open.told {
            let events = self.events.take();
            let index = index_u32(self.nodes.len());
            self.scalar(Kind::String, start, stop, place);
            self.events = events;
            self.event(Event::StringClose(index));
        } else {
            self.scalar(Kind::String, start, stop, place);
        }
    }

    /// The text so far ends inside the string: what is certain is decoded and told of.
    fn string_waits(&mut self, open: &mut Open) {
        if self.events.is_none() || open.role == Role::Key {
            return;
        }
        let mut end = open.at.min(self.text.len());
        let certain = self.text.get(open.from..end).unwrap_or_default();
        // A comma before a quote may turn out to be the end of the string.
        let kept = certain.iter().rposition(|b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b','));
        let tail = kept.map_or(0, |i| i + 1);
        if certain.len() - tail < 64
            && memchr::memchr(b',', certain.get(tail..).unwrap_or_default()).is_some()
        {
            end = open.from + tail;
        }
        if let Some(high) = high_surrogate_before(self.text, open.from, end) {
            end = high;
        }
        self.decode_to(open, end);
        open.escaped = self.text.get(end..open.at).is_some_and(|t| t.contains(&b'\\'));
        if !open.told {
            self.begin_value();
            self.event(Event::StringOpen);
            open.told = true;
        }
    }
}

/// True where a word and a colon stand.
fn word_and_colon(text: &[u8], from: usize) -> bool {
    let rest = text.get(from..).unwrap_or_default();
    let word =
        rest.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')));
    word.is_some_and(|at| at > 0 && rest.get(at) == Some(&b':'))
}

/// True for a word and a colon with nothing but space and opening brackets behind them.
fn colon_alone(text: &[u8]) -> bool {
    let value = |b: &u8| !matches!(b, b' ' | b'[' | b'{');
    word_and_colon(text, 0)
        && text.iter().rposition(value).and_then(|i| text.get(i)) == Some(&b':')
        && memchr::memchr_iter(b':', text).count() == 1
}

fn hex_value(digit: u8) -> u32 {
    char::from(digit).to_digit(16).unwrap_or(0)
}

/// The next byte at which a string of this kind may end or hold an escape.
fn next_of_interest(text: &[u8], from: usize, quote: Quote) -> usize {
    let plain = match quote {
        Quote::Double | Quote::TripleDouble | Quote::Escaped => return next_special(text, from),
        Quote::Single | Quote::TripleSingle => b'\'',
        Quote::Backtick => b'`',
        Quote::CurlyDouble | Quote::CurlySingle => 0xE2,
    };
    if plain != 0xE2 {
        return super::super::string::next_special_or(text, from, plain);
    }
    let rest = text.get(from..).unwrap_or_default();
    let found =
        rest.iter().position(|&b| b < 0x20 || matches!(b, b'\\' | 0xE2 | b'"' | b'\'' | 0xC2));
    from + found.unwrap_or(rest.len())
}

/// The length of the closing quote at a place; 0 where none is.
fn closing_len(text: &[u8], at: usize, quote: Quote, last: bool) -> Result<usize, Stop> {
    let rest = text.get(at..).unwrap_or_default();
    if rest.len() < 3 && !last && !matches!(quote, Quote::Double | Quote::Single) {
        return Err(Stop::More);
    }
    Ok(match (quote, rest) {
        (Quote::Double | Quote::CurlyDouble | Quote::Escaped, [b'"', ..])
        | (Quote::Single | Quote::CurlySingle, [b'\'', ..])
        | (Quote::Backtick, [b'`' | b'\'', ..]) => 1,
        (Quote::Escaped, [b'\\', b'"', ..]) | (Quote::CurlyDouble, [0xC2, 0xBB, ..]) => 2,
        (Quote::TripleDouble, [b'"', b'"', b'"', ..])
        | (Quote::TripleSingle, [b'\'', b'\'', b'\'', ..])
        | (Quote::CurlyDouble, [0xE2, 0x80, 0x9C..=0x9F, ..])
        | (Quote::CurlySingle, [0xE2, 0x80, 0x98..=0x9B, ..]) => 3,
        _ => 0,
    })
}

fn without_line_feed(text: &[u8], from: usize, end: usize) -> usize {
    let body = text.get(from..end).unwrap_or_default();
    match body {
        [.., b'\r', b'\n'] => end - 2,
        [.., b'\n'] => end - 1,
        _ => end,
    }
}

/// The start of an escaped high surrogate that ends here: its low half may be missing.
fn high_surrogate_before(text: &[u8], from: usize, end: usize) -> Option<usize> {
    let start = end.checked_sub(6).filter(|&s| s >= from)?;
    match text.get(start..end)? {
        [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a'..=b'b' | b'A'..=b'B', _, _] => {
            let slashes = text.get(from..start)?.iter().rev().take_while(|&&b| b == b'\\').count();
            (slashes % 2 == 0).then_some(start)
        }
        _ => None,
    }
}
