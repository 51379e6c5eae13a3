//! Documents that are escaped once more, as if they stood in a string: `{\"a\": 1}`.

use super::document::index_u32;

/// A text without one level of escapes.
pub(super) struct Unescaped {
    pub(super) text: Vec<u8>,
    /// The places in `text` before which a byte was taken out.
    removed: Vec<u32>,
}

impl Unescaped {
    /// Takes one level of escapes away. `\uXXXX` stays: it means the same inside a string.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut out = Unescaped { text: Vec::with_capacity(text.len()), removed: Vec::new() };
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            out.text.extend_from_slice(rest.get(..at).unwrap_or_default());
            let byte = match rest.get(at + 1) {
                Some(&b @ (b'"' | b'\\' | b'/' | b'\'')) => b,
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                _ => {
                    out.text.push(b'\\');
                    rest = rest.get(at + 1..).unwrap_or_default();
                    continue;
                }
            };
            out.removed.push(index_u32(out.text.len()));
            out.text.push(byte);
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        out.text.extend_from_slice(rest);
        out
    }

    /// Where a place in the new text stands in the old one.
    pub(super) fn original(&self, offset: usize) -> usize {
        offset + self.removed.partition_point(|&r| (r as usize) < offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_level_goes() {
        let text = Unescaped::of(br#"{\"a\":\"b\\\"c\\n\"}\u00e9\n"#);
        assert_eq!(text.text, b"{\"a\":\"b\\\"c\\n\"}\\u00e9\n");
        assert_eq!(text.original(0), 0);
        assert_eq!(text.original(1), 1);
        assert_eq!(text.original(2), 3);
    }
}
