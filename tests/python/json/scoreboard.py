"""Readers of broken JSON side by side: right, wrong and loud, wrong and silent."""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import shutil
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import scoregate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: What a reader made of a text: its value, and whether it owned up to a loss.
Reading: TypeAlias = "tuple[Any, bool]"
Outcome = Literal["right", "loud", "silent"]
OUTCOMES: tuple[Outcome, ...] = ("right", "loud", "silent")
#: What stands for a text that a reader refused.
NOTHING: Any = object()
#: Characters of a piece that a stream is fed.
PIECE = 7


@dataclass(frozen=True, slots=True)
class Case:
    """A text with the value that it was made from."""

    kinds: tuple[str, ...]
    text: str
    truth: Any


def same(a: Any, b: Any) -> bool:
    """Equality by value; True is no number, NaN equals itself."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def keys(value: Any) -> set[str]:
    """The keys of a value, at any depth."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            found.update(value.keys())
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found


def reading(result: scoregate.JSONResult) -> Reading:
    if not result.ok:
        return NOTHING, True
    codes = {found.code for found in result.diagnostics}
    return result.value, result.severity == "lossy" or "other_candidate" in codes


def parse(text: str) -> Reading:
    """The repair tier."""
    return reading(scoregate.parse_json(text))


def stream(text: str) -> Reading:
    """A stream, in small pieces."""
    live = scoregate.JSONStream()
    for at in range(0, len(text), PIECE):
        live.feed(text[at : at + PIECE])
    return reading(live.close())


def silent(loads: Callable[[str], Any]) -> Callable[[str], Reading]:
    """A peer that raises, or gives a value and says nothing."""

    def read(text: str) -> Reading:
        try:
            value = loads(text)
        except (ValueError, RecursionError):
            return NOTHING, True
        return (NOTHING, True) if value is None or value == "" else (value, False)

    return read


def node_module() -> Path | None:
    """The folder of the npm package jsonrepair: `JSONREPAIR`, or one that npm put near by."""
    places = [os.environ.get("JSONREPAIR"), "node_modules/jsonrepair"]
    found = (Path(place).resolve() for place in places if place)
    return next((place for place in found if place.is_dir()), None)


def jsonrepair(texts: Sequence[str]) -> list[Reading]:
    """The readings of the npm package, of all texts in one run of node."""
    script = """
    const {jsonrepair} = require(process.argv[1]);
    const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
    const give = (text) => { try { return jsonrepair(text) } catch { return null } };
    process.stdout.write(JSON.stringify(texts.map(give)));
    """
    node, module = shutil.which("node"), node_module()
    if node is None or module is None:
        return []
    done = subprocess.run(
        [node, "-e", script, str(module)],
        input=json.dumps(list(texts)),
        capture_output=True,
        text=True,
        check=True,
    )
    return [
        silent(lambda t: None if t is None else json.loads(t))(t) for t in json.loads(done.stdout)
    ]


Reader: TypeAlias = "Callable[[Sequence[str]], list[Reading]]"


def each(read: Callable[[str], Reading]) -> Reader:
    return lambda texts: [read(text) for text in texts]


def readers(*, with_stream: bool = False, with_peers: bool = False) -> dict[str, Reader]:
    """scoregate, and the peers that are installed."""
    found: dict[str, Reader] = {"scoregate": each(parse)}
    if with_stream:
        found["stream"] = each(stream)
    if with_peers:
        for name in ("json_repair", "fast_json_repair"):
            try:
                loads = importlib.import_module(name).loads
            except ImportError:
                continue
            found[name] = each(silent(loads))
        if shutil.which("node") and node_module():
            found["jsonrepair"] = jsonrepair
    return found


def judge(case: Case, given: Reading) -> Outcome:
    value, loud = given
    if value is not NOTHING and same(value, case.truth):
        return "right"
    return "loud" if loud else "silent"


