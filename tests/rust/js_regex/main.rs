//! JavaScript regular expressions against Node's answers, `regress`, and hostile input.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod hostile;
mod node;
mod regress;
mod rows;
mod tables;
