//! Strings: which quotes open and close them, escapes, and where a cut or lost quote ends them.

use super::super::diagnostics::Code;
use super::super::document::{Kind, Place, index_u32};
use super::super::strict::Phase;
use super::super::string::{next_special, unescape_into};
use super::parser::{Flow, Parser};
use super::quotes::Judgement;
use super::state::{Event, Stop};
use crate::target::push_scalar;

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
    pub(super) start: usize,
    /// First byte that is not decoded yet, where decoding has begun.
    pub(super) from: usize,
    /// Where the scan goes on.
    pub(super) at: usize,
    /// An escape was seen since `from`.
    pub(super) escaped: bool,
    /// The text is being decoded piece by piece.
    pub(super) decoding: bool,
    /// A quote was read as text.
    pub(super) inner: bool,
    /// An opening bracket stands in the text before this place.
    pub(super) bracket: bool,
    pub(super) bracket_to: usize,
    /// Its opening was told of.
    pub(super) told: bool,
    /// Where a comma stands with nothing but commas and space behind it, and how far they were
    /// looked for.
    pub(super) held: (Option<usize>, usize),
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

    /// Reads a key that has nothing in it to judge.
    #[inline]
    pub(super) fn plain_key(&mut self, at: usize) -> bool {
        let start = at + 1;
        let end = next_special(self.text, start);
        if end == start || self.text.get(end..end + 2) != Some(b"\":") {
            return false;
        }
        self.steps += (end - at) as u64;
        self.key = Some(self.leaf(Kind::String, start, end, Place::Plain));
        self.quoted_key = true;
        self.comma = None;
        self.at = end + 2;
        self.phase = Phase::Value;
        true
    }

    /// Reads a string value that has nothing in it to judge and whose end is plain.
    #[inline]
    pub(super) fn plain_value(&mut self, at: usize) -> bool {
        let start = at + 1;
        let end = next_special(self.text, start);
        if end == start || self.byte(end) != Some(b'"') {
            return false;
        }
        let ends = match (self.role(), self.byte(end + 1)) {
            (Role::Member, Some(b'}' | b']')) | (Role::Element, Some(b',' | b']')) => true,
            (Role::Member, Some(b',')) => self.plain_key_ahead(end + 2),
            _ => false,
        };
        if ends {
            self.steps += (end - at) as u64;
            self.scalar(Kind::String, start, end, Place::Plain);
            self.at = end + 1;
        }
        ends
    }

    #[inline]
    fn plain_key_ahead(&mut self, from: usize) -> bool {
        let rest = self.text.get(from..).unwrap_or_default();
        let space = rest.iter().take(64).position(|b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t'));
        let Some(space) = space else { return false };
        if rest.get(space) != Some(&b'"') {
            return false;
        }
        let window = rest.get(space + 1..).unwrap_or_default();
        let window = window.get(..128).unwrap_or(window);
        let end = next_special(window, 0);
        self.steps += end as u64;
        window.get(end..end + 2) == Some(b"\":")
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
            held: (None, start),
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
            if open.role == Role::Key {
                self.needs(at + len + 1)?;
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
                    open.escaped |= byte == b'\\';
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
            Some(b'x') if hex(1, 2).is_some() => {
                let code =
                    hex(1, 2).unwrap_or_default().iter().fold(0, |n, &d| n << 4 | hex_value(d));
                self.log.add(Code::ForeignEscape, at, at + 4);
                self.decode_to(open, at);
                push_scalar(&mut self.scratch, code);
                (open.from, open.at) = (at + 4, at + 4);
            }
            Some(b'u') if rest.get(1) == Some(&b'{') && self.braced_escape(open, at)? => {}
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
    fn braced_escape(&mut self, open: &mut Open, at: usize) -> Result<bool, Stop> {
        let digits = self.text.get(at + 3..).unwrap_or_default();
        let len = digits.iter().take(7).take_while(|b| b.is_ascii_hexdigit()).count();
        if len < 7 {
            self.needs(at + 3 + len + 1)?;
        }
        if !(1..=6).contains(&len) || digits.get(len) != Some(&b'}') {
            return Ok(false);
        }
        let code = digits.iter().take(len).fold(0, |n, &d| n << 4 | hex_value(d));
        if code > 0x10_FFFF {
            return Ok(false);
        }
        let end = at + 4 + len;
        self.log.add(Code::ForeignEscape, at, end);
        self.decode_to(open, at);
        push_scalar(&mut self.scratch, code);
        (open.from, open.at) = (end, end);
        Ok(true)
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
            && self.is_value_and_closers(colon + 1)
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
        let mut end = self.certain_end(open);
        if let Some(high) = high_surrogate_before(self.text, open.from, end) {
            end = high;
        }
        self.decode_to(open, end);
        // What is held ends in commas and space.
        let held = self.text.get(end..open.at.min(end + 6)).unwrap_or_default();
        open.escaped = held.contains(&b'\\');
        if !open.told {
            self.begin_value();
            self.event(Event::StringOpen);
            open.told = true;
        }
    }
}

impl Parser<'_> {
    /// The end of what is certain in an open string. A comma before a quote may turn out to be
    /// the end of the string, and the backslash of a quote before it to mean itself.
    fn certain_end(&mut self, open: &mut Open) -> usize {
        let at = open.at.min(self.text.len());
        let (mut comma, seen) = open.held;
        let fresh = self.text.get(seen..at).unwrap_or_default();
        let other = |b: &u8| !matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b',');
        let run = fresh.iter().rposition(other).map(|last| last + 1);
        if run.is_some() {
            comma = None;
        }
        let run = run.unwrap_or(0);
        let first = memchr::memchr(b',', fresh.get(run..).unwrap_or_default());
        self.looks(fresh.len() - run);
        comma = comma.or(first.map(|first| seen + run + first));
        open.held = (comma, seen.max(at));
        let end = comma.unwrap_or(at);
        let quote = end.checked_sub(2).filter(|&q| q >= open.from);
        match quote {
            Some(quote) if self.text.get(quote..end) == Some(b"\\\"") => quote,
            _ => end.max(open.from),
        }
    }
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
pub(super) fn closing_len(text: &[u8], at: usize, quote: Quote, last: bool) -> Result<usize, Stop> {
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
