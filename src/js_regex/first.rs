//! The bytes that a match from the start of a text may begin with: one look refutes most texts.

use super::ast::{Assert, Node};

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
            for &(low, high) in set.ranges() {
                add_range(low, high, bytes);
            }
            false
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
