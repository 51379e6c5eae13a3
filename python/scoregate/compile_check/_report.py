"""Which compilers there are, and what isolation the machine gives."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from . import _registry as registry
from . import _tools as tools
from ._process import Command, ProcessError, run

#: What a run may be kept from, in words.
GUARDS = {
    "network": "a network namespace without a network",
    "processes": "a process namespace, which ends as a whole",
    "files": "only the compiler's own files and the folder of the check can be read (Landlock)",
    "connections": "no TCP connections (Landlock)",
}


@dataclass(frozen=True)
class CompilerFound:
    """The compiler of a language.

    Attributes:
        language: the language.
        path: the compiler, or None.
        version: what it says of itself, or None.
        missing: why there is none, or None.
        worker: whether one process checks many pieces of code.
    """

    language: str
    path: str | None
    version: str | None
    missing: str | None
    worker: bool


@dataclass(frozen=True)
class Report:
    """What compiling needs, and what is there.

    Attributes:
        compilers: by language.
        isolation: by guard, whether this machine gives it: ``network``, ``processes``, ``files``,
            ``connections``.
        problem: why nothing can be run at all, or None.
    """

    compilers: tuple[CompilerFound, ...]
    isolation: dict[str, bool] = field(default_factory=dict)
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        compilers = [
            {
                "language": found.language,
                "path": found.path,
                "version": found.version,
                "missing": found.missing,
                "worker": found.worker,
            }
            for found in self.compilers
        ]
        return {"compilers": compilers, "isolation": self.isolation, "problem": self.problem}


def doctor() -> Report:
    """Looks for every compiler, and tries what isolation there is."""
    found = tuple(_look(name) for name in registry.languages())
    try:
        ended = run(Command((sys.executable, "-I", "-S", "-c", ""), None, _own()), b"", 30.0)
    except ProcessError as error:
        return Report(found, problem=str(error))
    given = {name: name in ended.isolation for name in GUARDS}
    return Report(found, given, ended.unavailable)


def _own() -> tuple[str, ...]:
    return tuple(dict.fromkeys([sys.prefix, sys.base_prefix]))


def _look(name: str) -> CompilerFound:
    language = registry.find(name)
    assert language is not None  # noqa: S101
    try:
        commands = language.commands(b"")
    except tools.UnavailableError as error:
        return CompilerFound(name, None, None, str(error), False)
    path = commands[0].argv[0]
    version = _version(path, language.version)
    if "typescript" in commands[0].argv:
        place = os.path.dirname(os.path.dirname(tools.typescript()))
        with suppress(OSError, ValueError, KeyError):
            import json

            with open(os.path.join(place, "package.json"), encoding="utf-8") as file:
                version = f"TypeScript {json.load(file)['version']}"
        path = place
    return CompilerFound(name, path, version, None, language.worker is not None)


def _version(path: str, arguments: tuple[str, ...]) -> str | None:
    """The first line that a compiler says of itself."""
    if not arguments:
        return None
    try:
        ran = subprocess.run(  # noqa: S603
            [path, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            cwd="/",
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (ran.stdout or ran.stderr).strip().splitlines()
    return lines[0].strip() if lines and ran.returncode == 0 else None
