//! The lenient reader: one document, from its opening bracket on, with all its faults.
//!
//! * [`parser`]: the state at work on a text; [`state`], [`memo`]: what lasts between two tokens.
//! * [`phases`]: what is read in which phase; [`strings`], [`bare`], [`closers`], [`space`].
//! * [`peek`]: the look at the next token, which all decisions share; [`judge`] and [`walk`]: what
//!   a quote inside a string is.

mod bare;
mod closers;
mod judge;
mod memo;
mod number;
mod parser;
mod peek;
mod phases;
mod quote;
mod space;
mod state;
mod strings;
mod verdict;
mod waiting;
mod walk;
mod words;

pub(super) use memo::Left;
pub(super) use parser::Parser;
pub(super) use peek::Key;
pub(super) use state::{Event, State, Stop};
pub(super) use words::literal;
