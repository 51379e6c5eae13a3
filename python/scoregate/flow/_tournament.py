"""A tournament: several outputs, of which a judge takes the best."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .._errors import JudgeError
from ..judge._limits import Retry
from ..judge._options import JudgeOptions
from ..judge._prompt import WINNER_TASK
from ..judge._winner import apick_winner
from ._agents import BudgetSpent, MeteredJudge
from ._work import AttemptFailed

if TYPE_CHECKING:
    from ._work import Work


async def work_tournament(work: Work) -> None:
    """Makes the variants side by side, then lets the judge choose.

    Variants that are there already are not made again by a further attempt. One that fails is left
    out while another is there.

    Raises:
        AttemptFailed: there is no variant, or the judge gave no reply.
    """
    spec = work.phase.spec
    variants = spec["variants"]
    tasks = variants if isinstance(variants, list) else [spec["task"]] * int(variants)
    prompts = [work.text(task) for task in tasks]
    errors: dict[int, JudgeError] = {}

    async def make(index: int) -> None:
        try:
            work.variants[index] = await work.ask(prompts[index])
        except BudgetSpent:
            raise
        except JudgeError as error:
            errors[index] = error

    try:
        async with asyncio.TaskGroup() as group:
            for index in range(len(prompts)):
                if index not in work.variants:
                    group.create_task(make(index))
    except ExceptionGroup as spent:  # of the budget, or bugs
        raise spent.exceptions[0] from None
    for index, error in sorted(errors.items()):
        work.warn(f"variant {index + 1} failed: {error}")
    if not work.variants:
        raise next(iter(errors.values()))
    await _choose(work, len(prompts))


async def _choose(work: Work, count: int) -> None:
    given = work.phase.spec.get("judge", {})
    block: dict[str, Any] = {"task": given} if isinstance(given, str) else given
    judge = MeteredJudge(work.meter, block.get("agent"), work.state.usage)
    there = sorted(work.variants)
    picked = await apick_winner(
        [work.variants[index] for index in there],
        judge,
        task=work.text(block.get("task", WINNER_TASK)),
        swap_order=block.get("swapOrder", False),
        options=JudgeOptions(retry=Retry(attempts=1)),
    )
    if judge.stop is not None:
        raise judge.stop
    if picked.error is not None:
        raise AttemptFailed(f"judge failed: {picked.error}")
    if not picked.parsed:
        work.warn("the judge's choice is not plain")
    best = there[(picked.winner or 1) - 1]
    work.state.json = {
        "winner": best + 1,
        "reason": picked.reason,
        "variants": [work.variants.get(index) for index in range(count)],
    }
    work.state.output = work.variants[best]
