"""What the commands share: help texts, inputs, and how a run ends."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import typer

from .._errors import (
    CacheError,
    InputError,
    JudgeError,
    OutputError,
    SpecError,
    TooManyBadRowsError,
)
from .._files import reason
from . import look
from .talk import forget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._errors import SpecIssue

OK, UNDER, USAGE, BROKEN, TOO_MANY, INTERRUPTED, CLOSED = 0, 1, 2, 3, 4, 130, 141


class UsageError(Exception):
    """Options that contradict each other; the message says how.

    Args:
        message: what is wrong.
        hint: what may be meant.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def help_text(intro: str, *examples: tuple[str, str]) -> str:
    """The help of a command: what it does, then commands to copy, each with what it gives."""
    shown = [f"[cyan]{command}[/cyan]\n{gives}" for command, gives in examples]
    return "\n\n".join([intro, "[bold]Examples[/bold]", *shown])


@contextmanager
def exit_codes() -> Iterator[None]:
    """Tells what went wrong in a line and ends with the exit code for it."""
    try:
        try:
            yield
            if sys.stdout is not None:
                sys.stdout.flush()
        except KeyboardInterrupt:
            look.tell("error", "interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except TooManyBadRowsError as error:
            look.tell("error", str(error))
            raise typer.Exit(TOO_MANY) from None
        except (InputError, OutputError, CacheError, JudgeError) as error:
            look.tell("error", str(error))
            raise typer.Exit(BROKEN) from None
        except UsageError as error:
            look.tell("error", str(error))
            if error.hint is not None:
                look.tell("hint", error.hint)
            raise typer.Exit(USAGE) from None
    except BrokenPipeError:
        forget(sys.stdout)
        raise typer.Exit(CLOSED) from None
    except OSError as error:
        forget(sys.stdout)
        # An error that names no file is that of standard output: inputs tell theirs themselves.
        name = error.filename or "standard output"
        look.tell("error", f"{name}: cannot be written: {reason(error)}")
        raise typer.Exit(BROKEN) from None
    except (typer.Exit, typer.BadParameter, SystemExit):
        raise
    except MemoryError:
        look.tell("error", "out of memory")
        raise typer.Exit(BROKEN) from None
    except BaseException:
        import traceback

        look.tell("error", "this is a bug in scoregate; please report it with what follows")
        traceback.print_exc()
        raise typer.Exit(BROKEN) from None


def stdout() -> TextIO:
    """Standard output.

    Raises:
        OutputError: it is closed.
    """
    if sys.stdout is None:
        raise OutputError("standard output: is closed")
    return sys.stdout


def shown(place: str) -> str:
    """A place as messages name it."""
    return "<stdin>" if place == "-" else place


def plural(count: int, noun: str) -> str:
    """A count with its noun: ``1 row``, ``2,000 rows``."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


def refused(path: str, error: SpecError, text: str | None = None) -> typer.Exit:
    """Tells what is wrong with a gate file; the exit is for the caller to raise.

    Args:
        path: the file.
        error: what is wrong.
        text: what the file holds, of which the line at fault is shown on a terminal.
    """
    tell_issues("error", path, error.issues, text)
    return typer.Exit(USAGE)


#: So many hints and lines are shown: nobody reads more.
_MOST_SHOWN = 8


def tell_issues(kind: str, path: str, issues: Sequence[SpecIssue], text: str | None) -> None:
    """Tells issues of a gate file, each with its place in it."""
    lines = text.split("\n") if text is not None and look.on_terminal() else []
    hints = 0
    for number, issue in enumerate(issues):
        place = "" if issue.line is None else f":{issue.line}:{issue.column}"
        look.tell(kind, f"{shown(path)}{place}: {issue}")
        if number < _MOST_SHOWN and issue.line is not None and issue.line <= len(lines):
            look.point(kind, issue.line, lines[issue.line - 1], issue.column or 1)
        if issue.hint is not None and hints < _MOST_SHOWN:
            hints += 1
            look.tell("hint", issue.hint)


def places(inputs: list[str] | None) -> list[str]:
    """The inputs that are named, else standard input.

    Raises:
        UsageError: none is, and a person sits at standard input.
    """
    if inputs:
        if inputs.count("-") > 1:
            raise UsageError("-: standard input can be read only once")
        return inputs
    if sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("no input: name a file of outputs, or pipe one in")
    return ["-"]
