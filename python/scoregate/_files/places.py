"""Places: paths, and ``"-"`` for a standard stream."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    #: A path, or ``"-"`` for standard input or output.
    Place = str | os.PathLike[str]


def name_of(place: Place | None) -> str | None:
    """A place as a summary names it."""
    return None if place is None else os.fspath(place)


def with_mark(name: str, mark: str) -> str:
    """The name of a file beside another: ``out.bad.jsonl`` for ``out.jsonl``."""
    stem, suffix = os.path.splitext(name)
    return f"{stem}.{mark}{suffix}"


def reason(error: OSError | ValueError) -> str:
    """What the system says, in our words where they are plainer."""
    known = {
        errno.ENOENT: "no such file",
        errno.EACCES: "permission denied",
        errno.EISDIR: "is a directory",
        errno.ENOSPC: "no space left on the device",
    }
    number = getattr(error, "errno", None)
    return known.get(number or 0) or getattr(error, "strerror", None) or str(error)
