//! What a parser keeps while a decision waits for more text, so that no byte is looked at again
//! for each piece that comes in.
//!
//! A decision that needs bytes beyond the end stops with [`Stop::More`] and is made again from
//! its start once there are more. Two things bound that work: a [`Sleep`] says which bytes cannot
//! decide anything, so that it is not made again for each of them; and long looks ahead (see [`super::memo`])
//! go on where they stopped.

use super::memo::Sleep;
use super::parser::Parser;
use super::state::Stop;

impl Parser<'_> {
    /// True where the decision that waits can still not be made.
    pub(in super::super) fn asleep(&mut self) -> bool {
        let asleep = match self.memo.sleep {
            Sleep::No => false,
            Sleep::Gap(start) => self.space_after(start).1,
            Sleep::Bytes { stops, len, seen } => {
                let fresh = self.text.get(seen..).unwrap_or_default();
                self.steps += fresh.len() as u64;
                let waits = self.text.len() < len && !fresh.iter().any(|&b| stops(b));
                if waits {
                    self.memo.sleep = Sleep::Bytes { stops, len, seen: self.text.len() };
                }
                waits
            }
        };
        if !asleep {
            self.memo.sleep = Sleep::No;
        }
        asleep
    }

    /// The end of the gap that starts at a place; waits where the text ends in it.
    pub(in super::super) fn gap_end(&mut self, at: usize) -> Result<usize, Stop> {
        let (end, more) = self.space_after(at);
        if more {
            self.memo.sleep = Sleep::Gap(at);
            return Err(Stop::More);
        }
        Ok(end)
    }

    /// Waits for a byte of some kind, or until the text is so long.
    pub(super) fn wait_for(&mut self, stops: fn(u8) -> bool, len: usize) -> Stop {
        self.memo.sleep = Sleep::Bytes { stops, len, seen: self.text.len() };
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
