//! A text as words, numbers, marks and line ends.

use std::cell::Cell;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// Digits alone.
    Digits,
    Mark(char),
    Line,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where its folded text stands.
    folded: (usize, usize),
    /// Space stands before it.
    pub(super) spaced: bool,
    /// It stands in a fence.
    pub(super) fenced: bool,
    /// It stands between double quotes, which may be lines apart.
    quoted: bool,
    /// Its line is a block quote's.
    block_quoted: bool,
}

/// The tokens of a text, and how often one was looked at.
pub(super) struct Tokens<'t> {
    pub(super) text: &'t [u8],
    list: Vec<Token>,
    folded: String,
    steps: Cell<u64>,
}

const SPLIT: [&str; 3] = ["verdict", "score", "winner"];

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Letter,
    Cjk,
    Digit,
    Space,
    Line,
    Mark,
}

fn class(c: char) -> Class {
    match c {
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => Class::Line,
        '0'..='9' | '０'..='９' => Class::Digit,
        'a'..='z' | 'A'..='Z' | '\u{335}'..='\u{338}' => Class::Letter,
        _ if c.is_ascii() && !c.is_ascii_whitespace() => Class::Mark,
        _ if crate::text::is_js_space(c) || matches!(c, '\u{FE0F}' | '\u{200D}' | '\u{20E3}') => {
            Class::Space
        }
        '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}'
            if c.is_alphanumeric() =>
        {
            Class::Cjk
        }
        _ if c.is_alphanumeric() => Class::Letter,
        _ => Class::Mark,
    }
}

