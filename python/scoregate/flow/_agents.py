"""Agents, and what a run may spend on them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from .._errors import JudgeError, OptionError
from ..judge._limits import LIMITS, Budget, LimitReached, estimate
from ..judge._named import as_judge
from ..judge._protocol import FAULTS, AnyJudge, Judge, JudgeReply, call_judge, judge_name
from ._fields import DEFAULT_AGENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._state import PhaseUsage

#: One agent for every name, or agents by name; ``default`` stands for those that are not named.
Agents: TypeAlias = "AnyJudge | Mapping[str, AnyJudge] | None"

#: Prices of a million input and output tokens, by agent or model.
Prices: TypeAlias = "Mapping[str, tuple[float, float]]"


class BudgetSpent(JudgeError):
    """The run may spend no more."""


class Meter:
    """Asks agents within the budget of a run.

    Args:
        agents: who is asked.
        budget: the ``budget`` of a flow.
        prices: what tokens cost.
        concurrency: calls at a time.
    """

    def __init__(
        self,
        agents: Agents = None,
        budget: Mapping[str, Any] | None = None,
        prices: Prices | None = None,
        concurrency: int = 8,
    ) -> None:
        given: dict[str, AnyJudge]
        if agents is None:
            given = {}
        elif isinstance(agents, Mapping):
            given = dict(agents)
        else:
            given = {DEFAULT_AGENT: agents}
        self._agents: dict[str, Judge] = {name: as_judge(one) for name, one in given.items()}
        limits = budget or {}
        self._budget = Budget(max_calls=limits.get("maxCalls"), max_tokens=limits.get("maxTokens"))
        self._most_usd: float | None = limits.get("maxUSD")
        self._usd = 0.0
        self._prices = dict(prices or {})
        self._slots = asyncio.Semaphore(concurrency)

    @property
    def judges(self) -> list[Judge]:
        """Every agent."""
        return list(self._agents.values())

    def agent(self, name: str | None) -> Judge:
        """The agent of a name.

        Raises:
            JudgeError: there is none.
        """
        found = self._agents.get(name or DEFAULT_AGENT) or self._agents.get(DEFAULT_AGENT)
        if found is None:
            raise JudgeError(f"there is no agent '{name or DEFAULT_AGENT}'")
        return found

    def check(self, names: Iterable[str | None]) -> None:
        """Refuses a budget in money whose prices are not known.

        Raises:
            OptionError: an agent has no price.
        """
        if self._most_usd is None:
            return
        for name in names:
            try:
                agent = self.agent(name)
            except JudgeError:
                continue
            if self._price(name, agent) is None:
                message = f"the budget has maxUSD, and '{name or DEFAULT_AGENT}' has no price"
                raise OptionError("prices", message)

    def spent(self, usage: PhaseUsage) -> None:
        """Counts what an earlier run has spent."""
        self._budget.calls += usage.calls
        self._budget.tokens += usage.tokens
        self._usd += usage.usd

    def _price(self, name: str | None, agent: Judge) -> tuple[float, float] | None:
        called = judge_name(agent)
        for key in (name, called, called.partition(":")[2], DEFAULT_AGENT):
            if key and key in self._prices:
                return self._prices[key]
        return None

    async def ask(
        self,
        name: str | None,
        prompt: str,
        usage: PhaseUsage,
        schema: Mapping[str, Any] | None = None,
    ) -> JudgeReply:
        """Asks an agent once, and counts it.

        Raises:
            BudgetSpent: nothing more may be spent.
            JudgeError: the call failed.
        """
        agent = self.agent(name)
        async with self._slots:
            if self._most_usd is not None and self._usd >= self._most_usd:
                raise BudgetSpent("maxUSD reached", final=True)
            try:
                self._budget.take()
            except LimitReached as error:
                raise BudgetSpent(_LIMITS[error.limit], final=True) from None
            usage.calls += 1
            reply = await call_judge(agent, prompt, schema)
        self._budget.spend(prompt, reply)
        given = reply.usage
        tokens = (
            (estimate(prompt), estimate(reply.text))
            if given is None
            else (given.input_tokens, given.output_tokens)
        )
        usage.input_tokens += tokens[0]
        usage.output_tokens += tokens[1]
        price = self._price(name, agent)
        if price is not None:
            cost = (tokens[0] * price[0] + tokens[1] * price[1]) / 1e6
            usage.usd += cost
            self._usd += cost
        return reply


#: Limits under the names that flows have for them.
_LIMITS = LIMITS | {"calls": "maxCalls reached", "tokens": "maxTokens reached"}


class MeteredJudge:
    """An agent as a judge, whose calls count as the phase's.

    Attributes:
        name: the agent's name.
        stop: what ends the run.
    """

    def __init__(self, meter: Meter, agent: str | None, usage: PhaseUsage) -> None:
        self.name = agent or DEFAULT_AGENT
        self.stop: BudgetSpent | None = None
        self._meter, self._agent, self._usage = meter, agent, usage

    async def ask(self, prompt: str, *, schema: Mapping[str, Any] | None = None) -> JudgeReply:
        """Asks the agent."""
        try:
            return await self._meter.ask(self._agent, prompt, self._usage, schema)
        except BudgetSpent as error:
            self.stop = error
            raise


def text_of(reply: JudgeReply) -> str:
    """The text of a reply that is whole; an empty one is a text.

    Raises:
        JudgeError: it is none.
    """
    if reply.fault not in (None, "empty"):
        raise JudgeError(FAULTS[reply.fault])
    return reply.text
