//! `exact-match`: the text is identical to `value`; no trimming, case-sensitive.
//!
//! ```json
//! {"type": "exact-match", "value": "PASS"}
//! ```

use crate::field::{Text, fields};
use crate::result::Outcome;
use crate::row::Row;
use crate::scorer::{Build, Options, Scorer};
use crate::target::Target;
use crate::text::utf16_len;

/// The scorer.
pub struct ExactMatch {
    value: Vec<u8>,
}

fields! {
    pub struct Fields {
        value: Text = Text, "the wanted text; may be empty";
    }
}

impl Build for ExactMatch {
    const TYPE: &'static str = "exact-match";
    const SUMMARY: &'static str = "the text is identical to a value";
    const EXAMPLE: &'static str = r#"{"type": "exact-match", "value": "PASS"}"#;
    const PASSES: &'static str = "PASS";
    const FAILS: &'static str = "PASS\n";

    type Fields = Fields;

    fn build(fields: Fields, _: &Options) -> Self {
        ExactMatch { value: fields.value }
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
