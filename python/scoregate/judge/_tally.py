"""Who decided the rows of a run, and how the judges' replies were read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

from ._reading import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ._reading import DecidedBy, State, Vote
    from ._session import ModelUsage

#: So many of the most frequent causes of failed calls are in a summary.
_CAUSES = 3


class _Votes(Protocol):
    @property
    def votes(self) -> Sequence[Vote]: ...


class Counted(Protocol):
    """What is counted of a row."""

    @property
    def decided_by(self) -> DecidedBy | None:
        """Who decided it."""

    @property
    def judge(self) -> _Votes | None:
        """What the judges said."""


class Tally:
    """Who decided the rows of a run, and how the judges' replies were read.

    Attributes:
        rows: the rows that the scorers left open.
        decided_by: of these, how many were decided by ``judge``, by ``policy``, or by nobody (None).
        replies: the judges' votes by their state.
        clamped: those whose score was put into its range.
        failed_rows: the rows of which a call failed.
    """

    def __init__(self, results: Iterable[Counted] = ()) -> None:
        self.rows = 0
        self.decided_by: Counter[DecidedBy | None] = Counter()
        self.replies: Counter[State] = Counter()
        self.clamped = 0
        self.failed_rows = 0
        for result in results:
            self.add(result)

    def add(self, result: Counted) -> None:
        """Counts a row."""
        self.rows += 1
        self.decided_by[result.decided_by] += 1
        votes = result.judge.votes if result.judge is not None else ()
        for vote in votes:
            self.replies[vote.state] += 1
            self.clamped += vote.clamped
        self.failed_rows += any(vote.state == "failed" and vote.limit is None for vote in votes)

    def deciders(self, scored: Mapping[str, Any]) -> dict[str, int]:
        """Who decided all rows, with the counts of the scorers alone."""
        missing = scored["missing"]
        return {
            "scorers": scored["pass"] + scored["block"] - missing,
            "judge": self.decided_by["judge"],
            "policy": self.decided_by["policy"] + missing,
            "nobody": scored["undecided"] - self.rows + self.decided_by[None],
        }

    def to_dict(self, usage: Iterable[ModelUsage], failures: Counter[str]) -> dict[str, Any]:
        """What the judging came to, as JSON values."""
        usage = list(usage)
        replies = {state: self.replies[state] for state in STATES}
        return {
            "rows": self.rows,
            "calls": sum(one.calls for one in usage),
            "failed": sum(one.failed for one in usage),
            "cached": sum(one.cached for one in usage),
            "input_tokens": sum(one.usage.input_tokens for one in usage),
            "output_tokens": sum(one.usage.output_tokens for one in usage),
            "replies": replies,
            "clamped": self.clamped,
            "failures": [
                {"cause": cause, "calls": calls} for cause, calls in failures.most_common(_CAUSES)
            ],
            "trouble": self.trouble(failures),
        }

    def trouble(self, failures: Counter[str]) -> str | None:
        """Why the judge may as well not have been there; None where it was."""
        silent = self.replies["silent"]
        if self.replies["read"] + self.replies["disputed"] or not (silent or failures):
            return None
        words = (
            "no reply of the judge holds a verdict" if silent else "every call of the judge failed"
        )
        if not failures:
            return words
        cause = failures.most_common(1)[0][0]
        return f"{words}, and other calls failed: {cause}" if silent else f"{words}: {cause}"
