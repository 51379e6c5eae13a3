//! What stands without quotes: keys, text, literals, numbers, calls.
//!
//! A bare value runs to a comma, a closer or the end of its line. In an object a comma ends it
//! only where a key with a colon follows, so `{city: Paris, France, zip: 1}` keeps its comma.

use super::super::diagnostics::{Code, Diagnostic, Severity};
use super::super::document::{Kind, Place};
use super::super::strict::Phase;
use super::number::{Form, form};
use super::parser::{Flow, Parser};
use super::peek::{Key, Token};
use super::quote::{Quote, closing, next_of_interest};
use super::state::Stop;
use super::words::{cut_literal, is_scalar, is_word, literal, run};

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
        let colon = self.peek(end + quote)?;
        if matches!(colon.token, Token::Colon(_)) && !key.is_empty() {
            let closed = without_quote(key);
            let lost = quote == 1 || closed.len() < key.len();
            let code = if lost { Code::MissingQuote } else { Code::UnquotedKey };
            self.log.add(code, at, at + key.len());
            self.comma = None;
            let bold = closed.strip_prefix(b"**").and_then(|k| k.strip_suffix(b"**"));
            let (from, len) = match bold.filter(|k| !k.is_empty()) {
                Some(name) => {
                    self.log.add(Code::Markup, at, at + key.len());
                    (at + 2, name.len())
                }
                None => (at, closed.len()),
            };
            self.key = Some(self.leaf(Kind::String, from, from + len, Place::Plain));
            self.at = end + quote;
            self.phase = Phase::Colon;
            return Ok(());
        }
        // `a "b"`: only the colon is missing.
        let name = run(key, is_word);
        if name > 0 {
            let next = self.peek(at + name)?;
            if let Token::Quote(quote, len) = next.token
                && matches!(quote, Quote::Double | Quote::Single | Quote::CurlyDouble)
                && next.at > at + name
                && next.at <= end
                && self.value_ends(next.at + len, quote)?
            {
                self.log.add(Code::UnquotedKey, at, at + name);
                self.comma = None;
                self.key = Some(self.leaf(Kind::String, at, at + name, Place::Plain));
                self.at = at + name;
                self.phase = Phase::Colon;
                return Ok(());
            }
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

    /// True where a string ends at its first quote, with a comma or closer behind it.
    pub(super) fn value_ends(&mut self, start: usize, quote: Quote) -> Result<bool, Stop> {
        let mut at = if self.memo.value.0 == start { self.memo.value.1 } else { start };
        loop {
            let next = next_of_interest(self.text, at, quote);
            self.steps += (next - at) as u64 + 1;
            if !self.last {
                self.memo.value = (start, next);
            }
            let rest = self.text.get(next..).unwrap_or_default();
            match (rest, closing(rest, quote)) {
                (rest, _) if rest.len() < 3 && !self.last => return Err(Stop::More),
                ([] | [b'\n', ..], _) => return Ok(false),
                ([b'\\', ..], 0) => at = next + 2,
                (_, 0) => at = next + 1,
                (_, len) => {
                    let next = self.peek(next + len)?;
                    return Ok(matches!(next.token, Token::Comma(_) | Token::Close(_)));
                }
            }
        }
    }

    /// Reads a value without quotes.
    pub(super) fn bare(&mut self) -> Flow {
        let at = self.at;
        if self.memo.bare.0 == at {
            return self.bare_text(at);
        }
        if let Some(prefix) = self.string_prefix(at)
            && let Some((quote, len)) = self.opening_quote(at + prefix)?
            // `b"]`: the quote ends a string whose opening quote is missing.
            && (len > 1 || !self.ends_after(at + prefix + len)?)
        {
            self.log.add(Code::StringPrefix, at, at + prefix);
            return self.open_string(quote, at + prefix, len);
        }
        let rest = self.text.get(at..).unwrap_or_default();
        let seen = self.looked(at) - at;
        let unseen = rest.get(seen..).unwrap_or_default();
        let word = seen + run(unseen, is_scalar);
        self.steps += (word - seen) as u64;
        let sign = word == 1 && matches!(rest.first(), Some(b'-' | b'+' | b'.'));
        if at + word >= self.text.len() || sign && self.last && rest.trim_ascii().len() == 1 {
            return if self.last { self.cut_word(at, word) } else { Err(self.wait(at)) };
        }
        let new = if rest.starts_with(b"new ") { 4 } else { 0 };
        let name = rest.get(new..).unwrap_or_default();
        let name = if new > 0 { run(name, is_scalar) } else { word };
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
        self.steps += word.len() as u64;
        let next = self.peek(end)?;
        let ends = match next.token {
            Token::End | Token::Stop | Token::Close(b'}' | b']') => true,
            Token::Close(_) => self.in_round() || self.is_inside(),
            Token::Comma(1) if self.byte(next.at) == Some(b',') => {
                literal.is_some() || self.ends_number(next.at)?
            }
            Token::Comma(_) => true,
            Token::Open(b'(') if self.note(next.at)? => true,
            token => self.another(token, end, next.at)?,
        };
        if ends {
            self.word(at, end);
            if next.token == Token::Open(b'(') {
                self.drop_note(next.at);
            }
        }
        Ok(ends)
    }

    /// A note in round brackets behind a literal or number, and nothing else behind that.
    fn note(&mut self, at: usize) -> Result<bool, Stop> {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let stops = |b: u8| matches!(b, b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'"' | b'\n');
        let Some(len) = rest.iter().position(|&b| stops(b)) else {
            return if self.last { Ok(false) } else { Err(self.wait_for(stops, usize::MAX)) };
        };
        self.steps += len as u64;
        if rest.get(len) != Some(&b')') {
            return Ok(false);
        }
        let next = self.peek(at + len + 2)?;
        Ok(matches!(next.token, Token::Comma(_) | Token::Close(_) | Token::End))
    }

    fn drop_note(&mut self, at: usize) {
        let rest = self.text.get(at..).unwrap_or_default();
        let len = memchr::memchr(b')', rest).unwrap_or(0) + 1;
        self.log.push(Diagnostic {
            severity: Severity::Guess,
            ..Diagnostic::new(Code::DiscardedText, at, at + len)
        });
        self.at = at + len;
    }

    /// A comma behind a number: in an object `12,500` is one number, as text.
    fn ends_number(&mut self, comma: usize) -> Result<bool, Stop> {
        let object = self.parent_kind() == Some(Kind::Object);
        if object {
            self.needs(comma + 2)?;
        }
        let digit = self.byte(comma + 1).is_some_and(|b| b.is_ascii_digit());
        Ok(!digit || !object || self.key_at(comma + 1)? == Key::Yes)
    }

    /// True where, behind a literal or number, only a comma is missing.
    fn another(&mut self, token: Token, end: usize, next: usize) -> Result<bool, Stop> {
        let object = self.parent_kind() == Some(Kind::Object);
        let gap = next > end;
        Ok(match token {
            Token::Open(b'[') => !object || gap,
            Token::Open(b'{') => gap || !object || self.outer_kind() == Some(Kind::Array),
            Token::Quote(..) if gap => true,
            Token::Quote(Quote::Double | Quote::Single, len) if object => {
                self.key_at(next)? == Key::Yes && !self.ends_after(next + len)?
            }
            Token::Quote(Quote::Double, len) => !self.ends_after(next + len)?,
            _ if gap && self.has_line_feed(end, next) => true,
            Token::Word if !gap => false,
            Token::Word
                if !object && self.byte(next).is_some_and(|b| b == b'-' || b.is_ascii_digit()) =>
            {
                true
            }
            Token::Word if object => self.key_at(next)? == Key::Yes,
            Token::Word => self.scalar_at(next)?,
            _ => false,
        })
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
        let whole = cut_literal(word);
        if let Some((kind, read_as)) = whole {
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
            if self.memo.bare.0 == at { (self.memo.bare.1, self.memo.bare.2) } else { (at, 0) };
        let result = self.bare_text_end(at, &mut end, &mut round);
        if result.is_ok() && (end < self.text.len() || self.last) {
            self.memo.bare = (usize::MAX, 0, 0);
            self.finish_bare_text(at, end);
            return Ok(());
        }
        self.memo.bare = (at, end, round);
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
                        && self.key_at(place)? == Key::Yes =>
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
            |b: u8| matches!(b, b'{' | b'}' | b'[' | b']' | b'"' | b'\'' | b'\n' | b',' | b':');
        let Some(len) = rest.iter().position(|&b| stop(b)) else {
            return if self.last { Ok(0) } else { Err(self.wait_for(stop, usize::MAX)) };
        };
        self.steps += len as u64;
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
            Some(_) => self.key_at(next)? != Key::No,
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

    /// True where round brackets hold one value.
    fn one_argument(&mut self, from: usize) -> bool {
        let rest = self.text.get(from..).unwrap_or_default();
        let start = rest.trim_ascii_start();
        let opens = start.first().copied();
        if opens.is_none_or(|b| b == b')') {
            return false;
        }
        let value = matches!(opens, Some(b'"' | b'\'' | b'{' | b'[' | b'(' | b'-' | b'0'..=b'9'))
            || start.starts_with(b"new ")
            || nested_call(start);
        let container = matches!(opens, Some(b'"' | b'\'' | b'{' | b'['));
        if !value {
            return false;
        }
        let mut depth = 0usize;
        let mut quote = None;
        let mut escaped = false;
        // A call behind one that has no end has none either.
        if self.memo.call_end.is_some_and(|known| known <= from) {
            return container;
        }
        for &byte in rest {
            self.steps += 1;
            match (quote, byte) {
                (Some(_), _) if escaped => escaped = false,
                (Some(_), b'\\') => escaped = true,
                (Some(q), b) if q == b => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'(' | b'[' | b'{') => depth += 1,
                (None, b')') if depth == 0 => return true,
                (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                (None, b',') if depth == 0 => return false,
                _ => {}
            }
        }
        self.memo.call_end = Some(from);
        container
    }

    /// `[text](http…)` as a value: where it ends.
    pub(super) fn markdown_link(&mut self, at: usize) -> Result<Option<usize>, Stop> {
        // A stream's document is no link.
        if !self.may_take_back() && self.parent_kind().is_none() {
            return Ok(None);
        }
        self.needs(at + 2)?;
        let rest = self.text.get(at + 1..).unwrap_or_default();
        if !rest.first().is_some_and(|b| b.is_ascii_alphabetic() || *b >= 0x80) {
            return Ok(None);
        }
        let stop = |b: u8| matches!(b, b']' | b'[' | b'"' | b'{' | b'\n' | b',');
        let Some(close) = rest.iter().position(|&b| stop(b)) else {
            return if self.last { Ok(None) } else { Err(self.wait_for(stop, usize::MAX)) };
        };
        self.steps += close as u64;
        match rest.get(close..).unwrap_or_default() {
            [b']', b'(', ..] => {}
            [b']'] if !self.last => return Err(Stop::More),
            _ => return Ok(None),
        }
        let target = rest.get(close + 2..).unwrap_or_default();
        let starts: [&[u8]; 4] = [b"http", b"/", b"#", b"mailto:"];
        if !starts.iter().any(|start| target.starts_with(start)) {
            let cut = !self.last && starts.iter().any(|start| start.starts_with(target));
            return if cut { Err(Stop::More) } else { Ok(None) };
        }
        let ends = |b: u8| matches!(b, b')' | b' ' | b'\n' | b'"');
        let Some(end) = target.iter().position(|&b| ends(b)) else {
            return if self.last { Ok(None) } else { Err(self.wait_for(ends, usize::MAX)) };
        };
        self.steps += end as u64;
        Ok((target.get(end) == Some(&b')')).then_some(at + 1 + close + 2 + end + 1))
    }

    /// True where, without a comma, the next member or element starts.
    pub(super) fn starts_next(&mut self, at: usize, object: bool) -> Result<bool, Stop> {
        let Some(byte) = self.byte(at) else { return Ok(false) };
        if matches!(byte, b'-' | b'+' | b'.') {
            self.needs(at + 2)?;
            return Ok(!object && self.byte(at + 1).is_some_and(|b| b.is_ascii_digit()));
        }
        if !object && byte.is_ascii_digit() {
            return Ok(true);
        }
        let ended = self.ended.unwrap_or(at).min(at);
        Ok(match self.token(at)? {
            Token::Quote(..) => true,
            Token::Open(_) => !object,
            Token::Word if object => {
                let own_line = self.has_line_feed(ended, at);
                own_line || self.key_at(at)? != Key::No || self.key_and_string(at)?.is_some()
            }
            Token::Word => {
                self.scalar_at(at)? || self.has_line_feed(ended, at) && self.bare_item(at)?
            }
            _ => false,
        })
    }

    /// `a "b"` behind a value: where the string starts.
    pub(super) fn key_and_string(&mut self, at: usize) -> Result<Option<usize>, Stop> {
        let name = run(self.text.get(at..).unwrap_or_default(), is_word);
        self.steps += name as u64;
        if at + name >= self.text.len() && !self.last {
            return Err(self.wait_for(|b| !is_word(b), usize::MAX));
        }
        let next = self.peek(at + name)?;
        let Token::Quote(quote, len) = next.token else { return Ok(None) };
        let value = next.at > at + name && self.value_ends(next.at + len, quote)?;
        Ok(value.then_some(next.at))
    }

    /// One word on a line of its own, with a comma or a closer behind it.
    fn bare_item(&mut self, at: usize) -> Result<bool, Stop> {
        let name = run(self.text.get(at..).unwrap_or_default(), is_word);
        self.steps += name as u64;
        if at + name >= self.text.len() && !self.last {
            return Err(self.wait_for(|b| !is_word(b), usize::MAX));
        }
        let next = self.peek(at + name)?;
        Ok(matches!(next.token, Token::Comma(_) | Token::Close(_)))
    }
}

/// A call inside a call.
fn nested_call(start: &[u8]) -> bool {
    let word = start.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')));
    word.is_some_and(|i| i > 0 && start.get(i) == Some(&b'('))
}

/// A key without a quote at its end that nothing opened.
fn without_quote(key: &[u8]) -> &[u8] {
    let quotes: [&[u8]; 4] = [b"'", b"`", "”".as_bytes(), "’".as_bytes()];
    quotes
        .iter()
        .find_map(|quote| key.strip_suffix(*quote))
        .filter(|k| !k.is_empty())
        .unwrap_or(key)
}
