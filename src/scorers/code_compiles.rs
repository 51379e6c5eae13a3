//! `code-compiles`: a compiler accepts the text. The runtime supplies its results.
//!
//! ```json
//! {"type": "code-compiles", "language": "typescript"}
//! ```

use super::{Build, Field, Options, Scorer};
use crate::json::Value;
use crate::result::Outcome;
use crate::row::Row;
use crate::target::Target;

/// The scorer, as far as the core knows it.
pub struct CodeCompiles;

const LANGUAGES: [&str; 2] = ["javascript", "typescript"];

impl Build for CodeCompiles {
    const TYPE: &'static str = "code-compiles";
    const FIELDS: &'static [Field] = &[Field::required(
        "language",
        r#"{"enum": ["javascript", "typescript"]}"#,
        "the language of the code",
    )];
    const SUMMARY: &'static str =
        "a compiler accepts the text; fails on every text until a runtime supplies its results";
    const EXAMPLE: &'static str = r#"{"type": "code-compiles", "language": "typescript"}"#;
    const IMPURE: bool = true;

    fn shape_errors(spec: &Value, path: &str, errors: &mut Vec<String>) {
        let language = spec.get("language").and_then(Value::as_bytes);
        if !language.is_some_and(|name| LANGUAGES.iter().any(|l| l.as_bytes() == name)) {
            errors.push(format!("{path}.language: must be one of {}", LANGUAGES.join("|")));
        }
    }

    fn build(_: &Value, _: &Options) -> Self {
        CodeCompiles
    }
}

/// The detail of a text whose result nobody supplies.
const DETAIL: &str = "code-compiles must be evaluated by the runtime (impure scorer)";

impl Scorer for CodeCompiles {
    fn score(&self, _: &Target<'_>, _: &Row<'_>) -> Outcome<'_> {
        Outcome::fail(DETAIL)
    }

    fn warning(&self) -> Option<String> {
        Some("fails on every text until a runtime supplies its results".to_owned())
    }
}
