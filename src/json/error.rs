//! Why a text is not JSON.

use std::fmt;

/// The deepest nesting of arrays and objects that is read.
pub const MAX_DEPTH: usize = 512;

/// Why a text is not JSON, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The byte at which it shows.
    pub offset: usize,
}

/// The ways in which a text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A value should stand here.
    ExpectedValue,
    /// A quoted key should stand here.
    ExpectedKey,
    /// A colon should stand here.
    ExpectedColon,
    /// A comma or a closer should stand here.
    ExpectedCommaOrEnd,
    /// The text ends inside a value.
    UnexpectedEnd,
    /// A control character stands unescaped in a string.
    ControlCharacter,
    /// An escape that JSON does not have.
    InvalidEscape,
    /// A number that JSON does not allow.
    InvalidNumber,
    /// Something follows the value.
    TrailingText,
    /// Arrays and objects nest deeper than the limit, which is [`MAX_DEPTH`] unless another was
    /// asked for.
    TooDeep,
    /// The text is longer than 4 GiB.
    TooLong,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorKind::ExpectedValue => "expected a value",
            ErrorKind::ExpectedKey => "expected a key in double quotes",
            ErrorKind::ExpectedColon => "expected ':' after the key",
            ErrorKind::ExpectedCommaOrEnd => "expected ',' or a closing bracket",
            ErrorKind::UnexpectedEnd => "the text ends inside a value",
            ErrorKind::ControlCharacter => "unescaped control character in a string",
            ErrorKind::InvalidEscape => "invalid escape in a string",
            ErrorKind::InvalidNumber => "invalid number",
            ErrorKind::TrailingText => "text after the value",
            ErrorKind::TooDeep => return write!(f, "nested deeper than {MAX_DEPTH} levels"),
            ErrorKind::TooLong => "longer than 4 GiB",
        })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for ParseError {}
