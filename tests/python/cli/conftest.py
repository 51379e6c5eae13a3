from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("typer")
pytest.importorskip("rich")

GATE = {"scorers": [{"type": "contains", "value": "ok", "name": "says-ok"}]}


@dataclass
class Ran:
    """What a run of the command line gave."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Cli:
    """Runs ``python -m scoregate`` in a folder of its own, which holds gate.json."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.argv = [sys.executable, "-m", "scoregate"]
        self.env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
        self.write("gate.json", json.dumps(GATE))

    def write(self, name: str, data: str | bytes) -> str:
        (self.folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def rows(self, name: str, *texts: Any) -> str:
        return self.write(name, "".join(json.dumps({"output": text}) + "\n" for text in texts))

    def __call__(self, *args: str, stdin: str | bytes | None = None, env: Any = None) -> Ran:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [*self.argv, *args],
            cwd=self.folder,
            env={**self.env, **(env or {})},
            capture_output=True,
            timeout=120,
            check=False,
            input=data or b"",
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in err, err
        return Ran(done.returncode, out, err)

    def score(self, *args: str, **options: Any) -> Ran:
        return self("score", "gate.json", *args, **options)

    @property
    def files(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)
