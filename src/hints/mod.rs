//! What an author may have meant: words of other tools first, then the nearest name.
//!
//! A hint keeps the meaning of what was written. Names that negate are never taken for the name
//! that they negate, and where two names are equally near there is no hint.

mod foreign;
mod near;
mod pattern;

pub(crate) use foreign::{block_key, judge_key, missing_scorers, scorer_key, scorer_type};
pub(crate) use near::{nearest, other_type, quoted, share, value};
pub(crate) use pattern::{doubtful_pattern, invalid_pattern};
