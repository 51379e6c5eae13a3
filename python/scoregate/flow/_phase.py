"""A phase as it is run: what the validator found sound, read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from .. import _native
from .._gate import Gate
from ._fields import PHASE_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: What a gate scores, where it does not say.
TARGET = "{previous.output}"


@dataclass(frozen=True)
class Phase:
    """A phase of a flow.

    Attributes:
        spec: what its author wrote.
        untrusted: whether the author is a stranger.
        strict: whether a placeholder that stands for nothing fails it.
    """

    spec: Mapping[str, Any] = field(repr=False)
    untrusted: bool = False
    strict: bool = False

    @cached_property
    def id(self) -> str:
        """Its name."""
        return str(self.spec.get("id", ""))

    @cached_property
    def type(self) -> str:
        """``agent``, ``gate``, ``tournament`` or ``script``."""
        return str(self.spec.get("type", "agent"))

    @cached_property
    def depends_on(self) -> tuple[str, ...]:
        """The phases before it."""
        return tuple(self.spec.get("dependsOn", ()))

    @property
    def join(self) -> Literal["all", "any"]:
        """Whether it waits for all of them, or for one."""
        return "any" if self.spec.get("join") == "any" else "all"

    @property
    def attempts(self) -> int:
        """How often it is tried at most."""
        return 1 + int((self.spec.get("retry") or {}).get("max", 0))

    @property
    def rounds(self) -> int:
        """How often a gate that blocks has done again what it depends on."""
        if self.spec.get("onBlock") != "retry":
            return 0
        return int((self.spec.get("retry") or {}).get("max", 1))

    def wait(self, attempt: int) -> float:
        """The seconds to wait after a failed attempt (from 1)."""
        retry = self.spec.get("retry") or {}
        growth: float = retry.get("backoff", 1) ** min(attempt - 1, 60)
        return float(min(_LONGEST_WAIT, retry.get("delayMs", 0) / 1000 * growth))

    @property
    def timeout(self) -> float | None:
        """The seconds of one attempt."""
        given = self.spec.get("timeoutMs")
        return None if given is None else float(given) / 1000

    @cached_property
    def score_error(self) -> str | None:
        """What is wrong with its score block."""
        errors = _native.score_shape_errors(self.spec["score"])
        return next(iter(errors), None)

    @cached_property
    def gate(self) -> Gate:
        """The gate of its score block.

        Raises:
            SpecError: it is malformed.
        """
        block: Any = self.spec["score"]
        return Gate(block, untrusted=self.untrusted)

    @cached_property
    def reads(self) -> frozenset[str]:
        """The steps that it names."""
        names = (name.split(".") for _, name in references(self.spec))
        return frozenset(parts[1] for parts in names if parts[0] == "steps" and len(parts) > 1)

    @cached_property
    def reads_args(self) -> bool:
        """Whether it names arguments."""
        return any(name.split(".")[0] == "args" for _, name in references(self.spec))


#: Nobody means to wait longer.
_LONGEST_WAIT = 24 * 3600.0


def templates(spec: Mapping[str, Any]) -> Iterable[tuple[tuple[str | int, ...], str]]:
    """The templates of a phase, each with the steps to it."""
    for key in ("task", "input"):
        if key in spec:
            yield (key,), spec[key]
    for key in ("run", "variants"):
        if isinstance(spec.get(key), list):
            for index, text in enumerate(spec[key]):
                yield (key, index), text
    score, judge = spec.get("score"), spec.get("judge")
    if isinstance(score, dict):
        if "target" in score:
            yield ("score", "target"), score["target"]
        if isinstance(score.get("judge"), dict) and "task" in score["judge"]:
            yield ("score", "judge", "task"), score["judge"]["task"]
    if isinstance(judge, str):
        yield ("judge",), judge
    elif isinstance(judge, dict) and "task" in judge:
        yield ("judge", "task"), judge["task"]


#: What splits a check of ``eval``.
CONTAINS = " contains "


def conditions(spec: Mapping[str, Any]) -> Iterable[tuple[tuple[str | int, ...], str, bool]]:
    """The conditions of a phase: steps, text, and whether it is a condition or a template."""
    if isinstance(spec.get("when"), str):
        yield ("when",), spec["when"], True
    if isinstance(spec.get("eval"), list):
        for index, check in enumerate(spec["eval"]):
            if isinstance(check, str):
                left, found, _ = check.partition(CONTAINS)
                yield ("eval", index), left, not found


def references(spec: Mapping[str, Any]) -> Iterable[tuple[tuple[str | int, ...], str]]:
    """The names in the placeholders of a phase, each with the steps to its template.

    Fields that phases of its type do not have are passed over.
    """
    kind = spec.get("type", "agent")
    for path, text in templates(spec):
        if isinstance(text, str) and "{" in text and kind in PHASE_KEYS[str(path[0])].types:
            for name in _native.references(text):
                yield path, name
    for path, text, condition in conditions(spec):
        if "{" in text and kind in PHASE_KEYS[str(path[0])].types:
            for name in _native.references(text, condition=condition):
                yield path, name
