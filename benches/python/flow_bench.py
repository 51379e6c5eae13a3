"""What flows cost beside the agents that they ask."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from typing import TYPE_CHECKING, Any

import scoregate
from harness import Run, seconds, table
from scoregate.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TITLE = "Flows"
ABOUT = """
A flow of 2,000 phases in chains of twenty, a fifth of them gates of two scorers, with agents that
answer at once: what `validate` takes, and how many phases a second are run, without a record and
with one on the disk. A template of 1 MB with 10,000 placeholders, filled in one thread. Medians.
"""

PHASES = 2000
PLACEHOLDERS = 10_000
SIZE = 1_000_000


def spec() -> dict[str, Any]:
    """Chains of twenty phases: an agent, three more, a gate, and so on."""
    phases: list[dict[str, Any]] = []
    for number in range(PHASES):
        link = number % 20
        phase: dict[str, Any] = {"id": f"p{number}"}
        if link:
            phase["dependsOn"] = [f"p{number - 1}"]
        if link % 5 == 4:
            scorers = [
                {"type": "contains", "value": "ok"},
                {"type": "length-range", "min": 1, "max": 100},
            ]
            phase |= {"type": "gate", "score": {"scorers": scorers}}
        else:
            named = f" after {{steps.p{number - 1}.output}}" if link else ""
            phase["task"] = f"Do {number} for {{args.who}}{named}."
        phases.append(phase)
    return {"name": "bench", "phases": phases, "args": {"who": {}}}


async def agent(prompt: str) -> str:
    return "ok"


def timed(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """The medians of wall and CPU seconds."""
    found = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - wall, time.process_time() - cpu))
    walls, cpus = zip(*found, strict=True)
    return statistics.median(walls), statistics.median(cpus)


def played(flow: Flow, folder: Path | None) -> None:
    result = asyncio.run(flow.run(agent, {"who": "me"}, record=folder))
    if result.status != "done" or result.usage.calls != PHASES * 4 // 5:
        raise SystemExit(f"flow: {result!r}, {result.usage.calls} calls")


def run(run: Run) -> str:
    text = json.dumps(spec(), indent=1)
    flow = Flow(text)
    if flow.validate():
        raise SystemExit(f"flow: {flow.validate()[0]}")
    folders = (run.folder / f"record-{number}" for number in range(100))
    unit = SIZE // PLACEHOLDERS
    template = "".join(
        f"{{steps.s{number}.json.values.{number % 7}}}".ljust(unit, "x")
        for number in range(PLACEHOLDERS)
    )
    steps = {
        f"s{number}": {"output": json.dumps({"values": list(range(7))})}
        for number in range(PLACEHOLDERS)
    }
    missing: list[str] = []

    def fill() -> None:
        # A context of its own each time: the outputs are parsed anew.
        missing.extend(scoregate.interpolate(template, scoregate.Context(steps=steps)).missing)

    lines = []
    for name, work, unit_count in (
        ("read the file", lambda: Flow(text), None),
        ("validate", flow.validate, None),
        ("run", lambda: played(flow, None), PHASES),
        ("run with a record", lambda: played(flow, next(folders)), PHASES),
        ("fill 1 MB, 10,000 placeholders into 10,000 outputs", fill, None),
    ):
        wall, cpu = timed(work, run.repeats)
        rate = "" if unit_count is None else f"{unit_count / wall:,.0f} phases/s"
        lines.append([name, seconds(wall), seconds(cpu), rate])
    if missing:
        raise SystemExit(f"template: {missing[0]} is missing")
    context = scoregate.Context(steps=steps)
    scoregate.interpolate(template, context)
    wall, cpu = timed(lambda: scoregate.interpolate(template, context), run.repeats)
    lines.append(["the same, outputs parsed already", seconds(wall), seconds(cpu), ""])
    return table(["", "wall", "CPU", "rate"], lines)
