"""Schemas and values that make an evaluator's work grow without bound: time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from harness import table

if TYPE_CHECKING:
    from harness import Run

TITLE = "Hostile schemas"
ABOUT = """
Each in a process of its own: `schema_violations` of one value, with the schema compiled on the way.
*Memory* is how far the peak of the process rises. The bounds are 100 ms and 200 MiB.
"""


def _filters(keyword: str) -> dict[str, Any]:
    inner = {"type": "array", "items": {"$ref": "#/$defs/f"}}
    branches: list[Any] = [
        {"type": "object", "required": [name], "properties": {name: inner}}
        for name in ("and", "or", "and")
    ]
    branches.append({"type": "string"})
    return {"$ref": "#/$defs/f", "$defs": {"f": {keyword: branches}}}


def _filter(depth: int) -> Any:
    """A tree of filters with one wrong leaf."""
    value: Any = 7
    for _ in range(depth // 2):
        value = {"and": [value]}
    return value


def _chain(keyword: str) -> dict[str, Any]:
    defs: dict[str, Any] = {"d0": {"type": "integer"}}
    for i in range(1, 41):
        defs[f"d{i}"] = {keyword: [{"$ref": f"#/$defs/d{i - 1}"}] * 2}
    return {"$ref": "#/$defs/d40", "$defs": defs}


def _deep() -> tuple[Any, Any]:
    schema: Any = {"minProperties": 0}
    value: Any = {}
    for _ in range(255):
        schema = {"minProperties": 0, "properties": {"a": schema}}
        value = {"a": value}
    return schema, value


CASES: dict[str, tuple[Any, Any]] = {
    "a tree of `oneOf`, depth 40, one wrong leaf": (_filters("oneOf"), _filter(40)),
    "a tree of `oneOf`, depth 400": (_filters("oneOf"), _filter(400)),
    "a tree of `anyOf`, depth 40": (_filters("anyOf"), _filter(40)),
    "a tree of `anyOf`, depth 400": (_filters("anyOf"), _filter(400)),
    "40 `$defs`, each `anyOf` the one before twice": (_chain("anyOf"), "x"),
    "40 `$defs`, each `oneOf` the one before twice": (_chain("oneOf"), "x"),
    "`uniqueItems`, 30,000 integers of 31 digits": (
        {"uniqueItems": True},
        [10**30 + i for i in range(30_000)],
    ),
    "255 `properties` inside one another": _deep(),
}


def run(run: Run) -> str:
    rows = []
    for name in CASES:
        measured = [_measure(name) for _ in range(1 if run.quick else run.repeats)]
        milliseconds = min(found[0] for found in measured) * 1e3
        mebibytes = min(found[1] for found in measured) / 1024
        rows.append((name, f"{milliseconds:.1f} ms", f"{mebibytes:.1f} MiB"))
    return table(("case", "time", "memory"), rows)


def _measure(name: str) -> tuple[float, int]:
    """The seconds and the kibibytes of a case, in a new process."""
    done = subprocess.run(
        [sys.executable, __file__, name], check=True, capture_output=True, text=True
    )
    taken, memory = json.loads(done.stdout)
    return taken, memory


def main() -> None:
    import scoregate

    schema, value = CASES[sys.argv[1]]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    scoregate._native.schema_violations(value, schema)
    taken = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([taken, after - before]))


if __name__ == "__main__":
    main()
