"""What the sections share: the corpus, timing, and tables."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from make_corpus import Row

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Run:
    """How much a run does, and the corpus it does it on."""

    quick: bool
    repeats: int
    rows: list[Row]
    folder: Path

    @property
    def texts(self) -> list[str]:
        return [row.output for row in self.rows]

    @property
    def megabytes(self) -> float:
        return sum(len(row.output.encode()) for row in self.rows) / 1e6

    def jsonl(self) -> Path:
        """The corpus as a file of JSON lines."""
        path = self.folder / "corpus.jsonl"
        if not path.exists():
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                for row in self.rows:
                    line = {"id": row.id, "output": row.output}
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return path


@dataclass(frozen=True)
class Timing:
    """Medians over the runs of one thing."""

    cpu: float
    wall: float


def fresh(texts: Iterable[str]) -> list[str]:
    """Copies of texts. A str keeps its UTF-8 once somebody asked for it, so that a second run on
    the same objects would time less work than a first."""
    return [text.encode().decode() for text in texts]


def compare(
    things: dict[str, Callable[[Any], object]],
    repeats: int,
    prepare: Callable[[], Any] = lambda: None,
) -> dict[str, Timing]:
    """Times several things side by side.

    Each round runs every thing once, each on its own prepared argument, and rounds start at
    different things: a slow minute of a shared machine falls on all of them.
    """
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in things}
    names = list(things)
    for turn in range(repeats):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            argument = prepare()
            cpu, wall = time.process_time(), time.perf_counter()
            things[name](argument)
            spent[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {
        name: Timing(*(statistics.median(column) for column in zip(*runs, strict=True)))
        for name, runs in spent.items()
    }


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def seconds(value: float) -> str:
    """Three significant digits of a duration."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size or unit == "µs":
            scaled = value / size
            return f"{scaled:.{max(0, 2 - len(str(int(scaled))) + 1)}f} {unit}"
    return ""


def compared(timings: dict[str, Timing], ours: str, rows: int, megabytes: float) -> str:
    """The table of one comparison; rates are a CPU second."""
    base = timings[ours].cpu
    lines = [
        [
            f"**{name}**" if name == ours else name,
            seconds(spent.cpu),
            seconds(spent.wall),
            f"{rows / spent.cpu:,.0f}",
            f"{megabytes / spent.cpu:,.0f}",
            f"{spent.cpu / base:.1f}x",
        ]
        for name, spent in timings.items()
    ]
    return table(["", "CPU", "wall", "rows/s", "MB/s", "CPU ratio"], lines)


def same(name: str, expected: Sequence[object], got: Sequence[object]) -> None:
    """Ends the run where a peer answers differently: then times mean nothing."""
    if len(expected) != len(got):
        raise SystemExit(f"{name}: {len(got)} answers for {len(expected)} rows")
    for number, (want, have) in enumerate(zip(expected, got, strict=True)):
        if want != have:
            raise SystemExit(f"{name}: row {number}: scoregate {want!r}, peer {have!r}")


def machine() -> str:
    """The machine in one line."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
        model = names[0] if names else model
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()}, CPython {platform.python_version()}"
    )


def versions(*packages: str) -> str:
    """The versions of installed packages."""
    return ", ".join(f"{package} {version(package)}" for package in packages)
