//! Whether a value holds, and what it breaks: one counted walk over schema and document.
//!
//! Errors are collected only after a value is known to break something, and no further than the
//! eighth. The answer of a schema that several places name is kept for each value, so that the
//! work is at most schemas times values; above that stands a budget of steps.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::super::place::{self, MAX_VIOLATIONS};
use super::malformed::malformed;
use super::node::{Arrays, Compiled, Limit, Node, NodeId, Numbers, Objects, Reference, Texts};
use super::pattern::Pattern;
use crate::json::{Cursor, Decimal, Kind, Type, Value, members_once, repeated_element, same_value};
use crate::stack::with_room;
use crate::text::to_utf8;

/// Steps that every value may take, and those that each of its nodes adds.
const STEPS: u64 = 1_000_000;
const STEPS_A_NODE: u64 = 64;
/// Steps of patterns that matchers may take over all texts of one value.
const PATTERN_STEPS: u64 = 20_000_000;
/// Schemas that are open at a time.
const MAX_OPEN: usize = 16_384;
/// So many schemas are entered between two looks at the stack.
const STACK_CHECK: usize = 16;

/// What is known of a schema and a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It is being asked: to ask again would never end.
    Open,
    Holds,
    Fails,
    /// It fails, and has been told.
    Told,
}

/// A walk of one value.
pub(super) struct Walk<'s, 'd> {
    pub(super) schema: &'s Compiled,
    steps: u64,
    limit: u64,
    pattern_steps: u64,
    /// Why the walk ended before its end.
    pub(super) stopped: Option<String>,
    known: HashMap<(u64, usize), Known, BuildHasherDefault<Mix>>,
    open: usize,
    scopes: Scopes,
    pub(super) scope: usize,
    /// Whether violations are collected.
    telling: bool,
    path: Vec<Step<'d>>,
    pub(super) told: Vec<String>,
}

#[derive(Clone, Copy)]
pub(super) enum Step<'d> {
    Key(Cursor<'d>),
    Index(usize),
}

impl<'s, 'd> Walk<'s, 'd> {
    pub(super) fn new(schema: &'s Compiled, root: Cursor<'d>) -> Self {
        let nodes = (root.after() - root.index()) as u64;
        Walk {
            schema,
            steps: 0,
            limit: STEPS.saturating_add(nodes.saturating_mul(STEPS_A_NODE)),
            pattern_steps: 0,
            stopped: None,
            known: HashMap::default(),
            open: 0,
            scopes: Scopes::default(),
            scope: 0,
            telling: false,
            path: Vec::new(),
            told: Vec::new(),
        }
    }

    /// The steps that were taken.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// As [`Walk::visit`], and collects violations.
    pub(super) fn tell(&mut self, root: Cursor<'d>) {
        self.telling = true;
        self.visit(0, root);
    }

