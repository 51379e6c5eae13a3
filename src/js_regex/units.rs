//! Characters of generalised UTF-8: CESU-8 and WTF-8.

pub(super) fn is_word(c: u32) -> bool {
    matches!(c, 0x30..=0x39 | 0x41..=0x5A | 0x5F | 0x61..=0x7A)
}

pub(super) fn is_line_end(c: u32) -> bool {
    matches!(c, 0x0A | 0x0D | 0x2028 | 0x2029)
}

/// The first character of generalised UTF-8 and its bytes; (0, 0) at the end.
#[inline]
pub(super) fn decode(text: &[u8]) -> (u32, usize) {
    let tail = |b: u8| u32::from(b & 0x3F);
    match *text {
        [] => (0, 0),
        [a, ..] if a < 0x80 => (u32::from(a), 1),
        [a, b, ..] if (0xC0..0xE0).contains(&a) => (u32::from(a & 0x1F) << 6 | tail(b), 2),
        [a, b, c, ..] if (0xE0..0xF0).contains(&a) => {
            (u32::from(a & 0x0F) << 12 | tail(b) << 6 | tail(c), 3)
        }
        [a, b, c, d, ..] if a >= 0xF0 => {
            (u32::from(a & 0x07) << 18 | tail(b) << 12 | tail(c) << 6 | tail(d), 4)
        }
        // Not WTF-8: never panic, and always move on.
        [a, ..] => (u32::from(a), 1),
    }
}

/// The last character of generalised UTF-8 and its bytes; (0, 0) at the start.
#[inline]
pub(super) fn decode_last(text: &[u8]) -> (u32, usize) {
    match text.last() {
        None => (0, 0),
        Some(&b) if b < 0x80 => (u32::from(b), 1),
        Some(&b) => {
            let from = text.len().saturating_sub(4);
            let lead = (from..text.len()).rev().find(|&i| text[i] & 0xC0 != 0x80);
            match lead {
                Some(i) if decode(&text[i..]).1 == text.len() - i => decode(&text[i..]),
                _ => (u32::from(b), 1),
            }
        }
    }
}
