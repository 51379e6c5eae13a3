//! What is told where no branch of `anyOf` or `oneOf` holds.
//!
//! Of the branches that want the value's type, the discriminator or a constant may leave one: its
//! violations are told. Else the message names what was wanted and what was found.

use super::evaluate::Walk;
use super::node::{Node, NodeId};
use crate::json::{Cursor, Kind, Type};

/// References that are followed to a branch's types.
const MAX_REFERENCES: usize = 32;

impl<'s, 'd> Walk<'s, 'd> {
    pub(super) fn no_branch(
        &mut self,
        node: &'s Node,
        branches: &'s [NodeId],
        keyword: &str,
        value: Cursor<'d>,
    ) -> bool {
        if !self.is_telling() || self.stopped.is_some() {
            return false;
        }
        let mut wanted: Vec<Type> = Vec::new();
        let mut typed = true;
        let mut left = Vec::new();
        for &branch in branches {
            let target = self.behind(branch);
            match &target.types {
                Some(types) => {
                    if types.iter().any(|kind| kind.accepts(value)) {
                        left.push(branch);
                    }
                    wanted.extend(types);
                }
                None => {
                    typed &= target.never;
                    left.extend((!target.never).then_some(branch));
                }
            }
        }
        if left.is_empty() && typed && !wanted.is_empty() {
            return self.wrong_type(&wanted, value);
        }
        if let Some(branch) = self.discriminated(node, branches, value) {
            left = vec![branch];
        }
        if left.len() > 1 {
            left.retain(|&branch| self.constants_hold(branch, value));
        }
        let before = self.told.len();
        if let [branch] = left[..] {
            self.visit(branch, value);
        }
        if self.told.len() == before {
            let count = branches.len();
            return self.broken(|| {
                format!("value fits none of the {count} schemas listed in the '{keyword}' keyword")
            });
        }
        false
    }

    /// The schema that a branch refers to, where it does no more than that.
    fn behind(&self, branch: NodeId) -> &'s Node {
        let mut node = &self.schema.nodes[branch];
        for _ in 0..MAX_REFERENCES {
            let [reference] = &node.references[..] else { break };
            let Some(target) = self.target(reference).filter(|_| node.types.is_none()) else {
                break;
            };
            node = &self.schema.nodes[target];
        }
        node
    }

    /// The branch that the value of the discriminator's key names.
    fn discriminated(
        &mut self,
        node: &Node,
        branches: &[NodeId],
        value: Cursor<'d>,
    ) -> Option<NodeId> {
        let discriminator = node.discriminator.as_ref()?;
        let name = value.get(&discriminator.key).filter(|name| name.kind() == Kind::String)?;
        let known = discriminator.branches.iter().find(|(known, _)| name.content_is(known));
        let target = known?.1;
        // The branch itself refers to the target.
        let leads = |&&branch: &&NodeId| {
            let node = &self.schema.nodes[branch];
            branch == target || node.references.iter().any(|r| self.target(r) == Some(target))
        };
        branches.iter().find(leads).copied()
    }

    /// True unless the value has a property that the branch wants to be another constant.
    fn constants_hold(&mut self, branch: NodeId, value: Cursor<'d>) -> bool {
        let node = self.behind(branch);
        if node.constant.is_some() || node.literals.is_some() {
            return false;
        }
        let Some(rules) = &node.objects else { return true };
        let found = rules.keys.find_in(value);
        rules.properties.iter().all(|&(key, schema)| {
            let inner = self.behind(schema);
            let constant = inner.constant.is_some() || inner.literals.is_some();
            !constant || found[key].is_some_and(|(_, value)| self.holds(schema, value))
        })
    }
}