    /// Counts work; false once there was too much.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps as u64);
        if self.steps > self.limit && self.stopped.is_none() {
            self.stopped = Some(format!("the schema takes more than {} steps", self.limit));
        }
        self.stopped.is_none()
    }

    /// Whether a value holds, without a word.
    pub(super) fn holds(&mut self, id: NodeId, value: Cursor<'d>) -> bool {
        let telling = std::mem::replace(&mut self.telling, false);
        let holds = self.visit(id, value);
        self.telling = telling;
        holds
    }

    fn at(&mut self, step: Step<'d>, id: NodeId, value: Cursor<'d>) -> bool {
        self.path.push(step);
        let holds = self.visit(id, value);
        self.path.pop();
        holds
    }

    /// Whether a value holds; in a telling walk, violations are added.
    pub(super) fn visit(&mut self, id: NodeId, value: Cursor<'d>) -> bool {
        if !self.spend(1) {
            return false;
        }
        let schema = self.schema;
        let node = &schema.nodes[id];
        let outer = self.scope;
        self.enter(node);
        let holds =
            if node.memo { self.remembered(id, node, value) } else { self.roomy(node, value) };
        self.scope = outer;
        holds
    }

    /// Enters the resource of a schema.
    pub(super) fn enter(&mut self, node: &Node) {
        if self.schema.has_scopes() {
            self.scope = self.scopes.enter(self.scope, node.resource, self.schema);
        }
    }

    fn remembered(&mut self, id: NodeId, node: &'s Node, value: Cursor<'d>) -> bool {
        let key = ((id as u64) << 32 | value.index() as u64, self.scope);
        match self.known.get(&key) {
            Some(Known::Holds) => return true,
            Some(Known::Fails) if !self.telling => return false,
            Some(Known::Told) => return false,
            Some(Known::Open) => {
                self.stopped
                    .get_or_insert_with(|| "the schema refers to itself without end".to_owned());
                return false;
            }
            Some(Known::Fails) | None => {}
        }
        self.known.insert(key, Known::Open);
        let telling = self.telling;
        let holds = self.roomy(node, value);
        let known = match holds {
            true => Known::Holds,
            false if telling => Known::Told,
            false => Known::Fails,
        };
        self.known.insert(key, known);
        holds
    }

    fn roomy(&mut self, node: &'s Node, value: Cursor<'d>) -> bool {
        if self.open >= MAX_OPEN {
            self.stopped.get_or_insert_with(|| "the schema nests too deep".to_owned());
            return false;
        }
        self.open += 1;
        let holds = if self.open.is_multiple_of(STACK_CHECK) {
            with_room(|| self.check(node, value))
        } else {
            self.check(node, value)
        };
        self.open -= 1;
        holds
    }

    /// One more claim: false ends the look at a node, where nothing is told or enough is.
    fn go_on(&self, holds: bool) -> bool {
        holds || (self.telling && self.told.len() < MAX_VIOLATIONS && self.stopped.is_none())
    }

    fn check(&mut self, node: &'s Node, value: Cursor<'d>) -> bool {
        if node.nullable && value.kind() == Kind::Null {
            return true;
        }
        if node.never {
            return self.broken(|| "False schema does not allow value".to_owned());
        }
        // Nothing more is said of a value of a wrong type.
        if let Some(types) = &node.types
            && !types.iter().any(|kind| kind.accepts(value))
        {
            return self.wrong_type(types, value);
        }
        let claims: [fn(&mut Self, &'s Node, Cursor<'d>) -> bool; 4] =
            [Self::literals, Self::scalar, Self::container, Self::in_place];
        let mut holds = true;
        for claim in claims {
            holds &= claim(self, node, value);
            if !self.go_on(holds) {
                break;
            }
        }
        holds && self.stopped.is_none()
    }

    /// Wanted before got; the names in their alphabet's order, as each schema may have its own.
    pub(super) fn wrong_type(&mut self, wanted: &[Type], value: Cursor<'d>) -> bool {
        self.broken(|| {
            let mut names: Vec<_> = wanted.iter().map(|kind| kind.name()).collect();
            names.sort_unstable();
            names.dedup();
            format!("expected {}, got {}", names.join(" or "), value.kind().name())
        })
    }

    fn literals(&mut self, node: &'s Node, value: Cursor<'d>) -> bool {
        if let Some(constant) = &node.constant {
            self.spend(size(constant.root()));
            if !same_value(constant.root(), value) {
                let wanted = clip(&constant.to_json());
                return self.broken(|| format!("{wanted} was expected"));
            }
        }
        if let Some(literals) = &node.literals {
            self.spend(size(value));
            if !literals.has(value) {
                return self.broken(|| "value is not one of the allowed enum literals".to_owned());
            }
        }
        true
    }

    fn scalar(&mut self, node: &'s Node, value: Cursor<'d>) -> bool {
        match value.kind() {
            Kind::Number => node.numbers.as_ref().is_none_or(|rules| self.number(rules, value)),
            Kind::String => node.texts.as_ref().is_none_or(|rules| self.text(rules, value)),
            _ => true,
        }
    }

    fn container(&mut self, node: &'s Node, value: Cursor<'d>) -> bool {
        match value.kind() {
            Kind::Object => node.objects.as_ref().is_none_or(|rules| self.object(rules, value)),
            Kind::Array => node.arrays.as_ref().is_none_or(|rules| self.array(rules, value)),
            _ => true,
        }
    }

    fn number(&mut self, rules: &Numbers, value: Cursor<'d>) -> bool {
        self.spend(value.number_text().len() / 16);
        let number = value.decimal();
        let mut holds = true;
        for (limit, bound) in &rules.limits {
            // What is no finite number lies within no limits.
            let order =
                number.as_ref().zip(Decimal::parse(bound.text())).map(|(a, b)| a.compare(&b));
            if !order.is_some_and(|order| limit.allows(order)) {
                let how = match limit {
                    Limit::Minimum => "less than the minimum of",
                    Limit::Maximum => "greater than the maximum of",
                    Limit::Above => "less than or equal to the minimum of",
                    Limit::Below => "greater than or equal to the maximum of",
                };
                holds = self.broken(|| format!("value is {how} {}", bound.text()));
            }
        }
        if let Some(divisor) = &rules.multiple_of {
            // Each digit of the one is divided by all digits of the other.
            let (len, by) = (value.number_text().len(), divisor.text().len());
            if !self.spend(len.saturating_add(4 * by).saturating_mul(by / 9 + 1) / 16) {
                return false;
            }
            let divides = number
                .zip(Decimal::parse(divisor.text()))
                .and_then(|(number, divisor)| number.is_multiple_of(&divisor));
            if divides != Some(true) {
                holds = self.broken(|| format!("value is not a multiple of {}", divisor.text()));
            }
        }
        holds
    }

    fn text(&mut self, rules: &Texts, value: Cursor<'d>) -> bool {
        let text = value.content();
        self.spend(text.len() / 16);
        let mut holds = true;
        if rules.min.is_some() || rules.max.is_some() {
            let length = text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64;
            holds &= self.size(length, rules.min, rules.max, |more, limit| {
                let how = if more { "longer" } else { "shorter" };
                format!("value is {how} than {limit} character{}", plural(limit, "", "s"))
            });
        }
        if let Some(pattern) = &rules.pattern
            && !self.matches(pattern, &text)
        {
            holds = self.broken(|| format!("value does not match /{}/", clip(&pattern.text())));
        }
        if let Some(format) = rules.format {
            self.spend(text.len());
            if !format.holds(&to_utf8(&text)) {
                holds = self.broken(|| format!("value is not a \"{}\"", format.name()));
            }
        }
        holds
    }

    /// Whether a pattern matches, within the budget that all texts of the value share.
    pub(super) fn matches(&mut self, pattern: &Pattern, text: &[u8]) -> bool {
        if self.pattern_steps > PATTERN_STEPS {
            self.stopped.get_or_insert_with(|| {
                format!("the patterns of the schema take more than {PATTERN_STEPS} steps")
            });
            return false;
        }
        let (found, steps) = pattern.test(text);
        self.pattern_steps += steps;
        match found {
            Ok(found) => found,
            Err(spent) => {
                self.stopped.get_or_insert(spent);
                false
            }
        }
    }

    fn object(&mut self, rules: &'s Objects, value: Cursor<'d>) -> bool {
        self.spend(value.len());
        let mut holds = true;
        let found = rules.keys.find_in(value);
        for &key in rules.required.iter().filter(|&&key| found[key].is_none()) {
            holds = self.missing(rules, key);
            if !self.go_on(holds) {
                return false;
            }
        }
        for (key, names) in rules.dependent_required.iter().filter(|(key, _)| found[*key].is_some())
        {
            for &name in names.iter().filter(|&&name| found[name].is_none()) {
                let because = clip(&rules.keys.name(*key));
                holds = self.broken_at(&rules.keys.name(name), || {
                    format!("key is missing, which {because:?} requires")
                });
            }
        }
        for &(key, schema) in &rules.properties {
            let Some((name, inner)) = found[key] else { continue };
            holds &= self.at(Step::Key(name), schema, inner);
            if !self.go_on(holds) {
                return false;
            }
        }
        if rules.min.is_some() || rules.max.is_some() || rules.asks_each_member() {
            holds &= self.each_member(rules, value);
        }
        for &(key, schema) in &rules.dependent {
            if self.go_on(holds) && found[key].is_some() {
                holds &= self.visit(schema, value);
            }
        }
        holds
    }

    fn missing(&mut self, rules: &Objects, key: usize) -> bool {
        self.broken_at(&rules.keys.name(key), || "required key is missing".to_owned())
    }

    /// Sizes, `patternProperties`, `additionalProperties` and `propertyNames`.
    fn each_member(&mut self, rules: &'s Objects, value: Cursor<'d>) -> bool {
        let members = members_once(value);
        let mut holds = self.size(members.len() as u64, rules.min, rules.max, |more, limit| {
            let how = if more { "more" } else { "less" };
            format!("value has {how} than {limit} propert{}", plural(limit, "y", "ies"))
        });
        if !rules.asks_each_member() {
            return holds;
        }
        let mut unexpected = Vec::new();
        let closed = rules.additional.filter(|&schema| self.schema.nodes[schema].never);
        for (key, inner) in members {
            if !self.go_on(holds) {
                return false;
            }
            if let Some(names) = rules.names {
                holds &= self.at(Step::Key(key), names, key);
            }
            let mut known = rules.declares(key);
            for (pattern, schema) in &rules.patterns {
                if self.spend(1) && self.matches(pattern, &key.content()) {
                    known = true;
                    holds &= self.at(Step::Key(key), *schema, inner);
                }
            }
            match rules.additional {
                Some(_) if !known && closed.is_some() => {
                    if !self.telling {
                        return false;
                    }
                    unexpected.push(key);
                }
                Some(schema) if !known => holds &= self.at(Step::Key(key), schema, inner),
                _ => {}
            }
        }
        if !unexpected.is_empty() {
            holds = self.unexpected(&unexpected);
        }
        holds
    }

    pub(super) fn unexpected(&mut self, keys: &[Cursor<'d>]) -> bool {
        self.broken(|| {
            let names = place::keys(keys.iter().map(|key| key.content()));
            format!("keys that are not allowed: {names}")
        })
    }

    fn array(&mut self, rules: &'s Arrays, value: Cursor<'d>) -> bool {
        let mut holds = self.size(value.len() as u64, rules.min, rules.max, |more, limit| {
            let how = if more { "more" } else { "less" };
            format!("value has {how} than {limit} item{}", plural(limit, "", "s"))
        });
        if rules.unique
            && self.go_on(holds)
            && self.spend(size(value))
            && let Some((first, second)) = repeated_element(value)
        {
            holds = self.broken(|| {
                format!("value has non-unique elements ([{first}] and [{second}] are equal)")
            });
        }
        if !rules.prefix.is_empty() || rules.rest.is_some() {
            holds &= self.elements(rules, value, holds);
        }
        if let Some(contains) = &rules.contains
            && self.go_on(holds)
        {
            let enough =
                contains.max.map_or(contains.min, |max| contains.min.max(max.saturating_add(1)));
            let mut fit = 0;
            for element in value.elements() {
                if fit >= enough {
                    break;
                }
                fit += u64::from(self.holds(contains.schema, element));
            }
            if fit < contains.min {
                holds = match contains.min {
                    1 => {
                        self.broken(|| "None of value are valid under the given schema".to_owned())
                    }
                    min => self.broken(|| {
                        format!("value has {fit} items that fit contains, wanted at least {min}")
                    }),
                };
            }
            if let Some(max) = contains.max.filter(|&max| fit > max) {
                holds =
                    self.broken(|| format!("value has more than {max} items that fit contains"));
            }
        }
        holds
    }

    fn elements(&mut self, rules: &'s Arrays, value: Cursor<'d>, before: bool) -> bool {
        let mut holds = before;
        for (i, element) in value.elements().enumerate() {
            let Some(schema) = rules.prefix.get(i).copied().or(rules.rest) else { break };
            if !self.go_on(holds) {
                return false;
            }
            if i >= rules.prefix.len() && self.schema.nodes[schema].never {
                let (allowed, more) = (rules.prefix.len(), value.len() - rules.prefix.len());
                return self.broken(|| {
                    format!("Additional items are not allowed ({more} more than {allowed})")
                });
            }
            holds &= self.at(Step::Index(i), schema, element);
        }
        holds
    }

    /// What applies to the value itself: references and combinations of schemas.
    fn in_place(&mut self, node: &'s Node, value: Cursor<'d>) -> bool {
        let mut holds = true;
        for reference in &node.references {
            holds &= self.reference(reference, value);
            if !self.go_on(holds) {
                return false;
            }
        }
        for &schema in &node.all {
            holds &= self.visit(schema, value);
            if !self.go_on(holds) {
                return false;
            }
        }
        if let Some(branches) = &node.any
            && !branches.iter().any(|&branch| self.holds(branch, value))
        {
            holds = self.no_branch(node, branches, "anyOf", value);
        }
        if let Some(branches) = &node.one
            && self.go_on(holds)
        {
            let mut fit =
                branches.iter().enumerate().filter(|(_, branch)| self.holds(**branch, value));
            let (first, second) = (fit.next(), fit.next());
            holds = match (first, second) {
                (None, _) => self.no_branch(node, branches, "oneOf", value),
                (Some((first, _)), Some((second, _))) => self.broken(|| {
                    format!(
                        "value fits more than one of the schemas in oneOf ({first} and {second})"
                    )
                }),
                _ => holds,
            };
        }
        if let Some(schema) = node.not
            && self.go_on(holds)
            && self.holds(schema, value)
        {
            holds = self.broken(|| "value fits the schema of not".to_owned());
        }
        if let Some((condition, then, otherwise)) = node.condition
            && self.go_on(holds)
        {
            let branch = if self.holds(condition, value) { then } else { otherwise };
            holds &= branch.is_none_or(|branch| self.visit(branch, value));
        }
        let unevaluated = node.objects.as_ref().is_some_and(|o| o.unevaluated.is_some())
            || node.arrays.as_ref().is_some_and(|a| a.unevaluated.is_some());
        if unevaluated && self.go_on(holds) {
            holds &= self.unevaluated(node, value);
        }
        holds
    }

    fn reference(&mut self, reference: &Reference, value: Cursor<'d>) -> bool {
        match reference {
            Reference::Node(id) => self.visit(*id, value),
            Reference::Dynamic(name, id) => {
                let id = self.scopes.find(self.scope, *name).unwrap_or(*id);
                self.visit(id, value)
            }
            Reference::Meta(draft) => {
                self.spend(size(value));
                match malformed(&Value::from_cursor(value), *draft) {
                    None => true,
                    Some(fault) => self.broken(|| format!("value is no schema: {fault}")),
                }
            }
        }
    }

    /// The target of a reference in the present scope; None for a draft's own schema.
    pub(super) fn target(&self, reference: &Reference) -> Option<NodeId> {
        match reference {
            Reference::Node(id) => Some(*id),
            Reference::Dynamic(name, id) => {
                Some(self.scopes.find(self.scope, *name).unwrap_or(*id))
            }
            Reference::Meta(_) => None,
        }
    }

    /// As [`Walk::visit`], one step down.
    pub(super) fn visit_at(&mut self, step: Step<'d>, id: NodeId, value: Cursor<'d>) -> bool {
        self.at(step, id, value)
    }

    /// True where a further violation would be told.
    pub(super) fn is_telling(&self) -> bool {
        self.telling
    }

    fn size(
        &mut self,
        size: u64,
        min: Option<u64>,
        max: Option<u64>,
        say: impl Fn(bool, u64) -> String,
    ) -> bool {
        if let Some(min) = min.filter(|&min| size < min) {
            return self.broken(|| say(false, min));
        }
        if let Some(max) = max.filter(|&max| size > max) {
            return self.broken(|| say(true, max));
        }
        true
    }

    /// False, and a violation where they are told.
    pub(super) fn broken(&mut self, what: impl FnOnce() -> String) -> bool {
        self.broken_with("", what)
    }

    fn broken_at(&mut self, key: &str, what: impl FnOnce() -> String) -> bool {
        self.broken_with(&format!(".{key}"), what)
    }

    fn broken_with(&mut self, end: &str, what: impl FnOnce() -> String) -> bool {
        if self.telling && self.told.len() < MAX_VIOLATIONS {
            let path = self.path_text();
            self.told.push(format!("{path}{end}: {}", what()));
        }
        false
    }

    fn path_text(&self) -> String {
        let mut path = String::from("$");
        for step in &self.path {
            match step {
                Step::Key(key) => place::push_key(&mut path, &to_utf8(&key.content())),
                Step::Index(i) => path.push_str(&format!("[{i}]")),
            }
        }
        place::cut_path(path)
    }
}

