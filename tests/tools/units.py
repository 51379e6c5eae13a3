"""Searches for texts whose reading takes more than linear time.

python tests/tools/units.py [--seconds 60] [--seed 1] [--only NAME] [--unit TEXT [--prefix TEXT]]

A text is a prefix and a unit of up to six symbols, repeated. Every public function that takes text
reads it at 4 kB, 20 kB and 60 kB; where its time per byte grows, at 400 kB too. A text whose time
per byte more than doubles is printed, and the exit code is 1. Units are drawn from a seed, so that
a longer run of a seed begins as a shorter one does.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import scoregate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Words that mean something to a reader stand as one symbol.
SYMBOLS = (
    *"{}[]()\"'`\\/*#<>|:;,.-+=~_$^",
    *"aenrtuxT01 \n\t",
    "\u201c",
    "\u201d",
    "\u00a0",
    "\uff0c",
    "\U0001f600",
    "<think>",
    "</think>",
    "<tool_call>",
    "</a>",
    "```",
    "```json\n",
    "//",
    "/*",
    "*/",
    "...",
    '"a":',
    '{"a":',
    '"b"',
    "true",
    "null",
    "\\u",
    "\\ud83d",
    "&quot;",
    "**",
    "VERDICT:",
    "SCORE: ",
    "WINNER: ",
    "pass",
)
PREFIXES = (
    "",
    "",
    "",
    "{",
    "[",
    '{"a": "',
    '{"a": ',
    '["',
    "```json\n",
    "<think>",
    "x ",
    "{'a': '",
)
MOST_SYMBOLS = 6
SIZES = (4_000, 20_000, 60_000)
LARGE = 400_000
#: Growth of the time per byte that is too much.
GROWTH = 2.0
#: Growth at the second size that makes the third worth a look.
HINT = 1.2
#: Below so many nanoseconds a byte, growth is the machine's and not the reader's.
FLOOR = 25.0
#: A hit that would take longer at `LARGE`, in seconds, is not run there.
PATIENCE = 2.0
#: Characters of a piece of a stream.
PIECE = 61


def pieces(size: int) -> Callable[[str], object]:
    def read(text: str) -> object:
        live = scoregate.JSONStream()
        for at in range(0, len(text), size):
            live.feed(text[at : at + size])
        return live.close()

    return read


def readers() -> dict[str, Callable[[str], object]]:
    """Every public function that takes text."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "array"}]}},
        "additionalProperties": {"pattern": "^(a|b)+$", "maxLength": 9},
    }
    block = {"type": "json-schema", "schema": schema, "repair": True}
    gate = scoregate.Gate({"scorers": [block]})
    strict = scoregate.Gate({"scorers": [block | {"repair": False}]})
    words = scoregate.JsRegex(r'^(\s*"[^"]*"\s*,?)*$')
    pairs = scoregate.JsRegex(r'"verdict"\s*:\s*"(\w+)"', "i")
    return {
        "parse_json": scoregate.parse_json,
        "parse_json, all": lambda text: scoregate.parse_json(text, candidates="all", partial=True),
        "parse_json, schema": lambda text: scoregate.parse_json(text, schema=schema),
        "parse_json, strict": lambda text: scoregate.parse_json(text, mode="strict"),
        "extract_json": lambda text: scoregate.extract_json(text, default=None),
        "extract_json, repair": lambda text: scoregate.extract_json(
            text, repair=True, default=None
        ),
        "JSONStream": pieces(10**9),
        "JSONStream, pieces": pieces(PIECE),
        "json_repair": scoregate.json_repair.loads,
        "parse_verdict": scoregate.parse_verdict,
        "parse_judge": scoregate.parse_judge,
        "parse_winner": lambda text: scoregate.parse_winner(text, 3),
        "JsRegex.test": lambda text: (words.test(text), pairs.test(text)),
        "JsRegex": lambda text: scoregate.JsRegex(text[:10_000]),
        "Gate.score": gate.score,
        "Gate.score, strict": strict.score,
        "contract_violations": lambda text: scoregate.contract_violations(text, {"enum": [text]}),
    }


def per_byte(read: Callable[[str], object], text: str, repeats: int) -> float:
    """The least CPU time of some runs, in nanoseconds a byte."""
    least = float("inf")
    for _ in range(repeats):
        started = time.process_time_ns()
        # What a caller gets for a text that is refused is an answer too.
        with suppress(ValueError, scoregate.JsRegexBudgetError):
            read(text)
        least = min(least, time.process_time_ns() - started)
    return least / len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Unit:
    """What a text is made of."""

    prefix: str
    unit: str

    def text(self, size: int) -> str:
        return self.prefix + self.unit * (size // len(self.unit.encode()))


@dataclass(frozen=True, slots=True)
class Hit:
    """A text whose time per byte grows; `costs` are nanoseconds a byte by size."""

    reader: str
    unit: Unit
    costs: dict[int, float]

    def __str__(self) -> str:
        costs = ", ".join(f"{size:,}: {cost:,.1f}" for size, cost in self.costs.items())
        return f"{self.reader}: {self.unit.prefix!r} + {self.unit.unit!r} * n: ns a byte {costs}"


def measure(name: str, read: Callable[[str], object], unit: Unit) -> Hit | None:
    """A hit where the time per byte more than doubles, at each step of a closer look."""
    small, middle, size = SIZES
    texts = {size: unit.text(size) for size in SIZES}
    costs: dict[int, float] = {}

    def grows(size: int, repeats: int, growth: float = GROWTH, floor: float = FLOOR) -> bool:
        costs[small] = per_byte(read, texts[small], 2 * repeats)
        costs[size] = per_byte(read, texts[size], repeats)
        return costs[size] > max(floor, growth * costs[small])

    if not (grows(middle, 1, HINT, 0) and grows(size, 1) and grows(size, 3)):
        return None
    texts[LARGE] = unit.text(LARGE)
    predicted = costs[size] * LARGE / size * LARGE * 1e-9
    if predicted < PATIENCE and not grows(LARGE, 2):
        return None
    return Hit(name, unit, costs)


def units(seed: int) -> Iterator[Unit]:
    """Every single symbol, then random ones, without end."""
    for symbol in SYMBOLS:
        yield Unit("", symbol)
    rng = random.Random(seed)
    while True:
        count = rng.choice((2, 2, 3, 3, 4, 5, MOST_SYMBOLS))
        yield Unit(rng.choice(PREFIXES), "".join(rng.choices(SYMBOLS, k=count)))


def search(
    seconds: float, seed: int, only: str | None = None, most: int = 50
) -> tuple[list[Hit], int]:
    """The hits, and how many units were tried."""
    sides = {name: read for name, read in readers().items() if only in (None, name)}
    hits: list[Hit] = []
    ends = time.monotonic() + seconds
    for tried, unit in enumerate(units(seed)):
        for name, read in sides.items():
            if time.monotonic() > ends or len(hits) >= most:
                return hits, tried
            hit = measure(name, read, unit)
            if hit is not None:
                hits.append(hit)
    raise AssertionError("units end")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(readers()))
    parser.add_argument("--unit", help="measure this unit alone")
    parser.add_argument("--prefix", default="")
    given = parser.parse_args(arguments)
    if given.unit is None:
        hits, tried = search(given.seconds, given.seed, given.only)
        print(f"{tried:,} units, {len(hits)} hits")
    else:
        unit = Unit(given.prefix, given.unit.encode().decode("unicode_escape"))
        found = (measure(name, read, unit) for name, read in readers().items())
        hits = [hit for hit in found if hit is not None]
    for hit in hits:
        print(hit)
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
