"""What a run over files gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ScorerCount:
    """How many rows a scorer passed.

    Attributes:
        name: the scorer's name.
        type: its type.
        passed: the rows that it passed.

    Examples:
        >>> import pathlib
        >>> import scoregate
        >>> size = pathlib.Path("rows.jsonl").write_text('{"output": "not yet"}')
        >>> gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}]})
        >>> scoregate.score_file(gate, "rows.jsonl").scorers
        (ScorerCount(name='contains-0', type='contains', passed=0),)
    """

    name: str
    type: str
    passed: int


@dataclass(frozen=True, slots=True)
class DetailCount:
    """How often a scorer failed with the same detail.

    Attributes:
        scorer: the scorer's name.
        detail: the detail; of a long one, the start.
        rows: the rows that failed with it.

    Examples:
        >>> import pathlib
        >>> import scoregate
        >>> size = pathlib.Path("rows.jsonl").write_text('{"output": "not yet"}')
        >>> gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}]})
        >>> found = scoregate.score_file(gate, "rows.jsonl").details[0]
        >>> print(found.rows, found.detail)
        1 target does not contain "ok"
    """

    scorer: str
    detail: str
    rows: int


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What a run over files gave.

    Attributes:
        rows: the rows that were scored; bad rows are not among them.
        passed: rows with verdict ``pass``.
        blocked: rows with verdict ``block``.
        undecided: rows with verdict ``undecided``.
        missing: rows without text (null), which are among the blocked.
        bad_rows: lines that are no rows and were left out.
        bad_messages: the first few of them, each as ``FILE:LINE: what is wrong``.
        scorers: a count per scorer, in the order of the gate.
        details: the most frequent failure details, the most frequent first. Counted exactly while
            a run has at most 4,096 different ones.
        output: the file of the results, ``"-"`` for standard output, or None.
        quarantine: the file of the bad rows, or None.
        bytes_read: the bytes that were read.
        seconds: wall time.
        judge: where a judge was given, what it came to, as in ``JudgedBatch.summary``.
        decided_by: where a judge was given, the rows that ``scorers``, ``judge``, ``policy`` and
            ``nobody`` decided.

    Examples:
        >>> import pathlib
        >>> import scoregate
        >>> size = pathlib.Path("rows.jsonl").write_text('{"output": "not yet"}')
        >>> gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}]})
        >>> summary = scoregate.score_file(gate, "rows.jsonl")
        >>> summary.rows, summary.passed, summary.pass_rate
        (1, 0, 0.0)
    """

    rows: int
    passed: int
    blocked: int
    undecided: int
    missing: int
    bad_rows: int
    bad_messages: tuple[str, ...]
    scorers: tuple[ScorerCount, ...]
    details: tuple[DetailCount, ...]
    output: str | None
    quarantine: str | None
    bytes_read: int
    seconds: float
    judge: dict[str, Any] | None = None
    decided_by: dict[str, int] | None = None

    @property
    def pass_rate(self) -> float | None:
        """Passes over scored rows, in [0, 1]; None without rows."""
        return self.passed / self.rows if self.rows else None

    @property
    def rate_of_all(self) -> float | None:
        """Passes over all rows, bad ones included, which never pass; None where none was scored.

        It is what ``--fail-under`` looks at.
        """
        return self.passed / (self.rows + self.bad_rows) if self.rows else None

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON values."""
        return {
            "rows": self.rows,
            "pass": self.passed,
            "block": self.blocked,
            "undecided": self.undecided,
            "missing": self.missing,
            "pass_rate": self.pass_rate,
            "bad_rows": self.bad_rows,
            "bad_messages": list(self.bad_messages),
            "scorers": [
                {
                    "name": scorer.name,
                    "type": scorer.type,
                    "passed": scorer.passed,
                    "pass_rate": scorer.passed / self.rows if self.rows else None,
                }
                for scorer in self.scorers
            ],
            "details": [
                {"scorer": count.scorer, "detail": count.detail, "rows": count.rows}
                for count in self.details
            ],
            "output": self.output,
            "quarantine": self.quarantine,
            "bytes": self.bytes_read,
            "seconds": round(self.seconds, 3),
            **({} if self.decided_by is None else {"decided_by": self.decided_by}),
            **({} if self.judge is None else {"judge": self.judge}),
        }
