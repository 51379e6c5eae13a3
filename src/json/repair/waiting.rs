//! What a parser keeps while a decision waits for more text, so that no byte is looked at again
//! for each piece that comes in.
//!
//! A decision that needs bytes beyond the end stops with [`Stop::More`] and is made again from
//! its start once there are more. Two things bound that work: a [`Sleep`] says which bytes cannot
//! decide anything, so that it is not made again for each of them; and long looks ahead ([`Reach`],
//! [`Gaps`]) go on where they stopped.

use super::parser::Parser;
use super::state::Stop;

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

impl Parser<'_> {
    /// True where the decision that waits can still not be made.
    pub(in super::super) fn asleep(&mut self) -> bool {
        let asleep = match self.sleep {
            Sleep::No => false,
            Sleep::Gap(start) => self.space_after(start).1,
            Sleep::Bytes { stops, len, seen } => {
                let fresh = self.text.get(seen..).unwrap_or_default();
                self.steps += fresh.len() as u64;
                let waits = self.text.len() < len && !fresh.iter().any(|&b| stops(b));
                if waits {
                    self.sleep = Sleep::Bytes { stops, len, seen: self.text.len() };
                }
                waits
            }
        };
        if !asleep {
            self.sleep = Sleep::No;
        }
        asleep
    }

    /// The end of the gap that starts at a place; waits where the text ends in it.
    pub(in super::super) fn gap_end(&mut self, at: usize) -> Result<usize, Stop> {
        let (end, more) = self.space_after(at);
        if more {
            self.sleep = Sleep::Gap(at);
            return Err(Stop::More);
        }
        Ok(end)
    }

    /// Waits for a byte of some kind, or until the text is so long.
    pub(super) fn wait_for(&mut self, stops: fn(u8) -> bool, len: usize) -> Stop {
        self.sleep = Sleep::Bytes { stops, len, seen: self.text.len() };
        Stop::More
    }

    /// Waits where the text ends before a place at which something is looked for.
    pub(super) fn needs(&self, len: usize) -> Result<(), Stop> {
        if self.text.len() < len && !self.last { Err(Stop::More) } else { Ok(()) }
    }

    /// Counts bytes that a stream may look at again.
    pub(super) fn looks(&mut self, bytes: usize) {
        if !self.last {
            self.steps += bytes as u64;
        }
    }
}
