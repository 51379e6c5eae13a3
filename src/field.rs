//! The fields of scorers: a statement for each gives its JSON Schema, its shape error, its typed
//! value, its place in the list of what is allowed, and its row in the documentation.
//!
//! ```text
//! fields! {
//!     pub struct Fields {
//!         pattern: Text = Text, "a JavaScript pattern";
//!         negate: Bool = Bool(false), "pass when the pattern does not match";
//!     }
//! }
//! ```

use crate::error::{IssueKind, Issues, Path};
use crate::hints;
use crate::json::{Value, quote};

/// A type of field, as messages, schemas and documentation need it.
pub trait Shape: Sync {
    /// The JSON Schema of its values, as JSON.
    fn schema(&self) -> String;
    /// Its values in words.
    fn words(&self) -> String;
    /// What counts where the field is left out, in words; None where it must be there.
    fn default(&self) -> Option<String>;
    /// Adds what is wrong with the value that a spec gives; `scorer` is the scorer's type.
    fn check(&self, given: Option<&Value>, path: &Path, scorer: &str, issues: &mut Issues);
}

/// A type of field, as a scorer reads it.
pub trait Typed: Shape {
    /// What a scorer gets.
    type Value;
    /// The value of a spec of any shape: what is missing or of another type counts as left out.
    fn read(&self, given: Option<&Value>) -> Self::Value;
}

/// A field of a scorer.
#[derive(Clone, Copy)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// What its values are.
    pub shape: &'static dyn Shape,
    /// What it means, in one line.
    pub doc: &'static str,
}

impl Field {
    /// Whether a spec must have it.
    pub fn required(&self) -> bool {
        self.shape.default().is_none()
    }
}

/// The fields of one scorer.
pub trait Fields: Sized {
    /// The fields, in the order that messages list them.
    const LIST: &'static [Field];
    /// Their values in a spec of any shape.
    fn read(spec: &Value) -> Self;
}

/// Declares the fields of a scorer, a statement each: name, key where it differs, type, value of
/// that type, meaning.
macro_rules! fields {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($field:ident $(as $key:literal)? : $type:ty = $shape:expr, $doc:literal;)*
    }) => {
        /// What the spec says.
        $(#[$meta])*
        $vis struct $name { $($field: <$type as $crate::field::Typed>::Value),* }

        impl $crate::field::Fields for $name {
            const LIST: &'static [$crate::field::Field] = &[$({
                const SHAPE: $type = $shape;
                $crate::field::Field {
                    name: $crate::field::key!($field $($key)?),
                    shape: &SHAPE,
                    doc: $doc,
                }
            }),*];

            fn read(spec: &$crate::json::Value) -> Self {
                $name { $($field: {
                    const SHAPE: $type = $shape;
                    let given = spec.get($crate::field::key!($field $($key)?));
                    $crate::field::Typed::read(&SHAPE, given)
                }),* }
            }
        }
    };
}

/// The key of a field: its own, or its name.
macro_rules! key {
    ($field:ident $key:literal) => {
        $key
    };
    ($field:ident) => {
        stringify!($field)
    };
}

pub(crate) use {fields, key};

/// Adds that a value is of another type than is wanted, or out of its range.
fn wrong(issues: &mut Issues, path: &Path, given: &Value, right_type: bool, message: String) {
    let kind = if right_type { IssueKind::WrongValue } else { IssueKind::WrongType };
    issues.add_hinted(kind, path.clone(), message, || hints::other_type(given));
}

/// A text that must be there.
pub struct Text;

impl Shape for Text {
    fn schema(&self) -> String {
        r#"{"type": "string"}"#.to_owned()
    }

    fn words(&self) -> String {
        "string".to_owned()
    }

    fn default(&self) -> Option<String> {
        None
    }

    fn check(&self, given: Option<&Value>, path: &Path, scorer: &str, issues: &mut Issues) {
        let message = || format!("required string for '{scorer}'");
        match given {
            None => issues.add(IssueKind::Missing, path.clone(), message()),
            Some(value) if value.as_bytes().is_none() => {
                let hint = || hints::quoted(value);
                issues.add_hinted(IssueKind::WrongType, path.clone(), message(), hint);
            }
            Some(_) => {}
        }
    }
}

impl Typed for Text {
    type Value = Vec<u8>;

    fn read(&self, given: Option<&Value>) -> Vec<u8> {
        given.and_then(Value::as_bytes).unwrap_or_default().to_vec()
    }
}

/// A boolean, with what counts where it is left out.
pub struct Bool(pub bool);

impl Shape for Bool {
    fn schema(&self) -> String {
        r#"{"type": "boolean"}"#.to_owned()
    }

    fn words(&self) -> String {
        "boolean".to_owned()
    }

