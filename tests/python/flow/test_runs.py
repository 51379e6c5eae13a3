"""Runs: the graph, what phases are given, and the status in which each trouble ends."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scoregate import JudgeError, OptionError, SpecError
from scoregate.flow import Flow, FlowResult, PhaseState, read_record

from .support import SCORERS, Script, flow, run, sleeper, statuses

if TYPE_CHECKING:
    from collections.abc import Callable


def phase(id: str, *after: str, **fields: Any) -> dict[str, Any]:
    found = {"id": id, "task": f"do {id}", **fields}
    return found | {"dependsOn": list(after)} if after else found


def gate(id: str, *after: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "gate",
        "dependsOn": list(after),
        "score": {"scorers": SCORERS},
        **fields,
    }


def script(code: str, *arguments: str, **fields: Any) -> dict[str, Any]:
    return {"id": "s", "type": "script", "run": [sys.executable, "-c", code, *arguments], **fields}


def test_phases_get_what_they_name() -> None:
    agent = Script("C", by={"do a": '{"n": [1, 2]}', "do b": "B"})
    result = run(
        flow(
            phase("a", output="json"),
            phase("b"),
            phase(
                "c", "a", "b", task="{previous.output}|{steps.a.json.n.1}|{args.x}|{steps.a.output}"
            ),
        ),
        agent,
        args={"x": {"y": 1}},
    )
    assert agent.prompts[-1] == 'B|2|{\n  "y": 1\n}|{"n": [1, 2]}'
    assert result["a"].json == {"n": [1, 2]}
    assert result["b"].json is None
    assert result.status == "done"


def test_what_stands_for_nothing_stays_with_a_warning_or_fails() -> None:
    given = phase("a", task="Say {args.x} and {args.x} and {literal}.")
    agent = Script("ok")
    result = run(flow(given), agent)
    assert agent.prompts == ["Say {args.x} and {args.x} and {literal}."]
    assert result["a"].warnings == [
        "{args.x} did not resolve and stays as it is",
        "{literal} did not resolve and stays as it is",
    ]
    strict = run(flow(given | {"retry": {"max": 3}}, strictInterpolation=True), agent)
    assert (strict["a"].status, strict["a"].attempts, agent.calls) == ("failed", 1, 1)


def test_a_filled_text_is_not_read_again() -> None:
    agent = Script("{args.secret} {steps.a.output}", "done")
    run(flow(phase("a"), phase("b", "a", task="{steps.a.output}")), agent, args={"secret": "S"})
    assert agent.prompts[1] == "{args.secret} {steps.a.output}"


def test_when_skips_and_what_follows_is_skipped_with_the_reason() -> None:
    result = run(
        flow(
            phase("a"),
            phase("b", "a", when="{steps.a.output} == nothing"),
            phase("c", "b"),
            phase("d", "c"),
            phase("e", "a", when="{steps.a.output} = broken"),
        ),
        Script("ok"),
    )
    assert statuses(result) == {
        "a": "done",
        "b": "skipped",
        "c": "skipped",
        "d": "skipped",
        "e": "done",
    }
    assert result["b"].reason == "when is false"
    assert result["c"].reason == result["d"].reason == "Phase 'b' was skipped: when is false"
    assert result["e"].warnings[0].startswith("when: cannot be read (")
    assert result.status == "done"


def test_a_blocked_gate_skips_what_is_behind_it_and_keeps_what_is_done() -> None:
    result = run(
        flow(phase("a"), gate("g", "a"), phase("b", "g"), phase("c", "b"), phase("d", "a")),
        Script("bad"),
    )
    assert statuses(result) == {
        "a": "done",
        "g": "blocked",
        "b": "skipped",
        "c": "skipped",
        "d": "done",
    }
    words = "Gate blocked: deterministic scorers below threshold"
    assert result["b"].reason == result["c"].reason == words
    assert result.status == "blocked"


def test_join_any_needs_one() -> None:
    agent = Script(by={"do b": "B"})
    agent._replies = [JudgeError("down")]
    result = run(
        flow(
            phase("a"),
            phase("b"),
            phase("c", "b", "a", join="any", task="do b after {previous.output}"),
            phase("d", "a", "b"),
            phase("e", "a", "d", join="any"),
        ),
        agent,
    )
    assert statuses(result) == {
        "a": "failed",
        "b": "done",
        "c": "done",
        "d": "skipped",
        "e": "skipped",
    }
    assert "do b after B" in agent.prompts
    assert result["d"].reason == "Phase 'a' failed: down"


def test_phases_run_side_by_side_up_to_the_limit() -> None:
    at_work, most = 0, 0

    async def agent(prompt: str) -> str:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.01)
        at_work -= 1
        return "ok"

    for limit in (1, 3):
        most = 0
        run(flow(*(phase(f"p{i}") for i in range(9)), concurrency=limit), agent)
        assert most == limit


def test_attempts_are_counted_and_waits_grow() -> None:
    agent = Script(JudgeError("down"), JudgeError("down"), "ok")
    made = phase("a", retry={"max": 2, "delayMs": 1, "backoff": 2})
    result = run(flow(made), agent)
    assert (result["a"].status, result["a"].attempts, result["a"].usage.calls) == ("done", 3, 3)
    assert [flow(made).phases["a"].wait(attempt) for attempt in (1, 2, 3)] == [0.001, 0.002, 0.004]
    failed = run(flow(phase("a", retry={"max": 1})), Script(JudgeError("down")))
    assert (failed["a"].status, failed["a"].reason, failed["a"].attempts) == ("failed", "down", 2)
    final = run(flow(phase("a", retry={"max": 5})), Script(JudgeError("HTTP 401", final=True)))
    assert (final["a"].reason, final["a"].attempts) == ("HTTP 401", 1)


@pytest.mark.parametrize(
    ("fields", "reply", "reason"),
    [
        ({"output": "json"}, "no value", "the output holds no JSON"),
        (
            {"expect": {"type": "object"}},
            "[1]",
            "the output breaks expect: $: expected object, got array",
        ),
        ({"timeoutMs": 20}, None, "timed out after 20 ms"),
    ],
)
def test_an_output_that_is_not_as_it_must_be_fails(
    fields: dict[str, Any], reply: str | None, reason: str
) -> None:
    agent: Any = sleeper(5) if reply is None else Script(reply)
    result = run(flow(phase("a", retry={"max": 1}, **fields)), agent)
    assert (result["a"].status, result["a"].reason, result["a"].attempts) == ("failed", reason, 2)


def test_a_failing_agent_is_a_status() -> None:
    def broken(prompt: str) -> str:
        raise KeyError("x")

    result = run(flow(phase("a"), phase("b", "a"), phase("c", agent="who")), {"default": broken})
    assert statuses(result) == {"a": "failed", "b": "skipped", "c": "failed"}
    assert result["a"].reason == "KeyError: 'x'"
    assert (
        run(flow(phase("a", agent="who")), {"other": broken})["a"].reason
        == "there is no agent 'who'"
    )
    assert run(flow(phase("a")))["a"].reason == "there is no agent 'default'"
    odd: Any = lambda prompt: 3  # noqa: E731
    assert run(flow(phase("a")), odd)["a"].reason == "expected a text, got int"


def test_an_agent_that_blocks_its_thread_is_left_to_itself() -> None:
    def slow(prompt: str) -> str:
        time.sleep(0.5)
        return "late"

    began = time.monotonic()
    result = run(flow(phase("a", timeoutMs=20)), slow)
    assert result["a"].reason == "timed out after 20 ms"
    assert time.monotonic() - began < 0.4


def test_scripts_have_arguments_and_no_shell(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv[1:], sys.stdin.read())"
    agent = Script("$(touch x); `id` 'q'")
    result = run(
        flow(
            phase("a"),
            script(
                code, "{previous.output}", "{args.n}", input="in: {steps.a.output}", dependsOn=["a"]
            ),
        ),
        agent,
        args={"n": 3},
    )
    assert result["s"].output == "[\"$(touch x); `id` 'q'\", '3'] in: $(touch x); `id` 'q'\n"
    assert not Path("x").exists()


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (script("raise SystemExit(3)"), "the command ended with exit code 3"),
        (
            {"id": "s", "type": "script", "run": ["/no/such/program"]},
            "the command cannot be started: No such file or directory",
        ),
        (script("import time; time.sleep(9)", timeoutMs=200), "timed out after 200 ms"),
        (script("", "{args.nul}"), "the command cannot be started: ValueError"),
    ],
)
def test_a_failing_script_is_a_status(made: dict[str, Any], reason: str) -> None:
    result = run(flow(made), args={"nul": "a\0b"})
    assert (result["s"].status, result["s"].reason) == ("failed", reason)


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        ({"maxCalls": 2}, "budget spent: maxCalls reached"),
        ({"maxTokens": 5}, "budget spent: maxTokens reached"),
        ({"maxUSD": 0.000005}, "budget spent: maxUSD reached"),
    ],
)
def test_a_spent_budget_cancels_what_runs_and_leaves_the_rest(
    budget: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    phases = [phase("a"), phase("b", "a"), phase("c", "b"), phase("d", "c")]
    made = flow(*phases, budget=budget)
    result = run(made, Script("0123456789"), prices={"default": (1.0, 1.0)}, record=tmp_path)
    assert (result.status, result.reason) == ("cancelled", reason)
    assert statuses(result) == {"a": "done", "b": "done", "c": "cancelled", "d": "pending"} or (
        statuses(result) == {"a": "done", "b": "cancelled", "c": "pending", "d": "pending"}
    )
    # What is spent is spent: the same budget takes the run no further.
    again = run(made, Script("x"), prices={"default": (1.0, 1.0)}, record=tmp_path, resume=True)
    assert again.status == "cancelled"
    assert statuses(again)["a"] == "done"


def test_a_budget_ends_judges_and_tournaments_too() -> None:
    judged = gate("g", "a", score={"scorers": SCORERS, "judge": {"task": "Fine?"}})
    agent = Script("bad")
    result = run(flow(phase("a"), judged, budget={"maxCalls": 1}), agent)
    assert (statuses(result), agent.calls) == ({"a": "done", "g": "cancelled"}, 1)
    cup = {"id": "t", "type": "tournament", "task": "x", "variants": 3}
    for most in (1, 3):
        agent = Script("v")
        result = run(flow(cup, budget={"maxCalls": most}), agent)
        assert (result.status, statuses(result), agent.calls) == (
            "cancelled",
            {"t": "cancelled"},
            most,
        )


def test_a_budget_in_money_needs_prices() -> None:
    made = flow(phase("a", agent="writer"), budget={"maxUSD": 1})
    with pytest.raises(OptionError, match="'writer' has no price"):
        run(made, Script("x"))
    result = run(made, Script("x"), prices={"writer": (1000, 2000)})
    assert result.usage.usd == pytest.approx((1 * 1000 + 1 * 2000) / 1e6)


def cancelled(made: Flow, agent: Any, record: Path | None = None) -> dict[str, PhaseState]:
    """The states of a run that is cancelled in its midst."""
    seen: dict[str, PhaseState] = {}

    async def main() -> None:
        told = asyncio.Event()

        def on_state(state: PhaseState) -> None:
            seen[state.id] = state
            if state.id == "b" and state.status == "running":
                told.set()

        task = asyncio.create_task(made.run(agent, on_state=on_state, record=record))
        await told.wait()
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    return seen


def test_a_cancelled_run_can_go_on(tmp_path: Path) -> None:
    async def agent(prompt: str) -> str:
        if prompt == "do b":
            await asyncio.sleep(60)
        return "ok"

    made = flow(phase("a"), phase("b", "a"), phase("c", "b"))
    seen = cancelled(made, agent, tmp_path)
    assert {id: state.status for id, state in seen.items()} == {"a": "done", "b": "cancelled"}
    assert read_record(tmp_path)["b"].reason == "the run was cancelled"
    quick = Script("ok")
    result = run(made, quick, record=tmp_path, resume=True)
    assert (result.status, quick.prompts) == ("done", ["do b", "do c"])


def test_a_script_of_a_cancelled_run_is_killed() -> None:
    made = flow(phase("a"), script("import time; time.sleep(60)") | {"id": "b"})
    began = time.monotonic()
    assert cancelled(made, Script("ok"))["b"].status == "cancelled"
    assert time.monotonic() - began < 30


def test_a_flow_that_cannot_run_is_refused() -> None:
    for made in (
        flow(phase("a", "a")),
        flow(phase("a", "b")),
        Flow({}),
        flow(phase("a"), phase("a")),
    ):
        with pytest.raises(SpecError):
            run(made, Script("x"))


def test_arguments() -> None:
    declared = {"a": {"required": True}, "batch": {"default": 2}, "c": {}}
    made = flow(phase("p", task="{args.a} {args.batch} {args.c}"), args=declared)
    agent = Script("x")
    run(made, agent, args={"a": 1})
    assert agent.prompts == ["1 2 {args.c}"]
    with pytest.raises(OptionError, match="'a' is required"):
        run(made, agent)
    with pytest.raises(OptionError, match="no argument 'bach'; did you mean 'batch'"):
        run(made, agent, args={"a": 1, "bach": 1})


class Mender:
    """Writes better with each word that it is told."""

    def __init__(self, needed: int) -> None:
        self.prompts: list[str] = []
        self._needed = needed

    async def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return "ok" if len(self.prompts) > self._needed else f"bad {len(self.prompts)}"


@pytest.mark.parametrize(
    ("rounds", "needed", "status"), [(1, 1, "done"), (1, 2, "blocked"), (3, 2, "done")]
)
def test_a_block_can_be_mended(rounds: int, needed: int, status: str) -> None:
    agent = Mender(needed)
    made = flow(
        phase("a", task="Write.{reflexion}"),
        gate("g", "a", onBlock="retry", retry={"max": rounds}),
        phase("b", "g", task="after {steps.a.output}"),
    )
    assert made.validate() == []
    result = run(made, agent)
    assert result["g"].status == status
    assert agent.prompts[0] == "Write."
    assert "[FAIL] contains-0" in agent.prompts[1]
    tries = min(rounds, needed) + 1
    assert result["a"].attempts == result["g"].attempts == tries
    assert len(agent.prompts) == tries + (status == "done")
    if status == "done":
        assert agent.prompts[-1] == "after ok"


def test_a_retry_that_fails_keeps_what_was_there() -> None:
    agent = Script("bad", JudgeError("down"))
    result = run(flow(phase("a"), gate("g", "a", onBlock="retry")), agent)
    assert statuses(result) == {"a": "done", "g": "blocked"}
    assert result["a"].output == "bad"
    assert result["g"].warnings == ["phase 'a' could not be done again: down"]


def test_states_are_told_in_order() -> None:
    seen: list[tuple[str, str]] = []
    on_state: Callable[[PhaseState], None] = lambda s: seen.append((s.id, s.status))  # noqa: E731
    result: FlowResult = run(flow(phase("a"), gate("g", "a")), Script("ok"), on_state=on_state)
    assert seen == [("a", "running"), ("a", "done"), ("g", "running"), ("g", "done")]
    found = result["a"].to_dict()
    assert PhaseState.read(found) == result["a"]
    assert set(found) == {
        "id",
        "status",
        "output",
        "warnings",
        "usage",
        "attempts",
        "startedAt",
        "endedAt",
    }
    assert found["endedAt"] >= found["startedAt"] > 1_500_000_000_000


def test_two_thousand_phases() -> None:
    phases = [
        phase(
            f"p{i}",
            *([f"p{i - 1}"] if i % 20 else []),
            task=f"{{steps.p{i - 1}.output}}" if i % 20 else "go",
        )
        for i in range(2000)
    ]
    made = flow(*phases)
    assert made.validate() == []
    agent = Script("ok")
    result = run(made, agent)
    assert (result.status, agent.calls) == ("done", 2000)
    # A chain is as deep as it is long.
    chain = flow(*(phase(f"p{i}", *([f"p{i - 1}"] if i else [])) for i in range(2000)))
    assert chain.validate() == []
    assert run(chain, Script("ok")).status == "done"
    lost = run(chain, Script(JudgeError("down")))
    assert statuses(lost)["p1999"] == "skipped"
    assert lost["p1999"].reason == "Phase 'p0' failed: down"


def test_output_that_grows_with_each_phase_ends() -> None:
    phases = [phase("p0")] + [
        phase(f"p{i}", f"p{i - 1}", task="{previous.output}" * 10) for i in range(1, 10)
    ]

    async def echo(prompt: str) -> str:
        return prompt

    result = run(flow(*phases), echo)
    assert result.status == "failed"
    failed = next(state for state in result.phases.values() if state.status == "failed")
    assert failed.reason in (
        "text: longer than 67108864 bytes",
        f"the reply is longer than {1 << 20} bytes",
    )
