//! Why a text gave no value, and how much work a text may cost.

use std::fmt;

use super::diagnostics::Code;

/// Why a text gave no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairErrorKind {
    /// The text holds no JSON.
    NoJson,
    /// Arrays and objects nest deeper than the limit.
    TooDeep(usize),
    /// The text is longer than 4 GiB.
    TooLong,
    /// The step budget ran out.
    Budget,
    /// A repair is above the highest severity that was allowed.
    Severity(Code),
}

/// Why a text gave no value, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairError {
    /// What is wrong.
    pub kind: RepairErrorKind,
    /// The byte that is meant.
    pub offset: usize,
}

impl fmt::Display for RepairErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepairErrorKind::NoJson => f.write_str("no JSON found"),
            RepairErrorKind::TooDeep(limit) => write!(f, "nested deeper than {limit} levels"),
            RepairErrorKind::TooLong => f.write_str("longer than 4 GiB"),
            RepairErrorKind::Budget => f.write_str("repair took too many steps"),
            RepairErrorKind::Severity(code) => {
                write!(f, "needs a {} repair: {}", code.severity().name(), code.message())
            }
        }
    }
}

impl fmt::Display for RepairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for RepairError {}

/// The steps that a text of this length may take.
pub fn step_budget(len: usize) -> u64 {
    16 * len as u64 + 65_536
}
