"""Which places may go together."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .places import Place
    from .source import Source


def refuse_overwriting(
    sources: list[Source], output: Place | None, quarantine: Place | None
) -> None:
    """Refuses places that would overwrite an input or each other.

    Raises:
        ValueError: a file is both read and written or is written twice, or standard input is read
            twice.
    """
    written = [(place, _regular(place, "stdout")) for place in (output, quarantine)]
    for source in sources:
        read = _regular(source.place, "stdin")
        for place, found in written:
            if read is not None and found is not None and os.path.samestat(read, found):
                name = "standard output" if place == "-" else place
                raise ValueError(f"{name}: is also an input ({source.name}); write to another file")
    if output is not None and quarantine is not None and output != "-":
        first, second = os.path.realpath(output), os.path.realpath(quarantine)
        if first == second:
            raise ValueError(f"{output}: cannot hold both the results and the bad rows")
    if sum(source.place == "-" for source in sources) > 1:
        raise ValueError("-: standard input can be read only once")


def _regular(place: Place | None, stream: str) -> os.stat_result | None:
    """The status of a regular file; `stream` is what ``"-"`` stands for."""
    try:
        if place is None:
            return None
        found = os.fstat(getattr(sys, stream).fileno()) if place == "-" else os.stat(place)
    except (OSError, AttributeError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None
