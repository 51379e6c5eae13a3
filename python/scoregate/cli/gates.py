"""Gate files: a bare score block, a gate phase, or a flow with gate phases."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from typing import Any

from .. import _native
from ..errors import SpecError
from ..files import reason
from ..gate import Gate


@dataclass(frozen=True, slots=True)
class GateSpec:
    """A score block that a gate file holds.

    Attributes:
        block: the score block, as JSON text or as a JSON value.
        phase: the id of its phase; None for a bare score block or a phase without an id.
        skipped: what the phase also does and the command line does not: ``eval``, ``task``.
        repeated: what is to be said of keys that the file repeats, where the block is not text.
        in_flow: whether the block is a phase's, whose flow fills placeholders.
    """

    block: Any
    phase: str | None = None
    skipped: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    in_flow: bool = False

    def build(self) -> Gate:
        """Builds the gate.

        Raises:
            SpecError: the score block is malformed; its errors name the phase.
        """
        try:
            return Gate(self.block)
        except SpecError as error:
            errors, hints = (
                [self.place(message) for message in found] for found in (error.errors, error.hints)
            )
            raise SpecError(errors, hints=hints) from None

    def place(self, message: str) -> str:
        """A message about the score block, with its phase."""
        return message if self.phase is None else f"Phase '{self.phase}': {message}"


def read_gate(path: str, phase: str | None = None) -> GateSpec:
    """The score block of a gate file: the one of the phase, or the only one.

    Raises:
        SpecError: the file cannot be read, is not JSON, or leaves open which block is meant.
    """
    found = read_gates(path, phase)
    if len(found) > 1:
        ids = ", ".join(str(spec.phase) for spec in found)
        raise SpecError([f"holds {len(found)} gates; choose one with --phase: {ids}"])
    return found[0]


def read_gates(path: str, phase: str | None = None) -> list[GateSpec]:
    """The score blocks of a gate file, at least one.

    Raises:
        SpecError: the file cannot be read, is not JSON, or holds no such block.
    """
    text = _read(path)
    try:
        _native.Gate(text)
    except SpecError as error:
        # Every other error is about the shape of JSON that can be read.
        if error.errors[0].startswith("score: not JSON: "):
            raise SpecError([error.errors[0].removeprefix("score: ")]) from None
    value = _native.extract_json(text)
    if (
        isinstance(value, dict)
        and "scorers" not in value
        and ("phases" in value or "score" in value)
    ):
        flow = "phases" in value
        found = _flow_gates(value["phases"], phase) if flow else [_own_gate(value, phase)]
        # The file is told of once.
        return [replace(found[0], repeated=tuple(_native.repeated_keys(text))), *found[1:]]
    if phase is not None:
        raise SpecError([f"holds a score block, not a flow: there is no phase '{phase}'"])
    return [GateSpec(text)]


def _read(path: str) -> str:
    try:
        if path == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                data = file.read()
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise SpecError([f"not UTF-8 text (byte {error.start})"]) from error
    except (OSError, ValueError) as error:
        raise SpecError([reason(error)]) from error


def _flow_gates(phases: Any, wanted: str | None) -> list[GateSpec]:
    if not isinstance(phases, list):
        raise SpecError(["phases: must be an array of phases"])
    named = [phase for phase in phases if isinstance(phase, dict)]
    gates = [phase for phase in named if phase.get("type") == "gate" and "score" in phase]
    ids = ", ".join(str(phase.get("id")) for phase in gates)
    if not gates:
        raise SpecError(["holds no gate phase with a score block"])
    if wanted is None:
        return [_phase_gate(phase) for phase in gates]
    for phase in gates:
        if phase.get("id") == wanted:
            return [_phase_gate(phase)]
    if any(phase.get("id") == wanted for phase in named):
        raise SpecError([f"Phase '{wanted}': is no gate phase with a score block (those: {ids})"])
    raise SpecError([f"has no phase '{wanted}' (gate phases with a score block: {ids})"])


def _own_gate(phase: dict[str, Any], wanted: str | None) -> GateSpec:
    kind = phase.get("type", "gate")
    if kind != "gate":
        raise SpecError([f"type: expected a gate phase, got '{kind}'"])
    if wanted is not None and phase.get("id") != wanted:
        raise SpecError([f"holds the phase '{phase.get('id')}', not '{wanted}'"])
    return _phase_gate(phase)


def _phase_gate(phase: dict[str, Any]) -> GateSpec:
    name = phase.get("id")
    skipped = tuple(key for key in ("eval", "task") if phase.get(key) is not None)
    name = name if isinstance(name, str) else None
    return GateSpec(phase["score"], name, skipped, in_flow=True)


def same_file(first: str, second: str) -> bool:
    """Whether two paths name one file."""
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False
