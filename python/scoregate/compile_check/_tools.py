"""Where the compilers are: absolute paths, found once, never in the folder of a check."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path


class UnavailableError(Exception):
    """A compiler that is not there; the message says what is missing."""


def _search_path() -> str:
    """The folders of PATH that are named in full: no other depends on the current folder."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if os.path.isabs(folder))


def tool(name: str) -> str:
    """The absolute path of a program.

    Raises:
        UnavailableError: there is none.
    """
    found = shutil.which(name, path=_search_path())
    if found is None:
        raise UnavailableError(f"{name} is not installed")
    return os.path.abspath(found)


def rustc() -> str:
    """The compiler itself: what stands on PATH may be a proxy that looks for one, or fetches it."""
    return _rustc(tool("rustc"))


@cache
def _rustc(proxy: str) -> str:
    try:
        ran = subprocess.run(  # noqa: S603
            [proxy, "--print", "sysroot"],
            capture_output=True,
            text=True,
            timeout=30,
            cwd="/",
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        raise UnavailableError("rustc does not answer") from None
    found = os.path.join(ran.stdout.strip(), "bin", "rustc")
    if ran.returncode != 0 or not os.path.isabs(found) or not os.path.isfile(found):
        raise UnavailableError("rustc has no toolchain")
    return found


def javac() -> str:
    """The compiler itself, which stands with its library."""
    return os.path.realpath(tool("javac"))


def typescript() -> str:
    """The library of the TypeScript compiler that ``tsc`` on PATH belongs to.

    Raises:
        UnavailableError: there is none, or it has no library for other programs.
    """
    try:
        command = Path(tool("tsc"))
    except UnavailableError:
        raise UnavailableError("tsc is not installed") from None
    real = command.resolve()
    # A link into the package, or a script beside the packages or in the prefix of all.
    places = [
        real.parent.parent,
        command.parent.parent / "typescript",
        command.parent / "node_modules" / "typescript",
        command.parent.parent / "lib" / "node_modules" / "typescript",
    ]
    for place in places:
        library = place / "lib" / "typescript.js"
        if library.is_file():
            return str(library.resolve())
    raise UnavailableError(
        f"tsc at {command} has no typescript.js beside it (TypeScript 6 or older)"
    )


def python_module(name: str) -> str:
    """The Python of this process, where it has a module.

    Raises:
        UnavailableError: it has not.
    """
    if find_spec(name) is None:
        raise UnavailableError(f"the Python package {name} is not installed")
    return sys.executable
