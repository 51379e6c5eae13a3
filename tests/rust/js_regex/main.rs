//! JavaScript regular expressions against Node's answers, `regress`, and hostile input.

mod hostile;
mod node;
mod rows;
mod tables;
