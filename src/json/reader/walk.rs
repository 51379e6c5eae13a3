//! A walk ahead: what the text behind a quote reads like if the quote closes its string.
//!
//! The walk reads tokens against the containers that are really open, to the end of the document
//! or to the first thing that has no place there. It takes the strings on its way to end at the
//! first quote that fits, and counts what it had to put up with. Where it passes the end of a
//! string that an earlier walk passed at the same depth it takes over what that one found, so
//! that the walks of a text read it about twice in all.

use super::super::document::Kind;
use super::super::strict::ROOT;
use super::parser::Parser;
use super::peek::{Key, Next, Token};
use super::quote::{Inside, Quote, Role, closing, next_of_interest};
use super::state::{State, Stop, closer_of};
use super::verdict::{End, Fit, Verdict, Walked};
use super::words::{is_scalar, literal, run};

/// The containers that are open at a place of a walk.
#[derive(Debug)]
pub(super) struct Stack {
    /// The innermost one of those that are really open.
    base: u32,
    /// The closers of those that the walk opened.
    own: Vec<u8>,
    depth: u32,
}

impl Stack {
    pub(super) fn of(state: &State) -> Stack {
        let depth = u32::try_from(state.depth).unwrap_or(u32::MAX);
        Stack { base: state.parent, own: Vec::new(), depth }
    }

    pub(super) fn top(&self, state: &State) -> Option<u8> {
        self.own.last().copied().or_else(|| state.nodes.get(self.base as usize).map(closer_of))
    }

    pub(super) fn outer(&self, state: &State) -> Option<u8> {
        let base = state.nodes.get(self.base as usize);
        match self.own.len() {
            0 => state.nodes.get(base?.next as usize).map(closer_of),
            1 => base.map(closer_of),
            n => self.own.get(n - 2).copied(),
        }
    }

    fn pop(&mut self, state: &State) {
        if self.own.pop().is_none() {
            self.base = state.nodes.get(self.base as usize).map_or(ROOT, |n| n.next);
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn is_empty(&self) -> bool {
        self.own.is_empty() && self.base == ROOT
    }

    /// True where some container that is open has this closer.
    pub(super) fn has(&self, closer: u8, state: &mut State) -> bool {
        if self.own.contains(&closer) {
            return true;
        }
        let mut index = self.base;
        while let Some(node) = state.nodes.get(index as usize) {
            if closer_of(node) == closer {
                return true;
            }
            index = node.next;
            state.steps += 1;
        }
        false
    }

    pub(super) fn role(&self, state: &State) -> Role {
        let object = match self.own.last() {
            Some(&closer) => Some(closer == b'}'),
            None => state.nodes.get(self.base as usize).map(|n| n.kind == Kind::Object),
        };
        match object {
            Some(true) => Role::Member,
            Some(false) => Role::Element,
            None => Role::Root,
        }
    }
}

/// Where a walk stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    After,
    Key,
    Value,
}

/// A walk under way.
struct Walk {
    at: usize,
    step: Step,
    stack: Stack,
    /// A container was closed that was open before the walk.
    left: bool,
    bad: u32,
    ends: Vec<(usize, u32, u32)>,
}

impl Parser<'_> {
    /// Walks from the place behind a string that ends at `quote`.
    pub(super) fn walk(&mut self, quote: usize, from: usize, step: Step) -> Result<Verdict, Stop> {
        let depth = u32::try_from(self.depth).unwrap_or(u32::MAX);
        if step == Step::After
            && let Some(known) = self.memo.walks.known(quote, depth)
        {
            return Ok(known);
        }
        let stack = Stack::of(self);
        let mut walk =
            Walk { at: from, step, stack, left: false, bad: 0, ends: vec![(quote, depth, 0)] };
        loop {
            self.steps += 1;
            if self.steps > self.budget {
                return Err(Stop::Budget);
            }
            let stepped = match walk.step {
                Step::After => self.walk_after(&mut walk),
                Step::Key => self.walk_key(&mut walk),
                Step::Value => self.walk_value(&mut walk),
            };
            let ended = match stepped {
                Ok(ended) => ended,
                Err(Stop::More) => {
                    // Walked again when there is a quarter more to walk over.
                    let walked = self.text.len().saturating_sub(from);
                    return Err(self.wait_for(|_| false, self.text.len() + walked / 4 + 1));
                }
                Err(stop) => return Err(stop),
            };
            let Some((verdict, merged)) = ended else { continue };
            if !merged && step == Step::After {
                self.memo.walks.keep(Walked { ends: walk.ends, verdict });
            }
            return Ok(verdict);
        }
    }

