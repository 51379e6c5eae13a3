//! Texts with placeholders.

use super::context::{Context, Found, Resolver};
use super::limit::{MAX_BYTES, TooLong};
use crate::json::{Decimal, Value, quote_into};
use crate::stack::with_room;

/// A text whose placeholders are filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpolation {
    /// The text (WTF-8); a placeholder that stands for nothing stays as it is.
    pub text: Vec<u8>,
    /// The names that stand for nothing, in order, each as often as it stands there.
    pub missing: Vec<Vec<u8>>,
}

/// Fills the placeholders of a template.
///
/// Strings are put in as they are, null is empty, other values are JSON with an indent of two.
///
/// # Errors
/// The text would be longer than [`MAX_BYTES`].
pub fn interpolate(template: &[u8], context: &Context) -> Result<Interpolation, TooLong> {
    let mut resolver = Resolver::new(context);
    let mut made = Interpolation { text: Vec::with_capacity(template.len()), missing: Vec::new() };
    let mut from = 0;
    for (start, path) in placeholders(template) {
        let Some(found) = resolver.resolve(path) else {
            made.missing.push(path.to_vec());
            continue;
        };
        made.text.extend_from_slice(&template[from..start]);
        write_found(found, &mut made.text)?;
        from = start + path.len() + 2;
    }
    made.text.extend_from_slice(&template[from..]);
    if made.text.len() > MAX_BYTES { Err(TooLong) } else { Ok(made) }
}

/// The names in the placeholders of a template, in order.
pub fn references(template: &[u8]) -> Vec<&[u8]> {
    placeholders(template).map(|(_, path)| path).collect()
}

/// Where each placeholder starts, and the path in its braces.
fn placeholders(template: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr::memchr(b'{', template.get(at..)?)?;
            let body = &template[start + 1..];
            let end = body.iter().position(|b| !is_name(*b) && *b != b'.').unwrap_or(body.len());
            // What was passed over holds no brace.
            at = start + 1 + end;
            let path = &body[..end];
            if body.get(end) == Some(&b'}') && path.split(|&b| b == b'.').all(|n| !n.is_empty()) {
                return Some((start, path));
            }
        }
    })
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Appends what a placeholder stands for.
pub(super) fn write_found(found: Found<'_>, out: &mut Vec<u8>) -> Result<(), TooLong> {
    match found {
        Found::Text(text) => out.extend_from_slice(text),
        Found::Count(count) => out.extend_from_slice(count.to_string().as_bytes()),
        Found::Value(Value::Null) => {}
        Found::Value(value) => with_room(|| write_value(value, 0, out))?,
    }
    if out.len() > MAX_BYTES { Err(TooLong) } else { Ok(()) }
}

/// Appends a value as `JSON.stringify(value, null, 2)` does. Values are of bounded depth.
fn write_value(value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<(), TooLong> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        // From Python a number may be NaN or infinite, which JSON cannot say.
        Value::Number(number) if Decimal::parse(number.text()).is_none() => {
            out.extend_from_slice(b"null");
        }
        Value::Number(number) => out.extend_from_slice(number.text().as_bytes()),
        Value::String(text) => quote_into(out, text),
        Value::Array(items) if items.is_empty() => out.extend_from_slice(b"[]"),
        Value::Object(members) if members.is_empty() => out.extend_from_slice(b"{}"),
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                new_line(i > 0, depth + 1, out)?;
                write_value(item, depth + 1, out)?;
            }
            new_line(false, depth, out)?;
            out.push(b']');
        }
        Value::Object(members) => {
            out.push(b'{');
            for (i, (key, item)) in members.iter().enumerate() {
                new_line(i > 0, depth + 1, out)?;
                quote_into(out, key);
                out.extend_from_slice(b": ");
                write_value(item, depth + 1, out)?;
            }
            new_line(false, depth, out)?;
            out.push(b'}');
        }
    }
    Ok(())
}

fn new_line(comma: bool, depth: usize, out: &mut Vec<u8>) -> Result<(), TooLong> {
    // Indents multiply: a deep value may be written much longer than it is.
    if out.len() > MAX_BYTES {
        return Err(TooLong);
    }
    if comma {
        out.push(b',');
    }
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
    Ok(())
}
