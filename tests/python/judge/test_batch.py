"""Batches: equal prompts once, bounded flight, budgets, cancellation, the cache."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from scoregate.judge import (
    FunctionJudge,
    JudgeCache,
    JudgedResult,
    JudgeError,
    JudgeOptions,
    JudgeReply,
    JudgingInterrupted,
    Progress,
    Usage,
)

from .server import BLOCK, PASS, Answer, error
from .support import QUICK, gate, judge_of

if TYPE_CHECKING:
    from pathlib import Path


def texts(count: int) -> list[str | None]:
    return [f"bad {number}" for number in range(count)]


def test_as_many_calls_overlap_as_are_allowed_and_never_more(chat: Any) -> None:
    chat.barrier = threading.Barrier(32)  # nobody is answered before 32 are there
    batch = gate().decide_batch(texts(96), judge=judge_of(chat), concurrency=32)
    assert [r.verdict for r in batch] == ["pass"] * 96
    assert chat.most == 32
    assert len(chat.calls) == 96


def test_equal_prompts_are_asked_once(chat: Any) -> None:
    same: list[str | None] = ["bad", "ok", "bad", "worse", "bad", None]
    chat.script = [BLOCK]
    batch = gate().decide_batch(same, judge=judge_of(chat), concurrency=8)
    assert len(chat.calls) == 2
    assert [r.verdict for r in batch] == ["block", "pass", "block", "block", "block", "block"]
    sources = [r.judge.votes[0].source if r.judge else None for r in batch]
    assert sources == ["call", None, "shared", "call", "shared", None]
    assert [r.judge.attempts if r.judge else 0 for r in batch] == [1, 0, 0, 1, 0, 0]
    assert batch.tokens.output_tokens == 20
    assert batch[2].reason == "poor"


def test_a_budget_of_calls(chat: Any) -> None:
    for most in (0, 1, 5):
        chat.calls.clear()
        batch = gate().decide_batch([*texts(9), "ok"], judge=judge_of(chat), max_calls=most)
        assert len(chat.calls) == batch.calls == most
        reasons = [r.reason for r in batch if r.verdict == "undecided"]
        assert reasons == ["max_calls reached"] * (9 - most)
        assert batch[9].passed
        assert batch.summary()["undecided"] == 9 - most


def test_retries_and_recoveries_are_calls_too(chat: Any) -> None:
    chat.script = [error(500), error(500), PASS]
    batch = gate().decide_batch(texts(1), judge=judge_of(chat), max_calls=2, options=QUICK)
    assert batch[0].verdict == "undecided"
    assert batch[0].reason == "max_calls reached (last error: HTTP 500)"
    chat.script = [Answer("unreadable")]
    batch = gate().decide_batch(texts(1), judge=judge_of(chat), max_calls=1, options=QUICK)
    assert (batch[0].verdict, batch[0].reason) == ("undecided", "max_calls reached")


def test_a_spent_budget_follows_the_policy_for_errors(chat: Any) -> None:
    batch = gate().decide_batch(
        texts(2), judge=judge_of(chat), max_calls=1, concurrency=1, on_judge_error="block"
    )
    assert [(r.verdict, r.decided_by, r.reason) for r in batch] == [
        ("pass", "judge", None),
        ("block", "policy", "max_calls reached"),
    ]


def test_a_budget_of_tokens() -> None:
    def judge(prompt: str) -> JudgeReply:
        return JudgeReply("VERDICT: PASS", Usage(60, 40))

    batch = gate().decide_batch(texts(5), judge=judge, max_tokens=250, concurrency=1)
    assert [r.verdict for r in batch] == ["pass"] * 3 + ["undecided"] * 2
    assert {r.reason for r in batch[3:]} == {"max_tokens reached"}
    assert {r.judge.limit for r in batch[3:] if r.judge} == {"tokens"}
    assert batch.tokens == Usage(180, 120)
    batch = gate().decide_batch(
        texts(5), judge=lambda prompt: "VERDICT: PASS", max_tokens=1, concurrency=1
    )
    assert [r.verdict for r in batch] == ["pass"] + ["undecided"] * 4  # estimated


def test_a_deadline_cancels_what_is_in_flight(chat: Any) -> None:
    slow = Answer(wait=30)
    chat.script = lambda call: PASS if "bad 0" in call["messages"][0]["content"] else slow
    started = time.monotonic()
    batch = gate().decide_batch(texts(4), judge=judge_of(chat), deadline=0.7)
    assert time.monotonic() - started < 4
    assert [r.verdict for r in batch] == ["pass"] + ["undecided"] * 3
    assert {r.reason for r in batch[1:]} == {"deadline reached"}
    assert {r.judge.limit for r in batch[1:] if r.judge} == {"deadline"}


def test_no_wait_outlasts_the_deadline(chat: Any) -> None:
    chat.script = [error(429, Retry_After="60")]
    started = time.monotonic()
    result = gate().decide("bad", judge=judge_of(chat), deadline=5)
    assert time.monotonic() - started < 3
    assert result.reason == "deadline reached (last error: HTTP 429)"


def test_progress_and_results_as_they_come(chat: Any) -> None:
    seen: list[Progress] = []
    results: dict[int, str] = {}

    def keep(index: int, result: JudgedResult) -> None:
        results[index] = result.verdict

    batch = gate().decide_batch(
        ["bad", "ok", "bad", "worse"],
        judge=judge_of(chat),
        concurrency=1,
        progress=seen.append,
        on_result=keep,
    )
    assert [(p.done, p.total, p.calls) for p in seen] == [(2, 3, 1), (3, 3, 2)]
    assert seen[-1].tokens == batch.tokens.total
    assert results == {0: "pass", 2: "pass", 3: "pass"}


def test_a_callback_that_raises_ends_the_batch(chat: Any) -> None:
    def progress(_: Progress) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        gate().decide_batch(texts(5), judge=judge_of(chat), progress=progress)


def test_a_batch_has_columns_and_counts(chat: Any) -> None:
    chat.script = [BLOCK]
    built = gate(combine="weighted", weights=[1, 3], threshold=0.5)
    batch = built.decide_batch(["bad", "worse", None], judge=judge_of(chat))
    assert batch["verdict"] == ["block", "block", "block"]
    assert list(batch.columns["verdict_code"]) == [0, 0, 0]
    assert batch.columns["passed"] == [False, False, False]
    assert batch.columns["combined"][0] == pytest.approx(0.075)
    assert batch[-1].reason == "missing input"
    assert len(batch) == 3
    assert batch.usage[0].judge == "openai:test-model"
    prices = {"test-model": (1.0, 2.0)}
    assert batch.cost(prices) == pytest.approx(
        (batch.tokens.input_tokens + 2 * batch.tokens.output_tokens) / 1e6
    )
    assert batch.cost({}) is None


def test_rows_reach_the_scorers_and_the_template() -> None:
    seen: list[Any] = []
    options = JudgeOptions(interpolate=lambda task, row: seen.append(row) or task)  # type: ignore[func-returns-value]
    gate().decide_batch(["x"], [{"a": 1}], judge=lambda p: "VERDICT: PASS", options=options)
    assert seen[0] == {"a": 1}


def test_the_second_run_with_a_cache_makes_no_call(chat: Any, tmp_path: Path) -> None:
    many = texts(20)
    first = gate().decide_batch(many, judge=judge_of(chat), cache=tmp_path / "c")
    assert len(chat.calls) == 20
    second = gate().decide_batch(many, judge=judge_of(chat), cache=str(tmp_path / "c"))
    assert len(chat.calls) == 20
    assert second.calls == 0
    assert [r.to_dict() for r in first] == [r.to_dict() for r in second]
    assert second.summary()["judge"]["cached"] == 20
    assert second[0].judge is not None
    assert (second[0].judge.votes[0].source, second[0].judge.attempts) == ("cache", 0)
    # Even without a budget.
    third = gate().decide_batch(many, judge=judge_of(chat), cache=tmp_path / "c", max_calls=0)
    assert third.summary()["pass"] == 20


def test_what_else_is_in_the_key(chat: Any, tmp_path: Path) -> None:
    cache = JudgeCache(tmp_path / "c")
    gate().decide("bad", judge=judge_of(chat), cache=cache)
    gate().decide("bad", judge=judge_of(chat), cache=cache, options=JudgeOptions(trial=1))
    gate().decide("bad", judge=judge_of(chat, params={"seed": 1}), cache=cache)
    gate(judge={"task": "Else?"}).decide("bad", judge=judge_of(chat), cache=cache)
    assert len(chat.calls) == 4
    cache.close()


def test_broken_replies_and_errors_are_not_cached(chat: Any, tmp_path: Path) -> None:
    cache = JudgeCache(tmp_path / "c")

    def run() -> Any:
        return gate().decide("bad", judge=judge_of(chat), cache=cache, options=QUICK)

    chat.script = [Answer("broken"), Answer("broken"), error(401), Answer("broken"), BLOCK]
    assert run().decided_by == "policy"
    assert run().verdict == "undecided"
    assert run().verdict == "block"
    assert len(chat.calls) == 5
    # What the recovery got is found under the first prompt.
    assert run().verdict == "block"
    assert len(chat.calls) == 5
    cache.close()


def test_equal_prompts_of_several_batches_are_asked_once_while_in_flight(
    chat: Any, tmp_path: Path
) -> None:
    judge = judge_of(chat)
    chat.script = [Answer(wait=0.3, text="VERDICT: PASS")]

    async def main() -> list[str]:
        with JudgeCache(tmp_path / "c") as cache:
            results = await asyncio.gather(
                *[gate().adecide("bad", judge=judge, cache=cache) for _ in range(5)]
            )
        await judge.aclose()
        return [result.verdict for result in results]

    assert asyncio.run(main()) == ["pass"] * 5
    assert len(chat.calls) == 1


def test_a_cache_needs_a_judge_that_says_what_it_is(tmp_path: Path) -> None:
    cache = tmp_path / "c"
    calls: list[str] = []

    def judge(prompt: str) -> str:
        calls.append(prompt)
        return "VERDICT: PASS"

    with pytest.raises(ValueError, match=r"cache: the judge judge has no identity.*FunctionJudge"):
        gate().decide("bad", judge=judge, cache=cache)
    named = FunctionJudge(judge, name="mine-1", cacheable=True)
    for _ in range(2):
        assert gate().decide("bad", judge=named, cache=cache).passed
    assert len(calls) == 1
    with pytest.raises(ValueError, match="needs a name"):
        FunctionJudge(judge, cacheable=True)


HALF = """
import scoregate
from scoregate.judge import OpenAIJudge
gate = scoregate.Gate({{"scorers": [{{"type": "contains", "value": "ok"}}], "judge": {{"task": "?"}}}})
batch = gate.decide_batch(
    [f"bad {{i}}" for i in range(40)],
    judge=OpenAIJudge("m", base_url={url!r}, timeout=20), concurrency=4, cache={cache!r},
)
print(batch.summary()["judge"]["cached"], batch.calls)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_run_that_is_killed_and_started_again_asks_only_what_is_missing(
    chat: Any, tmp_path: Path
) -> None:
    answered, concurrency = 20, 4
    stalling = True

    def script(call: Any) -> Answer:
        return Answer(wait=30) if stalling and len(chat.calls) > answered else PASS

    chat.script = script
    code = HALF.format(url=chat.url, cache=str(tmp_path / "c"))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    # A worker keeps a reply before it asks again: when all of them stall, 20 replies are kept.
    while len(chat.calls) < answered + concurrency:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    stalling = False
    chat.calls.clear()
    chat.stop.set()
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == f"{answered} {40 - answered}\n"
    assert len(chat.calls) == 40 - answered


