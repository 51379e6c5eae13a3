"""``score``: files of outputs through a gate."""

from __future__ import annotations

import json
import os
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from ..errors import SpecError
from ..files import score_file
from . import judging, look, options
from .common import TOO_MANY, UNDER, UsageError, exit_codes, help_text, places, refused, shown
from .gates import read_gate, same_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..files import FileSummary
    from ..gate import Gate
    from ..judge.files import FileJudge
    from .gates import GateSpec

app = typer.Typer()


@app.command(
    help=help_text(
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
            "For continuous integration: exit with 1 when fewer than 95% of the rows pass; bad rows "
            "count as rows that do not.",
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
    "failed; 4 too many bad rows or failed judge calls, or a judge that gave no reply; 130 interrupted; 141 the reader of standard output has gone.",
)
def score(
    gate: options.GateFile,
    inputs: options.Inputs = None,
    output: options.Output = "-",
    field: options.Field = "output",
    id_field: options.IdField = "id",
    limit: options.Limit = None,
    phase: options.Phase = None,
    details: options.DetailsShown = options.Details.failed,
    fail_under: options.FailUnder = None,
    as_json: options.AsJson = False,
    on_error: options.BadRows = options.OnError.fail,
    max_errors: options.MaxErrors = None,
    quarantine: options.Quarantine = None,
    threads: options.Threads = None,
    progress: options.Progress = options.When.auto,
    judge: judging.JudgeNames = None,
    base_url: judging.BaseUrl = None,
    api_key_env: judging.ApiKeyEnv = "OPENAI_API_KEY",
    concurrency: judging.Concurrency = 8,
    max_calls: judging.MaxCalls = None,
    max_tokens: judging.MaxTokens = None,
    deadline: judging.Deadline = None,
    requests_per_minute: judging.RequestsPerMinute = None,
    tokens_per_minute: judging.TokensPerMinute = None,
    judge_timeout: judging.CallTimeout = 60.0,
    cache_file: judging.CacheFile = None,
    cache_ttl: judging.CacheTtl = None,
    reducer: judging.Reduce = judging.Reducer.majority,
    on_judge_error: judging.ErrorPolicy = judging.OnJudgeError.undecided,
    max_judge_errors: judging.MaxJudgeErrors = None,
    on_unparseable: judging.Unparseable = None,
    price: judging.Price = None,
) -> None:
    """Scores files of outputs with a gate."""
    with exit_codes():
        if gate == "-" and (not inputs or "-" in inputs):
            raise UsageError("-: standard input cannot hold both the gate and the outputs")
        spec = _read_gate(gate, phase)
        sources = places(inputs)
        if output != "-" and same_file(gate, output):
            raise UsageError(f"{output}: is the gate; write to another file")
        built = _build(gate, spec)
        with _usage_errors():
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
                requests_per_minute=requests_per_minute,
                tokens_per_minute=tokens_per_minute,
                cache=cache_file,
                cache_ttl=cache_ttl,
                max_errors=max_judge_errors,
                reducer=reducer.value,
                on_judge_error=on_judge_error.value,
                on_unparseable=None if on_unparseable is None else on_unparseable.value,
            )
        meter = look.Meter(shown=_shows_bar(progress, output), total=_size(sources), limit=limit)
        with _telling(decider, price), meter, _usage_errors():
            found = score_file(
                built,
                sources,
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
        _report(found, sources, as_json=as_json)
        if not as_json:
            judging.tell_usage(decider, price)
        if decider is not None and decider.trouble is not None:
            look.tell("error", decider.trouble)
            raise typer.Exit(TOO_MANY)
        if fail_under is not None and not _passes(found, fail_under):
            raise typer.Exit(UNDER)


def _read_gate(path: str, phase: str | None) -> GateSpec:
    try:
        return read_gate(path, phase)
    except SpecError as error:
        raise refused(path, error) from None


def _build(path: str, spec: GateSpec) -> Gate:
    """Builds the gate, and tells what it warns of and what is not run."""
    try:
        built = spec.build()
    except SpecError as error:
        raise refused(path, error) from None
    for message in [*spec.repeated, *map(spec.place, built.warnings())]:
        look.tell("warning", f"{shown(path)}: {message}")
    for key in spec.skipped:
        words = spec.place(f"'{key}' is not run, only the score block is")
        look.tell("note", f"{shown(path)}: {words}")
    return built


@contextmanager
def _telling(judge: FileJudge | None, price: tuple[float, float] | None) -> Iterator[None]:
    """Says after Ctrl-C what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        judging.tell_interrupted(judge, price)
        raise


@contextmanager
def _usage_errors() -> Iterator[None]:
    """An argument that is refused is an option of the command line."""
    try:
        yield
    except ValueError as error:
        raise UsageError(_flags(str(error))) from None


def _shows_bar(progress: options.When, output: str) -> bool:
    """Whether the bar is asked for, or can be shown without being mixed with results."""
    if progress is not options.When.auto:
        return progress is options.When.always
    if sys.stderr is None or not sys.stderr.isatty():
        return False
    return output != "-" or sys.stdout is None or not sys.stdout.isatty()


def _size(sources: list[str]) -> int | None:
    """The bytes of all inputs; None when one is no regular file."""
    total = 0
    for place in sources:
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
    for name in ("max_errors", "on_error", "quarantine", "limit", "threads", "details", "judge"):
        if words.startswith(f"{name}: "):
            return f"--{name.replace('_', '-')}{words.removeprefix(name)}"
    return words


def _report(found: FileSummary, sources: list[str], *, as_json: bool) -> None:
    for message in found.bad_messages:
        look.tell("warning", message)
    if found.bad_rows > len(found.bad_messages):
        look.tell("warning", f"… and {found.bad_rows - len(found.bad_messages):,} more bad rows")
    if found.rows == 0 and found.bad_rows == 0:
        names = ", ".join(shown(place) for place in sources)
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


def _passes(found: FileSummary, fail_under: float) -> bool:
    """Whether enough rows pass; tells when not."""
    rate = found.rate_of_all
    if rate is None:
        what = "no rows" if not found.bad_rows else "no row was scored"
        look.tell("error", f"{what}, so --fail-under is not met")
        return False
    if rate < fail_under:
        words = f"{found.passed:,} of {found.rows + found.bad_rows:,} rows pass"
        if found.bad_rows:
            words += f" ({found.bad_rows:,} bad)"
        look.tell("error", f"{words}, which is under --fail-under {fail_under:.10g}")
        return False
    return True
