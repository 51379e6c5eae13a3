//! Room on the stack for what recurses, to a bounded depth, over specs, schemas and patterns.
//!
//! A caller's thread may have as little as 128 KiB. Python must not be called from within: it
//! checks (from 3.14 on) that the stack is its thread's own.

/// What the deepest schema or document that is taken needs ([`crate::json::MAX_DEPTH`] levels).
const ENOUGH: usize = 2 << 20;

/// The size of a new stack; only touched pages take memory.
const NEW: usize = 16 << 20;

/// Runs work with enough stack, on another one where this one has too little left.
#[inline]
pub(crate) fn with_room<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(ENOUGH, NEW, work)
}
