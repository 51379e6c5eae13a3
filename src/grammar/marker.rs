//! The marker scanner, shared by the grammars.
//!
//! ```text
//! marker    = LABEL around separator wrapping value
//! around    = { space | emphasis }
//! separator = ":" | "=" | "：" | "＝"
//! wrapping  = { space | emphasis | quote }
//! emphasis  = "*" | "_" | "~" | "`"
//! quote     = '"' | "'" | "“" | "”"
//! ```
//!
//! Space is JavaScript's, line feeds included. A label needs no word boundary before it, and its
//! letters are ASCII in any case. A quote may not stand between label and separator, so that a key
//! of broken JSON is no label.
//!
//! The scan goes on behind each label. What is looked at behind it (space, emphasis, a value) holds
//! no label with a separator, so each byte is looked at a bounded number of times.

use super::quoted::Quoted;
use crate::target::space_at_start;

/// What a marker says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Vote {
    /// True for a pass.
    Verdict(bool),
    /// A score in [0, 1].
    Score(f64),
    /// A variant as written.
    Winner(u64),
}

impl Vote {
    /// True for a vote that refuses the text.
    pub(super) fn blocks(self) -> bool {
        match self {
            Vote::Verdict(passes) => !passes,
            Vote::Score(score) => score < 0.5,
            Vote::Winner(_) => false,
        }
    }
}

/// A label and how its value is read.
#[derive(Clone, Copy)]
pub(super) struct Label {
    /// The label in lower case.
    pub(super) word: &'static [u8],
    /// Reads the value behind separator and wrapping; None where there is no readable one.
    pub(super) value: fn(&mut Reader<'_>) -> Option<Vote>,
}

/// A place in a text, and how many bytes were looked at.
pub(super) struct Reader<'a> {
    text: &'a [u8],
    /// The next byte.
    pub(super) at: usize,
    /// Where the last label ends that a list of choices repeats; 0 without one.
    pub(super) listed: usize,
    steps: u64,
}

impl<'a> Reader<'a> {
    /// A reader at a place of a text.
    pub(super) fn new(text: &'a [u8], at: usize) -> Self {
        Reader { text, at, listed: 0, steps: 0 }
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// What was read from a place on.
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The next byte; 0 at the end.
    pub(super) fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// The byte `ahead` of the next one; 0 behind the end.
    pub(super) fn peek_at(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Goes on by some bytes.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
        self.steps += bytes as u64;
    }

    /// Takes these bytes, if they are next.
    pub(super) fn take(&mut self, bytes: &[u8]) -> bool {
        self.steps += 1;
        let found = self.rest().starts_with(bytes);
        if found {
            self.skip(bytes.len());
        }
        found
    }

    /// Takes a word (lower case) in any ASCII case, if it is next; more letters may follow.
    pub(super) fn word(&mut self, word: &[u8]) -> bool {
        self.steps += 1;
        let found = self.rest().get(..word.len()).is_some_and(|w| w.eq_ignore_ascii_case(word));
        if found {
            self.skip(word.len());
        }
        found
    }

    /// Takes bytes while they are of a kind, and says how many.
    pub(super) fn run(&mut self, kind: impl Fn(u8) -> bool) -> usize {
        let start = self.at;
        while self.at < self.text.len() && kind(self.peek()) {
            self.skip(1);
        }
        self.at - start
    }

    /// The length of the space that is next.
    fn space(&self, lines: bool) -> usize {
        let rest = self.rest();
        let ends_line = matches!(rest, [b'\n' | b'\r', ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..]);
        if ends_line && !lines { 0 } else { space_at_start(rest).unwrap_or(0) }
    }

    fn emphasis(&self) -> usize {
        usize::from(matches!(self.peek(), b'*' | b'_' | b'~' | b'`'))
    }

    fn quote(&self) -> usize {
        match self.rest() {
            [b'"' | b'\'', ..] => 1,
            [0xE2, 0x80, 0x9C | 0x9D, ..] => 3,
            _ => 0,
        }
    }

    fn around(&mut self) {
        loop {
            self.steps += 1;
            match self.space(true).max(self.emphasis()) {
                0 => return,
                bytes => self.skip(bytes),
            }
        }
    }

    /// Skips space, emphasis and quotes; `lines` says whether line ends count as space.
    pub(super) fn wrapping(&mut self, lines: bool) {
        loop {
            self.steps += 1;
            match self.space(lines).max(self.emphasis()).max(self.quote()) {
                0 => return,
                bytes => self.skip(bytes),
            }
        }
    }

    /// Takes what stands between a label and its value; false without a separator.
    pub(super) fn label_ends(&mut self) -> bool {
        self.around();
        let found = self.separator();
        self.wrapping(true);
        found
    }

    fn separator(&mut self) -> bool {
        let found = match self.rest() {
            [b':' | b'=', ..] => 1,
            [0xEF, 0xBC, 0x9A | 0x9D, ..] => 3,
            _ => 0,
        };
        self.skip(found);
        found > 0
    }
}

/// The markers of a text, in order.
pub(super) struct Markers<'a> {
    reader: Reader<'a>,
    labels: &'a [Label],
    keys: &'a [&'a str],
    /// Made for the first readable marker: most replies are JSON, or hold none.
    quoted: Option<Quoted<'a>>,
}

