"""What a second thread is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scoregate
from harness import Run, compare, fresh, same, seconds, table
from lines import read_back, scoregate_file
from peers import GATE

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Threads"
ABOUT = """
The benchmark gate with one thread and with two. CPU seconds count all threads. How much wall time a
second thread saves is up to the machine and to what else runs on it.
"""


def run(run: Run) -> str:
    gate = scoregate.Gate(GATE)
    source, out = run.jsonl(), run.folder / "out.jsonl"
    batches = [gate.score_batch(run.texts, threads=threads) for threads in (1, 2)]
    same("two threads", batches[0].columns["combined"], batches[1].columns["combined"])
    files = []
    for threads in (1, 2):
        scoregate_file(gate, source, out, threads)
        files.append(read_back(out))
    same("two threads, lines", *files)
    memory: dict[str, Callable[[list[str]], object]] = {
        str(count): lambda texts, count=count: gate.score_batch(texts, threads=count)
        for count in (1, 2)
    }
    lines: dict[str, Callable[[None], object]] = {
        str(count): lambda _, count=count: scoregate_file(gate, source, out, count)
        for count in (1, 2)
    }
    rows = []
    for label, timings in (
        ("in memory", compare(memory, run.repeats, lambda: fresh(run.texts))),
        ("JSON lines", compare(lines, run.repeats)),
    ):
        one, two = timings["1"], timings["2"]
        rows.append(
            [
                label,
                seconds(one.cpu),
                seconds(two.cpu),
                seconds(one.wall),
                seconds(two.wall),
                f"{one.wall / two.wall:.2f}x",
            ]
        )
    return table(["", "CPU, 1", "CPU, 2", "wall, 1", "wall, 2", "wall ratio"], rows)
