//! Strings: which quotes open and close them, escapes, and where a cut or lost quote ends them.

use super::super::diagnostics::{Code, Diagnostic, Severity};
use super::super::document::{Kind, Place, index_u32};
use super::super::latex::{is_command, keep_commands};
use super::super::strict::Phase;
use super::super::string::{next_special, unescape_into};
use super::judge::Judgement;
use super::parser::{Flow, Parser};
use super::peek::{Key, Token};
use super::quote::{Inside, Latex, Open, Quote, Role, closing, next_of_interest};
use super::state::{Event, Stop};
use super::walk::Step;
use super::words::{is_word, run};
use crate::text::push_scalar;

impl Parser<'_> {
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
        if end == start || self.byte(end) != Some(b'"') || self.behind_opener(end) {
            return false;
        }
        let ends = match (self.role(), self.byte(end + 1)) {
            (Role::Element, Some(b',')) => true,
            (Role::Member, Some(b'}')) => !self.opened(start, end, b'{'),
            (Role::Element, Some(b']')) => !self.opened(start, end, b'['),
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

    /// True where a bracket stands between two places.
    pub(super) fn opened(&mut self, from: usize, to: usize, bracket: u8) -> bool {
        self.steps += to.saturating_sub(from) as u64;
        memchr::memchr(bracket, self.text.get(from..to).unwrap_or_default()).is_some()
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

    /// Opens a string.
    pub(super) fn open_string(&mut self, quote: Quote, at: usize, len: usize) -> Flow {
        let code = match quote {
            Quote::Double => None,
            Quote::Single => Some(Code::SingleQuotes),
            Quote::Backtick => Some(Code::BacktickQuotes),
            Quote::CurlyDouble | Quote::CurlySingle => Some(Code::CurlyQuotes),
            Quote::TripleDouble | Quote::TripleSingle => Some(Code::TripleQuotes),
            Quote::Doubled | Quote::DoubledSingle => Some(Code::DoubledQuotes),
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
            inside: Inside::from(start),
            told: false,
            held: (None, start),
            latex: Latex::default(),
        });
        self.fallback = None;
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
                if let Some(back) = self.fall_back() {
                    *open = back.open;
                    self.finish_string(open, back.at, back.at + back.len);
                    return Ok(());
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
            let rest = self.text.get(at..).unwrap_or_default();
            if rest.len() < 3 && !self.last && !matches!(open.quote, Quote::Double | Quote::Single)
            {
                return Err(Stop::More);
            }
            let len = closing(rest, open.quote);
            if len == 0 {
                open.at += 1;
                continue;
            }
            if open.role == Role::Key {
                self.needs(at + len + 1)?;
                if self.byte(at + len) != Some(b':')
                    && let Some(colon) = self.colon_before(open, at)
                {
                    self.close_key(open, colon);
                    return Ok(());
                }
                if self.byte(at + len) != Some(b':')
                    && open.inside.quotes == 0
                    && self.may_take_back()
                    && let Some(colon) = self.colon_inside(open, at)
                    && self.walk(colon, colon + 1, Step::Value)?.clean()
                {
                    self.close_key(open, colon);
                    return Ok(());
                }
            }
            match self.judge(open, at, len)? {
                Judgement::Closes => {
                    self.finish_string(open, at, at + len);
                    return Ok(());
                }
                Judgement::Before(end, next) => {
                    self.close_before(open, end, next);
                    return Ok(());
                }
                Judgement::Joins(quote, start) => {
                    open.latex.joined = true;
                    self.log.add(Code::Concatenation, at, start);
                    self.decode_to(open, at);
                    open.quote = quote;
                    (open.from, open.at) = (start, start);
                    open.inside = Inside::from(start);
                }
                Judgement::Text => {
                    open.escaped |= byte == b'\\';
                    let mut found = Diagnostic::new(Code::InnerQuote, at, at + len);
                    if self.looks_like_key(open, at)? {
                        found.severity = Severity::Lossy;
                    }
                    self.log.push(found);
                    open.at = at + len;
                    if !self.alone(open.quote, at, open.inside.quotes) {
                        open.inside.quotes += 1;
                        open.inside.colon |= open.inside.quotes > 1
                            && self.may_take_back()
                            && self
                                .peek(at + len)
                                .is_ok_and(|n| matches!(n.token, Token::Colon(_)));
                    }
                }
            }
        }
    }

    /// True for a quote that starts a key behind a comma, outside of brackets in the string: what
    /// is read as text here may have been a member.
    fn looks_like_key(&mut self, open: &mut Open, at: usize) -> Result<bool, Stop> {
        if open.role != Role::Member || !self.may_take_back() {
            return Ok(false);
        }
        let text = self.text.get(open.start..at).unwrap_or_default();
        let last = text.iter().rposition(|b| !b.is_ascii_whitespace());
        self.steps += (text.len() - last.unwrap_or(0)) as u64;
        if last.and_then(|last| text.get(last)) != Some(&b',') {
            return Ok(false);
        }
        open.inside.count(self.text, at);
        let outside = open.inside.braces == 0 && open.inside.squares == 0;
        Ok(outside && self.key_at(at)? == Key::Yes)
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
                open.latex.command |= is_command(rest);
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
                open.latex.foreign = true;
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
        let text = self.text.get(open.start..colon).unwrap_or_default();
        if text.ends_with("”".as_bytes()) || text.ends_with("’".as_bytes()) {
            return self.close_before(open, colon - 3, colon);
        }
        self.log.add(Code::MissingQuote, colon, colon);
        self.finish_string(open, colon, colon);
    }

    /// Ends a string whose closing quote is missing.
    fn close_before(&mut self, open: &mut Open, end: usize, next: usize) {
        if end == next {
            self.log.add(Code::MissingQuote, end, end);
        } else {
            self.log.add(Code::CurlyQuotes, end, next);
        }
        let ends_in_quote = end >= open.from + 2 && self.text.get(end - 2..end) == Some(b"\\\"");
        if ends_in_quote {
            // `"C:\",`: the backslash was meant as itself.
            self.decode_to(open, end - 2);
            self.scratch.push(b'\\');
            open.from = end;
        }
        self.finish_string(open, end, next);
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
            && let Ok(Some(curly)) = self.curly_close(open, end)
        {
            return self.close_before(open, curly, curly + 3);
        }
        if code == Code::TruncatedString
            && let Some(at) = self.closers_before(open, end)
        {
            let (end, next) = at;
            return self.close_before(open, end, next);
        }
        self.log.add(code, end, text_end);
        self.finish_string(open, end, text_end);
    }

    /// Adds the string's node: its text ends at `end`, and reading goes on at `next`.
    fn finish_string(&mut self, open: &mut Open, end: usize, next: usize) {
        if open.latex.command {
            self.latex(open, end);
        }
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

    /// A string with escapes that spell LaTeX: beside escapes that JSON does not have they are
    /// LaTeX, alone they may be.
    fn latex(&mut self, open: &mut Open, end: usize) {
        if !open.latex.foreign || open.latex.joined || !self.may_take_back() {
            if open.decoding {
                self.log.add(Code::SuspiciousEscape, open.start, end);
            }
            return;
        }
        let raw = self.text.get(open.start..end).unwrap_or_default();
        self.steps += raw.len() as u64;
        self.log.add(Code::LatexEscape, open.start, end);
        self.scratch = super::super::string::unescape(&keep_commands(raw));
        open.decoding = true;
        open.escaped = false;
        open.from = end;
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
    /// The colon in a key's text, where only a word stands before it: its closing quote is missing.
    fn colon_inside(&mut self, open: &Open, end: usize) -> Option<usize> {
        let text = self.text.get(open.start..end)?;
        let at = run(text, is_word);
        self.steps += at as u64;
        (at > 0 && text.get(at) == Some(&b':') && !open.decoding).then_some(open.start + at)
    }

    /// The same at a quote: `"key: "value"`, `"key: ["value"`.
    fn colon_before(&mut self, open: &Open, quote: usize) -> Option<usize> {
        let text = self.text.get(open.start..quote)?;
        let value = |b: &u8| !matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b'[' | b'{');
        let colon = text.iter().rposition(value);
        self.steps += (text.len() - colon.unwrap_or(0)) as u64;
        let colon = colon?;
        let head = text.get(..colon)?;
        if text.get(colon) != Some(&b':') || head.is_empty() {
            return None;
        }
        let plain = memchr::memchr2(b'"', b':', head).is_none();
        self.steps += colon as u64;
        (plain && !open.decoding).then_some(open.start + colon)
    }

    /// Where the text ends in exactly the closers that are open, and no bracket was opened in
    /// the string: a closing quote is missing before them, or a typographic one stands there.
    fn closers_before(&mut self, open: &Open, end: usize) -> Option<(usize, usize)> {
        if open.role == Role::Key || !self.may_take_back() || open.quote != Quote::Double {
            return None;
        }
        let whole = self.text;
        let text = whole.get(open.start..end)?;
        self.steps += text.len() as u64;
        let mut at = text.len();
        self.parent_kind()?;
        let closers: Vec<u8> = self.closers().collect();
        self.steps += closers.len() as u64;
        for &closer in closers.iter().rev() {
            at =
                text.get(..at)?.iter().rposition(|b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t'))?;
            if text.get(at).copied() != Some(closer) {
                return None;
            }
        }
        let head = text.get(..at)?;
        if memchr::memchr2(b'{', b'[', head).is_some()
            || memchr::memchr2(b'}', b']', head).is_some()
            || !memchr::memchr_iter(b'"', head).count().is_multiple_of(2)
        {
            return None;
        }
        let content = head.iter().rposition(|b| !b.is_ascii_whitespace()).map_or(0, |i| i + 1);
        // Space before a line feed is not the string's.
        let own = memchr::memchr(b'\n', head.get(content..)?).is_none();
        let next = open.start + if own { head.len() } else { content };
        Some((next, next))
    }

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
