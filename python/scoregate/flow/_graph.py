"""The graph of a flow, as Mermaid and as SVG, with the statuses of a run where they are given."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from ._reach import order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._flow import Flow
    from ._phase import Phase
    from ._state import PhaseState

#: How a status is coloured: fill and border.
_COLOURS = {
    "pending": ("#f6f8fa", "#8c959f"),
    "running": ("#ddf4ff", "#0969da"),
    "done": ("#dafbe1", "#1a7f37"),
    "blocked": ("#ffebe9", "#cf222e"),
    "failed": ("#ffd8d3", "#82071e"),
    "skipped": ("#eaeef2", "#8c959f"),
    "cancelled": ("#fff8c5", "#9a6700"),
}

#: The two ends of a node in Mermaid, by the type of the phase.
_SHAPES = {
    "agent": ("[", "]"),
    "gate": ("{{", "}}"),
    "tournament": ("([", "])"),
    "script": ("[[", "]]"),
}


def mermaid(flow: Flow, states: Mapping[str, PhaseState] | None = None) -> str:
    """The graph as a Mermaid diagram.

    Args:
        flow: a flow that can be run.
        states: what is known of its phases.

    Raises:
        SpecError: the flow cannot be run.

    Examples:
        >>> from scoregate.flow import Flow, mermaid
        >>> flow = Flow({"name": "a", "phases": [{"id": "write", "task": "Write."}]})
        >>> print(mermaid(flow))
        flowchart TD
          n0["write"]
    """
    flow.runnable()
    numbers = {id: number for number, id in enumerate(flow.phases)}
    lines = ["flowchart TD"]
    for id, phase in flow.phases.items():
        left, right = _SHAPES[phase.type]
        lines.append(f'  n{numbers[id]}{left}"{_label(phase, states)}"{right}')
    for id, phase in flow.phases.items():
        arrow = "-.->" if phase.join == "any" else "-->"
        lines += [f"  n{numbers[other]} {arrow} n{numbers[id]}" for other in phase.depends_on]
    if states:
        for status in dict.fromkeys(state.status for state in states.values()):
            fill, border = _COLOURS[status]
            lines.append(f"  classDef {status} fill:{fill},stroke:{border},color:#1f2328")
        for id, number in numbers.items():
            if id in states:
                lines.append(f"  class n{number} {states[id].status}")
    return "\n".join(lines)


def _label(phase: Phase, states: Mapping[str, PhaseState] | None) -> str:
    state = states.get(phase.id) if states else None
    return phase.id if state is None else f"{phase.id}<br>{_words(state)}"


def _words(state: PhaseState) -> str:
    """A status, and how long it took."""
    seconds = state.seconds if state.ended_at is not None else None
    return state.status if seconds is None else f"{state.status} {seconds:.1f} s"


class _Box(NamedTuple):
    """Where a phase is drawn."""

    x: float
    y: float
    width: float


_HEIGHT, _GAP, _LETTER, _MARGIN = 44, 40, 8.0, 20


def svg(flow: Flow, states: Mapping[str, PhaseState] | None = None) -> str:
    """The graph as an SVG image.

    A phase stands under everything that it waits for.

    Args:
        flow: a flow that can be run.
        states: what is known of its phases.

    Raises:
        SpecError: the flow cannot be run.

    Examples:
        >>> from scoregate.flow import Flow, svg
        >>> flow = Flow({"name": "a", "phases": [{"id": "write", "task": "Write."}]})
        >>> svg(flow).startswith("<svg ")
        True
    """
    flow.runnable()
    boxes = _places(list(flow.phases.values()))
    width = max(box.x + box.width for box in boxes.values()) + _MARGIN
    height = max(box.y for box in boxes.values()) + _HEIGHT + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" font-family="system-ui, sans-serif">',
        f"<title>{escape(flow.name)}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#57606a"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
    ]
    for id, phase in flow.phases.items():
        for other in phase.depends_on:
            parts.append(_line(boxes[other], boxes[id], dashed=phase.join == "any"))
    for id, phase in flow.phases.items():
        parts.append(_shape(phase, boxes[id], states.get(id) if states else None))
    return "\n".join([*parts, "</svg>"])


def _places(phases: list[Phase]) -> dict[str, _Box]:
    """Rows by how many phases have to run before; each row is centred."""
    numbers = {phase.id: number for number, phase in enumerate(phases)}
    after = [[numbers[id] for id in phase.depends_on] for phase in phases]
    rows = [0] * len(phases)
    for number in order(after):
        rows[number] = max((rows[other] + 1 for other in after[number]), default=0)
    lines: list[list[Phase]] = [[] for _ in range(max(rows) + 1)]
    for number, phase in enumerate(phases):
        lines[rows[number]].append(phase)
    widths = {phase.id: max(110.0, _LETTER * len(phase.id) + 28) for phase in phases}
    spans = [sum(widths[p.id] for p in line) + _GAP * (len(line) - 1) for line in lines]
    boxes = {}
    for row, line in enumerate(lines):
        x = _MARGIN + (max(spans) - spans[row]) / 2
        for phase in line:
            boxes[phase.id] = _Box(x, _MARGIN + row * (_HEIGHT + _GAP), widths[phase.id])
            x += widths[phase.id] + _GAP
    return boxes


def _line(start: _Box, end: _Box, *, dashed: bool) -> str:
    x1, y1 = start.x + start.width / 2, start.y + _HEIGHT
    x2, y2 = end.x + end.width / 2, end.y
    middle = (y1 + y2) / 2
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    path = f"M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"
    return f'<path d="{path}" fill="none" stroke="#57606a"{dash} marker-end="url(#tip)"/>'


def _shape(phase: Phase, box: _Box, state: PhaseState | None) -> str:
    fill, border = _COLOURS["pending" if state is None else state.status]
    round_by = {"gate": 0, "tournament": 22}.get(phase.type, 6)
    words = phase.type if state is None else f"{phase.type}, {_words(state)}"
    reason = (
        "" if state is None or state.reason is None else f"<title>{_safe(state.reason)}</title>"
    )
    middle = box.x + box.width / 2
    return (
        f'<g>{reason}<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{_HEIGHT}" '
        f'rx="{round_by}" fill="{fill}" stroke="{border}" stroke-width="1.5"/>'
        f'<text x="{middle:g}" y="{box.y + 19:g}" text-anchor="middle" font-size="14" '
        f'fill="#1f2328">{escape(phase.id)}</text>'
        f'<text x="{middle:g}" y="{box.y + 35:g}" text-anchor="middle" font-size="11" '
        f'fill="#57606a">{escape(words)}</text></g>'
    )


def _safe(text: str) -> str:
    """Text that XML can hold."""
    return escape("".join(c if c.isprintable() or c == "\n" else "�" for c in text))
