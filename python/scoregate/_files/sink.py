"""Outputs: a stream, or a file that gets its name only when it is complete."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, Self

from .._errors import OutputError
from .places import reason, with_mark

if TYPE_CHECKING:
    from types import TracebackType

    from .places import Place


class Sink(Protocol):
    """Where bytes go. What is not committed leaves no trace, where that can be."""

    def write(self, data: bytes) -> None:
        """Takes bytes."""

    def finish(self) -> None:
        """Takes no more: what was written is safe."""

    def commit(self) -> None:
        """Gives the file its name; only after `finish`."""

    def commit_partial(self) -> str:
        """Gives what is there of a file a name that says so, and tells it; only after `finish`."""

    def __enter__(self) -> Self:
        """The sink."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes it, and removes a file that is not committed."""


def open_sink(place: Place | None) -> Sink:
    """Opens an output; None is one that takes everything and keeps nothing.

    Raises:
        OutputError: it cannot be written.
    """
    if place is None:
        return _StreamSink(None, "")
    if place == "-":
        return _StreamSink(_stdout(), "standard output")
    name = os.fspath(place)
    if not name:
        raise OutputError("the name of the output is empty")
    try:
        old = _status(name)
        if old is not None and stat.S_ISDIR(old.st_mode):
            raise OutputError(f"{name}: is a directory, expected a file to write")
        if old is not None and not stat.S_ISREG(old.st_mode):
            return _StreamSink(io.FileIO(os.open(name, os.O_WRONLY), "wb"), name)
        # A link is kept, and the file that it names is replaced.
        return _FileSink(name, os.path.realpath(name), old)
    except (OSError, ValueError) as error:
        raise OutputError(f"{name}: {_output_reason(error)}") from error


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _stdout() -> Any:
    if sys.stdout is None:
        raise OutputError("standard output: is closed")
    try:
        sys.stdout.flush()
        # Unbuffered: a write that fails leaves nothing for the interpreter to flush at its end.
        return io.FileIO(sys.stdout.fileno(), "wb", closefd=False)
    except io.UnsupportedOperation:
        return sys.stdout.buffer


class _StreamSink:
    """A stream, a device, or nothing."""

    def __init__(self, file: Any, name: str) -> None:
        self._file = file
        self._name = name

    def write(self, data: bytes) -> None:
        if self._file is None:
            return
        try:
            _write_all(self._file, data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"{self._name}: {_output_reason(error)}") from error

    def finish(self) -> None:
        if self._file is not None:
            self._file.flush()

    def commit(self) -> None:
        pass

    def commit_partial(self) -> str:
        return self._name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(self._file, io.FileIO):
            self._file.close()


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Locks a file as its writer does, where the system has such locks."""
    try:
        import fcntl
    except ImportError:  # Windows removes no file that is open, which does the same
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return wait  # not every file system has locks
    return True


def _remove_left(folder: str) -> None:
    """Removes the unfinished files of runs that were killed: those that nobody has locked."""
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            if not (entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX)):
                continue
            with suppress(OSError):
                descriptor = os.open(entry.path, os.O_RDWR)
                try:
                    if _lock(descriptor, wait=False):
                        os.unlink(entry.path)
                finally:
                    os.close(descriptor)


#: The name of an unfinished file.
_PREFIX, _SUFFIX = ".scoregate-", ".tmp"


class _FileSink:
    """A file next to its target, which it replaces when it is complete."""

    def __init__(self, name: str, target: str, old: os.stat_result | None) -> None:
        self._name = name
        self._target = target
        folder = os.path.dirname(target)
        _remove_left(folder)
        descriptor = self._create(folder)
        self._file = io.FileIO(descriptor, "wb")
        self._mode = stat.S_IMODE((old or os.fstat(descriptor)).st_mode)
        with suppress(OSError):  # not every file system has modes
            os.chmod(self._path, 0o600)

    def _create(self, folder: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        while True:
            self._path = os.path.join(folder, f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}")
            # The system applies the umask; until the file is complete only its owner may read it.
            descriptor = os.open(self._path, flags, 0o666)
            _lock(descriptor, wait=True)
            if os.path.exists(self._path):
                return descriptor
            os.close(descriptor)  # another run took it for one that was left

    def write(self, data: bytes) -> None:
        try:
            _write_all(self._file, data)
        except OSError as error:
            raise OutputError(f"{self._name}: {_output_reason(error)}") from error

    def finish(self) -> None:
        try:
            os.fsync(self._file.fileno())
            self._file.close()
            with suppress(OSError):
                os.chmod(self._path, self._mode)
        except OSError as error:
            raise OutputError(f"{self._name}: {_output_reason(error)}") from error

    def commit_partial(self) -> str:
        self._target = with_mark(self._target, "partial")
        self.commit()
        return with_mark(self._name, "partial")

    def commit(self) -> None:
        try:
            os.replace(self._path, self._target)
        except OSError as error:
            raise OutputError(f"{self._name}: {_output_reason(error)}") from error
        self._path = ""
        _sync_folder(os.path.dirname(self._target))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        if self._path:
            with suppress(OSError):
                os.unlink(self._path)


def _write_all(file: Any, data: bytes) -> None:
    left = memoryview(data)
    while left:
        written = file.write(left)
        if written is None:  # a pipe that does not block, and is full
            select.select([], [file], [])
        else:
            left = left[written:]


def _output_reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "cannot be written: its folder does not exist"
    return f"cannot be written: {reason(error)}"


def _sync_folder(folder: str) -> None:
    """Makes a rename last; not every system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    with suppress(OSError):
        os.fsync(descriptor)
    os.close(descriptor)
