"""The commands."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from typer import rich_utils

from .. import __version__, _native
from ..errors import CacheError, InputError, OutputError, SpecError, TooManyBadRowsError
from ..files import parse_max_errors, score_file
from . import judging, look, replies
from .gates import GateSpec, read_gate, read_gates, same_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from ..files import FileSummary

# The examples in the help are to be read, so they are not dimmed.
rich_utils.STYLE_HELPTEXT = ""

OK, UNDER, USAGE, BROKEN, TOO_MANY, INTERRUPTED, CLOSED = 0, 1, 2, 3, 4, 130, 141

app = typer.Typer(
    name="scoregate",
    help="Deterministic scoring gates for LLM output.\n\n"
    "A gate says what good output looks like: a phrase, a pattern, a JSON schema, a length. "
    "scoregate runs it on files of outputs without spending a token.",
    epilog="Start with: scoregate scorers (what a gate can check), then scoregate score --help.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _help(intro: str, *examples: tuple[str, str]) -> str:
    """The help of a command: what it does, then commands to copy, each with what it gives."""
    shown = [f"[cyan]{command}[/cyan]\n{gives}" for command, gives in examples]
    return "\n\n".join([intro, "[bold]Examples[/bold]", *shown])


class Details(StrEnum):
    """Which results an output line holds."""

    failed = "failed"
    all = "all"
    none = "none"


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


class _UsageError(Exception):
    """Options that contradict each other; the message says how."""


def run() -> int:
    """Runs the command line and gives its exit code."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    with suppress(ValueError):  # only the main thread may
        signal.signal(signal.SIGTERM, _terminated)
    try:
        app(prog_name="scoregate")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else OK if end.code is None else BROKEN
    return OK


def _terminated(number: int, frame: FrameType | None) -> None:
    # Unwinding removes unfinished files.
    raise SystemExit(128 + number)


@contextmanager
def _exit_codes() -> Iterator[None]:
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
        except (InputError, OutputError, CacheError) as error:
            look.tell("error", str(error))
            raise typer.Exit(BROKEN) from None
        except _UsageError as error:
            look.tell("error", str(error))
            raise typer.Exit(USAGE) from None
    except BrokenPipeError:
        _forget_stdout()
        raise typer.Exit(CLOSED) from None
    except OSError as error:
        _forget_stdout()
        look.tell("error", str(error))
        raise typer.Exit(BROKEN) from None
    except (typer.Exit, typer.BadParameter, SystemExit):
        raise
    except BaseException:
        import traceback

        look.tell("error", "this is a bug in scoregate; please report it with what follows")
        traceback.print_exc()
        raise typer.Exit(BROKEN) from None


