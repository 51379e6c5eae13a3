"""The options of ``score``, and those that commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from .._files import parse_max_errors

_INPUT, _OUTPUT, _BAD = "Input", "Results", "Bad rows"


class Details(StrEnum):
    """Which results an output line holds."""

    failed = "failed"
    all = "all"
    none = "none"


class Engine(StrEnum):
    """Who brings the rows."""

    ray = "ray"


class OnError(StrEnum):
    """What a bad row does."""

    fail = "fail"
    skip = "skip"
    quarantine = "quarantine"


class When(StrEnum):
    """When the bar is shown."""

    auto = "auto"
    always = "always"
    never = "never"


def _max_errors(value: str | None) -> str | None:
    if value is not None:
        try:
            parse_max_errors(value)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return value


def _rate(value: str) -> float:
    text = value.strip()
    try:
        rate = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise typer.BadParameter(
            f"{value!r}: must be a rate from 0 to 1 such as 0.95, or a percentage such as 95%"
        )
    return rate


GateFile = Annotated[
    str,
    typer.Argument(
        metavar="GATE.json",
        help="A score block, a gate phase, or a flow with gate phases; - is standard input.",
        show_default=False,
    ),
]
Phase = Annotated[
    str | None,
    typer.Option(
        "--phase", metavar="ID", help="The gate phase of a flow; needed when it has several."
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="OUTPUTS.jsonl|-",
        help="Files with one JSON object a line; - or nothing is standard input.",
        show_default=False,
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT.jsonl|-",
        help="Where results go: a file, which appears when it is complete, or standard output.",
        rich_help_panel=_OUTPUT,
    ),
]
Field = Annotated[
    str,
    typer.Option(metavar="NAME", help="The key of the text.", rich_help_panel=_INPUT),
]
IdField = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The key of the row's id; a row without one gets its number, from 0 over all files.",
        rich_help_panel=_INPUT,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Read at most N rows.", rich_help_panel=_INPUT),
]
EngineName = Annotated[
    Engine | None,
    typer.Option(
        "--engine",
        help="Let Ray score folders of Parquet or lines of JSON, into a folder of Parquet.",
        rich_help_panel=_INPUT,
    ),
]
DetailsShown = Annotated[
    Details,
    typer.Option(
        help="Which scorers' results an output line holds: those that failed, all, or none.",
        rich_help_panel=_OUTPUT,
    ),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        parser=_rate,
        metavar="RATE",
        help="Exit with 1 when fewer rows pass: 0.95 or 95%. Bad rows count, and never pass.",
        rich_help_panel=_OUTPUT,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        metavar="",
        help="The summary as one line of JSON: on standard output when -o names a file, else "
        "on standard error.",
        rich_help_panel=_OUTPUT,
    ),
]
BadRows = Annotated[
    OnError,
    typer.Option(
        help="What a line that is no row does: end the run, be left out, or go to the "
        "quarantine file.",
        rich_help_panel=_BAD,
    ),
]
MaxErrors = Annotated[
    str | None,
    typer.Option(
        callback=_max_errors,
        metavar="N|P%",
        help="Exit with 4 when more rows are bad. N ends the run at once, P% is judged at its end.",
        rich_help_panel=_BAD,
    ),
]
Quarantine = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Where bad rows go, with --on-error quarantine; by default OUT.bad.jsonl next to "
        "OUT.jsonl.",
        rich_help_panel=_BAD,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, max=1024, metavar="N", help="Threads to score with; by default one a core."
    ),
]
CompileTimeout = Annotated[
    float,
    typer.Option(
        min=0.001,
        metavar="SECONDS",
        help="Time limit of a compiler.",
    ),
]
CompileCacheFile = Annotated[
    str | None,
    typer.Option(
        "--compile-cache",
        metavar="FILE",
        help="What compilers say is kept in this file.",
    ),
]
Progress = Annotated[
    When,
    typer.Option(help="Show a progress bar; auto: on a terminal that no results go to."),
]
