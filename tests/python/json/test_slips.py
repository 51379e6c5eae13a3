"""Documents with slips, against their truth."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from documents import document
from scoreboard import each, parse, readers, same, score, stream
from slips import COMMON, HARD, SLIPS, cases

#: What the parser is held to.
LEAST_RIGHT = 0.98
MOST_SILENT = 0.0003
MOST_SILENT_IN_A_STREAM = 0.001
#: How far the package json_repair may be ahead in a kind, and the kinds in which it may be further.
BEHIND = 0.01
DIFFERENT: dict[str, str] = {}
#: Cases of a run, and its seed.
CASES, SEED = 20_000, 20261130


def test_a_document_without_a_slip_is_its_truth() -> None:
    for seed in range(1000):
        doc = document(random.Random(seed))
        assert same(json.loads(doc.text()), doc.truth)


def test_there_are_kinds_enough() -> None:
    assert len(COMMON) >= 37
    assert len(HARD) >= 7


def test_cases_depend_on_the_seed_alone() -> None:
    count = 2 * len(SLIPS)
    first, again, other = (list(cases(count, seed)) for seed in (7, 7, 8))
    assert first == again or "nan" in repr(first)
    assert [case.text for case in first] == [case.text for case in again]
    assert [case.text for case in first] != [case.text for case in other]
    assert list(cases(3, 7, "cut_anywhere")) == list(cases(6, 7, "cut_anywhere"))[:3]
    assert Counter(case.kinds[0] for case in first) == dict.fromkeys(SLIPS, 2)


@pytest.mark.slow
def test_slips_are_repaired_or_owned_up_to() -> None:
    made = list(cases(CASES, SEED))
    whole, pieces = score(made, {"parse": each(parse), "stream": each(stream)}).values()
    assert whole.share("right") >= LEAST_RIGHT
    assert whole.share("silent") < MOST_SILENT
    assert pieces.share("silent") < MOST_SILENT_IN_A_STREAM


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_kind_is_read_worse_than_json_repair_reads_it() -> None:
    sides = readers(with_peers=True)
    made = list(cases(CASES, SEED))
    scores = score(made, {name: sides[name] for name in ("scoregate", "json_repair")})
    ours, package = scores.values()
    behind = {
        kind: (ours.share("right", [kind]), package.share("right", [kind]))
        for kind in SLIPS
        if kind not in DIFFERENT
        and ours.share("right", [kind]) < package.share("right", [kind]) - BEHIND
    }
    assert behind == {}
