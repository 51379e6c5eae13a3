//! JSON Schema and contracts: rows, bounds, and other evaluators as oracles.
#![allow(clippy::unwrap_used)]

mod bounds;
mod oracle;
mod suite;
