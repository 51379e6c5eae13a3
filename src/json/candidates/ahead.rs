//! What stands behind an opening bracket amid prose.

use super::super::repair::Parser;

/// What the words behind an opening bracket say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Ahead {
    Keys,
    Values,
    Empty,
    Cut,
    Nothing,
}

/// Looks behind the bracket at a place.
pub(in super::super) fn look(probe: &mut Parser<'_>, at: usize) -> Ahead {
    let mut at = at;
    for level in 0..8 {
        let (next, _) = probe.space_after(at + 1);
        let opener = probe.text.get(at).copied();
        let Some(&byte) = probe.text.get(next) else { return Ahead::Cut };
        let first = level == 0;
        match (opener, byte) {
            (Some(b'{'), b'}') | (Some(b'['), b']') => {
                return if first { Ahead::Empty } else { Ahead::Keys };
            }
            (Some(b'{'), _) => {
                let quoted = matches!(byte, b'"' | b'\'' | b'\\' | b'`' | 0xE2);
                return match probe.key_ahead(next) {
                    Ok(Some(true)) => Ahead::Keys,
                    Ok(None) if quoted => Ahead::Cut,
                    // A stream: the key has not come yet.
                    Err(_) => Ahead::Cut,
                    _ => Ahead::Nothing,
                };
            }
            (_, b'{' | b'[') => at = next,
            (_, b'"' | b'\'' | b'-' | b'0'..=b'9' | b'\\' | 0xE2) => return Ahead::Values,
            _ => {
                let word = probe.text.get(next..).unwrap_or_default();
                let len = word.iter().take(8).take_while(|b| b.is_ascii_alphabetic()).count();
                let literal = matches!(
                    word.get(..len),
                    Some(b"true" | b"false" | b"null" | b"True" | b"False" | b"None")
                );
                return if literal { Ahead::Values } else { Ahead::Nothing };
            }
        }
    }
    Ahead::Keys
}
