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

from .._errors import OptionError, SpecError
from .._files import score_file
from .._limits import COMPILE_TIMEOUT
from . import judging, look, options
from .brief import Brief
from .common import (
    TOO_MANY,
    UNDER,
    UsageError,
    exit_codes,
    help_text,
    places,
    refused,
    shown,
    tell_issues,
)
from .engine import score_by_engine
from .gates import read_gate, same_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._files import FileSummary
    from .._gate import Gate
    from ..judge._files import FileJudge
    from .gates import GateSpec

app = typer.Typer()


@app.command(
    cls=Brief,
    short_help="Score files of outputs with a gate.",
    help=help_text(
        'Score files of outputs with a gate: lines such as {"id": "a1", "output": "the text"}. '
        "More: docs/command-line.md.",
        (
            "scoregate score gate.json outputs.jsonl -o results.jsonl --fail-under 95%",
            "Exit with 1 when fewer than 95% of the rows pass.",
        ),
        (
            "scoregate score gate.json in.jsonl --judge openai:gpt-5-mini --cache j.db",
            "Let a model decide what the scorers leave open.",
        ),
    ),
    epilog="Exit codes: 0 done; 1 under --fail-under; 2 usage or a bad gate; 3 input or output; "
    "4 too much failed; 130 interrupted.",
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
    engine: options.EngineName = None,
    progress: options.Progress = options.When.auto,
    compile_timeout: options.CompileTimeout = COMPILE_TIMEOUT,
    compile_cache: options.CompileCacheFile = None,
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
        _refuse_one_file(
            {
                "the gate": gate,
                "-o": output,
                "--quarantine": quarantine,
                "--cache": cache_file,
                "--compile-cache": compile_cache,
            },
            sources,
        )
        built = _build(gate, spec, compile_timeout, compile_cache)
        if engine is not None:
            others = {
                "--id-field": id_field != "id",
                "--limit": limit is not None,
                "--on-error": on_error is not options.OnError.fail,
                "--max-errors": max_errors is not None,
                "--quarantine": quarantine is not None,
                "--threads": threads is not None,
                "--judge": bool(judge),
            }
            found = score_by_engine(
                built, sources, output, field=field, details=details.value, others=others
            )
            _report(found, sources, as_json=as_json)
            if fail_under is not None and not _passes(found, fail_under):
                raise typer.Exit(UNDER)
            return
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


def _refuse_one_file(named: dict[str, str | None], sources: list[str]) -> None:
    """Refuses a file that is to be two things.

    Raises:
        UsageError: one is; the message says which.
    """
    given = [(what, path) for what, path in named.items() if path not in (None, "-")]
    for what, path in given:
        if not path:
            raise UsageError(f"{what}: the name is empty")
    for number, (what, path) in enumerate(given):
        for other, second in given[number + 1 :]:
            if what == "the gate" and _one_file(str(path), str(second)):
                raise UsageError(f"{second}: is the gate; write to another file")
            if _one_file(str(path), str(second)):
                raise UsageError(f"{path}: is both {what} and {other}; name another file")
        if what.endswith("cache") and any(_one_file(str(path), place) for place in sources):
            raise UsageError(f"{path}: is both an input and {what}; name another file")


def _one_file(first: str, second: str) -> bool:
    """Whether two paths name one file, be it there or not."""
    same = os.path.realpath(first) == os.path.realpath(second)
    # Anything may be written to a device at once.
    device = os.path.exists(first) and not os.path.isfile(first)
    return (same or same_file(first, second)) and not device


def _read_gate(path: str, phase: str | None) -> GateSpec:
    try:
        return read_gate(path, phase)
    except SpecError as error:
        raise refused(path, error) from None


def _build(path: str, spec: GateSpec, compile_timeout: float, compile_cache: str | None) -> Gate:
    """Builds the gate, and tells what it warns of and what is not run."""
    text = spec.document.text
    try:
        built = spec.build(compile_timeout=compile_timeout, compile_cache=compile_cache)
    except SpecError as error:
        raise refused(path, error, text) from None
    tell_issues("warning", path, spec.warnings(built), text)
    for key in spec.skipped:
        words = f"Phase '{spec.phase}': " if spec.phase is not None else ""
        words += f"'{key}' is not run, only the score block is"
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
    except OptionError as error:
        message = error.message
        if error.needs is not None:
            other, values = error.needs
            message = f"needs {_flag(other)} {' or '.join(values)}"
        raise UsageError(f"{_flag(error.option)}: {message}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None


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


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


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
