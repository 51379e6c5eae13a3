//! The choice of a back end, and the shortcuts that need none.
//!
//! Only the yes or no of a test is asked for, so a pattern without backreferences may be changed
//! in any way that keeps the answer: groups go, `x+` at an open edge becomes `x`, `^[^]*` goes,
//! a positive lookaround at an open edge becomes plain text, and a negative one over a single
//! character becomes "an edge of the text or another character".

use std::collections::HashSet;

use memchr::memmem::Finder;

use super::ast::{Assert, Ast, Look, Node, Repeat, UNBOUNDED};
use super::automata::{self, Automaton};
use super::factor::factor;
use super::flags::Flags;
use super::program::SetTable;
use super::set::CharSet;
use super::units::decode;
use crate::text::{Text, push_scalar, wtf8};

/// How a pattern is answered without the matcher.
pub(super) enum Plan {
    Literal {
        finder: Box<Finder<'static>>,
        start: bool,
        end: bool,
    },
    /// The whole text is one of these.
    OneOf {
        texts: HashSet<Vec<u8>>,
        /// The length of the longest: a longer text is not hashed.
        longest: usize,
    },
    Run(Run),
    Regular(Box<Automaton>),
    /// All of these hold, each from the start of the text.
    Split(Vec<Part>),
    /// Lookaround or backreferences: only the matcher knows.
    Matcher,
}

/// One lookahead behind `^`, or what follows them.
pub(super) struct Part {
    negative: bool,
    /// Necessary for the plan to hold, and quicker to refute.
    quick: Option<Plan>,
    plan: Plan,
}

/// A repeated set between optional anchors, such as `^[^]{1,4000}$`.
pub(super) struct Run {
    set: SetTable,
    is_full: bool,
    min: usize,
    max: usize,
    start: bool,
    end: bool,
    code_points: bool,
}

/// A pattern, changed for the test alone, with its plan.
pub(super) fn plan(ast: &mut Ast, flags: Flags) -> Plan {
    let root = std::mem::replace(&mut ast.root, Node::Empty);
    let root = if flags.sticky { Node::Cat(vec![Node::Assert(Assert::Start), root]) } else { root };
    if ast.has_backref {
        ast.root = root;
        return Plan::Matcher;
    }
    ast.root = open_edges(flatten(root), flags.max_char());
    let plan = plan_node(&ast.root, flags);
    ast.root = factor(&ast.root);
    plan
}

fn plan_node(node: &Node, flags: Flags) -> Plan {
    if !node.is_regular() {
        return split(node, flags).map_or(Plan::Matcher, Plan::Split);
    }
    literal(node, flags)
        .or_else(|| one_of(node, flags))
        .or_else(|| run(node, flags))
        .unwrap_or_else(|| {
            Plan::Regular(Box::new(Automaton::new(factor(node), flags.code_points())))
        })
}

impl Plan {
    /// The answer, or nothing where the matcher has to find it.
    pub(super) fn test(&self, target: &Text<'_>) -> Option<bool> {
        match self {
            Plan::Literal { finder, start, end } => {
                let (text, literal) = (target.bytes(), finder.needle());
                Some(match (start, end) {
                    (true, true) => text == literal,
                    (true, false) => text.starts_with(literal),
                    (false, true) => text.ends_with(literal),
                    (false, false) => finder.find(text).is_some(),
                })
            }
            Plan::OneOf { texts, longest } => {
                let text = target.bytes();
                Some(text.len() <= *longest && texts.contains(text))
            }
            Plan::Run(run) => Some(run.test(target)),
            Plan::Regular(automaton) => automaton.is_match(target),
            Plan::Split(parts) => {
                for part in parts {
                    if part.holds(target)? == part.negative {
                        return Some(false);
                    }
                }
                Some(true)
            }
            Plan::Matcher => None,
        }
    }

