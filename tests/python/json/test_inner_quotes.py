"""Unescaped quotes inside of strings, against their truth."""

from __future__ import annotations

import json

import pytest
from inner_quotes import cases
from scoreboard import each, parse, same, score

#: What the parser is held to.
LEAST_RIGHT = 0.98


def test_the_truth_holds_the_text() -> None:
    made = list(cases())
    assert len(made) >= 1000
    for case in made:
        assert not same(json.loads(json.dumps(case.truth)), {})
        assert json.dumps(case.truth, ensure_ascii=False) != case.text
        unescaped = json.dumps(case.truth, ensure_ascii=False).replace('\\"', '"')
        assert "".join(unescaped.split()) in "".join(case.text.split())


@pytest.mark.slow
def test_inner_quotes_stay_text() -> None:
    found = score(list(cases()), {"parse": each(parse)})["parse"]
    assert found.share("right") >= LEAST_RIGHT
    assert found.lost() == []
