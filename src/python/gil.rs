//! Work without the GIL.

use pyo3::prelude::*;

/// Texts from this many bytes on are worked on without holding the GIL: releasing and taking it
/// costs about a tenth of a microsecond, more under contention.
const DETACH_BYTES: usize = 4096;

/// Runs work that touches no Python object, without the GIL where the work is worth it.
pub(super) fn detached<R: Send>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce() -> R + Send,
) -> R {
    if bytes < DETACH_BYTES { work() } else { py.detach(work) }
}