    /// Bytes of memory, roughly.
    pub(super) fn memory(&self) -> usize {
        match self {
            Plan::Literal { finder, .. } => finder.needle().len(),
            Plan::OneOf { texts, .. } => texts.iter().map(|t| t.len() + 64).sum(),
            Plan::Regular(automaton) => automaton.memory(),
            Plan::Split(parts) => parts
                .iter()
                .map(|p| p.plan.memory() + p.quick.as_ref().map_or(0, Plan::memory))
                .sum(),
            Plan::Run(_) | Plan::Matcher => 0,
        }
    }
}

impl Part {
    fn holds(&self, target: &Text<'_>) -> Option<bool> {
        if let Some(quick) = &self.quick
            && quick.test(target) == Some(false)
        {
            return Some(false);
        }
        self.plan.test(target)
    }
}

/// Removes groups and nested concatenations.
fn flatten(node: Node) -> Node {
    match node {
        Node::Group(body, _) => flatten(*body),
        Node::Cat(nodes) => {
            let mut flat = Vec::with_capacity(nodes.len());
            for node in nodes {
                match flatten(node) {
                    Node::Cat(inner) => flat.extend(inner),
                    Node::Empty => {}
                    other => flat.push(other),
                }
            }
            Node::cat(flat)
        }
        Node::Alt(nodes) => Node::Alt(nodes.into_iter().map(flatten).collect()),
        Node::Look(look) => Node::Look(Look { body: Box::new(flatten(*look.body)), ..look }),
        Node::Repeat(r) => Node::Repeat(Repeat { body: Box::new(flatten(*r.body)), ..r }),
        other => other,
    }
}

/// Simplifies what stands at the open edges of an unanchored pattern.
fn open_edges(node: Node, max_char: u32) -> Node {
    let mut terms = match node {
        Node::Alt(branches) => {
            return Node::Alt(branches.into_iter().map(|b| open_edges(b, max_char)).collect());
        }
        Node::Cat(terms) => terms,
        other => vec![other],
    };
    while let Some(changed) = open_start(&mut terms, max_char) {
        splice(&mut terms, changed, true);
    }
    while let Some(changed) = open_end(&mut terms, max_char) {
        splice(&mut terms, changed, false);
    }
    Node::cat(terms)
}

fn splice(terms: &mut Vec<Node>, node: Node, at_start: bool) {
    let nodes = match node {
        Node::Cat(nodes) => nodes,
        Node::Empty => return,
        other => vec![other],
    };
    let at = if at_start { 0 } else { terms.len() };
    terms.splice(at..at, nodes);
}

/// Takes the first term where it can be replaced, and gives the replacement.
fn open_start(terms: &mut Vec<Node>, max_char: u32) -> Option<Node> {
    if let [Node::Assert(Assert::Start), Node::Repeat(r), ..] = &terms[..]
        && is_anything(r, max_char)
    {
        terms.drain(..2);
        return Some(Node::Empty);
    }
    let node = open_edge(terms.first()?, false, max_char)?;
    terms.remove(0);
    Some(node)
}

fn open_end(terms: &mut Vec<Node>, max_char: u32) -> Option<Node> {
    if let [.., Node::Repeat(r), Node::Assert(Assert::End)] = &terms[..]
        && is_anything(r, max_char)
    {
        terms.truncate(terms.len() - 2);
        return Some(Node::Empty);
    }
    let node = open_edge(terms.last()?, true, max_char)?;
    terms.pop();
    Some(node)
}

/// `[^]*`.
fn is_anything(r: &Repeat, max_char: u32) -> bool {
    r.min == 0 && r.max == UNBOUNDED && matches!(&*r.body, Node::Set(set) if set.is_full(max_char))
}

fn open_edge(node: &Node, at_end: bool, max_char: u32) -> Option<Node> {
    match node {
        Node::Repeat(r) if r.min == 0 => Some(Node::Empty),
        Node::Repeat(r) if r.min == 1 => Some((*r.body).clone()),
        Node::Repeat(r) if r.max > r.min => Some(Node::Repeat(Repeat { max: r.min, ..r.clone() })),
        Node::Look(look) if look.ahead == at_end && !look.negative => Some((*look.body).clone()),
        Node::Look(look) if look.ahead == at_end => {
            let set = match &*look.body {
                Node::Char(c) => CharSet::one(*c),
                Node::Set(set) => set.clone(),
                _ => return None,
            };
            let edge = Node::Assert(if at_end { Assert::End } else { Assert::Start });
            Some(Node::Alt(vec![edge, Node::set(set.complement(max_char))]))
        }
        _ => None,
    }
}

