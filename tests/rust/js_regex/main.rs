//! JavaScript regular expressions against Node's answers, `regress`, and hostile input.

mod node;
mod rows;
mod tables;
