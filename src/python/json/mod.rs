//! JSON from model text: results, Python values, streams, batches.

mod batch;
mod build;
mod input;
mod keys;
mod parse;
mod result;
mod schemas;
mod stream;

pub(super) use batch::extract_json_batch;
pub(super) use parse::{
    coerce_json, extract_json, json_codes, parse_json, schema_violations, single_document,
};
pub(super) use result::{Diagnostic, JSONResult};
pub(super) use stream::JSONStream;
