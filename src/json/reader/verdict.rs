//! What is found out about a quote: whether what follows has a place there, and what a walk over
//! the rest says.

use super::super::diagnostics::LogMark;
use super::quote::Open;

/// Whether the token behind a quote has a place behind a closed string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    No,
    /// It closes a bracket that was opened in the string.
    Bracket,
    /// Something is missing or too much between.
    Weak,
    Strong,
}

/// A quote that fits but was read as text, and all that it takes to go back to it.
#[derive(Clone, Debug)]
pub(super) struct Fallback {
    pub(super) verdict: Verdict,
    pub(super) open: Open,
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) scratch: usize,
    pub(super) mark: LogMark,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    /// At the end of the document or of the text.
    Fine,
    /// At something that has no place there.
    Fault,
    /// Behind a container that was open before: what follows cannot stand there.
    Broken,
}

/// What a walk found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Verdict {
    pub(super) end: End,
    /// What the walk put up with.
    pub(super) bad: u32,
}

impl Verdict {
    pub(super) fn clean(self) -> bool {
        self.end == End::Fine && self.bad == 0
    }
}

/// A walk that was made: the ends of strings that it passed, with its depth and what it had put up
/// with there.
#[derive(Debug)]
pub(super) struct Walked {
    pub(super) ends: Vec<(usize, u32, u32)>,
    pub(super) verdict: Verdict,
}

/// The walks that are remembered.
const WALKS: usize = 4;

/// The walks of a text.
#[derive(Debug, Default)]
pub(super) struct Walks {
    made: Vec<Walked>,
    next: usize,
}

impl Walks {
    pub(super) fn known(&self, at: usize, depth: u32) -> Option<Verdict> {
        self.made.iter().find_map(|walk| {
            let i = walk.ends.binary_search_by_key(&at, |e| e.0).ok()?;
            let &(_, there, bad) = walk.ends.get(i)?;
            let verdict = Verdict { bad: walk.verdict.bad.saturating_sub(bad), ..walk.verdict };
            (there == depth).then_some(verdict)
        })
    }

    pub(super) fn keep(&mut self, walk: Walked) {
        if self.made.len() < WALKS {
            self.made.push(walk);
        } else if let Some(old) = self.made.get_mut(self.next) {
            *old = walk;
            self.next = (self.next + 1) % WALKS;
        }
    }
}
