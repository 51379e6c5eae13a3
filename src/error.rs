//! Errors of authors: what is wrong with a gate, each message with its path.

use std::fmt;

/// A gate that cannot be built: every shape error, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    errors: Vec<String>,
}

impl SpecError {
    #[cold]
    pub(crate) fn new(errors: Vec<String>) -> Self {
        SpecError { errors }
    }

    #[cold]
    pub(crate) fn one(message: String) -> Self {
        SpecError { errors: vec![message] }
    }

    /// The messages, each as `path: what is wrong`.
    pub fn errors(&self) -> &[String] {
        &self.errors
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.errors.join("\n"))
    }
}

impl std::error::Error for SpecError {}
