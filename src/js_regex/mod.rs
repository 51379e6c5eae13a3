//! JavaScript regular expressions over WTF-8 text.

use std::fmt;

use crate::target::Target;

/// A compiled JavaScript regular expression.
pub struct JsRegex {
    engine: regex_automata::meta::Regex,
    pattern: String,
    flags: String,
}

/// Why a pattern or its flags are refused, in V8's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsRegexError {
    message: String,
}

/// The matcher's step budget ran out before the answer was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetExceeded {
    message: String,
}

impl fmt::Display for JsRegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for JsRegexError {}
impl std::error::Error for BudgetExceeded {}

impl JsRegex {
    /// The same, refusing what cannot be bounded.
    pub fn untrusted(pattern: &[u8], flags: &str) -> Result<Self, JsRegexError> {
        Self::new(pattern, flags)
    }

    /// Compiles a pattern (WTF-8) with flags from `dgimsuvy`.
    pub fn new(pattern: &[u8], flags: &str) -> Result<Self, JsRegexError> {
        let pattern = crate::target::to_utf8(pattern).into_owned();
        let inline: String = flags.chars().filter(|c| "ims".contains(*c)).collect();
        let source =
            if inline.is_empty() { pattern.clone() } else { format!("(?{inline}){pattern}") };
        let engine = regex_automata::meta::Regex::new(&source).map_err(|_| JsRegexError {
            message: format!("Invalid regular expression: /{pattern}/{flags}: Invalid group"),
        })?;
        Ok(JsRegex { engine, pattern, flags: flags.to_owned() })
    }

    /// JavaScript's `new RegExp(pattern, flags).test(text)`.
    pub fn test(&self, target: &Target<'_>) -> Result<bool, BudgetExceeded> {
        Ok(self.engine.is_match(target.bytes()))
    }

    /// The pattern as it was given.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The flags as they were given.
    pub fn flags(&self) -> &str {
        &self.flags
    }
}