def _forget_stdout() -> None:
    """Keeps the interpreter from writing the rest at its end."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_version(value: bool) -> None:
    if value:
        sys.stdout.write(f"scoregate {__version__}\n")
        raise typer.Exit(OK)


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass


def _bad_rows(value: str | None) -> str | None:
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
        help="A score block, a gate phase, or a flow with gate phases.",
        show_default=False,
    ),
]
Phase = Annotated[
    str | None,
    typer.Option(
        "--phase", metavar="ID", help="The gate phase of a flow; needed when it has several."
    ),
]

_INPUT, _OUTPUT, _BAD = "Input", "Results", "Bad rows"


@app.command(
    help=_help(
        "Score files of outputs with a gate.\n\n"
        'Each input line is an object such as {"id": "a1", "output": "the text"}; each output '
        "line holds the row's id, its verdict (pass, block or undecided), the combined score and "
        "the results of its scorers. Results go to standard output or a file, everything else to "
        "standard error.",
        (
            "scoregate score gate.json outputs.jsonl -o results.jsonl",
            "Score a file; a table shows how many rows each scorer passed.",
        ),
        (
            "scoregate score gate.json run-*.jsonl -o results.jsonl --fail-under 95%",
            "For continuous integration: exit with 1 when fewer than 95% of the rows pass.",
        ),
        (
            "zcat big.jsonl.gz | scoregate score gate.json - > results.jsonl",
            "A compressed file of any size, through a pipe.",
        ),
        (
            "scoregate score gate.json in.jsonl -o out.jsonl --on-error quarantine",
            "Go on past broken lines, and keep them in out.bad.jsonl.",
        ),
        (
            "scoregate score flow.json in.jsonl --phase review --field answer --limit 100",
            "One gate of a flow, another key for the text, the first 100 rows.",
        ),
        (
            "scoregate score gate.json in.jsonl -o out.jsonl --json | jq .pass_rate",
            "The summary for other programs.",
        ),
        (
            "scoregate score gate.json in.jsonl -o out.jsonl --judge openai:gpt-5-mini --cache j.db",
            "Let a model decide what the scorers leave open; a second run asks nothing twice.",
        ),
    ),
    epilog="Exit codes: 0 done; 1 under --fail-under; 2 usage or a bad gate; 3 input or output "
    "failed; 4 too many bad rows; 130 interrupted; 141 the reader of standard output has gone.",
)
def score(
    gate: GateFile,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="OUTPUTS.jsonl|-",
            help="Files with one JSON object a line; - or nothing is standard input.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT.jsonl|-",
            help="Where results go: a file, which appears when it is complete, or standard output.",
            rich_help_panel=_OUTPUT,
        ),
    ] = "-",
    field: Annotated[
        str,
        typer.Option(metavar="NAME", help="The key of the text.", rich_help_panel=_INPUT),
    ] = "output",
    id_field: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The key of the row's id; without it, rows are numbered from 0.",
            rich_help_panel=_INPUT,
        ),
    ] = "id",
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Read at most N rows.", rich_help_panel=_INPUT),
    ] = None,
    phase: Phase = None,
    details: Annotated[
        Details,
        typer.Option(
            help="Whose results an output line holds: those of failed scorers, all, or none.",
            rich_help_panel=_OUTPUT,
        ),
    ] = Details.failed,
    fail_under: Annotated[
        float | None,
        typer.Option(
            parser=_rate,
            metavar="RATE",
            help="Exit with 1 when fewer rows pass: 0.95 or 95%.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="The summary as one line of JSON: on standard output when -o names a file, else "
            "on standard error.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    on_error: Annotated[
        OnError,
        typer.Option(
            help="What a line that is no row does: end the run, be left out, or be written to the "
            "quarantine file.",
            rich_help_panel=_BAD,
        ),
    ] = OnError.fail,
    max_errors: Annotated[
        str | None,
        typer.Option(
            callback=_bad_rows,
            metavar="N|P%",
            help="Exit with 4 when more rows are bad. N ends the run at once, P% is judged at its "
            "end.",
            rich_help_panel=_BAD,
        ),
    ] = None,
    quarantine: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The quarantine file; by default OUT.bad.jsonl next to OUT.jsonl.",
            rich_help_panel=_BAD,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Threads; by default one a core."),
    ] = None,
    progress: Annotated[
        When,
        typer.Option(help="The bar; auto shows it on a terminal that results do not go to."),
    ] = When.auto,
    judge: judging.JudgeNames = None,
    base_url: judging.BaseUrl = None,
    api_key_env: judging.ApiKeyEnv = "OPENAI_API_KEY",
    concurrency: judging.Concurrency = 8,
    max_calls: judging.MaxCalls = None,
    max_tokens: judging.MaxTokens = None,
    deadline: judging.Deadline = None,
    judge_timeout: judging.CallTimeout = 60.0,
    cache_file: judging.CacheFile = None,
    cache_ttl: judging.CacheTtl = None,
    reducer: judging.Reduce = judging.Reducer.majority,
    on_judge_error: judging.JudgeError = judging.OnJudgeError.undecided,
    on_unparseable: judging.Unparseable = None,
    price: judging.Price = None,
) -> None:
    """Scores files of outputs with a gate."""
    with _exit_codes():
        spec = _read_gate(gate, phase)
        places = _inputs(inputs)
        if output != "-" and same_file(gate, output):
            raise _UsageError(f"{output}: is the gate; write to another file")
        built = _build(gate, spec)
        for message in built.warnings():
            look.tell("warning", f"{gate}: {spec.place(message)}")
        for key in spec.skipped:
            words = spec.place(f"'{key}' is not run, only the score block is")
            look.tell("note", f"{gate}: {words}")
        try:
            decider = judging.file_judge(
                built,
                judge,
                base_url=base_url,
                api_key_env=api_key_env,
                timeout=judge_timeout,
                concurrency=concurrency,
                max_calls=max_calls,
                max_tokens=max_tokens,
                deadline=deadline,
                cache=cache_file,
                cache_ttl=cache_ttl,
                reducer=reducer.value,
                on_judge_error=on_judge_error.value,
                on_unparseable=None if on_unparseable is None else on_unparseable.value,
            )
        except ValueError as error:
            raise _UsageError(str(error)) from None
        shown = progress is When.always or (progress is When.auto and _bar_fits(output))
        meter = look.Meter(shown=shown, total=_size(places), limit=limit)
        with meter:
            try:
                found = score_file(
                    built,
                    places,
                    output,
                    field=field,
                    id_field=id_field,
                    details=details.value,
                    threads=threads,
                    on_error=on_error.value,
                    max_errors=max_errors,
                    quarantine=quarantine,
                    limit=limit,
                    progress=meter,
                    judge=decider,
                )
            except ValueError as error:
                raise _UsageError(_flags(str(error))) from None
        _report(found, places, as_json=as_json)
        if not as_json:
            judging.tell_usage(decider, price)
        code = _verdict(found, fail_under)
        if code != OK:
            raise typer.Exit(code)


def _read_gate(path: str, phase: str | None) -> GateSpec:
    try:
        return read_gate(path, phase)
    except SpecError as error:
        raise _refused(path, error) from None


def _build(path: str, spec: GateSpec) -> Any:
    try:
        return spec.build()
    except SpecError as error:
        raise _refused(path, error) from None


def _refused(path: str, error: SpecError) -> typer.Exit:
    for message in error.errors:
        look.tell("error", f"{path}: {message}")
    return typer.Exit(USAGE)


def _inputs(inputs: list[str] | None) -> list[str]:
    if inputs:
        return inputs
    if sys.stdin is not None and sys.stdin.isatty():
        raise _UsageError("no input: name a file of outputs, or pipe one in")
    return ["-"]


def _bar_fits(output: str) -> bool:
    """Whether a bar can be shown without being mixed with results."""
    if sys.stderr is None or not sys.stderr.isatty():
        return False
    return output != "-" or sys.stdout is None or not sys.stdout.isatty()


def _size(places: list[str]) -> int | None:
    """The bytes of all inputs; None when one is no regular file."""
    total = 0
    for place in places:
        try:
            found = os.fstat(sys.stdin.fileno()) if place == "-" else os.stat(place)
        except (OSError, ValueError, AttributeError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        total += found.st_size
    return total


def _flags(message: str) -> str:
    """A message about arguments, in the words of the command line."""
    words = message.replace('on_error="skip" or "quarantine"', "--on-error skip or quarantine")
    words = words.replace('on_error="quarantine"', "--on-error quarantine")
    for name in ("max_errors", "on_error", "quarantine", "limit", "threads", "details"):
        if words.startswith(f"{name}: "):
            return f"--{name.replace('_', '-')}{words.removeprefix(name)}"
    return words


def _report(found: FileSummary, places: list[str], *, as_json: bool) -> None:
    for message in found.bad_messages:
        look.tell("warning", message)
    if found.bad_rows > len(found.bad_messages):
        look.tell("warning", f"… and {found.bad_rows - len(found.bad_messages):,} more bad rows")
    if found.rows == 0 and found.bad_rows == 0:
        names = ", ".join("<stdin>" if place == "-" else place for place in places)
        look.tell("warning", f"{names}: no rows")
    if as_json:
        stream = sys.stderr if found.output in (None, "-") else sys.stdout
        stream.write(json.dumps(found.to_dict()) + "\n")
        stream.flush()
        return
    view = look.console(sys.stderr)
    if found.bad_messages:
        view.print()
    look.show(look.summary(found, view), view)
    for name, what in ((found.output, "results"), (found.quarantine, "bad rows")):
        if name not in (None, "-"):
            view.print(Text(f"{what}: {look.printable(str(name))}"), soft_wrap=True)


def _verdict(found: FileSummary, fail_under: float | None) -> int:
    if fail_under is None:
        return OK
    rate = found.pass_rate
    if rate is None:
        look.tell("error", "no rows, so --fail-under is not met")
        return UNDER
    if rate < fail_under:
        words = f"{found.passed:,} of {found.rows:,} rows pass"
        look.tell("error", f"{words}, which is under --fail-under {fail_under:.10g}")
        return UNDER
    return OK


@app.command(
    help=_help(
        "Check a gate file: every error with its path, and warnings.\n\n"
        "Exits with 2 when there are errors. Warnings name scorers that can never pass and "
        "schemas that let more pass than they seem to.",
        ("scoregate check gate.json", "A score block, a gate phase, or all gates of a flow."),
        ("scoregate check flow.json --phase review", "One gate phase of a flow."),
    )
)
def check(gate: GateFile, phase: Phase = None) -> None:
    """Checks a gate file."""
    with _exit_codes():
        try:
            specs = read_gates(gate, phase)
        except SpecError as error:
            raise _refused(gate, error) from None
        failed = False
        for spec in specs:
            try:
                built = spec.build()
            except SpecError as error:
                _refused(gate, error)
                failed = True
                continue
            for message in built.warnings():
                look.tell("warning", f"{gate}: {spec.place(message)}")
            view = look.console(sys.stdout)
            words = spec.place(_description(built.spec))
            line = Text.assemble(("ok: ", "bold green"), look.printable(f"{gate}: {words}"))
            view.print(line, soft_wrap=True)
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
    help=_help(
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
    with _exit_codes():
        value = json.loads(_native.gate_schema())
        sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


@app.command(
    help=_help(
        "List the scorer types, with their fields and an example each.",
        ("scoregate scorers", "What a gate can check."),
        ("scoregate scorers --json | jq -r .[].type", "For other programs."),
    )
)
def scorers(
    as_json: Annotated[
        bool, typer.Option("--json", help="The same as JSON, with the schema of each field.")
    ] = False,
) -> None:
    """Lists the scorer types."""
    with _exit_codes():
        table: Any = _native.scorer_table()
        if as_json:
            sys.stdout.write(json.dumps([_scorer_value(row) for row in table], indent=2) + "\n")
            return
        view = look.console(sys.stdout)
        for number, row in enumerate(table):
            if number:
                view.print()
            view.print(Text.assemble((row["type"], "bold cyan"), f"  {row['summary']}"))
            fields = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
            fields.add_column(no_wrap=True)
            fields.add_column(no_wrap=True, style="bright_black")
            fields.add_column()
            for name, _, doc, required in row["fields"]:
                fields.add_row(name, "required" if required else "optional", doc)
            look.show(Padding(fields, (0, 0, 0, 2)), view)
            view.print(Text(f"  {row['example']}", style="green"), soft_wrap=True)


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


@app.command(
    help=_help(
        "Read a reply by the verdict grammar: pass or block.",
        ("scoregate verdict reply.txt", "One reply; the verdict is a line of JSON."),
        (
            "scoregate verdict --jsonl --field reply replies.jsonl",
            "Many replies, a line each.",
        ),
    )
)
def verdict(
    files: replies.Files = None,
    lines: replies.Lines = False,
    field: replies.Field = "reply",
    id_field: replies.IdField = "id",
    on_unparseable: replies.Policy = judging.OnUnparseable.passes,
    exit_code: replies.ExitCode = False,
) -> None:
    """Reads replies by the verdict grammar."""
    with _exit_codes():
        if replies.verdict(files, lines, field, id_field, on_unparseable.value) and exit_code:
            raise typer.Exit(UNDER)


@app.command(
    name="judge-reply",
    help=_help(
        "Read a judge's reply: score, verdict and reason.",
        ("scoregate judge-reply < reply.txt", "One reply from standard input."),
        (
            "scoregate judge-reply --jsonl --field reply replies.jsonl --on-unparseable block",
            "Many replies; one that cannot be read blocks.",
        ),
    ),
)
def judge_reply(
    files: replies.Files = None,
    lines: replies.Lines = False,
    field: replies.Field = "reply",
    id_field: replies.IdField = "id",
    on_unparseable: replies.Policy = judging.OnUnparseable.passes,
    exit_code: replies.ExitCode = False,
) -> None:
    """Reads replies by the judge grammar."""
    with _exit_codes():
        if replies.judge_reply(files, lines, field, id_field, on_unparseable.value) and exit_code:
            raise typer.Exit(UNDER)


@app.command(
    help=_help(
        "Read a reply that chooses among numbered variants.",
        ("scoregate winner --count 3 reply.txt", "The number of the variant, from 1."),
    )
)
def winner(
    count: Annotated[int, typer.Option("--count", min=1, help="The number of variants.")],
    files: replies.Files = None,
    lines: replies.Lines = False,
    field: replies.Field = "reply",
    id_field: replies.IdField = "id",
) -> None:
    """Reads replies by the winner grammar."""
    with _exit_codes():
        replies.winner(files, lines, field, id_field, count)


@app.command(
    help=_help(
        "Show a cache of judge replies, or clear it.",
        ("scoregate cache j.db", "What it holds, by judge."),
        ("scoregate cache j.db --clear", "Remove every reply."),
        ("scoregate cache j.db --prune --ttl 604800", "Remove replies older than a week."),
    )
)
def cache(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The cache.", show_default=False)],
    clear: Annotated[bool, typer.Option("--clear", help="Remove every reply.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove replies past --ttl, and give back the space.")
    ] = False,
    ttl: Annotated[
        float | None,
        typer.Option(min=1, metavar="SECONDS", help="So long a reply is good."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
) -> None:
    """Shows a cache of judge replies, or clears it."""
    with _exit_codes():
        replies.cache(file, ttl=ttl, clear=clear, prune=prune, as_json=as_json)
