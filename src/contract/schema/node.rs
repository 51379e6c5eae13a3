//! A compiled schema: nodes that name each other by index.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;

use super::super::keys::Keys;
use super::super::keywords::Draft;
use super::formats::Format;
use super::pattern::Pattern;
use crate::json::{Cursor, Document, Number, Type, hash_value, same_value};

/// The index of a node.
pub(super) type NodeId = usize;

/// One schema. What it does not claim is empty.
#[derive(Default)]
pub(super) struct Node {
    /// The resource that the schema stands in.
    pub(super) resource: usize,
    /// Reached from several places, so that its answers are kept.
    pub(super) memo: bool,
    /// The schema `false`.
    pub(super) never: bool,
    /// `nullable`: null holds, whatever else is claimed.
    pub(super) nullable: bool,
    /// The types that are allowed, where some are named.
    pub(super) types: Option<Vec<Type>>,
    pub(super) constant: Option<Document<'static>>,
    pub(super) literals: Option<Literals>,
    pub(super) numbers: Option<Box<Numbers>>,
    pub(super) texts: Option<Box<Texts>>,
    pub(super) objects: Option<Box<Objects>>,
    pub(super) arrays: Option<Box<Arrays>>,
    pub(super) references: Vec<Reference>,
    pub(super) all: Vec<NodeId>,
    pub(super) any: Option<Vec<NodeId>>,
    pub(super) one: Option<Vec<NodeId>>,
    pub(super) not: Option<NodeId>,
    /// `if`, `then`, `else`.
    pub(super) condition: Option<(NodeId, Option<NodeId>, Option<NodeId>)>,
    /// `discriminator`: the key that tells branches apart, and the branch of each of its values.
    pub(super) discriminator: Option<Box<Discriminator>>,
}

/// What a reference leads to.
pub(super) enum Reference {
    Node(NodeId),
    /// The outermost schema of this name (by its place in [`Compiled::names`]) on the way here,
    /// else this one.
    Dynamic(usize, NodeId),
    /// A schema of this draft.
    Meta(Draft),
}

/// The values of `enum`.
pub(super) struct Literals {
    list: Vec<Document<'static>>,
    /// Their places by hash, once there are more than a few.
    places: HashMap<u64, Vec<usize>>,
    hasher: RandomState,
}

/// Up to this many literals, comparing with each is faster than hashing.
const FEW: usize = 8;

impl Literals {
    pub(super) fn new(list: Vec<Document<'static>>) -> Self {
        let hasher = RandomState::new();
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        if list.len() > FEW {
            for (i, literal) in list.iter().enumerate() {
                places.entry(hash_value(literal.root(), &hasher)).or_default().push(i);
            }
        }
        Literals { list, places, hasher }
    }

    pub(super) fn has(&self, value: Cursor<'_>) -> bool {
        let same = |literal: &Document<'_>| same_value(literal.root(), value);
        if self.list.len() <= FEW {
            return self.list.iter().any(same);
        }
        let alike = self.places.get(&hash_value(value, &self.hasher));
        alike.is_some_and(|places| places.iter().any(|&i| same(&self.list[i])))
    }
}

/// Claims on numbers.
#[derive(Default)]
pub(super) struct Numbers {
    pub(super) limits: Vec<(Limit, Number)>,
    pub(super) multiple_of: Option<Number>,
}

/// One end of a range.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Minimum,
    Maximum,
    Above,
    Below,
}

/// Claims on strings.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) pattern: Option<Pattern>,
    pub(super) format: Option<Format>,
}

/// Claims on objects. Keys are places in `keys`.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) keys: Keys,
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) required: Vec<usize>,
    pub(super) properties: Vec<(usize, NodeId)>,
    pub(super) patterns: Vec<(Pattern, NodeId)>,
    pub(super) additional: Option<NodeId>,
    pub(super) names: Option<NodeId>,
    pub(super) dependent_required: Vec<(usize, Vec<usize>)>,
    pub(super) dependent: Vec<(usize, NodeId)>,
    pub(super) unevaluated: Option<NodeId>,
}

impl Objects {
    /// True when each member must be looked at, declared or not.
    pub(super) fn asks_each_member(&self) -> bool {
        !self.patterns.is_empty() || self.additional.is_some() || self.names.is_some()
    }

    /// True when the key is one of `properties`.
    pub(super) fn declares(&self, key: Cursor<'_>) -> bool {
        let place = self.keys.place_of(key);
        place.is_some_and(|place| self.properties.iter().any(|(declared, _)| *declared == place))
    }
}

/// Claims on arrays.
#[derive(Default)]
pub(super) struct Arrays {
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) unique: bool,
    pub(super) prefix: Vec<NodeId>,
    /// For the elements behind the prefix.
    pub(super) rest: Option<NodeId>,
    pub(super) contains: Option<Contains>,
    pub(super) unevaluated: Option<NodeId>,
}

pub(super) struct Contains {
    pub(super) schema: NodeId,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
    /// From draft 2020-12 on the elements that fit count as evaluated.
    pub(super) evaluates: bool,
}

/// `discriminator` of OpenAPI.
pub(super) struct Discriminator {
    pub(super) key: Vec<u8>,
    pub(super) branches: Vec<(Vec<u8>, NodeId)>,
}

/// A schema as nodes; the first is the root.
pub(super) struct Compiled {
    pub(super) nodes: Vec<Node>,
    /// For each resource its dynamic anchors: name and node.
    pub(super) dynamic: Vec<Vec<(usize, NodeId)>>,
}

impl Compiled {
    /// True when the dynamic scope may change an answer.
    pub(super) fn has_scopes(&self) -> bool {
        !self.dynamic.is_empty()
    }
}

impl Limit {
    /// True when a value that compares so with the limit is within.
    pub(super) fn allows(self, order: std::cmp::Ordering) -> bool {
        match self {
            Limit::Minimum => order.is_ge(),
            Limit::Maximum => order.is_le(),
            Limit::Above => order.is_gt(),
            Limit::Below => order.is_lt(),
        }
    }
}
