//! Lists of choices: the form of an answer, which an instruction shows and a reply may repeat.
//!
//! ```text
//! list   = value joint choice { joint choice }
//! joint  = marks [ "or" marks ] [ label separator ]
//! marks  = { what is no letter and no digit }
//! bar    = "|" | "/" | "\" | "｜" | "／" | "│" | "¦" | … | "&#124;"
//! ```
//!
//! A bar on the same line makes a list of any two choices (`PASS|BLOCK`), and so does `or`; the
//! label may be repeated (`VERDICT: BLOCK or VERDICT: PASS`). Other marks, a line feed among them,
//! take only a vote that passes from a choice that blocks (`PASS, BLOCK`, `PASS -> BLOCK`), and
//! only where that choice is a whole item: text behind a value is no choice.

use super::marker::Reader;

/// Words that join choices.
const OR: [&[u8]; 6] = [b"or", b"xor", b"vs", b"versus", b"oder", b"ou"];
const OR_OTHER: [&str; 4] = ["或者", "或", "または", "или"];

/// Words that, like a comma, take only a vote that passes.
const WEAK: [&[u8]; 7] = [b"and", b"und", b"et", b"y", b"then", b"but", b"nor"];

/// Items looked at behind a value.
const ITEMS: usize = 16;

/// What stands between a value and what may be another choice.
#[derive(Clone, Copy, Default)]
pub(super) struct Joint {
    /// A bar.
    pub(super) bar: bool,
    /// A word for `or`.
    pub(super) or: bool,
    /// A line end.
    pub(super) lines: bool,
    /// A comma, dash or dots: the marks of a list or range of numbers.
    range: bool,
    /// Another word that joins, such as `to`.
    spelled: bool,
    /// A mark that ends a thought: a colon, a single point.
    ends: bool,
    /// Where the repeated label ends; 0 without one.
    pub(super) label: usize,
}

impl Joint {
    /// Whether there is more between two items than space and emphasis.
    fn joins(self) -> bool {
        self.bar || self.or || self.spelled || self.range
    }
}

