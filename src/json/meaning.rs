//! What JSON values mean, whoever asks: their types, when two are equal, and which of repeated
//! keys counts (the last one, in the place of the first).

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use super::document::{Cursor, Kind};

/// A type as schemas name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Any object.
    Object,
    /// Any array.
    Array,
    /// Any string.
    String,
    /// Any number.
    Number,
    /// A number without a fractional part, `1.0` among them.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// `null`.
    Null,
}

impl Type {
    /// Every type, in the order of messages.
    pub const ALL: [Type; 7] = [
        Type::Object,
        Type::Array,
        Type::String,
        Type::Number,
        Type::Integer,
        Type::Boolean,
        Type::Null,
    ];

    /// The type of a name.
    pub fn named(name: &[u8]) -> Option<Type> {
        Self::ALL.into_iter().find(|kind| kind.name().as_bytes() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Type::Object => "object",
            Type::Array => "array",
            Type::String => "string",
            Type::Number => "number",
            Type::Integer => "integer",
            Type::Boolean => "boolean",
            Type::Null => "null",
        }
    }

    /// True when a value is of the type.
    pub fn accepts(self, value: Cursor<'_>) -> bool {
        match (self, value.kind()) {
            (Type::Object, Kind::Object)
            | (Type::Array, Kind::Array)
            | (Type::String, Kind::String)
            | (Type::Number, Kind::Number)
            | (Type::Boolean, Kind::True | Kind::False)
            | (Type::Null, Kind::Null) => true,
            (Type::Integer, Kind::Number) => value.decimal().is_some_and(|d| d.is_integer()),
            _ => false,
        }
    }
}

/// Up to this many members, comparing their keys is faster than hashing them.
const FEW: usize = 12;

/// The members of an object, each key once: the last value, in the place of the first key.
pub fn members_once(object: Cursor<'_>) -> Vec<(Cursor<'_>, Cursor<'_>)> {
    let mut list: Vec<(Cursor<'_>, Cursor<'_>)> = Vec::with_capacity(object.len());
    if object.len() <= FEW {
        for (key, value) in object.members() {
            match list.iter_mut().find(|(known, _)| same_text(*known, key)) {
                Some(place) => place.1 = value,
                None => list.push((key, value)),
            }
        }
        return list;
    }
    let mut places = HashMap::with_capacity(object.len());
    for (key, value) in object.members() {
        let place = *places.entry(key.content()).or_insert(list.len());
        match list.get_mut(place) {
            Some(found) => found.1 = value,
            None => list.push((key, value)),
        }
    }
    list
}

fn same_text(a: Cursor<'_>, b: Cursor<'_>) -> bool {
    match (a.is_raw(), b.is_raw()) {
        (true, true) => a.raw_bytes() == b.raw_bytes(),
        (true, false) => b.content_is(a.raw_bytes()),
        _ => a.content_is(&b.content()),
    }
}

/// Equality of JSON values: numbers by value, objects without regard to the order of their keys.
pub fn same_value(a: Cursor<'_>, b: Cursor<'_>) -> bool {
    let mut open = vec![(a, b)];
    while let Some((a, b)) = open.pop() {
        if a.kind() != b.kind() {
            return false;
        }
        let same = match a.kind() {
            Kind::Null | Kind::False | Kind::True => true,
            Kind::String => same_text(a, b),
            Kind::Number => match (a.decimal(), b.decimal()) {
                (Some(a), Some(b)) => a.same_value(&b),
                _ => a.number_text() == b.number_text(),
            },
            Kind::Array => {
                let same = a.len() == b.len();
                if same {
                    open.extend(a.elements().zip(b.elements()));
                }
                same
            }
            Kind::Object => {
                let (a, b) = (sorted_members(a), sorted_members(b));
                let same = a.len() == b.len()
                    && a.iter().zip(&b).all(|((a, _), (b, _))| same_text(*a, *b));
                open.extend(a.iter().zip(&b).map(|(a, b)| (a.1, b.1)));
                same
            }
        };
        if !same {
            return false;
        }
    }
    true
}

/// The members of an object by key.
fn sorted_members(object: Cursor<'_>) -> Vec<(Cursor<'_>, Cursor<'_>)> {
    let mut members = members_once(object);
    members.sort_by(|(a, _), (b, _)| match (a.is_raw(), b.is_raw()) {
        (true, true) => a.raw_bytes().cmp(b.raw_bytes()),
        _ => a.content().cmp(&b.content()),
    });
    members
}

