"""The results of a gate whose judge may have been asked."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Never, overload

from ._protocol import Usage
from ._reading import STATES
from ._tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .._native import BatchResult, GateResult, ScorerResult
    from ._limits import Limit
    from ._reading import DecidedBy, State, Vote
    from ._session import ModelUsage

_CODES = {"block": 0, "pass": 1, "undecided": 2}

#: A reason is shown to so many characters.
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class JudgeInfo:
    """What the judge, or several together, said of one row.

    Attributes:
        score: the score in [0, 1]; None when no judge gave one.
        verdict: ``pass`` or ``block``; None when no judge gave one.
        reason: the reason of the first judge that voted so and gave one.
        votes: what each judge said, in the order in which they were given.
    """

    score: float | None
    verdict: Literal["pass", "block"] | None
    reason: str | None = field(default=None, repr=False)
    votes: tuple[Vote, ...] = ()

    @property
    def error(self) -> str | None:
        """Why a call failed: the first error, None when all judges answered."""
        return next((vote.error for vote in self.votes if vote.error is not None), None)

    @property
    def limit(self) -> Limit | None:
        """The limit that kept a judge from being asked."""
        return next((vote.limit for vote in self.votes if vote.limit is not None), None)

    @property
    def state(self) -> State:
        """How the replies were read; of several, how the worst was."""
        return max((vote.state for vote in self.votes), key=STATES.index, default="unasked")

    @property
    def parsed(self) -> bool:
        """Whether every reply says plainly what it says."""
        return all(vote.parsed for vote in self.votes)

    @property
    def clamped(self) -> bool:
        """Whether a score was put into its range."""
        return any(vote.clamped for vote in self.votes)

    @property
    def usage(self) -> Usage:
        """The tokens of all calls that were made for this row, where reported."""
        return sum((vote.usage for vote in self.votes if vote.usage is not None), Usage())

    @property
    def attempts(self) -> int:
        """The calls that were made for this row; 0 for cached and shared replies."""
        return sum(vote.attempts for vote in self.votes)

    @property
    def latency(self) -> float:
        """The seconds of the slowest judge, waits included."""
        return max((vote.latency for vote in self.votes), default=0.0)

    @property
    def replies(self) -> tuple[str, ...]:
        """The raw replies of all judges, where ``JudgeOptions(keep_replies=True)`` asks for them."""
        return tuple(reply for vote in self.votes for reply in vote.replies)

    def to_dict(self, *, details: bool = False) -> dict[str, Any]:
        """Score and reason, and what is to be known of them.

        That is the state unless every reply was read, and ``clamped``. With details also what the
        calls cost and each judge's vote.
        """
        found: dict[str, Any] = {}
        if self.score is not None:
            found["score"] = self.score
        if self.reason is not None:
            found["reason"] = self.reason
        if details or not self.parsed:
            found["state"] = self.state
        if self.clamped:
            found["clamped"] = True
        if not details:
            return found
        found |= {"verdict": self.verdict, "parsed": self.parsed, "attempts": self.attempts}
        found |= {"input_tokens": self.usage.input_tokens}
        found |= {"output_tokens": self.usage.output_tokens, "latency": round(self.latency, 4)}
        if self.error is not None:
            found["error"] = self.error
        if self.limit is not None:
            found["limit"] = self.limit
        found["sources"] = [vote.source for vote in self.votes]
        if len(self.votes) > 1:
            found["votes"] = [
                {
                    "judge": vote.judge,
                    "score": vote.score,
                    "verdict": vote.verdict,
                    "state": vote.state,
                }
                for vote in self.votes
            ]
        if self.replies:
            found["replies"] = list(self.replies)
        return found


@dataclass(frozen=True, slots=True)
class JudgedResult:
    """What a gate says of one text, its judge included.

    It has the attributes of ``GateResult``. ``decided_by`` is ``scorers``, ``judge``,
    ``policy`` (missing input, a reply without a vote, a failed call with a policy), or None while
    undecided.

    Attributes:
        result: the result as a ``GateResult``.
        scored: what the scorers alone said; its report is what the judge read.
        judge: what the judge said; None where it was not asked.
    """

    result: GateResult = field(repr=False)
    scored: GateResult = field(repr=False)
    judge: JudgeInfo | None = None

    @property
    def verdict(self) -> Literal["pass", "block", "undecided"]:
        """``pass``, ``block`` or ``undecided``."""
        return self.result.verdict

    @property
    def passed(self) -> bool:
        """True only for a pass."""
        return self.result.passed

    @property
    def combined(self) -> float:
        """The combined score; the judge's is folded in where it has a weight."""
        return self.result.combined

    @property
    def threshold(self) -> float | None:
        """The threshold of a weighted gate."""
        return self.result.threshold

    @property
    def results(self) -> list[ScorerResult]:
        """The results of the scorers."""
        return self.result.results

    @property
    def report(self) -> str:
        """The report of the scorers."""
        return self.scored.report

    @property
    def reason(self) -> str | None:
        """Why the text did not pass, or passed by a policy."""
        return self.result.reason

    @property
    def decided_by(self) -> DecidedBy | None:
        """Who decided; None while undecided."""
        return self.result.decided_by

    def to_dict(self, *, details: bool = False) -> dict[str, Any]:
        """The result with the keys of an output row, and ``judge: {score, reason?}``.

        Args:
            details: also what the judge's calls cost, and its raw replies where they are kept.
        """
        found = self.result.to_dict()
        if self.judge is not None:
            judge = self.judge.to_dict(details=details)
            if details or self.judge.score is not None:
                found["judge"] = judge
        return found

    def __bool__(self) -> Never:
        """Refuses: ``if gate.decide(text)`` would hold for a block too."""
        raise TypeError("JudgedResult has no truth value; use .passed")

    def __repr__(self) -> str:
        """Verdict, who decided, and why; no words of a model."""
        by = f" by {self.decided_by}" if self.decided_by else ""
        said = self.judge.reason if self.judge is not None else None
        reason = self.reason if self.reason != said or self.decided_by == "policy" else None
        why = "" if reason is None else f": {shown(reason)}"
        return f"<JudgedResult {self.verdict}{by} combined={self.combined:.3f}{why}>"


