//! What may stand between tokens: white space of any kind, comments, ellipses.

use super::super::diagnostics::Code;
use super::memo::Chain;
use super::parser::{Flow, Parser};
use super::state::Stop;
use crate::text::space_at_start;

/// A gap up to this length is read again rather than kept in mind.
const SHORT: usize = 16;

/// How far the end of words behind an ellipsis is looked for.
const WORDS: usize = 256;

/// One thing between tokens.
enum Gap {
    /// Plain white space, or nothing: the end is here.
    None,
    /// Something of this many bytes.
    Some(Code, usize),
    /// The text ends inside it.
    Cut(Code),
}

impl Parser<'_> {
    /// Skips what stands between tokens, and notes what JSON does not have. Before a value a `#`
    /// may start text.
    pub(super) fn space(&mut self, before_value: bool) -> Flow {
        loop {
            let from = self.at;
            let at = skip_plain(self.text, from);
            self.at = at;
            self.steps += (at - from) as u64;
            match self.byte(at) {
                None | Some(b'"' | b',' | b':' | b'{' | b'}' | b'[' | b']') => return Ok(()),
                Some(_) => {}
            }
            match self.gap(at, before_value) {
                Gap::None => return Ok(()),
                Gap::Some(code, len) => {
                    let words = match code {
                        Code::Ellipsis => self.ellipsis_words(at + len)?,
                        _ => 0,
                    };
                    self.log.extend(code, at, at + len + words);
                    self.at = at + len + words;
                    self.steps += (len + words) as u64;
                    self.ellipsis |= code == Code::Ellipsis;
                }
                Gap::Cut(code) if self.last => {
                    let end = self.text.len();
                    self.log.add(code, at, end);
                    self.at = end;
                }
                Gap::Cut(_) => return Err(Stop::More),
            }
        }
    }

    /// The place after the gap that starts at `at`, and whether the text may go on inside it.
    pub(in super::super) fn space_after(&mut self, at: usize) -> (usize, bool) {
        let start = at;
        let mut at = if self.last { at } else { self.memo.gaps.read(at) };
        let mut read;
        let mut places = Vec::new();
        loop {
            let from = at;
            at = skip_plain(self.text, at);
            self.steps += (at - from) as u64;
            read = at;
            match self.byte(at) {
                None | Some(b'"' | b',' | b':' | b'{' | b'}' | b'[' | b']') => break,
                Some(b) if b.is_ascii_alphanumeric() => break,
                Some(_) => {}
            }
            // A `#` with a word behind it may be text, here where a quote is judged.
            match self.gap(at, true) {
                Gap::None => break,
                Gap::Some(code, len) => {
                    self.steps += 1;
                    at += len;
                    if code == Code::Comment {
                        if let Some(end) = self.memo.chain.from(at) {
                            at = end;
                            break;
                        }
                        places.push(at);
                    }
                }
                Gap::Cut(_) => {
                    at = self.text.len();
                    break;
                }
            }
        }
        if places.len() > SHORT && at < self.text.len() || places.len() > SHORT && self.last {
            self.memo.chain = Chain { places, end: at };
        }
        let more = at >= self.text.len() && !self.last;
        if more || (!self.last && read - start > SHORT) {
            self.memo.gaps.keep(start, read);
        }
        (at, more)
    }

    fn gap(&mut self, at: usize, before_value: bool) -> Gap {
        let rest = self.text.get(at..).unwrap_or_default();
        match *rest {
            [b'/', b'/', ..] => self.line_comment(at),
            [b'/', b'*', ..] => self.block_comment(at),
            [b'*', b'*', next, ..] if self.bold(at, next) => Gap::Some(Code::Markup, 2),
            [b'*'] | [b'*', b'*'] if !self.last => Gap::Cut(Code::Markup),
            [b'/'] if !self.last => Gap::Cut(Code::Comment),
            [b'#', next, ..] if !before_value || matches!(next, b' ' | b'\t' | b'!' | b'#') => {
                self.line_comment(at)
            }
            [b'#'] => Gap::Cut(Code::Comment),
            [b'.', b'.', b'.', ..] => self.dots(at),
            [b'.'] | [b'.', b'.'] if !self.last => Gap::Cut(Code::Ellipsis),
            [0xE2, 0x80, 0xA6, ..] => Gap::Some(Code::Ellipsis, 3),
            [b'\\', b'n' | b'r' | b't' | b'\n' | b'\r', ..] | [0xC2, 0x85 | 0xA0 | 0xAD, ..] => {
                Gap::Some(Code::UnusualSpace, 2)
            }
            [b'\\'] if !self.last => Gap::Cut(Code::UnusualSpace),
            [0..=0x1F, ..] => Gap::Some(Code::UnusualSpace, 1),
            [0xE2, 0x80, 0x8B..=0x8F, ..] | [0xE2, 0x81, 0xA0, ..] => {
                Gap::Some(Code::UnusualSpace, 3)
            }
            [0xE1..=0xEF, ..] => match space_at_start(rest) {
                Some(len) => Gap::Some(Code::UnusualSpace, len),
                None => Gap::None,
            },
            _ => Gap::None,
        }
    }

    /// `**"a"**`
    fn bold(&self, at: usize, next: u8) -> bool {
        let before = at.checked_sub(1).and_then(|i| self.byte(i));
        // `**"a":** 1`
        let behind_key = before == Some(b':') && self.log.has(Code::Markup);
        next == b'"'
            || behind_key && matches!(next, b' ' | b'\n')
            || before == Some(b'"') && matches!(next, b':' | b',' | b'}' | b']' | b' ' | b'\n')
    }

    fn line_comment(&mut self, at: usize) -> Gap {
        // The end that was found last is still the next one: looked up once, however often asked.
        let mut end = self.memo.line_end.at(at);
        if !end.found {
            let rest = self.text.get(end.to..).unwrap_or_default();
            let line = memchr::memchr(b'\n', rest);
            self.steps += line.unwrap_or(rest.len()) as u64;
            end.found = line.is_some();
            end.to += line.unwrap_or(rest.len());
            self.memo.line_end = end;
        }
        if end.found || self.last {
            return Gap::Some(Code::Comment, self.comment_end(at, end.found, end.to) - at);
        }
        Gap::Cut(Code::Comment)
    }

    /// The end of a line comment. Where no line feed is left, the rest of a document that stands on
    /// one line is no comment: `{"a": 1 // note }`.
    fn comment_end(&mut self, at: usize, found: bool, end: usize) -> usize {
        if found || !self.is_inside() {
            return end;
        }
        let mut closer = self.memo.comment_end.at(at);
        if !closer.found {
            let rest = self.text.get(closer.to..end).unwrap_or_default();
            let found = memchr::memchr2(b'}', b']', rest);
            self.steps += found.unwrap_or(rest.len()) as u64;
            closer.found = found.is_some();
            closer.to += found.unwrap_or(rest.len());
            self.memo.comment_end = closer;
        }
        if closer.found { closer.to } else { end }
    }

    fn block_comment(&mut self, at: usize) -> Gap {
        let mut end = self.memo.block_end.at(at + 2);
        if !end.found {
            let rest = self.text.get(end.to..).unwrap_or_default();
            let close = memchr::memmem::find(rest, b"*/");
            self.steps += close.unwrap_or(rest.len()) as u64;
            end.found = close.is_some();
            // An asterisk at the end may be half of it.
            end.to += close.unwrap_or(rest.len().saturating_sub(1));
            self.memo.block_end = end;
        }
        if end.found { Gap::Some(Code::Comment, end.to + 2 - at) } else { Gap::Cut(Code::Comment) }
    }

    fn dots(&mut self, at: usize) -> Gap {
        let mut end = self.memo.dots_end.at(at);
        if !end.found {
            let rest = self.text.get(end.to..).unwrap_or_default();
            let other = rest.iter().position(|&b| b != b'.');
            self.looks(other.unwrap_or(rest.len()));
            end.found = other.is_some();
            end.to += other.unwrap_or(rest.len());
            self.memo.dots_end = end;
        }
        if end.found || self.last {
            return Gap::Some(Code::Ellipsis, end.to - at);
        }
        Gap::Cut(Code::Ellipsis)
    }

    /// The length of words that belong to an ellipsis: `... 98 more items`.
    fn ellipsis_words(&mut self, at: usize) -> Result<usize, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let window = rest.get(..WORDS).unwrap_or(rest);
        let open = window.len() < WORDS && !self.last;
        let Some(word) = window.iter().position(|b| !matches!(b, b' ' | b'\t')) else {
            return if open {
                Err(self.wait_for(|b| !matches!(b, b' ' | b'\t'), at + WORDS))
            } else {
                Ok(0)
            };
        };
        let starts = window.get(word).copied();
        if !starts.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'(' || b >= 0x80) {
            return Ok(0);
        }
        let ends = |b: u8| matches!(b, b',' | b']' | b'}' | b'\n' | b'"' | b':' | b'{' | b'[');
        let Some(len) = window.iter().position(|&b| ends(b)) else {
            return if open { Err(self.wait_for(ends, at + WORDS)) } else { Ok(0) };
        };
        Ok(if matches!(rest.get(len), Some(b':' | b'"')) { 0 } else { len })
    }
}

#[inline]
fn skip_plain(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}
