"""Scoring data sets of Ray Data."""

from __future__ import annotations

import logging
import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import ray
import ray.data

from .._errors import InputError, OutputError
from .._files import FileSummary, ScorerCount
from ._arrow import Details, TableScorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from .._gate import Gate


def score_dataset(
    ds: ray.data.Dataset,
    gate: Gate,
    column: str = "output",
    *,
    keep: Sequence[str] | None = None,
    details: Details = "failed",
    batch_size: int = 10_000,
    num_cpus: float = 1,
) -> ray.data.Dataset:
    """Adds the columns of a gate to a data set; Ray scores it when it is asked for rows.

    The verdict and the reason are strings, ``verdict_code`` an int8; else the columns are those of
    ``Gate.output_schema``. An input column of the same name becomes ``input.<name>``.

    Args:
        ds: the data set. Its blocks are scored where they lie, without a copy of the texts.
        gate: the gate, which goes to the workers as its score block.
        column: the column of the texts; a null is missing input.
        keep: the input columns that stay; by default all of them.
        details: ``"failed"`` keeps the detail of each failed scorer, ``"none"`` drops them.
        batch_size: rows of a piece of work.
        num_cpus: the cores of a task, which scores on as many threads.
    """
    scorer = TableScorer(gate, column, keep, details, task_cpus)
    return ds.map_batches(
        partial(_score, scorer=scorer),
        batch_format="pyarrow",
        zero_copy_batch=True,
        batch_size=batch_size,
        num_cpus=num_cpus,
    )


def _score(table: pa.Table, scorer: TableScorer) -> pa.Table:
    return scorer(table)


def task_cpus() -> int:
    """The cores of the task that this is, at least 1."""
    resources = ray.get_runtime_context().get_assigned_resources()
    return max(1, int(resources.get("CPU", 1)))


#: How inputs end that are read as lines of JSON.
_LINES = (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz")


def score_files(
    gate: Gate,
    inputs: Sequence[str],
    output: str,
    *,
    field: str = "output",
    details: Details = "failed",
) -> FileSummary:
    """Scores folders or files of Parquet or lines of JSON into a folder of Parquet.

    The rows keep all their fields. Ray is started in this process where it does not run, and found
    by ``RAY_ADDRESS`` where that is set.

    Raises:
        InputError: an input is not there, or is neither Parquet nor lines of JSON.
        OutputError: the output holds files already.
    """
    start = time.monotonic()
    lines = {_is_lines(place) for place in inputs}
    if len(lines) > 1:
        raise InputError("inputs: all of them must be Parquet, or all lines of JSON")
    if os.path.exists(output) and (not os.path.isdir(output) or os.listdir(output)):
        raise OutputError(f"{output}: is there already; name an empty folder")
    _connect()
    paths = [os.path.abspath(place) for place in inputs]
    in_lines = lines == {True}
    ds = ray.data.read_json(paths, lines=True) if in_lines else ray.data.read_parquet(paths)
    output = os.path.abspath(output)
    score_dataset(ds, gate, field, details=details).write_parquet(output)
    return _summary(gate, output, time.monotonic() - start)


def _is_lines(place: str) -> bool:
    if not os.path.exists(place):
        raise InputError(f"{place}: no such file or folder")
    names = [place]
    if os.path.isdir(place):
        names = [name for _, _, files in os.walk(place) for name in files]
    if all(name.endswith(_LINES) for name in names):
        return True
    if all(name.endswith(".parquet") for name in names):
        return False
    raise InputError(f"{place}: expected .parquet or {', '.join(_LINES[:3])} files alone")


def _connect() -> None:
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}
    if not os.environ.get("RAY_ADDRESS"):
        options |= {"address": "local", "include_dashboard": False}
    ray.init(**options)


def _summary(gate: Gate, output: str, seconds: float) -> FileSummary:
    """What the results come to: each block is counted where it is read."""
    scorers = gate.output_schema().names[5::3]
    columns = ["verdict", "reason", *scorers]
    counts: dict[str, int] = {}
    counted = ray.data.read_parquet(output, columns=columns).map_batches(
        partial(_counts, scorers=scorers), batch_format="pyarrow", batch_size=None
    )
    for row in counted.iter_rows():
        for name, rows in row.items():
            counts[name] = counts.get(name, 0) + rows
    found = gate.score_batch([]).summary()["scorers"]
    return FileSummary(
        rows=counts.get("rows", 0),
        passed=counts.get("pass", 0),
        blocked=counts.get("block", 0),
        undecided=counts.get("undecided", 0),
        missing=counts.get("missing", 0),
        bad_rows=0,
        bad_messages=(),
        scorers=tuple(
            ScorerCount(scorer["name"], scorer["type"], counts.get(name, 0))
            for scorer, name in zip(found, scorers, strict=True)
        ),
        details=(),
        output=output,
        quarantine=None,
        bytes_read=0,
        seconds=seconds,
    )


def _counts(table: pa.Table, scorers: Sequence[str]) -> dict[str, Any]:
    import pyarrow.compute as pc

    def count(column: str, value: str) -> int:
        return pc.sum(pc.equal(table[column], value)).as_py() or 0

    counts = {word: count("verdict", word) for word in ("pass", "block", "undecided")}
    counts |= {"rows": table.num_rows, "missing": count("reason", "missing input")}
    counts |= {name: pc.sum(table[name]).as_py() or 0 for name in scorers}
    return {name: [rows] for name, rows in counts.items()}
