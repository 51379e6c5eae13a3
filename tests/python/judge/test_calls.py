"""A token is spent only where a judge can change the outcome: the server counts."""

from __future__ import annotations

from typing import Any

import pytest
from scoregate import Gate

from .server import BLOCK, PASS, Answer
from .support import QUICK, gate, judge_of, two

#: Gate, texts, the number of calls, and the verdicts and who decided each.
CASES: list[tuple[str, Any, list[str | None], int, list[tuple[str, str]]]] = [
    ("all passes", two(), ["ab"], 0, [("pass", "scorers")]),
    ("all fails", two(), ["a", "b", ""], 3, [("block", "judge")] * 3),
    ("any passes", two(combine="any"), ["a", "xb"], 0, [("pass", "scorers")] * 2),
    ("any fails", two(combine="any"), ["x"], 1, [("block", "judge")]),
    ("missing input", two(), [None], 0, [("block", "policy")]),
    ("always, all passes", two(judge={"when": "always"}), ["ab"], 1, [("block", "judge")]),
    ("always, all fails", two(judge={"when": "always"}), ["a"], 1, [("block", "judge")]),
    (
        "always, any passes",
        two(combine="any", judge={"when": "always"}),
        ["a"],
        1,
        [("block", "judge")],
    ),
    (
        "N weights, over the threshold",
        two(combine="weighted", weights=[3, 1], threshold=0.7),
        ["a"],
        0,
        [("pass", "scorers")],
    ),
    (
        "N weights, under the threshold: the judge's verdict decides",
        two(combine="weighted", weights=[3, 1], threshold=0.8),
        ["a", "b"],
        2,
        [("block", "judge")] * 2,
    ),
    (
        "N weights never cut off below",
        two(combine="weighted", weights=[1, 1], threshold=1),
        ["x"],
        1,
        [("block", "judge")],
    ),
    (
        "N+1 weights, the lower bound passes",
        two(combine="weighted", weights=[2, 1, 1], threshold=0.5),
        ["a"],
        0,
        [("pass", "scorers")],
    ),
    (
        "N+1 weights, not even a 1 would do",
        two(combine="weighted", weights=[2, 1, 1], threshold=0.6),
        ["b"],
        0,
        [("block", "scorers")],
    ),
    (
        "N+1 weights, between the two cut-offs",
        two(combine="weighted", weights=[2, 1, 1], threshold=0.6),
        ["a"],
        1,
        [("block", "judge")],
    ),
    (
        "N+1 weights, always: nothing to ask where the lower bound passes",
        two(combine="weighted", weights=[2, 1, 1], threshold=0.5, judge={"when": "always"}),
        ["a", "ab"],
        0,
        [("pass", "scorers")] * 2,
    ),
    (
        "no judge in the block",
        Gate({"scorers": [{"type": "contains", "value": "a"}]}),
        ["a", "b"],
        0,
        [("pass", "scorers"), ("block", "scorers")],
    ),
]


@pytest.mark.filterwarnings("ignore:the gate names no judge")
@pytest.mark.parametrize(
    ("built", "texts", "calls", "verdicts"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_calls_are_made_only_where_they_matter(
    chat: Any, built: Gate, texts: Any, calls: int, verdicts: Any
) -> None:
    chat.script = [BLOCK]
    batch = built.decide_batch(texts, judge=judge_of(chat), options=QUICK)
    assert len(chat.calls) == calls
    assert batch.calls == calls
    assert [(r.verdict, r.decided_by) for r in batch] == verdicts
    summary = batch.summary()
    assert summary["judge"]["calls"] == calls
    assert summary["pass"] + summary["block"] == len(texts)
    assert batch.tokens.total == sum(r.judge.usage.total for r in batch if r.judge)
    one = built.decide(texts[0], judge=judge_of(chat), options=QUICK)
    assert (one.verdict, one.decided_by) == verdicts[0]
    assert len(chat.calls) == calls + (1 if calls else 0)


@pytest.mark.parametrize(
    ("score", "verdict", "combined"),
    [(1.0, "pass", 0.75), (0.4, "pass", 0.6), (0.39, "block", 0.5975), (0.0, "block", 0.5)],
)
def test_with_a_weight_of_its_own_the_judges_score_is_folded_in(
    chat: Any, score: float, verdict: str, combined: float
) -> None:
    built = two(combine="weighted", weights=[2, 1, 1], threshold=0.6)
    # The threshold decides, not the verdict.
    chat.script = [Answer(f'{{"score": {score}, "verdict": "block"}}')]
    result = built.decide("a", judge=judge_of(chat))
    assert (result.verdict, result.decided_by) == (verdict, "judge")
    assert result.combined == pytest.approx(combined)
    assert result.scored.combined == 0.5
    assert result.to_dict()["judge"] == {"score": score}


def test_without_one_the_judges_verdict_decides_and_the_scores_stay(chat: Any) -> None:
    for mode in ({}, {"combine": "any"}, {"combine": "weighted", "weights": [1, 1]}):
        text = "x"
        chat.script = [Answer('{"score": 0.2, "verdict": "pass", "reason": " good "}')]
        result = two(**mode).decide(text, judge=judge_of(chat))
        assert (result.verdict, result.decided_by, result.reason) == ("pass", "judge", None)
        assert result.passed
        assert result.combined == 0
        assert result.to_dict()["judge"] == {"score": 0.2, "reason": "good"}


def test_a_result_says_who_decided_and_what_it_cost(chat: Any) -> None:
    chat.script = [BLOCK]
    result = gate().decide("bad", judge=judge_of(chat))
    assert result.verdict == "block"
    assert result.reason == "poor"
    assert [r.name for r in result.results] == ["says-ok"]
    assert result.report in chat.prompts[0]
    assert result.judge is not None
    assert (result.judge.score, result.judge.verdict, result.judge.parsed) == (0.1, "block", True)
    assert result.judge.attempts == 1
    assert result.judge.usage.output_tokens == 10
    assert 0 < result.judge.latency < 5
    assert result.judge.replies == ()
    assert list(result.to_dict()) == [
        "verdict",
        "combined",
        "results",
        "reason",
        "decided_by",
        "judge",
    ]
    assert result.to_dict(details=True)["judge"]["attempts"] == 1
    scored = gate().decide("ok", judge=judge_of(chat))
    assert scored.judge is None
    assert scored.to_dict() == gate().score("ok").to_dict()
    chat.script = [PASS]
    assert gate().decide("bad", judge=judge_of(chat)).passed


def test_a_gate_without_judge_is_warned_of(chat: Any) -> None:
    built = Gate({"scorers": [{"type": "contains", "value": "a"}]})
    with pytest.warns(UserWarning, match="the gate names no judge") as told:
        built.decide("b", judge=judge_of(chat))
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="the gate names no judge") as told:
        built.decide_batch(["b"], judge=judge_of(chat))
    assert told[0].filename == __file__
    assert chat.calls == []
