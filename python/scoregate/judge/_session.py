"""One run's calls: cache, budget, retries, and the one recovery."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._errors import JudgeError
from ._cache import cache_key
from ._cache_line import CacheLine
from ._limits import LIMITS, LimitReached, Pace, estimate
from ._protocol import FAULTS, Usage, call_judge, judge_name
from ._text import clean, cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ._limits import Limit
    from ._options import JudgeOptions
    from ._protocol import Fault, Judge, JudgeReply

log = logging.getLogger("scoregate.judge")

#: An error is kept to so many bytes, and so many different ones are counted apart.
_ERROR_BYTES = 512
_CAUSES = 256


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
        reply: the reply that counts; None when the call failed.
        error: why it failed, in words; with the last error before it where a limit did.
        limit: the limit that kept a call from being made.
        source: ``call``, ``cache``, or ``shared`` for a reply that another row asked for.
        attempts: calls made.
        usage: their tokens, where reported.
        latency: seconds from the first call to the last reply, waits included.
        replies: every reply.
    """

    reply: JudgeReply | None = None
    error: str | None = None
    limit: Limit | None = None
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


@dataclass(slots=True)
class _Line:
    """What is known of the way to one judge.

    Attributes:
        not_before: no call is made before, as the server asked.
        down: why no call is made at all.
        until: until when; for ever after an error that is final.
        last: the last error.
    """

    not_before: float = 0.0
    down: JudgeError | None = None
    until: float = 0.0
    last: str | None = None


#: How a reply can be taken, and whether it decides: what is asked, so that a session knows neither
#: grammar nor policy.
Standing: TypeAlias = Literal["read", "disputed", "silent", "blocks"]


