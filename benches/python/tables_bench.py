"""The gate over a column of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import scoregate
from harness import Run, compare, compared, fresh, same
from peers import GATE

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Tables"
ABOUT = """
The benchmark gate, one thread, over a column of polars: the table as it is, its column as a series,
and its column as a list of `str`, which is made anew as `to_list` makes it. The last line reads the
texts in a plain list, without a table. Each gives columns; `to_polars` is timed with the first.
"""


def run(run: Run) -> str:
    gate = scoregate.Gate(GATE)
    frame = pl.DataFrame({"id": [row.id for row in run.rows], "output": run.texts})
    wanted = gate.score_batch(run.texts)
    table = gate.score_table(frame, id="id")
    series = gate.score_batch(frame["output"])
    for batch in (table, series):
        same("verdict", wanted["verdict"], batch["verdict"])
        same("combined", wanted["combined"], batch["combined"])
    ways: dict[str, Callable[[list[str]], object]] = {
        "score_table(frame)": lambda _: gate.score_table(frame, id="id", threads=1).to_polars(),
        "score_batch(series)": lambda _: gate.score_batch(frame["output"], threads=1),
        "score_batch(series.to_list())": lambda _: gate.score_batch(
            frame["output"].to_list(), threads=1
        ),
        "score_batch(list)": lambda texts: gate.score_batch(texts, threads=1),
    }
    timings = compare(ways, run.repeats, lambda: fresh(run.texts))
    return compared(timings, "score_table(frame)", len(run.rows), run.megabytes)
