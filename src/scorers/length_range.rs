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

use crate::error::{IssueKind, Issues, Path};
use crate::field::{Amount, Choice, fields};
use crate::json::Value;
use crate::result::Outcome;
use crate::row::Row;
use crate::scorer::{Build, Options, Scorer, Warning};
use crate::target::Target;

/// The scorer.
pub struct LengthRange {
    min: f64,
    max: f64,
    unit: Unit,
}

/// What a length counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// UTF-16 code units.
    Utf16,
    /// Code points.
    Codepoint,
    /// Grapheme clusters (UAX 29).
    Grapheme,
    /// Bytes of UTF-8.
    Byte,
    /// Words (UAX 29).
    Word,
    /// Pieces between line feeds.
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

fields! {
    pub struct Fields {
        min: Amount = Amount(0.0), "smallest length";
        max: Amount = Amount(f64::INFINITY), "largest length";
        unit: Choice<Unit> = Choice { of: &UNITS, default: Some(0) }, "what is counted";
    }
}

impl Unit {
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
    const SUMMARY: &'static str = "the text's length lies in a range";
    const EXAMPLE: &'static str = r#"{"type": "length-range", "min": 100, "max": 10000}"#;
    const PASSES: &'static str = "Somewhere between a short answer and a long one lies the answer that \
         says what was asked, and then stops.";
    const FAILS: &'static str = "Too short.";

    type Fields = Fields;

    fn rules(spec: &Value, fields: &Fields, path: &Path, issues: &mut Issues) {
        let given = |key| spec.get(key).map(Value::as_f64);
        if given("min").is_none() && given("max").is_none() {
            let message = "'length-range' requires 'min' and/or 'max'";
            issues.add(IssueKind::Missing, path.clone(), message);
        }
        // A bound that is no length is told of already.
        let usable = |key| given(key).flatten().is_some_and(|n| n >= 0.0 && n.is_finite());
        if usable("min") && usable("max") && fields.min > fields.max {
            let (min, max) = (js_number(fields.min), js_number(fields.max));
            let message = format!("min ({min}) must be <= max ({max})");
            issues.add(IssueKind::Conflict, path.clone(), message);
        }
    }

    fn build(fields: Fields, _: &Options) -> Self {
        let Fields { min, max, unit } = fields;
        LengthRange { min, max, unit: unit.unwrap_or(Unit::Utf16) }
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

    fn warning(&self) -> Option<Warning> {
        let open = self.min <= 0.0 && self.max == f64::INFINITY;
        let whole = self.min.ceil() <= self.max;
        let warning = |kind, said| Some(Warning::new(kind, said));
        match (open, whole) {
            (true, _) => warning(IssueKind::AlwaysPasses, "every length lies in this range"),
            (_, false) => warning(IssueKind::NeverPasses, "no whole number lies in this range"),
            _ => None,
        }
    }
}

/// A number as JavaScript prints it.
fn js_number(value: f64) -> String {
    ryu_js::Buffer::new().format(value).to_owned()
}
