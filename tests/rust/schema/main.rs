//! JSON Schema and contracts: rows, bounds, and other evaluators as oracles.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bounds;
mod oracle;
mod rows;
mod suite;
