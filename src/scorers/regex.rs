//! `regex`: JavaScript's `new RegExp(pattern, flags).test(text)`, inverted by `negate`.
//!
//! An invalid pattern and a spent matching budget fail, under `negate` too.
//!
//! ```json
//! {"type": "regex", "pattern": "\"status\"\\s*:\\s*\"success\""}
//! ```

use super::{Build, Field, Options, Scorer, require_string, text_field};
use crate::js_regex::JsRegex;
use crate::json::Value;
use crate::result::Outcome;
use crate::row::Row;
use crate::target::{Target, to_utf8};

/// The scorer.
pub struct Regex {
    engine: Result<JsRegex, String>,
    negate: bool,
    detail: String,
}

impl Build for Regex {
    const TYPE: &'static str = "regex";
    const FIELDS: &'static [Field] = &[
        Field::required("pattern", r#"{"type": "string"}"#, "a JavaScript pattern"),
        Field::optional("negate", r#"{"type": "boolean"}"#, "pass when the pattern does not match"),
        Field::optional(
            "flags",
            r#"{"type": "string", "pattern": "^[dgimsuvy]*$"}"#,
            "JavaScript flags; none by default",
        ),
    ];
    const SUMMARY: &'static str = "the text matches a JavaScript regular expression";
    const EXAMPLE: &'static str = r#"{"type": "regex", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"}"#;

    fn shape_errors(spec: &Value, path: &str, errors: &mut Vec<String>) {
        require_string::<Self>(spec, "pattern", path, errors);
        if spec.get("negate").is_some_and(|v| v.as_bool().is_none()) {
            errors.push(format!("{path}.negate: must be a boolean"));
        }
        let known = |text: &[u8]| text.iter().all(|b| b"dgimsuvy".contains(b));
        if spec.get("flags").is_some_and(|v| !v.as_bytes().is_some_and(known)) {
            errors.push(format!("{path}.flags: must be a string of dgimsuvy flags"));
        }
    }

    fn build(spec: &Value, options: &Options) -> Self {
        let pattern = text_field(spec, "pattern");
        let flags = text_field(spec, "flags");
        let flags = to_utf8(&flags);
        let negate = spec.get("negate").and_then(Value::as_bool).unwrap_or(false);
        let compile = if options.untrusted { JsRegex::untrusted } else { JsRegex::new };
        let said = if negate { "matched (negated)" } else { "did not match" };
        Regex {
            engine: compile(&pattern, &flags).map_err(|error| format!("invalid pattern: {error}")),
            negate,
            detail: format!("/{}/ {said}", to_utf8(&pattern)),
        }
    }
}

impl Scorer for Regex {
    fn score(&self, target: &Target<'_>, _: &Row<'_>) -> Outcome<'_> {
        match &self.engine {
            Ok(engine) => match engine.test(target) {
                Ok(matched) => Outcome::check(matched != self.negate, || &*self.detail),
                Err(spent) => Outcome::fail(spent.to_string()),
            },
            Err(detail) => Outcome::fail(&**detail),
        }
    }

    fn warning(&self) -> Option<String> {
        self.engine.as_ref().err().cloned()
    }
}
