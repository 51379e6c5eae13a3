//! Where the parts of a schema stand: its resources (`$id`), anchors, and what a reference names.

use std::collections::HashMap;

use super::super::keywords::{Draft, subschemas};
use super::uri::{resolve, split, steps};
use crate::json::Value;

/// A schema document, its resources and their anchors.
pub(in super::super) struct Index<'s> {
    pub(super) resources: Vec<Resource<'s>>,
    by_uri: HashMap<String, usize>,
    anchors: HashMap<(usize, String), Anchor<'s>>,
    /// The resource of each schema, by the schema's address.
    homes: HashMap<usize, usize>,
}

/// A schema with a URI of its own.
pub(super) struct Resource<'s> {
    uri: String,
    pub(super) root: &'s Value,
    pub(super) draft: Draft,
}

/// A name for a schema within its resource.
#[derive(Clone, Copy)]
struct Anchor<'s> {
    schema: &'s Value,
    dynamic: bool,
}

/// What a reference names.
pub(in super::super) enum Found<'s> {
    /// A schema and its resource.
    Schema(&'s Value, usize),
    /// The schema of a draft's schemas.
    Meta(Draft),
}

/// The name under which `$recursiveAnchor` is kept among the dynamic anchors; no anchor is empty.
const RECURSIVE: &str = "";

impl<'s> Index<'s> {
    /// Reads a schema; the error is that its `$schema` is not known.
    pub(in super::super) fn new(root: &'s Value) -> Result<Self, String> {
        let mut index = Index {
            resources: vec![Resource { uri: String::new(), root, draft: Draft::V2020 }],
            by_uri: HashMap::from([(String::new(), 0)]),
            anchors: HashMap::new(),
            homes: HashMap::new(),
        };
        let mut open = vec![(root, 0)];
        while let Some((schema, outer)) = open.pop() {
            let home = index.enter(schema, outer)?;
            index.homes.insert(address(schema), home);
            open.extend(subschemas(schema).into_iter().map(|(_, inner)| (inner, home)));
        }
        Ok(index)
    }

    /// The resource of a schema that stands in another one's; new where the schema has a URI.
    fn enter(&mut self, schema: &'s Value, outer: usize) -> Result<usize, String> {
        let root = std::ptr::eq(schema, self.resources[0].root);
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let mut draft = self.resources[outer].draft;
        if let Some(uri) = text("$schema") {
            let named = Draft::named(uri)
                .ok_or_else(|| format!("$schema {uri}: references are never fetched"));
            // Elsewhere than at the root of a resource it says nothing.
            if root || text("$id").is_some() || text("id").is_some() {
                draft = named?;
            }
        }
        let mut home = outer;
        let id = if draft == Draft::V4 { text("id") } else { text("$id") };
        // Up to draft 7 nothing stands beside a reference.
        let id = id.filter(|_| draft > Draft::V7 || text("$ref").is_none());
        if let Some(id) = id {
            let (uri, fragment) = split(id);
            if !uri.is_empty() {
                let uri = resolve(&self.resources[outer].uri, uri);
                home = self.resources.len();
                self.by_uri.insert(uri.clone(), home);
                self.resources.push(Resource { uri, root: schema, draft });
            }
            if !fragment.is_empty() && draft <= Draft::V7 {
                self.anchor(home, fragment, schema, false);
            }
        }
        if root && home == 0 {
            self.resources[0].draft = draft;
        }
        if draft >= Draft::V2019 {
            if let Some(name) = text("$anchor") {
                self.anchor(home, name.to_owned(), schema, false);
            }
            if let Some(name) = text("$dynamicAnchor") {
                self.anchor(home, name.to_owned(), schema, true);
            }
            let recursive = schema.get("$recursiveAnchor") == Some(&Value::Bool(true));
            if recursive && std::ptr::eq(schema, self.resources[home].root) {
                self.anchor(home, RECURSIVE.to_owned(), schema, true);
            }
        }
        Ok(home)
    }

    fn anchor(&mut self, home: usize, name: String, schema: &'s Value, dynamic: bool) {
        self.anchors.insert((home, name), Anchor { schema, dynamic });
    }

    /// The resource of a schema at a place that holds schemas.
    pub(in super::super) fn home(&self, schema: &Value) -> Option<usize> {
        self.homes.get(&address(schema)).copied()
    }

    /// The dynamic anchors: resource, name, schema.
    pub(super) fn dynamic_anchors(&self) -> impl Iterator<Item = (usize, &str, &'s Value)> {
        let dynamic = self.anchors.iter().filter(|(_, anchor)| anchor.dynamic);
        dynamic.map(|((home, name), anchor)| (*home, name.as_str(), anchor.schema))
    }

    /// The dynamic anchor that a reference names, if it names one.
    pub(super) fn dynamic_name(&self, home: usize, reference: &str) -> Option<String> {
        let (uri, fragment) = split(reference);
        let home = *self.by_uri.get(&resolve(&self.resources[home].uri, uri))?;
        let anchor = self.anchors.get(&(home, fragment.clone()))?;
        anchor.dynamic.then_some(fragment)
    }

    /// What a reference in a resource names; the error says why it names nothing.
    pub(in super::super) fn find(&self, home: usize, reference: &str) -> Result<Found<'s>, String> {
        let (uri, fragment) = split(reference);
        let uri = resolve(&self.resources[home].uri, uri);
        let Some(&home) = self.by_uri.get(&uri) else {
            return match Draft::named(&uri) {
                Some(draft) if fragment.is_empty() => Ok(Found::Meta(draft)),
                _ => Err(format!("$ref {reference}: references are never fetched")),
            };
        };
        let root = self.resources[home].root;
        if fragment.is_empty() {
            return Ok(Found::Schema(root, home));
        }
        let nothing = || format!("$ref {reference}: names nothing");
        if !fragment.starts_with('/') {
            let anchor = self.anchors.get(&(home, fragment)).ok_or_else(nothing)?;
            return Ok(Found::Schema(anchor.schema, self.home(anchor.schema).unwrap_or(home)));
        }
        let (mut at, mut home) = (root, home);
        for step in steps(&fragment) {
            at = match at {
                Value::Array(items) => step.parse().ok().and_then(|i: usize| items.get(i)),
                other => other.get(&step),
            }
            .ok_or_else(nothing)?;
            home = self.home(at).unwrap_or(home);
        }
        Ok(Found::Schema(at, home))
    }
}

/// Where a schema stands in memory: the same for as long as the schema is borrowed.
pub(super) fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema).addr()
}
