"""``init`` and ``demo``: the first minutes."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from enum import StrEnum
from typing import Annotated

import typer
from rich.text import Text

from .._errors import OutputError
from .._files import reason, score_file
from .._gate import Gate
from . import look
from .common import UsageError, exit_codes, help_text, stdout
from .examples import EXAMPLES, Example

app = typer.Typer()


class Kind(StrEnum):
    """The examples."""

    json_api = "json-api"
    rag = "rag"
    agent = "agent"
    summary = "summary"


Chosen = Annotated[
    Kind, typer.Option("--example", help="What the outputs are; see the gates that it writes.")
]

#: The test that ``init`` writes.
_TEST = '''"""The gate and its outputs: run with pytest."""

import json
from pathlib import Path

import pytest
import scoregate

HERE = Path(__file__).parent
GATE = scoregate.Gate.from_file(HERE / "gate.json")
ROWS = [json.loads(line) for line in (HERE / "outputs.jsonl").read_text("utf-8").splitlines()]
PASSING = {passing}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_output(row):
    result = GATE.score(row["output"])
    assert result.passed == (row["id"] in PASSING), result.report
'''


@app.command(
    help=help_text(
        "Write a gate, outputs to try it on, and a test, into the folder or a new one.",
        ("scoregate init", "gate.json, outputs.jsonl and test_gate.py, here."),
        ("scoregate init my-gate --example rag", "Another gate, in a new folder."),
    )
)
def init(
    folder: Annotated[
        str, typer.Argument(metavar="[FOLDER]", help="Where to write.", show_default=False)
    ] = ".",
    example: Chosen = Kind.json_api,
) -> None:
    """Writes a gate to begin with."""
    with exit_codes():
        chosen = EXAMPLES[example.value]
        files = _files(chosen)
        there = [name for name in files if os.path.exists(os.path.join(folder, name))]
        if there:
            names = ", ".join(os.path.join(folder, name) for name in there)
            raise UsageError(f"{names}: exists already, and nothing is overwritten")
        try:
            os.makedirs(folder, exist_ok=True)
            for name, text in files.items():
                with open(os.path.join(folder, name), "x", encoding="utf-8") as file:
                    file.write(text)
        except OSError as error:
            raise OutputError(f"{error.filename}: cannot be written: {reason(error)}") from error
        view = look.console(stdout())
        view.print(Text(f"wrote {', '.join(files)}: {chosen.about}"), soft_wrap=True)
        _next(() if folder == "." else (f"cd {folder}",))


def _files(example: Example) -> dict[str, str]:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in example.rows)
    return {
        "gate.json": example.gate,
        "outputs.jsonl": "".join(lines),
        "test_gate.py": _TEST.replace("{passing}", repr(set(example.passing))),
    }


def _next(first: tuple[str, ...] = ()) -> None:
    """The commands to go on with."""
    view = look.console(stdout())
    view.print(Text("\nnext:", style="bold"))
    commands = (
        *first,
        "scoregate check gate.json",
        "scoregate score gate.json outputs.jsonl -o results.jsonl",
        "python -m pytest test_gate.py",
    )
    for command in commands:
        view.print(Text(f"  {command}", style="cyan"), soft_wrap=True)


@app.command(
    help=help_text(
        "Score a bundled set of outputs: a gate, its results and its summary, no files needed.",
        ("scoregate demo", "Answers that a program reads."),
        ("scoregate demo --example agent", "Reports of an agent."),
    )
)
def demo(example: Chosen = Kind.json_api) -> None:
    """Scores a bundled set."""
    with exit_codes():
        chosen = EXAMPLES[example.value]
        view = look.console(stdout())
        view.print(Text(f"a gate for {chosen.about}:\n", style="bold"))
        view.print(Text(chosen.gate), soft_wrap=True)
        gate = Gate(chosen.gate)
        for text, result in zip(
            chosen.outputs, gate.score_batch(list(chosen.outputs)), strict=True
        ):
            style = {"pass": "bold green", "block": "bold red"}.get(result.verdict, "bold")
            head = look.printable(text.replace("\n", " "))
            line = Text.assemble((f"{result.verdict:5}  ", style), head)
            line.truncate(view.width, overflow="ellipsis")
            view.print(line)
            for each in result.results:
                if not each.passed:
                    detail = Text(f"       {each.name}: {each.detail}", style="bright_black")
                    detail.truncate(view.width, overflow="ellipsis")
                    view.print(detail)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "outputs.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.write(_files(chosen)["outputs.jsonl"])
            found = score_file(gate, path)
        view.print()
        look.show(look.summary(found, view), view)
        view.print(Text("\nfor files of your own to begin with: scoregate init", style="bold"))
        sys.stdout.flush()
