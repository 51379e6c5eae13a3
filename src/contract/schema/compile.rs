//! From a schema to nodes. Nothing recurses: what a node needs is put on a list.

use std::collections::HashMap;

use super::super::keys::Keys;
use super::super::keywords::{Draft, is_annotation, keyword};
use super::formats::Format;
use super::index::{Found, Index, address};
use super::node::{
    Arrays, Compiled, Contains, Discriminator, Limit, Literals, Node, NodeId, Numbers, Objects,
    Reference, Texts,
};
use super::pattern::Pattern;
use crate::json::{Decimal, Document, Type, Value};

/// Compiles a schema, and collects what its author should know.
pub(super) fn compile(root: &Value, untrusted: bool) -> Result<(Compiled, Vec<String>), String> {
    let index = Index::new(root)?;
    let mut compiler = Compiler {
        index,
        untrusted,
        ids: HashMap::new(),
        queue: Vec::new(),
        nodes: Vec::new(),
        names: Vec::new(),
        evaluated: false,
        warnings: Vec::new(),
    };
    let anchors: Vec<_> =
        compiler.index.dynamic_anchors().map(|(r, n, s)| (r, n.to_owned(), s)).collect();
    compiler.id(root, 0);
    let mut dynamic = Vec::new();
    if !anchors.is_empty() {
        dynamic.resize_with(compiler.index.resources.len(), Vec::new);
    }
    for (resource, name, schema) in anchors {
        let (name, node) = (compiler.name(name), compiler.shared(schema, resource));
        if let Some(list) = dynamic.get_mut(resource) {
            list.push((name, node));
        }
    }
    while let Some((schema, home, id)) = compiler.queue.pop() {
        let mut node = compiler.node(schema, home)?;
        node.memo = compiler.nodes[id].memo;
        compiler.nodes[id] = node;
    }
    let mut nodes = compiler.nodes;
    if compiler.evaluated {
        // What was evaluated is asked of each schema in place again.
        let in_place: Vec<NodeId> = nodes.iter().flat_map(in_place).collect();
        for id in in_place {
            nodes[id].memo = true;
        }
    }
    compiler.warnings.sort();
    compiler.warnings.dedup();
    Ok((Compiled { nodes, dynamic }, compiler.warnings))
}

/// The schemas that a node applies to the value that it is given itself, or asks twice.
fn in_place(node: &Node) -> Vec<NodeId> {
    let mut list = node.all.clone();
    list.extend(node.any.iter().chain(&node.one).flatten());
    if let Some((condition, then, otherwise)) = node.condition {
        list.extend([condition].into_iter().chain(then).chain(otherwise));
    }
    if let Some(objects) = &node.objects {
        list.extend(objects.dependent.iter().map(|(_, id)| *id));
    }
    let contains = node.arrays.as_ref().and_then(|arrays| arrays.contains.as_ref());
    list.extend(contains.map(|contains| contains.schema));
    list
}

struct Compiler<'s> {
    index: Index<'s>,
    untrusted: bool,
    /// The nodes of schemas, by address.
    ids: HashMap<usize, NodeId>,
    queue: Vec<(&'s Value, usize, NodeId)>,
    nodes: Vec<Node>,
    /// The names of dynamic anchors.
    names: Vec<String>,
    /// Some schema asks what others have evaluated.
    evaluated: bool,
    warnings: Vec<String>,
}

impl<'s> Compiler<'s> {
    /// The node of a schema; its resource counts where the index does not know it.
    fn id(&mut self, schema: &'s Value, home: usize) -> NodeId {
        let next = self.nodes.len();
        let id = *self.ids.entry(address(schema)).or_insert(next);
        if id == next {
            self.nodes.push(Node::default());
            self.queue.push((schema, self.index.home(schema).unwrap_or(home), id));
        }
        id
    }

    /// The node of a schema that several places may name.
    fn shared(&mut self, schema: &'s Value, home: usize) -> NodeId {
        let id = self.id(schema, home);
        self.nodes[id].memo = true;
        id
    }

