//! The reply's own voice: reasoning taken out, template tokens as line ends.

use std::borrow::Cow;

use crate::json;
use crate::text::trim_js;

const TAGS: [&[u8]; 5] = [b"think", b"thinking", b"reasoning", b"thought", b"analysis"];

/// The reply's own voice: what was escaped as a whole is read as what it stands for.
pub(super) fn own_voice(text: &[u8]) -> Cow<'_, [u8]> {
    match own_words(text) {
        Cow::Borrowed(voice) => unescaped(voice),
        Cow::Owned(voice) => match unescaped(&voice) {
            Cow::Borrowed(_) => Cow::Owned(voice),
            Cow::Owned(plain) => Cow::Owned(plain),
        },
    }
}

/// A text that is one JSON string, or whose quotes are all HTML's.
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    let mut trimmed = trim_js(text);
    if let Some(body) = trimmed.strip_prefix(b"```").and_then(|body| body.strip_suffix(b"```")) {
        let line = memchr::memchr(b'\n', body).unwrap_or(body.len());
        trimmed = trim_js(&body[line..]);
    }
    if trimmed.starts_with(b"\"")
        && memchr::memchr(b'{', trimmed).is_some()
        && let Ok(document) = json::parse(trimmed)
    {
        return Cow::Owned(document.root().content().into_owned());
    }
    let entity = b"&quot;";
    if memchr::memchr(b'"', text).is_some() || memchr::memmem::find(text, entity).is_none() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut kept) = (Vec::with_capacity(text.len()), 0);
    for at in memchr::memmem::find_iter(text, entity) {
        out.extend_from_slice(&text[kept..at]);
        out.push(b'"');
        kept = at + entity.len();
    }
    out.extend_from_slice(&text[kept..]);
    Cow::Owned(out)
}

/// The text without reasoning, in which each template token is a line end.
fn own_words(text: &[u8]) -> Cow<'_, [u8]> {
    let marks = [b"<".as_slice(), "◁".as_bytes()];
    if !marks.iter().any(|mark| memchr::memmem::find(text, mark).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let (mut at, mut kept) = (0, 0);
    // Where the reasoning of an open tag started; what it is closed by.
    let mut open = false;
    while let Some(next) = memchr::memchr2(b'<', 0xE2, &text[at..]).map(|i| at + i) {
        let Some((mark, end)) = mark_at(text, next) else {
            at = next + 1;
            continue;
        };
        if !open {
            out.extend_from_slice(&text[kept..next]);
        }
        match mark {
            Mark::Open => open = true,
            Mark::Close if !open => {
                // A block that began with the text, or with the last token.
                out.clear();
            }
            Mark::Close | Mark::Token => open = false,
            Mark::Inner => {}
        }
        if mark != Mark::Inner {
            out.push(b'\n');
        }
        (at, kept) = (end, end);
    }
    if !open {
        out.extend_from_slice(&text[kept..]);
    }
    Cow::Owned(out)
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Open,
    Close,
    /// A template token, which ends a line and a channel.
    Token,
    /// A token inside reasoning that does not end it.
    Inner,
}

/// The mark that starts here, and where it ends.
fn mark_at(text: &[u8], at: usize) -> Option<(Mark, usize)> {
    let rest = &text[at..];
    if let Some(end) = after(rest, "◁think▷") {
        return Some((Mark::Open, at + end));
    }
    if let Some(end) = after(rest, "◁/think▷") {
        return Some((Mark::Close, at + end));
    }
    if rest.starts_with(b"<|") {
        let end = rest.iter().take(64).position(|&b| b == b'>').filter(|&i| rest[i - 1] == b'|')?;
        let behind = at + end + 1;
        let name = &rest[2..end - 1];
        if name == b"channel" {
            let tail = &text[behind..];
            let word = tail.iter().take_while(|b| b.is_ascii_alphabetic()).count();
            let skip = behind + word;
            let quiet = matches!(&tail[..word], b"analysis" | b"commentary");
            return Some((if quiet { Mark::Open } else { Mark::Token }, skip));
        }
        let inner = name == b"message";
        if name == b"start" {
            let word = text[behind..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
            return Some((Mark::Token, behind + word));
        }
        return Some((if inner { Mark::Inner } else { Mark::Token }, behind));
    }
    for token in ["</s>", "<s>", "<eos>", "<bos>", "<end_of_turn>", "<start_of_turn>"] {
        if let Some(end) = after(rest, token) {
            return Some((Mark::Token, at + end));
        }
    }
    let close = rest.get(1) == Some(&b'/');
    let name = rest.get(1 + usize::from(close)..)?;
    let length = name.iter().take(16).take_while(|b| b.is_ascii_alphabetic()).count();
    let known = TAGS.iter().any(|tag| name[..length].eq_ignore_ascii_case(tag));
    // Attributes are short.
    let end = name.iter().take(64).position(|&b| b == b'>')?;
    let plain = end == length || (!close && name[length] == b' ');
    let behind = at + 1 + usize::from(close) + end + 1;
    (known && plain).then_some((if close { Mark::Close } else { Mark::Open }, behind))
}

fn after(rest: &[u8], mark: &str) -> Option<usize> {
    rest.starts_with(mark.as_bytes()).then_some(mark.len())
}