impl Reader<'_> {
    /// The next character and its bytes; a lone surrogate is U+FFFD.
    fn char(&self) -> Option<(char, usize)> {
        let rest = self.rest();
        let first = *rest.first()?;
        if first.is_ascii() {
            return Some((char::from(first), 1));
        }
        let bytes = match first {
            0..0xE0 => 2,
            0xE0..0xF0 => 3,
            _ => 4,
        };
        let text = rest.get(..bytes).and_then(|bytes| std::str::from_utf8(bytes).ok());
        Some((text.and_then(|text| text.chars().next()).unwrap_or('\u{FFFD}'), bytes))
    }

    /// Takes what is no letter and no digit; without `lines` up to the end of the line.
    pub(super) fn marks(&mut self, joint: &mut Joint, lines: bool) {
        let mut points = 0;
        while let Some((c, bytes)) = self.char() {
            if matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}') {
                if !lines {
                    break;
                }
                joint.lines = true;
            } else if is_bar(c) {
                joint.bar = true;
            } else if c == '&' && (self.take(b"&#124;") || self.take(b"&vert;")) {
                joint.bar = true;
                continue;
            } else if c.is_alphanumeric() {
                break;
            } else {
                match c {
                    ',' | ';' | '，' | '、' | '-' | '–' | '—' | '−' | '～' | '…' | '‥' | '·'
                    | '•' | '→' => {
                        joint.range = true;
                    }
                    '.' => points += 1,
                    ':' | '=' | '：' | '＝' | '!' | '?' => joint.ends = true,
                    _ => {}
                }
            }
            self.skip(bytes);
        }
        joint.range |= points > 1;
        joint.ends |= points == 1;
    }

    /// Takes one of these words, if no letter or digit follows.
    pub(super) fn one_of(&mut self, words: &[&[u8]]) -> bool {
        let start = self.at;
        let rest = self.rest();
        let starts = |word: &&&[u8]| {
            let next = rest.get(..word.len());
            next.is_some_and(|next| next.eq_ignore_ascii_case(word))
        };
        for word in words.iter().filter(starts) {
            self.skip(word.len());
            if !self.char().is_some_and(|(c, _)| c.is_alphanumeric()) {
                return true;
            }
            self.at = start;
        }
        false
    }

    /// Takes a word for `or`.
    fn or(&mut self) -> bool {
        self.one_of(&OR)
            || (!self.peek().is_ascii() && OR_OTHER.iter().any(|word| self.take(word.as_bytes())))
    }

    /// Takes a joint; a label is repeated only on the same line, behind more than space.
    pub(super) fn joint(&mut self, label: &[u8], words: &[&[u8]]) -> Joint {
        let mut joint = Joint::default();
        self.marks(&mut joint, true);
        for _ in 0..3 {
            let (start, before) = (self.at, joint);
            if self.or() {
                joint.or = true;
            } else if self.one_of(words) {
                joint.spelled = true;
            } else if self.one_of(&[b"and"]) {
                // `and/or` joins choices, `and` alone does not.
                let mut behind = Joint::default();
                self.marks(&mut behind, false);
                joint.bar |= behind.bar;
                if !behind.bar {
                    (self.at, joint) = (start, before);
                    break;
                }
            } else {
                break;
            }
            self.marks(&mut joint, true);
        }
        let start = self.at;
        if joint.joins() && (joint.or || !joint.lines) && !label.is_empty() && self.word(label) {
            joint.label = self.at;
            if self.label_ends() {
                self.marks(&mut Joint::default(), false);
            } else {
                (self.at, joint.label) = (start, 0);
            }
        }
        joint
    }

    /// Takes a note in brackets on the same line, if it is next.
    fn note(&mut self) -> bool {
        let start = self.at;
        self.wrapping(false);
        let closer = match self.peek() {
            b'(' => b')',
            b'[' => b']',
            _ => 0,
        };
        self.skip(usize::from(closer > 0));
        // `PASS (or) BLOCK` is a joint.
        if closer > 0 && !self.or() {
            let mut before = 0;
            while let Some((c, bytes)) = self.char() {
                if self.peek() == closer {
                    self.skip(1);
                    return true;
                }
                if stops(c, before) {
                    break;
                }
                before = self.peek();
                self.skip(bytes);
            }
        }
        self.at = start;
        false
    }

    /// Whether a word that was taken is a whole item, not the start of a sentence or a longer word.
    fn whole(&mut self) -> bool {
        let start = self.at;
        let joined = matches!(self.peek(), b'-' | b'\'') && self.peek_at(1).is_ascii_alphanumeric();
        self.wrapping(false);
        let ends = match self.char() {
            None => true,
            Some((c, _)) if c.is_alphanumeric() => {
                self.or()
                    || self.one_of(&CONDITIONS)
                    || self.one_of(&[b"otherwise", b"else", b"and", b"to"])
            }
            Some((c, _)) => !matches!(c, ':' | '=' | '：' | '＝'),
        };
        self.at = start;
        ends && !joined
    }

    /// Takes the words of a choice in a list that is no verdict: one to three.
    fn other(&mut self) -> bool {
        let start = self.at;
        let mut end = start;
        for _ in 0..3 {
            if !self.peek().is_ascii_alphanumeric() || self.or() {
                break;
            }
            self.run(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
            end = self.at;
            self.run(|b| b == b' ');
        }
        self.at = end;
        end > start
    }
}

const CONDITIONS: [&[u8]; 9] =
    [b"if", b"when", b"unless", b"only", b"should", b"provided", b"where", b"for", b"means"];

/// Choices of an instruction that neither pass nor block.
const DOUBTS: [&[u8]; 8] = [
    b"unsure",
    b"undecided",
    b"uncertain",
    b"unknown",
    b"unclear",
    b"maybe",
    b"abstain",
    b"inconclusive",
];

/// A bar of any width; `/` and `\` count as one.
fn is_bar(c: char) -> bool {
    matches!(
        c,
        '|' | '/'
            | '\\'
            | '¦'
            | 'ǀ'
            | 'ǁ'
            | '‖'
            | '⁄'
            | '∕'
            | '∣'
            | '∥'
            | '⏐'
            | '│'
            | '┃'
            | '║'
            | '❘'
            | '⧸'
            | '︱'
            | '／'
            | '＼'
            | '｜'
            | '￤'
            | '￨'
    )
}

