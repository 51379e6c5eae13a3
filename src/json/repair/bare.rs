//! What stands without quotes: keys, text, literals, numbers, calls.
//!
//! A bare value runs to a comma, a closer or the end of its line. In an object a comma ends it
//! only where a key with a colon follows, so `{city: Paris, France, zip: 1}` keeps its comma.

use super::super::diagnostics::{Code, Diagnostic};
use super::super::document::{Kind, Place};
use super::super::strict::Phase;
use super::number::{Form, form};
use super::parser::{Flow, Parser};
use super::state::Stop;

/// How far the end of a call's brackets or of a Markdown link is looked for.
const CALL_AHEAD: usize = 256;

impl Parser<'_> {
    /// Reads a key without quotes: up to its colon.
    pub(super) fn bare_key(&mut self) -> Flow {
        let at = self.at;
        let rest = self.text.get(at..).unwrap_or_default();
        let ends = |b: &u8| {
            matches!(b, b':' | b'=' | b',' | b'}' | b']' | b'{' | b'[' | b'\n' | b'\r' | b'"')
        };
        let seen = self.looked(at) - at;
        let unseen = rest.get(seen..).unwrap_or_default();
        let mut len = seen + unseen.iter().position(ends).unwrap_or(unseen.len());
        self.steps += (len - seen) as u64;
        if at + len >= self.text.len() && !self.last {
            return Err(self.wait(at));
        }
        if let Some(wide) =
            memchr::memmem::find(rest.get(..len).unwrap_or_default(), "：".as_bytes())
        {
            len = wide;
        }
        let end = at + len;
        // `name": 1`: the opening quote is missing.
        let quote = usize::from(self.byte(end) == Some(b'"'));
        let key = rest.get(..len).unwrap_or_default().trim_ascii_end();
        let colon = self.gap_end(end + quote)?;
        let colon_there = matches!(self.byte(colon), Some(b':' | b'='))
            || self.text.get(colon..colon + 3) == Some("：".as_bytes());
        if colon_there && !key.is_empty() {
            let code = if quote == 1 { Code::MissingQuote } else { Code::UnquotedKey };
            self.log.add(code, at, at + key.len());
            self.comma = None;
            self.key = Some(self.leaf(Kind::String, at, at + key.len(), Place::Plain));
            self.at = end + quote;
            self.phase = Phase::Colon;
            return Ok(());
        }
        // In `{1, 2}` the words are values.
        let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
        let set = matches!(self.byte(end), Some(b',' | b'}')) && key.iter().all(word);
        if set && !key.is_empty() && self.is_set() {
            self.key = Some(self.leaf(Kind::String, at, at + key.len(), Place::Plain));
            self.at = end;
            self.phase = Phase::Colon;
            return Ok(());
        }
        if end >= self.text.len() {
            // The text ends inside a key.
            self.log.add(Code::DroppedKey, at, end);
            self.at = end;
            return Ok(());
        }
        if key.is_empty() {
            self.drop_byte(at);
        } else {
            self.log.extend(Code::DroppedText, at, end);
            self.at = end;
        }
        Ok(())
    }

    /// Reads a value without quotes.
    pub(super) fn bare(&mut self) -> Flow {
        let at = self.at;
        if self.bare_to.0 == at {
            return self.bare_text(at);
        }
        if let Some(prefix) = self.string_prefix(at)
            && let Some((quote, len)) = self.opening_quote(at + prefix)?
        {
            self.log.add(Code::StringPrefix, at, at + prefix);
            return self.open_string(quote, at + prefix, len);
        }
        let rest = self.text.get(at..).unwrap_or_default();
        let word_byte =
            |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'+' | b'-' | b'$');
        let seen = self.looked(at) - at;
        let unseen = rest.get(seen..).unwrap_or_default();
        let word = seen + unseen.iter().position(|b| !word_byte(b)).unwrap_or(unseen.len());
        self.steps += (word - seen) as u64;
        if at + word >= self.text.len() {
            return if self.last { self.cut_word(at, word) } else { Err(self.wait(at)) };
        }
        let new = if rest.starts_with(b"new ") { 4 } else { 0 };
        let name = rest.get(new..).unwrap_or_default();
        let name = if new > 0 {
            name.iter().take(64).position(|b| !word_byte(b)).unwrap_or(0)
        } else {
            word
        };
        if name > 0 && self.byte(at + new + name) == Some(b'(') && self.call(at + new, name) {
            return Ok(());
        }
        if word > 0 && self.simple(at, at + word)? {
            return Ok(());
        }
        self.bare_text(at)
    }

    /// Reads a literal or number that is all of a value.
    fn simple(&mut self, at: usize, end: usize) -> Result<bool, Stop> {
        let word = self.text.get(at..end).unwrap_or_default();
        let literal = literal(word);
        if literal.is_none() && matches!(form(word), Form::Text) {
            return Ok(false);
        }
        self.looks(word.len());
        let next = self.gap_end(end)?;
        let ends = match self.byte(next) {
            None | Some(b'}' | b']' | b';') => true,
            Some(b')') => self.in_round(),
            Some(b',') => literal.is_some() || self.ends_number(next)?,
            Some(byte) => {
                self.ends_document(next)? || (next > end && self.another(byte, end, next)?)
            }
        };
        if ends {
            self.word(at, end);
        }
        Ok(ends)
    }

    /// A comma behind a number: in an object `12,500` is one number, as text.
    fn ends_number(&mut self, comma: usize) -> Result<bool, Stop> {
        let object = self.parent_kind() == Some(Kind::Object);
        if object {
            self.needs(comma + 2)?;
        }
        let digit = self.byte(comma + 1).is_some_and(|b| b.is_ascii_digit());
        Ok(!digit || !object || self.key_ahead(comma + 1)? == Some(true))
    }

    /// True where, behind a literal or number and some space, only a comma is missing.
    fn another(&mut self, byte: u8, end: usize, next: usize) -> Result<bool, Stop> {
        let object = self.parent_kind() == Some(Kind::Object);
        Ok(match byte {
            b'"' | b'\'' | b'{' | b'[' => true,
            _ if self.has_line_feed(end, next) => true,
            0xEF if self.text.get(next..next + 3) == Some("，".as_bytes()) => true,
            b'-' | b'0'..=b'9' if !object => true,
            _ if object => self.key_ahead(next)? == Some(true),
            _ => self.scalar_ahead(next)?,
        })
    }

    /// True where a literal or number stands that ends an element.
    pub(super) fn scalar_ahead(&mut self, at: usize) -> Result<bool, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-' | b'_');
        let len = rest.iter().take(64).position(|b| !word(b));
        if len.is_none() && rest.len() < 64 && !self.last {
            return Err(self.wait_for(|b| !b.is_ascii_alphanumeric(), at + 64));
        }
        let len = len.unwrap_or(0);
        self.steps += len as u64;
        let word = rest.get(..len).unwrap_or_default();
        if literal(word).is_none() && form(word) != Form::Json {
            return Ok(false);
        }
        let next = self.gap_end(at + len)?;
        Ok(matches!(self.byte(next), None | Some(b',' | b']')))
    }

    /// Adds the literal or number between two places.
    fn word(&mut self, at: usize, end: usize) {
        let text = self.text;
        let word = text.get(at..end).unwrap_or_default();
        self.at = end;
        if let Some((kind, read_as)) = literal(word) {
            if !matches!(word, b"true" | b"false" | b"null") {
                let code = if kind == Kind::Number { Code::NotFinite } else { Code::PythonLiteral };
                self.log.push(Diagnostic { read_as, ..Diagnostic::new(code, at, end) });
            }
            let content: &[u8] = if kind == Kind::Number { read_as.as_bytes() } else { b"" };
            self.scalar_side(kind, content);
            return;
        }
        match form(word) {
            Form::Json => self.scalar(Kind::Number, at, end, Place::Plain),
            Form::Other(digits) => {
                self.log.add(Code::NumberForm, at, end);
                self.scalar_side(Kind::Number, digits.as_bytes());
            }
            Form::Text => {
                self.note_text(at, end);
                self.scalar(Kind::String, at, end, Place::Plain);
            }
        }
    }

    fn note_text(&mut self, at: usize, end: usize) {
        let number = match self.text.get(at..end) {
            Some([b'-' | b'+' | b'.', b'0'..=b'9', ..] | [b'0'..=b'9', ..]) => Code::NumberAsText,
            _ => Code::UnquotedValue,
        };
        self.log.add(number, at, end);
    }

    /// A word that ends the text: it may be cut.
    fn cut_word(&mut self, at: usize, len: usize) -> Flow {
        let end = at + len;
        let text = self.text;
        let word = text.get(at..end).unwrap_or_default();
        self.at = end;
        if literal(word).is_some() {
            self.word(at, end);
            return Ok(());
        }
        let whole: Option<(&[u8], Kind, &'static str)> = [
            (&b"true"[..], Kind::True, "true"),
            (b"false", Kind::False, "false"),
            (b"null", Kind::Null, "null"),
            (b"True", Kind::True, "true"),
            (b"False", Kind::False, "false"),
            (b"None", Kind::Null, "null"),
        ]
        .into_iter()
        .find(|(whole, ..)| !word.is_empty() && whole.starts_with(word));
        if let Some((_, kind, read_as)) = whole {
            if !self.partial {
                self.log.push(Diagnostic {
                    read_as,
                    ..Diagnostic::new(Code::TruncatedLiteral, at, end)
                });
                self.scalar_side(kind, b"");
            }
            return Ok(());
        }
        // Without an exponent's sign or a point that nothing follows.
        let kept = word.iter().rposition(u8::is_ascii_digit).map_or(0, |i| i + 1);
        let head = word.get(..kept).unwrap_or_default();
        let tail = word.get(kept..).unwrap_or_default();
        if kept > 0
            && matches!(tail, b"" | b"." | b"e" | b"E" | b"e+" | b"e-" | b"E+" | b"E-")
            && form(head) != Form::Text
        {
            self.log.add(Code::TruncatedNumber, at, end);
            if !self.partial {
                self.word(at, at + kept);
                self.at = end;
            }
            return Ok(());
        }
        if matches!(word, b"-" | b"+" | b"." | b"-.") {
            self.log.add(Code::TruncatedNumber, at, end);
            return Ok(());
        }
        self.at = at;
        self.bare_text(at)
    }

    /// Reads text to its end; it may hold words, quotes and balanced round brackets.
    fn bare_text(&mut self, at: usize) -> Flow {
        let (mut end, mut round) =
            if self.bare_to.0 == at { (self.bare_to.1, self.bare_to.2) } else { (at, 0) };
        let result = self.bare_text_end(at, &mut end, &mut round);
        if result.is_ok() && (end < self.text.len() || self.last) {
            self.bare_to = (usize::MAX, 0, 0);
            self.finish_bare_text(at, end);
            return Ok(());
        }
        self.bare_to = (at, end, round);
        result.and(Err(Stop::More))
    }

    /// Goes on to the end of a text.
    fn bare_text_end(&mut self, at: usize, end: &mut usize, round: &mut usize) -> Flow {
        let object = self.parent_kind() == Some(Kind::Object);
        while let Some(byte) = self.byte(*end) {
            self.steps += 1;
            let place = *end;
            match byte {
                b'\n' | b'\r' | b'}' | b']' => break,
                b'{' | b'[' => *end += self.bracketed_word(place, byte)?,
                b'(' => *round += 1,
                b')' if *round > 0 => *round -= 1,
                b')' if self.in_round() => break,
                b',' if *round == 0 && self.comma_ends(place, object)? => break,
                b'"' | b'\''
                    if object
                        && place > at
                        && self.after_space(place)
                        && self.key_ahead(place)? == Some(true) =>
                {
                    break;
                }
                b'/' | b'#' if self.after_space(place) => {
                    self.needs(place + 2)?;
                    let next = self.byte(place + 1);
                    let comment = match byte {
                        b'/' => matches!(next, Some(b'/' | b'*')),
                        _ => next == Some(b' '),
                    };
                    if comment {
                        break;
                    }
                }
                b'`' | b'<' if self.ends_document(place)? => break,
                b';' if self.closer_after(place + 1)? => break,
                _ => {}
            }
            *end += 1;
        }
        Ok(())
    }

    /// True where a closing brace is the next thing.
    fn closer_after(&mut self, at: usize) -> Result<bool, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let next = rest.iter().position(|b| !b.is_ascii_whitespace());
        self.looks(next.unwrap_or(rest.len()));
        if next.is_none() && !self.last {
            return Err(self.wait_for(|b| !b.is_ascii_whitespace(), usize::MAX));
        }
        Ok(next.and_then(|next| rest.get(next)) == Some(&b'}'))
    }

    fn finish_bare_text(&mut self, at: usize, end: usize) {
        let text = self.text.get(at..end).unwrap_or_default();
        let content = at + text.trim_ascii_end().len();
        if content == at {
            // Nothing that a value can be made of.
            self.drop_byte(at);
            return;
        }
        // `text", "next": …`: only the opening quote is missing.
        let quote = text
            .trim_ascii_end()
            .strip_suffix(b"\"")
            .filter(|t| !t.is_empty() && !t.contains(&b'"'));
        if let Some(text) = quote {
            self.log.add(Code::MissingQuote, at, at);
            self.scalar(Kind::String, at, at + text.len(), Place::Plain);
        } else {
            self.note_text(at, content);
            self.scalar(Kind::String, at, content, Place::Plain);
        }
        self.at = end;
    }

    /// `[1]`, `{name}` inside text: how far its closer is, or 0.
    fn bracketed_word(&mut self, at: usize, opener: u8) -> Result<usize, Stop> {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let stop =
            |b: &u8| matches!(b, b'{' | b'}' | b'[' | b']' | b'"' | b'\'' | b'\n' | b',' | b':');
        let len = rest.iter().take(32).position(stop);
        if len.is_none() && rest.len() < 32 && !self.last {
            self.looks(rest.len());
            return Err(Stop::More);
        }
        let len = len.unwrap_or(0);
        let closer = if opener == b'{' { b'}' } else { b']' };
        Ok(if rest.get(len) == Some(&closer) { len + 1 } else { 0 })
    }

    fn after_space(&self, at: usize) -> bool {
        at.checked_sub(1).and_then(|i| self.byte(i)).is_some_and(|b| b.is_ascii_whitespace())
    }

    fn comma_ends(&mut self, comma: usize, object: bool) -> Result<bool, Stop> {
        if !object {
            return Ok(true);
        }
        let next = self.gap_end(comma + 1)?;
        Ok(match self.byte(next) {
            None | Some(b'}' | b']' | b',') => true,
            Some(_) if self.ends_document(next)? => true,
            Some(_) => self.key_ahead(next)? != Some(false),
        })
    }

    /// `b'…'`, `u"…"`: the length of the prefix.
    fn string_prefix(&self, at: usize) -> Option<usize> {
        let rest = self.text.get(at..)?;
        let len = rest.iter().take(3).position(|b| matches!(b, b'"' | b'\''))?;
        let letters = rest.get(..len)?;
        let known = |b: &u8| matches!(b, b'b' | b'B' | b'u' | b'U' | b'r' | b'R' | b'f' | b'F');
        ((1..=2).contains(&len) && letters.iter().all(known)).then_some(len)
    }

    /// Enters a call that wraps one value: `ObjectId("…")`.
    fn call(&mut self, at: usize, word: usize) -> bool {
        let name = self.text.get(at..at + word).unwrap_or_default();
        let named =
            name.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$'));
        if !named || !self.may_enter_call() || !self.one_argument(at + word + 1) {
            return false;
        }
        self.log.add(Code::CallWrapper, at, at + word + 1);
        self.at = at + word + 1;
        self.enter_call();
        true
    }

    /// True where round brackets hold one value; where their end is not near, if they start with
    /// a container or a string.
    fn one_argument(&mut self, from: usize) -> bool {
        let rest = self.text.get(from..).unwrap_or_default();
        let start = rest.trim_ascii_start();
        if start.first().is_none_or(|&b| b == b')') {
            return false;
        }
        let mut depth = 0usize;
        let mut quote = None;
        let mut escaped = false;
        for &byte in rest.iter().take(CALL_AHEAD) {
            self.steps += 1;
            match (quote, byte) {
                (Some(_), _) if escaped => escaped = false,
                (Some(_), b'\\') => escaped = true,
                (Some(q), b) if q == b => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'(' | b'[' | b'{') => depth += 1,
                (None, b')') if depth == 0 => {
                    return matches!(
                        start.first(),
                        Some(b'"' | b'\'' | b'{' | b'[' | b'(' | b'-' | b'0'..=b'9')
                    ) || start.starts_with(b"new ")
                        || nested_call(start);
                }
                (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                (None, b',') if depth == 0 => return false,
                _ => {}
            }
        }
        rest.len() > CALL_AHEAD && matches!(start.first(), Some(b'{' | b'[' | b'"' | b'\''))
    }

    /// `[text](http…)` as a value: where it ends.
    pub(super) fn markdown_link(&mut self, at: usize) -> Result<Option<usize>, Stop> {
        // A stream's document is no link.
        if self.events.is_some() && self.parent_kind().is_none() {
            return Ok(None);
        }
        self.needs(at + 2)?;
        let rest = self.text.get(at + 1..).unwrap_or_default();
        if !rest.first().is_some_and(|b| b.is_ascii_alphabetic() || *b >= 0x80) {
            return Ok(None);
        }
        let window = rest.get(..CALL_AHEAD).unwrap_or(rest);
        let open = window.len() < CALL_AHEAD && !self.last;
        let stop = |b: u8| matches!(b, b']' | b'[' | b'"' | b'{' | b'\n' | b',');
        let Some(close) = window.iter().position(|&b| stop(b)) else {
            return if open { Err(self.wait_for(stop, at + 1 + CALL_AHEAD)) } else { Ok(None) };
        };
        self.steps += close as u64;
        match window.get(close..).unwrap_or_default() {
            [b']', b'(', ..] => {}
            [b']'] if open => return Err(Stop::More),
            _ => return Ok(None),
        }
        let target = window.get(close + 2..).unwrap_or_default();
        let starts: [&[u8]; 4] = [b"http", b"/", b"#", b"mailto:"];
        if !starts.iter().any(|start| target.starts_with(start)) {
            let cut = open && starts.iter().any(|start| start.starts_with(target));
            return if cut { Err(Stop::More) } else { Ok(None) };
        }
        let ends = |b: u8| matches!(b, b')' | b' ' | b'\n' | b'"');
        let Some(end) = target.iter().position(|&b| ends(b)) else {
            return if open { Err(self.wait_for(ends, at + 1 + CALL_AHEAD)) } else { Ok(None) };
        };
        self.steps += end as u64;
        Ok((target.get(end) == Some(&b')')).then_some(at + 1 + close + 2 + end + 1))
    }

    /// True where, without a comma, the next member or element starts.
    pub(super) fn starts_next(&mut self, at: usize, object: bool) -> Result<bool, Stop> {
        let Some(byte) = self.byte(at) else { return Ok(false) };
        let wide_quote = matches!(self.text.get(at..at + 3), Some([0xE2, 0x80, 0x98..=0x9F]));
        Ok(match byte {
            b'"' | b'\'' | b'`' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'0'..=b'9' => true,
            b'{' | b'[' | b'(' => !object,
            b'\\' => self.byte(at + 1) == Some(b'"'),
            b'-' | b'+' | b'.' if !object => {
                self.needs(at + 2)?;
                self.byte(at + 1).is_some_and(|b| b.is_ascii_digit())
            }
            _ => wide_quote || (byte >= 0x80 && !matches!(byte, 0xE2 | 0xEF)),
        })
    }
}

/// A call inside a call.
fn nested_call(start: &[u8]) -> bool {
    let word = start
        .iter()
        .take(64)
        .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')));
    word.is_some_and(|i| i > 0 && start.get(i) == Some(&b'('))
}

/// A literal of JSON, Python or JavaScript.
fn literal(word: &[u8]) -> Option<(Kind, &'static str)> {
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
