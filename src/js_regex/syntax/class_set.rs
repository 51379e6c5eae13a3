//! What a class under v holds: characters, and strings.

use std::collections::BTreeSet;

use super::super::ast::Node;
use super::super::fold;
use super::super::set::CharSet;

/// Characters and strings of other lengths than one. Under i strings hold canonical characters,
/// and the set of a whole class is closed over folding. A single character is not closed where it
/// is an operand: `[k&&K]` is empty in V8, and `[[k]&&[K]]` is not.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassSet {
    pub(super) set: CharSet,
    pub(super) strings: BTreeSet<Vec<u32>>,
    pub(super) ignore_case: bool,
    /// Some operand has strings, whether or not they are left.
    pub(super) may_contain_strings: bool,
}

impl ClassSet {
    pub(super) fn new(set: CharSet) -> Self {
        ClassSet { set, ..ClassSet::default() }
    }

    /// An empty class whose strings fold or do not fold.
    pub(super) fn folding(ignore_case: bool) -> Self {
        ClassSet { ignore_case, ..ClassSet::default() }
    }

    pub(super) fn add_string(&mut self, text: &[u32]) {
        let canonical = |&c: &u32| if self.ignore_case { fold::canonical_code_point(c) } else { c };
        let text = text.iter().map(canonical).collect();
        self.strings.insert(text);
        self.may_contain_strings = true;
    }

    /// The node that matches the class: longer strings first.
    pub(super) fn into_node(self) -> Node {
        if self.strings.is_empty() {
            return Node::set(self.set);
        }
        let mut strings: Vec<&Vec<u32>> = self.strings.iter().collect();
        strings.sort_by_key(|s| std::cmp::Reverse(s.len()));
        let mut branches: Vec<Node> = Vec::new();
        for text in strings.iter().filter(|s| !s.is_empty()) {
            let chars = text.iter().map(|&c| {
                if self.ignore_case {
                    Node::set(fold::close(&CharSet::one(c), true))
                } else {
                    Node::Char(c)
                }
            });
            branches.push(Node::cat(chars.collect()));
        }
        branches.push(Node::set(self.set.clone()));
        if strings.iter().any(|s| s.is_empty()) {
            branches.push(Node::Empty);
        }
        Node::alt(branches)
    }
}