/// A hash under which equal values are alike.
pub fn hash_value(value: Cursor<'_>, keys: &RandomState) -> u64 {
    // Recursion is bounded: every document is at most MAX_DEPTH deep.
    let mut state = keys.build_hasher();
    match value.kind() {
        Kind::Null => state.write_u8(0),
        Kind::False => state.write_u8(1),
        Kind::True => state.write_u8(2),
        Kind::Number => {
            state.write_u8(3);
            match value.decimal() {
                Some(decimal) => decimal.hash_value(&mut state),
                None => state.write(value.number_text().as_bytes()),
            }
        }
        Kind::String => {
            state.write_u8(4);
            state.write(&value.content());
        }
        Kind::Array => {
            state.write_u8(5);
            value.elements().for_each(|inner| state.write_u64(hash_value(inner, keys)));
        }
        Kind::Object => {
            state.write_u8(6);
            let one = |(key, inner): &(Cursor<'_>, Cursor<'_>)| {
                let mut state = keys.build_hasher();
                state.write_u64(hash_value(*inner, keys));
                state.write(&key.content());
                state.finish()
            };
            // A sum has no order.
            let members = members_once(value);
            state.write_u64(members.iter().map(one).fold(0, u64::wrapping_add));
        }
    }
    state.finish()
}

/// The first element of an array that equals one before it, by their indices.
pub fn repeated_element(array: Cursor<'_>) -> Option<(usize, usize)> {
    let keys = RandomState::new();
    let hashed = array.elements().map(|element| hash_value(element, &keys));
    let mut hashed: Vec<(u64, usize, Cursor<'_>)> = hashed
        .zip(0..)
        .zip(array.elements())
        .map(|((hash, i), element)| (hash, i, element))
        .collect();
    hashed.sort_unstable_by_key(|&(hash, i, _)| (hash, i));
    let alike = hashed.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1);
    let repeated = alike.filter_map(|alike| {
        let (_, second, element) = alike.get(1)?;
        let (_, first, other) = alike.first()?;
        if same_value(*other, *element) {
            return Some((*first, *second));
        }
        // Different values of one hash.
        (1..alike.len()).find_map(|later| {
            let equal =
                |&&(_, _, value): &&(u64, usize, Cursor<'_>)| same_value(value, alike[later].2);
            alike[..later].iter().find(equal).map(|&(_, first, _)| (first, alike[later].1))
        })
    });
    repeated.min_by_key(|&(_, second)| second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn the_last_of_repeated_keys_counts_in_the_place_of_the_first() {
        let many: String = (0..20).map(|i| format!(r#""k{i}":0,"#)).collect();
        for start in ["", &many] {
            let text = format!(r#"{{{start}"a":1,"b":2,"\u0061":3}}"#);
            let document = parse(text.as_bytes()).unwrap();
            let members = members_once(document.root());
            let last = |i: usize| members[members.len() - i];
            assert!(last(2).0.content_is(b"a") && last(2).1.number_text() == "3");
            assert!(last(1).0.content_is(b"b"));
        }
    }

    #[test]
    fn equal_values_hash_alike() {
        let keys = RandomState::new();
        let same = [
            ("1", "1.0"),
            ("0", "-0.0"),
            (r#"{"a":1,"b":[2]}"#, r#"{"b":[2e0],"a":10e-1}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#""\u0061""#, r#""a""#),
        ];
        for (a, b) in same {
            let (a, b) = (parse(a.as_bytes()).unwrap(), parse(b.as_bytes()).unwrap());
            assert!(same_value(a.root(), b.root()));
            assert_eq!(hash_value(a.root(), &keys), hash_value(b.root(), &keys));
        }
        for (a, b) in [("1", "true"), ("0", "false"), ("[1]", "1"), ("{}", "[]"), ("null", "0")] {
            let (a, b) = (parse(a.as_bytes()).unwrap(), parse(b.as_bytes()).unwrap());
            assert!(!same_value(a.root(), b.root()));
        }
    }

    #[test]
    fn the_first_repeated_element() {
        let found = |text: &str| repeated_element(parse(text.as_bytes()).unwrap().root());
        assert_eq!(found("[1,2,1.0]"), Some((0, 2)));
        assert_eq!(found("[1,true,[1],[true],{}]"), None);
    }
}
