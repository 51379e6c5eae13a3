//! The lenient reader at work on a text: its state and the text, and what everything else asks.

use std::ops::{Deref, DerefMut};

use super::super::document::Kind;
use super::super::strict::Phase;
use super::quote::Role;
use super::state::{State, Stop};

/// A state at work on a text.
pub(in super::super) struct Parser<'t> {
    pub(in super::super) text: &'t [u8],
    /// Nothing follows the text.
    pub(in super::super) last: bool,
    pub(in super::super) state: Box<State>,
}

impl Deref for Parser<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

/// Goes on, or stops.
pub(super) type Flow = Result<(), Stop>;

impl Parser<'_> {
    /// Where the look at the token at `at` goes on.
    pub(super) fn looked(&self, at: usize) -> usize {
        if self.memo.wait.0 == at { self.memo.wait.1.max(at) } else { at }
    }

    /// Waits for more text in the token at `at`, which was looked at to the end of the text.
    pub(super) fn wait(&mut self, at: usize) -> Stop {
        self.memo.wait = (at, self.text.len());
        Stop::More
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// The bytes of the character at a place.
    pub(super) fn char_len(&self, at: usize) -> usize {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        1 + rest.iter().take(3).take_while(|&&b| b & 0xC0 == 0x80).count()
    }

    /// A place at which the document ends although its brackets are open: a fence or a closing
    /// tag.
    pub(super) fn ends_document(&self, at: usize) -> Result<bool, Stop> {
        match self.text.get(at..).unwrap_or_default() {
            [b'`', b'`', b'`', ..] => Ok(true),
            [b'<', b'/', letter, ..] => Ok(letter.is_ascii_alphabetic()),
            [b'`' | b'<'] | [b'`', b'`'] | [b'<', b'/'] if !self.last => Err(Stop::More),
            _ => Ok(false),
        }
    }

    pub(super) fn role(&self) -> Role {
        match (self.phase, self.parent_kind()) {
            (Phase::Key, _) => Role::Key,
            (_, Some(Kind::Object)) => Role::Member,
            (_, Some(_)) => Role::Element,
            _ => Role::Root,
        }
    }
}
