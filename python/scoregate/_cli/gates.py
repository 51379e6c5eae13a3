"""Gate files: a bare score block, a gate phase, or a flow with gate phases."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import _native
from .._documents import Document, fault, read_document
from .._errors import SpecError, SpecIssue
from .._files import reason
from .._gate import Gate
from .._limits import COMPILE_TIMEOUT

if TYPE_CHECKING:
    from ..flow import Flow


@dataclass(frozen=True, slots=True)
class GateSpec:
    """A score block that a gate file holds.

    Attributes:
        document: the file.
        part: the steps from the file's value to the score block; none for a bare score block.
        phase: the id of its phase; None for a bare score block or a phase without an id.
        skipped: what the phase also does and the command line does not: ``eval``, ``task``.
        repeated: what is to be said of keys that the file repeats.
        in_flow: whether the block is a phase's, whose flow fills placeholders.
    """

    document: Document
    part: tuple[str | int, ...] = ()
    phase: str | None = None
    skipped: tuple[str, ...] = ()
    repeated: tuple[SpecIssue, ...] = ()
    in_flow: bool = False

    def build(
        self, *, compile_timeout: float = COMPILE_TIMEOUT, compile_cache: str | None = None
    ) -> Gate:
        """Builds the gate; the options are those of ``Gate``.

        Raises:
            SpecError: the score block is malformed; its issues name the phase.
        """
        try:
            return Gate._of(self._native(), compile_timeout, compile_cache)
        except SpecError as error:
            raise SpecError([self.place(issue) for issue in self._located(error.issues)]) from None

    def warnings(self, gate: Gate) -> list[SpecIssue]:
        """What the author of the gate should know."""
        found = self._located(gate._native.warnings())
        return [*self.repeated, *(self.place(issue) for issue in found)]

    def _native(self) -> _native.Gate:
        spec = self.document.spec
        if isinstance(spec, str):
            return _native.Gate(spec, part=list(self.part))
        for step in self.part:
            spec = spec[step]
        return _native.Gate(spec)

    def _located(self, issues: list[SpecIssue]) -> list[SpecIssue]:
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.part)
        return self.document.locate(issues, "score" + "".join(steps))

    def place(self, issue: SpecIssue) -> SpecIssue:
        """An issue of the score block, with its phase."""
        return issue if self.phase is None else issue.within(f"Phase '{self.phase}'")


def read_gate(path: str, phase: str | None = None) -> GateSpec:
    """The score block of a gate file: the one of the phase, or the only one.

    Raises:
        SpecError: the file cannot be read, is not JSON, or leaves open which block is meant.
    """
    found = read_gates(path, phase)
    if len(found) > 1:
        ids = ", ".join(str(spec.phase) for spec in found)
        raise fault("many_gates", f"holds {len(found)} gates; choose one with --phase: {ids}")
    return found[0]


def read_gates(path: str, phase: str | None = None) -> list[GateSpec]:
    """The score blocks of a gate file, at least one.

    Raises:
        SpecError: the file cannot be read, is not JSON, or holds no such block.
    """
    document = read_document(_read(path), path, "")
    value = document.spec
    if isinstance(value, str):
        value = _value(value)
    return _blocks(document, value, phase)


def _blocks(document: Document, value: Any, phase: str | None) -> list[GateSpec]:
    """The score blocks of a value."""
    if isinstance(value, dict) and "scorers" not in value:
        if "phases" in value:
            return _told(_flow_gates(document, value["phases"], phase))
        if "score" in value:
            return _told([_own_gate(document, value, phase)])
    if phase is not None:
        message = f"holds a score block, not a flow: there is no phase '{phase}'"
        raise fault("unknown_phase", message)
    return [GateSpec(document)]


def read_flow(path: str, *, untrusted: bool = False) -> Flow:
    """The flow of a file.

    Raises:
        SpecError: the file cannot be read, is not text in its language, or holds what an untrusted
            flow may not.
    """
    from ..flow import Flow

    return Flow.of_document(read_document(_read(path), path, ""), untrusted=untrusted)


def read_any(path: str) -> tuple[Flow | None, list[GateSpec]]:
    """The flow of a file, or None where it holds only a gate, and every score block.

    Raises:
        SpecError: the file cannot be read, is not JSON, or holds neither.
    """
    from ..flow import Flow

    document = read_document(_read(path), path, "")
    value = document.spec
    if isinstance(value, str):
        value = _value(value)
    if not isinstance(value, dict) or "scorers" in value or "phases" not in value:
        return None, _blocks(document, value, None)
    flow = Flow.of_document(document)
    gates = [
        _phase_gate(document, phase, ("phases", index, "score"))
        for index, phase in _gate_phases(value["phases"])
    ]
    return flow, gates


def _value(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        SpecError: it is not JSON.
    """
    try:
        return _native.extract_json(_native.strict_json(text))
    except SpecError as error:
        # The whole file is at fault, not its score block.
        made = [
            SpecIssue(i.kind, "", i.message, hint=i.hint, line=i.line, column=i.column)
            for i in error.issues
        ]
        raise SpecError(made) from None


