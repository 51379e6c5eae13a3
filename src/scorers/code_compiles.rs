//! `code-compiles`: a compiler accepts the text. The runtime supplies its results.
//!
//! ```json
//! {"type": "code-compiles", "language": "typescript"}
//! ```

use crate::error::IssueKind;
use crate::field::{Choice, fields};
use crate::result::Outcome;
use crate::row::Row;
use crate::scorer::{Build, Options, Scorer, Warning};
use crate::target::Target;

/// The scorer, as far as the core knows it.
pub struct CodeCompiles;

const LANGUAGES: [(&str, ()); 2] = [("javascript", ()), ("typescript", ())];

fields! {
    #[expect(dead_code, reason = "only the runtime reads the language")]
    pub struct Fields {
        language: Choice<()> = Choice { of: &LANGUAGES, default: None }, "the language of the code";
    }
}

impl Build for CodeCompiles {
    const TYPE: &'static str = "code-compiles";
    const SUMMARY: &'static str =
        "a compiler accepts the text; fails on every text until a runtime supplies its results";
    const EXAMPLE: &'static str = r#"{"type": "code-compiles", "language": "typescript"}"#;
    const PASSES: &'static str = "const answer: number = 42;";
    const FAILS: &'static str = "const answer: number = ;";
    const IMPURE: bool = true;

    type Fields = Fields;

    fn build(_: Fields, _: &Options) -> Self {
        CodeCompiles
    }
}

/// The detail of a text whose result nobody supplies.
const DETAIL: &str = "code-compiles must be evaluated by the runtime (impure scorer)";

impl Scorer for CodeCompiles {
    fn score(&self, _: &Target<'_>, _: &Row<'_>) -> Outcome<'_> {
        Outcome::fail(DETAIL)
    }

    fn warning(&self) -> Option<Warning> {
        let said = "fails on every text until a runtime supplies its results";
        Some(Warning::new(IssueKind::NeverPasses, said))
    }
}
