//! Strict JSON (RFC 8259) in one pass.
//!
//! The text may hold lone surrogate halves (WTF-8), raw or escaped, as JavaScript strings may.

use super::document::{Document, Kind, Node, Place, index_u32};
use super::error::{ErrorKind, MAX_DEPTH, ParseError};
use super::string::scan_string;

/// Parses a whole text (WTF-8) as one JSON value, white space around it allowed.
pub fn parse(text: &[u8]) -> Result<Document<'_>, ParseError> {
    parse_range(text, 0, text.len())
}

/// Parses `text[start..end]`; offsets and positions count from the start of `text`.
pub fn parse_range(text: &[u8], start: usize, end: usize) -> Result<Document<'_>, ParseError> {
    parse_within(text, start, end, MAX_DEPTH)
}

/// The same with another limit of depth. What recurses over a document takes none that is deeper
/// than [`MAX_DEPTH`].
pub fn parse_within(
    text: &[u8],
    start: usize,
    end: usize,
    max_depth: usize,
) -> Result<Document<'_>, ParseError> {
    match parse_until(text, start, end, max_depth) {
        Stopped { error: None, nodes, .. } => Ok(Document { text, side: Vec::new(), nodes }),
        Stopped { error: Some(error), .. } => Err(error),
    }
}

/// Parses `text[start..end]` and keeps what was read before a fault, so that a repair can go on
/// from there.
pub(super) fn parse_until(text: &[u8], start: usize, end: usize, max_depth: usize) -> Stopped {
    parse_sized(text, start, end, max_depth, end.saturating_sub(start))
}

/// The same for a value that is likely this long.
pub(super) fn parse_sized(
    text: &[u8],
    start: usize,
    end: usize,
    max_depth: usize,
    likely: usize,
) -> Stopped {
    let text = text.get(..end).unwrap_or(text);
    let nodes = Vec::with_capacity((likely / 12).clamp(8, 4096));
    let mut parser = Parser {
        text,
        at: start,
        nodes,
        parent: ROOT,
        depth: 0,
        max_depth,
        phase: Phase::Value,
        resume: None,
    };
    let result =
        if u32::try_from(text.len()).is_err() { Err(ErrorKind::TooLong) } else { parser.run() };
    let error = result.err().map(|kind| ParseError { kind, offset: parser.at.min(text.len()) });
    let Parser { at, nodes, parent, depth, phase, resume, .. } = parser;
    Stopped { error, nodes, parent, depth, phase, at: resume.unwrap_or(at) }
}

/// What a parser expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Value,
    Key,
    Colon,
    /// A comma or a closer.
    After,
    /// The top value is complete.
    Done,
}

/// Where strict parsing stopped, and why; without an error the text is one value.
pub(super) struct Stopped {
    pub(super) error: Option<ParseError>,
    pub(super) nodes: Vec<Node>,
    pub(super) parent: u32,
    pub(super) depth: usize,
    pub(super) phase: Phase,
    /// The start of the token at fault.
    pub(super) at: usize,
}

