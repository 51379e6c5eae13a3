"""Lenient JSON: how much of broken JSON each parser reads right."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harness import ROOT, table

sys.path.insert(0, str(ROOT / "tests" / "python" / "json"))

import inner_quotes
import slips
from scoreboard import readers, score

if TYPE_CHECKING:
    from harness import Run
    from scoreboard import Case

TITLE = "Lenient JSON: accuracy"
ABOUT = """
Documents with one or two slips (`tests/python/json/slips.py`) and strings with unescaped quotes
(`tests/python/json/inner_quotes.py`), made from values that are known. *Right* is the share whose
value is the one that the text was made from. *Silent* is the share that is wrong without an error
or a diagnostic that something was lost; the other parsers have no such diagnostic. The stream reads
pieces of seven characters. Parsers that are not installed are left out (`JSONREPAIR` names the
folder of the npm package jsonrepair).
"""
#: Documents with slips, in a quick run and in a whole one.
QUICK, WHOLE = 2_000, 20_000
SEED = 1


def run(run: Run) -> str:
    made = list(slips.cases(QUICK if run.quick else WHOLE, SEED))
    groups: dict[str, list[Case]] = {
        f"{len(slips.COMMON)} common slips": [c for c in made if c.kinds[0] in slips.COMMON],
        f"{len(slips.HARD)} harder slips": [c for c in made if c.kinds[0] in slips.HARD],
        "unescaped quotes": list(inner_quotes.cases()),
    }
    sides = readers(with_stream=True, with_peers=True)
    rows: dict[str, list[str]] = {name: [name] for name in sides}
    for cases in groups.values():
        for name, found in score(cases, sides).items():
            rows[name] += [f"{found.share('right'):.2%}", f"{found.share('silent'):.3%}"]
    heads = [
        head
        for label, cases in groups.items()
        for head in (f"{label} ({len(cases):,}): right", "silent")
    ]
    return table(["parser", *heads], list(rows.values()))