/// Where a look at the text behind a value ends: at the end of its line, and at the separator of
/// another label, so that no byte is looked at for two of them. `<=` and the like are none.
fn stops(c: char, before: u8) -> bool {
    match c {
        '\n' | '\r' | '\u{2028}' | '\u{2029}' | ':' | '：' | '＝' => true,
        '=' => !matches!(before, b'<' | b'>' | b'!' | b'='),
        _ => false,
    }
}

/// Reads a verdict word and whether it passes.
type Word = fn(&mut Reader<'_>) -> Option<bool>;

/// Whether the verdict that was taken is one of a list of choices.
pub(super) fn of_verdicts(reader: &mut Reader<'_>, label: &[u8], passes: bool, word: Word) -> bool {
    let start = reader.at;
    if listed(reader, label, passes, word, true) {
        return true;
    }
    reader.at = start;
    if reader.note() && listed(reader, label, passes, word, false) {
        return true;
    }
    reader.at = start;
    conditional(reader, label, passes, word)
}

/// Whether a bar and another verdict follow on the same line.
pub(super) fn barred(reader: &mut Reader<'_>, word: Word) -> bool {
    let joint = reader.joint(b"", &[]);
    joint.bar && !joint.lines && (reader.one_of(&[b"not", b"do not"]) || word(reader).is_some())
}

fn listed(reader: &mut Reader<'_>, label: &[u8], passes: bool, word: Word, adjacent: bool) -> bool {
    let (mut first, mut labels, mut apart, mut repeats) = (adjacent, 0, false, 0);
    for _ in 0..ITEMS {
        let joint = reader.joint(label, &[]);
        if apart && !joint.lines {
            return false;
        }
        labels = labels.max(joint.label);
        let (at, beside) = (reader.at, joint.bar && !joint.lines);
        let strong = joint.bar || joint.or;
        if let Some(other) = word(reader) {
            let list = if first && beside {
                true
            } else if strong {
                reader.item(joint.lines, word)
            } else if joint.label > 0 {
                passes != other && reader.whole()
            } else {
                passes && !other && reader.item(joint.lines, word)
            };
            // Of `VERDICT: PASS, VERDICT: BLOCK` the last one still counts.
            if list && (strong || !passes) {
                rest_of_list(reader, label, labels, word);
            }
            return list;
        }
        reader.at = at;
        if first && passes && reader.one_of(&WEAK) {
            reader.marks(&mut Joint::default(), false);
            if word(reader) == Some(false) && reader.whole() {
                return true;
            }
            reader.at = at;
        }
        if first && beside && reader.one_of(&[b"not", b"do not"]) {
            return true;
        }
        if reader.one_of(&DOUBTS) {
            if strong && reader.item(joint.lines, word) {
                rest_of_list(reader, label, labels, word);
                return true;
            }
        } else {
            // Any few words, between two joints of a list; over lines each on its own.
            apart = joint.lines;
            let shown = strong || joint.lines || (joint.range && !joint.ends);
            repeats += u32::from(joint.label > 0);
            if repeats > 2 || !shown || !reader.other() {
                return false;
            }
            let capitals = !reader.since(at).iter().any(u8::is_ascii_lowercase);
            reader.note();
            if (apart && !strong && !capitals) || !reader.joins_follow() {
                return false;
            }
            first = false;
            continue;
        }
        reader.note();
        first = false;
    }
    false
}

/// Takes what is left of a list, so that no label in it gives a vote of its own.
fn rest_of_list(reader: &mut Reader<'_>, label: &[u8], mut labels: usize, word: Word) {
    for _ in 0..ITEMS {
        reader.note();
        let joint = reader.joint(label, &[]);
        if joint.lines || !(joint.bar || joint.or) {
            break;
        }
        if word(reader).is_none() && !reader.one_of(&DOUBTS) {
            break;
        }
        labels = labels.max(joint.label);
    }
    reader.listed = reader.listed.max(labels);
}

impl Reader<'_> {
    /// Whether the rest of the line holds choices and marks alone.
    fn line_of_choices(&mut self, word: Word) -> bool {
        let start = self.at;
        let only = loop {
            match self.char() {
                None | Some(('\n' | '\r' | '\u{2028}' | '\u{2029}', _)) => break true,
                Some((':' | '=' | '：' | '＝', _)) => break false,
                Some((c, bytes)) if !c.is_alphanumeric() => {
                    if !self.note() {
                        self.skip(bytes);
                    }
                    continue;
                }
                Some(_) => {}
            }
            if !(self.or() || self.one_of(&DOUBTS) || word(self).is_some()) {
                break false;
            }
        };
        self.at = start;
        only
    }

    fn joins_follow(&mut self) -> bool {
        let start = self.at;
        let joint = self.joint(b"", &[]);
        self.at = start;
        joint.or || ((joint.joins() || joint.lines) && !joint.ends)
    }

    /// Whether a choice that was taken is a whole item, or the whole rest of its line.
    fn item(&mut self, line: bool, word: Word) -> bool {
        if line { self.line_of_choices(word) } else { self.whole() }
    }
}

