"""``check``, ``schema``, ``scorers``: what gates are, and whether a file holds good ones."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .. import _native
from ..errors import SpecError
from . import judging, look, options
from .common import USAGE, exit_codes, help_text, refused, shown, stdout
from .gates import read_gates

app = typer.Typer()

Phase = Annotated[
    str | None,
    typer.Option("--phase", metavar="ID", help="Check one gate phase of a flow; by default, each."),
]


@app.command(
    help=help_text(
        "Check a gate file: every error with its path, and warnings.\n\n"
        "Exits with 2 when there are errors. Warnings name scorers that can never pass, schemas "
        "that let more pass than they seem to, and placeholders that nothing fills. Of a judge it "
        "says what is asked and what will be read.",
        ("scoregate check gate.json", "The gate of a file, or every gate of a flow."),
        ("jq .gate config.json | scoregate check -", "A gate on standard input."),
        ("scoregate check flow.json --phase review", "One gate phase of a flow."),
    )
)
def check(gate: options.GateFile, phase: Phase = None) -> None:
    """Checks a gate file."""
    with exit_codes():
        try:
            specs = read_gates(gate, phase)
        except SpecError as error:
            raise refused(gate, error) from None
        failed = False
        for spec in specs:
            try:
                built = spec.build()
            except SpecError as error:
                refused(gate, error)
                failed = True
                continue
            block = built.spec
            unfilled = [] if spec.in_flow else judging.placeholders(block)
            warnings = [*built.warnings(), *unfilled]
            for message in [*spec.repeated, *map(spec.place, warnings)]:
                look.tell("warning", f"{shown(gate)}: {message}")
            view = look.console(stdout())
            words = spec.place(_description(block))
            line = Text.assemble(("ok: ", "bold green"), look.printable(f"{shown(gate)}: {words}"))
            view.print(line, soft_wrap=True)
            for told in judging.judge_lines(block.get("judge")):
                view.print(Text(f"  {look.printable(told)}"), soft_wrap=True)
        if failed:
            raise typer.Exit(USAGE)


def _description(block: dict[str, Any]) -> str:
    scorers = block["scorers"]
    words = [f"{len(scorers)} scorer{'s' if len(scorers) != 1 else ''}"]
    mode = block.get("combine") or "all"
    words.append(f"combine {mode}")
    if mode == "weighted":
        words.append(f"threshold {block.get('threshold', 0.5)}")
    if "judge" in block:
        words.append("a judge")
    return ", ".join(words)


@app.command(
    help=help_text(
        "Print the JSON Schema of a score block.\n\n"
        "Editors that know it complete and check gates while they are written.",
        (
            "scoregate schema > gate.schema.json",
            "Then name that file in the editor's settings for gate files.",
        ),
    )
)
def schema() -> None:
    """Prints the JSON Schema of a score block."""
    with exit_codes():
        value = json.loads(_native.gate_schema())
        stdout().write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


@app.command(
    help=help_text(
        "List the scorer types, with their fields and an example each.",
        ("scoregate scorers", "What a gate can check."),
        ("scoregate scorers --json | jq -r .[].type", "For other programs."),
    )
)
def scorers(
    as_json: Annotated[
        bool,
        typer.Option("--json", metavar="", help="The same as JSON, with the schema of each field."),
    ] = False,
) -> None:
    """Lists the scorer types."""
    with exit_codes():
        table: Any = _native.scorer_table()
        if as_json:
            stdout().write(json.dumps([_scorer_value(row) for row in table], indent=2) + "\n")
            return
        view = look.console(stdout())
        for number, row in enumerate(table):
            if number:
                view.print()
            view.print(Text.assemble((row["type"], "bold cyan"), f"  {row['summary']}"))
            look.show(Padding(_field_table(row), (0, 0, 0, 2)), view)
            view.print(Text(f"  {row['example']}", style="green"), soft_wrap=True)
            if row["impure"]:
                view.print(Text("  not run by the command line: it fails on every text", "yellow"))


def _field_table(row: dict[str, Any]) -> Table:
    fields = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    fields.add_column(no_wrap=True)
    fields.add_column(no_wrap=True, style="bright_black")
    fields.add_column()
    for name, _, doc, required in row["fields"]:
        fields.add_row(name, "required" if required else "optional", doc)
    return fields


def _scorer_value(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": row["type"],
        "summary": row["summary"],
        "fields": [
            {"name": name, "required": required, "doc": doc, "schema": json.loads(text)}
            for name, text, doc, required in row["fields"]
        ],
        "example": json.loads(row["example"]),
        "impure": row["impure"],
    }
