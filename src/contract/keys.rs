//! The keys that a schema names, found in an object in one pass.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::json::Cursor;
use crate::text::to_utf8;

/// The keys that a schema asks for, each once.
#[derive(Default)]
pub(super) struct Keys {
    list: Vec<Vec<u8>>,
    /// The place of each key; used once there are more than a few.
    places: HashMap<Vec<u8>, usize>,
}

/// Up to this many keys, comparing with each is faster than hashing.
const FEW: usize = 8;

impl Keys {
    /// The place of a key, which is added if it is new.
    pub(super) fn place(&mut self, key: &[u8]) -> usize {
        let next = self.list.len();
        let place = *self.places.entry(key.to_vec()).or_insert(next);
        if place == next {
            self.list.push(key.to_vec());
        }
        place
    }

    /// True without any key.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The key at a place, for people.
    pub(super) fn name(&self, place: usize) -> Cow<'_, str> {
        to_utf8(&self.list[place])
    }

    /// The place of an object's key.
    pub(super) fn place_of(&self, key: Cursor<'_>) -> Option<usize> {
        if self.list.len() <= FEW {
            self.list.iter().position(|name| key.content_is(name))
        } else {
            self.places.get(&*key.content()).copied()
        }
    }

    /// The member of each key, the last one where a key is repeated, in one pass over an object.
    pub(super) fn find_in<'d>(&self, object: Cursor<'d>) -> Vec<Option<(Cursor<'d>, Cursor<'d>)>> {
        let mut found = vec![None; self.list.len()];
        if self.list.is_empty() {
            return found;
        }
        for (key, value) in object.members() {
            if let Some(place) = self.place_of(key) {
                found[place] = Some((key, value));
            }
        }
        found
    }
}
