//! Where fences end.

/// A search for the end of a fence: from a place in a text of some length, for so many signs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FenceEnd {
    pub(super) end: usize,
    pub(super) sign: u8,
    pub(super) run: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl FenceEnd {
    /// True where it answers another search: a longer run is not found either where none was.
    pub(super) fn covers(&self, asked: &FenceEnd) -> bool {
        let run = asked.run == self.run || asked.run > self.run && self.to == self.end;
        let place = (self.from..=self.to).contains(&asked.from);
        run && place && self.end == asked.end && self.sign == asked.sign
    }
}

/// The next line that closes a fence: at least as many signs, and no word right behind them.
pub(super) fn closing_fence(text: &[u8], from: usize, sign: u8, run: usize) -> usize {
    let mut at = from;
    while let Some(found) = memchr::memchr(sign, text.get(at..).unwrap_or_default()) {
        let start = at + found;
        let rest = text.get(start..).unwrap_or_default();
        let len = rest.iter().take_while(|&&b| b == sign).count();
        let next = rest.get(len);
        if len >= run && line_start(text, start) && next.is_none_or(u8::is_ascii_whitespace) {
            return start;
        }
        at = start + len;
    }
    text.len()
}

/// True at the start of a line, or of what a block quote holds.
pub(super) fn line_start(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let line = before.iter().rev().take(8).find(|b| !matches!(b, b' ' | b'\t' | b'>'));
    line.is_none_or(|&b| b == b'\n')
}
