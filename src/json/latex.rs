//! LaTeX in strings: `\frac` with one backslash is an escape and a word.

/// The commands that start with a letter that is an escape in JSON, in order.
#[rustfmt::skip]
const COMMANDS: [&[u8]; 46] = [
    b"backslash", b"bar", b"begin", b"beta", b"bf", b"big", b"bigcap", b"bigcup", b"binom",
    b"boldsymbol", b"bot", b"boxed", b"bullet", b"flat", b"footnote", b"forall", b"frac", b"frown",
    b"nabla", b"neg", b"neq", b"newline", b"nleq", b"nonumber", b"not", b"notin", b"nu", b"rangle",
    b"rceil", b"rfloor", b"rho", b"right", b"rightarrow", b"rm", b"tan", b"tanh", b"tau", b"text",
    b"textbf", b"textit", b"tfrac", b"theta", b"tilde", b"times", b"to", b"triangle",
];

/// True where a command stands behind a backslash.
pub(super) fn is_command(behind: &[u8]) -> bool {
    let len = behind.iter().position(|b| !b.is_ascii_alphabetic()).unwrap_or(behind.len());
    matches!(behind.first(), Some(b'b' | b'f' | b'n' | b'r' | b't'))
        && COMMANDS.binary_search(&behind.get(..len).unwrap_or_default()).is_ok()
}

/// True for a string's inside in which an escape and what follows it spell a command.
pub(super) fn has_command(raw: &[u8]) -> bool {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        if is_command(rest.get(at + 1..).unwrap_or_default()) {
            return true;
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    false
}

/// A string's inside with a second backslash before each command and before each escape that JSON
/// does not have.
pub(super) fn keep_commands(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len() + 8);
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let behind = rest.get(at + 1..).unwrap_or_default();
        let hex = |b: &[u8]| b.iter().all(u8::is_ascii_hexdigit);
        let escape = match behind.first() {
            Some(b'"' | b'\\' | b'/') => true,
            Some(b'b' | b'f' | b'n' | b'r' | b't') => !is_command(behind),
            Some(b'u') => behind.get(1..5).is_some_and(hex),
            _ => false,
        };
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(if escape { b"\\" } else { b"\\\\" });
        let taken = usize::from(escape);
        out.extend_from_slice(behind.get(..taken).unwrap_or_default());
        rest = behind.get(taken..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_in_order_and_found() {
        assert!(COMMANDS.is_sorted());
        assert!(has_command(br"x \frac{1}") && !has_command(br"x \\frac{1}"));
        assert!(!has_command(br"a\nb") && !has_command(br"\toxic"));
        let kept = keep_commands(br#"\alpha \frac \n \" \u0041"#);
        assert_eq!(kept, br#"\\alpha \\frac \n \" \u0041"#);
    }
}
