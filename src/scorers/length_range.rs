//! `length-range`: the text's length lies between `min` and `max`, both included.
//!
//! ```json
//! {"type": "length-range", "min": 100, "max": 10000}
//! ```
//!
//! `unit`: `utf16` (default; JavaScript's `length`), `codepoint` (a lone surrogate half counts as
//! one), `grapheme` (UAX 29), `byte` (of UTF-8), `word` (UAX 29 words), `line` (pieces between
//! line feeds; an empty text has none and a last line feed opens no further line).

use unicode_segmentation::UnicodeSegmentation;

use super::{Build, Field, Options, Scorer};
use crate::json::Value;
use crate::result::Outcome;
use crate::row::Row;
use crate::target::Target;

/// The scorer.
pub struct LengthRange {
    min: f64,
    max: f64,
    unit: Unit,
}

/// What a length counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Utf16,
    Codepoint,
    Grapheme,
    Byte,
    Word,
    Line,
}

const UNITS: [(&str, Unit); 6] = [
    ("utf16", Unit::Utf16),
    ("codepoint", Unit::Codepoint),
    ("grapheme", Unit::Grapheme),
    ("byte", Unit::Byte),
    ("word", Unit::Word),
    ("line", Unit::Line),
];

impl Unit {
    fn read(value: &Value) -> Option<Unit> {
        let name = value.as_bytes()?;
        UNITS.iter().find(|(n, _)| n.as_bytes() == name).map(|&(_, unit)| unit)
    }

    fn length(self, target: &Target<'_>) -> usize {
        let bytes = target.bytes();
        match self {
            Unit::Utf16 => target.utf16_len(),
            Unit::Codepoint => bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count(),
            Unit::Grapheme => target.to_utf8().graphemes(true).count(),
            Unit::Byte => bytes.len(),
            Unit::Word => target.to_utf8().unicode_words().count(),
            Unit::Line => {
                let feeds = memchr::memchr_iter(b'\n', bytes).count();
                feeds + usize::from(bytes.last().is_some_and(|&b| b != b'\n'))
            }
        }
    }
}

impl Build for LengthRange {
    const TYPE: &'static str = "length-range";
    const FIELDS: &'static [Field] = &[
        Field::optional(
            "min",
            r#"{"type": "number", "minimum": 0}"#,
            "smallest length, 0 if absent",
        ),
        Field::optional(
            "max",
            r#"{"type": "number", "minimum": 0}"#,
            "largest length, open if absent",
        ),
        Field::optional(
            "unit",
            r#"{"enum": ["utf16", "codepoint", "grapheme", "byte", "word", "line"]}"#,
            "what is counted; utf16 by default",
        ),
    ];
    const SUMMARY: &'static str = "the text's length lies in a range";
    const EXAMPLE: &'static str = r#"{"type": "length-range", "min": 100, "max": 10000}"#;

    fn shape_errors(spec: &Value, path: &str, errors: &mut Vec<String>) {
        if spec.get("min").is_none() && spec.get("max").is_none() {
            errors.push(format!("{path}: 'length-range' requires 'min' and/or 'max'"));
        }
        let mut bound = |key: &str| {
            let value = spec.get(key)?;
            let number = value.as_f64().filter(|n| n.is_finite() && *n >= 0.0);
            if number.is_none() {
                errors.push(format!("{path}.{key}: must be a number >= 0"));
            }
            number
        };
        let (min, max) = (bound("min"), bound("max"));
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            let (min, max) = (js_number(min), js_number(max));
            errors.push(format!("{path}: min ({min}) must be <= max ({max})"));
        }
        if spec.get("unit").is_some_and(|unit| Unit::read(unit).is_none()) {
            let names = UNITS.map(|(name, _)| name).join("|");
            errors.push(format!("{path}.unit: must be one of {names}"));
        }
    }

    fn build(spec: &Value, _: &Options) -> Self {
        let number = |key| spec.get(key).and_then(Value::as_f64);
        LengthRange {
            min: number("min").unwrap_or(0.0),
            max: number("max").unwrap_or(f64::INFINITY),
            unit: spec.get("unit").and_then(Unit::read).unwrap_or(Unit::Utf16),
        }
    }
}

impl Scorer for LengthRange {
    fn score(&self, target: &Target<'_>, _: &Row<'_>) -> Outcome<'_> {
        let length = self.unit.length(target);
        let exact = length as f64;
        Outcome::check(self.min <= exact && exact <= self.max, || {
            let max = if self.max.is_finite() { js_number(self.max) } else { "∞".to_owned() };
            format!("length {length} outside [{}, {max}]", js_number(self.min))
        })
    }
}

/// A number as JavaScript prints it.
fn js_number(value: f64) -> String {
    ryu_js::Buffer::new().format(value).to_owned()
}
