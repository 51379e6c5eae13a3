//! Texts that are written once more as a whole: escaped as if they stood in a string, with HTML
//! entities, or with the same mark at the start of each line.

use super::document::index_u32;

/// A text without what was written around or into it.
pub(super) struct Rewritten {
    pub(super) text: Vec<u8>,
    /// Places in `text`, and how many bytes were taken out before each.
    removed: Vec<(u32, u32)>,
}

impl Rewritten {
    fn new(len: usize) -> Self {
        Rewritten { text: Vec::with_capacity(len), removed: Vec::new() }
    }

    fn remove(&mut self, bytes: usize) {
        let before = self.removed.last().map_or(0, |r| r.1);
        self.removed.push((index_u32(self.text.len()), before + index_u32(bytes)));
    }

    /// Takes one level of escapes away. `\uXXXX` stays: it means the same inside a string.
    pub(super) fn unescaped(text: &[u8]) -> Self {
        let mut out = Rewritten::new(text.len());
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
            out.remove(1);
            out.text.push(byte);
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        out.text.extend_from_slice(rest);
        out
    }

    /// Decodes HTML entities, in a text that has them in place of its quotes.
    pub(super) fn without_entities(text: &[u8]) -> Option<Self> {
        const ENTITIES: [(&[u8], u8); 8] = [
            (b"&quot;", b'"'),
            (b"&#34;", b'"'),
            (b"&#39;", b'\''),
            (b"&#x27;", b'\''),
            (b"&apos;", b'\''),
            (b"&amp;", b'&'),
            (b"&lt;", b'<'),
            (b"&gt;", b'>'),
        ];
        memchr::memmem::find(text, b"&quot;")
            .or_else(|| memchr::memmem::find(text, b"&#34;"))
            .filter(|_| memchr::memchr(b'"', text).is_none())?;
        let mut out = Rewritten::new(text.len());
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'&', rest) {
            out.text.extend_from_slice(rest.get(..at).unwrap_or_default());
            let found = rest.get(at..).unwrap_or_default();
            let (len, byte) = ENTITIES
                .iter()
                .find(|(name, _)| found.starts_with(name))
                .map_or((1, b'&'), |&(name, byte)| (name.len(), byte));
            if len > 1 {
                out.remove(len - 1);
            }
            out.text.push(byte);
            rest = found.get(len..).unwrap_or_default();
        }
        out.text.extend_from_slice(rest);
        Some(out)
    }

    /// Takes the mark away that each line from some line on begins with: `> ` of a quoted block, or
    /// the mark of a list before the lines of one document. Prose may stand before those lines.
    pub(super) fn without_marks(text: &[u8]) -> Option<Self> {
        let mut at = 0;
        let mut first = None;
        for line in text.split_inclusive(|&b| b == b'\n') {
            match (first, mark_of(line)) {
                (None, Some((mark, body))) if mark == b'>' || matches!(body, b"{" | b"[") => {
                    first = Some((at, mark));
                }
                (Some((_, mark)), Some((other, _))) if other == mark => {}
                (Some(_), _) if !line.trim_ascii().is_empty() => return None,
                _ => {}
            }
            at += line.len();
        }
        let (start, _) = first?;
        let (prose, block) = text.split_at(start);
        let marked = block.split(|&b| b == b'\n').filter(|l| !l.trim_ascii().is_empty()).count();
        if marked < 2 {
            return None;
        }
        let mut out = Rewritten::new(text.len());
        out.text.extend_from_slice(prose);
        for line in block.split_inclusive(|&b| b == b'\n') {
            let mark = line.len() - line.trim_ascii_start().len() + 1;
            let space = usize::from(line.get(mark) == Some(&b' '));
            let skipped = if line.trim_ascii().is_empty() { 0 } else { mark + space };
            if skipped > 0 {
                out.remove(skipped);
            }
            out.text.extend_from_slice(line.get(skipped..).unwrap_or_default());
        }
        Some(out)
    }

    /// Where a place in the new text stands in the old one.
    pub(super) fn original(&self, offset: usize) -> usize {
        let before = self.removed.partition_point(|r| (r.0 as usize) < offset);
        let removed = before.checked_sub(1).and_then(|i| self.removed.get(i));
        offset + removed.map_or(0, |r| r.1 as usize)
    }
}

/// The mark of a line, and what stands behind it.
fn mark_of(line: &[u8]) -> Option<(u8, &[u8])> {
    let (&mark, body) = line.trim_ascii_start().split_first()?;
    let text = body.trim_ascii_start();
    let spaced = mark == b'>' || body.len() > text.len();
    (matches!(mark, b'>' | b'-' | b'*' | b'+' | b'|') && spaced)
        .then_some((mark, text.trim_ascii_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_level_goes() {
        let text = Rewritten::unescaped(br#"{\"a\":\"b\\\"c\\n\"}\u00e9\n"#);
        assert_eq!(text.text, b"{\"a\":\"b\\\"c\\n\"}\\u00e9\n");
        assert_eq!(text.original(0), 0);
        assert_eq!(text.original(1), 1);
        assert_eq!(text.original(2), 3);
    }

    #[test]
    fn marks_and_entities_go() {
        let text = Rewritten::without_marks(b"So:\n> {\n>  1\n> }").unwrap();
        assert_eq!(text.text, b"So:\n{\n 1\n}");
        assert_eq!((text.original(3), text.original(5)), (3, 7));
        assert!(Rewritten::without_marks(b"> {\n}").is_none());
        let text = Rewritten::without_entities(b"{&quot;a&quot;: &amp;}").unwrap();
        assert_eq!(text.text, b"{\"a\": &}");
        assert_eq!(text.original(2), 7);
    }
}
