//! Fenced, tagged and reasoning blocks.

use super::fence::{FenceEnd, closing_fence, line_start};
use super::run::{Block, Context};
use super::search::{Search, trimmed};

impl Search<'_> {
    /// A run of back-ticks or tildes; gives the place after its block.
    pub(super) fn fence(&mut self, at: usize, end: usize, context: Context) -> usize {
        let text = self.text.get(..end).unwrap_or(self.text);
        let rest = text.get(at..).unwrap_or_default();
        let sign = rest.first().copied().unwrap_or(b'`');
        let run = rest.iter().take_while(|&&b| b == sign).count();
        let after = at + run;
        self.steps += run as u64;
        if run < 3 || context.block != Block::Bare || (sign == b'~' && !line_start(text, at)) {
            return after;
        }
        let line = text.get(after..).unwrap_or_default();
        let stop = memchr::memchr2(b'\n', b'`', line).map(|i| after + i);
        let first_line = text.get(after..stop.unwrap_or(text.len())).unwrap_or_default();
        let one_line = stop.is_none_or(|i| text.get(i) == Some(&b'`'))
            || memchr::memchr2(b'{', b'[', first_line).is_some();
        let info_end = if one_line { word_end(text, after) } else { stop.unwrap_or(after) };
        let info = text.get(after..info_end).unwrap_or_default().trim_ascii();
        let word = info
            .split(|b| matches!(b, b' ' | b'\t' | b'{' | b',' | b':'))
            .next()
            .unwrap_or_default();
        let block = match word.to_ascii_lowercase().as_slice() {
            b"json" => Block::JsonFence,
            b"" | b"json5" | b"jsonc" | b"jsonl" | b"ndjson" | b"jsonlines" | b"txt" | b"text"
            | b"output" | b"tool_code" | b"tool_call" => Block::PlainFence,
            _ => Block::CodeFence,
        };
        let body = if one_line { info_end } else { info_end + 1 };
        // On one line any three back-ticks close.
        let run = if one_line { 3 } else { run };
        let close = if one_line {
            let close = any_fence(text, body);
            self.steps += (close - body) as u64;
            close
        } else {
            self.closing_fence(body, end, sign, run)
        };
        self.fenced(at, body, close, run, Context { block, ..context })
    }

    fn fenced(
        &mut self,
        at: usize,
        body: usize,
        close: usize,
        run: usize,
        context: Context,
    ) -> usize {
        let limit = self.text.len();
        let (start, _) = trimmed(self.text, body, close);
        let after = if close >= limit { close } else { close + run };
        let mut inner = Context { outer: (at, after), start, ..context };
        let mut from = start;
        let body_end = self.text.get(start..close).unwrap_or_default().trim_ascii_end().last();
        let tuple = self.text.get(start) == Some(&b'(') && body_end == Some(&b')');
        if tuple || matches!(self.text.get(start), Some(b'{' | b'[')) {
            from = self.fenced_head(start, close, &mut inner, run);
            if inner.outer.1 > close.saturating_add(run) {
                return inner.outer.1;
            }
        } else {
            // The strict tier ends a body at the next three back-ticks, wherever they stand. A line
            // that closes holds three, so the search ends there.
            let within = self.text.get(..close.saturating_add(3)).unwrap_or(self.text);
            let ticks =
                if self.text.get(at) == Some(&b'`') { any_fence(within, body) } else { close };
            self.steps += ticks.saturating_sub(body) as u64;
            if self.fenced_scalar(start, ticks, inner) {
                return if ticks < close { ticks + 3 } else { inner.outer.1 };
            }
            if self.text.get(start) == Some(&b'"') {
                from = self.headless(start, close, inner);
            }
        }
        if self.error.is_some() {
            return limit;
        }
        if from < inner.outer.1 {
            self.scan(from, inner.outer.1.min(close), inner);
        }
        inner.outer.1
    }

    /// Reads a fence's document. A fence inside a string does not end the block: where the document
    /// is cut in a string it is read on beyond.
    fn fenced_head(
        &mut self,
        start: usize,
        close: usize,
        inner: &mut Context,
        run: usize,
    ) -> usize {
        let text = self.text;
        let Some(mut attempt) = self.attempt(start, close, *inner, None) else {
            return start + 1;
        };
        let mut beyond = false;
        if attempt.cut_string && !attempt.closed && close < text.len() && !self.open_fences {
            let Some(longer) = self.attempt(start, text.len(), *inner, None) else {
                return start + 1;
            };
            beyond = longer.closed;
            self.open_fences = !beyond;
            if beyond {
                attempt = longer;
            }
        }
        let end = attempt.end;
        if beyond || attempt.closed {
            // The block may be closed on the document's last line.
            let (next, _) = trimmed(text, end, text.len());
            let marks = text.get(next..).unwrap_or_default();
            let sign = text.get(inner.outer.0).copied().unwrap_or(b'`');
            let ticks = marks.iter().take_while(|&&b| b == sign).count();
            if ticks >= 3 {
                inner.outer.1 = next + ticks;
            } else if beyond {
                let close = self.closing_fence(end, text.len(), sign, run);
                inner.outer.1 = close.saturating_add(run).min(text.len());
            }
        }
        if beyond {
            self.add(attempt, start, *inner);
            return end;
        }
        // Small lists and words need the checks that any region's start needs.
        self.head_of(attempt, start, close, *inner)
    }

    /// The next line that closes a fence. What was found last is still the next one from every
    /// place up to it.
    fn closing_fence(&mut self, from: usize, end: usize, sign: u8, run: usize) -> usize {
        let asked = FenceEnd { end, sign, run, from, to: from };
        if !self.fence_end.covers(&asked) {
            let text = self.text.get(..end).unwrap_or(self.text);
            let to = closing_fence(text, from, sign, run);
            self.steps += (to - from) as u64;
            self.fence_end = FenceEnd { to, ..asked };
        }
        self.fence_end.to
    }

    /// A fence may hold a valid scalar.
    fn fenced_scalar(&mut self, start: usize, close: usize, mut inner: Context) -> bool {
        let (start, end) = trimmed(self.text, start.min(close), close);
        if start == end || close == self.text.len() {
            return false;
        }
        let Some(attempt) = self.strict_scalar(start, end) else { return false };
        inner.outer.1 = inner.outer.1.min(close + 3);
        self.add(attempt, start, inner);
        true
    }

    /// Something in angle brackets.
    pub(super) fn tag(&mut self, at: usize, end: usize, context: Context) -> usize {
        let text = self.text.get(..end).unwrap_or(self.text);
        let rest = text.get(at + 1..).unwrap_or_default();
        let closing = rest.first() == Some(&b'/');
        let name_start = usize::from(closing);
        let name = rest.get(name_start..).unwrap_or_default();
        let len = name
            .iter()
            .take(64)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'|'))
            .count();
        let name = name.get(..len).unwrap_or_default();
        self.steps += len as u64 + 1;
        let tail = rest.get(name_start + len..).unwrap_or_default();
        let close = tail.iter().take(128).position(|b| matches!(b, b'>' | b'<' | b'\n'));
        let Some(close) = close.filter(|&i| tail.get(i) == Some(&b'>') && len > 0) else {
            return at + 1;
        };
        let after = at + 1 + name_start + len + close + 1;
        if is_reasoning(name) {
            return self.reasoning(after, end, name, closing);
        }
        if closing || context.block != Block::Bare {
            return after;
        }
        let (start, _) = trimmed(self.text, after, end);
        if !matches!(text.get(start), Some(b'{' | b'[')) {
            return after;
        }
        self.tagged(at, start, end, name, context)
    }

    fn tagged(
        &mut self,
        at: usize,
        start: usize,
        end: usize,
        name: &[u8],
        context: Context,
    ) -> usize {
        let mut inner = Context { block: Block::Tag, outer: (at, end), start, ..context };
        let Some(mut attempt) = self.attempt(start, end, inner, None) else { return start + 1 };
        if attempt.cut_string && attempt.end >= end && !self.open_tags {
            self.open_tags = true;
            if let Some(close) = self.closing_tag(name, start, end)
                && let Some(shorter) = self.attempt(start, close, inner, None)
            {
                attempt = shorter;
            }
        }
        let after = attempt.end;
        let tail = self.text.get(after..end).unwrap_or_default();
        let (next, _) = trimmed(self.text, after, end);
        let closed = tail.get(next - after..).is_some_and(|t| t.starts_with(b"</"));
        inner.outer.1 = if closed {
            let rest = self.text.get(next..end).unwrap_or_default();
            next + rest.iter().take(128).position(|&b| b == b'>').map_or(0, |i| i + 1)
        } else {
            after
        };
        let outer_end = inner.outer.1.max(after);
        self.head_of(attempt, start, end, inner);
        outer_end
    }

    fn reasoning(&mut self, after: usize, end: usize, name: &[u8], closing: bool) -> usize {
        if closing {
            // Everything before a closing tag without an opening one was reasoning.
            self.finish_run();
            if let Some((_, mut run)) = self.best.take() {
                run.context.reasoning = true;
                self.best = Some((run.rank(self.text), run));
            }
            self.open_reasoning = false;
            return after;
        }
        let close = if self.no_reasoning_end { None } else { self.closing_tag(name, after, end) };
        let Some(close) = close else {
            self.no_reasoning_end = true;
            self.open_reasoning = true;
            return after;
        };
        self.finish_run();
        let inner =
            Context { reasoning: true, outer: (after, close), start: after, block: Block::Bare };
        self.scan(after, close, inner);
        self.finish_run();
        let rest = self.text.get(close..end).unwrap_or_default();
        close + rest.iter().take(128).position(|&b| b == b'>').map_or(rest.len(), |i| i + 1)
    }

    /// Where the closing tag of a name starts.
    fn closing_tag(&mut self, name: &[u8], from: usize, end: usize) -> Option<usize> {
        let text = self.text.get(from..end).unwrap_or_default();
        let found = memchr::memmem::find_iter(text, b"</").find(|&i| {
            let rest = text.get(i + 2..).unwrap_or_default();
            rest.get(..name.len()).is_some_and(|n| n.eq_ignore_ascii_case(name))
        });
        self.steps += found.unwrap_or(text.len()) as u64;
        found.map(|i| from + i)
    }
}

/// True for the names of reasoning tags.
pub(in super::super) fn is_reasoning(name: &[u8]) -> bool {
    [&b"think"[..], b"thinking", b"reasoning", b"thought"]
        .iter()
        .any(|n| name.eq_ignore_ascii_case(n))
}

/// The end of the word that names a fence's language on the document's own line.
fn word_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take(24).position(|b| !b.is_ascii_alphanumeric()).unwrap_or(0)
}

/// The next three back-ticks.
fn any_fence(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    memchr::memmem::find(rest, b"```").map_or(text.len(), |i| from + i)
}
