//! JSON in model output.
//!
//! * [`parse`]: strict JSON (RFC 8259), one linear pass into a flat [`Document`].
//! * [`extract`]: the strict tier of the scoring-gates document: the whole text, else fenced
//!   blocks, else the first bracket up to the last closer of its kind; no repairs.
//! * [`repair()`]: the repair tier: what a model's broken JSON was meant to hold, with
//!   [`Diagnostic`]s that say what was changed and how much that may have cost.
//! * [`object_spans`]: where a text holds objects with given keys.
//! * [`JsonStream`]: a document that arrives in pieces, as one value that only grows.
//! * [`Value`]: an owned tree, for what a gate's author wrote.
//!
//! Depth is limited to [`MAX_DEPTH`] unless a caller asks for more; deeper text is not JSON. No
//! parser here recurses.

mod build;
mod candidates;
mod diagnostics;
mod document;
mod duplicates;
mod error;
mod extract;
mod latex;
mod meaning;
mod number;
mod reader;
mod refusal;
mod repair;
mod rewrite;
mod spans;
mod stream;
mod strict;
mod string;
mod value;
mod write;

pub use build::Build;
pub use candidates::Other;
pub use diagnostics::{Code, Diagnostic, Severity};
pub use document::{Cursor, Document, Kind};
pub use duplicates::duplicate_keys;
pub use error::{ErrorKind, MAX_DEPTH, ParseError};
pub use extract::{Extracted, Source, extract, extract_with_source, extract_within};
pub use meaning::{Type, hash_value, members_once, repeated_element, same_value};
pub use number::Decimal;
pub use refusal::{RepairError, RepairErrorKind, step_budget};
pub use repair::{Candidates, RepairOptions, Repaired, repair};
pub use spans::{KeyedSpan, KeyedSpans, object_spans};
pub use stream::{JsonStream, Progress};
pub use strict::{parse, parse_range, parse_within};
pub(crate) use string::quote_into;
pub use string::{quote, unescape};
pub use value::{Number, Value};
