"""Documents with slips whose truth is known: python tests/python/json/slips.py --count 20000.

A case is a realistic document with one or two slips and the value that it was made from; a case
depends on the seed and its number alone. A cut document's truth is what stood before the cut: open
strings as far as they got, no key without its value. `--peers` compares other parsers (the npm
package jsonrepair where `JSONREPAIR` names its folder), `--stream` reads in pieces too, `--show N`
prints the first wrong texts, silent ones first.
"""

from __future__ import annotations

import copy
import random
import sys
from typing import TYPE_CHECKING

import slip_around
import slip_strings
import slip_structure
from documents import document
from scoreboard import Case, command
from slip_base import SLIPS, Slip

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["COMMON", "HARD", "SLIPS", "cases", "slip_around", "slip_strings", "slip_structure"]

COMMON = [name for name, kind in SLIPS.items() if not kind.hard]
HARD = [name for name, kind in SLIPS.items() if kind.hard]
SECOND = [kind for kind in SLIPS.values() if kind.second]
#: Share of the documents with two slips, where the first allows it.
TWICE = 0.3
#: Documents that are tried for a slip.
TRIES = 200


def case(kind: Slip, seed: str) -> Case:
    """A document with a slip of a kind, and perhaps a second one."""
    for turn in range(TRIES):
        rng = random.Random(f"{seed}:{turn}")
        doc = document(rng)
        before = doc.inner()
        if not kind.change(rng, doc):
            continue
        kinds = [kind.name]
        if not kind.alone and rng.random() < TWICE:
            second = rng.choice(SECOND)
            wrapped = bool(doc.wrappers)
            if second is not kind and not (wrapped and second.name.startswith(("fence", "prose"))):
                kept = copy.deepcopy(doc.truth)
                if second.change(rng, doc):
                    kinds.append(second.name)
                assert kept == doc.truth or "nan" in repr(kept)
        text = doc.text()
        if text != before:
            return Case(tuple(kinds), text, doc.truth)
    raise AssertionError(f"no document takes a slip of the kind {kind.name}")


def cases(count: int, seed: int, kind: str | None = None) -> Iterator[Case]:
    """The first cases of a seed, kinds in turn."""
    kinds = [SLIPS[kind]] if kind else list(SLIPS.values())
    for index in range(count):
        chosen = kinds[index % len(kinds)]
        yield case(chosen, f"{seed}:{chosen.name}:{index // len(kinds)}")


def main(arguments: list[str]) -> int:
    groups = {f"common ({len(COMMON)})": COMMON, f"hard ({len(HARD)})": HARD, "all": list(SLIPS)}
    return command(
        arguments,
        __doc__,
        SLIPS,
        lambda given: list(cases(given.count, given.seed, given.kind)),
        groups,
        ("count", 20_000),
        ("seed", 1),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
