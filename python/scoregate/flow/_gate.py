"""A gate phase: eval, then score, then task; each only where the one before leaves it open."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .. import _native
from ..judge._limits import Retry
from ..judge._options import JudgeOptions
from ..judge._plan import Plan
from ..judge._prompt import PromptTemplate, judge_prompt
from ..judge._repair import repair_prompt
from ..judge._session import Session
from ._agents import MeteredJudge
from ._phase import CONTAINS, TARGET
from ._work import AttemptFailed, Blocked

if TYPE_CHECKING:
    from .._gate import Gate
    from .._native import GateResult
    from ..judge._results import JudgedResult
    from ._work import Work

EVAL_PASS = "PASS (eval checks passed — no LLM call)"  # noqa: S105
SCORE_PASS = "PASS (scorers passed — no LLM call)"  # noqa: S105
SCORE_BLOCK = "BLOCK (deterministic scorers failed — no LLM fallback)"
EVAL_BLOCK = "BLOCK (eval checks failed — no LLM fallback)"
OPEN_PASS = "PASS (score.target did not resolve — fail-open)"  # noqa: S105

#: The gate's own task, with what it is about.
_TASK = PromptTemplate(
    "{task}\n\n---\n\n{fields}## Target under evaluation\n\n{target}\n\n{report}"
)

#: Longer targets, and gates that run compilers, are scored beside the event loop.
_LONG = 1 << 16


async def work_gate(work: Work) -> None:
    """Runs a gate.

    Raises:
        Blocked: it blocks.
        AttemptFailed: it came to no verdict.
    """
    spec = work.phase.spec
    if "eval" in spec and _holds(work, spec["eval"]):
        _settle(work, "pass", EVAL_PASS, "eval", combined=1.0)
        return
    scored = target = None
    if "score" in spec:
        if work.phase.score_error is not None:
            work.warn(f"gate 'score' is malformed and was ignored: {work.phase.score_error}")
            if "task" not in spec:
                raise AttemptFailed(work.phase.score_error, again=False)
        else:
            gate = work.phase.gate
            target, missing = work.fill(spec["score"].get("target", TARGET))
            judged = "judge" in spec["score"]
            if missing:
                words = f"gate score.target did not resolve ({', '.join(missing)})"
                if not judged and "task" not in spec:
                    work.warn(f"{words} — fail-open PASS")
                    _settle(work, "pass", OPEN_PASS, "policy", combined=0.0)
                    return
                work.warn(words)
                scored = _native.GateResult("undecided", 0.0, [], gate.threshold, None, None)
            else:
                scored = await _score(gate, target)
            if scored.verdict == "undecided" and judged:
                await _judge(work, gate, scored, target)
                return
            if scored.passed or judged or "task" not in spec:
                _end(work, scored)
                return
    if "task" not in spec:
        _settle(work, "block", EVAL_BLOCK, "eval", combined=0.0, reason="eval checks failed")
        return
    await _task(work, scored, target)


def _holds(work: Work, checks: Any) -> bool:
    """Whether every check holds."""
    return isinstance(checks, list) and bool(checks) and all(_check(work, one) for one in checks)


def _check(work: Work, check: Any) -> bool:
    if not isinstance(check, str):
        return False
    left, contains, right = check.partition(CONTAINS)
    if contains:
        found = _native.interpolate(left, work.context)
        return not found.missing and right in found.text
    said = _native.evaluate_condition(check, work.context)
    return said.value and said.error is None and not said.missing


async def _score(gate: Gate, target: str) -> GateResult:
    """Scores the target; what takes long does not hold up other phases."""
    if len(target) > _LONG or any(kind in _IMPURE for _, kind in gate._native.scorers()):
        return await asyncio.to_thread(gate.score, target)
    return gate.score(target)


_IMPURE = frozenset(row["type"] for row in _native.scorer_table() if row["impure"])


def _end(work: Work, scored: GateResult) -> None:
    """Ends a gate whose scorers decide."""
    output = SCORE_PASS if scored.passed else f"{SCORE_BLOCK}\n\n{scored.report}"
    _settle(
        work,
        scored.verdict,
        output,
        scored.decided_by or "scorers",
        combined=scored.combined,
        scored=scored,
        reason=scored.reason,
    )


async def _judge(work: Work, gate: Gate, scored: GateResult, target: str) -> None:
    """Asks the judge of the score block."""
    block = work.phase.spec["score"]["judge"]
    judge = MeteredJudge(work.meter, block.get("agent"), work.state.usage)
    task = work.text(block["task"])
    options = JudgeOptions(retry=Retry(attempts=1), interpolate=lambda _task, _row: task)
    plan = Plan.read(gate, judge, options)
    asked = await Session(plan.judges, options).ask(
        0,
        plan.prompt(target, None, scored),
        recover=plan.recovery,
        schema=plan.asks.schema,
        stands=plan.stands,
    )
    if judge.stop is not None:
        raise judge.stop
    result = plan.decide(scored, (plan.vote(judge.name, asked, shared=False),))
    if result.verdict == "undecided":
        raise AttemptFailed(result.reason or "the judge came to no verdict")
    if result.decided_by == "policy":
        work.warn(result.reason or "the judge's reply holds no vote")
    _settle(
        work,
        result.verdict,
        asked.reply.text if asked.reply is not None else "",
        result.decided_by or "judge",
        combined=result.combined,
        scored=scored,
        judged=result,
        reason=result.reason,
    )


async def _task(work: Work, scored: GateResult | None, target: str | None) -> None:
    """Asks the gate's own agent, whose reply is read by the verdict grammar."""
    prompt = work.text(work.phase.spec["task"])
    if scored is not None and target is not None:
        prompt = judge_prompt(prompt, target, scored, _TASK)
    output = await work.ask(prompt)
    work.read(output)
    found = _native.parse_verdict(output)
    if found.state == "silent":
        work.warn("the gate's reply holds no verdict and passes (fail-open)")
    _settle(
        work,
        found.verdict,
        output,
        "policy" if found.state == "silent" else "task",
        combined=scored.combined if scored is not None else float(found.verdict == "pass"),
        scored=scored,
        reason=found.reason,
    )


def _settle(
    work: Work,
    verdict: str,
    output: str,
    decided_by: str,
    *,
    combined: float,
    scored: GateResult | None = None,
    judged: JudgedResult | None = None,
    reason: str | None = None,
) -> None:
    """Ends a gate with its structured result.

    Raises:
        Blocked: the verdict is block.
    """
    found: dict[str, Any] = {
        "verdict": verdict,
        "combined": combined,
        "results": [result.to_dict() for result in scored.results] if scored is not None else [],
    }
    if scored is not None and scored.threshold is not None:
        found["threshold"] = scored.threshold
    if judged is not None and judged.judge is not None:
        found["judge"] = judged.judge.to_dict()
    if reason is not None:
        found["reason"] = reason
    found["decidedBy"] = decided_by
    state = work.state
    state.output, state.json, state.gate = output, found, found
    if verdict == "block":
        work.repair = repair_prompt(
            scored,
            reason=reason,
            judge=None if judged is None or judged.judge is None else judged.judge.reason,
        )
        raise Blocked(reason or "the gate's verdict is block")
