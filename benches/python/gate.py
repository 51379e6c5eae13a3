"""The benchmark gate over texts in memory, on one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scoregate
from harness import Run, compare, compared, fresh, same
from peers import GATE, PEERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TITLE = "The gate in memory"
ABOUT = """
Four scorers, weighted, threshold 0.7: `contains` `"status"` (0.2), `regex`
`"status"\\s*:\\s*"success"` (0.3), `json-schema` with a five-keyword contract (0.4), and
`length-range` 50 to 5,000 (0.1). One thread, `gate.score_batch(texts, threads=1)` against a Python
loop over the peer. Every side gives the verdict, the combined score, the result of each scorer,
and the detail of each failure.
"""


def answers(batch: scoregate.BatchResult) -> Iterator[tuple[object, ...]]:
    """Verdict, combined score and each scorer's result, a row at a time."""
    columns = batch.columns
    passed = [columns[name] for name in columns if name.endswith(".passed")]
    combined = (round(score, 9) for score in columns["combined"])
    yield from zip(columns["passed"], combined, *passed, strict=True)


def run(run: Run) -> str:
    gate = scoregate.Gate(GATE)
    expected = list(answers(gate.score_batch(run.texts, threads=1)))
    things: dict[str, Callable[[list[str]], object]] = {
        "scoregate": lambda texts: gate.score_batch(texts, threads=1)
    }
    for name, make in PEERS.items():
        score = make().gate()
        got = [(found[0], round(found[1], 9), *found[2:6]) for found in map(score, run.texts)]
        same(name, expected, got)
        things[name] = lambda texts, score=score: [score(text) for text in texts]
    timings = compare(things, run.repeats, lambda: fresh(run.texts))
    return compared(timings, "scoregate", len(run.rows), run.megabytes)