def shown(text: str) -> str:
    """A reason on one line, and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"


class JudgedBatch:
    """The results of a batch, a ``JudgedResult`` a row.

    Attributes:
        scored: what the scorers alone said.
        usage: what each judge cost.
        failures: the failed calls by their cause.
    """

    __slots__ = ("_judged", "failures", "scored", "usage")

    def __init__(
        self,
        scored: BatchResult,
        judged: Mapping[int, JudgedResult],
        usage: tuple[ModelUsage, ...] = (),
        failures: Mapping[str, int] | None = None,
    ) -> None:
        self.scored = scored
        self._judged = dict(judged)
        self.usage = usage
        self.failures = Counter(failures)

    @property
    def trouble(self) -> str | None:
        """Why the judge may as well not have been there: no reply that could be read; else None."""
        return Tally(self._judged.values()).trouble(self.failures)

    @property
    def calls(self) -> int:
        """Calls made, failed ones included."""
        return sum(usage.calls for usage in self.usage)

    @property
    def tokens(self) -> Usage:
        """The tokens of all judges, where reported."""
        return sum((usage.usage for usage in self.usage), Usage())

    def cost(self, prices: Mapping[str, tuple[float, float]]) -> float | None:
        """The cost by a price list; None when the list lacks a judge that was called.

        Args:
            prices: by judge or model, the prices of a million input and output tokens.
        """
        costs = [usage.cost(prices) for usage in self.usage if usage.calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    @property
    def judged(self) -> Mapping[int, JudgedResult]:
        """The rows that the scorers left undecided, by index."""
        return dict(self._judged)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of ``BatchResult.columns``, with what the judge decided."""
        columns = self.scored.columns
        verdict, passed, reason = columns["verdict"], columns["passed"], columns["reason"]
        codes, combined = bytearray(columns["verdict_code"]), array("d", columns["combined"])
        for index, result in self._judged.items():
            verdict[index], codes[index] = result.verdict, _CODES[result.verdict]
            passed[index] = None if result.verdict == "undecided" else result.passed
            reason[index] = result.reason
            combined[index] = result.combined
        return columns | {"verdict_code": memoryview(codes), "combined": memoryview(combined)}

    def summary(self) -> dict[str, Any]:
        """The counts of ``BatchResult.summary``, ``decided_by`` and ``judge``.

        ``decided_by`` counts the rows that the ``scorers``, the ``judge``, a ``policy`` and
        ``nobody`` decided. ``judge`` holds rows, calls (of which ``failed`` gave no reply), cached
        replies, tokens, how the ``replies`` were read, how many scores were ``clamped``, the most
        frequent causes of ``failures``, and ``trouble``.
        """
        found = dict(self.scored.summary())
        tally = Tally(self._judged.values())
        found["decided_by"] = tally.deciders(found)
        for result in self._judged.values():
            if result.verdict != "undecided":
                found["undecided"] -= 1
                found[result.verdict] += 1
        rows = found["rows"]
        found["pass_rate"] = found["pass"] / rows if rows else None
        found["judge"] = tally.to_dict(self.usage, self.failures)
        return found

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.scored)

    @overload
    def __getitem__(self, index: int) -> JudgedResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[JudgedResult]: ...
    @overload
    def __getitem__(self, index: str) -> Any: ...
    def __getitem__(self, index: int | slice | str) -> Any:
        """A row, the rows of a slice, or a column by its name."""
        if isinstance(index, str):
            return self.columns[index]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        found = self._judged.get(index)
        if found is None:
            scored = self.scored[index]
            found = JudgedResult(scored, scored)
        return found

    def __iter__(self) -> Iterator[JudgedResult]:
        """The rows in order."""
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        """The counts, and what is wrong with the judge."""
        found = self.summary()
        counts = ", ".join(f"{found[key]} {key}" for key in ("pass", "block", "undecided"))
        failed = found["judge"]["failed"]
        words = f"<JudgedBatch {counts}; {self.calls} calls"
        if failed:
            words += f", {failed} failed: {shown(self.failures.most_common(1)[0][0])}"
        if self.trouble is not None and not failed:
            words += f"; {self.trouble}"
        return words + ">"


class JudgingInterrupted(KeyboardInterrupt):
    """Ctrl-C during a batch; what was done is kept.

    Attributes:
        batch: the results so far. Rows that were not reached are undecided with the reason
            ``interrupted``.
        reached: the indices of the rows that the judge was done with.
    """

    def __init__(self, batch: JudgedBatch, reached: frozenset[int] = frozenset()) -> None:
        super().__init__("interrupted")
        self.batch = batch
        self.reached = reached
