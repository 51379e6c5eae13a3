//! Candidates: documents that were read, alone or one after the other, and how good they are.

use super::super::diagnostics::{Code, Codes, Log};
use super::super::document::{Document, Kind, Node, Place, index_u32};
use super::super::extract::Source;
use super::super::reader::State;
use super::found::Found;
use crate::text::trim_js;

/// What kind of block is being searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// No block: prose.
    Bare,
    JsonFence,
    PlainFence,
    CodeFence,
    Tag,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) block: Block,
    pub(super) reasoning: bool,
    /// The span of the block with its marks.
    pub(super) outer: (usize, usize),
    pub(super) start: usize,
}

/// How good a candidate is: smaller is better.
pub(super) type Rank = (bool, u8, u8, u8, u8);

/// Documents that stand together.
pub(super) struct Run {
    pub(super) nodes: Vec<Node>,
    pub(super) side: Vec<u8>,
    pub(super) count: usize,
    pub(super) log: Log,
    pub(super) span: (usize, usize),
    pub(super) context: Context,
    pub(super) strict: bool,
    pub(super) evidence: Evidence,
}

/// How much a document looks like data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    QuotedKeys,
    BareKeys,
    Values,
    Empty,
    /// Words and signs that are no data.
    Code,
}

/// One document that was read.
pub(super) struct Attempt {
    pub(super) nodes: Vec<Node>,
    pub(super) side: Vec<u8>,
    pub(super) log: Log,
    pub(super) end: usize,
    /// Its brackets were closed.
    pub(super) closed: bool,
    pub(super) cut_string: bool,
    pub(super) evidence: Evidence,
    /// Bare keys, no commas, and words for values: amid prose that is code.
    pub(super) thin: bool,
}

impl Attempt {
    pub(super) fn of(state: Box<State>, closed: bool) -> Attempt {
        let root = state.nodes.first().map(|n| (n.kind, n.end));
        let keys = state.nodes.iter().any(|n| n.kind == Kind::Object && n.end > 0);
        let evidence = match root {
            Some((Kind::Object | Kind::Array, 0)) | None => Evidence::Empty,
            _ if keys && state.quoted_key => Evidence::QuotedKeys,
            // `{ color: red; }`
            _ if keys && state.semicolons && !state.commas => Evidence::Code,
            _ if keys && state.bare_key => Evidence::BareKeys,
            Some((Kind::Object, _)) => Evidence::Empty,
            _ => Evidence::Values,
        };
        let cut_string = state
            .log
            .facts()
            .codes
            .any_of(Codes::of(&[Code::TruncatedString, Code::TruncatedEscape]));
        let words = Codes::of(&[Code::UnquotedValue]);
        let thin = evidence == Evidence::BareKeys
            && !state.commas
            && state.log.facts().codes.any_of(words);
        let mut nodes = state.nodes;
        if nodes.capacity() > 2 * nodes.len() + 16 {
            nodes.shrink_to_fit();
        }
        Attempt {
            nodes,
            side: state.side,
            log: state.log,
            end: state.at,
            closed,
            cut_string,
            evidence,
            thin,
        }
    }

    /// Brackets around words that are no data: `{return}`, `{...}`.
    pub(super) fn is_void(&self) -> bool {
        const DROPPED: Codes = Codes::of(&[Code::DroppedText, Code::Ellipsis, Code::MissingValue]);
        self.evidence == Evidence::Code || self.evidence == Evidence::Empty && self.has(DROPPED)
    }

    /// A list that is JSON and not empty.
    pub(super) fn is_strict_list(&self) -> bool {
        self.evidence == Evidence::Values && self.closed && self.log.is_empty()
    }

    /// True where one of these repairs was made.
    pub(super) fn has(&self, codes: Codes) -> bool {
        self.log.facts().codes.any_of(codes)
    }
}

impl Run {
    pub(super) fn append(&mut self, attempt: Attempt) {
        let (base, side) = (index_u32(self.nodes.len()), index_u32(self.side.len()));
        self.nodes.extend(attempt.nodes.into_iter().map(|mut node| {
            node.next += base;
            if node.place == Place::Side && !matches!(node.kind, Kind::Array | Kind::Object) {
                node.start += side;
                node.end += side;
            }
            node
        }));
        self.side.extend_from_slice(&attempt.side);
        self.strict &= attempt.log.is_empty();
        self.log.append(attempt.log);
        self.count += 1;
        self.span.1 = attempt.end;
        self.evidence = self.evidence.min(attempt.evidence);
    }

    /// The span with the fence or tags around it.
    pub(super) fn context_span(&self) -> (usize, usize) {
        if self.context.block == Block::Bare { self.span } else { self.context.outer }
    }

    /// The document is all that its block holds.
    pub(super) fn fills_block(&self, text: &[u8]) -> bool {
        let rest = text.get(self.span.1..self.context.outer.1).unwrap_or_default();
        let marks = trim_js(rest);
        self.context.block == Block::Tag
            || self.span.0 == self.context.start && marks.iter().all(|b| matches!(b, b'`' | b'~'))
    }

    pub(super) fn rank(&self, text: &[u8]) -> Rank {
        let strict = self.strict && self.count == 1 && self.fills_block(text);
        let empty = self.evidence == Evidence::Empty;
        let keys = self.evidence <= Evidence::BareKeys;
        let tier = match self.context.block {
            Block::JsonFence if strict => 0,
            Block::PlainFence | Block::CodeFence | Block::Tag if strict => 1,
            Block::JsonFence if !empty => 2,
            Block::PlainFence | Block::Tag if keys => 3,
            _ => 4,
        };
        if tier < 4 {
            return (self.context.reasoning, tier, 0, 0, self.evidence as u8);
        }
        let list = u8::from(!keys) + u8::from(empty);
        let code = u8::from(self.context.block == Block::CodeFence);
        (
            self.context.reasoning,
            tier,
            list,
            u8::from(!self.strict || self.count > 1) + code,
            self.evidence as u8,
        )
    }

    pub(super) fn found(self, text: &[u8]) -> (Found<'_>, Log) {
        let Run { mut nodes, side, count, mut log, span, context, .. } = self;
        if count > 1 {
            list_of(&mut nodes, count);
            log.add(Code::SeveralDocuments, span.0, span.1);
        }
        let source = match context.block {
            Block::Bare if span.0 <= context.outer.0 && span.1 >= context.outer.1 => Source::Whole,
            Block::Bare => Source::Brackets,
            Block::Tag => Source::Tag,
            _ => Source::Fence,
        };
        let outer = if context.block == Block::Bare { span } else { context.outer };
        let document = Document { text, side, nodes };
        (Found { document, span, outer, source, reasoning: context.reasoning }, log)
    }
}

/// Puts an array around documents that stand one after the other.
fn list_of(nodes: &mut Vec<Node>, count: usize) {
    for node in nodes.iter_mut() {
        node.next += 1;
    }
    let next = index_u32(nodes.len() + 1);
    nodes.insert(
        0,
        Node { start: 0, end: index_u32(count), next, kind: Kind::Array, place: Place::Plain },
    );
}
