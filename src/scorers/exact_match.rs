//! `exact-match`: the text is identical to `value`; no trimming, case-sensitive.
//!
//! ```json
//! {"type": "exact-match", "value": "PASS"}
//! ```

use super::{Build, Field, Options, Scorer, require_string, text_field};
use crate::json::Value;
use crate::result::Outcome;
use crate::row::Row;
use crate::target::{Target, utf16_len};

/// The scorer.
pub struct ExactMatch {
    value: Vec<u8>,
}

impl Build for ExactMatch {
    const TYPE: &'static str = "exact-match";
    const FIELDS: &'static [Field] =
        &[Field::required("value", r#"{"type": "string"}"#, "the wanted text; may be empty")];
    const SUMMARY: &'static str = "the text is identical to a value";
    const EXAMPLE: &'static str = r#"{"type": "exact-match", "value": "PASS"}"#;

    fn shape_errors(spec: &Value, path: &str, errors: &mut Vec<String>) {
        require_string::<Self>(spec, "value", path, errors);
    }

    fn build(spec: &Value, _: &Options) -> Self {
        ExactMatch { value: text_field(spec, "value") }
    }
}

impl Scorer for ExactMatch {
    fn score(&self, target: &Target<'_>, _: &Row<'_>) -> Outcome<'_> {
        Outcome::check(target.bytes() == self.value, || {
            let (got, wanted) = (target.utf16_len(), utf16_len(&self.value));
            format!("target ({got} chars) !== value ({wanted} chars)")
        })
    }
}