    /// Behind a value.
    fn walk_after(&mut self, walk: &mut Walk) -> Result<Option<(Verdict, bool)>, Stop> {
        if walk.stack.is_empty() {
            let stray = self.goes_on_behind(walk.at)?;
            return Ok(Some(walk.ends(if stray { End::Broken } else { End::Fine })));
        }
        let next = self.peek(walk.at)?;
        let object = walk.stack.role(self) == Role::Member;
        match next.token {
            Token::End | Token::Stop => return Ok(Some(walk.ends(End::Fine))),
            Token::Comma(len) => {
                walk.at = next.at + len;
                walk.step = if object { Step::Key } else { Step::Value };
            }
            Token::Close(closer) => return Ok(self.walk_close(walk, next.at, closer)),
            Token::Quote(..) | Token::Word if object && next.at > walk.at => {
                if self.key_at(next.at)? == Key::No {
                    return Ok(Some(walk.fault()));
                }
                walk.step = Step::Key;
            }
            Token::Quote(Quote::Double, _) | Token::Open(b'{' | b'[') if !object => {
                walk.step = Step::Value;
            }
            Token::Word if !object && next.at > walk.at => walk.step = Step::Value,
            _ => return Ok(Some(walk.fault())),
        }
        Ok(None)
    }

    /// A closer.
    fn walk_close(&mut self, walk: &mut Walk, at: usize, closer: u8) -> Option<(Verdict, bool)> {
        if walk.stack.top(self) != Some(closer) {
            if !walk.stack.has(closer, self) {
                return Some(walk.ends(End::Broken));
            }
            walk.bad += 1;
            while walk.stack.top(self) != Some(closer) {
                walk.left |= walk.stack.own.is_empty();
                walk.stack.pop(self);
            }
        }
        walk.left |= walk.stack.own.is_empty();
        walk.stack.pop(self);
        walk.at = at + 1;
        walk.step = Step::After;
        None
    }

    fn walk_key(&mut self, walk: &mut Walk) -> Result<Option<(Verdict, bool)>, Stop> {
        let next = self.peek(walk.at)?;
        match next.token {
            Token::End | Token::Stop => return Ok(Some(walk.ends(End::Fine))),
            Token::Close(_) => {
                walk.at = next.at;
                walk.step = Step::After;
            }
            Token::Comma(len) => walk.at = next.at + len,
            Token::Quote(..) | Token::Word => match self.key_at(next.at)? {
                Key::Cut => return Ok(Some(walk.ends(End::Fine))),
                Key::No => return self.walk_odd_key(walk, next),
                Key::Yes => {
                    walk.at = self.memo.colon;
                    walk.step = Step::Value;
                }
            },
            _ => return Ok(Some(walk.fault())),
        }
        Ok(None)
    }

    /// What stands for a key, though no colon follows: words before a key, a key without its colon.
    fn walk_odd_key(
        &mut self,
        walk: &mut Walk,
        next: Next,
    ) -> Result<Option<(Verdict, bool)>, Stop> {
        let Token::Word = next.token else { return Ok(Some(walk.fault())) };
        if let Some(key) = self.word_before_key(next.at)? {
            walk.at = key;
        } else if let Some(value) = self.key_and_string(next.at)? {
            walk.at = value;
            walk.step = Step::Value;
        } else {
            return Ok(Some(walk.fault()));
        }
        Ok(None)
    }

    fn walk_value(&mut self, walk: &mut Walk) -> Result<Option<(Verdict, bool)>, Stop> {
        let next = self.peek(walk.at)?;
        walk.at = next.at;
        let object = walk.stack.role(self) == Role::Member;
        match next.token {
            Token::End | Token::Stop => return Ok(Some(walk.ends(End::Fine))),
            Token::Open(opener) => {
                if walk.stack.depth as usize >= self.max_depth {
                    return Err(Stop::TooDeep);
                }
                let closer = match opener {
                    b'{' => b'}',
                    b'[' => b']',
                    _ => b')',
                };
                walk.stack.own.push(closer);
                walk.stack.depth += 1;
                walk.at += 1;
                walk.step = if opener == b'{' { Step::Key } else { Step::Value };
            }
            Token::Close(_) => {
                walk.bad += u32::from(object);
                walk.step = Step::After;
            }
            Token::Comma(len) => {
                walk.bad += 1;
                walk.at += len;
                walk.step = if object { Step::Key } else { Step::Value };
            }
            Token::Colon(len) => {
                walk.bad += 1;
                walk.at += len;
            }
            Token::Quote(quote, len) => return self.walk_string(walk, quote, next.at + len),
            Token::Word | Token::Other(_) => return self.walk_word(walk, next.at),
        }
        Ok(None)
    }

