"""What an import costs and brings."""

from __future__ import annotations

import subprocess
import sys

HEAVY = [
    "asyncio",
    "openai",
    "sqlite3",
    "scoregate.judge",
    "subprocess",
    "rich",
    "typer",
    "dataclasses",
    "inspect",
    "json",
    "typing_extensions",
]


def test_import_loads_nothing_heavy() -> None:
    code = f"import sys; before = set(sys.modules); import scoregate; new = set(sys.modules) - before; print(sorted(new & set({HEAVY!r})))"
    out = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout == "[]\n"


def test_the_module_is_a_release_build_with_a_version() -> None:
    import scoregate
    from scoregate import _native

    assert scoregate.__version__ == _native.__version__
    assert _native.BUILD_PROFILE in ("release", "debug")
    for name in scoregate.__all__:
        assert hasattr(scoregate, name), name
