"""A run: rows are scored and judged, bad ones are dealt with, all are counted."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from .._errors import InputError, OptionError, TooManyBadRowsError
from .places import with_mark
from .source import parts
from .summary import DetailCount, FileSummary, ScorerCount

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..compile_check._column import Columns
    from ..judge._files import FileJudge
    from .places import Place
    from .sink import Sink
    from .source import Source

#: So many messages of bad rows are kept for the summary.
_KEPT_MESSAGES = 3

#: So many of the most frequent failure details are in a summary.
_KEPT_DETAILS = 3


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


def check_options(on_error: str, max_errors: int | str | None, limit: int | None) -> None:
    """Refuses options out of their range.

    Raises:
        OptionError: one is.
    """
    if on_error not in ("fail", "skip", "quarantine"):
        raise OptionError("on_error", "must be one of fail|skip|quarantine")
    if max_errors is not None and on_error == "fail":
        raise OptionError("max_errors", needs=("on_error", ("skip", "quarantine")))
    if limit is not None and not isinstance(limit, int):
        raise TypeError(f"limit: expected int or None, got {type(limit).__name__}")
    if limit is not None and limit < 1:
        raise OptionError("limit", "must be at least 1")


def quarantine_place(on_error: str, quarantine: Place | None, output: Place | None) -> Place | None:
    """Where bad rows go: by default next to the output, with ``.bad`` before its suffix.

    Raises:
        OptionError: that is no file, or there is no telling where.
    """
    if on_error != "quarantine":
        if quarantine is not None:
            raise OptionError("quarantine", needs=("on_error", ("quarantine",)))
        return None
    if quarantine is not None:
        if quarantine == "-":
            raise OptionError("quarantine", "must be a file")
        return quarantine
    if output is None or output == "-":
        message = "name a file, since there is no output file to put it next to"
        raise OptionError("quarantine", message)
    return with_mark(os.fspath(output), "bad")


class Run:
    """The state of one run.

    Args:
        lines: scores lines natively.
        sink: takes the results.
        bad_sink: takes the bad rows under ``on_error="quarantine"``.
        on_error: like the rest, as in ``scoregate.score_file``.
        max_errors: the bad rows that are tolerated.
        limit: the most rows that are read.
        progress: called after each block.
        judge: decides what the scorers leave open.
        columns: runs the compilers of the gate.
    """

    def __init__(
        self,
        lines: Any,
        sink: Sink,
        bad_sink: Sink,
        on_error: str,
        max_errors: int | str | None,
        limit: int | None,
        progress: Callable[[int, int], None] | None,
        judge: FileJudge | None,
        columns: Columns | None = None,
    ) -> None:
        self._lines = lines
        self._judge = judge
        self._columns = columns
        self._sink = sink
        self._bad_sink = bad_sink
        self._on_error = on_error
        self._most: int | None = None
        self._share: float | None = None
        if max_errors is not None:
            try:
                self._most, self._share = parse_max_errors(max_errors)
            except ValueError as error:
                raise OptionError("max_errors", str(error)) from None
        # No run has more rows than a machine word can count.
        self._left = None if limit is None else min(limit, sys.maxsize)
        self._progress = progress
        self._bytes = 0
        self._rows = 0
        self._bad = 0
        self._messages: list[str] = []

    @property
    def done(self) -> bool:
        """Whether the limit is reached."""
        return self._left == 0

    def score(self, source: Source) -> None:
        """Scores one input to its end or to the limit."""
        self._lines.next_input()
        if self._judge is not None:
            self._judge.next_input()
        for block in source.blocks():
            for part in parts(block):
                self._feed(source, part)
                if self.done:
                    break
            self._bytes += len(block)
            if self._progress is not None:
                self._progress(self._bytes, self._rows + self._bad)
            if self.done:
                return
        self._feed(source, b"", last=True)

    def _feed(self, source: Source, part: bytes, *, last: bool = False) -> None:
        impure = None
        if self._columns is not None:
            impure = self._columns.of(self._lines.texts(part, last=last, limit=self._left))
        output, rows, bad = self._lines.feed(part, last=last, limit=self._left, impure=impure)
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

    def _take_bad(self, source: Source, line: int, offset: int, message: str, raw: bytes) -> None:
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

    def keep(self) -> None:
        """Keeps what an interrupted run has decided, where no cache of the judge's does."""
        judge = self._judge
        if judge is None or judge.has_cache:
            return
        self._sink.write(judge.partial)
        self._sink.finish()
        judge.kept = self._sink.commit_partial()

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
            decided_by=None if judge is None else judge.deciders(totals),
        )


def _bad_line(source: str, line: int, offset: int, error: str, raw: bytes) -> bytes:
    """The line of a bad row in the quarantine file; base64, since it may be no text."""
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
