//! The repair parser: a lenient reading of one document, from its opening bracket on.
//!
//! It goes forward only. Each decision looks at a bounded stretch ahead, and [`State::steps`]
//! counts the bytes that any decision looked at. The state can be kept while a text grows, which
//! is how streams are read: `last` is false then, and a decision that needs bytes beyond the
//! end waits.

use super::super::diagnostics::{Code, Diagnostic};
use super::super::document::{Kind, Place};
use super::super::strict::{Phase, ROOT};
use super::parser::{Flow, Parser};
use super::peek::{Key, Token};
use super::quote::Quote;
use super::state::Stop;
use super::words::{is_word, run, wide};

impl Parser<'_> {
    /// Reads until the top value is complete or the text ends.
    pub(in super::super) fn run(&mut self) -> Stop {
        loop {
            self.steps += 1;
            if self.steps > self.budget {
                return Stop::Budget;
            }
            let flow = if self.string.is_some() {
                self.string()
            } else {
                match self.phase {
                    Phase::Value => self.value(),
                    Phase::Key => self.key(),
                    Phase::Colon => self.colon(),
                    Phase::After => self.after(),
                    Phase::Done => self.done(),
                }
            };
            if let Err(stop) = flow {
                return stop;
            }
        }
    }

    /// At the end of the text: waits, or closes what is open.
    pub(super) fn at_end(&mut self) -> Stop {
        if !self.last {
            return Stop::More;
        }
        let end = self.text.len();
        if let Some(key) = self.key.take() {
            let start = self.nodes.get(key as usize).map_or(end, |n| n.start as usize);
            let in_text = self.nodes.get(key as usize).is_some_and(|n| n.place != Place::Side);
            self.nodes.truncate(key as usize);
            self.log.add(Code::DroppedKey, if in_text { start } else { end }, end);
        }
        if self.parent != ROOT {
            self.log.add(Code::ClosedAtEof, end, end);
        }
        self.calls.clear();
        while self.parent != ROOT {
            self.close();
        }
        self.phase = Phase::Done;
        Stop::End
    }

    fn value(&mut self) -> Flow {
        self.space(true)?;
        let at = self.at;
        let Some(byte) = self.byte(at) else { return Err(self.at_end()) };
        if byte == b'"' && self.plain_value(at) {
            return Ok(());
        }
        if let Some((quote, len)) = self.opening_quote(at)? {
            if quote == Quote::Escaped && self.only_openers() {
                return Err(Stop::Escaped);
            }
            return self.open_string(quote, at, len);
        }
        match byte {
            b'{' => self.open(Kind::Object, Place::Plain),
            b'[' => match self.markdown_link(at)? {
                Some(end) => {
                    self.log.add(Code::MarkdownLink, at, end);
                    self.at = end;
                    self.scalar(Kind::String, at, end, Place::Plain);
                    Ok(())
                }
                None => self.open(Kind::Array, Place::Plain),
            },
            b'(' => self.open(Kind::Array, Place::Escaped),
            b'}' | b']' | b')' if self.parent_kind().is_some() => {
                if self.key.is_some() {
                    self.missing_value(at);
                    return Ok(());
                }
                self.closer(byte)
            }
            b',' | b';' => {
                if self.key.is_some() {
                    self.missing_value(at);
                } else {
                    self.extra_comma(at);
                }
                Ok(())
            }
            b':' => {
                self.log.extend(Code::WrongSeparator, at, at + 1);
                self.at += 1;
                Ok(())
            }
            _ if self.ends_document(at)? => Err(self.at_end_early()),
            _ => self.bare(),
        }
    }

    fn extra_comma(&mut self, at: usize) {
        if !self.ellipsis {
            self.log.extend(Code::ExtraComma, at, at + 1);
        }
        self.ellipsis = false;
        self.at = at + 1;
    }

    /// Null for a key that has no value.
    fn missing_value(&mut self, at: usize) {
        self.log
            .push(Diagnostic { read_as: "null", ..Diagnostic::new(Code::MissingValue, at, at) });
        self.scalar_side(Kind::Null, b"");
    }

    /// True while no string was read.
    fn only_openers(&mut self) -> bool {
        if !self.may_take_back() || self.log.has(Code::EscapedQuotes) {
            return false;
        }
        let strings = self.nodes.iter().position(|n| n.kind == Kind::String);
        self.steps += strings.unwrap_or(self.nodes.len()) as u64;
        strings.is_none()
    }

    fn key(&mut self) -> Flow {
        self.space(false)?;
        let at = self.at;
        let Some(byte) = self.byte(at) else { return Err(self.at_end()) };
        if byte == b'"' && self.plain_key(at) {
            return Ok(());
        }
        if let Some((quote, len)) = self.opening_quote(at)? {
            if quote == Quote::Escaped && self.only_openers() {
                return Err(Stop::Escaped);
            }
            return self.open_string(quote, at, len);
        }
        match byte {
            b',' | b';' => self.extra_comma(at),
            b'}' | b']' | b')' => return self.closer(byte),
            b'{' if self.comma.is_some() && self.outer_kind() == Some(Kind::Array) => {
                // The object before the comma was not closed.
                self.log.add(Code::MissingCloser, at, at);
                self.close();
                self.phase = Phase::Value;
            }
            b'{' => {
                self.log.add(Code::SurplusOpener, at, at + 1);
                self.at += 1;
            }
            _ if self.ends_document(at)? => return Err(self.at_end_early()),
            b'[' if self.comma.is_some() && self.goes_on_in_array(at) => {}
            b':' | b'[' | b'(' => self.drop_byte(at),
            _ => return self.bare_key(),
        }
        Ok(())
    }

    pub(super) fn drop_byte(&mut self, at: usize) {
        let len = self.char_len(at);
        self.log.extend(Code::DroppedText, at, at + len);
        self.at = at + len;
    }

    fn colon(&mut self) -> Flow {
        self.space(true)?;
        let at = self.at;
        let Some(byte) = self.byte(at) else { return Err(self.at_end()) };
        match byte {
            b':' => {
                self.at += 1;
                self.phase = Phase::Value;
            }
            b'=' => {
                self.needs(at + 2)?;
                let len = 1 + usize::from(self.byte(at + 1) == Some(b'>'));
                self.log.add(Code::WrongSeparator, at, at + len);
                self.at += len;
                self.phase = Phase::Value;
            }
            0xE3 | 0xEF if self.wide_at(at) == Some(b':') => {
                self.log.add(Code::WrongSeparator, at, at + 3);
                self.at += 3;
                self.phase = Phase::Value;
            }
            b',' | b'}' if self.is_set() => self.make_set(),
            b',' | b'}' | b']' | b';' => {
                self.missing_value(at);
            }
            _ if self.ends_document(at)? => return Err(self.at_end_early()),
            _ => {
                self.log.add(Code::MissingColon, at, at);
                self.phase = Phase::Value;
            }
        }
        if self.phase == Phase::Value && self.key.is_some() {
            self.note_key();
        }
        Ok(())
    }

    fn note_key(&mut self) {
        let key = self.key.and_then(|k| self.nodes.get(k as usize)).copied();
        let Some(key) = key else { return };
        let before = (key.start as usize).checked_sub(1).and_then(|i| self.byte(i));
        let bare = key.place == Place::Plain
            && before.is_none_or(|b| !matches!(b, b'"' | b'\'' | b'`' | 0x80..=0xFF));
        if bare { self.bare_key = true } else { self.quoted_key = true }
    }

    fn after(&mut self) -> Flow {
        let at = self.at;
        self.ended.get_or_insert(at);
        self.space(false)?;
        let at = self.at;
        if self.parent == ROOT && self.calls.is_empty() {
            self.phase = Phase::Done;
            return Ok(());
        }
        let Some(byte) = self.byte(at) else { return Err(self.at_end()) };
        let object = self.parent_kind() == Some(Kind::Object);
        match byte {
            b',' => self.comma(at, 1),
            b';' => {
                self.log.add(Code::WrongSeparator, at, at + 1);
                self.semicolons = true;
                self.comma(at, 1);
            }
            0xE3 | 0xEF if self.wide_at(at).is_some_and(|b| b != b':') => {
                self.log.add(Code::WrongSeparator, at, at + 3);
                self.comma(at, 3);
            }
            b'}' | b']' | b')' => return self.closer(byte),
            b':' if self.is_object_after_all() => self.make_object(),
            b':' if self.is_key_of_outer() => self.leave_array(at),
            b'{' if object && self.outer_kind() == Some(Kind::Array) => {
                self.log.add(Code::MissingCloser, at, at);
                self.close();
            }
            _ if self.ends_document(at)? => return Err(self.at_end_early()),
            _ if is_word(byte) && self.prose_follows(self.ended.unwrap_or(at).min(at), at)? => {
                return Err(self.at_end_early());
            }
            _ if self.starts_next(at, object)? => {
                self.log.push(Diagnostic {
                    read_as: ",",
                    ..Diagnostic::new(Code::MissingComma, at, at)
                });
                self.phase = if object { Phase::Key } else { Phase::Value };
            }
            _ => self.drop_words(at)?,
        }
        Ok(())
    }

    /// Full-width punctuation at a place.
    pub(super) fn wide_at(&self, at: usize) -> Option<u8> {
        wide(self.text.get(at..).unwrap_or_default()).map(|(sign, _)| sign)
    }

    /// Drops what is no part of anything: a word, or one sign.
    fn drop_words(&mut self, at: usize) -> Flow {
        let seen = self.looked(at);
        let rest = self.text.get(seen..).unwrap_or_default();
        let end = seen + run(rest, is_word);
        self.steps += (end - seen) as u64;
        if end >= self.text.len() && !self.last {
            return Err(self.wait(at));
        }
        if end == at {
            self.drop_byte(at);
        } else {
            self.log.extend(Code::DroppedText, at, end);
            self.at = end;
        }
        self.ended = Some(self.at);
        Ok(())
    }

    fn comma(&mut self, at: usize, len: usize) {
        self.commas |= self.byte(at) == Some(b',');
        self.at = at + len;
        self.comma = Some(at);
        let object = self.parent_kind() == Some(Kind::Object);
        self.phase = if object { Phase::Key } else { Phase::Value };
    }

    /// The top value is complete, unless it plainly goes on: then its closer came too early, and
    /// closers may stand behind it that close nothing.
    fn done(&mut self) -> Flow {
        let Some(root) = self.nodes.first().copied() else { return Err(Stop::Done) };
        if !self.may_take_back()
            || !matches!(root.kind, Kind::Object | Kind::Array)
            || root.end == 0
            || root.next as usize != self.nodes.len()
        {
            return Err(Stop::Done);
        }
        let end = self.at;
        let mut surplus = end;
        let (comma, len) = loop {
            let next = self.peek(surplus)?;
            match next.token {
                Token::Comma(len) => break (next.at, len),
                Token::Close(b'}' | b']') => surplus = next.at + 1,
                // Only the comma is missing too.
                Token::Quote(..)
                    if root.kind == Kind::Object
                        && self.key_at(next.at)? == Key::Yes
                        && self.closers_left(next.at) =>
                {
                    break (next.at, 0);
                }
                _ => return Err(Stop::Done),
            }
        };
        let next = self.gap_end(comma + len)?;
        let goes_on = match root.kind {
            Kind::Object => self.member_follows(next, surplus > end)?,
            _ => self.element_follows(next, surplus > end)?,
        };
        if goes_on {
            self.log.add(Code::SurplusCloser, end.saturating_sub(1), surplus);
            self.reopen_root();
            let rows = self.nodes.get(1).is_some_and(|n| n.kind == Kind::Array);
            if root.kind == Kind::Array && rows && self.byte(next) == Some(b'[') {
                let last = self.nodes.last().map(|n| n.kind);
                if !matches!(last, Some(Kind::Array | Kind::Object)) {
                    self.gather_row(0, next);
                }
            }
            if len == 0 {
                self.log.add(Code::MissingComma, comma, comma);
            }
            self.comma(comma, len);
            return Ok(());
        }
        if surplus > end && matches!(self.byte(next), Some(b'{' | b'[')) {
            // Another document, behind closers too many.
            self.log.add(Code::SurplusCloser, end, surplus);
            self.at = surplus;
        }
        Err(Stop::Done)
    }

    /// True where behind the end of an object and a comma a member follows.
    fn member_follows(&mut self, at: usize, surplus: bool) -> Result<bool, Stop> {
        let key = self.key_at(at)?;
        Ok(match self.byte(at) {
            Some(b'"') => {
                key == Key::Yes
                    || (surplus && key == Key::Cut)
                    || self.key_without_colon(at)? && self.closers_left(at)
            }
            Some(b'\'') => key == Key::Yes && self.quoted_key,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$') => {
                let bare = self.bare_key && !self.quoted_key;
                surplus && bare && key == Key::Yes && self.root_closes_later(at)
            }
            _ => false,
        })
    }

    /// True where behind the end of an array and a comma an element follows.
    fn element_follows(&mut self, at: usize, surplus: bool) -> Result<bool, Stop> {
        let scalar = match self.byte(at) {
            Some(b'{' | b'[') => return Ok(self.root_closes_later(at)),
            Some(b'"' | b'\'') => self.string_and_end(at + 1)?,
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => self.scalar_at(at)?,
            _ => false,
        };
        if scalar {
            return Ok(surplus || self.root_closes_later(at));
        }
        Ok(surplus && self.cut_scalar(at))
    }

    /// True where the text ends inside a string or number.
    fn cut_scalar(&mut self, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        match rest {
            [b'"', inside @ ..] => {
                let quote = memchr::memchr(b'"', inside);
                self.steps += quote.unwrap_or(inside.len()) as u64;
                quote.is_none()
            }
            [b'-' | b'0'..=b'9', ..] => {
                rest.iter().all(|b| b.is_ascii_digit() || b"+-.eE".contains(b))
            }
            _ => false,
        }
    }

    /// Ends the document here.
    fn at_end_early(&mut self) -> Stop {
        let (text, last) = (self.text, self.last);
        self.text = text.get(..self.at).unwrap_or(text);
        self.last = true;
        let stop = self.at_end();
        self.text = text;
        self.last = last;
        stop
    }

    /// Marks the inside of a call as the place of a value.
    pub(super) fn enter_call(&mut self) {
        let parent = self.parent;
        self.calls.push(parent);
    }

    pub(super) fn may_enter_call(&self) -> bool {
        self.calls.len() < 16 && self.may_take_back()
    }
}