def _told(specs: list[GateSpec]) -> list[GateSpec]:
    """The score blocks, the first with what is said of the whole file."""
    text = specs[0].document.spec
    if not isinstance(text, str):
        return specs
    return [replace(specs[0], repeated=tuple(_native.repeated_keys(text))), *specs[1:]]


#: A gate that is longer is none.
_MOST_BYTES = 64 << 20


def _read(path: str) -> bytes:
    try:
        if path == "-":
            if sys.stdin is None:
                raise fault("unreadable", "standard input is closed")
            data = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise fault("unreadable", reason(error)) from error
    if len(data) > _MOST_BYTES:
        raise fault("too_large", "holds more than 64 MiB, which is no gate")
    return data


def _gate_phases(phases: Any) -> list[tuple[int, dict[str, Any]]]:
    """The gate phases with a score block, each with its place."""
    return [
        (index, phase)
        for index, phase in enumerate(phases if isinstance(phases, list) else [])
        if isinstance(phase, dict) and phase.get("type") == "gate" and "score" in phase
    ]


def _flow_gates(document: Document, phases: Any, wanted: str | None) -> list[GateSpec]:
    if not isinstance(phases, list):
        raise fault("wrong_type", "must be an array of phases", path="phases")
    named = [phase for phase in phases if isinstance(phase, dict)]
    gates = _gate_phases(phases)
    ids = ", ".join(str(phase.get("id")) for _, phase in gates)
    if not gates:
        raise fault("no_gate", "holds no gate phase with a score block")
    specs = [_phase_gate(document, phase, ("phases", index, "score")) for index, phase in gates]
    if wanted is None:
        return specs
    for spec, (_, phase) in zip(specs, gates, strict=True):
        if phase.get("id") == wanted:
            return [spec]
    if any(phase.get("id") == wanted for phase in named):
        message = f"is no gate phase with a score block (those: {ids})"
        raise fault("unknown_phase", message, path=f"Phase '{wanted}'")
    message = f"has no phase '{wanted}' (gate phases with a score block: {ids})"
    raise fault("unknown_phase", message)


def _own_gate(document: Document, phase: dict[str, Any], wanted: str | None) -> GateSpec:
    kind = phase.get("type", "gate")
    if kind != "gate":
        raise fault("no_gate", f"expected a gate phase, got '{kind}'", path="type")
    if wanted is not None and phase.get("id") != wanted:
        raise fault("unknown_phase", f"holds the phase '{phase.get('id')}', not '{wanted}'")
    return _phase_gate(document, phase, ("score",))


def _phase_gate(document: Document, phase: dict[str, Any], part: tuple[str | int, ...]) -> GateSpec:
    name = phase.get("id")
    skipped = tuple(key for key in ("eval", "task") if phase.get(key) is not None)
    name = name if isinstance(name, str) else None
    return GateSpec(document, part, name, skipped, in_flow=True)


def same_file(first: str, second: str) -> bool:
    """Whether two paths name one file."""
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False
