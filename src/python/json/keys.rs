//! Python strings of keys that came before.
//!
//! A small direct-mapped table a thread: documents of one kind share their keys, and a `str` that
//! is used again has its hash at hand.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::super::text::to_str;

/// The longest key that is kept.
const LONGEST: usize = 55;
const PLACES: usize = 1024;

struct Entry {
    len: u8,
    bytes: [u8; LONGEST],
    text: Py<PyString>,
}

/// The table.
pub(super) struct Keys {
    places: Vec<Option<Entry>>,
}

thread_local! {
    static KEPT: Cell<Option<Keys>> = const { Cell::new(None) };
}

impl Keys {
    /// Lends the thread's table to some work. Python code that runs within it (a finalizer) finds
    /// none and gets a new one.
    pub(super) fn with<R>(work: impl FnOnce(&mut Keys) -> R) -> R {
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let mut keys = kept.unwrap_or_else(|| Keys { places: Vec::new() });
        let result = work(&mut keys);
        // A thread that ends has no place to keep it.
        let _ = KEPT.try_with(|place| place.set(Some(keys)));
        result
    }

    /// The `str` of a key (WTF-8).
    #[inline]
    pub(super) fn get<'py>(
        &mut self,
        py: Python<'py>,
        key: &[u8],
    ) -> PyResult<Bound<'py, PyString>> {
        if key.len() > LONGEST {
            return to_str(py, key);
        }
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        let Some(place) = self.places.get_mut(hash(key) % PLACES) else { return to_str(py, key) };
        if let Some(entry) = place
            && entry.bytes.get(..usize::from(entry.len)) == Some(key)
        {
            return Ok(entry.text.bind(py).clone());
        }
        let text = to_str(py, key)?;
        let mut bytes = [0; LONGEST];
        for (to, from) in bytes.iter_mut().zip(key) {
            *to = *from;
        }
        let len = u8::try_from(key.len()).unwrap_or(u8::MAX);
        *place = Some(Entry { len, bytes, text: text.clone().unbind() });
        Ok(text)
    }
}

/// Eight bytes a step; the high bits are the well mixed ones.
#[inline]
fn hash(key: &[u8]) -> usize {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let (words, tail) = key.as_chunks::<8>();
    let mut sum = key.len() as u64;
    for word in words {
        sum = (sum.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR);
    }
    let rest = tail.iter().fold(0, |rest, &byte| rest << 8 | u64::from(byte));
    let sum = (sum.rotate_left(5) ^ rest).wrapping_mul(FACTOR);
    usize::try_from(sum >> 40).unwrap_or(0)
}
