//! The two ways in which a pattern can fail.

use std::fmt;

use super::matcher::Stop;
use crate::text::{Text, to_utf8};

/// Characters of a pattern that a budget message quotes.
const QUOTED: usize = 200;

/// Why a pattern or its flags are refused, in V8's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsRegexError {
    message: String,
}

/// The matcher's step budget ran out, or it was stopped, before the answer was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetExceeded {
    message: String,
}

impl JsRegexError {
    #[cold]
    pub(super) fn flags(flags: &str) -> Self {
        let message = format!("Invalid flags supplied to RegExp constructor '{flags}'");
        JsRegexError { message }
    }

    #[cold]
    pub(super) fn pattern(pattern: &[u8], flags: &str, reason: &str) -> Self {
        let pattern = to_utf8(pattern);
        let message = format!("Invalid regular expression: /{pattern}/{flags}: {reason}");
        JsRegexError { message }
    }
}

impl BudgetExceeded {
    #[cold]
    pub(super) fn new(pattern: &[u8], flags: &str, target: &Text<'_>, stop: Stop) -> Self {
        let pattern: String = to_utf8(pattern).chars().take(QUOTED).collect();
        let message = match stop {
            Stop::Budget(steps) => {
                let characters = target.bytes().iter().filter(|&&b| b & 0xC0 != 0x80).count();
                format!(
                    "Regular expression /{pattern}/{flags} exceeded the matching budget \
                     ({steps} steps) on a text of {characters} characters"
                )
            }
            Stop::Interrupted => format!("Regular expression /{pattern}/{flags} was interrupted"),
        };
        BudgetExceeded { message }
    }
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
