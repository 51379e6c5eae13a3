//! Places in a text as a reader counts them.

/// Where a byte stands, counted as a reader counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Characters before it.
    pub offset: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
}

/// Turns byte offsets into characters, lines and columns. Offsets that come in order cost one
/// pass over the text in all; an earlier one starts again.
pub struct Positions<'t> {
    text: &'t [u8],
    at: usize,
    position: Position,
}

impl<'t> Positions<'t> {
    /// Positions in a text (WTF-8).
    pub fn new(text: &'t [u8]) -> Self {
        Positions { text, at: 0, position: Position { offset: 0, line: 1, column: 1 } }
    }

    /// The position of a byte.
    pub fn of(&mut self, byte: usize) -> Position {
        if byte < self.at {
            *self = Positions::new(self.text);
        }
        let run = self.text.get(self.at..byte.min(self.text.len())).unwrap_or_default();
        let characters = |run: &[u8]| run.iter().filter(|&&b| b & 0xC0 != 0x80).count();
        self.position.offset += characters(run);
        self.position.line += memchr::memchr_iter(b'\n', run).count();
        self.position.column = match memchr::memrchr(b'\n', run) {
            Some(at) => 1 + characters(run.get(at + 1..).unwrap_or_default()),
            None => self.position.column + characters(run),
        };
        self.at += run.len();
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let text = "é\n漢字x\n".as_bytes();
        let mut positions = Positions::new(text);
        assert_eq!(positions.of(0), Position { offset: 0, line: 1, column: 1 });
        assert_eq!(positions.of(9), Position { offset: 4, line: 2, column: 3 });
        assert_eq!(positions.of(2), Position { offset: 1, line: 1, column: 2 });
        assert_eq!(positions.of(99), Position { offset: 6, line: 3, column: 1 });
    }
}
