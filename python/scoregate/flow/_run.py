"""A run: phases as soon as what they wait for is done, so many at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .._native import Context
from ._agents import BudgetSpent, Meter
from ._gate import work_gate
from ._state import FlowResult, PhaseState, status_of
from ._tournament import work_tournament
from ._work import Work, run_work, work_agent, work_script

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ._phase import Phase
    from ._record import Record

WORK = {
    "agent": work_agent,
    "gate": work_gate,
    "tournament": work_tournament,
    "script": work_script,
}


_CANCELLED = "the run was cancelled"


class Run:
    """One run of a flow.

    Args:
        name: the flow's name.
        phases: its phases, which wait for each other without a circle.
        args: the arguments.
        meter: asks agents.
        concurrency: phases at a time.
        record: where changes are kept.
        on_state: is told each change.
    """

    def __init__(
        self,
        name: str,
        phases: Mapping[str, Phase],
        args: Mapping[str, Any],
        meter: Meter,
        *,
        concurrency: int,
        record: Record | None = None,
        on_state: Callable[[PhaseState], None] | None = None,
    ) -> None:
        self._name, self._phases, self._args = name, phases, args
        self._meter, self._record, self._on_state = meter, record, on_state
        self._slots = asyncio.Semaphore(concurrency)
        self._behind: dict[str, list[str]] = {id: [] for id in phases}
        self._waiting: dict[str, int] = {}
        retried: set[str] = set()
        for id, phase in phases.items():
            before = set(phase.depends_on)
            self._waiting[id] = len(before)
            for other in before:
                self._behind[other].append(id)
            if phase.rounds:
                retried |= before
        self._retried = frozenset(retried)
        self.states: dict[str, PhaseState] = {id: PhaseState(id) for id in phases}
        #: Phases of an earlier run that a gate had done again when it was cut.
        self._again: dict[str, PhaseState] = {}
        self._started: set[str] = set()
        #: Why phases are skipped for what stands before them.
        self._reasons: dict[str, str] = {}
        #: The rounds of what a gate depends on, in an earlier run.
        self._past_rounds: dict[str, int] = {}
        for id, state in (record.past.states if record and record.past else {}).items():
            if state.status == "done":
                self.states[id] = state
            elif state.round:
                self._again[id] = state
            self._past_rounds[id] = state.round
            # What was spent is spent, whatever came of it.
            meter.spent(state.usage)

    async def run(self) -> FlowResult:
        """Runs the phases to their ends."""
        status, reason = "cancelled", None
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                free = [id for id, count in self._waiting.items() if count == 0]
                done = [id for id, state in self.states.items() if state.status == "done"]
                self._settle([*done, *(id for id in free if id not in set(done))])
        except BaseExceptionGroup as error:
            reason = _budget(error)
            if reason is None:
                raise error.exceptions[0] from None
        else:
            status = status_of(self.states)
        finally:
            if self._record is not None:
                await self._record.end(status)
        made: Any = status
        return FlowResult(self._name, made, reason, self.states)

    def _settle(self, ids: list[str]) -> None:
        """Goes on behind phases that have ended, and starts those that wait for nothing."""
        queue = deque(ids)
        while queue:
            id = queue.popleft()
            state = self.states[id]
            if state.status == "pending":
                self._start(id)
                continue
            for other in self._behind[id]:
                if other in self._started or self.states[other].status != "pending":
                    continue
                self._waiting[other] -= 1
                if self._may_start(other, state):
                    self._start(other)
                elif self._is_lost(other, state):
                    self._reasons[other] = self._why(state)
                    self.states[other].end("skipped", self._reasons[other])
                    self._tell(self.states[other])
                    queue.append(other)

    def _may_start(self, id: str, last: PhaseState) -> bool:
        if last.status != "done":
            return False
        return self._phases[id].join == "any" or self._waiting[id] == 0

    def _is_lost(self, id: str, last: PhaseState) -> bool:
        """Whether a phase can no longer start."""
        if last.status == "done":
            return False
        return self._phases[id].join == "all" or self._waiting[id] == 0

    def _why(self, state: PhaseState) -> str:
        """Why what waits for a phase is skipped."""
        if state.status == "blocked":
            return f"Gate blocked: {state.reason}"
        if state.status == "failed":
            return f"Phase '{state.id}' failed: {state.reason}"
        own = f"Phase '{state.id}' was skipped: {state.reason}"
        return self._reasons.get(state.id, own)

    def _start(self, id: str) -> None:
        if id not in self._started:
            self._started.add(id)
            self._group.create_task(self._phase(id))

    def _tell(self, state: PhaseState) -> None:
        if self._record is not None:
            self._record.state(state)
        if self._on_state is not None:
            self._on_state(state)

    async def _phase(self, id: str) -> None:
        state = self.states[id]
        async with self._slots:
            again = self._again.get(id)
            if again is not None:
                state.round, state.reflexion = again.round, again.reflexion
            work = await self._work(id, state)
            try:
                await self._rounds(id, work)
            except (asyncio.CancelledError, BudgetSpent):
                if self.states[id].status == "blocked":
                    self.states[id].end("cancelled", _CANCELLED)
                    self._tell(self.states[id])
                raise
            self._tell(self.states[id])
        self._settle([id])

    async def _work(self, id: str, state: PhaseState) -> Work:
        """Runs a phase once, attempts included."""
        phase = self._phases[id]
        work = Work(phase, self._context(phase, state), self._meter, state, tell=self._tell)
        try:
            await run_work(work, WORK[phase.type])
        except (asyncio.CancelledError, BudgetSpent):
            state.end("cancelled", _CANCELLED)
            self._tell(state)
            raise
        return work

    def _context(self, phase: Phase, state: PhaseState) -> Context:
        """What a phase may name, of which it gets what it names."""
        steps = {}
        for id in phase.reads:
            step = self.states.get(id)
            if step is not None and step.spoke:
                steps[id] = {"output": step.output, "json": step.json}
        before = (self.states[id] for id in reversed(phase.depends_on))
        previous = next((step.output for step in before if step.status == "done"), None)
        local = {"reflexion": state.reflexion or ""} if phase.id in self._retried else None
        return Context(
            args=self._args if phase.reads_args else None,
            steps=steps,
            previous_output=previous,
            locals=local,
        )

    async def _rounds(self, id: str, work: Work) -> None:
        """Has what a gate that blocked depends on done again, as often as the gate allows."""
        phase = self._phases[id]
        done = max((self._past_rounds.get(other, 0) for other in phase.depends_on), default=0)
        while self.states[id].status == "blocked" and done < phase.rounds:
            done += 1
            if not await self._again_before(phase, work.repair or "", done):
                return
            state = PhaseState(id, warnings=list(work.state.warnings), usage=work.state.usage)
            state.attempts, state.started_at = work.state.attempts, work.state.started_at
            self.states[id] = state
            work = await self._work(id, state)

    async def _again_before(self, phase: Phase, repair: str, round: int) -> bool:
        """Runs what a gate depends on with what the gate has to say.

        A phase that comes to nothing keeps what it had, and the gate stays as it is.
        """
        ids = [id for id in phase.depends_on if self.states[id].status == "done"]
        fresh: dict[str, PhaseState] = {}

        async def again(id: str) -> None:
            old = self.states[id]
            state = fresh[id] = PhaseState(id, usage=old.usage, attempts=old.attempts)
            state.started_at, state.round, state.reflexion = old.started_at, round, repair
            await self._work(id, state)
            if state.status == "done":
                self.states[id] = state
            self._tell(self.states[id])

        # A task each, since they may take long; the gate's own slot is theirs.
        try:
            async with asyncio.TaskGroup() as group:
                for id in ids:
                    group.create_task(again(id))
        except BaseExceptionGroup as error:
            raise error.exceptions[0] from None
        lost = [id for id in ids if fresh[id].status != "done"]
        for id in lost:
            message = f"phase '{id}' could not be done again: {fresh[id].reason}"
            self.states[phase.id].warnings.append(message)
        return not lost


def _budget(error: BaseExceptionGroup[BaseException]) -> str | None:
    """The limit that ended a run, where only that did."""
    spent, rest = error.split(BudgetSpent)
    if rest is not None or spent is None:
        return None
    found: BaseException = spent
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return f"budget spent: {found}"


async def run_alone(phase: Phase, context: Context, meter: Meter) -> PhaseState:
    """Runs one phase over what a context holds."""
    state = PhaseState(phase.id)
    try:
        await run_work(Work(phase, context, meter, state), WORK[phase.type])
    except BudgetSpent as error:
        state.end("cancelled", str(error))
    return state


async def close_all(meter: Meter) -> None:
    """Closes what agents hold open."""
    from ..judge._protocol import close_judges

    with suppress(Exception):
        await close_judges(meter.judges)
