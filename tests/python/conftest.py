"""What the tests share."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A build must not depend on luck: in CI the examples are the same each time; a developer's run
# looks at new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"


# `make test` installs what package.json of tests/tools names.
os.environ["PATH"] = os.pathsep.join(
    [str(ROOT / "target" / "node" / "node_modules" / ".bin"), os.environ.get("PATH", os.defpath)]
)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a table; lines end at line feeds alone."""
    text = path.read_bytes().decode()
    return [json.loads(line) for line in text.split("\n") if line]


def need(tool: str) -> str:
    """The path of a tool; skips where it is absent, unless SCOREGATE_REQUIRE names it."""
    found = shutil.which(tool)
    if found is None:
        if tool in os.environ.get("SCOREGATE_REQUIRE", "").split(","):
            pytest.fail(f"{tool} is required and absent")
        pytest.skip(f"{tool} is absent")
    return found
