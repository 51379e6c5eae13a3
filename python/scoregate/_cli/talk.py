"""Standard streams whose faults never give a misleading exit code.

Code 1 says that the outputs are bad, so neither a reader that goes away nor a full disk may give
it, in whatever library the write happens.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def forget(stream: Any) -> None:
    """Sends what a stream still holds nowhere, so that the interpreter's end is quiet."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


class _Stream:
    """A standard stream that handles the faults of its writes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Takes text."""
        try:
            self._stream.write(text)
        except (OSError, ValueError) as error:
            self._fault(error)
        return len(text)

    def flush(self) -> None:
        """Hands on what was taken."""
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._fault(error)

    def _fault(self, error: OSError | ValueError) -> None:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Talk(_Stream):
    """Standard error: what cannot be written is dropped."""

    def _fault(self, error: OSError | ValueError) -> None:
        forget(self._stream)


class _Results(_Stream):
    """Standard output: a reader that goes away ends the run with its own code."""

    def _fault(self, error: OSError | ValueError) -> None:
        if not isinstance(error, BrokenPipeError):
            raise error
        forget(self._stream)
        raise SystemExit(141) from None


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Guards the standard streams."""
    out, err = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        streams: Any = (out and _Results(out), _Talk(err or nowhere))
        sys.stdout, sys.stderr = streams
        try:
            yield
        finally:
            sys.stderr.flush()
            sys.stdout, sys.stderr = out, err
