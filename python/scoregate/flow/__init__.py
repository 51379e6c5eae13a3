"""Flows: agents write, gates check, and what a gate lets through goes on.

>>> import asyncio
>>> from scoregate.flow import Flow
>>> flow = Flow({"name": "hello", "phases": [{"id": "greet", "task": "Greet {args.who}."}]})
>>> result = asyncio.run(flow.run(agents=lambda prompt: f"({prompt})", args={"who": "Ada"}))
>>> result["greet"].output
'(Greet Ada.)'
"""

from __future__ import annotations

from .._public import publish
from ._agents import Agents, Prices
from ._flow import Flow, run_phase
from ._graph import mermaid, svg
from ._phase import Phase
from ._record import read_record
from ._state import FlowResult, PhaseState, PhaseUsage, Status

__all__ = [
    "Agents",
    "Flow",
    "FlowResult",
    "Phase",
    "PhaseState",
    "PhaseUsage",
    "Prices",
    "Status",
    "mermaid",
    "read_record",
    "run_phase",
    "svg",
]

publish(__name__, __all__, globals())


def __dir__() -> list[str]:
    return sorted(__all__)
