//! Compiled patterns for one-off calls, kept for a while.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::error::JsRegexError;
use super::regex::JsRegex;

/// The most entries that a thread keeps.
const MAX_ENTRIES: usize = 256;
/// The most memory that they may take together.
const MAX_BYTES: usize = 32 << 20;

type Key = (Vec<u8>, String, bool);

struct Entry {
    result: Result<Arc<JsRegex>, JsRegexError>,
    used: u64,
}

#[derive(Default)]
struct Cache {
    entries: HashMap<Key, Entry>,
    clock: u64,
}

thread_local! {
    // One a thread: no lock is ever held, so a fork finds none locked.
    static CACHE: RefCell<Cache> = RefCell::default();
}

/// A compiled pattern from the cache of this thread, compiled now where it is not there. Errors
/// are kept too.
pub fn cached(pattern: &[u8], flags: &str, untrusted: bool) -> Result<Arc<JsRegex>, JsRegexError> {
    let key = (pattern.to_vec(), flags.to_owned(), untrusted);
    if let Some(result) = CACHE.with_borrow_mut(|cache| cache.find(&key)) {
        return result;
    }
    let compile = if untrusted { JsRegex::untrusted } else { JsRegex::new };
    let result = compile(pattern, flags).map(Arc::new);
    CACHE.with_borrow_mut(|cache| cache.insert(key, result.clone()));
    result
}

impl Cache {
    fn find(&mut self, key: &Key) -> Option<Result<Arc<JsRegex>, JsRegexError>> {
        self.clock += 1;
        let entry = self.entries.get_mut(key)?;
        entry.used = self.clock;
        Some(entry.result.clone())
    }

    fn insert(&mut self, key: Key, result: Result<Arc<JsRegex>, JsRegexError>) {
        self.clock += 1;
        self.entries.insert(key, Entry { result, used: self.clock });
        while self.entries.len() > 1
            && (self.entries.len() > MAX_ENTRIES || self.memory() > MAX_BYTES)
        {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
            self.entries.remove(&oldest);
        }
    }

    fn memory(&self) -> usize {
        let size = |(key, entry): (&Key, &Entry)| {
            key.0.len() + entry.result.as_ref().map_or(256, |regex| regex.memory_usage())
        };
        self.entries.iter().map(size).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_call_gives_the_same_regex() {
        let first = cached(b"a+b", "i", false).unwrap();
        assert!(Arc::ptr_eq(&first, &cached(b"a+b", "i", false).unwrap()));
        assert!(!Arc::ptr_eq(&first, &cached(b"a+b", "i", true).unwrap()));
        assert_eq!(cached(b"(", "", false).unwrap_err(), cached(b"(", "", false).unwrap_err());
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let mut cache = Cache::default();
        let key = |i: usize| (i.to_string().into_bytes(), String::new(), false);
        for i in 0..MAX_ENTRIES + 10 {
            cache.insert(key(i), JsRegex::new(b"x", "").map(Arc::new));
            assert!(cache.find(&key(0)).is_some(), "used each time, kept");
        }
        assert_eq!(cache.entries.len(), MAX_ENTRIES);
        assert!(cache.find(&key(1)).is_none());
    }
}
