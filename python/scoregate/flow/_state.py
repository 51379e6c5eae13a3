"""What is known of a phase, and of a run."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Status: TypeAlias = Literal[
    "pending", "running", "done", "blocked", "failed", "skipped", "cancelled"
]

STATUSES: tuple[Status, ...] = (
    "pending",
    "running",
    "done",
    "blocked",
    "failed",
    "skipped",
    "cancelled",
)


@dataclass(slots=True)
class PhaseUsage:
    """What the calls of a phase cost.

    Attributes:
        calls: calls made.
        input_tokens: the tokens of the prompts, estimated where an agent reports none.
        output_tokens: those of the replies.
        usd: what they cost, by the prices that the run was given.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def add(self, other: PhaseUsage) -> None:
        """Adds what other calls cost."""
        self.calls += other.calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.usd += other.usd

    def to_dict(self) -> dict[str, Any]:
        """The fields by their names in a record."""
        found: dict[str, Any] = {
            "calls": self.calls,
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
        }
        return found | {"usd": self.usd} if self.usd else found

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> PhaseUsage:
        """From a record."""
        return cls(
            found["calls"], found["inputTokens"], found["outputTokens"], found.get("usd", 0.0)
        )


@dataclass(slots=True)
class PhaseState:
    """What is known of a phase.

    Attributes:
        id: the phase.
        status: ``pending``, ``running``, ``done``, ``blocked`` (a gate that blocked), ``failed``,
            ``skipped`` or ``cancelled``.
        output: its text.
        json: its value: of a gate its structured result, of a tournament winner, reason and
            variants, of an agent with ``output: "json"`` what its output holds.
        gate: the structured result of a gate: ``verdict``, ``combined``, ``results``,
            ``threshold``, ``judge``, ``reason``, ``decidedBy``.
        reason: why it blocked, failed, was skipped or cancelled.
        warnings: what its author should know of this run.
        usage: what its calls cost.
        attempts: how often it was tried.
        started_at: when it began, in milliseconds since 1970.
        ended_at: when it ended.
        round: how often gates had it done again.
        reflexion: what the last of these gates had to say.
    """

    id: str
    status: Status = "pending"
    output: str | None = field(default=None, repr=False)
    json: Any = field(default=None, repr=False)
    gate: dict[str, Any] | None = field(default=None, repr=False)
    reason: str | None = None
    warnings: list[str] = field(default_factory=list, repr=False)
    usage: PhaseUsage = field(default_factory=PhaseUsage, repr=False)
    attempts: int = 0
    started_at: int | None = field(default=None, repr=False)
    ended_at: int | None = field(default=None, repr=False)
    round: int = 0
    reflexion: str | None = field(default=None, repr=False)

    @property
    def seconds(self) -> float | None:
        """How long it took, or has taken so far; None before it began."""
        if self.started_at is None:
            return None
        return ((self.ended_at or now()) - self.started_at) / 1000

    @property
    def verdict(self) -> str | None:
        """The verdict of a gate."""
        return None if self.gate is None else self.gate["verdict"]

    @property
    def spoke(self) -> bool:
        """Whether it has an output that others may read."""
        return self.status in ("done", "blocked")

    def end(self, status: Status, reason: str | None = None) -> None:
        """Ends it."""
        self.status, self.reason, self.ended_at = status, reason, now()

    def to_dict(self) -> dict[str, Any]:
        """The fields by their names in a record; absent ones are left out."""
        found: dict[str, Any] = {"id": self.id, "status": self.status}
        for name, value in (
            ("output", self.output),
            ("json", self.json),
            ("gate", self.gate),
            ("reason", self.reason),
            ("startedAt", self.started_at),
            ("endedAt", self.ended_at),
            ("reflexion", self.reflexion),
        ):
            if value is not None:
                found[name] = value
        found |= {"warnings": list(self.warnings), "attempts": self.attempts}
        found["usage"] = self.usage.to_dict()
        return found | {"round": self.round} if self.round else found

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> PhaseState:
        """From a record."""
        return cls(
            id=found["id"],
            status=found["status"],
            output=found.get("output"),
            json=found.get("json", found.get("gate")),
            gate=found.get("gate"),
            reason=found.get("reason"),
            warnings=list(found["warnings"]),
            usage=PhaseUsage.read(found["usage"]),
            attempts=found["attempts"],
            started_at=found.get("startedAt"),
            ended_at=found.get("endedAt"),
            round=found.get("round", 0),
            reflexion=found.get("reflexion"),
        )


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class FlowResult:
    """What came of a run.

    Attributes:
        name: the flow.
        status: ``done``; ``blocked``, where a gate blocked; ``failed``, where a phase failed; or
            ``cancelled``, where the budget was spent.
        reason: why the run was cancelled.
        phases: every phase, in the order of the flow.
    """

    name: str
    status: Literal["done", "blocked", "failed", "cancelled"]
    reason: str | None = None
    phases: dict[str, PhaseState] = field(default_factory=dict, repr=False)

    def __getitem__(self, id: str) -> PhaseState:
        """The state of a phase."""
        return self.phases[id]

    @property
    def usage(self) -> PhaseUsage:
        """What all calls cost."""
        total = PhaseUsage()
        for state in self.phases.values():
            total.add(state.usage)
        return total

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        found: dict[str, Any] = {"name": self.name, "status": self.status}
        if self.reason is not None:
            found["reason"] = self.reason
        found["usage"] = self.usage.to_dict()
        found["phases"] = [state.to_dict() for state in self.phases.values()]
        return found


def status_of(states: Mapping[str, PhaseState]) -> Literal["done", "blocked", "failed"]:
    """What a run comes to whose phases have ended."""
    found = {state.status for state in states.values()}
    return "failed" if "failed" in found else "blocked" if "blocked" in found else "done"
