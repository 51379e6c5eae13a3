"""Agents and flows for tests."""

from __future__ import annotations

import asyncio
import shlex
import sys
from typing import TYPE_CHECKING, Any

from scoregate.flow import Flow, FlowResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

GOOD = '{"status": "success", "data": [{"id": 1}], "message": "one user, as it was asked for"}'
BAD = '{"users": []}'

SCORERS = [{"type": "contains", "value": "ok"}]


class Script:
    """An agent that answers by rules and counts its calls."""

    def __init__(self, *replies: str | Exception, by: Mapping[str, str] | None = None) -> None:
        self.prompts: list[str] = []
        self._replies, self._by = list(replies), dict(by or {})

    @property
    def calls(self) -> int:
        return len(self.prompts)

    async def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        for part, answer in self._by.items():
            if part in prompt:
                return answer
        if not self._replies:
            raise AssertionError(prompt)
        reply = self._replies[min(len(self.prompts), len(self._replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply


def flow(*phases: dict[str, Any], **fields: Any) -> Flow:
    return Flow({"name": "f", "phases": list(phases), **fields})


def run(given: Flow | dict[str, Any], agents: Any = None, **options: Any) -> FlowResult:
    made = given if isinstance(given, Flow) else flow(given)
    return asyncio.run(made.run(agents, **options))


def statuses(result: FlowResult) -> dict[str, str]:
    return {id: state.status for id, state in result.phases.items()}


def command(folder: Path, code: str) -> str:
    """The name of an agent that is a Python program."""
    path = folder / f"agent{len(list(folder.glob('agent*.py')))}.py"
    path.write_text(code, encoding="utf-8")
    return f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def sleeper(seconds: float) -> Callable[[str], Any]:
    async def agent(prompt: str) -> str:
        await asyncio.sleep(seconds)
        return "late"

    return agent
