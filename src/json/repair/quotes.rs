//! What a quote inside a string is.
//!
//! It is judged by the next token only: in a key a colon closes; in an object's value a closer,
//! the end, or a comma with a key and a colon behind it; in an array a comma or a closer.
//! Anything else makes it part of the text. The look ahead is one key, at most [`KEY_AHEAD`]
//! bytes.

use super::super::document::Kind;
use super::parser::Parser;
use super::state::Stop;
use super::strings::{Open, Quote, Role, closing_len};

/// The longest key that is looked for behind a comma.
const KEY_AHEAD: usize = 256;

/// What a quote inside a string is.
pub(super) enum Judgement {
    Closes,
    /// Another string follows a plus sign: its quote, and where its text starts.
    Joins(Quote, usize),
    Text,
}

impl Parser<'_> {
    /// What the quote at `at` is, judged by what follows it.
    pub(super) fn judge(&mut self, open: &Open, at: usize, len: usize) -> Result<Judgement, Stop> {
        let after = at + len;
        // What nearly every string looks like.
        match (open.role, self.byte(after)) {
            (Role::Key, Some(b':'))
            | (Role::Member, Some(b'}' | b']'))
            | (Role::Element, Some(b',' | b']')) => return Ok(Judgement::Closes),
            _ => {}
        }
        let next = self.gap_end(after)?;
        let Some(byte) = self.byte(next) else { return Ok(Judgement::Closes) };
        if open.role == Role::Root {
            return Ok(Judgement::Text);
        }
        if self.ends_document(next)? {
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

    pub(super) fn joined(&mut self, plus: usize) -> Result<Judgement, Stop> {
        let at = self.gap_end(plus + 1)?;
        Ok(match self.opening_quote(at)? {
            Some((quote, len)) => Judgement::Joins(quote, at + len),
            None => Judgement::Text,
        })
    }

    pub(super) fn key_closes(&mut self, byte: u8, after: usize, next: usize) -> Result<bool, Stop> {
        Ok(match byte {
            b':' | b'=' | b',' | b'}' | b'{' | b'[' => true,
            0xEF => self.text.get(next..next + 3) == Some("：".as_bytes()),
            // A value without its colon, unless what follows is the end of this key.
            b'"' | b'\'' => next > after && self.key_ahead(next)? != Some(true),
            b'-' | b'0'..=b'9' => next > after,
            b't' | b'f' | b'n' | b'T' | b'F' | b'N' => next > after && self.literal_ahead(next)?,
            _ => false,
        })
    }

    pub(super) fn literal_ahead(&self, at: usize) -> Result<bool, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let len = rest.iter().take(8).take_while(|b| b.is_ascii_alphabetic()).count();
        if len < 8 {
            self.needs(at + len + 1)?;
        }
        let word = rest.get(..len).unwrap_or_default();
        Ok(matches!(word, b"true" | b"false" | b"null" | b"True" | b"False" | b"None"))
    }

    pub(super) fn member_closes(
        &mut self,
        byte: u8,
        after: usize,
        next: usize,
    ) -> Result<bool, Stop> {
        match byte {
            b'}' | b']' => Ok(true),
            b')' => Ok(self.in_round()),
            b',' | b';' | 0xEF => {
                let comma = byte != 0xEF || self.text.get(next..next + 3) == Some("，".as_bytes());
                if !comma {
                    return Ok(false);
                }
                let first = next + if byte == 0xEF { 3 } else { 1 };
                let mut key = if self.commas.0 == first { self.commas.1 } else { first };
                loop {
                    self.commas = (first, key);
                    let at = self.gap_end(key)?;
                    if self.byte(at) != Some(b',') {
                        key = at;
                        break;
                    }
                    key = at + 1;
                }
                Ok(match self.byte(key) {
                    None | Some(b'}' | b']') => true,
                    Some(_) if self.ends_document(key)? => true,
                    Some(b'{') if self.outer_kind() == Some(Kind::Array) => {
                        let inner = self.gap_end(key + 1)?;
                        self.byte(inner) == Some(b'"') && self.key_ahead(inner)? == Some(true)
                    }
                    Some(_) => {
                        self.key_ahead(key)? != Some(false) || self.key_without_colon(key)?
                    }
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
    pub(super) fn key_without_colon(&mut self, at: usize) -> Result<bool, Stop> {
        let Some(rest) = self.text.get(at..).and_then(|r| r.strip_prefix(b"\"")) else {
            return Ok(false);
        };
        let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        let len = rest.iter().take(64).position(|b| !word(b)).unwrap_or(0);
        self.steps += len as u64;
        if len == 0 || rest.get(len) != Some(&b'"') {
            return Ok(false);
        }
        let value = self.gap_end(at + len + 2)?;
        if value == at + len + 2 {
            return Ok(false);
        }
        match self.byte(value) {
            Some(b'"' | b'0'..=b'9' | b'-') => Ok(true),
            Some(_) => self.literal_ahead(value),
            None => Ok(false),
        }
    }

    pub(super) fn has_line_feed(&mut self, from: usize, to: usize) -> bool {
        self.looks(to - from);
        self.text.get(from..to).is_some_and(|t| memchr::memchr(b'\n', t).is_some())
    }

    pub(super) fn element_closes(
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
                let key = self.gap_end(next + 1)?;
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
    pub(super) fn another_string(&mut self, next: usize, after: usize) -> Result<bool, Stop> {
        let Some((_, len)) = self.opening_quote(next)? else { return Ok(false) };
        let quote = self.byte(next);
        let rest = self.text.get(next + len..).unwrap_or_default();
        let stop = |b: &u8| Some(*b) == quote || *b == b'\n';
        let found = rest.iter().take(KEY_AHEAD).position(stop);
        self.steps += found.unwrap_or(KEY_AHEAD.min(rest.len())) as u64;
        let Some(found) = found else {
            if rest.len() < KEY_AHEAD && !self.last {
                let stops = |b| matches!(b, b'"' | b'\'' | b'\n' | b'`' | b'\\' | 0xC2 | 0xE2);
                return Err(self.wait_for(stops, next + len + KEY_AHEAD));
            }
            return Ok(next > after);
        };
        if rest.get(found) == Some(&b'\n') {
            return Ok(false);
        }
        let then = self.gap_end(next + len + found + 1)?;
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
                let known = self.key_to;
                let mut i = if known.0 == at { known.1 } else { len };
                let mut sure = i;
                self.steps += 1;
                let begun = i;
                let end = loop {
                    // A closing quote is three bytes long at most.
                    if i + 3 <= rest.len() {
                        sure = i;
                    }
                    match window.get(i) {
                        None if i >= rest.len() && !self.last => {
                            self.key_to = (at, sure);
                            self.steps += (i - begun) as u64;
                            return Err(self.wait_for(ends_key(quote), at + KEY_AHEAD));
                        }
                        None => break i,
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
                            n => break i + n,
                        },
                    }
                };
                if !self.last {
                    self.key_to = (at, sure);
                }
                self.steps += (end - begun) as u64;
                (end, true)
            }
            None => {
                let len = window.iter().position(|&b| !key_word(b)).unwrap_or(window.len());
                self.steps += len as u64;
                // `key":`: only the opening quote is missing.
                if len > 0 && window.get(len) == Some(&b'"') {
                    (len + 1, true)
                } else {
                    (len, false)
                }
            }
        };
        if at + len >= self.text.len() {
            if self.last {
                return Ok(None);
            }
            // Behind a closing quote any byte decides.
            let stops: fn(u8) -> bool = if quoted { |_| true } else { |b| !key_word(b) };
            return Err(self.wait_for(stops, at + KEY_AHEAD));
        }
        if len == 0 || (len >= window.len() && window.len() == KEY_AHEAD) {
            return Ok(Some(false));
        }
        let colon = self.gap_end(at + len)?;
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
    pub(super) fn ends_after(&self, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        let next = rest.iter().take(16).find(|b| !b.is_ascii_whitespace());
        matches!(next, Some(b':' | b',' | b'}' | b']') | None)
    }

    /// Where this quote starts the next key, since the string's own closing quote is missing: the
    /// comma before it.
    pub(super) fn missing_quote(
        &mut self,
        open: &mut Open,
        at: usize,
    ) -> Result<Option<usize>, Stop> {
        if open.role != Role::Member || open.quote != Quote::Double || open.bracket {
            return Ok(None);
        }
        let text = self.text.get(open.start..at).unwrap_or_default();
        let comma = text.iter().rposition(|b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t'));
        self.looks(text.len() - comma.unwrap_or(0));
        let Some(comma) = comma else { return Ok(None) };
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
    pub(super) fn colon_inside(&self, open: &Open, end: usize) -> Option<usize> {
        let text = self.text.get(open.start..end)?;
        let word = |b: &u8| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'$') || *b >= 0x80
        };
        let at = text.iter().take(KEY_AHEAD).position(|b| !word(b))?;
        (at > 0 && text.get(at) == Some(&b':') && !open.decoding).then_some(open.start + at)
    }

    /// True where the text ends in a closer and holds no other bracket from here on.
    pub(super) fn is_value_and_closers(&self, from: usize) -> bool {
        let text = self.text.get(from..).unwrap_or_default().trim_ascii_end();
        let inside = text.iter().rposition(|b| !matches!(b, b'}' | b']')).map_or(0, |i| i + 1);
        let bracket = |b: &u8| matches!(b, b'{' | b'}' | b'[' | b']');
        text.last().copied() == self.closers().next()
            && inside > 0
            && !text.get(..inside).unwrap_or_default().iter().any(bracket)
    }

    /// The same at a quote: `"key: "value"`, `"key: ["value"`.
    pub(super) fn colon_before(&mut self, open: &Open, quote: usize) -> Option<usize> {
        let text = self.text.get(open.start..quote)?;
        let value = |b: &u8| !matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b'[' | b'{');
        let colon = text.iter().rposition(value);
        self.looks(text.len() - colon.unwrap_or(0));
        let colon = colon?;
        let head = text.get(..colon)?;
        let plain = text.get(colon) == Some(&b':')
            && !head.is_empty()
            && head.len() < KEY_AHEAD
            && memchr::memchr2(b'"', b':', head).is_none();
        (plain && !open.decoding).then_some(open.start + colon)
    }

    /// Where the text ends in exactly the closers that are open, and no bracket was opened in
    /// the string: a closing quote is missing before them.
    pub(super) fn closers_before(&self, open: &Open, end: usize) -> Option<usize> {
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
}

/// A byte that may belong to a key without quotes.
fn key_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'.') || byte >= 0x80
}

/// The bytes that may end a key in quotes.
fn ends_key(quote: Quote) -> fn(u8) -> bool {
    match quote {
        Quote::Double | Quote::TripleDouble | Quote::Escaped => |b| matches!(b, b'"' | b'\n'),
        Quote::Single | Quote::TripleSingle => |b| matches!(b, b'\'' | b'\n'),
        _ => |b| matches!(b, b'"' | b'\'' | b'`' | b'\n' | 0xC2 | 0xE2),
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
