//! The text that is read: `str` or `bytes`, and positions as its owner counts them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString};

use super::super::text::Text;
use crate::position::{Position, Positions};
use crate::text::wtf8;

enum Held {
    Text(Text),
    Bytes(PyBackedBytes),
    Owned(Vec<u8>),
}

/// A text to read. In a `str` positions count characters, in `bytes` they count bytes.
pub(super) struct Input {
    held: Held,
    is_bytes: bool,
    /// The length as the owner counts.
    len: usize,
    /// Where surrogate halves that stood next to each other were joined: the bytes after them.
    joins: Vec<usize>,
    /// The first byte that is not UTF-8.
    pub(super) fault: Option<usize>,
}

impl AsRef<[u8]> for Input {
    fn as_ref(&self) -> &[u8] {
        match &self.held {
            Held::Text(text) => text.as_ref(),
            Held::Bytes(bytes) => bytes,
            Held::Owned(bytes) => bytes,
        }
    }
}

impl Input {
    /// The text of an argument; an error names it.
    pub(super) fn of(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Input> {
        if let Ok(text) = object.cast::<PyString>() {
            return Input::of_str(text);
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Input::of_bytes(bytes));
        }
        let got = object.get_type().name()?;
        Err(PyTypeError::new_err(format!("{name}: expected str or bytes, got {got}")))
    }

    fn of_str(text: &Bound<'_, PyString>) -> PyResult<Input> {
        let held = Text::of(text)?;
        let mut joins = Vec::new();
        if let Text::Wtf8(joined) = &held
            && characters(joined) != text.len()?
        {
            let split = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
            joins = joined_at(split.cast::<PyBytes>()?.as_bytes(), joined);
        }
        let len = text.len()?;
        Ok(Input { held: Held::Text(held), is_bytes: false, len, joins, fault: None })
    }

    fn of_bytes(bytes: &Bound<'_, PyBytes>) -> Input {
        let raw = bytes.as_bytes();
        let len = raw.len();
        let input = |held, joins, fault| Input { held, is_bytes: true, len, joins, fault };
        match surrogates_or_fault(raw) {
            Ok(false) => input(Held::Bytes(bytes.clone().into()), Vec::new(), None),
            Ok(true) => {
                let joined = wtf8(raw.to_vec());
                let joins = joined_at(raw, &joined);
                input(Held::Owned(joined), joins, None)
            }
            Err(at) => input(Held::Bytes(bytes.clone().into()), Vec::new(), Some(at)),
        }
    }

    /// A span of bytes as the owner counts.
    pub(super) fn span(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let text = self.as_ref();
        if self.len == text.len() && self.joins.is_empty() {
            return (start, end);
        }
        if let (false, true, Some(before), Some(after)) =
            (self.is_bytes, self.joins.is_empty(), text.get(..start), text.get(end..))
        {
            // A document is most of its text.
            return (characters(before), self.len - characters(after));
        }
        let mut places = self.places();
        (places.of(start).offset, places.of(end).offset)
    }

    /// Positions in the text.
    pub(super) fn places(&self) -> Places<'_> {
        let bytes = self.is_bytes.then(|| self.as_ref().len());
        Places { positions: Positions::new(self.as_ref()), bytes, joins: &self.joins }
    }
}

/// Turns byte offsets into positions; cheap in ascending order.
pub(super) struct Places<'t> {
    positions: Positions<'t>,
    /// The length of `bytes`, in which offsets stay as they are.
    bytes: Option<usize>,
    joins: &'t [usize],
}

impl<'t> Places<'t> {
    /// Positions in a text (WTF-8), in characters.
    pub(super) fn over(text: &'t [u8]) -> Self {
        Places { positions: Positions::new(text), bytes: None, joins: &[] }
    }

    /// The position of a byte of the core's text.
    pub(super) fn of(&mut self, byte: usize) -> Position {
        let mut position = self.positions.of(byte);
        let joined = self.joins.partition_point(|&end| end <= byte);
        match self.bytes {
            Some(len) => position.offset = byte.min(len) + 2 * joined,
            None => position.offset += joined,
        }
        position
    }
}

/// The number of characters, summed in runs that fit the lanes of a vector.
fn characters(text: &[u8]) -> usize {
    let runs = text.chunks(128);
    runs.map(|run| usize::from(run.iter().map(|&b| u8::from(b & 0xC0 != 0x80)).sum::<u8>())).sum()
}

/// Whether bytes hold surrogate halves as three bytes each; the place at which they are no UTF-8.
pub(super) fn surrogates_or_fault(bytes: &[u8]) -> Result<bool, usize> {
    let mut at = 0;
    let mut surrogates = false;
    loop {
        let Err(error) = std::str::from_utf8(bytes.get(at..).unwrap_or_default()) else {
            return Ok(surrogates);
        };
        at += error.valid_up_to();
        match bytes.get(at..at + 3) {
            Some([0xED, 0xA0..=0xBF, 0x80..=0xBF]) => at += 3,
            _ => return Err(at),
        }
        surrogates = true;
    }
}

/// Where surrogate halves of `split` are one character in `joined`: the bytes after them.
fn joined_at(split: &[u8], joined: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let (mut from, mut to) = (0, 0);
    while let (Some(&a), Some(&b)) = (split.get(from), joined.get(to)) {
        if a == 0xED && b >= 0xF0 {
            from += 6;
            to += 4;
            ends.push(to);
        } else {
            from += 1;
            to += 1;
        }
    }
    ends
}
