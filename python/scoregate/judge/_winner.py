"""A judge that chooses among variants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._errors import JudgeError
from .._native import parse_winner
from ._named import as_judge
from ._options import JudgeOptions
from ._prompt import WINNER_PROMPT, WINNER_TASK, PromptTemplate, label_asks, winner_prompt
from ._protocol import Usage, close_judges
from ._running import run_sync
from ._session import Asked, Session
from ._text import cut

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from ._cache import JudgeCache
    from ._protocol import AnyJudge, Judge
    from ._session import Standing

OnTie: TypeAlias = Literal["first", "none", "error"]

_DEFAULTED = "no parseable winner; defaulted to variant 1"
_TIE = "the judge calls it a tie"
_REASON_BYTES = 4096


@dataclass(frozen=True, slots=True)
class PickedWinner:
    """The variant that a judge chose.

    Attributes:
        winner: its number, from 1; None for a tie with ``on_tie="none"``.
        reason: the judge's reason; where the choice is a default, why.
        parsed: whether every reply says plainly what it says.
        tie: whether the judge, or the two orders together, prefer none.
        clamped: whether a number was put into its range.
        consistent: whether both orders gave the same winner; None when only one was asked.
        error: why a call failed; the winner is then variant 1, or the other order's.
        usage: the tokens, where reported.
        attempts: calls made.
        replies: the raw replies, where they are asked for.
    """

    winner: int | None
    reason: str | None = field(default=None, repr=False)
    parsed: bool = True
    tie: bool = False
    clamped: bool = False
    consistent: bool | None = None
    error: str | None = None
    usage: Usage = field(default_factory=Usage)
    attempts: int = 0
    replies: tuple[str, ...] = field(default=(), repr=False)


def pick_winner(
    variants: Sequence[str],
    judge: AnyJudge,
    *,
    task: str = WINNER_TASK,
    labels: Sequence[str] | None = None,
    swap_order: bool = False,
    on_tie: OnTie = "first",
    deadline: float | None = None,
    cache: JudgeCache | str | os.PathLike[str] | None = None,
    template: PromptTemplate = WINNER_PROMPT,
    options: JudgeOptions | None = None,
) -> PickedWinner:
    """Lets a judge choose the best of several variants.

    A single variant wins without a call.

    Args:
        variants: the texts, at least one.
        judge: the judge.
        task: what it is to look at.
        labels: what the variants are called in the prompt and in replies, one a variant; by
            default their numbers.
        swap_order: asks a second time with the variants in reverse, since judges favour places.
            Where the two answers differ it is a tie, with ``consistent=False`` and a reason that
            names both.
        on_tie: what a tie gives: the ``first`` variant, ``none``, or an ``error``.
        deadline: the seconds that all calls together may take.
        cache: a cache, or the path of its file.
        template: how the prompt is put together.
        options: retries, raw replies, trial.

    Raises:
        JudgeError: a tie, with ``on_tie="error"``.
    """
    pick = _Pick(variants, judge, task, labels, swap_order, on_tie, template)
    settings = _settings(options, deadline, cache)

    async def main() -> PickedWinner:
        try:
            return await pick.ask(settings)
        finally:
            await close_judges([pick.judge])

    return run_sync(main)


async def apick_winner(
    variants: Sequence[str],
    judge: AnyJudge,
    *,
    task: str = WINNER_TASK,
    labels: Sequence[str] | None = None,
    swap_order: bool = False,
    on_tie: OnTie = "first",
    deadline: float | None = None,
    cache: JudgeCache | str | os.PathLike[str] | None = None,
    template: PromptTemplate = WINNER_PROMPT,
    options: JudgeOptions | None = None,
) -> PickedWinner:
    """``pick_winner`` for asynchronous code."""
    pick = _Pick(variants, judge, task, labels, swap_order, on_tie, template)
    return await pick.ask(_settings(options, deadline, cache))


def _settings(
    options: JudgeOptions | None,
    deadline: float | None,
    cache: JudgeCache | str | os.PathLike[str] | None,
) -> JudgeOptions:
    given: Any = {"deadline": deadline, "cache": cache}
    return JudgeOptions.of(options, {k: v for k, v in given.items() if v is not None})  # type: ignore[arg-type]


class _Pick:
    """A choice to be made."""

    def __init__(
        self,
        variants: Sequence[str],
        judge: AnyJudge,
        task: str,
        labels: Sequence[str] | None,
        swap_order: bool,
        on_tie: OnTie,
        template: PromptTemplate,
    ) -> None:
        if isinstance(variants, str) or not all(isinstance(text, str) for text in variants):
            raise TypeError("variants: expected a list of str")
        if not variants:
            raise ValueError("variants: at least one is needed")
        if labels is not None and len(labels) != len(variants):
            raise ValueError("labels: one is needed for each variant")
        if on_tie not in ("first", "none", "error"):
            raise ValueError("on_tie: must be one of first|none|error")
        self.judge: Judge = as_judge(judge)
        self._orders = [list(variants), list(variants)[::-1]] if swap_order else [list(variants)]
        self._count = len(variants)
        self._task, self._labels, self._on_tie = task, labels, on_tie
        self._template = template

    def _read(self, text: str) -> Any:
        return parse_winner(text, self._count, labels=self._labels)

    def _stands(self, text: str) -> Standing:
        found = self._read(text)
        state: Standing = "read" if found.clamped else found.state
        return state

    async def ask(self, options: JudgeOptions) -> PickedWinner:
        """Asks in one order or in both."""
        if self._count == 1:
            return PickedWinner(1)
        session = Session([self.judge], options)
        asks = label_asks(self._labels)
        await session.open()
        try:
            found = [
                await session.ask(
                    0,
                    winner_prompt(order, self._task, self._template, labels=self._labels),
                    recover=lambda prompt: self._template.recover(prompt, asks),
                    schema=asks.schema,
                    stands=self._stands,
                )
                for order in self._orders
            ]
        finally:
            await session.close()
        return self._together(found, options)

    def _together(self, found: list[Asked], options: JudgeOptions) -> PickedWinner:
        replies = tuple(reply for asked in found for reply in asked.replies)
        usage = sum((asked.usage for asked in found if asked.usage is not None), Usage())
        common: dict[str, Any] = {
            "usage": usage,
            "attempts": sum(asked.attempts for asked in found),
            "replies": replies if options.keep_replies else (),
            "error": next((asked.error for asked in found if asked.error is not None), None),
        }
        #: The variant of each order that gave one, None for a tie.
        picks: list[int | None] = []
        reasons: list[str | None] = []
        parsed = len(found) > 0
        for turn, asked in enumerate(found):
            read = None if asked.reply is None else self._read(asked.reply.text)
            if read is None or self._stands(asked.reply.text if asked.reply else "") != "read":
                parsed = False
                continue
            parsed = parsed and not read.clamped
            common["clamped"] = common.get("clamped", False) or read.clamped
            number = self._count + 1 - read.winner if turn else read.winner
            picks.append(None if read.tie else number)
            reasons.append(None if read.reason is None else cut(read.reason, _REASON_BYTES))
        if not picks:
            why = _DEFAULTED if common["error"] is None else f"judge failed: {common['error']}"
            return PickedWinner(1, why, parsed=False, **common)
        both = len(found) == 2
        if both:
            common["consistent"] = len(picks) == 2 and picks[0] == picks[1]
        if picks[0] is not None and len(set(picks)) == 1:
            return PickedWinner(picks[0], reasons[0], parsed=parsed, **common)
        reason = reasons[0] or _TIE
        if len(set(picks)) == 2:
            names = ["a tie" if pick is None else f"variant {pick}" for pick in picks]
            reason = f"the orders disagree: {names[0]}, in reverse {names[1]}"
        if self._on_tie == "error":
            raise JudgeError(_TIE if len(set(picks)) == 1 else reason)
        winner = 1 if self._on_tie == "first" else None
        return PickedWinner(winner, reason, parsed=parsed, tie=True, **common)
