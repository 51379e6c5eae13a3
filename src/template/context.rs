//! What the names of a template stand for.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::json::{Value, extract};
use crate::stack::with_room;

/// A step that has run.
#[derive(Debug, Default)]
pub struct Step {
    output: Option<Vec<u8>>,
    json: Option<Value>,
    parsed: OnceLock<Option<Value>>,
}

impl Step {
    /// A step by its output and, where it has one, its value; null is none.
    pub fn new(output: Option<Vec<u8>>, json: Option<Value>) -> Self {
        let json = json.filter(|value| *value != Value::Null);
        Step { output, json, parsed: OnceLock::new() }
    }

    /// The value, else the one that the output holds, which is looked for once.
    fn json(&self) -> Option<&Value> {
        if self.json.is_some() {
            return self.json.as_ref();
        }
        let parse = || {
            let document = extract(self.output.as_deref()?)?;
            Some(with_room(|| Value::from_cursor(document.root())))
        };
        self.parsed.get_or_init(parse).as_ref()
    }
}

/// The values that a template may name.
#[derive(Debug)]
pub struct Context {
    args: Value,
    steps: HashMap<Vec<u8>, Step>,
    previous: Option<Vec<u8>>,
    locals: Value,
}

impl Context {
    /// A context; `args` and `locals` are objects.
    pub fn new(
        args: Value,
        steps: HashMap<Vec<u8>, Step>,
        previous: Option<Vec<u8>>,
        locals: Value,
    ) -> Self {
        Context { args, steps, previous, locals }
    }
}

impl Default for Context {
    fn default() -> Self {
        let none = || Value::Object(Vec::new());
        Context::new(none(), HashMap::new(), None, none())
    }
}

/// What a placeholder stands for.
#[derive(Clone, Copy)]
pub(super) enum Found<'c> {
    /// A text, verbatim.
    Text(&'c [u8]),
    /// A value that is no string.
    Value(&'c Value),
    /// The length of an array.
    Count(usize),
}

impl<'c> From<&'c Value> for Found<'c> {
    fn from(value: &'c Value) -> Self {
        value.as_bytes().map_or(Found::Value(value), Found::Text)
    }
}

/// Objects of so few members are searched as they are.
const FEW: usize = 8;

/// Looks names up; members of large objects through an index that is made once.
pub(super) struct Resolver<'c> {
    context: &'c Context,
    indexed: HashMap<usize, HashMap<&'c [u8], &'c Value>>,
}

impl<'c> Resolver<'c> {
    pub(super) fn new(context: &'c Context) -> Self {
        Resolver { context, indexed: HashMap::new() }
    }

    /// What a path such as `steps.gen.output` stands for; None for nothing.
    pub(super) fn resolve(&mut self, path: &[u8]) -> Option<Found<'c>> {
        let mut names = path.split(|&b| b == b'.');
        let context = self.context;
        let mut value = match names.next()? {
            b"args" => &context.args,
            b"steps" => {
                let step = context.steps.get(names.next()?)?;
                match names.next()? {
                    b"output" => return last(&mut names, step.output.as_deref().map(Found::Text)),
                    b"json" => step.json()?,
                    _ => return None,
                }
            }
            b"previous" => {
                let output = names.next()? == b"output";
                let text = context.previous.as_deref().filter(|_| output);
                return last(&mut names, text.map(Found::Text));
            }
            name => self.member(&context.locals, name)?,
        };
        for name in names.by_ref() {
            value = match value {
                Value::Array(items) if name == b"length" => {
                    return last(&mut names, Some(Found::Count(items.len())));
                }
                Value::Array(items) => items.get(index(name)?)?,
                Value::Object(_) => self.member(value, name)?,
                _ => return None,
            };
        }
        Some(value.into())
    }

    fn member(&mut self, object: &'c Value, name: &[u8]) -> Option<&'c Value> {
        let members = object.members();
        if members.len() <= FEW {
            return members.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        }
        let index = || members.iter().map(|(key, value)| (key.as_slice(), value)).collect();
        let of = self.indexed.entry(members.as_ptr().addr()).or_insert_with(index);
        of.get(name).copied()
    }
}

/// What was found, where the path ends with it.
fn last<'p, T>(names: &mut impl Iterator<Item = &'p [u8]>, found: Option<T>) -> Option<T> {
    found.filter(|_| names.next().is_none())
}

/// An index as JavaScript writes it: `01` is none.
fn index(name: &[u8]) -> Option<usize> {
    let plain = name.iter().all(u8::is_ascii_digit) && (name.len() == 1 || name[0] != b'0');
    std::str::from_utf8(name).ok().filter(|_| plain)?.parse().ok()
}
