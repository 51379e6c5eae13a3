"""Inputs: read in blocks, in parts of a bounded number of lines."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from typing import TYPE_CHECKING

from .._errors import InputError
from .places import reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .places import Place

#: The bytes of a block of input.
_BLOCK = 4 << 20

#: So many lines are scored at a time: results of very short lines are larger than the lines.
_LINES = 16_384

#: What a file that is no UTF-8 text starts with, and what is said about it.
_FOREIGN = (
    (b"\x1f\x8b", "gzip data is not supported yet; decompress it first (gunzip -c FILE | … -)"),
    (
        b"\x28\xb5\x2f\xfd",
        "zstd data is not supported yet; decompress it first (zstdcat FILE | … -)",
    ),
    (b"\xff\xfe", "UTF-16 text; convert it to UTF-8 first"),
    (b"\xfe\xff", "UTF-16 text; convert it to UTF-8 first"),
)


#: What is said of lines that end as those of old Macs do.
_CR = "its lines end in CR alone; convert it first (tr '\\r' '\\n' < FILE | … -)"


class Source:
    """An input.

    Attributes:
        place: its path, or ``"-"``.
        name: how messages name it.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.name = "<stdin>" if place == "-" else os.fspath(place)
        if place != "-":
            # Told before any row is scored, not when its turn comes.
            try:
                found = os.stat(place)
            except (OSError, ValueError) as error:
                raise InputError(f"{self.name}: {reason(error)}") from error
            if stat.S_ISDIR(found.st_mode):
                raise InputError(f"{self.name}: is a directory, expected a file of JSON lines")

    def blocks(self) -> Iterator[bytes]:
        """The bytes, in blocks.

        Raises:
            InputError: it cannot be read, or is compressed or in UTF-16.
        """
        first = True
        try:
            with self._open() as file:
                while block := _read(file):
                    if first:
                        self._refuse_foreign(block)
                        first = False
                    yield block
        except OSError as error:
            raise InputError(f"{self.name}: {reason(error)}") from error

    def _open(self) -> io.RawIOBase | io.BufferedIOBase:
        if self.place != "-":
            return io.FileIO(self.place, "rb")
        if sys.stdin is None:
            raise InputError(f"{self.name}: is closed")
        try:
            return io.FileIO(sys.stdin.fileno(), "rb", closefd=False)
        except io.UnsupportedOperation:
            data: bytes = sys.stdin.buffer.read()
            return io.BytesIO(data)

    def _refuse_foreign(self, block: bytes) -> None:
        for start, message in _FOREIGN:
            if block.startswith(start):
                raise InputError(f"{self.name}: {message}")
        if b"\r{" in block and b"\n" not in block:
            raise InputError(f"{self.name}: {_CR}")


def _read(file: io.RawIOBase | io.BufferedIOBase) -> bytes:
    """A block: of a file, 4 MiB; of a pipe, what is there, so that its rows need not wait."""
    read: list[bytes] = []
    size = 0
    while size < _BLOCK:
        part = file.read(_BLOCK - size)
        if part is None:  # a pipe that does not block, and has nothing yet
            select.select([file], [], [])
            continue
        read.append(part)
        size += len(part)
        if not part or not _ready(file):
            break
    return read[0] if len(read) == 1 else b"".join(read)


def _ready(file: io.RawIOBase | io.BufferedIOBase) -> bool:
    """Whether more can be read without waiting; a regular file always can."""
    try:
        return bool(select.select([file], [], [], 0)[0])
    except (OSError, ValueError):
        return False


def parts(block: bytes) -> Iterator[bytes]:
    """A block in parts of a bounded number of lines."""
    if block.count(b"\n") <= _LINES:
        yield block
    else:
        middle = len(block) // 2
        yield from parts(block[:middle])
        yield from parts(block[middle:])