/// The terms between the anchors, and which anchors there are.
fn anchors(node: &Node) -> (&[Node], bool, bool) {
    let mut terms = match node {
        Node::Cat(nodes) => &nodes[..],
        other => std::slice::from_ref(other),
    };
    let start = matches!(terms.first(), Some(Node::Assert(Assert::Start)));
    if start {
        terms = &terms[1..];
    }
    let end = matches!(terms.last(), Some(Node::Assert(Assert::End)));
    if end {
        terms = &terms[..terms.len() - 1];
    }
    (terms, start, end)
}

fn literal(node: &Node, flags: Flags) -> Option<Plan> {
    let (terms, start, end) = anchors(node);
    let bytes = literal_bytes(terms, flags)?;
    Some(Plan::Literal { finder: Box::new(Finder::new(&bytes).into_owned()), start, end })
}

/// The literal as it stands in WTF-8, where it can be sought there: it must not begin or end
/// inside a character.
fn literal_bytes(terms: &[Node], flags: Flags) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for term in terms {
        match term {
            Node::Empty => {}
            Node::Char(c) if flags.code_points() && (0xD800..0xE000).contains(c) => return None,
            Node::Char(c) => push_scalar(&mut bytes, *c),
            _ => return None,
        }
    }
    let bytes = wtf8(bytes);
    std::str::from_utf8(&bytes).is_ok().then_some(bytes)
}

/// `^(?:a|b|c)$` over literals.
fn one_of(node: &Node, flags: Flags) -> Option<Plan> {
    let (terms, true, true) = anchors(node) else { return None };
    let [Node::Alt(branches)] = terms else { return None };
    let texts = branches.iter().map(|branch| match branch {
        Node::Cat(terms) => literal_bytes(terms, flags),
        other => literal_bytes(std::slice::from_ref(other), flags),
    });
    let texts = texts.collect::<Option<HashSet<_>>>()?;
    let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
    Some(Plan::OneOf { texts, longest })
}

/// Estimated states above which a run is counted even where an anchor is missing.
const MANY_STATES: u64 = 256;

fn run(node: &Node, flags: Flags) -> Option<Plan> {
    let (terms, start, end) = anchors(node);
    let [Node::Repeat(r)] = terms else { return None };
    if !(start && end) && automata::most_states(node) < MANY_STATES {
        return None;
    }
    let set = match &*r.body {
        Node::Char(c) => CharSet::one(*c),
        Node::Set(set) => set.clone(),
        _ => return None,
    };
    let count = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    Some(Plan::Run(Run {
        is_full: set.is_full(flags.max_char()),
        set: SetTable::new(set),
        min: count(r.min),
        // With an open edge the longest run is as good as a shorter one.
        max: if r.max == UNBOUNDED || !(start && end) { usize::MAX } else { count(r.max) },
        start,
        end,
        code_points: flags.code_points(),
    }))
}

impl Run {
    fn test(&self, target: &Text<'_>) -> bool {
        if self.is_full {
            let length = if self.code_points {
                target.bytes().iter().filter(|&&b| b & 0xC0 != 0x80).count()
            } else {
                target.utf16_len()
            };
            return length >= self.min && length <= self.max;
        }
        let text = if self.code_points { target.bytes() } else { target.cesu8() };
        let (mut at, mut count) = (0, 0);
        while at < text.len() {
            let (c, width) = decode(&text[at..]);
            at += width.max(1);
            if self.set.contains(c) {
                count += 1;
                if self.end && count > self.max || !self.end && count >= self.min {
                    return !self.end;
                }
            } else if self.start {
                return !self.end && count >= self.min;
            } else {
                count = 0;
            }
        }
        count >= self.min && count <= self.max
    }
}