    fn default(&self) -> Option<String> {
        Some(format!("`{}`", self.0))
    }

    fn check(&self, given: Option<&Value>, path: &Path, _: &str, issues: &mut Issues) {
        if let Some(value) = given.filter(|value| value.as_bool().is_none()) {
            wrong(issues, path, value, false, "must be a boolean".to_owned());
        }
    }
}

impl Typed for Bool {
    type Value = bool;

    fn read(&self, given: Option<&Value>) -> bool {
        given.and_then(Value::as_bool).unwrap_or(self.0)
    }
}

/// A number, 0 or more, with what counts where it is left out.
pub struct Amount(pub f64);

impl Shape for Amount {
    fn schema(&self) -> String {
        r#"{"type": "number", "minimum": 0}"#.to_owned()
    }

    fn words(&self) -> String {
        "number, 0 or more".to_owned()
    }

    fn default(&self) -> Option<String> {
        Some(if self.0.is_finite() { format!("`{}`", self.0) } else { "no limit".to_owned() })
    }

    fn check(&self, given: Option<&Value>, path: &Path, _: &str, issues: &mut Issues) {
        let fits = |value: &Value| value.as_f64().is_some_and(|n| n.is_finite() && n >= 0.0);
        if let Some(value) = given.filter(|value| !fits(value)) {
            let number = value.as_f64().is_some();
            wrong(issues, path, value, number, "must be a number >= 0".to_owned());
        }
    }
}

impl Typed for Amount {
    type Value = f64;

    fn read(&self, given: Option<&Value>) -> f64 {
        given.and_then(Value::as_f64).unwrap_or(self.0)
    }
}

/// One of some names.
pub struct Choice<T: 'static> {
    /// The names, and what each stands for.
    pub of: &'static [(&'static str, T)],
    /// What counts where the field is left out; None where it must be there.
    pub default: Option<usize>,
}

impl<T> Choice<T> {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.of.iter().map(|(name, _)| *name)
    }

    fn place(&self, given: &Value) -> Option<usize> {
        let given = given.as_bytes()?;
        self.names().position(|name| name.as_bytes() == given)
    }
}

impl<T: Sync> Shape for Choice<T> {
    fn schema(&self) -> String {
        let names: Vec<String> = self.names().map(|name| quote(name.as_bytes())).collect();
        format!("{{\"enum\": [{}]}}", names.join(", "))
    }

    fn words(&self) -> String {
        let names: Vec<String> = self.names().map(|name| format!("`\"{name}\"`")).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }

    fn default(&self) -> Option<String> {
        let name = self.names().nth(self.default?)?;
        Some(format!("`\"{name}\"`"))
    }

    fn check(&self, given: Option<&Value>, path: &Path, _: &str, issues: &mut Issues) {
        let names: Vec<&str> = self.names().collect();
        let message = format!("must be one of {}", names.join("|"));
        match given {
            None if self.default.is_none() => {
                issues.add(IssueKind::Missing, path.clone(), message);
            }
            Some(value) if self.place(value).is_none() => {
                let known = value.as_bytes().is_some();
                let kind = if known { IssueKind::WrongValue } else { IssueKind::WrongType };
                let hint = || hints::value(value, &names);
                issues.add_hinted(kind, path.clone(), message, hint);
            }
            _ => {}
        }
    }
}

impl<T: Copy + Sync> Typed for Choice<T> {
    type Value = Option<T>;

    fn read(&self, given: Option<&Value>) -> Option<T> {
        let place = given.and_then(|given| self.place(given)).or(self.default)?;
        self.of.get(place).map(|(_, value)| *value)
    }
}

/// A text of given letters; empty where it is left out.
pub struct Letters(pub &'static str);

impl Shape for Letters {
    fn schema(&self) -> String {
        format!(r#"{{"type": "string", "pattern": "^[{}]*$"}}"#, self.0)
    }

    fn words(&self) -> String {
        format!("string of `{}`", self.0)
    }

    fn default(&self) -> Option<String> {
        Some("`\"\"`".to_owned())
    }

    fn check(&self, given: Option<&Value>, path: &Path, _: &str, issues: &mut Issues) {
        let known = |text: &[u8]| text.iter().all(|b| self.0.as_bytes().contains(b));
        if let Some(value) = given.filter(|value| !value.as_bytes().is_some_and(known)) {
            let text = value.as_bytes().is_some();
            wrong(issues, path, value, text, format!("must be a string of {} flags", self.0));
        }
    }
}

impl Typed for Letters {
    type Value = Vec<u8>;

    fn read(&self, given: Option<&Value>) -> Vec<u8> {
        given.and_then(Value::as_bytes).unwrap_or_default().to_vec()
    }
}