/// ASCII and full-width letters in any case, others in lower case; none becomes an ASCII letter.
fn fold_into(out: &mut String, c: char) {
    match c {
        'Ａ'..='Ｚ' | 'ａ'..='ｚ' | '０'..='９' => {
            let ascii = char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c);
            out.push(ascii.to_ascii_lowercase());
        }
        _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
        '\u{2019}' => out.push('\''),
        _ => {
            let start = out.len();
            out.extend(c.to_lowercase());
            if out[start..].starts_with(|c: char| c.is_ascii()) {
                out.truncate(start);
                out.push(c);
            }
        }
    }
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        let mut tokens =
            Tokens { text, list: Vec::new(), folded: String::new(), steps: Cell::new(0) };
        tokens.read();
        tokens.mark_fences();
        tokens.mark_quotes();
        tokens
    }

    /// Marks what stands between an opening and a closing double quote.
    fn mark_quotes(&mut self) {
        let (mut open, mut line): (Option<usize>, Option<bool>) = (None, None);
        for at in 0..self.list.len() {
            // The first mark of a line makes it a block quote.
            line = match self.list[at].kind {
                Kind::Line => None,
                kind => line.or(Some(kind == Kind::Mark('>'))),
            };
            self.list[at].block_quoted = line == Some(true);
            let Kind::Mark(c) = self.list[at].kind else { continue };
            open = match (open, c) {
                (None, '"' | '“') => Some(at),
                (Some(from), '"' | '”') => {
                    self.list[from..at].iter_mut().for_each(|token| token.quoted = true);
                    None
                }
                (open, _) => open,
            };
        }
    }

    pub(super) fn in_block_quote(&self, index: usize) -> bool {
        self.get(index).is_some_and(|token| token.block_quoted)
    }

    pub(super) fn in_quotes(&self, index: usize) -> bool {
        self.get(index).is_some_and(|token| token.quoted)
    }

    fn read(&mut self) {
        let text = self.text;
        let (mut at, mut spaced) = (0, true);
        while at < text.len() {
            let (c, bytes) = char_at(text, at);
            let kind = class(c);
            let start = at;
            at += bytes;
            if kind == Class::Space {
                spaced = true;
                continue;
            }
            let folded = self.folded.len();
            let token = match kind {
                Class::Line => {
                    // A carriage return before a line feed is part of it.
                    if c == '\r' && text.get(at) == Some(&b'\n') {
                        at += 1;
                    }
                    Kind::Line
                }
                Class::Mark => Kind::Mark(c),
                _ => {
                    fold_into(&mut self.folded, c);
                    while at < text.len() {
                        let (c, bytes) = char_at(text, at);
                        let apostrophe = kind == Class::Letter
                            && matches!(c, '\'' | '\u{2019}')
                            && text.get(at + bytes).is_some_and(u8::is_ascii_alphabetic);
                        if class(c) != kind && !apostrophe {
                            break;
                        }
                        fold_into(&mut self.folded, c);
                        at += bytes;
                    }
                    if kind == Class::Digit { Kind::Digits } else { Kind::Word }
                }
            };
            self.push(token, start, at, folded, spaced);
            spaced = token == Kind::Line;
        }
        self.steps.set(self.list.len() as u64 + text.len() as u64);
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize, folded: usize, spaced: bool) {
        let word = &self.folded[folded..];
        // Only these are words by themselves: `gewinner` is one word.
        let leads = |head: &str| matches!(head, "my" | "the" | "final" | "myfinal" | "overall");
        let glued = (kind == Kind::Word && word.is_ascii() && word.len() == end - start)
            .then(|| SPLIT.iter().find(|label| word.strip_suffix(**label).is_some_and(leads)))
            .flatten();
        let token = Token {
            kind,
            start,
            end,
            folded: (folded, self.folded.len()),
            spaced,
            fenced: false,
            quoted: false,
            block_quoted: false,
        };
        match glued {
            // `MYVERDICT` is `my verdict`.
            Some(label) => {
                let (cut, middle) = (end - label.len(), token.folded.1 - label.len());
                self.list.push(Token { end: cut, folded: (folded, middle), ..token });
                self.list.push(Token {
                    start: cut,
                    folded: (middle, token.folded.1),
                    spaced: false,
                    ..token
                });
            }
            None => self.list.push(token),
        }
    }

    /// Marks what stands between lines of three back-ticks or tildes.
    fn mark_fences(&mut self) {
        let (mut open, mut run) = (None, 0usize);
        let mut index = 0;
        while index < self.list.len() {
            let fence = |token: Option<&Token>| match token.map(|t| t.kind) {
                Some(Kind::Mark(c @ ('`' | '~'))) => Some(c),
                _ => None,
            };
            let c = fence(self.list.get(index));
            run = if c.is_some() && index > 0 && fence(self.list.get(index - 1)) == c {
                run + 1
            } else {
                usize::from(c.is_some())
            };
            let starts = index < 3 || {
                let before = &self.list[index - 3];
                before.kind == Kind::Line
            };
            if run == 3 && starts && c.is_some() {
                open = if open == c { None } else { open.or(c) };
            }
            self.list[index].fenced = open.is_some();
            index += 1;
        }
        // A fence that never closes is none.
        if open.is_some() {
            for token in self.list.iter_mut().rev().take_while(|token| token.fenced) {
                token.fenced = false;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<&Token> {
        self.steps.set(self.steps.get() + 1);
        self.list.get(index)
    }

    pub(super) fn kind(&self, index: usize) -> Option<Kind> {
        self.get(index).map(|token| token.kind)
    }

    /// The folded text of a word or digits; empty for others.
    pub(super) fn word(&self, index: usize) -> &str {
        let span = self.get(index).map_or((0, 0), |token| token.folded);
        &self.folded[span.0..span.1]
    }

    pub(super) fn is_word(&self, index: usize) -> bool {
        self.kind(index) == Some(Kind::Word)
    }

    pub(super) fn mark(&self, index: usize) -> Option<char> {
        match self.kind(index)? {
            Kind::Mark(c) => Some(c),
            _ => None,
        }
    }

    /// The first token that starts at a place or behind it.
    pub(super) fn from(&self, at: usize) -> usize {
        self.list.partition_point(|token| token.start < at)
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// The bytes of a token.
    pub(super) fn bytes(&self, index: usize) -> &'t [u8] {
        self.get(index).map_or(b"", |token| &self.text[token.start..token.end])
    }

    /// The text between the tokens of a range.
    pub(super) fn end_of(&self, index: usize) -> usize {
        self.get(index).map_or(self.text.len(), |token| token.end)
    }

    pub(super) fn start_of(&self, index: usize) -> usize {
        self.get(index).map_or(self.text.len(), |token| token.start)
    }

    /// A phrase of up to `most` words from here on, joined by space, emphasis, `_` and `-`: its
    /// text and where it ends, for each number of words.
    pub(super) fn phrases(&self, from: usize, to: usize, most: usize) -> Vec<(String, usize)> {
        let mut found: Vec<(String, usize)> = Vec::new();
        let mut at = from;
        let mut text = String::new();
        while found.len() < most && at < to && self.is_word(at) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(self.word(at));
            at += 1;
            // `**PASS**ED` is one word.
            let mut next = at;
            while next < to
                && next < at + 4
                && matches!(self.mark(next), Some('*' | '_' | '~' | '`'))
            {
                next += 1;
            }
            let glued = next > at
                && !self.get(next).is_some_and(|t| t.spaced)
                && matches!(self.word(next), "ed");
            if glued && !(at..next).any(|i| self.get(i).is_some_and(|t| t.spaced)) && next < to {
                text.push_str(self.word(next));
                at = next + 1;
            }
            found.push((text.clone(), at));
            let mut next = at;
            while next < to
                && next < at + 6
                && matches!(
                    self.mark(next),
                    Some('*' | '_' | '~' | '`' | '-' | '"' | '\'' | '“' | '”')
                )
            {
                next += 1;
            }
            at = next;
        }
        found
    }
}

/// The character at a place and its bytes; a lone surrogate half is U+FFFD.
fn char_at(text: &[u8], at: usize) -> (char, usize) {
    let rest = &text[at..];
    let first = rest.first().copied().unwrap_or(0);
    if first.is_ascii() {
        return (char::from(first), 1);
    }
    let bytes = match first {
        0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    let bytes = bytes.min(rest.len());
    let text = std::str::from_utf8(&rest[..bytes]).ok();
    (text.and_then(|text| text.chars().next()).unwrap_or('\u{FFFD}'), bytes)
}
