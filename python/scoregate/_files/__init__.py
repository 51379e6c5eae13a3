"""JSON lines from files to files, in bounded memory.

Input is read in blocks of 4 MiB and scored natively; the results of a block are written before
the next one is read. A result file gets its name only when it is complete.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

from .. import _native
from .._gate import Gate
from .._public import publish
from .overwriting import refuse_overwriting
from .places import name_of, reason
from .run import Run, check_options, parse_max_errors, quarantine_place
from .sink import open_sink
from .source import Source
from .summary import DetailCount, FileSummary, ScorerCount

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..judge._files import FileJudge
    from .places import Place

__all__ = [
    "DetailCount",
    "FileSummary",
    "ScorerCount",
    "Source",
    "open_sink",
    "parse_max_errors",
    "reason",
    "score_file",
]


def score_file(
    gate: Gate,
    inputs: Place | Sequence[Place],
    output: Place | None = None,
    *,
    field: str = "output",
    id_field: str = "id",
    details: Literal["failed", "all", "none"] = "failed",
    threads: int | None = None,
    on_error: Literal["fail", "skip", "quarantine"] = "fail",
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
    replaced then and keeps its permissions. Devices and pipes are written to directly. Ctrl-C in a
    run with a judge and without a cache keeps the rows that are decided in ``OUT.partial.jsonl``.

    Args:
        gate: the gate.
        inputs: one path or several; ``"-"`` is standard input.
        output: where results go; ``"-"`` is standard output, None keeps only the summary.
        field: the key of the text.
        id_field: the key of the row's id; a row without one gets its number, counted from 0 over
            all inputs, bad rows included.
        details: which results an output line holds: ``"failed"``, ``"all"`` or ``"none"``.
        threads: how many threads; by default as in ``Gate.score_batch``.
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
        TypeError: the gate is no ``Gate``.
        ValueError: an option is out of its range, or a file is both read and written.
    """
    started = time.monotonic()
    if not isinstance(gate, Gate):
        name = type(gate).__name__
        raise TypeError(f"gate: expected a Gate, got {name}; Gate.from_file reads one")
    check_options(on_error, max_errors, limit)
    if isinstance(inputs, str | os.PathLike):
        places = [inputs]
    elif hasattr(inputs, "__iter__"):
        places = list(inputs)
    else:
        name = type(inputs).__name__
        raise TypeError(f"inputs: expected a path or a list of paths, got {name}")
    bad_place = quarantine_place(on_error, quarantine, output)
    lines: Any = _native.LineScorer(
        gate._native,
        field=field,
        id_field=id_field,
        details=details,
        max_line=max_line_bytes,
        keep_raw=on_error == "quarantine",
        threads=threads,
    )
    sources = [Source(place) for place in places]
    refuse_overwriting(sources, output, bad_place)
    with ExitStack() as stack:
        sink = stack.enter_context(open_sink(output))
        bad_sink = stack.enter_context(open_sink(bad_place))
        if judge is not None:
            judge.start(field=field, max_line_bytes=max_line_bytes, threads=threads)
        columns = gate._columns(threads)
        if columns is not None:
            stack.enter_context(columns)
        run = Run(lines, sink, bad_sink, on_error, max_errors, limit, progress, judge, columns)
        try:
            for source in sources:
                if not run.done:
                    run.score(source)
        except KeyboardInterrupt:
            run.keep()
            raise
        run.judge_share()
        for each in (sink, bad_sink):
            each.finish()
        # The results appear last: where they are, the run was complete.
        for each in (bad_sink, sink):
            each.commit()
    return run.summary(name_of(output), name_of(bad_place), time.monotonic() - started)


publish("scoregate", ("DetailCount", "FileSummary", "ScorerCount", "score_file"), globals())
