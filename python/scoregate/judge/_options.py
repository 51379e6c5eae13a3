"""How judges are asked: every option, declared once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from ._limits import Budget, Retry
from ._prompt import JUDGE_PROMPT, PromptTemplate

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from ._cache import JudgeCache

Reducer: TypeAlias = Literal["majority", "mean", "all", "any"]
OnUnparseable: TypeAlias = Literal["pass", "block", "undecided"]
OnJudgeError: TypeAlias = Literal["undecided", "pass", "block", "fail"]

REDUCERS = ("majority", "mean", "all", "any")
ON_UNPARSEABLE = ("pass", "block", "undecided")
ON_JUDGE_ERROR = ("undecided", "pass", "block", "fail")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """How judges are asked, and what becomes of what they say.

    ``Gate.decide`` and its kin take ``options=`` or each field by its name, which wins.

    Attributes:
        reducer: how several judges become one: ``majority`` (a tie blocks), ``mean``, ``all`` or
            ``any``. A judge that fails counts only where its vote could not matter.
        on_judge_error: what a failed call gives: ``undecided``, ``pass`` or ``block``; ``fail``
            ends the run with ``JudgeError``.
        on_unparseable: what a reply without a vote gives after a second try: ``pass``, ``block`` or
            ``undecided``; by default as the score block's judge says, else ``pass``.
        concurrency: calls in flight at most.
        max_calls: calls at most, retries and second tries included.
        max_tokens: no call is made once so many tokens are spent; calls in flight end. A judge
            that reports none is counted at a token for every four characters.
        deadline: the seconds that everything may take; calls in flight are cancelled then.
        requests_per_minute: calls are made no faster, retries included.
        tokens_per_minute: nor faster than so many tokens.
        cache: a cache of replies, or the path of its file.
        retry: when a failed call is made again.
        prompt: how the prompt is put together.
        interpolate: fills the placeholders of the judge's task; it is given the task and the row.
            Without it they stay as they are.
        keep_replies: results hold the judge's raw replies.
        trial: cached replies are kept apart by it, for several samples of the same prompt.

    Raises:
        ValueError: one is out of its range.
    """

    reducer: Reducer = "majority"
    on_judge_error: OnJudgeError = "undecided"
    on_unparseable: OnUnparseable | None = None
    concurrency: int = 8
    max_calls: int | None = None
    max_tokens: int | None = None
    deadline: float | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    cache: JudgeCache | str | os.PathLike[str] | None = None
    retry: Retry = field(default_factory=Retry)
    prompt: PromptTemplate = JUDGE_PROMPT
    interpolate: Callable[[str, Mapping[str, Any] | None], str] | None = None
    keep_replies: bool = False
    trial: int = 0

    def __post_init__(self) -> None:
        """Refuses what is out of its range."""
        for name, value, known in (
            ("reducer", self.reducer, REDUCERS),
            ("on_judge_error", self.on_judge_error, ON_JUDGE_ERROR),
            ("on_unparseable", self.on_unparseable, (None, *ON_UNPARSEABLE)),
        ):
            if value not in known:
                raise ValueError(f"{name}: must be one of {'|'.join(filter(None, known))}")
        if self.concurrency < 1:
            raise ValueError("concurrency: must be at least 1")
        for name, limit in (("max_calls", self.max_calls), ("max_tokens", self.max_tokens)):
            if limit is not None and limit < 0:
                raise ValueError(f"{name}: must be 0 or more")
        if self.deadline is not None and not self.deadline >= 0:
            raise ValueError("deadline: must be 0 or more seconds")
        for name in ("requests_per_minute", "tokens_per_minute"):
            rate = getattr(self, name)
            if rate is not None and not 0 < rate < math.inf:
                raise ValueError(f"{name}: must be over 0")

    @classmethod
    def of(cls, options: JudgeOptions | None, keywords: JudgeKeywords) -> JudgeOptions:
        """Options with what is also given by name.

        Raises:
            TypeError: there is no such option.
        """
        base = options or cls()
        unknown = next(iter(set(keywords) - {each.name for each in fields(cls)}), None)
        if unknown is not None:
            raise TypeError(f"there is no option {unknown!r} of a judge")
        return replace(base, **keywords) if keywords else base

    def budget(self) -> Budget:
        """What a run that starts now may spend."""
        return Budget(max_calls=self.max_calls, max_tokens=self.max_tokens, deadline=self.deadline)


class JudgeKeywords(TypedDict, total=False):
    """The fields of ``JudgeOptions`` as keywords of a call, for type checkers."""

    reducer: Reducer
    on_judge_error: OnJudgeError
    on_unparseable: OnUnparseable | None
    concurrency: int
    max_calls: int | None
    max_tokens: int | None
    deadline: float | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    cache: JudgeCache | str | os.PathLike[str] | None
    retry: Retry
    prompt: PromptTemplate
    interpolate: Callable[[str, Mapping[str, Any] | None], str] | None
    keep_replies: bool
    trial: int