/// Whether a condition follows and then the other choice, on the same line: `PASS if it builds,
/// otherwise BLOCK`. A vote that blocks stays one, unless the label is repeated.
fn conditional(reader: &mut Reader<'_>, label: &[u8], passes: bool, word: Word) -> bool {
    reader.wrapping(false);
    if !reader.one_of(&CONDITIONS) {
        return false;
    }
    let (mut joined, mut before) = (false, 0);
    while let Some((c, bytes)) = reader.char() {
        if stops(c, before) {
            break;
        }
        if !c.is_alphanumeric() {
            joined |= is_bar(c)
                || matches!(c, ',' | ';' | '，' | '、' | '→' | '·' | '•')
                || (before == b' ' && matches!(c, '-' | '–' | '—'));
            before = reader.peek();
            reader.skip(bytes);
            continue;
        }
        before = 0;
        if reader.or() || reader.one_of(&[b"otherwise", b"else"]) {
            joined = true;
            continue;
        }
        if joined && other_choice(reader, label, passes, word) {
            return true;
        }
        joined = false;
        reader.skip(bytes);
        reader.run(|b| b.is_ascii_alphanumeric());
    }
    reader.joint(b"", &[]).lines && other_choice(reader, b"", passes, word)
}

/// Whether the other choice is next. A vote that blocks stays one, unless the label is repeated
/// for one that passes.
fn other_choice(reader: &mut Reader<'_>, label: &[u8], passes: bool, word: Word) -> bool {
    let start = reader.at;
    let labels = if !label.is_empty() && reader.word(label) { reader.at } else { 0 };
    let found = (labels == 0 || reader.label_ends())
        && word(reader).is_some_and(|other| other != passes)
        && passes == (labels == 0)
        && reader.whole();
    if found {
        reader.listed = labels;
    } else {
        reader.at = start;
    }
    found
}

/// Whether the number that was taken is one of a list or the start of a range, as in `0 or 1`,
/// `1|2|3`, `1 to 5`, `1-N`. `first` says whether such a list may start with it; behind `or` any
/// may.
pub(super) fn of_numbers(
    reader: &mut Reader<'_>,
    label: &[u8],
    first: bool,
    words: &[&[u8]],
) -> bool {
    let start = reader.at;
    reader.note();
    let joint = reader.joint(label, &[b"to", b"through", b"thru", b"until"]);
    let joins = joint.or || (first && (joint.bar || joint.spelled || joint.range));
    // Of `SCORE: 1, SCORE: 0.2` the last one counts.
    let marked = joint.label > 0 && !(joint.bar || joint.or || joint.spelled);
    let joins = joins && !marked && !joint.ends && (!joint.lines || joint.bar || joint.or);
    let found = joins && reader.number(words) && (joint.spelled || reader.whole());
    if found && joint.label > 0 {
        reader.listed = reader.listed.max(joint.label);
    }
    reader.at = start;
    found
}

impl Reader<'_> {
    /// Takes a number of a list, or the letter of the last one.
    fn number(&mut self, words: &[&[u8]]) -> bool {
        if words.iter().any(|word| self.word(word)) {
            self.wrapping(false);
        }
        self.take(b"#");
        if self.one_of(&[b"n", b"k"]) {
            return true;
        }
        let digits = self.run(|b| b.is_ascii_digit());
        if matches!(self.peek(), b'.' | b',') && self.peek_at(1).is_ascii_digit() {
            self.skip(1);
            self.run(|b| b.is_ascii_digit());
        }
        if self.peek() == b'/' && self.peek_at(1).is_ascii_digit() {
            self.skip(1);
            self.run(|b| b.is_ascii_digit());
        }
        self.take(b"%");
        digits > 0 && !self.peek().is_ascii_alphanumeric()
    }
}
