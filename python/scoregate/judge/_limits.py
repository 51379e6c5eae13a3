"""What a run may spend: calls, tokens, time, how fast, and when a failed call is made again."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from .._errors import JudgeError

if TYPE_CHECKING:
    from ._protocol import JudgeReply

#: Which limit kept a call from being made.
Limit: TypeAlias = Literal["deadline", "calls", "tokens", "errors"]

#: What a row says that was not judged for lack of time, calls or tokens.
LIMITS: dict[Limit, str] = {
    "deadline": "deadline reached",
    "calls": "max_calls reached",
    "tokens": "max_tokens reached",
    "errors": "too many failed rows",
}


class LimitReached(JudgeError):
    """No call may be made any more."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(LIMITS[limit])
        self.limit = limit


def estimate(*texts: str) -> int:
    """The tokens of texts where nobody counts them: one for every four characters."""
    return (sum(map(len, texts)) + 3) // 4


class Budget:
    """How much may be spent."""

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        deadline: float | None = None,
    ) -> None:
        self._max_calls = max_calls
        self._max_tokens = max_tokens
        self._end = None if deadline is None else time.monotonic() + deadline
        self._closed: Limit | None = None
        self.calls = 0
        self.tokens = 0

    def left(self) -> float | None:
        """The seconds that are left; None without a deadline."""
        return None if self._end is None else self._end - time.monotonic()

    def close(self, limit: Limit) -> None:
        """Allows no further call."""
        self._closed = self._closed or limit

    def take(self) -> None:
        """Takes a call.

        Raises:
            LimitReached: there is none left.
        """
        left = self.left()
        if self._closed is not None:
            raise LimitReached(self._closed)
        if left is not None and left <= 0:
            raise LimitReached("deadline")
        if self._max_calls is not None and self.calls >= self._max_calls:
            raise LimitReached("calls")
        if self._max_tokens is not None and self.tokens >= self._max_tokens:
            raise LimitReached("tokens")
        self.calls += 1

    def spend(self, prompt: str, reply: JudgeReply) -> int:
        """Counts a reply's tokens, and gives them; they are estimated where nobody tells them."""
        usage = reply.usage
        tokens = estimate(prompt, reply.text) if usage is None else usage.total
        self.tokens += tokens
        return tokens


class Pace:
    """A token bucket that holds a second's worth: so many units a minute, and never more.

    A taker is told at once how long to wait, in the order of asking; the bucket may be overdrawn,
    which the next takers wait for. No clock runs beside it.
    """

    def __init__(self, per_minute: float) -> None:
        self._rate = per_minute / 60.0
        self._filled = time.monotonic() - 1.0  # when the bucket was, or will be, empty

    def take(self, units: float) -> float:
        """Takes units, and gives the seconds to wait for them."""
        now = time.monotonic()
        self._filled = max(self._filled, now - 1.0)
        wait = max(0.0, self._filled + min(1.0, units / self._rate) - now)
        self._filled += units / self._rate
        return wait

    def give(self, units: float) -> None:
        """Gives units back, or takes more where an estimate was too low."""
        self._filled -= units / self._rate


@dataclass(frozen=True, slots=True)
class Retry:
    """When a failed call is made again.

    Waits grow from ``base`` by a factor of two up to ``most``, each cut by chance to between a half
    and the whole. A longer wait that the server asks for (``Retry-After``) is kept, by every call of
    the run; one longer than ``patience`` is not waited for, and until it is over every call fails.

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
        # A little later than asked, not all at once, and never sooner than we would.
        return max(own, error.retry_after + own * 0.1)
