//! What a quote inside a string is.
//!
//! A quote may close its string where the next token has a place behind it ([`Fit`]): in a key a
//! colon; in an object's value a comma with a key behind it, a closer, or the end; in an array a
//! comma, a closer, or the end. That is enough for a string's first quote, and where the quotes
//! inside it are in pairs and its brackets closed. Anything else is decided by a walk over the
//! rest ([`super::walk`]): the quote closes where all of that agrees with the containers that are
//! open. A quote that fits without that is kept in mind, for a string that no other quote closes.

use super::super::strict::ROOT;
use super::parser::Parser;
use super::peek::{Key, Next, Token};
use super::quote::{Inside, Open, Quote, Role, closing};
use super::state::Stop;
use super::verdict::{End, Fallback, Fit};
use super::walk::{Stack, Step};
use super::words::{is_scalar, is_word, literal, run};

/// What a quote inside a string is.
pub(super) enum Judgement {
    Closes,
    /// The closing quote is missing at the first place; reading goes on at the second.
    Before(usize, usize),
    /// Another string follows a plus sign: its quote, and where its text starts.
    Joins(Quote, usize),
    Text,
}

impl Parser<'_> {
    /// What the quote at `at` is, judged by what follows it.
    pub(super) fn judge(
        &mut self,
        open: &mut Open,
        at: usize,
        len: usize,
    ) -> Result<Judgement, Stop> {
        let after = at + len;
        // What nearly every string looks like.
        let first = open.inside.quotes == 0 && !self.behind_opener(at);
        match (open.role, self.byte(after)) {
            (Role::Key, Some(b':')) => return Ok(Judgement::Closes),
            (Role::Element, Some(b',')) if first => return Ok(Judgement::Closes),
            _ => {}
        }
        if open.role == Role::Root {
            let next = self.peek(after)?;
            return Ok(match next.token {
                Token::End | Token::Stop => Judgement::Closes,
                Token::Other(b'+') => self.joined(next.at)?,
                _ => Judgement::Text,
            });
        }
        if open.role == Role::Key {
            let closes = self.key_closes(after)?;
            return Ok(if closes { Judgement::Closes } else { Judgement::Text });
        }
        let next = self.peek(after)?;
        if next.token == Token::Other(b'+') {
            return self.joined(next.at);
        }
        if matches!(next.token, Token::Close(_) | Token::Stop) {
            open.inside.count(self.text, at);
        }
        let stack = Stack::of(self);
        let fit = self.fit(&stack, open.role, open.inside, after)?;
        if fit == Fit::No {
            return self.missing_quote(open, at);
        }
        if first && fit == Fit::Strong {
            return Ok(Judgement::Closes);
        }
        open.inside.count(self.text, at);
        let balanced = open.inside.balanced() && !self.behind_opener(at);
        if fit == Fit::Strong && balanced {
            return Ok(Judgement::Closes);
        }
        if !self.may_take_back() {
            let closes = self.closes_now(open, fit, after, next)?;
            return Ok(if closes { Judgement::Closes } else { Judgement::Text });
        }
        let step = if fit == Fit::Weak { self.junk(after)? } else { None };
        let verdict = self.walk(at, step.unwrap_or(after), Step::After)?;
        // A key behind a comma says enough, unless the string holds keys itself.
        let key = open.role == Role::Member
            && fit == Fit::Strong
            && matches!(next.token, Token::Comma(_))
            && !open.inside.colon
            && verdict.end != End::Broken;
        if verdict.clean() || key || self.memo.hopeless == Some(self.depth) {
            return Ok(Judgement::Closes);
        }
        let better = self.fallback.as_ref().is_none_or(|old| verdict < old.verdict);
        if better && self.may_take_back() {
            self.fallback = Some(Fallback {
                verdict,
                open: *open,
                at,
                len,
                scratch: self.scratch.len(),
                mark: self.log.mark(),
            });
        }
        Ok(Judgement::Text)
    }

    /// The decision where what was told is not taken back, and the rest has not come: the brackets
    /// in the string and one token more.
    fn closes_now(
        &mut self,
        open: &Open,
        fit: Fit,
        after: usize,
        next: Next,
    ) -> Result<bool, Stop> {
        // Valid JSON closes its strings at their first quote.
        let first = open.inside.quotes == 0 && matches!(fit, Fit::Strong | Fit::Bracket);
        if first || fit == Fit::Bracket {
            return Ok(first);
        }
        Ok(match next.token {
            Token::Quote(quote, len) if fit == Fit::Weak => {
                self.value_ends(next.at + len, quote)?
            }
            Token::Comma(_) => open.inside.braces == 0 && open.inside.squares == 0,
            Token::Close(_) => {
                let mut at = after;
                loop {
                    let next = self.peek(at)?;
                    match next.token {
                        Token::Close(_) => at = next.at + 1,
                        token => {
                            break matches!(token, Token::Comma(_) | Token::End | Token::Stop);
                        }
                    }
                }
            }
            _ => true,
        })
    }

    /// True for a quote right behind an opening bracket.
    pub(super) fn behind_opener(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|i| self.byte(i));
        matches!(before, Some(b'{' | b'[' | b'('))
    }

    fn joined(&mut self, plus: usize) -> Result<Judgement, Stop> {
        let at = self.gap_end(plus + 1)?;
        Ok(match self.opening_quote(at)? {
            Some((quote, len)) => Judgement::Joins(quote, at + len),
            None => Judgement::Text,
        })
    }

    /// True where a key ends before a place.
    fn key_closes(&mut self, after: usize) -> Result<bool, Stop> {
        let next = self.peek(after)?;
        Ok(match next.token {
            Token::Comma(_) if self.byte(next.at) == Some(b';') => false,
            Token::End
            | Token::Stop
            | Token::Colon(_)
            | Token::Comma(_)
            | Token::Open(b'{' | b'[')
            | Token::Close(b'}') => true,
            // A value without its colon, unless what follows is the end of this key.
            Token::Quote(quote, len) => {
                if next.at > after {
                    self.key_at(next.at)? != Key::Yes
                } else if quote == Quote::Double {
                    self.string_and_end(next.at + len)?
                } else {
                    self.value_ends(next.at + len, quote)?
                }
            }
            Token::Word => {
                let rest = self.text.get(next.at..).unwrap_or_default();
                let len = run(rest, is_scalar);
                self.steps += len as u64;
                if next.at + len >= self.text.len() && !self.last {
                    return Err(self.wait_for(|b| !is_scalar(b), usize::MAX));
                }
                let word = rest.get(..len).unwrap_or_default();
                let number = matches!(word, [b'-' | b'0'..=b'9', ..]);
                (number || literal(word).is_some()) && self.ends_after(next.at + len)?
            }
            _ => false,
        })
    }

    /// True where a string ends at its first quote, with a comma or closer behind it.
    pub(super) fn string_and_end(&mut self, start: usize) -> Result<bool, Stop> {
        let mut at = start;
        loop {
            let rest = self.text.get(at..).unwrap_or_default();
            let Some(len) = memchr::memchr3(b'"', b'\n', b'\\', rest) else {
                let ends = |b| matches!(b, b'"' | b'\n');
                return if self.last { Ok(false) } else { Err(self.wait_for(ends, usize::MAX)) };
            };
            self.steps += len as u64 + 1;
            at += len;
            match rest.get(len) {
                Some(b'\\') => at += 2,
                Some(b'"') if at > start => break,
                _ => return Ok(false),
            }
        }
        let next = self.peek(at + 1)?;
        Ok(matches!(next.token, Token::Comma(_) | Token::Close(_) | Token::End))
    }

    /// Whether what stands behind a quote has a place behind a closed string.
    pub(super) fn fit(
        &mut self,
        stack: &Stack,
        role: Role,
        inside: Inside,
        after: usize,
    ) -> Result<Fit, Stop> {
        let next = self.peek(after)?;
        match next.token {
            Token::Stop if inside.fence => return Ok(Fit::No),
            Token::End | Token::Stop => return Ok(Fit::Strong),
            Token::Close(b')') if self.in_round() || stack.top(self) == Some(b')') => {
                return Ok(Fit::Strong);
            }
            Token::Close(b')') => {
                let alone = inside.quotes == 0 && inside.rounds == 0;
                return Ok(if alone && self.round_closes(next.at)? {
                    Fit::Strong
                } else {
                    Fit::No
                });
            }
            Token::Close(closer) => {
                let fits = stack.top(self) == Some(closer);
                return Ok(if inside.opens(closer) {
                    Fit::Bracket
                } else if fits || inside.quotes == 0 || stack.has(closer, self) {
                    Fit::Strong
                } else {
                    Fit::No
                });
            }
            _ => {}
        }
        match role {
            Role::Member => self.fit_member(stack, inside, after, next),
            _ => self.fit_element(inside, after, next),
        }
    }

    fn fit_member(
        &mut self,
        stack: &Stack,
        inside: Inside,
        after: usize,
        next: Next,
    ) -> Result<Fit, Stop> {
        let strong = |yes: bool| if yes { Fit::Strong } else { Fit::No };
        Ok(match next.token {
            Token::Comma(len) => {
                let then = self.behind_commas(next.at + len)?;
                match then.token {
                    Token::End | Token::Stop | Token::Close(_) => Fit::Strong,
                    Token::Open(b'{') if stack.outer(self) == Some(b']') => {
                        let inner = self.peek(then.at + 1)?;
                        let quote = matches!(inner.token, Token::Quote(..));
                        strong(quote && self.key_at(inner.at)? == Key::Yes)
                    }
                    Token::Word => self.fit_word(inside, then.at)?,
                    _ if self.key_at(then.at)? != Key::No => Fit::Strong,
                    Token::Quote(..) => strong(self.key_without_colon(then.at)?),
                    // A list without a key.
                    _ => Fit::No,
                }
            }
            Token::Quote(..) => strong(self.key_at(next.at)? == Key::Yes),
            Token::Word
                if self.has_line_feed(after, next.at) && self.key_at(next.at)? == Key::Yes =>
            {
                Fit::Strong
            }
            Token::Word if self.prose_follows(after, next.at)? => Fit::Weak,
            Token::Word | Token::Other(_) => self.fit_junk(inside, after)?,
            _ => Fit::No,
        })
    }

    /// A word behind a member and its comma.
    fn fit_word(&mut self, inside: Inside, at: usize) -> Result<Fit, Stop> {
        Ok(match self.key_at(at)? {
            Key::Yes => Fit::Strong,
            // Amid quoted keys a cut word is none.
            Key::Cut => {
                if self.quoted_key {
                    Fit::No
                } else {
                    Fit::Strong
                }
            }
            Key::No if inside.quotes > 0 => Fit::No,
            Key::No
                if self.word_before_key(at)?.is_some() || self.key_and_string(at)?.is_some() =>
            {
                Fit::Weak
            }
            Key::No => Fit::No,
        })
    }

    /// Words that belong to nothing, with a key in quotes behind them on their line: where it
    /// starts.
    pub(super) fn word_before_key(&mut self, at: usize) -> Result<Option<usize>, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let words = |b: u8| is_word(b) || b == b' ';
        let len = rest.iter().position(|&b| !words(b)).unwrap_or(rest.len());
        self.steps += len as u64;
        if at + len >= self.text.len() && !self.last {
            return Err(self.wait_for(|b| !is_word(b) && b != b' ', usize::MAX));
        }
        let quote = at + len;
        let apart =
            self.byte(quote) == Some(b'"') && rest.get(..len).is_some_and(|w| w.ends_with(b" "));
        Ok((apart && self.key_at(quote)? == Key::Yes).then_some(quote))
    }

    /// True for words on a line of their own, behind which nothing of a document stands any more:
    /// they are prose behind a document that is cut.
    pub(super) fn prose_follows(&mut self, from: usize, at: usize) -> Result<bool, Stop> {
        if !self.last || !self.may_take_back() || !self.has_line_feed(from, at) {
            return Ok(false);
        }
        let text = self.text;
        let sign = |b: &u8| matches!(b, b'"' | b'{' | b'}' | b'[' | b']');
        let last = match self.memo.last_sign {
            Some((len, last)) if len == text.len() => last,
            _ => {
                let last = text.iter().rposition(sign).map_or(0, |i| i + 1);
                self.steps += (text.len() - last) as u64;
                self.memo.last_sign = Some((text.len(), last));
                last
            }
        };
        Ok(at >= last && self.key_at(at)? == Key::No)
    }

    fn fit_element(&mut self, inside: Inside, after: usize, next: Next) -> Result<Fit, Stop> {
        let gap = next.at > after;
        let weak = |yes: bool| if yes { Fit::Weak } else { Fit::No };
        Ok(match next.token {
            Token::Comma(len) => {
                let then = self.behind_commas(next.at + len)?;
                let word = matches!(then.token, Token::Word | Token::Other(_));
                if word && inside.quotes > 0 && !self.scalar_at(then.at)? {
                    Fit::Weak
                } else {
                    Fit::Strong
                }
            }
            Token::Colon(_) => {
                let key = self.children() == 0 || self.outer_closer() == Some(b'}');
                if key && inside.quotes == 0 && self.may_take_back() {
                    Fit::Strong
                } else {
                    Fit::No
                }
            }
            Token::Quote(Quote::Double, len) if !gap => {
                weak(inside.quotes == 0 && self.value_ends(next.at + len, Quote::Double)?)
            }
            Token::Quote(quote, len)
                if inside.quotes == 0
                    && self.has_line_feed(after, next.at)
                    && self.value_ends(next.at + len, quote)? =>
            {
                Fit::Strong
            }
            Token::Quote(..) => weak(gap),
            Token::Open(_) if gap => weak(inside.quotes == 0),
            Token::Open(b'{') if inside.quotes == 0 => {
                let inner = self.peek(next.at + 1)?;
                let quote = matches!(inner.token, Token::Quote(..));
                weak(quote && self.key_at(inner.at)? == Key::Yes)
            }
            Token::Word if self.scalar_at(next.at)? => {
                if self.has_line_feed(after, next.at) {
                    Fit::Strong
                } else {
                    weak(gap || inside.quotes == 0)
                }
            }
            Token::Word if gap && self.prose_follows(after, next.at)? => Fit::Weak,
            Token::Word | Token::Other(_) => self.fit_junk(inside, after)?,
            _ => Fit::No,
        })
    }

    /// Words between a string's first quote and a closer are no part of anything.
    fn fit_junk(&mut self, inside: Inside, after: usize) -> Result<Fit, Stop> {
        let gap = self.byte(after).is_some_and(|b| b.is_ascii_whitespace());
        let junk = gap && inside.quotes == 0 && self.junk(after)?.is_some();
        Ok(if junk { Fit::Weak } else { Fit::No })
    }

    /// Where words end, if a closer stands there.
    fn junk(&mut self, after: usize) -> Result<Option<usize>, Stop> {
        let rest = self.text.get(after..).unwrap_or_default();
        let len = run(rest, is_junk);
        self.steps += len as u64;
        if after + len >= self.text.len() && !self.last {
            return Err(self.wait_for(|b| !is_junk(b), usize::MAX));
        }
        Ok(matches!(rest.get(len), Some(b'}' | b']')).then_some(after + len))
    }

    /// True where a literal or number stands that ends an element.
    pub(super) fn scalar_at(&mut self, at: usize) -> Result<bool, Stop> {
        let rest = self.text.get(at..).unwrap_or_default();
        let len = run(rest, is_scalar);
        self.steps += len as u64;
        if at + len >= self.text.len() && !self.last {
            return Err(self.wait_for(|b| !is_scalar(b), usize::MAX));
        }
        let word = rest.get(..len).unwrap_or_default();
        if literal(word).is_none() && !super::number::is_json(word) {
            return Ok(false);
        }
        let next = self.peek(at + len)?;
        let brace = next.token == Token::Open(b'{') && next.at == at + len;
        Ok(brace || matches!(next.token, Token::End | Token::Comma(_) | Token::Close(_)))
    }

    /// `"key" 12`, `"key" "value"`: a plain key whose colon is missing.
    pub(in super::super) fn key_without_colon(&mut self, at: usize) -> Result<bool, Stop> {
        let Some((quote, len)) = self.opening_quote(at)? else { return Ok(false) };
        let rest = self.text.get(at + len..).unwrap_or_default();
        let mut name = run(rest, is_word);
        self.steps += name as u64;
        if let Some(wide) = memchr::memchr(0xE2, rest.get(..name).unwrap_or_default())
            && closing(rest.get(wide..).unwrap_or_default(), quote) > 0
        {
            name = wide;
        }
        if at + len + name >= self.text.len() && !self.last {
            return Err(self.wait_for(|b| !is_word(b), usize::MAX));
        }
        self.needs(at + len + name + 4)?;
        let close = closing(rest.get(name..).unwrap_or_default(), quote);
        if name == 0 || close == 0 {
            return Ok(false);
        }
        let end = at + len + name + close;
        let value = self.peek(end)?;
        Ok(match value.token {
            Token::Quote(inner, len) => self.value_ends(value.at + len, inner)?,
            Token::Word => self.scalar_at(value.at)?,
            _ => false,
        })
    }

    /// Where this quote starts something new, since the string's own closing quote is missing: the
    /// string ends before the commas and brackets that stand before this quote.
    fn missing_quote(&mut self, open: &mut Open, at: usize) -> Result<Judgement, Stop> {
        if open.quote != Quote::Double && open.quote != Quote::Single
            || !matches!(open.role, Role::Member | Role::Element)
        {
            return Ok(Judgement::Text);
        }
        let text = self.text.get(open.start..at).unwrap_or_default();
        let between =
            |b: &u8| matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b',' | b'{' | b'}' | b'[' | b']');
        let Some(last) = text.iter().rposition(|b| !between(b)) else {
            return Ok(Judgement::Text);
        };
        open.inside.count(self.text, open.start + last + 1);
        let outside = open.inside.braces == 0 && open.inside.squares == 0;
        if let Some(curly) = self.curly_close(open, at)? {
            return Ok(Judgement::Before(curly, curly + 3));
        }
        let between = text.get(last + 1..).unwrap_or_default();
        self.steps += between.len() as u64 + 1;
        let Some(first) = between.iter().position(|b| !b.is_ascii_whitespace()) else {
            return Ok(Judgement::Text);
        };
        let first = open.start + last + 1 + first;
        if !self.may_take_back() {
            let key = open.role == Role::Member
                && between.iter().all(|b| b.is_ascii_whitespace() || *b == b',')
                && open.inside.quotes.is_multiple_of(2)
                && self.key_at(at)? == Key::Yes;
            return Ok(if key && outside {
                Judgement::Before(first, first)
            } else {
                Judgement::Text
            });
        }
        let starts = matches!(self.byte(first), Some(b',' | b'}' | b']'));
        // Right behind its comma the quote may be the second of a pair: `"see "Well," he said"`.
        let apart = !matches!(text.last(), Some(b','));
        let even = apart || open.inside.quotes.is_multiple_of(2);
        if !outside || !even || !starts || memchr::memchr(b',', between).is_none() {
            return Ok(Judgement::Text);
        }
        let verdict = self.walk(first, first, Step::After)?;
        if !verdict.clean() {
            return Ok(Judgement::Text);
        }
        // Space before a line feed is not the string's.
        let end = open.start + last + 1;
        let own = memchr::memchr(b'\n', self.text.get(end..first).unwrap_or_default()).is_none();
        Ok(Judgement::Before(if own { first } else { end }, first))
    }

    /// A typographic quote in a string with straight ones that closes it: what stands behind it up
    /// to the end fits.
    pub(super) fn curly_close(
        &mut self,
        open: &mut Open,
        end: usize,
    ) -> Result<Option<usize>, Stop> {
        if open.inside.quotes > 0 || !self.may_take_back() {
            return Ok(None);
        }
        self.steps += end.saturating_sub(open.inside.counted) as u64;
        open.inside.count(self.text, end);
        let Some(at) = open.inside.curly(open.quote) else { return Ok(None) };
        let stack = Stack::of(self);
        let inside = Inside::default();
        if self.fit(&stack, open.role, inside, at + 3)? == Fit::No {
            return Ok(None);
        }
        Ok(self.walk(at, at + 3, Step::After)?.clean().then_some(at))
    }

    /// The closer of the container around the innermost one.
    pub(super) fn outer_closer(&self) -> Option<u8> {
        Stack::of(self).outer(self)
    }

    /// Goes back to the quote that fitted best, in a string that nothing closes.
    pub(super) fn fall_back(&mut self) -> Option<Fallback> {
        let fallback = self.fallback.take()?;
        self.memo.hopeless = Some(self.depth);
        self.log.go_back(fallback.mark);
        self.scratch.truncate(fallback.scratch);
        Some(fallback)
    }

    /// Nothing was told of yet, so that what was read may be read otherwise.
    pub(super) fn may_take_back(&self) -> bool {
        self.events.is_none()
    }

    /// True inside any container.
    pub(super) fn is_inside(&self) -> bool {
        self.parent != ROOT
    }
}

/// A byte of words that belong to nothing.
fn is_junk(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'!' | b'?' | b'%' | b'*')
}
