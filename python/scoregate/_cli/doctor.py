"""``doctor``: which compilers were found, and what isolation this machine gives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from . import look
from .common import BROKEN, exit_codes, help_text, stdout

if TYPE_CHECKING:
    from ..compile_check import CompilerFound

app = typer.Typer()


@app.command(
    help=help_text(
        "Show which compilers were found for code-compiles, and what isolation this machine gives.",
        ("scoregate doctor", "The compilers with their versions, by language."),
        ("scoregate doctor --json", "For other programs."),
    ),
    epilog="Exit codes: 0 done; 3 no compiler can be started.",
)
def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="The same, as one line of JSON.")
    ] = False,
) -> None:
    """Shows which compilers were found, and what isolation this machine gives."""
    with exit_codes():
        from ..compile_check import doctor as examine
        from ..compile_check._report import GUARDS

        report = examine()
        if as_json:
            stdout().write(json.dumps(report.to_dict()) + "\n")
        else:
            view = look.console(stdout())
            table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
            for found in report.compilers:
                table.add_row(Text(found.language, "bold cyan"), _compiler(found))
            look.show(table, view)
            view.print()
            guards = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
            for name, meaning in GUARDS.items():
                given = report.isolation.get(name, False)
                word = Text("yes", "green") if given else Text("no", "yellow")
                guards.add_row(word, Text(name), Text(meaning, "bright_black"))
            look.show(guards, view)
        if report.problem is not None:
            look.tell("error", f"no compiler can be started: {report.problem}")
            raise typer.Exit(BROKEN)


def _compiler(found: CompilerFound) -> Text:
    if found.path is None:
        return Text(f"not found: {found.missing}", "yellow")
    worker = "; one process checks many" if found.worker else ""
    version = "" if found.version is None else f"{look.printable(found.version)}  "
    return Text.assemble(version, (f"{look.printable(found.path)}{worker}", "bright_black"))