/// The nodes of a value, and the bytes of a scalar in units that cost about as much.
fn size(value: Cursor<'_>) -> usize {
    match value.kind() {
        Kind::String | Kind::Number => 1 + value.raw_bytes().len() / 16,
        _ => value.after() - value.index(),
    }
}

/// Text on one line, at most 200 characters of it.
pub(super) fn clip(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    match line.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

fn plural(count: u64, one: &'static str, more: &'static str) -> &'static str {
    if count == 1 { one } else { more }
}

/// Dynamic scopes: for each anchor's name the outermost schema that has it. The first scope has
/// none.
#[derive(Default)]
struct Scopes {
    /// Names and schemas of each scope but the first.
    list: Vec<Vec<(usize, NodeId)>>,
    /// What entering a resource in a scope leads to.
    entered: HashMap<(usize, usize), usize>,
}

impl Scopes {
    fn enter(&mut self, scope: usize, resource: usize, schema: &Compiled) -> usize {
        let anchors = schema.dynamic.get(resource).map_or(&[][..], Vec::as_slice);
        if anchors.is_empty() {
            return scope;
        }
        if let Some(&known) = self.entered.get(&(scope, resource)) {
            return known;
        }
        let mut names = scope.checked_sub(1).map_or_else(Vec::new, |i| self.list[i].clone());
        let before = names.len();
        for &(name, node) in anchors {
            if !names.iter().any(|&(known, _)| known == name) {
                names.push((name, node));
            }
        }
        let entered = if names.len() == before {
            scope
        } else {
            names.sort_unstable();
            match self.list.iter().position(|known| *known == names) {
                Some(known) => known + 1,
                None => {
                    self.list.push(names);
                    self.list.len()
                }
            }
        };
        self.entered.insert((scope, resource), entered);
        entered
    }

    fn find(&self, scope: usize, name: usize) -> Option<NodeId> {
        let names = self.list.get(scope.checked_sub(1)?)?;
        names.iter().find(|&&(known, _)| known == name).map(|&(_, node)| node)
    }
}

/// A hasher for keys that nobody chooses: indices.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 29);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}
