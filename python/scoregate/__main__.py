"""The command line: ``scoregate`` and ``python -m scoregate``."""

from __future__ import annotations

import sys
from contextlib import suppress


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line, or these arguments of it, and gives its exit code."""
    try:
        from ._cli import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        message = "scoregate: the command line needs two packages: pip install typer rich"
        with suppress(OSError):  # nobody may read it
            print(message, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