/// The parent of the top value.
pub(super) const ROOT: u32 = u32::MAX;

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    nodes: Vec<Node>,
    parent: u32,
    depth: usize,
    max_depth: usize,
    /// What was expected at the fault.
    phase: Phase,
    /// The start of the string at fault.
    resume: Option<usize>,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), ErrorKind> {
        loop {
            if self.value()? {
                // A container that is not empty was opened: its first member comes next.
                continue;
            }
            if self.after_value()? {
                return Ok(());
            }
        }
    }

    /// Notes what was expected at the fault.
    #[cold]
    fn fail(&mut self, kind: ErrorKind, phase: Phase) -> ErrorKind {
        self.phase = phase;
        kind
    }

    /// Reads a scalar or an empty container, or opens a container (true).
    #[inline]
    fn value(&mut self) -> Result<bool, ErrorKind> {
        self.skip_space();
        match self.text.get(self.at) {
            Some(b'"') => {
                self.at += 1;
                self.string()?;
            }
            Some(b'{') => return self.open(Kind::Object, b'}'),
            Some(b'[') => return self.open(Kind::Array, b']'),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.literal(b"true", Kind::True)?,
            Some(b'f') => self.literal(b"false", Kind::False)?,
            Some(b'n') => self.literal(b"null", Kind::Null)?,
            Some(_) => return Err(ErrorKind::ExpectedValue),
            None => return Err(self.at_end(ErrorKind::ExpectedValue)),
        }
        Ok(false)
    }

    /// After a value: closes containers and steps to the next value; true at the end of all.
    #[inline]
    fn after_value(&mut self) -> Result<bool, ErrorKind> {
        loop {
            self.skip_space();
            let byte = self.text.get(self.at).copied();
            let Some(parent) = self.nodes.get_mut(self.parent as usize) else {
                return match byte {
                    None => Ok(true),
                    Some(_) => Err(self.fail(ErrorKind::TrailingText, Phase::Done)),
                };
            };
            parent.end += 1;
            match (byte, parent.kind) {
                (Some(b','), Kind::Object) => {
                    self.at += 1;
                    self.key()?;
                    return Ok(false);
                }
                (Some(b','), _) => {
                    self.at += 1;
                    return Ok(false);
                }
                (Some(b'}'), Kind::Object) | (Some(b']'), Kind::Array) => {
                    self.at += 1;
                    self.close();
                }
                (byte, _) => {
                    parent.end -= 1;
                    let end =
                        byte.map_or(ErrorKind::UnexpectedEnd, |_| ErrorKind::ExpectedCommaOrEnd);
                    return Err(self.fail(end, Phase::After));
                }
            }
        }
    }

    fn open(&mut self, kind: Kind, closer: u8) -> Result<bool, ErrorKind> {
        if self.depth >= self.max_depth {
            return Err(ErrorKind::TooDeep);
        }
        self.depth += 1;
        let index = index_u32(self.nodes.len());
        let start = index_u32(self.at);
        self.nodes.push(Node { start, end: 0, next: self.parent, kind, place: Place::Plain });
        self.parent = index;
        self.at += 1;
        self.skip_space();
        if self.text.get(self.at) == Some(&closer) {
            self.at += 1;
            self.close();
            return Ok(false);
        }
        if kind == Kind::Object {
            self.key()?;
        }
        Ok(true)
    }

    fn close(&mut self) {
        let next = index_u32(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(self.parent as usize) {
            self.parent = node.next;
            node.next = next;
            self.depth -= 1;
        }
    }

    #[inline]
    fn key(&mut self) -> Result<(), ErrorKind> {
        self.skip_space();
        if self.text.get(self.at) != Some(&b'"') {
            let kind = self.at_end(ErrorKind::ExpectedKey);
            return Err(self.fail(kind, Phase::Key));
        }
        self.at += 1;
        if let Err(kind) = self.string() {
            return Err(self.fail(kind, Phase::Key));
        }
        self.skip_space();
        if self.text.get(self.at) != Some(&b':') {
            let kind = self.at_end(ErrorKind::ExpectedColon);
            return Err(self.fail(kind, Phase::Colon));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a string whose opening quote is behind.
    #[inline]
    fn string(&mut self) -> Result<(), ErrorKind> {
        let start = self.at;
        match scan_string(self.text, start) {
            Ok((end, escaped)) => {
                let place = if escaped { Place::Escaped } else { Place::Plain };
                self.push(Kind::String, start, end, place);
                self.at = end + 1;
                Ok(())
            }
            Err((at, kind)) => {
                self.resume = Some(start - 1);
                self.at = at;
                Err(kind)
            }
        }
    }

    #[inline]
    fn push(&mut self, kind: Kind, start: usize, end: usize, place: Place) {
        let next = index_u32(self.nodes.len() + 1);
        self.nodes.push(Node { start: index_u32(start), end: index_u32(end), next, kind, place });
    }

    fn literal(&mut self, word: &[u8], kind: Kind) -> Result<(), ErrorKind> {
        let end = self.at + word.len();
        match self.text.get(self.at..end) {
            Some(found) if found == word => {
                self.push(kind, self.at, end, Place::Plain);
                self.at = end;
                Ok(())
            }
            _ if word.starts_with(&self.text[self.at..]) => Err(ErrorKind::UnexpectedEnd),
            _ => Err(ErrorKind::ExpectedValue),
        }
    }

    fn number(&mut self) -> Result<(), ErrorKind> {
        let start = self.at;
        let mut at = start;
        if self.text.get(at) == Some(&b'-') {
            at += 1;
        }
        let int = at;
        at = self.digits(at);
        let bad_int = at == int || (at > int + 1 && self.text[int] == b'0');
        let mut bad = bad_int;
        if self.text.get(at) == Some(&b'.') {
            let from = at + 1;
            at = self.digits(from);
            bad |= at == from;
        }
        if matches!(self.text.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.text.get(at + 1), Some(b'+' | b'-')));
            let from = at + 1 + sign;
            at = self.digits(from);
            bad |= at == from;
        }
        if bad {
            return Err(self.at_end(ErrorKind::InvalidNumber));
        }
        self.push(Kind::Number, start, at, Place::Plain);
        self.at = at;
        Ok(())
    }

    #[inline]
    fn digits(&self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        from + rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len())
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    /// The error, or "the text ends" where nothing is left.
    fn at_end(&self, kind: ErrorKind) -> ErrorKind {
        if self.at >= self.text.len() { ErrorKind::UnexpectedEnd } else { kind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_place() {
        let rows: &[(&str, ErrorKind, usize)] = &[
            ("", ErrorKind::UnexpectedEnd, 0),
            ("{a:1}", ErrorKind::ExpectedKey, 1),
            ("{\"a\" 1}", ErrorKind::ExpectedColon, 5),
            ("[1 2]", ErrorKind::ExpectedCommaOrEnd, 3),
            ("[1,]", ErrorKind::ExpectedValue, 3),
            ("{\"a\":1,}", ErrorKind::ExpectedKey, 7),
            ("[01]", ErrorKind::InvalidNumber, 1),
            ("\"a\nb\"", ErrorKind::ControlCharacter, 2),
            ("\"\\x\"", ErrorKind::InvalidEscape, 1),
            ("1 1", ErrorKind::TrailingText, 2),
            ("[1}", ErrorKind::ExpectedCommaOrEnd, 2),
            ("NaN", ErrorKind::ExpectedValue, 0),
        ];
        for &(text, kind, offset) in rows {
            assert_eq!(parse(text.as_bytes()).err(), Some(ParseError { kind, offset }), "{text}");
        }
    }

    #[test]
    fn depth_ends_at_the_limit() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(nested(MAX_DEPTH).as_bytes()).is_ok());
        let error = parse(nested(MAX_DEPTH + 1).as_bytes()).unwrap_err();
        assert_eq!((error.kind, error.offset), (ErrorKind::TooDeep, MAX_DEPTH));
        assert_eq!(parse("[".repeat(100_000).as_bytes()).unwrap_err().kind, ErrorKind::TooDeep);
    }
}