    /// A literal, a number, or text without quotes.
    fn walk_word(&mut self, walk: &mut Walk, at: usize) -> Result<Option<(Verdict, bool)>, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let word = rest.get(..run(rest, is_scalar)).unwrap_or_default();
        self.steps += word.len() as u64;
        let number = matches!(word, [b'-' | b'+' | b'.' | b'0'..=b'9', ..]);
        if !word.is_empty() && (number || literal(word).is_some()) {
            let next = self.peek(at + word.len())?;
            if matches!(next.token, Token::End | Token::Stop | Token::Comma(_) | Token::Close(_)) {
                walk.at = next.at;
                walk.step = Step::After;
                return Ok(None);
            }
        }
        let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b'{' | b'[' | b'"' | b'\n');
        let len = rest.iter().position(ends).unwrap_or(rest.len());
        self.steps += len as u64;
        if at + len >= self.text.len() && !self.last {
            return Err(Stop::More);
        }
        walk.bad += u32::from(number && len > word.len());
        if matches!(rest.get(len), Some(b'"' | b'{' | b'[')) {
            return Ok(Some(walk.fault()));
        }
        walk.at = at + len;
        walk.step = Step::After;
        Ok(None)
    }

    /// A string: it ends at the first quote that fits.
    fn walk_string(
        &mut self,
        walk: &mut Walk,
        quote: Quote,
        start: usize,
    ) -> Result<Option<(Verdict, bool)>, Stop> {
        let mut inside = Inside::from(start);
        let mut at = start;
        loop {
            let next = next_of_interest(self.text, at, quote);
            self.steps += (next - at) as u64 + 1;
            let Some(byte) = self.byte(next) else {
                if !self.last {
                    return Err(Stop::More);
                }
                walk.bad += u32::from(inside.quotes > 0);
                return Ok(Some(walk.ends(End::Fine)));
            };
            if byte == b'\\' {
                at = next + 2;
                continue;
            }
            let len = closing(self.text.get(next..).unwrap_or_default(), quote);
            if len == 0 {
                at = next + 1;
                continue;
            }
            let role = walk.stack.role(self);
            inside.count(self.text, next);
            let fit = self.fit(&walk.stack, role, inside, next + len)?;
            let opens = next > start && self.behind_opener(next) && fit != Fit::Strong;
            if role == Role::Member
                && inside.quotes == 0
                && let Some(comma) = self.comma_before(start, next)
                && self.key_at(next)? == Key::Yes
            {
                // The closing quote is missing before this key.
                walk.at = comma;
                walk.step = Step::After;
                return Ok(None);
            }
            if fit == Fit::No
                && inside.quotes == 0
                && let Some(curly) = inside.curly(quote)
                && self.fit(&walk.stack, role, Inside::default(), curly + 3)? == Fit::Strong
            {
                // A typographic quote closes the string.
                walk.at = curly + 3;
                walk.step = Step::After;
                return Ok(None);
            }
            if opens || matches!(fit, Fit::No | Fit::Bracket) {
                inside.quotes += usize::from(!self.alone(quote, next, inside.quotes));
                at = next + len;
                continue;
            }
            walk.bad += u32::from(inside.quotes % 2 == 1);
            if let Some(known) = self.memo.walks.known(next, walk.stack.depth) {
                let bad = walk.bad + known.bad;
                return Ok(Some((Verdict { bad, ..known }, true)));
            }
            walk.ends.push((next, walk.stack.depth, walk.bad));
            walk.at = next + len;
            walk.step = Step::After;
            return Ok(None);
        }
    }

    /// The comma right before a place in a string.
    fn comma_before(&mut self, start: usize, at: usize) -> Option<usize> {
        let text = self.text.get(start..at)?;
        let last = text.iter().rposition(|b| !b.is_ascii_whitespace())?;
        self.steps += (text.len() - last) as u64;
        (text.get(last) == Some(&b',')).then_some(start + last)
    }

    /// True for a quote that has no partner: an apostrophe between letters, the mark of inches
    /// behind a digit.
    pub(super) fn alone(&self, quote: Quote, at: usize, quotes: usize) -> bool {
        let letter = |b: u8| b.is_ascii_alphabetic() || b >= 0x80;
        let before = at.checked_sub(1).and_then(|i| self.byte(i));
        let behind = self.byte(at + 1);
        match quote {
            Quote::Single | Quote::CurlySingle | Quote::Backtick => {
                before.is_some_and(letter) && behind.is_some_and(letter)
            }
            _ => {
                quotes.is_multiple_of(2)
                    && before.is_some_and(|b| b.is_ascii_digit())
                    && behind.is_some_and(|b| b.is_ascii_whitespace())
            }
        }
    }

    /// True where the text behind the end of the top container still belongs to it: members or
    /// closers follow that nothing opened.
    pub(super) fn goes_on_behind(&mut self, at: usize) -> Result<bool, Stop> {
        let next = self.peek(at)?;
        match next.token {
            Token::End | Token::Stop => return Ok(false),
            _ if !self.last => {}
            _ if self.closers_left(next.at) => return Ok(true),
            _ => {}
        }
        let rest = self.text.get(next.at..).unwrap_or_default();
        let Some(found) = memchr::memchr3(b'"', b'{', b'[', rest) else {
            return if self.last { Ok(false) } else { Err(Stop::More) };
        };
        self.steps += found as u64;
        if rest.get(found) != Some(&b'"') {
            return Ok(false);
        }
        let behind = self.peek(next.at + found + 1)?;
        let Token::Comma(len) = behind.token else { return Ok(false) };
        let key = self.peek(behind.at + len)?.at;
        Ok(self.key_at(key)? == Key::Yes)
    }
}

impl Walk {
    fn ends(&self, end: End) -> (Verdict, bool) {
        (Verdict { end, bad: self.bad }, false)
    }

    fn fault(&self) -> (Verdict, bool) {
        self.ends(if self.left { End::Broken } else { End::Fault })
    }
}
