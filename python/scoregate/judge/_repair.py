"""What a model is told of an output that a gate blocked, so that it can mend what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._prompt import report_of

if TYPE_CHECKING:
    from .._native import GateResult


def repair_prompt(
    scored: GateResult | None, *, reason: str | None = None, judge: str | None = None
) -> str:
    """The reason, the report of the scorers, and what the judge says.

    Args:
        scored: what the scorers say; None where none ran.
        reason: why the gate blocked.
        judge: the judge's own reason.
    """
    parts = [f"The last output was blocked: {reason or 'the verdict is block'}"]
    if scored is not None and scored.results:
        parts.append(report_of(scored))
    if judge is not None and judge != reason:
        parts.append(f"The judge says: {judge}")
    parts.append("Mend what failed, keep what passed, and give the whole output again.")
    return "\n\n".join(parts)
