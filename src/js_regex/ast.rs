//! The syntax tree that the parser makes and every back end reads.
//!
//! Sets are resolved (classes, escapes, properties and case folding are ranges already), so no
//! back end knows a flag except through the node kinds below.

use super::set::CharSet;

/// No upper bound of a repetition.
pub(super) const UNBOUNDED: u32 = u32::MAX;

/// One node of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Matches the empty string.
    Empty,
    /// One character: a UTF-16 unit, or a code point under u and v.
    Char(u32),
    /// One character of a set; an empty set never matches.
    Set(CharSet),
    Cat(Vec<Node>),
    Alt(Vec<Node>),
    /// A capturing group and its number, from 1.
    Group(Box<Node>, u32),
    /// A lookahead or a lookbehind.
    Look(Look),
    /// What a group captured; the empty string where it did not match.
    BackRef(u32),
    Assert(Assert),
    Repeat(Repeat),
}

#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) ahead: bool,
    pub(super) negative: bool,
    pub(super) body: Box<Node>,
}

#[derive(Clone, Debug)]
pub(super) struct Repeat {
    pub(super) body: Box<Node>,
    pub(super) min: u32,
    /// [`UNBOUNDED`] for no bound.
    pub(super) max: u32,
    pub(super) greedy: bool,
    /// The groups inside the body, first and one past the last; each iteration resets them.
    pub(super) groups: (u32, u32),
}

/// An assertion without a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assert {
    Start,
    End,
    LineStart,
    LineEnd,
    Word,
    NotWord,
    /// `\b` under iu and iv, where U+017F and U+212A are word characters.
    WordFolded,
    NotWordFolded,
}

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Ast {
    pub(super) root: Node,
    /// The number of capturing groups.
    pub(super) groups: u32,
    pub(super) has_backref: bool,
    /// `^` or `$` under m occurs.
    pub(super) has_line_anchor: bool,
    /// `\b` or `\B` under iu or iv occurs.
    pub(super) has_folded_word: bool,
    /// Any astral character lets the pattern match, under u and v.
    pub(super) matches_inside_pair: bool,
}

impl Node {
    /// The concatenation of the terms, without a wrapper where none is needed.
    pub(super) fn cat(mut terms: Vec<Node>) -> Node {
        match terms.len() {
            0 => Node::Empty,
            1 => terms.pop().unwrap_or(Node::Empty),
            _ => Node::Cat(terms),
        }
    }

    /// The alternation of the branches, without a wrapper where none is needed.
    pub(super) fn alt(mut branches: Vec<Node>) -> Node {
        match branches.len() {
            0 => Node::Set(CharSet::default()),
            1 => branches.pop().unwrap_or(Node::Empty),
            _ => Node::Alt(branches),
        }
    }

    /// A set, as a single character where it has one member.
    pub(super) fn set(set: CharSet) -> Node {
        set.single().map_or(Node::Set(set), Node::Char)
    }

    /// True where the node can only match the empty string, as V8 counts it.
    pub(super) fn is_empty_width(&self) -> bool {
        match self {
            Node::Empty | Node::Look(_) | Node::Assert(_) => true,
            Node::Char(_) | Node::Set(_) | Node::BackRef(_) => false,
            Node::Cat(nodes) | Node::Alt(nodes) => nodes.iter().all(Node::is_empty_width),
            Node::Group(body, _) => body.is_empty_width(),
            Node::Repeat(r) => r.max == 0 || r.body.is_empty_width(),
        }
    }

    /// True where the node may match without consuming a character.
    pub(super) fn can_be_empty(&self) -> bool {
        match self {
            Node::Empty | Node::Look(_) | Node::Assert(_) | Node::BackRef(_) => true,
            Node::Char(_) | Node::Set(_) => false,
            Node::Cat(nodes) => nodes.iter().all(Node::can_be_empty),
            Node::Alt(nodes) => nodes.iter().any(Node::can_be_empty),
            Node::Group(body, _) => body.can_be_empty(),
            Node::Repeat(r) => r.min == 0 || r.body.can_be_empty(),
        }
    }

    /// True where the node matches the empty string at the start of every text.
    pub(super) fn matches_at_start(&self) -> bool {
        match self {
            Node::Empty | Node::Assert(Assert::Start | Assert::LineStart) => true,
            Node::Char(_) | Node::Set(_) | Node::BackRef(_) | Node::Look(_) | Node::Assert(_) => {
                false
            }
            Node::Cat(nodes) => nodes.iter().all(Node::matches_at_start),
            Node::Alt(nodes) => nodes.iter().any(Node::matches_at_start),
            Node::Group(body, _) => body.matches_at_start(),
            Node::Repeat(r) => r.min == 0 || r.body.matches_at_start(),
        }
    }

    /// True where the test holds for the node or for some node inside it.
    pub(super) fn any(&self, test: &dyn Fn(&Node) -> bool) -> bool {
        test(self)
            || match self {
                Node::Cat(nodes) | Node::Alt(nodes) => nodes.iter().any(|n| n.any(test)),
                Node::Group(body, _) => body.any(test),
                Node::Look(look) => look.body.any(test),
                Node::Repeat(r) => r.body.any(test),
                _ => false,
            }
    }

    /// True where the node needs neither lookaround nor captures.
    pub(super) fn is_regular(&self) -> bool {
        !self.any(&|n| matches!(n, Node::Look(_) | Node::BackRef(_)))
    }

    /// True where the node matches between the halves of a surrogate pair under u and v. V8
    /// begins there too, where nothing can be consumed and no edge stands: `/\B/u` on `"a😀a"`.
    pub(super) fn matches_inside_pair(&self) -> bool {
        match self {
            Node::Empty => true,
            // V8 refuses to end a reference inside a pair.
            Node::Char(_) | Node::Set(_) | Node::BackRef(_) => false,
            Node::Cat(nodes) => nodes.iter().all(Node::matches_inside_pair),
            Node::Alt(nodes) => nodes.iter().any(Node::matches_inside_pair),
            Node::Group(body, _) => body.matches_inside_pair(),
            Node::Look(look) => look.negative != look.body.matches_inside_pair(),
            Node::Assert(kind) => matches!(kind, Assert::NotWord | Assert::NotWordFolded),
            Node::Repeat(r) => r.min == 0 || r.body.matches_inside_pair(),
        }
    }
}