class Session:
    """Asks judges within a budget. It belongs to one run."""

    def __init__(self, judges: Sequence[Judge], options: JudgeOptions) -> None:
        self.judges = judges
        self.budget = options.budget()
        self._retry = options.retry
        self._trial = options.trial
        self._requests = _pace(options.requests_per_minute)
        self._tokens = _pace(options.tokens_per_minute)
        self._spent = {judge_name(judge): _Spent() for judge in judges}
        self._lines = [_Line() for _ in judges]
        #: Failed calls by their cause.
        self.failures: Counter[str] = Counter()
        self._cache = None if options.cache is None else CacheLine(options.cache)
        self._identities: list[str] = []
        for judge in judges if self._cache is not None else ():
            identity = getattr(judge, "identity", None)
            if not isinstance(identity, str):
                raise ValueError(
                    f"cache: the judge {judge_name(judge)} has no identity to be cached under; "
                    "a function is given one by FunctionJudge(f, name=..., cacheable=True)"
                )
            self._identities.append(identity)

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
        recover: Callable[[str], str],
        schema: Mapping[str, Any] | None,
        stands: Callable[[str], Standing],
    ) -> Asked:
        """Asks a judge: the cache, else calls, and a second prompt when the reply does not stand.

        It raises nothing: whatever a server or a file does, a row keeps its result.
        """
        asked = Asked()
        try:
            if self._cache is None:
                await self._ask(asked, index, prompt, recover, schema, stands, None)
            else:
                await self._look(asked, self._cache, index, prompt, recover, schema, stands)
        except Exception as error:
            log.debug("a reply could not be dealt with", exc_info=True)
            asked.reply, asked.error = None, type(error).__name__
        return asked

    async def _look(
        self,
        asked: Asked,
        cache: CacheLine,
        index: int,
        prompt: str,
        recover: Callable[[str], str],
        schema: Mapping[str, Any] | None,
        stands: Callable[[str], Standing],
    ) -> None:
        identity = self._identities[index]
        # The same judge given twice is asked twice: two samples, in the cache too.
        ordinal = self._identities[:index].count(identity)
        key = cache_key(identity, prompt, schema, self._trial, ordinal)
        async with cache.alone(key, self.budget.left()) as alone:
            if not alone:
                asked.limit, asked.error = "deadline", LIMITS["deadline"]
                return
            found = await cache.get(key, self.budget.left())
            # A file may hold anything; what does not stand is asked for again.
            if found is not None and stands(found.text) in ("read", "blocks"):
                asked.reply, asked.source = found, "cache"
                asked.replies.append(found.text)
                self._spent[judge_name(self.judges[index])].cached += 1
                return
            await self._ask(asked, index, prompt, recover, schema, stands, key)

    async def _ask(
        self,
        asked: Asked,
        index: int,
        prompt: str,
        recover: Callable[[str], str],
        schema: Mapping[str, Any] | None,
        stands: Callable[[str], Standing],
        key: bytes | None,
    ) -> None:
        started = time.monotonic()
        disputed: JudgeReply | None = None
        try:
            for text in (prompt, recover(prompt)):
                reply = await self._call(asked, index, text, schema)
                standing = stands(reply.text)
                if reply.fault == "cut" and standing in ("read", "silent"):
                    # What is missing may say otherwise, unless it blocks already.
                    raise self._faulty(index, "cut")
                if standing in ("read", "blocks"):
                    if key is not None and self._cache is not None and reply.fault is None:
                        # Under the first prompt, also when the second got it: a further run asks
                        # neither.
                        self._cache.put(key, judge_name(self.judges[index]), reply)
                    asked.reply = reply
                    break
                if standing == "disputed":
                    disputed = reply
                # What was said is not taken back by saying nothing.
                asked.reply = disputed or reply
        except JudgeError as error:
            # A disputed reply has blocked: a second call that fails does not undo it.
            asked.reply = disputed
            if disputed is None:
                self._tell_error(asked, index, error)
        asked.latency = time.monotonic() - started

    def _tell_error(self, asked: Asked, index: int, error: JudgeError) -> None:
        asked.error = cut(clean(str(error)), _ERROR_BYTES)
        if isinstance(error, LimitReached):
            asked.limit = error.limit
            if self._lines[index].last is not None:
                asked.error += f" (last error: {self._lines[index].last})"
        elif asked.attempts > 1:
            asked.error += f" after {asked.attempts} calls"

    async def _call(
        self, asked: Asked, index: int, prompt: str, schema: Mapping[str, Any] | None
    ) -> JudgeReply:
        judge, line = self.judges[index], self._lines[index]
        spent = self._spent[judge_name(judge)]
        attempt = 0
        while True:
            await self._pause(line.not_before - time.monotonic())
            guessed = estimate(prompt)
            if self._requests is not None:
                await self._pause(self._requests.take(1))
            if self._tokens is not None:
                await self._pause(self._tokens.take(guessed))
            if line.down is not None and time.monotonic() < line.until:
                raise line.down
            self.budget.take()
            attempt += 1
            asked.attempts += 1
            spent.calls += 1
            try:
                reply = await self._within_deadline(judge, prompt, schema)
            except JudgeError as error:
                spent.failed += 1
                self._count(index, error)
                if isinstance(error, LimitReached):
                    raise
                self._note_wait(line, error)
                wait = self._retry.wait(attempt, error)
                if wait is None:
                    raise
                await self._pause(wait)
                continue
            tokens = self.budget.spend(prompt, reply)
            if self._tokens is not None:
                self._tokens.give(guessed - tokens)
            if reply.usage is not None:
                spent.usage += reply.usage
                asked.usage = (asked.usage or Usage()) + reply.usage
            asked.replies.append(reply.text)
            if reply.fault not in (None, "cut"):
                raise self._faulty(index, reply.fault)
            return reply

    def _faulty(self, index: int, fault: Fault) -> JudgeError:
        """The error of a call that gave no reply, which is not made again."""
        error = JudgeError(FAULTS[fault])
        self._spent[judge_name(self.judges[index])].failed += 1
        self._count(index, error)
        return error

    def _count(self, index: int, error: JudgeError) -> None:
        words = cut(clean(str(error)), _ERROR_BYTES)
        if not isinstance(error, LimitReached):
            self._lines[index].last = words
        if words not in self.failures and len(self.failures) >= _CAUSES:
            words = "other causes"
        self.failures[words] += 1

    def _note_wait(self, line: _Line, error: JudgeError) -> None:
        """Remembers what an error says of calls to come."""
        now = time.monotonic()
        if error.final:
            line.down, line.until = error, math.inf
        elif error.retryable and error.retry_after:
            until = now + error.retry_after
            if error.retry_after > self._retry.patience:
                line.down, line.until = error, max(line.until, until)
            else:
                line.not_before = max(line.not_before, until)

    async def _pause(self, seconds: float) -> None:
        if seconds <= 0:
            return
        left = self.budget.left()
        if left is not None and seconds >= left:
            raise LimitReached("deadline")  # the wait would outlast it
        await asyncio.sleep(seconds)

    async def _within_deadline(
        self, judge: Judge, prompt: str, schema: Mapping[str, Any] | None
    ) -> JudgeReply:
        try:
            async with asyncio.timeout(self.budget.left()):
                return await call_judge(judge, prompt, schema)
        except TimeoutError:
            raise LimitReached("deadline") from None

    async def open(self) -> None:
        """Opens the cache.

        Raises:
            CacheError: it is none.
        """
        if self._cache is not None:
            await self._cache.open(self.budget.left())

    async def close(self) -> None:
        """Waits, not long, until what is to be kept is kept."""
        if self._cache is not None:
            await self._cache.flush(self.budget.left())


def _pace(per_minute: float | None) -> Pace | None:
    return None if per_minute is None else Pace(per_minute)