impl<'a> Markers<'a> {
    /// The markers of a text outside the objects that hold one of the keys.
    pub(super) fn new(text: &'a [u8], labels: &'a [Label], keys: &'a [&'a str]) -> Self {
        Markers { reader: Reader::new(text, 0), labels, keys, quoted: None }
    }
}

impl Iterator for Markers<'_> {
    type Item = Vote;

    fn next(&mut self) -> Option<Vote> {
        let text = self.reader.text;
        while self.reader.at < text.len() {
            let start = self.reader.at;
            let first = self.reader.peek().to_ascii_lowercase();
            let label = self.labels.iter().find(|label| label.word.first() == Some(&first));
            let Some(label) = label.filter(|label| self.reader.word(label.word)) else {
                self.reader.skip(1);
                continue;
            };
            let behind = self.reader.at;
            let vote =
                if self.reader.label_ends() { (label.value)(&mut self.reader) } else { None };
            let next = behind.max(std::mem::take(&mut self.reader.listed));
            let end = std::mem::replace(&mut self.reader.at, next);
            if let Some(vote) = vote
                && !is_report_line(text, start, behind)
            {
                let quoted = self.quoted.get_or_insert_with(|| Quoted::new(text, self.keys));
                if quoted.counts(start, end, vote) {
                    return Some(vote);
                }
            }
        }
        None
    }
}

/// Whether a label is that of the report's own last line (`Combined score: 0.667`), which a judge
/// may repeat: it is no vote.
fn is_report_line(text: &[u8], label: usize, behind: usize) -> bool {
    let written = text.get(label..behind) == Some(b"score");
    let digits = |part: Option<&[u8]>| part.is_some_and(|p| p.iter().all(u8::is_ascii_digit));
    written
        && text[..label].ends_with(b"Combined ")
        && text.get(behind..behind + 2) == Some(b": ")
        && digits(text.get(behind + 2..behind + 3))
        && text.get(behind + 3) == Some(&b'.')
        && digits(text.get(behind + 4..behind + 7))
        && !text.get(behind + 7).is_some_and(u8::is_ascii_digit)
}

/// The bytes that the marker scan of a text looks at, each time that it does, for the grammar that
/// has the most markers.
pub fn marker_steps(text: &[u8]) -> u64 {
    [super::judge::LABELS, super::winner::LABELS]
        .map(|labels| {
            let mut markers = Markers::new(text, labels, &[]);
            markers.by_ref().for_each(drop);
            markers.reader.steps
        })
        .into_iter()
        .max()
        .unwrap_or(0)
}
