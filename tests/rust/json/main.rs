//! JSON in model output: case tables, properties, hostile texts, streams.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

mod properties;
mod stream;
mod tables;
