"""``check``, ``schema``, ``scorers``: what gates are, and whether a file holds good ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .. import _native
from .._errors import SpecError
from .._gate import evaluate_scorer
from . import judging, look, options
from .common import (
    UNDER,
    USAGE,
    UsageError,
    exit_codes,
    help_text,
    plural,
    refused,
    shown,
    stdout,
    tell_issues,
)
from .gates import read_any, read_gates

if TYPE_CHECKING:
    from rich.console import Console

    from ..flow import Flow

app = typer.Typer()

Phase = Annotated[
    str | None,
    typer.Option("--phase", metavar="ID", help="Check one gate phase of a flow; by default, each."),
]


Strict = Annotated[
    bool,
    typer.Option("--strict", metavar="", help="Exit with 1 when there are warnings."),
]


@app.command(
    help=help_text(
        "Check a gate file or a flow: every error with its place and its path, and warnings.\n\n"
        "Exits with 2 when there are errors, and with --strict with 1 when there are warnings. "
        "Warnings name scorers that can never pass or never fail, patterns and schemas that mean "
        "something else than they seem to, weights that miss the threshold by rounding, and "
        "placeholders that nothing fills. Of a judge it says what is asked and what will be read.",
        ("scoregate check gate.json", "The gate of a file, or a flow with every gate."),
        ("scoregate check gate.yaml --strict", "In continuous integration: warnings fail too."),
        ("jq .gate config.json | scoregate check -", "A gate on standard input."),
        ("scoregate check flow.json --phase review", "One gate phase of a flow."),
    )
)
def check(gate: options.GateFile, phase: Phase = None, strict: Strict = False) -> None:
    """Checks a gate file."""
    with exit_codes():
        flow = None
        try:
            if phase is None:
                flow, specs = read_any(gate)
            else:
                specs = read_gates(gate, phase)
        except SpecError as error:
            raise refused(gate, error) from None
        failed = warned = False
        if flow is not None:
            failed, warned = _check_flow(gate, flow)
        for spec in specs:
            text = spec.document.text
            try:
                built = spec.build()
            except SpecError as error:
                if flow is None:  # else it is told already
                    refused(gate, error, text)
                failed = True
                continue
            block = built.spec
            unfilled = [] if spec.in_flow else judging.placeholders(block)
            warnings = [*spec.warnings(built), *unfilled]
            tell_issues("warning", gate, warnings, text)
            warned = warned or bool(warnings)
            view = look.console(stdout())
            words = _description(block)
            if spec.phase is not None:
                words = f"Phase '{spec.phase}': {words}"
            line = Text.assemble(("ok: ", "bold green"), look.printable(f"{shown(gate)}: {words}"))
            view.print(line, soft_wrap=True)
            for told in judging.judge_lines(block.get("judge")):
                view.print(Text(f"  {look.printable(told)}"), soft_wrap=True)
        if failed:
            raise typer.Exit(USAGE)
        if warned and strict:
            raise typer.Exit(UNDER)


def _check_flow(path: str, flow: Flow) -> tuple[bool, bool]:
    """Tells of a flow what its score blocks do not say; whether there are errors, and warnings."""
    issues = flow.validate()
    if issues:
        refused(path, SpecError(issues), flow.text)
        return True, False
    found = [*flow.repeated(), *(r for phase in flow.phases.values() for r in flow.remarks(phase))]
    tell_issues("warning", path, found, flow.text)
    if not any("score" in phase.spec for phase in flow.phases.values()):
        # Else there is a line for each gate.
        words = f"a flow of {plural(len(flow.phases), 'phase')}"
        line = Text.assemble(("ok: ", "bold green"), look.printable(f"{shown(path)}: {words}"))
        look.console(stdout()).print(line, soft_wrap=True)
    return False, bool(found)


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
        "List the scorer types, or explain one with its fields and texts that pass and fail.",
        ("scoregate scorers", "What a gate can check."),
        ("scoregate scorers regex", "One type: its fields, a text that passes, one that fails."),
        ("scoregate scorers --json | jq -r .[].type", "For other programs."),
    )
)
def scorers(
    name: Annotated[
        str | None, typer.Argument(metavar="[TYPE]", help="Explain one type.", show_default=False)
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", metavar="", help="The same as JSON, with the schema of each field."),
    ] = False,
) -> None:
    """Lists the scorer types."""
    with exit_codes():
        table = _native.scorer_table()
        if name is not None:
            table = [_row(table, name)]
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
            if name is not None:
                _explain(row, view)
            if row["impure"]:
                view.print(
                    Text("  starts compilers; scoregate doctor says which there are", "yellow")
                )


def _row(table: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The type of a name.

    Raises:
        UsageError: no type has it; a hint says what may be meant.
    """
    for row in table:
        if row["type"] == name:
            return row
    try:
        _native.Gate({"scorers": [{"type": name}]})
    except SpecError as error:
        hint = error.issues[0].hint
    types = ", ".join(row["type"] for row in table)
    raise UsageError(f"no scorer has the type '{name}' (those: {types})", hint=hint)


def _explain(row: dict[str, Any], view: Console) -> None:
    """Texts that pass and fail the example, with what the scorer says of them."""
    view.print()
    for word, style in (("passes", "bold green"), ("fails", "bold red")):
        line = Text.assemble((f"  {word:8}", style), json.dumps(row[word], ensure_ascii=False))
        view.print(line, soft_wrap=True)
    if not row["impure"]:
        found = evaluate_scorer(json.loads(row["example"]), row["fails"])
        view.print(Text(f"          {found.detail}", "bright_black"), soft_wrap=True)


def _field_table(row: dict[str, Any]) -> Table:
    fields = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    fields.add_column(no_wrap=True)
    fields.add_column(style="bright_black")
    fields.add_column()
    for field in row["fields"]:
        default = field["default"]
        kept = "required" if default is None else f"default {default}"
        words = f"{field['values']}; {kept}".replace("`", "")
        fields.add_row(field["name"], words, field["doc"].replace("`", ""))
    return fields


def _scorer_value(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": row["type"],
        "summary": row["summary"],
        "fields": [
            {
                "name": field["name"],
                "required": field["default"] is None,
                "doc": field["doc"],
                "schema": json.loads(field["schema"]),
            }
            for field in row["fields"]
        ],
        "example": json.loads(row["example"]),
        "passes": row["passes"],
        "fails": row["fails"],
        "impure": row["impure"],
    }
