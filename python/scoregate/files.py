"""JSON lines from files to files, in bounded memory.

Input is read in blocks of 4 MiB and scored natively; the results of a block are written before
the next one is read. A result file gets its name only when it is complete.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

from . import _native
from .errors import InputError, OutputError, TooManyBadRowsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from .gate import Gate
    from .judge.files import FileJudge

    #: A path, or ``"-"`` for standard input or output.
    Place = str | os.PathLike[str]

__all__ = ["DetailCount", "FileSummary", "ScorerCount", "parse_max_errors", "score_file"]

#: The bytes of a block of input.
_BLOCK = 4 << 20

#: So many lines are scored at a time: results of very short lines are larger than the lines.
_LINES = 16_384

#: So many messages of bad rows are kept for the summary.
_KEPT_MESSAGES = 3

#: So many of the most frequent failure details are in a summary.
_KEPT_DETAILS = 3

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


@dataclass(frozen=True, slots=True)
class ScorerCount:
    """How many rows a scorer passed.

    Attributes:
        name: the scorer's name.
        type: its type.
        passed: the rows that it passed.
    """

    name: str
    type: str
    passed: int


@dataclass(frozen=True, slots=True)
class DetailCount:
    """How often a scorer failed with the same detail.

    Attributes:
        scorer: the scorer's name.
        detail: the detail; of a long one, the start.
        rows: the rows that failed with it.
    """

    scorer: str
    detail: str
    rows: int


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What a run over files gave.

    Attributes:
        rows: the rows that were scored; bad rows are not among them.
        passed: rows with verdict ``pass``.
        blocked: rows with verdict ``block``.
        undecided: rows with verdict ``undecided``.
        missing: rows without text (null), which are among the blocked.
        bad_rows: lines that are no rows and were left out.
        bad_messages: the first few of them, each as ``FILE:LINE: what is wrong``.
        scorers: a count per scorer, in the order of the gate.
        details: the most frequent failure details, the most frequent first. Counted exactly while
            a run has at most 4,096 different ones.
        output: the file of the results, ``"-"`` for standard output, or None.
        quarantine: the file of the bad rows, or None.
        bytes_read: the bytes that were read.
        seconds: wall time.
        judge: where a judge was given, what it came to: ``rows``, ``calls``, ``cached``,
            ``input_tokens``, ``output_tokens``.
    """

    rows: int
    passed: int
    blocked: int
    undecided: int
    missing: int
    bad_rows: int
    bad_messages: tuple[str, ...]
    scorers: tuple[ScorerCount, ...]
    details: tuple[DetailCount, ...]
    output: str | None
    quarantine: str | None
    bytes_read: int
    seconds: float
    judge: dict[str, int] | None = None

    @property
    def pass_rate(self) -> float | None:
        """Passes over scored rows, in [0, 1]; None without rows."""
        return self.passed / self.rows if self.rows else None

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON values."""
        return {
            "rows": self.rows,
            "pass": self.passed,
            "block": self.blocked,
            "undecided": self.undecided,
            "missing": self.missing,
            "pass_rate": self.pass_rate,
            "bad_rows": self.bad_rows,
            "bad_messages": list(self.bad_messages),
            "scorers": [
                {
                    "name": scorer.name,
                    "type": scorer.type,
                    "passed": scorer.passed,
                    "pass_rate": scorer.passed / self.rows if self.rows else None,
                }
                for scorer in self.scorers
            ],
            "details": [
                {"scorer": count.scorer, "detail": count.detail, "rows": count.rows}
                for count in self.details
            ],
            "output": self.output,
            "quarantine": self.quarantine,
            "bytes": self.bytes_read,
            "seconds": round(self.seconds, 3),
            **({} if self.judge is None else {"judge": self.judge}),
        }


def score_file(
    gate: Gate,
    inputs: Place | Sequence[Place],
    output: Place | None = None,
    *,
    field: str = "output",
    id_field: str = "id",
    details: str = "failed",
    threads: int | None = None,
    on_error: str = "fail",
    max_errors: int | str | None = None,
    quarantine: Place | None = None,
    limit: int | None = None,
    max_line_bytes: int = 64 << 20,
    progress: Callable[[int, int], None] | None = None,
    judge: FileJudge | None = None,
) -> FileSummary:
    """Scores files of JSON lines and writes a line of results for each row, in order.

    An input line is an object that holds the text; blank lines, CRLF and a byte order mark are
    fine. An output line is ``{"id", "verdict", "combined", "threshold"?, "reason"?,
    "decided_by"?, "results"}``. A null text is missing input, which the gate blocks.

    An output file appears, complete, only when the run ends well; an older file of that name is
    replaced then and keeps its permissions. Devices and pipes are written to directly.

    Args:
        gate: the gate.
        inputs: one path or several; ``"-"`` is standard input.
        output: where results go; ``"-"`` is standard output, None keeps only the summary.
        field: the key of the text.
        id_field: the key of the row's id; a row without one gets its number, counted from 0 over
            all inputs, bad rows included.
        details: which results an output line holds: ``"failed"``, ``"all"`` or ``"none"``.
        threads: how many threads; by default as in :meth:`Gate.score_batch`.
        on_error: what a line that is no row does: ``"fail"`` ends the run, ``"skip"`` leaves it
            out, ``"quarantine"`` writes it to the quarantine file as ``{"source", "line",
            "byte_offset", "error", "raw_b64"}``.
        max_errors: so many bad rows are tolerated: a number, or a share of all rows such as
            ``"2%"``, which is judged at the end. Not with ``on_error="fail"``.
        quarantine: the quarantine file; by default the output's name with ``.bad`` before its
            suffix. It is written even when no row is bad.
        limit: at most so many rows are read, bad ones included.
        max_line_bytes: longer lines are bad rows.
        progress: called after each block with the bytes and the rows so far.
        judge: decides the rows that the scorers leave open, before their block is written.

    Raises:
        InputError: an input cannot be read, or holds a bad row under ``on_error="fail"``.
        TooManyBadRowsError: more rows are bad than ``max_errors``.
        OutputError: a result cannot be written.
        BrokenPipeError: whoever read standard output has gone.
        ValueError: an option is out of its range, or a file is both read and written.
    """
    started = time.monotonic()
    if on_error not in ("fail", "skip", "quarantine"):
        raise ValueError("on_error: must be one of fail|skip|quarantine")
    if max_errors is not None and on_error == "fail":
        raise ValueError('max_errors: needs on_error="skip" or "quarantine"')
    if limit is not None and limit < 1:
        raise ValueError("limit: must be at least 1")
    places = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    bad_place = _quarantine_place(on_error, quarantine, output)
    lines: Any = _native.LineScorer(
        gate._native,
        field=field,
        id_field=id_field,
        details=details,
        max_line=max_line_bytes,
        keep_raw=on_error == "quarantine",
        threads=threads,
    )
    sources = [_Source(place) for place in places]
    _refuse_overwriting(sources, output, bad_place)
    with ExitStack() as stack:
        sink = stack.enter_context(_open_sink(output))
        bad_sink = stack.enter_context(_open_sink(bad_place))
        if judge is not None:
            judge.start(field=field, max_line_bytes=max_line_bytes, threads=threads)
        run = _Run(lines, sink, bad_sink, on_error, max_errors, limit, progress, judge)
        for source in sources:
            if not run.done:
                run.score(source)
        run.judge_share()
        for each in (sink, bad_sink):
            each.finish()
        for each in (bad_sink, sink):
            each.commit()
    return run.summary(_name(output), _name(bad_place), time.monotonic() - started)


def parse_max_errors(text: int | str) -> tuple[int | None, float | None]:
    """The number or the percentage of bad rows that is tolerated; one of both is None.

    Raises:
        ValueError: it is neither a whole number from 0 nor a percentage from 0 to 100.
    """
    message = 'must be a whole number, or a percentage such as "2%"'
    if isinstance(text, int):
        if text < 0:
            raise ValueError(message)
        return text, None
    text = text.strip()
    try:
        if not text.endswith("%"):
            return parse_max_errors(int(text))
        share = float(text[:-1])
    except ValueError:
        raise ValueError(message) from None
    if not 0 <= share <= 100:
        raise ValueError(message)
    return None, share


class _Run:
    """The state of one run."""

    def __init__(
        self,
        lines: Any,
        sink: _Sink,
        bad_sink: _Sink,
        on_error: str,
        max_errors: int | str | None,
        limit: int | None,
        progress: Callable[[int, int], None] | None,
        judge: FileJudge | None,
    ) -> None:
        self._lines = lines
        self._judge = judge
        self._sink = sink
        self._bad_sink = bad_sink
        self._on_error = on_error
        self._most: int | None = None
        self._share: float | None = None
        if max_errors is not None:
            try:
                self._most, self._share = parse_max_errors(max_errors)
            except ValueError as error:
                raise ValueError(f"max_errors: {error}") from None
        self._left = limit
        self._progress = progress
        self._bytes = 0
        self._rows = 0
        self._bad = 0
        self._messages: list[str] = []

    @property
    def done(self) -> bool:
        """Whether the limit is reached."""
        return self._left == 0

    def score(self, source: _Source) -> None:
        """Scores one input to its end or to the limit."""
        self._lines.next_input()
        if self._judge is not None:
            self._judge.next_input()
        first = True
        for block in source.blocks():
            if first:
                _refuse_foreign(source.name, block)
                first = False
            for part in _parts(block):
                self._feed(source, part)
                if self.done:
                    break
            self._bytes += len(block)
            if self._progress is not None:
                self._progress(self._bytes, self._rows + self._bad)
            if self.done:
                return
        self._feed(source, b"", last=True)

    def _feed(self, source: _Source, part: bytes, *, last: bool = False) -> None:
        output, rows, bad = self._lines.feed(part, last=last, limit=self._left)
        for line, offset, message, raw in bad:
            self._take_bad(source, line, offset, message, raw)
        if self._judge is not None:
            output = self._judge.take(
                part, output, rows, bad, last=last, progress=self._judged_so_far
            )
        if output:
            self._sink.write(output)
        self._rows += rows
        if self._left is not None:
            self._left -= rows + len(bad)

    def _judged_so_far(self, rows: int) -> None:
        if self._progress is not None:
            self._progress(self._bytes, self._rows + self._bad + rows)

    def _take_bad(self, source: _Source, line: int, offset: int, message: str, raw: bytes) -> None:
        place = f"{source.name}:{line}: {message}"
        if self._on_error == "fail":
            raise InputError(place)
        self._bad += 1
        if self._most is not None and self._bad > self._most:
            raise TooManyBadRowsError(
                f"{place} (bad row {self._bad:,}, and at most {self._most:,} are tolerated)"
            )
        if len(self._messages) < _KEPT_MESSAGES:
            self._messages.append(place)
        if self._on_error == "quarantine":
            self._bad_sink.write(_bad_line(source.name, line, offset, message, raw))

    def judge_share(self) -> None:
        """Refuses a run in which too large a share of the rows is bad."""
        total = self._rows + self._bad
        if self._share is not None and self._bad * 100 > self._share * total:
            raise TooManyBadRowsError(
                f"{self._bad:,} of {total:,} rows are bad, and at most {self._share:g}% are "
                f"tolerated; the first: {self._messages[0]}"
            )

    def summary(self, output: str | None, quarantine: str | None, seconds: float) -> FileSummary:
        """What the run gave."""
        totals = self._lines.summary()
        names = [scorer["name"] for scorer in totals["scorers"]]
        judge = self._judge
        passed, blocked = (judge.verdicts[v] if judge else 0 for v in ("pass", "block"))
        return FileSummary(
            rows=totals["rows"],
            passed=totals["pass"] + passed,
            blocked=totals["block"] + blocked,
            undecided=totals["undecided"] - passed - blocked,
            missing=totals["missing"],
            bad_rows=self._bad,
            bad_messages=tuple(self._messages),
            scorers=tuple(ScorerCount(**scorer) for scorer in totals["scorers"]),
            details=tuple(
                DetailCount(names[index], detail, rows)
                for index, detail, rows in self._lines.frequent_details(_KEPT_DETAILS)
            ),
            output=output,
            quarantine=quarantine,
            bytes_read=self._bytes,
            seconds=seconds,
            judge=None if judge is None else judge.to_dict(),
        )


def _bad_line(source: str, line: int, offset: int, error: str, raw: bytes) -> bytes:
    import base64
    import json

    row = {
        "source": source,
        "line": line,
        "byte_offset": offset,
        "error": error,
        "raw_b64": base64.b64encode(raw).decode("ascii"),
    }
    return json.dumps(row).encode("ascii") + b"\n"


def _parts(block: bytes) -> Iterator[bytes]:
    """A block in parts of a bounded number of lines."""
    if block.count(b"\n") <= _LINES:
        yield block
    else:
        middle = len(block) // 2
        yield from _parts(block[:middle])
        yield from _parts(block[middle:])


def _refuse_foreign(name: str, block: bytes) -> None:
    for start, message in _FOREIGN:
        if block.startswith(start):
            raise InputError(f"{name}: {message}")


def _name(place: Place | None) -> str | None:
    return None if place is None else os.fspath(place)


def _quarantine_place(
    on_error: str, quarantine: Place | None, output: Place | None
) -> Place | None:
    if on_error != "quarantine":
        if quarantine is not None:
            raise ValueError('quarantine: needs on_error="quarantine"')
        return None
    if quarantine is not None:
        if quarantine == "-":
            raise ValueError("quarantine: must be a file")
        return quarantine
    if output is None or output == "-":
        raise ValueError("quarantine: name a file, since there is no output file to put it next to")
    stem, suffix = os.path.splitext(os.fspath(output))
    return f"{stem}.bad{suffix}"


def _regular(place: Place | None, stream: str) -> os.stat_result | None:
    """The status of a regular file; `stream` is what ``"-"`` stands for."""
    try:
        if place is None:
            return None
        found = os.fstat(getattr(sys, stream).fileno()) if place == "-" else os.stat(place)
    except (OSError, AttributeError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _refuse_overwriting(
    sources: list[_Source], output: Place | None, quarantine: Place | None
) -> None:
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


class _Source:
    """An input."""

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
        """The bytes, in blocks."""
        try:
            with self._open() as file:
                while block := _read(file):
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


def _read(file: io.RawIOBase | io.BufferedIOBase) -> bytes:
    """A block: of a file, 4 MiB; of a pipe, what is there, so that its rows need not wait."""
    parts: list[bytes] = []
    size = 0
    while size < _BLOCK:
        part = file.read(_BLOCK - size)
        if part is None:  # a pipe that does not block, and has nothing yet
            select.select([file], [], [])
            continue
        parts.append(part)
        size += len(part)
        if not part or not _ready(file):
            break
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _ready(file: io.RawIOBase | io.BufferedIOBase) -> bool:
    """Whether more can be read without waiting; a regular file always can."""
    try:
        return bool(select.select([file], [], [], 0)[0])
    except (OSError, ValueError):
        return False


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


class _Sink(Protocol):
    """Where bytes go. What is not committed leaves no trace, where that can be."""

    def write(self, data: bytes) -> None: ...
    def finish(self) -> None: ...
    def commit(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def _open_sink(place: Place | None) -> _Sink:
    if place is None:
        return _StreamSink(None, "")
    if place == "-":
        return _StreamSink(_stdout(), "standard output")
    name = os.fspath(place)
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


def _output_reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "cannot be written: its folder does not exist"
    return f"cannot be written: {reason(error)}"


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


def _write_all(file: Any, data: bytes) -> None:
    left = memoryview(data)
    while left:
        written = file.write(left)
        if written is None:  # a pipe that does not block, and is full
            select.select([], [file], [])
        else:
            left = left[written:]


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


class _FileSink:
    """A file next to its target, which it replaces when it is complete."""

    def __init__(self, name: str, target: str, old: os.stat_result | None) -> None:
        self._name = name
        self._target = target
        folder = os.path.dirname(target)
        self._path = os.path.join(folder, f".scoregate-{os.urandom(8).hex()}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        # The system applies the umask; until the file is complete only its owner may read it.
        descriptor = os.open(self._path, flags, 0o666)
        self._file = io.FileIO(descriptor, "wb")
        self._mode = stat.S_IMODE((old or os.fstat(descriptor)).st_mode)
        with suppress(OSError):  # not every file system has modes
            os.chmod(self._path, 0o600)

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


def _sync_folder(folder: str) -> None:
    """Makes a rename last; not every system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    with suppress(OSError):
        os.fsync(descriptor)
    os.close(descriptor)
