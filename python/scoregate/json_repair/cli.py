"""The command ``json_repair``: it is ``scoregate repair``."""

from __future__ import annotations

import sys


def cli(inline_args: list[str] | None = None) -> int:
    """Runs ``scoregate repair`` with the arguments of the command line, and gives its exit code.

    Args:
        inline_args: the arguments, in place of those of the command line.
    """
    from ..__main__ import main

    arguments = sys.argv[1:] if inline_args is None else inline_args
    return main(["repair", *arguments])
