//! `unevaluatedProperties` and `unevaluatedItems`: what the schemas that apply in place to a value
//! leave over.

use std::collections::HashSet;

use super::evaluate::{Step, Walk};
use super::node::{Node, NodeId};
use crate::json::{Cursor, Kind, members_once};
use crate::stack::with_room;

/// What schemas have evaluated of one value.
#[derive(Default)]
struct Seen {
    /// Everything.
    all: bool,
    /// The values of members and elements, by their indices in the document.
    children: HashSet<usize>,
    /// The first elements, so many.
    prefix: usize,
    /// The schemas that were asked, and in which scope.
    asked: HashSet<(NodeId, usize)>,
}

impl<'s, 'd> Walk<'s, 'd> {
    pub(super) fn unevaluated(&mut self, node: &'s Node, value: Cursor<'d>) -> bool {
        let mut seen = Seen::default();
        match value.kind() {
            Kind::Object => {
                let rules = node.objects.as_ref();
                let Some(schema) = rules.and_then(|rules| rules.unevaluated) else { return true };
                self.evaluated(node, value, true, &mut seen);
                if seen.all {
                    return true;
                }
                let left = members_once(value);
                let left = left.into_iter().filter(|(_, v)| !seen.children.contains(&v.index()));
                if !self.schema.nodes[schema].never {
                    let mut holds = true;
                    for (key, inner) in left {
                        holds &= self.visit_at(Step::Key(key), schema, inner);
                        if !holds && !self.is_telling() {
                            return false;
                        }
                    }
                    return holds;
                }
                let left: Vec<_> = left.map(|(key, _)| key).collect();
                left.is_empty() || self.unexpected(&left)
            }
            Kind::Array => {
                let rules = node.arrays.as_ref();
                let Some(schema) = rules.and_then(|rules| rules.unevaluated) else { return true };
                self.evaluated(node, value, true, &mut seen);
                let mut holds = true;
                for (i, element) in value.elements().enumerate().skip(seen.prefix) {
                    if seen.all || seen.children.contains(&element.index()) {
                        continue;
                    }
                    holds &= self.visit_at(Step::Index(i), schema, element);
                    if !holds && !self.is_telling() {
                        return false;
                    }
                }
                holds
            }
            _ => true,
        }
    }

    /// Adds what a schema that holds evaluates; of the one that asks, without its own claim.
    fn evaluated(&mut self, node: &'s Node, value: Cursor<'d>, own: bool, seen: &mut Seen) {
        if seen.all || !self.spend(1) {
            return;
        }
        match value.kind() {
            Kind::Object => self.evaluated_members(node, value, own, seen),
            Kind::Array => self.evaluated_elements(node, value, own, seen),
            _ => return,
        }
        let mut branches: Vec<NodeId> = Vec::new();
        branches.extend(node.references.iter().filter_map(|reference| self.target(reference)));
        branches.extend(&node.all);
        branches.extend(node.any.iter().chain(&node.one).flatten());
        if let Some((condition, then, otherwise)) = node.condition {
            branches.extend([condition].into_iter().chain(then.into_iter().chain(otherwise)));
            // The branch that the condition does not choose may hold too.
            let chosen = self.holds(condition, value);
            let other = if chosen { otherwise } else { then };
            branches.retain(|branch| Some(*branch) != other);
        }
        if let Some(rules) = &node.objects {
            let found = rules.keys.find_in(value);
            let there = rules.dependent.iter().filter(|(key, _)| found[*key].is_some());
            branches.extend(there.map(|(_, schema)| schema));
        }
        for branch in branches {
            let outer = self.scope;
            if seen.asked.insert((branch, outer)) && self.holds(branch, value) {
                let node = &self.schema.nodes[branch];
                self.enter(node);
                with_room(|| self.evaluated(node, value, false, seen));
                self.scope = outer;
            }
        }
    }

    fn evaluated_members(&mut self, node: &'s Node, value: Cursor<'d>, own: bool, seen: &mut Seen) {
        let Some(rules) = &node.objects else { return };
        if rules.additional.is_some() || (!own && rules.unevaluated.is_some()) {
            seen.all = true;
            return;
        }
        let found = rules.keys.find_in(value);
        let declared = rules.properties.iter().filter_map(|(key, _)| found[*key]);
        seen.children.extend(declared.map(|(_, inner)| inner.index()));
        if rules.patterns.is_empty() {
            return;
        }
        for (key, inner) in members_once(value) {
            let text = key.content();
            if rules.patterns.iter().any(|(pattern, _)| self.matches(pattern, &text)) {
                seen.children.insert(inner.index());
            }
        }
    }

    fn evaluated_elements(
        &mut self,
        node: &'s Node,
        value: Cursor<'d>,
        own: bool,
        seen: &mut Seen,
    ) {
        let Some(rules) = &node.arrays else { return };
        if rules.rest.is_some() || (!own && rules.unevaluated.is_some()) {
            seen.all = true;
            return;
        }
        seen.prefix = seen.prefix.max(rules.prefix.len());
        let Some(contains) = rules.contains.as_ref().filter(|contains| contains.evaluates) else {
            return;
        };
        for element in value.elements() {
            if self.holds(contains.schema, element) {
                seen.children.insert(element.index());
            }
        }
    }
}
