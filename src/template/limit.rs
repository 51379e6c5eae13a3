//! How much a template may make.

/// The longest text that is made, and the most bytes of values that one condition compares.
pub const MAX_BYTES: usize = 64 << 20;

/// More than [`MAX_BYTES`] would have to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "longer than {MAX_BYTES} bytes")
    }
}

impl std::error::Error for TooLong {}
