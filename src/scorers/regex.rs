//! `regex`: JavaScript's `new RegExp(pattern, flags).test(text)`, inverted by `negate`.
//!
//! An invalid pattern and a spent matching budget fail, under `negate` too.
//!
//! ```json
//! {"type": "regex", "pattern": "\"status\"\\s*:\\s*\"success\""}
//! ```

use crate::error::IssueKind;
use crate::field::{Bool, Letters, Text, fields};
use crate::hints;
use crate::js_regex::JsRegex;
use crate::result::Outcome;
use crate::row::Row;
use crate::scorer::{Build, Options, Scorer, Warning};
use crate::target::Target;
use crate::text::to_utf8;

/// The scorer.
pub struct Regex {
    engine: Result<JsRegex, String>,
    pattern: Vec<u8>,
    flags: Vec<u8>,
    negate: bool,
    detail: String,
}

fields! {
    pub struct Fields {
        pattern: Text = Text, "a JavaScript pattern";
        negate: Bool = Bool(false), "pass when the pattern does not match";
        flags: Letters = Letters("dgimsuvy"), "JavaScript flags";
    }
}

impl Build for Regex {
    const TYPE: &'static str = "regex";
    const SUMMARY: &'static str = "the text matches a JavaScript regular expression";
    const EXAMPLE: &'static str = r#"{"type": "regex", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"}"#;
    const PASSES: &'static str = "2026-11-30";
    const FAILS: &'static str = "on 2026-11-30";

    type Fields = Fields;

    fn build(fields: Fields, options: &Options) -> Self {
        let Fields { pattern, negate, flags } = fields;
        let compile = if options.untrusted { JsRegex::untrusted } else { JsRegex::new };
        let engine = compile(&pattern, &to_utf8(&flags));
        let said = if negate { "matched (negated)" } else { "did not match" };
        Regex {
            engine: engine.map_err(|error| format!("invalid pattern: {error}")),
            negate,
            detail: format!("/{}/ {said}", to_utf8(&pattern)),
            pattern,
            flags,
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

    fn warning(&self) -> Option<Warning> {
        let pattern = to_utf8(&self.pattern);
        let engine = match &self.engine {
            Ok(engine) => engine,
            Err(message) => {
                let hint = hints::invalid_pattern(&pattern);
                let message = message.clone();
                return Some(Warning { kind: IssueKind::NeverPasses, message, hint });
            }
        };
        if let Some((message, hint)) = hints::doubtful_pattern(&pattern, &to_utf8(&self.flags)) {
            let hint = Some(hint);
            return Some(Warning { kind: IssueKind::DoubtfulPattern, message, hint });
        }
        engine.always_matches().then(|| {
            if self.negate {
                let said = "the pattern matches every text, so its negation fails on each";
                return Warning::new(IssueKind::NeverPasses, said);
            }
            Warning::new(IssueKind::AlwaysPasses, "the pattern matches every text")
        })
    }
}