INTERRUPTED = """
import os, signal, threading, time
import scoregate
from scoregate.judge import JudgingInterrupted
gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}], "judge": {"task": "?"}})
def judge(prompt):
    if "bad 3" in prompt:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        time.sleep(60)
    return "VERDICT: PASS"
try:
    gate.decide_batch(["ok", *[f"bad {i}" for i in range(8)]], judge=judge, concurrency=1)
except KeyboardInterrupt as stop:
    print(type(stop).__name__, [r.verdict[0] for r in stop.batch], stop.batch[5].reason)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_keeps_what_is_done() -> None:
    started = time.monotonic()
    out = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=True, timeout=30
    )
    assert time.monotonic() - started < 20
    verdicts = ["p"] * 4 + ["u"] * 5
    assert out.stdout == f"JudgingInterrupted {verdicts} interrupted\n"
    assert out.stderr == ""
    assert issubclass(JudgingInterrupted, KeyboardInterrupt)


def test_cancelling_stops_the_calls_and_keeps_what_came(chat: Any) -> None:
    chat.script = [PASS, PASS, Answer(wait=30)]
    results: dict[int, Any] = {}

    async def main() -> None:
        judge = judge_of(chat)
        work = asyncio.ensure_future(
            gate().adecide_batch(
                texts(6), judge=judge, concurrency=1, on_result=results.__setitem__
            )
        )
        while len(chat.calls) < 3:
            await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await judge.aclose()

    asyncio.run(main())
    assert sorted(results) == [0, 1]
    assert len(chat.calls) == 3


def test_decide_works_where_an_event_loop_runs(chat: Any) -> None:
    async def notebook() -> str:
        return gate().decide("bad", judge=judge_of(chat)).verdict

    assert asyncio.run(notebook()) == "pass"


def test_adecide(chat: Any) -> None:
    async def main() -> list[str]:
        judge = judge_of(chat)
        results = [await gate().adecide("bad", judge=judge) for _ in range(2)]
        batch = await gate().adecide_batch(["bad", "ok"], judge=judge)
        await judge.aclose()
        return [r.verdict for r in [*results, *batch]]

    assert asyncio.run(main()) == ["pass"] * 4


def test_arguments_are_checked(chat: Any) -> None:
    judge = judge_of(chat)
    for options, message in (
        ({"concurrency": 0}, "concurrency: must be at least 1"),
        ({"max_calls": -1}, "max_calls: must be 0 or more"),
        ({"max_tokens": -1}, "max_tokens: must be 0 or more"),
        ({"deadline": -1}, "deadline: must be 0 or more seconds"),
        ({"requests_per_minute": 0}, "requests_per_minute: must be over 0"),
        ({"tokens_per_minute": -1}, "tokens_per_minute: must be over 0"),
        ({"reducer": "most"}, r"reducer: must be one of majority\|mean\|all\|any"),
        ({"on_judge_error": "x"}, "on_judge_error: must be one of"),
        ({"on_unparseable": "x"}, "on_unparseable: must be one of"),
        ({"judge": []}, "judge: at least one is needed"),
    ):
        with pytest.raises(ValueError, match=message):
            gate().decide_batch(["bad"], **{"judge": judge, **options})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="judge: expected an object with ask"):
        gate().decide("bad", judge=7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="judge: must be openai:MODEL or cmd:COMMAND"):
        gate().decide("bad", judge="claude")
    with pytest.raises(TypeError, match="there is no option 'cashe' of a judge"):
        gate().decide("bad", judge=judge, cashe="x")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="expected a list of str, got one text"):
        gate().decide_batch("bad", judge=judge)
    with pytest.raises(TypeError, match=r"texts\[1\]: expected str"):
        gate().decide_batch(["a", 1], judge=judge)  # type: ignore[list-item]
    assert chat.calls == []


def test_error_of_a_judge_of_ones_own() -> None:
    def judge(prompt: str) -> str:
        raise JudgeError("the oracle sleeps")

    assert gate().decide("bad", judge=judge).reason == "judge failed: the oracle sleeps"


def test_results_pickle(chat: Any) -> None:
    chat.script = [BLOCK]
    batch = gate().decide_batch(iter(["bad", "ok"]), judge=judge_of(chat))
    copy = pickle.loads(pickle.dumps(batch))
    assert list(copy) == list(batch)
    assert copy.usage == batch.usage
    assert copy[0].judge.reason == "poor"


def test_a_child_process_opens_the_cache_for_itself(chat: Any, tmp_path: Path) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("fork")
    code = (
        "import os, sys\n"
        "from scoregate.judge import JudgeCache, JudgeReply\n"
        "cache = JudgeCache(sys.argv[1])\n"
        "cache.put(b'a', 'j', JudgeReply('a'))\n"
        "if (pid := os.fork()) == 0:\n"
        "    cache.put(b'b', 'j', JudgeReply('b'))\n"
        "    os._exit(0 if cache.get(b'a') and cache.get(b'b') else 1)\n"
        "status = os.waitpid(pid, 0)[1]\n"
        "cache.put(b'c', 'j', JudgeReply('c'))\n"
        "print(status, cache.info().replies)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "c")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout == "0 3\n"
