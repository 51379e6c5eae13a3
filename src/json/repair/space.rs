//! What may stand between tokens: white space of any kind, comments, ellipses.

use super::super::diagnostics::Code;
use super::parser::{Flow, Parser};
use super::state::Stop;
use crate::target::space_at_start;

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
                    self.log.extend(code, at, at + len);
                    self.at = at + len;
                    self.steps += len as u64;
                    if code == Code::Ellipsis {
                        self.ellipsis_words();
                    }
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
        let mut at = at;
        loop {
            let from = at;
            at = skip_plain(self.text, at);
            self.steps += (at - from) as u64 + 1;
            match self.byte(at) {
                None => break,
                Some(
                    b'"'
                    | b','
                    | b':'
                    | b'{'
                    | b'}'
                    | b'['
                    | b']'
                    | b'a'..=b'z'
                    | b'A'..=b'Z'
                    | b'0'..=b'9',
                ) => {
                    break;
                }
                Some(_) => {}
            }
            // A `#` with a word behind it may be text, here where a quote is judged.
            match self.gap(at, true) {
                Gap::None => break,
                Gap::Some(_, len) => at += len,
                Gap::Cut(_) => {
                    at = self.text.len();
                    break;
                }
            }
        }
        (at, at >= self.text.len() && !self.last)
    }

    fn gap(&mut self, at: usize, before_value: bool) -> Gap {
        let rest = self.text.get(at..).unwrap_or_default();
        match *rest {
            [b'/', b'/', ..] => self.line_comment(at),
            [b'/', b'*', ..] => self.block_comment(at),
            [b'/'] if !self.last => Gap::Cut(Code::Comment),
            [b'#', next, ..] if !before_value || matches!(next, b' ' | b'\t' | b'!' | b'#') => {
                self.line_comment(at)
            }
            [b'#'] => Gap::Cut(Code::Comment),
            [b'.', b'.', b'.', ..] => {
                Gap::Some(Code::Ellipsis, rest.iter().take_while(|&&b| b == b'.').count())
            }
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

    fn line_comment(&mut self, at: usize) -> Gap {
        // The end that was found last is still the next one: looked up once, however often asked.
        if !(self.line_end.0..=self.line_end.1).contains(&at) {
            let rest = self.text.get(at..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).map_or(self.text.len(), |i| at + i);
            self.steps += (end - at) as u64;
            self.line_end = (at, end);
        }
        let end = self.line_end.1;
        if end >= self.text.len() {
            if self.last {
                return Gap::Some(Code::Comment, self.text.len() - at);
            }
            self.line_end = (1, 0);
            return Gap::Cut(Code::Comment);
        }
        Gap::Some(Code::Comment, end - at)
    }

    fn block_comment(&mut self, at: usize) -> Gap {
        let from = at + 2;
        if !(self.block_end.0..=self.block_end.1).contains(&from) {
            let rest = self.text.get(from..).unwrap_or_default();
            let end = memchr::memmem::find(rest, b"*/").map_or(self.text.len(), |i| from + i);
            self.steps += (end - from) as u64;
            self.block_end = (from, end);
        }
        let end = self.block_end.1;
        if end >= self.text.len() {
            if !self.last {
                self.block_end = (1, 0);
            }
            return Gap::Cut(Code::Comment);
        }
        Gap::Some(Code::Comment, end + 2 - at)
    }

    /// Words that belong to an ellipsis: `... 98 more items`.
    fn ellipsis_words(&mut self) {
        let at = self.at;
        let rest = self.text.get(at..).unwrap_or_default();
        let word = rest.iter().position(|b| !matches!(b, b' ' | b'\t'));
        let starts = word.and_then(|i| rest.get(i)).copied();
        self.ellipsis = true;
        if starts.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'(' || b >= 0x80) {
            let ends = |b: &u8| matches!(b, b',' | b']' | b'}' | b'\n' | b'"' | b':' | b'{' | b'[');
            let len = rest.iter().take(256).position(ends).unwrap_or(0);
            if len > 0 && !matches!(rest.get(len), Some(b':' | b'"')) {
                self.log.extend(Code::Ellipsis, at, at + len);
                self.at = at + len;
                self.steps += len as u64;
            }
        }
    }
}

#[inline]
fn skip_plain(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}
