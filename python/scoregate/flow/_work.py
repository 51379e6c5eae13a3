"""One phase, from its first attempt to its last."""

from __future__ import annotations

import asyncio
import logging
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import _native
from .._errors import JudgeError
from ..judge._command import CommandJudge
from ._agents import BudgetSpent, Meter, text_of
from ._state import PhaseState, now

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ._phase import Phase

log = logging.getLogger("scoregate.flow")

#: What a script may write.
_SCRIPT_BYTES = 16 << 20

_ABSENT: Any = object()


class AttemptFailed(Exception):
    """An attempt that came to nothing.

    Args:
        reason: why.
        again: whether another attempt may do better.
    """

    def __init__(self, reason: str, *, again: bool = True) -> None:
        super().__init__(reason)
        self.again = again


class Blocked(Exception):
    """A gate that blocks, and why."""


@dataclass(slots=True)
class Work:
    """A phase at work.

    Attributes:
        phase: the phase.
        context: what its placeholders stand for.
        meter: asks agents.
        state: what is known of it.
        variants: the outputs of a tournament that are there already, by index.
        repair: what a gate that blocks has to say to what it depends on.
        tell: is told that the phase has begun.
    """

    phase: Phase
    context: _native.Context
    meter: Meter
    state: PhaseState
    variants: dict[int, str] = field(default_factory=dict)
    repair: str | None = None
    tell: Callable[[PhaseState], None] | None = None

    def fill(self, template: str) -> tuple[str, list[str]]:
        """A template filled, and the names that stand for nothing.

        Raises:
            AttemptFailed: there are some, and the flow is strict.
        """
        try:
            found = _native.interpolate(template, self.context)
        except ValueError as error:
            raise AttemptFailed(str(error), again=False) from None
        if found.missing and self.phase.strict:
            names = ", ".join(found.missing)
            raise AttemptFailed(f"placeholders did not resolve ({names})", again=False)
        return found.text, found.missing

    def text(self, template: str) -> str:
        """A template filled; what stands for nothing stays, with a warning."""
        text, missing = self.fill(template)
        for name in missing:
            self.warn(f"{{{name}}} did not resolve and stays as it is")
        return text

    def warn(self, message: str) -> None:
        """Adds a warning, once."""
        if message not in self.state.warnings:
            self.state.warnings.append(message)

    async def ask(self, prompt: str) -> str:
        """Asks the phase's agent."""
        agent = self.phase.spec.get("agent")
        return text_of(await self.meter.ask(agent, prompt, self.state.usage))

    def read(self, output: str) -> Any:
        """The value of an output, where the phase wants one.

        Raises:
            AttemptFailed: there is none, or it is not as ``expect`` says.
        """
        spec = self.phase.spec
        if spec.get("output") != "json" and "expect" not in spec:
            return None
        self.state.output = output
        value = _native.extract_json(output, _ABSENT, has_default=True)
        if value is _ABSENT:
            raise AttemptFailed("the output holds no JSON")
        if "expect" in spec:
            broken = _native.contract_violations(value, spec["expect"])
            if broken:
                raise AttemptFailed(f"the output breaks expect: {'; '.join(broken)}")
        return value


async def work_agent(work: Work) -> None:
    """Asks an agent."""
    output = await work.ask(work.text(work.phase.spec["task"]))
    work.state.json = work.read(output)
    work.state.output = output


async def work_script(work: Work) -> None:
    """Runs a command, without a shell."""
    spec = work.phase.spec
    argv = [work.text(argument) for argument in spec["run"]]
    given = work.text(spec.get("input", ""))
    # The phase's own timeout ends it.
    command = CommandJudge(argv, timeout=math.inf, max_reply_bytes=_SCRIPT_BYTES)
    work.state.output = (await command.ask(given)).text


async def run_work(work: Work, doing: Callable[[Work], Awaitable[None]]) -> None:
    """Tries a phase until it is done, blocked or failed; its state says which.

    Raises:
        BudgetSpent: the run has to end.
    """
    phase, state = work.phase, work.state
    if "when" in phase.spec:
        condition = _native.evaluate_condition(str(phase.spec["when"]), work.context)
        if condition.error is not None:
            work.warn(f"when: cannot be read ({condition.error}), and counts as true")
        if not condition.value:
            state.end("skipped", "when is false")
            return
    state.status = "running"
    state.started_at = state.started_at or now()
    if work.tell is not None:
        work.tell(state)
    for attempt in range(1, phase.attempts + 1):
        state.attempts += 1
        wait = phase.wait(attempt)
        try:
            async with asyncio.timeout(phase.timeout) as limit:
                await doing(work)
            state.end("done")
            return
        except Blocked as blocked:
            state.end("blocked", str(blocked))
            return
        except BudgetSpent:
            raise
        except AttemptFailed as error:
            reason, again = str(error), error.again
        except JudgeError as error:
            reason, again = str(error), not error.final
            wait = max(wait, error.retry_after or 0.0)
        except TimeoutError:
            reason, again = "timed out", True
            if limit.expired():
                reason = f"timed out after {phase.spec['timeoutMs']:g} ms"
        except Exception as error:
            log.exception("phase %s", phase.id)
            reason, again = f"{type(error).__name__}: {error}", False
        if not again or attempt == phase.attempts:
            break
        await asyncio.sleep(wait)
    state.end("failed", reason)
