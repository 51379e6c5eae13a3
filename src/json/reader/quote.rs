//! Quotes: which ones there are, what opens and what closes a string.

/// What opened a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    Backtick,
    CurlyDouble,
    CurlySingle,
    TripleDouble,
    TripleSingle,
    /// `""a""`
    Doubled,
    /// `''a''`
    DoubledSingle,
    /// `\"`
    Escaped,
}

/// Where a string stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Key,
    Member,
    Element,
    Root,
}

/// A string under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) quote: Quote,
    pub(super) role: Role,
    /// First byte of the text.
    pub(super) start: usize,
    /// First byte that is not decoded yet, where decoding has begun.
    pub(super) from: usize,
    /// Where the scan goes on.
    pub(super) at: usize,
    /// An escape was seen since `from`.
    pub(super) escaped: bool,
    /// The text is being decoded piece by piece.
    pub(super) decoding: bool,
    /// The quotes that were read as text.
    pub(super) inside: Inside,
    /// Its opening was told of.
    pub(super) told: bool,
    /// Where a comma stands with nothing but commas and space behind it, and how far they were
    /// looked for.
    pub(super) held: (Option<usize>, usize),
    /// What its escapes say of LaTeX.
    pub(super) latex: Latex,
}

/// Escapes that LaTeX has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latex {
    /// Escapes that JSON does not have, with a letter.
    pub(super) foreign: bool,
    /// Escapes that spell a command with what follows.
    pub(super) command: bool,
    /// The string is put together of several.
    pub(super) joined: bool,
}

/// What is known of the text of an open string.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inside {
    /// Quotes read as text.
    pub(super) quotes: usize,
    /// One of them had a colon behind it, as a quoted key has.
    pub(super) colon: bool,
    /// Braces and square brackets opened and not closed before `counted`.
    pub(super) braces: u32,
    pub(super) squares: u32,
    pub(super) rounds: u32,
    /// What was found of typographic quotes, double and single ones.
    curlies: [Curly; 2],
    /// A fence was opened and not closed.
    pub(super) fence: bool,
    /// One was closed that was not opened.
    pub(super) stray: bool,
    pub(super) counted: usize,
}

/// What a text holds of one kind of typographic quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Curly {
    #[default]
    None,
    /// The first one opens.
    Opened,
    /// The first one closes, at this place.
    Closed(usize),
}

impl Inside {
    /// Of a text that starts at a place.
    pub(super) fn from(start: usize) -> Inside {
        Inside { counted: start, ..Inside::default() }
    }

    /// The typographic quote that may close a string with straight ones: nothing opened it.
    pub(super) fn curly(&self, quote: Quote) -> Option<usize> {
        let curly = match quote {
            Quote::Double => self.curlies[0],
            Quote::Single => self.curlies[1],
            _ => return None,
        };
        if let Curly::Closed(at) = curly { Some(at) } else { None }
    }

    /// Notes a typographic quote at a place.
    fn note_curly(&mut self, text: &[u8], at: usize) {
        let letter = |b: &u8| b.is_ascii_alphabetic() || *b >= 0x80;
        let (slot, found) = match text.get(at + 1..at + 3) {
            Some([0x80, 0x9C]) => (0, Curly::Opened),
            Some([0x80, 0x9D]) => (0, Curly::Closed(at)),
            Some([0x80, 0x98]) => (1, Curly::Opened),
            // An apostrophe stands between letters.
            Some([0x80, 0x99]) if !text.get(at + 3).is_some_and(letter) => (1, Curly::Closed(at)),
            _ => return,
        };
        if let Some(curly) = self.curlies.get_mut(slot).filter(|c| **c == Curly::None) {
            *curly = found;
        }
    }

    /// Counts the brackets up to a place.
    pub(super) fn count(&mut self, text: &[u8], to: usize) {
        for (i, &byte) in text.get(self.counted..to).unwrap_or_default().iter().enumerate() {
            let (level, up) = match byte {
                b'{' => (&mut self.braces, true),
                b'}' => (&mut self.braces, false),
                b'[' => (&mut self.squares, true),
                b']' => (&mut self.squares, false),
                b'(' => (&mut self.rounds, true),
                b')' => {
                    self.rounds = self.rounds.saturating_sub(1);
                    continue;
                }
                0xE2 => {
                    self.note_curly(text, self.counted + i);
                    continue;
                }
                b'`' => {
                    let at = self.counted + i;
                    let ticks = text.get(..=at).unwrap_or_default().iter().rev().take(4);
                    self.fence ^= ticks.take_while(|b| **b == b'`').count() == 3;
                    continue;
                }
                _ => continue,
            };
            if up {
                *level += 1;
            } else if *level > 0 {
                *level -= 1;
            } else {
                self.stray = true;
            }
        }
        self.counted = self.counted.max(to);
    }

