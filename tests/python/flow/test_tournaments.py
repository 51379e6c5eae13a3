"""Tournaments: variants side by side, and who wins."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scoregate import JudgeError

from .support import Script, flow, run


def cup(**fields: Any) -> dict[str, Any]:
    return {
        "id": "t",
        "type": "tournament",
        "judge": {"task": "Choose.", "agent": "judge"},
        **fields,
    }


AFTER = {
    "id": "after",
    "dependsOn": ["t"],
    "task": "{steps.t.json.winner}|{steps.t.json.reason}|{steps.t.json.variants.1}|{steps.t.output}",
}


def test_the_winner_goes_on() -> None:
    writer = Script(by={"one": "1st", "two": "2nd", "three": "3rd"})
    writer._replies = ["end"]
    judge = Script('{"winner": 2, "reason": "shorter"}')
    made = flow(cup(variants=["one", "two {args.x}", "three"]), AFTER)
    assert made.validate() == []
    result = run(made, {"default": writer, "judge": judge}, args={"x": "more"})
    assert result["t"].json == {"winner": 2, "reason": "shorter", "variants": ["1st", "2nd", "3rd"]}
    assert result["t"].output == "2nd"
    assert (result["t"].usage.calls, judge.calls) == (4, 1)
    assert writer.prompts[-1] == "2|shorter|2nd|2nd"
    assert "two more" in writer.prompts
    assert judge.prompts[0].startswith("Choose.\n")
    assert judge.prompts[0].index("## Variant 1") < judge.prompts[0].index("## Variant 3")


def test_a_number_asks_the_same_task_side_by_side() -> None:
    at_work, most = 0, 0

    async def writer(prompt: str) -> str:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.01)
        at_work -= 1
        return f"{prompt} {most}"

    result = run(
        flow(cup(variants=4, task="Write.")), {"default": writer, "judge": Script("WINNER: #4")}
    )
    assert most == 4
    assert result["t"].json["winner"] == 4
    assert len(result["t"].json["variants"]) == 4


@pytest.mark.parametrize(
    ("replies", "swap", "winner", "reason", "calls"),
    [
        (["WINNER: 2"], False, 2, None, 1),
        (["WINNER: 99"], False, 2, None, 1),
        (["WINNER: 0"], False, 1, None, 1),
        (['{"best": 2}'], False, 2, None, 1),
        (["no idea", "none at all?"], False, 1, "no parseable winner; defaulted to variant 1", 2),
        (['{"winner": "tie", "reason": "alike"}'], False, 1, "alike", 1),
        (["WINNER: 1", "WINNER: 2"], True, 1, None, 2),
        (["WINNER: 2", "WINNER: 1"], True, 2, None, 2),
        (
            ["WINNER: 2", "WINNER: 2"],
            True,
            1,
            "the orders disagree: variant 2, in reverse variant 1",
            2,
        ),
    ],
)
def test_who_wins(
    replies: list[str], swap: bool, winner: int, reason: str | None, calls: int
) -> None:
    judge = Script(*replies)
    given = cup(variants=["a", "b"], judge={"agent": "judge", "swapOrder": swap})
    result = run(flow(given), {"default": Script("x", "y"), "judge": judge})
    found = result["t"].json
    assert (result["t"].status, judge.calls) == ("done", calls)
    assert found["winner"] == winner
    if reason is not None:
        assert found["reason"] == reason
    assert result["t"].output == found["variants"][winner - 1]


def test_the_task_of_the_judge_can_stand_alone() -> None:
    agent = Script("x", "y", "WINNER: 2")
    result = run(
        flow(cup(variants=["a", "b"], judge="The shortest of {args.n}.")), agent, args={"n": 2}
    )
    assert agent.prompts[2].startswith("The shortest of 2.\n")
    assert result["t"].json["winner"] == 2


def test_a_variant_that_fails_is_left_out() -> None:
    writer = Script("first", JudgeError("down"), "third")
    judge = Script("WINNER: 2")
    result = run(
        flow(cup(variants=["a", "b", "c"]), concurrency=1), {"default": writer, "judge": judge}
    )
    assert result["t"].json["winner"] == 3
    assert result["t"].json["variants"] == ["first", None, "third"]
    assert result["t"].output == "third"
    assert result["t"].warnings == ["variant 2 failed: down"]


def test_one_variant_wins_without_a_judge() -> None:
    result = run(flow(cup(variants=1, task="x")), Script("only"))
    assert (result["t"].output, result["t"].usage.calls) == ("only", 1)


def test_a_failing_judge_fails_and_variants_are_kept_for_the_next_attempt() -> None:
    writer, judge = Script("x"), Script(JudgeError("down"), "WINNER: 2")
    given = cup(variants=["a", "b"], retry={"max": 1})
    result = run(flow(given), {"default": writer, "judge": judge})
    assert (result["t"].status, result["t"].attempts) == ("done", 2)
    assert (writer.calls, judge.calls) == (2, 2)
    failed = run(
        flow(cup(variants=["a", "b"])), {"default": writer, "judge": Script(JudgeError("down"))}
    )
    assert (failed["t"].status, failed["t"].reason) == ("failed", "judge failed: down")
    none = run(flow(cup(variants=["a", "b"])), Script(JudgeError("down")))
    assert (none["t"].status, none["t"].reason) == ("failed", "down")
