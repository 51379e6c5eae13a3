"""A judge that chooses among variants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._native import parse_winner
from .decide import JudgeOptions, check_budget, open_cache, run_sync
from .prompt import WINNER_PROMPT, WINNER_TASK, PromptTemplate, winner_prompt
from .protocol import Usage, as_judge, close_judges
from .session import Asked, Session

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from .cache import JudgeCache
    from .protocol import AnyJudge, Judge

_DEFAULTED = "no parseable winner; defaulted to variant 1"

WINNER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"winner": {"type": "integer"}, "reason": {"type": "string"}},
    "required": ["winner", "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class PickedWinner:
    """The variant that a judge chose.

    Attributes:
        winner: its number, from 1.
        reason: the judge's reason; where the choice is a default, why.
        parsed: whether every reply could be read.
        consistent: whether both orders gave the same winner; None when only one was asked.
        error: why a call failed; the winner is then variant 1, or the other order's.
        usage: the tokens, where reported.
        attempts: calls made.
        replies: the raw replies, where they are asked for.
    """

    winner: int
    reason: str | None = field(default=None, repr=False)
    parsed: bool = True
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
    swap_order: bool = False,
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
        swap_order: asks a second time with the variants in reverse, since judges favour places.
            Where the two disagree, the first order's choice stands, with ``consistent=False`` and a
            reason that names both.
        deadline: the seconds that all calls together may take.
        cache: a cache, or the path of its file.
        template: how the prompt is put together.
        options: retries, raw replies, trial.
    """
    own = as_judge(judge)

    async def main() -> PickedWinner:
        try:
            return await _pick(
                variants, own, task, swap_order, deadline, open_cache(cache), template, options
            )
        finally:
            await close_judges([own])

    return run_sync(main)


async def apick_winner(
    variants: Sequence[str],
    judge: AnyJudge,
    *,
    task: str = WINNER_TASK,
    swap_order: bool = False,
    deadline: float | None = None,
    cache: JudgeCache | str | os.PathLike[str] | None = None,
    template: PromptTemplate = WINNER_PROMPT,
    options: JudgeOptions | None = None,
) -> PickedWinner:
    """:func:`pick_winner` for asynchronous code."""
    own = as_judge(judge)
    return await _pick(
        variants, own, task, swap_order, deadline, open_cache(cache), template, options
    )


async def _pick(
    variants: Sequence[str],
    judge: Judge,
    task: str,
    swap_order: bool,
    deadline: float | None,
    cache: JudgeCache | None,
    template: PromptTemplate,
    options: JudgeOptions | None,
) -> PickedWinner:
    if isinstance(variants, str) or not all(isinstance(text, str) for text in variants):
        raise TypeError("variants: expected a list of str")
    count = len(variants)
    if count == 0:
        raise ValueError("variants: at least one is needed")
    if count == 1:
        return PickedWinner(1)
    options = options or JudgeOptions()
    session = Session(
        [judge],
        budget=check_budget(1, None, None, deadline),
        retry=options.retry,
        cache=cache,
        trial=options.trial,
    )

    def readable(text: str) -> bool:
        return parse_winner(text, count).reason != _DEFAULTED

    orders = [list(variants), list(variants)[::-1]] if swap_order else [list(variants)]
    found: list[Asked] = []
    for order in orders:
        prompt = winner_prompt(order, task, template)
        asked = await session.ask(
            0, prompt, template=template, schema=WINNER_SCHEMA, readable=readable
        )
        found.append(asked)
    kept = tuple(reply for asked in found for reply in asked.replies)
    usage = sum((asked.usage for asked in found if asked.usage is not None), Usage())
    common: dict[str, Any] = {
        "usage": usage,
        "attempts": sum(asked.attempts for asked in found),
        "replies": kept if options.keep_replies else (),
        "error": next((asked.error for asked in found if asked.error is not None), None),
    }
    picks = []
    for turn, asked in enumerate(found):
        if asked.reply is None:
            continue
        read = parse_winner(asked.reply.text, count)
        if read.reason == _DEFAULTED:
            continue
        picks.append((count + 1 - read.winner if turn else read.winner, read.reason))
    parsed = len(picks) == len(orders)
    if not picks:
        why = _DEFAULTED if common["error"] is None else f"judge failed: {common['error']}"
        return PickedWinner(1, why, parsed=False, **common)
    winner, reason = picks[0]
    if not swap_order:
        return PickedWinner(winner, reason, parsed=parsed, **common)
    consistent = parsed and picks[0][0] == picks[1][0]
    if parsed and not consistent:
        reason = f"the orders disagree: variant {picks[0][0]}, in reverse variant {picks[1][0]}"
    return PickedWinner(winner, reason, parsed=parsed, consistent=consistent, **common)