@dataclass(slots=True)
class Score:
    """The outcomes of one reader, by kind; `wrong` keeps the cases."""

    counts: dict[str, Counter[Outcome]] = field(default_factory=lambda: defaultdict(Counter))
    wrong: list[tuple[Case, Any, Outcome]] = field(default_factory=list)

    def add(self, case: Case, given: Reading) -> None:
        outcome = judge(case, given)
        self.counts[case.kinds[0]][outcome] += 1
        if outcome != "right":
            self.wrong.append((case, given[0], outcome))

    def lost(self) -> list[Case]:
        """The cases whose value lacks a key of the truth, and nothing says so."""
        return [
            case
            for case, value, outcome in self.wrong
            if outcome == "silent" and not keys(case.truth) <= keys(value)
        ]

    def total(self, kinds: Iterable[str] | None = None) -> Counter[Outcome]:
        """The outcomes of some kinds, or of all."""
        total: Counter[Outcome] = Counter()
        for kind in self.counts if kinds is None else kinds:
            total.update(self.counts.get(kind, Counter()))
        return total

    def share(self, outcome: Outcome, kinds: Iterable[str] | None = None) -> float:
        total = self.total(kinds)
        return total[outcome] / max(1, total.total())


def score(cases: Sequence[Case], sides: dict[str, Reader]) -> dict[str, Score]:
    """What each reader makes of the cases."""
    texts = [case.text for case in cases]
    scores = {}
    for name, read in sides.items():
        scores[name] = Score()
        for case, given in zip(cases, read(texts), strict=True):
            scores[name].add(case, given)
    return scores


def lines(scores: dict[str, Score], groups: dict[str, list[str]]) -> list[str]:
    """A table: per kind and in all, right / loud / silent in per cent."""
    first = next(iter(scores.values()))
    width = max(len(kind) for kind in [*first.counts, *groups])
    head = " ".join(f"{name:>21}" for name in scores)
    found = [f"{'':{width}} {'n':>6} {head}"]
    every: dict[str, list[str]] = {kind: [kind] for kind in sorted(first.counts)}
    for label, kinds in (every | groups).items():
        count = first.total(kinds).total()
        if not count:
            continue
        cells = []
        for one in scores.values():
            shares = [100 * one.share(outcome, kinds) for outcome in OUTCOMES]
            cells.append("{:7.2f}{:7.2f}{:7.3f}".format(*shares))
        found.append(f"{label:{width}} {count:6} {' '.join(cells)}")
    return found


def show(scores: dict[str, Score], count: int) -> list[str]:
    """Some of the texts that a reader got wrong, the silent ones first."""
    found = []
    for name, one in scores.items():
        ranked = sorted(one.wrong, key=lambda entry: entry[2] != "silent")
        for case, value, outcome in ranked[:count]:
            given = "nothing" if value is NOTHING else repr(value)
            found += [
                f"{name} {'+'.join(case.kinds)} {outcome}",
                f"  text  {case.text!r}",
                f"  truth {case.truth!r}",
                f"  given {given}",
            ]
    return found


def command(
    arguments: list[str],
    about: str | None,
    kinds: Iterable[str],
    make: Callable[[argparse.Namespace], list[Case]],
    groups: dict[str, list[str]],
    *options: tuple[str, int],
) -> int:
    """The command line of a generator: makes cases and prints what the readers make of them."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in options:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--kind", choices=sorted(kinds))
    parser.add_argument("--peers", action="store_true", help="other parsers too")
    parser.add_argument("--stream", action="store_true", help="in pieces too")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="wrong texts to print")
    given = parser.parse_args(arguments)
    cases = [case for case in make(given) if given.kind in (None, case.kinds[0])]
    scores = score(cases, readers(with_stream=given.stream, with_peers=given.peers))
    print("right, wrong and loud, wrong and silent, in per cent")
    print("\n".join([*lines(scores, groups), *show(scores, given.show)]))
    for name, one in scores.items():
        print(f"{name}: {len(one.lost())} lost a key and did not say so")
    return 0
