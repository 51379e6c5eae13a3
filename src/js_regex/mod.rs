//! JavaScript regular expressions over WTF-8 text: V8's answer, in bounded time.
//!
//! A pattern means what `new RegExp(pattern, flags).test(text)` means in Node 20 (ES2024 with
//! Annex B, in UTF-16 units without u and in code points with u or v).
//!
//! ```
//! use scoregate::js_regex::JsRegex;
//! use scoregate::text::Text;
//!
//! let regex = JsRegex::new(br"^(?!.*\bAI\b)[\s\S]{1,40}$", "").unwrap();
//! assert_eq!(regex.test(&Text::new("I can help")), Ok(true));
//! assert_eq!(regex.test(&Text::new("as an AI")), Ok(false));
//!
//! let error = JsRegex::new(b"(", "").err().unwrap();
//! assert_eq!(error.to_string(), "Invalid regular expression: /(/: Unterminated group");
//! ```
//!
//! The parser ([`syntax`]) resolves every set, so the back ends see ranges only: shortcuts and
//! the choice of a back end ([`plan`]), automata for regular patterns ([`automata`]), and a
//! matcher ([`matcher`]) for the rest, which is memoised where there is no backreference and
//! counts steps always. Patterns are at most 64 Ki units long and nest 250 deep.

mod ast;
mod automata;
mod cache;
mod error;
mod factor;
mod first;
mod flags;
mod fold;
mod matcher;
mod plan;
mod program;
mod regex;
mod scratch;
mod set;
mod syntax;
mod tables;
mod units;

pub use cache::cached;
pub use error::{BudgetExceeded, JsRegexError};
pub use regex::JsRegex;