    /// Every quote has its partner and every bracket too.
    pub(super) fn balanced(&self) -> bool {
        self.quotes.is_multiple_of(2) && self.braces == 0 && self.squares == 0 && !self.stray
    }

    /// A bracket is open that this closer may belong to.
    pub(super) fn opens(&self, closer: u8) -> bool {
        match closer {
            b'}' => self.braces > 0,
            b']' => self.squares > 0,
            _ => false,
        }
    }
}

/// What opens at the start of a text.
pub(super) enum Opening {
    /// A quote, and its length.
    Quote(Quote, usize),
    No,
    /// The text ends before that is certain.
    More,
}

/// The quote that opens at the start of a text.
pub(super) fn opening(rest: &[u8], last: bool) -> Opening {
    let cut = |n: usize| rest.len() < n && !last;
    let (quote, len) = match *rest {
        [b'"' | b'\''] if cut(3) => return Opening::More,
        [a, b] if a == b && (a == b'"' || a == b'\'') && cut(3) => return Opening::More,
        [b'"', b'"', b'"', ..] => (Quote::TripleDouble, 3),
        [b'\'', b'\'', b'\'', ..] => (Quote::TripleSingle, 3),
        [b'"', ..] => (Quote::Double, 1),
        [b'\'', ..] => (Quote::Single, 1),
        [b'`', b'`', b'`', ..] => return Opening::No,
        [b'`' | b'\\'] | [b'`', b'`'] if !last => return Opening::More,
        [b'`', ..] => (Quote::Backtick, 1),
        [b'\\', b'"', ..] => (Quote::Escaped, 2),
        [0xE2, 0x80, 0x9C..=0x9F, ..] => (Quote::CurlyDouble, 3),
        [0xE2, 0x80, 0x98..=0x9B, ..] => (Quote::CurlySingle, 3),
        [0xC2, 0xAB, ..] => (Quote::CurlyDouble, 2),
        _ => return Opening::No,
    };
    Opening::Quote(quote, len)
}

/// The length of the closing quote at the start of a text; 0 where none is. Typographic quotes
/// close straight ones, and the other way round.
pub(super) fn closing(rest: &[u8], quote: Quote) -> usize {
    match (quote, rest) {
        (Quote::Double | Quote::CurlyDouble | Quote::Escaped, [b'"', ..])
        | (Quote::Single | Quote::CurlySingle, [b'\'', ..])
        | (Quote::Backtick, [b'`' | b'\'', ..]) => 1,
        (Quote::Escaped, [b'\\', b'"', ..])
        | (Quote::Doubled, [b'"', b'"', ..])
        | (Quote::DoubledSingle, [b'\'', b'\'', ..])
        // An acute accent.
        | (Quote::Backtick, [0xC2, 0xB4, ..])
        | (Quote::CurlyDouble, [0xC2, 0xBB, ..]) => 2,
        (Quote::TripleDouble, [b'"', b'"', b'"', ..])
        | (Quote::TripleSingle, [b'\'', b'\'', b'\'', ..])
        | (Quote::CurlyDouble, [0xE2, 0x80, 0x9C..=0x9F, ..])
        | (Quote::CurlySingle, [0xE2, 0x80, 0x98..=0x9B, ..]) => 3,
        _ => 0,
    }
}

/// The next byte at which a string of this kind may end or hold an escape.
pub(super) fn next_of_interest(text: &[u8], from: usize, quote: Quote) -> usize {
    use super::super::string::{next_special, next_special_or};
    match quote {
        Quote::Double | Quote::TripleDouble | Quote::Doubled | Quote::Escaped => {
            return next_special(text, from);
        }
        Quote::Single | Quote::TripleSingle | Quote::DoubledSingle => {
            return next_special_or(text, from, b'\'');
        }
        Quote::Backtick | Quote::CurlyDouble | Quote::CurlySingle => {}
    }
    let rest = text.get(from..).unwrap_or_default();
    let found = rest
        .iter()
        .position(|&b| b < 0x20 || matches!(b, b'\\' | 0xE2 | b'"' | b'\'' | b'`' | 0xC2));
    from + found.unwrap_or(rest.len())
}
