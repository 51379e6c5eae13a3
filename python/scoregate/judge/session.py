"""One run's calls: cache, budget, retries, and the one recovery."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import JudgeError
from .cache import cache_key
from .protocol import JudgeReply, Usage, call_judge, judge_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .cache import JudgeCache
    from .prompt import PromptTemplate
    from .protocol import Judge

#: What a row says that was not judged for lack of calls, tokens or time.
BUDGET_REACHED = "budget reached"


class BudgetReached(JudgeError):
    """No call may be made any more."""

    def __init__(self) -> None:
        super().__init__(BUDGET_REACHED)


@dataclass(frozen=True, slots=True)
class Retry:
    """When a failed call is made again.

    Waits grow from ``base`` by a factor of two up to ``most``, each cut by chance to between a half
    and the whole. A wait that the server asks for (``Retry-After``) is kept, by every call of the
    run; one longer than ``patience`` ends the attempts.

    Attributes:
        attempts: calls at most, the first one included.
        base: the first wait, in seconds.
        most: the longest wait of our own.
        patience: the longest wait that a server may ask for.
    """

    attempts: int = 4
    base: float = 0.5
    most: float = 20.0
    patience: float = 120.0

    def __post_init__(self) -> None:
        """Refuses numbers out of range."""
        if self.attempts < 1:
            raise ValueError("attempts: must be at least 1")
        if self.base < 0 or self.most < 0 or self.patience < 0:
            raise ValueError("base, most, patience: must be 0 or more")

    def wait(self, attempt: int, error: JudgeError) -> float | None:
        """The wait after a failed attempt (from 1); None for no further one."""
        if not error.retryable or attempt >= self.attempts:
            return None
        own = min(self.most, self.base * 2.0 ** min(attempt - 1, 60))
        own *= 0.5 + random.random() / 2  # noqa: S311
        if error.retry_after is None:
            return own
        if error.retry_after > self.patience:
            return None
        # A little later than asked, and not all at once.
        return error.retry_after + own * 0.1


class Budget:
    """How much may be spent: calls, tokens, time."""

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        deadline: float | None = None,
    ) -> None:
        for name, limit in (("max_calls", max_calls), ("max_tokens", max_tokens)):
            if limit is not None and limit < 0:
                raise ValueError(f"{name}: must be 0 or more")
        if deadline is not None and not deadline >= 0:
            raise ValueError("deadline: must be 0 or more seconds")
        self._max_calls = max_calls
        self._max_tokens = max_tokens
        self._end = None if deadline is None else time.monotonic() + deadline
        self.calls = 0
        self.tokens = 0

    def left(self) -> float | None:
        """The seconds that are left; None without a deadline."""
        return None if self._end is None else self._end - time.monotonic()

    def take(self) -> None:
        """Takes a call.

        Raises:
            BudgetReached: there is none left.
        """
        left = self.left()
        if (
            (self._max_calls is not None and self.calls >= self._max_calls)
            or (self._max_tokens is not None and self.tokens >= self._max_tokens)
            or (left is not None and left <= 0)
        ):
            raise BudgetReached
        self.calls += 1

    def spend(self, prompt: str, reply: JudgeReply) -> None:
        """Counts a reply's tokens; where the judge does not say, one for every four characters."""
        if reply.usage is not None:
            self.tokens += reply.usage.total
        else:
            self.tokens += (len(prompt) + len(reply.text) + 3) // 4


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What one judge cost in a run.

    Attributes:
        judge: its name.
        calls: calls made, failed ones included.
        cached: replies that came from the cache.
        usage: the tokens that it reported.
        failed: calls that gave no reply.
    """

    judge: str
    calls: int
    cached: int
    usage: Usage
    failed: int = 0

    def cost(self, prices: Mapping[str, tuple[float, float]]) -> float | None:
        """The cost by a price list; None when the list lacks the judge.

        Args:
            prices: by judge (``openai:gpt-x``) or model (``gpt-x``), the prices of a million input
                and a million output tokens.
        """
        price = prices.get(self.judge) or prices.get(self.judge.partition(":")[2])
        if price is None:
            return None
        tokens = (self.usage.input_tokens, self.usage.output_tokens)
        return (tokens[0] * price[0] + tokens[1] * price[1]) / 1e6


@dataclass(slots=True)
class Asked:
    """What came of one prompt.

    Attributes:
        reply: the last reply; None when the call failed.
        error: why it failed.
        source: ``call``, ``cache``, or ``shared`` for a reply that another row asked for.
        attempts: calls made.
        usage: their tokens, where reported.
        latency: seconds from the first call to the last reply, waits included.
        replies: every reply.
    """

    reply: JudgeReply | None = None
    error: str | None = None
    source: str = "call"
    attempts: int = 0
    usage: Usage | None = None
    latency: float = 0.0
    replies: list[str] = field(default_factory=list, repr=False)


@dataclass(slots=True)
class _Spent:
    """The counts of one judge."""

    calls: int = 0
    cached: int = 0
    usage: Usage = field(default_factory=Usage)
    failed: int = 0


class Session:
    """Asks judges within a budget. It belongs to one run and one event loop."""

    def __init__(
        self,
        judges: Sequence[Judge],
        *,
        budget: Budget,
        retry: Retry,
        cache: JudgeCache | None,
        trial: int = 0,
    ) -> None:
        self.judges = judges
        self.budget = budget
        self._retry = retry
        self._cache = cache
        self._trial = trial
        self._spent = {judge_name(judge): _Spent() for judge in judges}
        self._not_before = [0.0] * len(judges)
        if cache is not None:
            for judge in judges:
                if not isinstance(getattr(judge, "identity", None), str):
                    raise ValueError(
                        f"cache: the judge {judge_name(judge)} has no identity to be cached under; "
                        "a function is given one by FunctionJudge(f, name=..., cacheable=True)"
                    )

    @property
    def spent(self) -> tuple[ModelUsage, ...]:
        """What each judge cost so far."""
        return tuple(
            ModelUsage(name, spent.calls, spent.cached, spent.usage, spent.failed)
            for name, spent in self._spent.items()
        )

    async def ask(
        self,
        index: int,
        prompt: str,
        *,
        template: PromptTemplate,
        schema: Mapping[str, Any],
        readable: Callable[[str], bool],
    ) -> Asked:
        """Asks a judge: the cache, else calls, and a second prompt when the reply is unreadable."""
        asked = Asked()
        cache = self._cache
        if cache is None:
            await self._ask(asked, index, prompt, template, schema, readable, None)
            return asked
        identity: str = getattr(self.judges[index], "identity")  # noqa: B009
        key = cache_key(identity, prompt, schema, self._trial)
        here = (id(asyncio.get_running_loop()), key)
        while (flight := cache.flying.get(here)) is not None:
            await asyncio.wait([flight], timeout=self.budget.left())
            left = self.budget.left()
            if left is not None and left <= 0:
                asked.error = BUDGET_REACHED
                return asked
        found = cache.get(key)
        if found is not None:
            asked.reply, asked.source = found, "cache"
            asked.replies.append(found.text)
            self._spent[judge_name(self.judges[index])].cached += 1
            return asked
        flight = cache.flying[here] = asyncio.get_running_loop().create_future()
        try:
            await self._ask(asked, index, prompt, template, schema, readable, key)
        finally:
            del cache.flying[here]
            flight.set_result(None)
        return asked

    async def _ask(
        self,
        asked: Asked,
        index: int,
        prompt: str,
        template: PromptTemplate,
        schema: Mapping[str, Any],
        readable: Callable[[str], bool],
        key: bytes | None,
    ) -> None:
        started = time.monotonic()
        try:
            for text in (prompt, template.recover(prompt)):
                reply = await self._call(asked, index, text, schema)
                if readable(reply.text):
                    if key is not None and self._cache is not None:
                        # Under the first prompt, also when the second got it: a further run asks
                        # neither.
                        self._cache.put(key, judge_name(self.judges[index]), reply)
                    break
            asked.reply = reply
        except JudgeError as error:
            asked.error = str(error)
            if asked.attempts > 1 and not isinstance(error, BudgetReached):
                asked.error += f" after {asked.attempts} calls"
        asked.latency = time.monotonic() - started

    async def _call(
        self, asked: Asked, index: int, prompt: str, schema: Mapping[str, Any]
    ) -> JudgeReply:
        judge = self.judges[index]
        spent = self._spent[judge_name(judge)]
        attempt = 0
        while True:
            await self._pause(self._not_before[index] - time.monotonic())
            self.budget.take()
            attempt += 1
            asked.attempts += 1
            spent.calls += 1
            try:
                reply = await self._within_deadline(judge, prompt, schema)
            except JudgeError as error:
                spent.failed += 1
                if isinstance(error, BudgetReached):
                    raise
                wait = self._retry.wait(attempt, error)
                if wait is None:
                    raise
                if error.retry_after:
                    until = time.monotonic() + error.retry_after
                    self._not_before[index] = max(self._not_before[index], until)
                await self._pause(wait)
                continue
            self.budget.spend(prompt, reply)
            if reply.usage is not None:
                spent.usage += reply.usage
                asked.usage = (asked.usage or Usage()) + reply.usage
            asked.replies.append(reply.text)
            return reply

    async def _pause(self, seconds: float) -> None:
        if seconds <= 0:
            return
        left = self.budget.left()
        if left is not None and seconds >= left:
            raise BudgetReached  # the wait would outlast it
        await asyncio.sleep(seconds)

    async def _within_deadline(
        self, judge: Judge, prompt: str, schema: Mapping[str, Any]
    ) -> JudgeReply:
        try:
            async with asyncio.timeout(self.budget.left()):
                return await call_judge(judge, prompt, schema)
        except TimeoutError:
            raise BudgetReached from None