    fn name(&mut self, name: String) -> usize {
        let known = self.names.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    fn node(&mut self, schema: &'s Value, home: usize) -> Result<Node, String> {
        let mut node = Node { resource: home, ..Node::default() };
        if !schema.is_object() {
            node.never = schema == &Value::Bool(false);
            return Ok(node);
        }
        let draft = self.index.resources[home].draft;
        let mut reader = Reader { compiler: self, schema, home, draft };
        reader.references(&mut node)?;
        // Up to draft 7 nothing stands beside a reference.
        if draft > Draft::V7 || schema.get("$ref").is_none() {
            reader.any_value(&mut node);
            node.numbers = reader.numbers()?;
            node.texts = reader.texts()?;
            node.objects = reader.objects()?;
            node.arrays = reader.arrays();
            reader.warn();
        }
        Ok(node)
    }
}

/// One schema that is being read.
struct Reader<'c, 's> {
    compiler: &'c mut Compiler<'s>,
    schema: &'s Value,
    home: usize,
    draft: Draft,
}

impl<'s> Reader<'_, 's> {
    /// The value of a keyword that the draft has.
    fn get(&self, key: &str) -> Option<&'s Value> {
        let active = |&(_, _, first, last, _): &_| (first..=last).contains(&self.draft);
        self.schema.get(key).filter(|_| keyword(key.as_bytes()).is_none_or(active))
    }

    fn id(&mut self, schema: &'s Value) -> NodeId {
        self.compiler.id(schema, self.home)
    }

    fn node(&mut self, key: &str) -> Option<NodeId> {
        self.get(key).map(|schema| self.id(schema))
    }

    fn list(&mut self, key: &str) -> Option<Vec<NodeId>> {
        let list = self.get(key)?.elements();
        Some(list.iter().map(|schema| self.id(schema)).collect())
    }

    fn count(&self, key: &str) -> Option<u64> {
        let Value::Number(number) = self.get(key)? else { return None };
        Decimal::parse(number.text())?.count()
    }

    fn references(&mut self, node: &mut Node) -> Result<(), String> {
        if let Some(reference) = self.get("$ref").and_then(Value::as_str) {
            let found = self.find(reference)?;
            node.references.push(found);
        }
        let recursive = self.get("$recursiveRef").map(|_| "#");
        let dynamic = self.get("$dynamicRef").and_then(Value::as_str);
        for reference in recursive.into_iter().chain(dynamic) {
            let name = self.compiler.index.dynamic_name(self.home, reference);
            let found = self.find(reference)?;
            node.references.push(match (name, found) {
                (Some(name), Reference::Node(id)) => {
                    Reference::Dynamic(self.compiler.name(name), id)
                }
                (_, found) => found,
            });
        }
        Ok(())
    }

    fn find(&mut self, reference: &str) -> Result<Reference, String> {
        Ok(match self.compiler.index.find(self.home, reference)? {
            Found::Schema(schema, home) => Reference::Node(self.compiler.shared(schema, home)),
            Found::Meta(draft) => Reference::Meta(draft),
        })
    }

    /// Claims on values of every type.
    fn any_value(&mut self, node: &mut Node) {
        node.nullable = self.get("nullable") == Some(&Value::Bool(true));
        node.types = self.get("type").map(|wanted| {
            let list =
                if let Value::Array(list) = wanted { list } else { std::slice::from_ref(wanted) };
            list.iter().filter_map(|name| Type::named(name.as_bytes()?)).collect()
        });
        node.constant = self.get("const").map(Document::from_value);
        let literals = self.get("enum").map(Value::elements);
        node.literals =
            literals.map(|list| Literals::new(list.iter().map(Document::from_value).collect()));
        node.all = self.list("allOf").unwrap_or_default();
        node.any = self.list("anyOf");
        node.one = self.list("oneOf");
        node.not = self.node("not");
        if let Some(condition) = self.node("if") {
            node.condition = Some((condition, self.node("then"), self.node("else")));
        }
        if node.any.is_some() || node.one.is_some() {
            node.discriminator = self.discriminator();
        }
    }

    /// A discriminator that names nothing guides nothing.
    fn discriminator(&mut self) -> Option<Box<Discriminator>> {
        let stated = self.get("discriminator")?;
        let key = stated.get("propertyName")?.as_bytes()?.to_vec();
        let mut branches = Vec::new();
        for (value, reference) in stated.get("mapping").map_or(&[][..], Value::members) {
            if let Some(Reference::Node(id)) = reference.as_str().and_then(|r| self.find(r).ok()) {
                branches.push((value.clone(), id));
            }
        }
        Some(Box::new(Discriminator { key, branches }))
    }

    fn numbers(&self) -> Result<Option<Box<Numbers>>, String> {
        let mut numbers = Numbers::default();
        let number = |key: &str| match self.get(key) {
            Some(Value::Number(number)) => Some(number.clone()),
            _ => None,
        };
        let exclusive = |key: &str| self.get(key) == Some(&Value::Bool(true));
        for (key, exclusive_key, limit, beyond) in [
            ("minimum", "exclusiveMinimum", Limit::Minimum, Limit::Above),
            ("maximum", "exclusiveMaximum", Limit::Maximum, Limit::Below),
        ] {
            let kind = if exclusive(exclusive_key) { beyond } else { limit };
            numbers.limits.extend(number(key).map(|limit| (kind, limit)));
            numbers.limits.extend(number(exclusive_key).map(|limit| (beyond, limit)));
        }
        numbers.multiple_of = number("multipleOf");
        if let Some(divisor) = &numbers.multiple_of
            && Decimal::parse(divisor.text()).is_none_or(|divisor| divisor.is_zero())
        {
            return Err("multipleOf: must be a number above 0".to_owned());
        }
        let some = !numbers.limits.is_empty() || numbers.multiple_of.is_some();
        Ok(some.then(|| Box::new(numbers)))
    }

    fn texts(&mut self) -> Result<Option<Box<Texts>>, String> {
        let mut texts = Texts {
            min: self.count("minLength"),
            max: self.count("maxLength"),
            ..Texts::default()
        };
        if let Some(pattern) = self.get("pattern").and_then(Value::as_bytes) {
            texts.pattern = Some(Pattern::new(pattern, self.compiler.untrusted)?);
        }
        if let Some(name) = self.get("format").and_then(Value::as_str) {
            texts.format = Format::named(name);
            // The widths that OpenAPI names are facts for programs, not claims.
            if texts.format.is_none() && !Format::is_annotation(name) {
                self.compiler
                    .warnings
                    .push(format!("format {name:?} is not known and claims nothing"));
            }
        }
        let some = texts.min.is_some()
            || texts.max.is_some()
            || texts.pattern.is_some()
            || texts.format.is_some();
        Ok(some.then(|| Box::new(texts)))
    }

    fn objects(&mut self) -> Result<Option<Box<Objects>>, String> {
        let mut objects = Objects {
            min: self.count("minProperties"),
            max: self.count("maxProperties"),
            additional: self.node("additionalProperties"),
            names: self.node("propertyNames"),
            unevaluated: self.node("unevaluatedProperties"),
            ..Objects::default()
        };
        self.compiler.evaluated |= objects.unevaluated.is_some();
        let keys = &mut Keys::default();
        for (key, schema) in self.members("properties") {
            objects.properties.push((keys.place(key), self.id(schema)));
        }
        if let Some(required) = self.get("required") {
            objects.required = places(required, keys);
        }
        for (pattern, schema) in self.members("patternProperties") {
            let pattern = Pattern::new(pattern, self.compiler.untrusted)?;
            objects.patterns.push((pattern, self.id(schema)));
        }
        for (key, names) in self.members("dependentRequired") {
            objects.dependent_required.push((keys.place(key), places(names, keys)));
        }
        for (key, schema) in self.members("dependentSchemas") {
            objects.dependent.push((keys.place(key), self.id(schema)));
        }
        for (key, needed) in self.members("dependencies") {
            let key = keys.place(key);
            if matches!(needed, Value::Array(_)) {
                objects.dependent_required.push((key, places(needed, keys)));
            } else {
                objects.dependent.push((key, self.id(needed)));
            }
        }
        objects.keys = std::mem::take(keys);
        let some = !objects.keys.is_empty()
            || objects.asks_each_member()
            || objects.min.is_some()
            || objects.max.is_some()
            || objects.unevaluated.is_some();
        Ok(some.then(|| Box::new(objects)))
    }

    fn members(&self, key: &str) -> &'s [(Vec<u8>, Value)] {
        self.get(key).map_or(&[], Value::members)
    }

    fn arrays(&mut self) -> Option<Box<Arrays>> {
        let listed = self.get("items").filter(|items| matches!(items, Value::Array(_)));
        let (prefix, rest) = match listed {
            Some(_) => (self.list("items"), self.node("additionalItems")),
            None => (self.list("prefixItems"), self.node("items")),
        };
        let contains = self.node("contains").map(|schema| Contains {
            schema,
            min: self.count("minContains").unwrap_or(1),
            max: self.count("maxContains"),
            evaluates: self.draft >= Draft::V2020,
        });
        let arrays = Arrays {
            min: self.count("minItems"),
            max: self.count("maxItems"),
            unique: self.get("uniqueItems") == Some(&Value::Bool(true)),
            prefix: prefix.unwrap_or_default(),
            rest,
            contains,
            unevaluated: self.node("unevaluatedItems"),
        };
        self.compiler.evaluated |= arrays.unevaluated.is_some();
        let some = arrays.min.is_some()
            || arrays.max.is_some()
            || arrays.unique
            || !arrays.prefix.is_empty()
            || arrays.rest.is_some()
            || arrays.contains.is_some()
            || arrays.unevaluated.is_some();
        some.then(|| Box::new(arrays))
    }

    /// Keywords of another draft claim nothing, which their author may not know.
    fn warn(&mut self) {
        for (key, _) in self.schema.members() {
            let Some(&(name, _, first, last, _)) = keyword(key) else { continue };
            if !(first..=last).contains(&self.draft) && !is_annotation(key) {
                let draft = self.draft.name();
                self.compiler
                    .warnings
                    .push(format!("{name} is not of draft {draft} and claims nothing"));
            }
        }
    }
}

/// The places of names.
fn places(names: &Value, keys: &mut Keys) -> Vec<usize> {
    names.elements().iter().filter_map(Value::as_bytes).map(|key| keys.place(key)).collect()
}
