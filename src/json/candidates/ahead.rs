//! What stands behind an opening bracket amid prose.

use super::super::reader::{Key, Parser, literal};
use super::super::string::next_special;
use crate::text::trim_js;

/// No literal is so long.
const LITERAL: usize = 12;

/// What the words behind an opening bracket say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Ahead {
    Keys,
    Values,
    Empty,
    Cut,
    Nothing,
}

/// Whether a valid JSON string and a colon stand at a place; None where the text ends before that
/// is certain. Each string has one bracket before it, so a text is scanned once at most.
fn strict_key(probe: &mut Parser<'_>, at: usize) -> Option<bool> {
    if probe.text.get(at) != Some(&b'"') {
        return Some(false);
    }
    let known = probe.state.memo.string;
    let mut end = if known.0 == at { known.1 } else { at + 1 };
    loop {
        let next = next_special(probe.text, end);
        probe.steps += (next - end) as u64 + 1;
        end = next;
        // A stream goes on here.
        probe.state.memo.string = (at, end);
        let len = match probe.text.get(end..).unwrap_or_default() {
            [b'"', ..] => break,
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'\\', b'u', hex @ ..] if hex.iter().take(4).all(u8::is_ascii_hexdigit) => 6,
            [] | [b'\\'] => 1,
            _ => return Some(false),
        };
        if end + len > probe.text.len() {
            return if probe.last { Some(false) } else { None };
        }
        end += len;
    }
    let (colon, more) = probe.space_after(end + 1);
    if more {
        return None;
    }
    Some(probe.text.get(colon) == Some(&b':'))
}

/// Looks behind the bracket at a place.
pub(in super::super) fn look(probe: &mut Parser<'_>, at: usize) -> Ahead {
    let mut at = at;
    // Brackets in such a row are data.
    for level in 0..8 {
        let Ok(next) = probe.gap_end(at + 1) else { return Ahead::Cut };
        let opener = probe.text.get(at).copied();
        // `{, "a": 1}`
        let next = if opener == Some(b'{') && probe.text.get(next) == Some(&b',') {
            match probe.past_commas(next) {
                Ok(behind) => behind,
                Err(_) => return Ahead::Cut,
            }
        } else {
            next
        };
        let Some(&byte) = probe.text.get(next) else { return Ahead::Cut };
        let first = level == 0;
        match (opener, byte) {
            (Some(b'{'), b'}') | (Some(b'['), b']') => {
                return if first { Ahead::Empty } else { Ahead::Keys };
            }
            // `[}` and nothing more.
            (_, b'}' | b']') if first => {
                let rest = trim_js(probe.text.get(next + 1..).unwrap_or_default());
                return match (rest.is_empty(), probe.last) {
                    (true, true) => Ahead::Empty,
                    (true, false) => Ahead::Cut,
                    _ => Ahead::Nothing,
                };
            }
            (Some(b'{'), _) => {
                let quoted = matches!(byte, b'"' | b'\'' | b'\\' | b'`' | 0xE2);
                return match probe.key_at(next) {
                    Ok(Key::Yes) => Ahead::Keys,
                    // A valid key may be longer than the repair tier looks ahead.
                    Ok(Key::No) => match strict_key(probe, next) {
                        Some(true) => Ahead::Keys,
                        Some(false) => match probe.key_without_colon(next) {
                            Ok(true) => Ahead::Keys,
                            Ok(false) => Ahead::Nothing,
                            Err(_) => Ahead::Cut,
                        },
                        None => Ahead::Cut,
                    },
                    Ok(Key::Cut) if quoted => Ahead::Cut,
                    // A stream: the key has not come yet.
                    Err(_) => Ahead::Cut,
                    _ => Ahead::Nothing,
                };
            }
            (_, b'{' | b'[') => at = next,
            (_, b'"' | b'\'' | b'-' | b'0'..=b'9' | b'\\' | 0xE2) => return Ahead::Values,
            _ => {
                let rest = probe.text.get(next..).unwrap_or_default();
                let len = rest.iter().take(LITERAL).take_while(|b| b.is_ascii_alphabetic()).count();
                if len == rest.len() && len < LITERAL && !probe.last {
                    return Ahead::Cut;
                }
                let known = rest.get(..len).is_some_and(|word| literal(word).is_some());
                return if known { Ahead::Values } else { Ahead::Nothing };
            }
        }
    }
    Ahead::Keys
}
