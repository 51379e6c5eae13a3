"""What people see of a run: a live tree of phases on a terminal, else a line a phase."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Self

from rich.live import Live
from rich.text import Text
from rich.tree import Tree

from . import look
from .common import stdout

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import RenderableType

    from ..flow import Flow, FlowResult, PhaseState

_STYLES = {
    "pending": "bright_black",
    "running": "cyan",
    "done": "green",
    "blocked": "bold red",
    "failed": "bold red",
    "skipped": "bright_black",
    "cancelled": "yellow",
}

#: Larger flows are shown by what is at work.
_MOST_SHOWN = 60

#: A reason is cut to so many characters.
_REASON = 160


class Watch:
    """Shows the phases of a run while they change.

    Args:
        flow: the flow.
        aside: whether standard output is for something else.
    """

    def __init__(self, flow: Flow, *, aside: bool) -> None:
        self._flow = flow
        self._states: dict[str, PhaseState] = {}
        self._view = look.console(sys.stderr if aside else stdout())
        self._live = Live(console=self._view, get_renderable=self._tree, refresh_per_second=8)
        self._moving = self._view.is_terminal

    def __call__(self, state: PhaseState) -> None:
        """Takes a change."""
        self._states[state.id] = state
        if not self._moving and state.status != "running":
            self._view.print(_words(state.id, state), soft_wrap=True)
            for warning in state.warnings:
                look.tell("warning", f"Phase '{state.id}': {warning}")

    def end(self, result: FlowResult) -> None:
        """Shows what a run came to."""
        self._states.update(result.phases)
        self._stop()
        if self._moving:
            for state in result.phases.values():
                for warning in state.warnings:
                    look.tell("warning", f"Phase '{state.id}': {warning}")
        counts = Counter(state.status for state in result.phases.values())
        words = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        usage = result.usage
        line = Text.assemble((result.status, _STYLES[result.status]), f": {words}")
        line.append(f"; {usage.calls:,} calls, {usage.tokens:,} tokens")
        if usage.usd:
            line.append(f", cost {usage.usd:.4f}")
        if result.reason is not None:
            line.append(f"; {result.reason}")
        self._view.print(line, soft_wrap=True)

    def _tree(self) -> RenderableType:
        tree = Tree(Text(look.printable(self._flow.name), "bold"))
        if len(self._flow.phases) > _MOST_SHOWN:
            counts = Counter(state.status for state in self._states.values())
            for status, count in counts.items():
                tree.add(Text(f"{count:,} {status}", _STYLES[status]))
            at_work = [s for s in self._states.values() if s.status == "running"]
            for state in at_work[:_MOST_SHOWN]:
                tree.add(_words(state.id, state))
            return tree
        branches: dict[str, Tree] = {}
        # A phase hangs under the last that it waits for; one that comes later in the file has to
        # wait until that one is there.
        left = list(self._flow.phases.values())
        while left:
            later = []
            for phase in left:
                last = phase.depends_on[-1] if phase.depends_on else None
                if last is not None and last not in branches:
                    later.append(phase)
                    continue
                above = tree if last is None else branches[last]
                branches[phase.id] = above.add(_words(phase.id, self._states.get(phase.id)))
            left = later
        return tree

    def _stop(self) -> None:
        if self._live.is_started:
            self._live.stop()

    def __enter__(self) -> Self:
        """Starts the tree."""
        if self._moving:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leaves it as it is."""
        self._stop()


def _words(id: str, state: PhaseState | None) -> Text:
    """A phase: status, time, tokens, verdict, reason."""
    status = "pending" if state is None else state.status
    line = Text.assemble(f"{id}: ", (status, _STYLES[status]))
    if state is None:
        return line
    if state.seconds is not None:
        line.append(f" in {look.duration(state.seconds)}", style="bright_black")
    if state.usage.calls:
        line.append(f", {state.usage.tokens:,} tokens", style="bright_black")
    if state.verdict is not None:
        by = f" by {state.gate['decidedBy']}" if state.gate is not None else ""
        line.append(f", {state.verdict}{by}")
    if state.reason is not None and state.status != "done":
        reason = look.printable(state.reason)
        line.append(f": {reason if len(reason) <= _REASON else reason[:_REASON] + '…'}")
    return line
