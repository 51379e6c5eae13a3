//! `contains`: the text includes `value`, case-sensitive; an empty value always passes.
//!
//! ```json
//! {"type": "contains", "value": "0 errors"}
//! ```

use memchr::memmem::Finder;

use crate::error::IssueKind;
use crate::field::{Text, fields};
use crate::json::quote;
use crate::result::Outcome;
use crate::row::Row;
use crate::scorer::{Build, Options, Scorer, Warning};
use crate::target::Target;
use crate::text::{TextFacts, cesu8, cut_units};

/// The scorer.
pub struct Contains {
    finder: Finder<'static>,
    /// A lone surrogate half at an end of the value may be one half of a pair in the text, which
    /// WTF-8 does not show: such values are looked for in CESU-8.
    by_units: bool,
    detail: String,
}

fields! {
    pub struct Fields {
        value: Text = Text, "the wanted part; may be empty";
    }
}

impl Build for Contains {
    const TYPE: &'static str = "contains";
    const SUMMARY: &'static str = "the text includes a value";
    const EXAMPLE: &'static str = r#"{"type": "contains", "value": "0 errors"}"#;
    const PASSES: &'static str = "build done: 0 errors";
    const FAILS: &'static str = "build done: no errors";

    type Fields = Fields;

    fn build(fields: Fields, _: &Options) -> Self {
        let value = fields.value;
        let mut shown = cut_units(&value, DETAIL_UNITS);
        if shown.len() < value.len() {
            shown.to_mut().extend_from_slice("…".as_bytes());
        }
        let by_units = TextFacts::of(&value).has_lone_surrogate;
        let needle = if by_units { cesu8(&value) } else { value.clone() };
        Contains {
            finder: Finder::new(&needle).into_owned(),
            by_units,
            detail: format!("target does not contain {}", quote(&shown)),
        }
    }
}

/// How much of the value a detail shows, in UTF-16 units.
const DETAIL_UNITS: usize = 80;

impl Scorer for Contains {
    fn score(&self, target: &Target<'_>, _: &Row<'_>) -> Outcome<'_> {
        let text = if self.by_units { target.cesu8() } else { target.bytes() };
        Outcome::check(self.finder.find(text).is_some(), || &*self.detail)
    }

    fn warning(&self) -> Option<Warning> {
        let empty = self.finder.needle().is_empty();
        empty.then(|| Warning::new(IssueKind::AlwaysPasses, "every text contains an empty value"))
    }
}
