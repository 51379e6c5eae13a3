"""What may be a judge, several of them, and winners."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any

import pytest
from scoregate.judge import (
    FunctionJudge,
    Judge,
    JudgeError,
    JudgeOptions,
    JudgeReply,
    OpenAIJudge,
    Usage,
    pick_winner,
)
from scoregate.judge._reading import Opinion, Vote, reduce, settled

from .server import PASS, Answer
from .support import QUICK, gate, judge_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_functions_and_objects_judge() -> None:
    async def later(prompt: str) -> str:
        return "VERDICT: BLOCK"

    class Sync:
        def ask(self, prompt: str, *, schema: Mapping[str, Any] | None = None) -> JudgeReply:
            assert schema is not None
            return JudgeReply("VERDICT: BLOCK", Usage(1, 2))

    class Async:
        name = "mine"

        async def ask(self, prompt: str, *, schema: Mapping[str, Any] | None = None) -> str:
            return "VERDICT: BLOCK"

    class Called:
        async def __call__(self, prompt: str) -> str:
            return "VERDICT: BLOCK"

    judges: list[Any] = [later, lambda prompt: "VERDICT: BLOCK", Sync(), Async(), Called()]
    for judge in judges:
        result = gate().decide("bad", judge=judge)
        assert (result.verdict, result.decided_by) == ("block", "judge"), judge
    assert isinstance(Sync(), Judge)
    assert gate().decide("bad", judge=Async()).judge.votes[0].judge == "mine"  # type: ignore[union-attr]


def test_functions_run_side_by_side() -> None:
    barrier = threading.Barrier(20)

    def judge(prompt: str) -> str:
        barrier.wait(10)
        return "VERDICT: PASS"

    batch = gate().decide_batch([f"bad {i}" for i in range(20)], judge=judge, concurrency=20)
    assert batch.summary()["pass"] == 20


def test_what_a_function_raises_is_told_without_prompt_and_key() -> None:
    def judge(prompt: str) -> str:
        raise LookupError(prompt)

    result = gate().decide("bad", judge=judge)
    assert (result.verdict, result.reason) == ("undecided", "judge failed: LookupError")

    def said(message: Any) -> str | None:
        def judge(prompt: str) -> str:
            raise LookupError(message(prompt) if callable(message) else message)

        return gate().decide("bad " * 40, judge=judge).reason

    assert said("no\n route") == "judge failed: LookupError: no route"
    assert said("x y" * 100) == "judge failed: LookupError: " + ("x y" * 100)[:120] + "…"
    assert said("key sk-0123456789abcdef0123") == "judge failed: LookupError: key …"
    assert said(lambda prompt: f"cannot say {prompt[5:40]}") == "judge failed: LookupError"
    wrong: Any = lambda prompt: 7  # noqa: E731
    assert gate().decide("bad", judge=wrong).reason == "judge failed: expected a text, got int"
    turns = iter([ConnectionResetError(), None])

    def flaky(prompt: str) -> str:
        if error := next(turns):
            raise error
        return "VERDICT: PASS"

    assert gate().decide("bad", judge=flaky, options=QUICK).passed


def test_a_function_that_takes_too_long() -> None:
    release = threading.Event()
    judge = FunctionJudge(lambda prompt: str(release.wait(20)), timeout=0.1)
    result = gate().decide("bad", judge=judge, options=QUICK)
    release.set()
    assert result.reason == "judge failed: timed out after 4 calls"


def votes(*texts: str) -> list[Any]:
    def judge(text: str) -> Any:
        def ask(prompt: str) -> str:
            if text == "error":
                raise JudgeError("down")
            return text

        return ask

    return [judge(text) for text in texts]


P, B, E, U = "VERDICT: PASS", "VERDICT: BLOCK", "error", "hm"


@pytest.mark.parametrize(
    ("reducer", "texts", "verdict", "by"),
    [
        ("majority", [P, P, B], "pass", "judge"),
        ("majority", [P, B, B], "block", "judge"),
        ("majority", [P, B], "block", "judge"),
        ("majority", [P, P, E], "pass", "judge"),
        ("majority", [P, B, E], "undecided", None),
        ("majority", [B, B, E], "block", "judge"),
        ("majority", [B, U, P], "pass", "policy"),
        ("majority", [P, P, U], "pass", "judge"),
        ("mean", ['{"score": 0.9}', '{"score": 0.2}'], "pass", "judge"),
        ("mean", ['{"score": 0.7}', '{"score": 0.2}'], "block", "judge"),
        ("all", [P, P, P], "pass", "judge"),
        ("all", [P, P, B], "block", "judge"),
        ("all", [P, B, E], "block", "judge"),
        ("all", [P, P, E], "undecided", None),
        ("any", [B, B, P], "pass", "judge"),
        ("any", [B, B], "block", "judge"),
        ("any", [P, E], "pass", "judge"),
        ("any", [B, E], "undecided", None),
        ("any", [B, U], "pass", "policy"),
    ],
)
def test_several_judges(reducer: Any, texts: list[str], verdict: str, by: str | None) -> None:
    result = gate().decide("bad", judge=votes(*texts), reducer=reducer, options=QUICK)
    assert (result.verdict, result.decided_by) == (verdict, by)
    assert result.judge is not None
    assert len(result.judge.votes) == len(texts)


def test_several_scores_are_folded_in_as_one() -> None:
    built = gate(combine="weighted", weights=[1, 1], threshold=0.4)
    judges = votes('{"score": 0.9}', '{"score": 0.7}', '{"score": 0.1}')
    for reducer, score in (("majority", 0.7), ("mean", 1.7 / 3), ("all", 0.1), ("any", 0.9)):
        result = built.decide("bad", judge=judges, reducer=reducer)  # type: ignore[arg-type]
        assert result.judge is not None
        assert result.judge.score == pytest.approx(score)
        assert result.combined == pytest.approx(score / 2)
        assert result.verdict == ("pass" if score / 2 >= 0.4 else "block")


def test_every_reducer_only_rises_with_a_vote() -> None:
    """What `settled` stands on."""
    opinions = [
        Opinion(0.0, "block"),
        Opinion(0.4, "block"),
        Opinion(0.6, "pass"),
        Opinion(1.0, "pass"),
    ]
    for reducer in ("majority", "mean", "all", "any"):
        for group in itertools.product(opinions, repeat=3):
            base = reduce(group, reducer)
            for better in opinions:
                if better.score >= group[0].score:
                    risen = reduce([better, *group[1:]], reducer)
                    assert risen.score >= base.score
                    assert (risen.verdict, base.verdict) != ("block", "pass")
    known = Vote("j", 1.0, "pass")
    failed = Vote("k", None, None, state="failed", error="down")
    assert settled([known, failed], "any", lambda o: o.verdict == "pass", lambda v: bool(v.error))


def test_judges_are_all_asked_for_each_prompt(chat: Any) -> None:
    judges = [judge_of(chat), judge_of(chat, params={"seed": 2})]
    batch = gate().decide_batch(["bad", "bad", "worse"], judge=judges, reducer="all")
    assert len(chat.calls) == 4
    assert batch.calls == 4


def test_a_winner(chat: Any) -> None:
    chat.script = [Answer('{"winner": 2, "reason": "clear"}')]
    found = pick_winner(["a", "b", "c"], judge_of(chat), task="Which?")
    assert (found.winner, found.reason, found.parsed, found.consistent) == (2, "clear", True, None)
    assert chat.calls[0]["response_format"]["json_schema"]["schema"]["required"][0] == "winner"
    assert pick_winner(["a"], judge_of(chat)).winner == 1
    assert len(chat.calls) == 1
    for wrong in ("abc", [1, 2]):
        with pytest.raises(TypeError):
            pick_winner(wrong, judge_of(chat))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        pick_winner([], judge_of(chat))


def test_a_winner_in_both_orders(chat: Any) -> None:
    def good(call: Any) -> Answer:
        prompt = call["messages"][0]["content"]
        return Answer(f"WINNER: {1 if prompt.index('good') < prompt.index('poor') else 2}")

    chat.script = good
    for order in (["good", "poor"], ["poor", "good"]):
        found = pick_winner(order, judge_of(chat), swap_order=True)
        assert order[(found.winner or 0) - 1] == "good"
        assert found.consistent is True
        assert found.attempts == 2
    chat.script = [Answer("WINNER: 1")]
    found = pick_winner(["a", "b"], judge_of(chat), swap_order=True)
    assert (found.winner, found.consistent) == (1, False)
    assert found.reason == "the orders disagree: variant 1, in reverse variant 2"


def test_no_winner_is_the_first_with_a_reason(chat: Any) -> None:
    chat.script = [Answer("Both are nice."), Answer("WINNER: 2")]
    found = pick_winner(["a", "b"], judge_of(chat), options=JudgeOptions(keep_replies=True))
    assert (found.winner, found.attempts) == (2, 2)
    assert found.replies == ("Both are nice.", "WINNER: 2")
    chat.script = [Answer("Both are nice.")]
    found = pick_winner(["a", "b"], judge_of(chat))
    assert (found.winner, found.parsed) == (1, False)
    assert found.reason == "no parseable winner; defaulted to variant 1"
    chat.script = [Answer(status=401, body=b"{}")]
    found = pick_winner(["a", "b"], judge_of(chat))
    assert (found.winner, found.error, found.parsed) == (1, "HTTP 401", False)
    chat.script = [
        Answer('Return JSON {"winner": <number>, "reason": "..."} (or end with WINNER: <number>).')
    ]
    assert not pick_winner(["a", "b"], judge_of(chat)).parsed


def test_a_judge_pickles_without_its_connections(chat: Any) -> None:
    import pickle

    judge = pickle.loads(pickle.dumps(judge_of(chat)))
    assert isinstance(judge, OpenAIJudge)
    chat.script = [PASS]
    assert gate().decide("bad", judge=judge).passed
