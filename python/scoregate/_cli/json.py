"""The commands for JSON in text: ``extract`` and ``repair``."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from .. import _native
from .._drop_in import fitted, refuse
from .._errors import InputError
from .._files import Source, open_sink, reason
from . import look
from .common import UNDER, UsageError, exit_codes, help_text, places, plural, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

app = typer.Typer()

#: So many diagnostics of a file are shown.
_SHOWN = 20

#: The characters of a line that are shown around a fault.
_WIDTH = 96

_RANKS = {"lossless": 0, "guess": 1, "lossy": 2}
_STYLES = {"lossless": "green", "guess": "yellow", "lossy": "red", "error": "bold red"}
_EXITS = "Exit codes: 0 done; 1 a text held no JSON; 2 usage; 3 input or output failed."

Severity = Annotated[
    str | None,
    typer.Option(
        "--max-severity",
        metavar="lossless|guess|lossy",
        help="The boldest repair to accept. lossless: only one reading; guess: the likeliest of "
        "several; lossy: something is lost. A text that needs more counts as without JSON.",
        show_default=False,
    ),
]
Field = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The input is JSON lines; read this key of each row."),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", metavar="", help="Show no diagnostics.")]
Indent = Annotated[int | None, typer.Option(min=0, metavar="N", help="Indent by N spaces a level.")]
Ascii = Annotated[
    bool,
    typer.Option(
        "--ensure_ascii", "--ensure-ascii", metavar="", help="Escape characters beyond ASCII."
    ),
]
Output = Annotated[
    str,
    typer.Option("-o", "--output", metavar="FILE|-", help="Where to write; - is standard output."),
]


@app.command(
    help=help_text(
        "Print the JSON that texts hold, one value a line.\n\n"
        "Looked for in this order: the whole text, a fenced block, what stands between brackets. "
        "What was repaired is shown on standard error.",
        ("scoregate extract answer.txt", "The value, strictly read."),
        ("llm ask | scoregate extract --repair --indent 2", "Broken JSON too."),
        (
            "scoregate extract --repair --field output runs.jsonl > values.jsonl",
            "A value for each row; null where there is none.",
        ),
    ),
    epilog=_EXITS,
)
def extract(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE|-",
            help="Files that hold a text each; - or nothing is standard input.",
            show_default=False,
        ),
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", metavar="", help="Read broken JSON too, repaired.")
    ] = False,
    field: Field = None,
    max_severity: Severity = None,
    indent: Indent = None,
    ensure_ascii: Ascii = False,
    output: Output = "-",
    quiet: Quiet = False,
) -> None:
    """Prints the JSON that texts hold."""
    with exit_codes():
        if max_severity is not None and not repair:
            raise UsageError("--max-severity needs --repair")
        options: dict[str, Any] = {"mode": "repair" if repair else "strict"}
        options["max_severity"] = _severity(max_severity)
        missed = False
        with open_sink(output) as sink:
            for name, text in _texts(places(inputs), field):
                result = _parse(text, options) if isinstance(text, str) else None
                found = result is not None and result.ok
                missed = missed or not found
                if result is not None and not quiet:
                    _show(name, str(text), result)
                if found or field is not None:
                    value = result.value if result is not None else None
                    sink.write(_dumps(value, indent, ensure_ascii))
            sink.finish()
            sink.commit()
    if missed:
        raise typer.Exit(UNDER)


@app.command(
    help=help_text(
        "Repair broken JSON.\n\n"
        "A text holds one document, prose and fences around it are left out. What was repaired is "
        "shown on standard error. The options are those of the command json_repair.",
        ("scoregate repair broken.json", "Prints the repaired document."),
        ("scoregate repair -i broken.json", "Replaces the file."),
        (
            "scoregate repair --field output -i runs.jsonl",
            "In each row of a JSONL file, puts repaired JSON text in place of the text.",
        ),
    ),
    epilog=_EXITS,
)
def repair(
    filename: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|-",
            help="A file that holds a text; - or nothing is standard input.",
            show_default=False,
        ),
    ] = None,
    inline: Annotated[
        bool, typer.Option("-i", "--inline", metavar="", help="Write the result back to FILE.")
    ] = False,
    output: Output = "-",
    ensure_ascii: Ascii = False,
    indent: Indent = 2,
    skip_json_loads: Annotated[
        bool,
        typer.Option(
            "--skip-json-loads",
            metavar="",
            help="For scripts that use json_repair; changes nothing.",
        ),
    ] = False,
    schema: Annotated[
        str | None, typer.Option(metavar="FILE", help="A JSON Schema that guides the repair.")
    ] = None,
    schema_model: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:CLASS", help="A pydantic model whose JSON Schema guides the repair."
        ),
    ] = None,
    schema_repair_mode: Annotated[
        str,
        typer.Option(
            metavar="standard|salvage",
            help="salvage: leave out what does not fit the schema, and fill in required values "
            "that it names.",
        ),
    ] = "standard",
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            metavar="",
            help="Refuse a text with repeated keys, missing or surplus separators or brackets.",
        ),
    ] = False,
    field: Field = None,
    max_severity: Severity = None,
    quiet: Quiet = False,
) -> None:
    """Repairs a file."""
    with exit_codes():
        place = places([filename] if filename else None)[0]
        if inline and output != "-":
            raise UsageError("-i and -o cannot be used together")
        if inline and place == "-":
            raise UsageError("-i needs a file")
        if inline and os.path.exists(place) and not os.path.isfile(place):
            raise UsageError(f"-i needs a regular file, and {place} is none")
        wanted = _wanted_schema(schema, schema_model, schema_repair_mode)
        if wanted is not None and strict:
            raise UsageError("--strict cannot be used with a schema")
        salvage = schema_repair_mode == "salvage"
        mender = _Mender(wanted, _severity(max_severity), strict=strict, salvage=salvage)
        with open_sink(place if inline else output) as sink:
            if field is None:
                text = _read(place)
                result = mender.read(text)
                if not quiet:
                    _show(shown(place), text, result)
                found = mender.accepted(shown(place), text, result)
                missed = int(found is None)
                if found is not None:
                    sink.write(_dumps(found[0], indent, ensure_ascii))
            else:
                missed = _repair_rows(place, field, mender, sink, quiet=quiet)
            if not missed or field is not None:
                sink.finish()
                sink.commit()
    if missed:
        raise typer.Exit(UNDER)


class _Mender:
    """Repairs texts as the options ask for."""

    def __init__(
        self, schema: Any, max_severity: str | None, *, strict: bool, salvage: bool
    ) -> None:
        self._schema = schema
        self._most = max_severity
        self._strict = strict
        self._salvage = salvage

    def read(self, text: str) -> _native.JSONResult:
        """The result of a text; a salvage follows it."""
        schema = None if self._salvage else self._schema
        return _parse(text, {"max_severity": self._most, "schema": schema})

    def accepted(self, name: str, text: str, result: _native.JSONResult) -> tuple[Any, bool] | None:
        """The value of a result and whether a schema changed it; None, and why, where refused."""
        if not result.ok or (self._strict and _refused(name, result)):
            return None
        if not self._salvage:
            return None if _unfit(name, result, self._schema) else (result.value, False)
        try:
            value, changes = fitted(result, text, self._schema, salvage=True)
        except ValueError as error:
            look.tell("error", f"{name}: the value does not fit the schema: {error}")
            return None
        for code, severity, path, message in changes:
            above = self._most is not None and _RANKS[severity] > _RANKS[self._most]
            if above or severity == "lossy":
                kind = "error" if above else "note"
                look.tell(kind, f"{name}: {path}: {severity}: {code}: {message}")
            if above:
                return None
        return value, bool(changes)


def _wanted_schema(file: str | None, model: str | None, mode: str) -> Any:
    """The schema that guides a repair; None where no option names one."""
    if mode not in ("standard", "salvage"):
        raise UsageError("--schema-repair-mode: must be one of standard|salvage")
    if mode == "salvage" and file is None and model is None:
        raise UsageError("--schema-repair-mode salvage needs a schema")
    if file is not None and model is not None:
        raise UsageError("--schema and --schema-model cannot be used together")
    if model is None:
        return None if file is None else _schema(file)
    module, _, name = model.partition(":")
    try:
        return getattr(import_module(module), name).model_json_schema()
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"--schema-model: {model} is no model that can be used: {error}") from None


def _repair_rows(place: str, field: str, mender: _Mender, sink: Any, *, quiet: bool) -> int:
    """Writes each row with its field repaired; gives the number of texts without JSON."""
    rows = changed = missed = 0
    name = shown(place)
    for number, line in _lines(place):
        row = _row(name, number, line)
        rows += 1
        text = row.get(field)
        if isinstance(text, str):
            result = mender.read(text)
            found = mender.accepted(f"{name}:{number}", text, result)
            if found is not None:
                value, fitted = found
                whole = result.source == "whole" and not result.diagnostics and not fitted
                if not whole:
                    row[field] = json.dumps(value, ensure_ascii=False)
                    line = json.dumps(row, ensure_ascii=False)
                    changed += 1
            else:
                missed += 1
        sink.write(line.encode("utf-8", "surrogatepass") + b"\n")
    if not quiet:
        look.tell("note", f"{plural(rows, 'row')}, {changed:,} repaired, {missed:,} without JSON")
    return missed


def _unfit(name: str, result: _native.JSONResult, schema: Any) -> bool:
    """Whether a value does not fit its schema; says why."""
    if schema is None or not result.ok:
        return False
    found = _native.schema_violations(result.value, schema)
    if found:
        look.tell("error", f"{name}: the value does not fit the schema: {'; '.join(found)}")
    return bool(found)


def _severity(name: str | None) -> str | None:
    if name not in (None, "lossless", "guess", "lossy"):
        raise UsageError("--max-severity: must be one of lossless|guess|lossy")
    return name


def _parse(text: str, options: dict[str, Any]) -> _native.JSONResult:
    return _native.parse_json(text, **options)


def _schema(path: str) -> Any:
    found = _native.parse_json(_read(path), mode="strict")
    if not found.ok or not isinstance(found.value, (dict, bool)):
        raise InputError(f"{path}: is no JSON Schema")
    try:
        _native.schema_violations(None, found.value)
    except ValueError as error:
        raise InputError(f"{path}: is no JSON Schema that can be used: {error}") from None
    return found.value


def _read(place: str) -> str:
    try:
        if place == "-":
            if sys.stdin is None:
                raise InputError(f"{shown(place)}: is closed")
            data = sys.stdin.buffer.read()
        else:
            with open(place, "rb") as file:
                data = file.read()
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{shown(place)}: not UTF-8 text (byte {error.start})") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{shown(place)}: {reason(error)}") from error


def _lines(place: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers; a block of the file is held at a time."""
    source = Source(place)
    at = number = 0
    cut: list[bytes] = []

    def decoded(data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{source.name}: not UTF-8 text (byte {at + error.start})") from error

    for block in source.blocks():
        *lines, rest = block.split(b"\n")
        for line in lines:
            whole = b"".join([*cut, line])
            cut.clear()
            number += 1
            text = decoded(whole.removeprefix(b"\xef\xbb\xbf") if number == 1 else whole)
            if text.strip():
                yield number, text
            at += len(whole) + 1
        cut.append(rest)
    whole = b"".join(cut)
    text = decoded(whole if number else whole.removeprefix(b"\xef\xbb\xbf"))
    if text.strip():
        yield number + 1, text


def _texts(places: list[str], field: str | None) -> Iterator[tuple[str, Any]]:
    """Each text, with the name of its place."""
    for place in places:
        name = shown(place)
        if field is None:
            yield name, _read(place)
            continue
        for number, line in _lines(place):
            yield f"{name}:{number}", _row(name, number, line).get(field)


def _row(name: str, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputError(f"{name}:{number}: not a JSON line: {error}") from error
    if not isinstance(row, dict):
        raise InputError(f"{name}:{number}: expected an object")
    return row


def _dumps(value: Any, indent: int | None, ensure_ascii: bool) -> bytes:
    text = json.dumps(value, indent=indent, ensure_ascii=ensure_ascii)
    # A lone surrogate half has no UTF-8.
    if not text.isascii():
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text.encode() + b"\n"


def _refused(name: str, result: _native.JSONResult) -> bool:
    """Whether ``--strict`` refuses the repairs; tells which one."""
    try:
        refuse(result)
    except ValueError as error:
        look.tell("error", f"{name}: {error}")
        return True
    return False


def _show(name: str, text: str, result: _native.JSONResult) -> None:
    """The diagnostics on standard error, each with its line and a caret under the fault."""
    view = look.console(sys.stderr)
    lines = text.split("\n")
    found = result.diagnostics
    for diagnostic in found[:_SHOWN]:
        style = _STYLES.get(diagnostic.severity, "")
        view.print(
            Text.assemble(
                (f"{look.printable(name)}:{diagnostic.line}:{diagnostic.column}: ", "bold"),
                (diagnostic.severity, style),
                f": {diagnostic.code}: {diagnostic.message}",
            ),
            soft_wrap=True,
        )
        if diagnostic.line <= len(lines):
            shown, caret = look.excerpt(lines[diagnostic.line - 1], diagnostic.column - 1)
            view.print(Text(f"  {shown}"), soft_wrap=True)
            view.print(Text(f"  {' ' * caret}^", style=style), soft_wrap=True)
    if len(found) > _SHOWN:
        look.tell("note", f"{look.printable(name)}: … and {len(found) - _SHOWN:,} more")
