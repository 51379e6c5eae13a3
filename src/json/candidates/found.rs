//! What a search gives.

use super::super::diagnostics::Log;
use super::super::document::Document;
use super::super::extract::Source;

/// The document that was chosen.
pub(in super::super) struct Found<'a> {
    pub(in super::super) document: Document<'a>,
    pub(in super::super) span: (usize, usize),
    /// The span with the fence or tags around it.
    pub(in super::super) outer: (usize, usize),
    pub(in super::super) source: Source,
    pub(in super::super) reasoning: bool,
}

/// A document that was not chosen.
#[derive(Clone, Debug)]
pub struct Other<'a> {
    /// The document.
    pub document: Document<'a>,
    /// Its span in bytes.
    pub span: (usize, usize),
    /// Where it was found.
    pub source: Source,
    /// It stands in a reasoning block.
    pub reasoning: bool,
}

impl<'a> From<Found<'a>> for Other<'a> {
    fn from(found: Found<'a>) -> Self {
        let Found { document, span, source, reasoning, .. } = found;
        Other { document, span, source, reasoning }
    }
}

/// A choice.
pub(in super::super) struct Chosen<'a> {
    pub(in super::super) found: Found<'a>,
    pub(in super::super) log: Log,
    /// The documents that were not chosen, if they are wanted.
    pub(in super::super) others: Vec<Other<'a>>,
    /// Their spans.
    pub(in super::super) lost: Vec<(usize, usize)>,
}
