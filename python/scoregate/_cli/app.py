"""The application: its commands and its exit code."""

from __future__ import annotations

import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer
from typer import rich_utils

from .._files import reason
from .._native import __version__
from . import cache, check, doctor, flows, json, look, replies, score, start
from .common import BROKEN, OK, exit_codes, stdout
from .guesses import Guesses
from .talk import forget, guarded_streams

if TYPE_CHECKING:
    from types import FrameType

# The examples in the help are to be read, so they are not dimmed.
rich_utils.STYLE_HELPTEXT = ""

app = typer.Typer(
    cls=Guesses,
    name="scoregate",
    help="Deterministic scoring gates for LLM output.\n\n"
    "A gate says what good output looks like: a phrase, a pattern, a JSON schema, a length. "
    "scoregate runs it on files of outputs without spending a token.",
    epilog="Start with: scoregate demo, then scoregate init.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        with exit_codes():
            stdout().write(f"scoregate {__version__}\n")
        raise typer.Exit(OK)


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", help="Show the version.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


# The help lists the commands in this order.
for _group in (start, score, check, flows, json, replies, cache, doctor):
    app.add_typer(_group.app)


def run(arguments: list[str] | None = None) -> int:
    """Runs the command line, or these arguments of it, and gives its exit code."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    with suppress(ValueError):  # only the main thread may
        signal.signal(signal.SIGINT, _Interrupt())
        signal.signal(signal.SIGTERM, _terminated)
        # A terminal that closes; Windows has no such signal.
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, _terminated)
    try:
        with guarded_streams():
            try:
                app(arguments, prog_name="scoregate")
            except OSError as error:  # a help text on a full disk
                look.tell("error", f"standard output: cannot be written: {reason(error)}")
                forget(sys.stdout)
                return BROKEN
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else OK if end.code is None else BROKEN
    return OK


class _Interrupt:
    """Ends the run at Ctrl-C; a second one right behind it is the same wish."""

    def __init__(self) -> None:
        self._last = float("-inf")

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Takes the signal."""
        now = time.monotonic()
        if now - self._last > _MOMENT:
            self._last = now
            raise KeyboardInterrupt


#: Signals that come within so many seconds are one.
_MOMENT = 0.5


def _terminated(number: int, frame: FrameType | None) -> None:
    # Unwinding removes unfinished files.
    raise SystemExit(128 + number)
