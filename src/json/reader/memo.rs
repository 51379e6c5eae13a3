//! What a parser keeps in mind of a text, so that no byte is looked at again and again.

use super::verdict::Walks;

/// A search that goes on where it stopped: the bytes between two places were looked at, and what
/// is looked for stands at the second place or not at all between them.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Reach {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) found: bool,
}

impl Reach {
    /// The search from a place on: the same one, where that covers it.
    pub(super) fn at(self, from: usize) -> Reach {
        let covered = self.from < self.to && (self.from..=self.to).contains(&from);
        if covered { self } else { Reach { from, to: from, found: false } }
    }
}

/// A gap with many comments: where each of them ends, and where the gap does. A gap that comes to
/// one of those places goes on as this one did.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    pub(super) places: Vec<usize>,
    pub(super) end: usize,
}

impl Chain {
    /// The end of the gap that comes to a place.
    pub(super) fn from(&self, at: usize) -> Option<usize> {
        self.places.binary_search(&at).is_ok().then_some(self.end)
    }
}

/// How many gaps are kept in mind.
const GAPS: usize = 4;

/// Long gaps that were looked at: where they start, and how far they were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    known: [(usize, usize); GAPS],
    next: usize,
}

impl Gaps {
    pub(super) fn new() -> Self {
        Gaps { known: [(usize::MAX, 0); GAPS], next: 0 }
    }

    /// How far the gap at a place was read.
    pub(super) fn read(&self, at: usize) -> usize {
        self.known.iter().find(|gap| gap.0 == at).map_or(at, |gap| gap.1)
    }

    pub(super) fn keep(&mut self, at: usize, to: usize) {
        if let Some(gap) = self.known.iter_mut().find(|gap| gap.0 == at) {
            gap.1 = to;
        } else if let Some(gap) = self.known.get_mut(self.next) {
            *gap = (at, to);
            self.next = (self.next + 1) % GAPS;
        }
    }
}

/// How many more brackets are closed than opened from a place to the end of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Left {
    pub(super) end: usize,
    pub(super) at: usize,
    pub(super) closers: i64,
}

/// What was found out about a text, so that nothing is looked up twice. It never says more than
/// another look would.
#[derive(Debug)]
pub(in super::super) struct Memo {
    /// A token that waits for more text: its start, and how far it was looked at.
    pub(super) wait: (usize, usize),
    /// What it waits for.
    pub(super) sleep: Sleep,
    /// A bare text that waits: its start, how far it was read, and its open round brackets.
    pub(super) bare: (usize, usize, usize),
    /// Commas, and how far they were read.
    pub(super) commas: (usize, usize),
    /// Keys that are looked for, and how far they were read.
    pub(super) keys: Gaps,
    /// A string behind a value that is looked through, and how far it was read.
    pub(super) value: (usize, usize),
    /// The place behind the colon of the key that was found last.
    pub(super) colon: usize,
    /// A long key that is looked for behind a bracket, and how far it was read.
    pub(in super::super) string: (usize, usize),
    pub(super) gaps: Gaps,
    pub(super) chain: Chain,
    pub(in super::super) block_end: Reach,
    pub(in super::super) line_end: Reach,
    /// The closer that ends a comment on a document's only line.
    pub(super) comment_end: Reach,
    pub(super) dots_end: Reach,
    /// For the longest text that was counted, and for another one.
    pub(in super::super) left: [Left; 2],
    /// From here on round brackets that open are not closed.
    pub(super) call_end: Option<usize>,
    pub(super) walks: Walks,
    /// The end of the last quote or bracket of a text of some length.
    pub(super) last_sign: Option<(usize, usize)>,
    /// At this depth a string had no closing quote up to the end of the text.
    pub(super) hopeless: Option<usize>,
}

impl Default for Memo {
    fn default() -> Self {
        Memo {
            wait: (usize::MAX, 0),
            sleep: Sleep::No,
            bare: (usize::MAX, 0, 0),
            commas: (usize::MAX, 0),
            keys: Gaps::new(),
            value: (usize::MAX, 0),
            colon: 0,
            string: (usize::MAX, 0),
            gaps: Gaps::new(),
            chain: Chain::default(),
            block_end: Reach::default(),
            line_end: Reach::default(),
            comment_end: Reach::default(),
            dots_end: Reach::default(),
            left: [Left::default(); 2],
            call_end: None,
            walks: Walks::default(),
            last_sign: None,
            hopeless: None,
        }
    }
}

/// What a decision waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sleep {
    /// Any byte.
    No,
    /// The end of the gap that starts here.
    Gap(usize),
    /// A byte of some kind, or a length of the text.
    Bytes { stops: fn(u8) -> bool, len: usize, seen: usize },
}
