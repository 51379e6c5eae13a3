//! What a match may begin with: characters, and bytes at the start of a text, where one look
//! refutes most texts.

use super::ast::{Assert, Node};
use super::set::CharSet;

/// For each byte, whether a match may begin with it.
pub(super) type FirstBytes = [bool; 256];

/// The first bytes of a pattern that is anchored at the start and matches no empty text; None for
/// another one.
pub(super) fn first_bytes(root: &Node) -> Option<Box<FirstBytes>> {
    let Node::Cat(nodes) = root else { return None };
    if !matches!(nodes.first(), Some(Node::Assert(Assert::Start))) {
        return None;
    }
    let mut bytes = Box::new([false; 256]);
    (!add(root, &mut bytes)).then_some(bytes)
}

/// Adds what a node may begin with; true where it may match without a character. Recursion is
/// bounded by the nesting that the parser allows.
fn add(node: &Node, bytes: &mut FirstBytes) -> bool {
    match node {
        Node::Char(c) => add_range(*c, *c, bytes),
        Node::Set(set) => {
            for &(low, high) in set.ranges().iter().take_while(|r| r.0 < 0x80) {
                add_range(low, high, bytes);
            }
            set.ranges().last().is_some_and(|r| add_range(r.0, r.1, bytes))
        }
        Node::Cat(nodes) => nodes.iter().all(|node| add(node, bytes)),
        // Every branch adds its own, so none may be skipped.
        Node::Alt(nodes) => nodes.iter().fold(false, |empty, node| add(node, bytes) | empty),
        Node::Group(body, _) => add(body, bytes),
        Node::Repeat(r) => add(&r.body, bytes) || r.min == 0,
        Node::Empty | Node::Look(_) | Node::BackRef(_) | Node::Assert(_) => true,
    }
}

/// Adds a range of characters. Beyond ASCII every byte may come first: encodings differ there.
fn add_range(low: u32, high: u32, bytes: &mut FirstBytes) -> bool {
    for (byte, slot) in (0u32..).zip(bytes.iter_mut()) {
        *slot |= if byte < 0x80 { (low..=high).contains(&byte) } else { high >= 0x80 };
    }
    false
}

/// The characters that a match can begin with, or nothing where it may be empty.
pub(super) fn first(node: &Node) -> Option<CharSet> {
    first_of(std::slice::from_ref(node), None)
}

/// The characters that nodes in a row can begin with, `behind` being what must follow them.
pub(super) fn first_of(nodes: &[Node], behind: Option<&CharSet>) -> Option<CharSet> {
    let mut ranges = Vec::new();
    for node in nodes {
        if !add_first(node, &mut ranges)? {
            return Some(CharSet::new(ranges));
        }
    }
    ranges.extend_from_slice(behind?.ranges());
    Some(CharSet::new(ranges))
}

/// True where `\b` stands before everything that is consumed.
pub(super) fn begins_at_word(node: &Node) -> bool {
    match node {
        Node::Assert(kind) => *kind == Assert::Word,
        Node::Cat(nodes) => nodes.first().is_some_and(begins_at_word),
        Node::Group(body, _) => begins_at_word(body),
        _ => false,
    }
}

/// True where every member is a word character.
pub(super) fn is_word_set(set: &CharSet) -> bool {
    let word = [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
    let inside = |&(low, high): &(u32, u32)| word.iter().any(|w| w.0 <= low && high <= w.1);
    set.ranges().iter().all(inside)
}

/// Adds what the node can begin with; says whether it may consume nothing.
fn add_first(node: &Node, out: &mut Vec<(u32, u32)>) -> Option<bool> {
    match node {
        Node::Empty | Node::Assert(_) | Node::Look(_) => Some(true),
        Node::Char(c) => {
            out.push((*c, *c));
            Some(false)
        }
        Node::Set(set) => {
            out.extend_from_slice(set.ranges());
            Some(false)
        }
        Node::Cat(nodes) => {
            for node in nodes {
                if !add_first(node, out)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        Node::Alt(nodes) => {
            nodes.iter().try_fold(false, |empty, node| Some(empty | add_first(node, out)?))
        }
        Node::Group(body, _) => add_first(body, out),
        Node::Repeat(r) if r.max == 0 => Some(true),
        Node::Repeat(r) => Some(add_first(&r.body, out)? || r.min == 0),
        Node::BackRef(_) => None,
    }
}