/// `^(?!…)(?=…)rest` with regular parts.
fn split(node: &Node, flags: Flags) -> Option<Vec<Part>> {
    let Node::Cat(terms) = node else { return None };
    let (Node::Assert(Assert::Start), terms) = terms.split_first()? else { return None };
    let mut parts = Vec::new();
    let mut rest = terms;
    while let Some((Node::Look(look), tail)) = rest.split_first() {
        if !look.ahead {
            return None;
        }
        parts.push(part(&look.body, look.negative, flags)?);
        rest = tail;
    }
    if let Some((nowhere, all)) = tempered(rest, flags) {
        parts.extend([nowhere, all]);
    } else if !rest.is_empty() {
        parts.push(part(&Node::cat(rest.to_vec()), false, flags)?);
    }
    Some(parts)
}

/// `(?:(?!x)S)*$` over a set S: `x` is nowhere, and all characters are of the set.
fn tempered(rest: &[Node], flags: Flags) -> Option<(Part, Part)> {
    let [Node::Repeat(r), Node::Assert(Assert::End)] = rest else { return None };
    let Node::Cat(body) = &*r.body else { return None };
    let [Node::Look(look), set @ (Node::Set(_) | Node::Char(_))] = &body[..] else { return None };
    let barred = &look.body;
    // At the end of the text nothing is barred, so what may be empty cannot be said this way.
    if !look.ahead || !look.negative || !barred.is_regular() || barred.can_be_empty() {
        return None;
    }
    let plan = plan_node(&open_edges((**barred).clone(), flags.max_char()), flags);
    let all = Node::Repeat(Repeat { body: Box::new(set.clone()), ..r.clone() });
    let all = part(&Node::Cat(vec![all, Node::Assert(Assert::End)]), false, flags)?;
    Some((Part { negative: true, quick: None, plan }, all))
}

fn part(body: &Node, negative: bool, flags: Flags) -> Option<Part> {
    if !body.is_regular() {
        return None;
    }
    let anchored = flatten(Node::Cat(vec![Node::Assert(Assert::Start), body.clone()]));
    let plan = plan_node(&open_edges(anchored, flags.max_char()), flags);
    let quick = match body {
        // `^.*x` holds only where `x` occurs, and that a prefilter refutes quickly.
        Node::Cat(terms) => match terms.split_first() {
            Some((Node::Repeat(r), tail)) if r.min == 0 && !tail.is_empty() => {
                let tail = open_edges(Node::cat(tail.to_vec()), flags.max_char());
                Some(plan_node(&tail, flags))
            }
            _ => None,
        },
        _ => None,
    };
    Some(Part { negative, quick, plan })
}

/// The most literals that are sought before the matcher runs.
const MAX_REQUIRED: usize = 4;

/// The longest literals that every match has in the text, as WTF-8.
pub(super) fn required(node: &Node) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    find_required(std::slice::from_ref(node), &mut found);
    found.sort_by_key(|literal| std::cmp::Reverse(literal.len()));
    found.dedup();
    found.truncate(MAX_REQUIRED);
    found
}

fn find_required(nodes: &[Node], found: &mut Vec<Vec<u8>>) {
    let mut bytes = Vec::new();
    for node in nodes {
        match node {
            // Half a pair may be part of a character of the text.
            Node::Char(c) if !(0xD800..0xE000).contains(c) => {
                push_scalar(&mut bytes, *c);
                continue;
            }
            Node::Empty => continue,
            _ => {}
        }
        found.extend(Some(std::mem::take(&mut bytes)).filter(|b| !b.is_empty()));
        match node {
            Node::Cat(nodes) => find_required(nodes, found),
            Node::Group(body, _) => find_required(std::slice::from_ref(body), found),
            Node::Repeat(r) if r.min > 0 => find_required(std::slice::from_ref(&r.body), found),
            Node::Look(l) if !l.negative => find_required(std::slice::from_ref(&l.body), found),
            _ => {}
        }
    }
    found.extend(Some(bytes).filter(|b| !b.is_empty()));
}
