//! Long alternations as tries: `word1|word2|wood` becomes `wo(?:rd[12]|od)`.
//!
//! A list of thousands of words has ten times fewer states so. The answer of a test does not
//! depend on the order of branches where nothing is captured.

use std::collections::HashMap;

use super::ast::{Look, Node, Repeat};
use super::set::CharSet;

/// Branches from which on an alternation is worth the work.
const MANY: usize = 8;
/// Levels of a trie; deeper down the branches stay as they are.
const MAX_LEVELS: usize = 64;

/// A pattern without captures whose long alternations are tries. It has the same matches, in
/// another order. Recursion is bounded by the nesting that the parser allows.
pub(super) fn factor(node: &Node) -> Node {
    let all = |nodes: &[Node]| nodes.iter().map(factor).collect();
    match node {
        Node::Alt(nodes) if nodes.len() >= MANY => {
            let branches = nodes.iter().map(|branch| match factor(branch) {
                Node::Cat(terms) => terms,
                Node::Empty => Vec::new(),
                other => vec![other],
            });
            trie(branches.collect(), MAX_LEVELS)
        }
        Node::Alt(nodes) => Node::Alt(all(nodes)),
        Node::Cat(nodes) => Node::Cat(all(nodes)),
        Node::Group(body, index) => Node::Group(Box::new(factor(body)), *index),
        Node::Look(look) => Node::Look(Look { body: Box::new(factor(&look.body)), ..look.clone() }),
        Node::Repeat(r) => Node::Repeat(Repeat { body: Box::new(factor(&r.body)), ..r.clone() }),
        other => other.clone(),
    }
}

/// The characters of a term that can be shared.
fn key(term: &Node) -> Option<CharSet> {
    match term {
        Node::Char(c) => Some(CharSet::one(*c)),
        Node::Set(set) => Some(set.clone()),
        _ => None,
    }
}

fn trie(branches: Vec<Vec<Node>>, levels: usize) -> Node {
    // Branches by their first term, in the order in which the terms come.
    let mut places: HashMap<CharSet, usize> = HashMap::new();
    let mut groups: Vec<Vec<Vec<Node>>> = Vec::new();
    let mut may_be_empty = false;
    for branch in branches {
        if branch.is_empty() {
            may_be_empty = true;
            continue;
        }
        match branch.first().and_then(key) {
            Some(key) => {
                let place = *places.entry(key).or_insert(groups.len());
                if place == groups.len() {
                    groups.push(Vec::new());
                }
                groups[place].push(branch);
            }
            None => groups.push(vec![branch]),
        }
    }
    let mut single = Vec::new();
    let mut nodes = Vec::new();
    for mut group in groups {
        match (&group[..], group.first().map(Vec::as_slice)) {
            ([_], Some([Node::Char(c)])) => single.push((*c, *c)),
            ([_], Some([Node::Set(set)])) => single.extend_from_slice(set.ranges()),
            ([_], _) => nodes.extend(group.pop().map(Node::cat)),
            _ => nodes.push(shared(group, levels)),
        }
    }
    if !single.is_empty() {
        nodes.push(Node::set(CharSet::new(single)));
    }
    if may_be_empty {
        nodes.push(Node::Empty);
    }
    Node::alt(nodes)
}

/// Branches with the same first term: what they share, then a trie of the rest.
fn shared(mut group: Vec<Vec<Node>>, levels: usize) -> Node {
    let Some(shortest) = group.iter().map(Vec::len).min() else { return Node::Empty };
    let same_at = |at: usize| {
        let first = key(&group[0][at]);
        first.is_some() && group.iter().all(|branch| key(&branch[at]) == first)
    };
    let common = (1..shortest).find(|&at| !same_at(at)).unwrap_or(shortest);
    let mut terms = group[0][..common].to_vec();
    for branch in &mut group {
        branch.drain(..common);
    }
    terms.push(match levels {
        0 => Node::Alt(group.into_iter().map(Node::cat).collect()),
        _ => trie(group, levels - 1),
    });
    Node::cat(terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Node {
        let word = |w: &&str| Node::cat(w.chars().map(|c| Node::Char(c.into())).collect());
        Node::Alt(list.iter().map(word).collect())
    }

    #[test]
    fn shared_prefixes_are_written_once() {
        let list = ["aa1", "aa2", "aab", "b", "c", "aa", "bd", "aa1"];
        let found = format!("{:?}", factor(&words(&list)));
        assert_eq!(found.matches("Char(97)").count(), 2, "{found}");
        let few = words(&list[..3]);
        assert_eq!(format!("{:?}", factor(&few)), format!("{few:?}"));
    }

    #[test]
    fn depth_is_bounded() {
        let steps: Vec<String> = (1..400).map(|n| "a".repeat(n)).collect();
        let list: Vec<&str> = steps.iter().map(String::as_str).collect();
        let mut depth = 0;
        let mut node = factor(&words(&list));
        while let Node::Cat(mut terms) = node {
            depth += 1;
            let Some(Node::Alt(mut branches)) = terms.pop() else { break };
            node = branches.pop().unwrap_or(Node::Empty);
            if !matches!(node, Node::Cat(_)) {
                node = branches.into_iter().find(|b| matches!(b, Node::Cat(_))).unwrap_or(node);
            }
        }
        assert_eq!(depth, MAX_LEVELS + 2);
    }
}
