"""The judge on the command line: the options of ``score``, and what they build."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._errors import JudgeError, SpecIssue
from .._files import parse_max_errors
from . import look
from .common import UsageError, plural

if TYPE_CHECKING:
    from .._gate import Gate
    from ..judge._files import FileJudge

_PANEL = "Judge"


class Reducer(StrEnum):
    """How several judges become one."""

    majority = "majority"
    mean = "mean"
    all = "all"
    any = "any"


class OnJudgeError(StrEnum):
    """What a failed call gives."""

    undecided = "undecided"
    passes = "pass"
    block = "block"
    fail = "fail"


class OnUnparseable(StrEnum):
    """What a reply without a vote gives."""

    passes = "pass"
    block = "block"
    undecided = "undecided"


def _price(value: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in value.split(","))
        if first >= 0 and second >= 0:
            return first, second
    except ValueError:
        pass
    raise typer.BadParameter(f"{value!r}: must be two numbers, such as 0.15,0.6")


def _max_judge_errors(value: str) -> tuple[int | None, float | None]:
    try:
        return parse_max_errors(value)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _option(*names: str, **options: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_PANEL, show_default=True, **options)


JudgeNames = Annotated[
    list[str] | None,
    _option(
        "--judge",
        metavar="openai:MODEL|cmd:COMMAND",
        help="Who decides the rows that the scorers leave open: a model behind the OpenAI API, or "
        "a command that reads the prompt and writes the reply. Several are reduced to one.",
    ),
]
BaseUrl = Annotated[
    str | None,
    _option("--base-url", metavar="URL", help="Another server that speaks the OpenAI API."),
]
ApiKeyEnv = Annotated[
    str,
    _option("--api-key-env", metavar="NAME", help="The environment variable that holds the key."),
]
Concurrency = Annotated[
    int, _option("--concurrency", min=1, help="Calls at a time, at most.", metavar="N")
]
MaxCalls = Annotated[
    int | None,
    _option(
        "--max-calls",
        min=0,
        metavar="N",
        help="Make at most N calls; rows left over are undecided.",
    ),
]
MaxTokens = Annotated[
    int | None,
    _option(
        "--max-tokens", min=0, metavar="N", help="Start no call once so many tokens are spent."
    ),
]
Deadline = Annotated[
    float | None,
    _option(
        "--deadline", min=0, metavar="SECONDS", help="Start no call once the run has taken so long."
    ),
]
RequestsPerMinute = Annotated[
    float | None,
    _option("--requests-per-minute", min=0.001, metavar="N", help="Make calls no faster."),
]
TokensPerMinute = Annotated[
    float | None,
    _option(
        "--tokens-per-minute", min=0.001, metavar="N", help="Make calls no faster than N tokens."
    ),
]
CallTimeout = Annotated[
    float, _option("--judge-timeout", min=0.001, metavar="SECONDS", help="Time limit of a call.")
]
CacheFile = Annotated[
    str | None,
    _option("--cache", metavar="FILE", help="Replies are kept in this file and not asked again."),
]
CacheTtl = Annotated[
    float | None,
    _option(
        "--cache-ttl",
        min=1,
        metavar="SECONDS",
        help="Ask again when a kept reply is older than this.",
    ),
]
Reduce = Annotated[Reducer, _option("--reducer", help="How several judges decide together.")]
ErrorPolicy = Annotated[
    OnJudgeError,
    _option(
        "--on-judge-error",
        help="The verdict of a row whose call failed; fail ends the run, with exit code 3.",
    ),
]
MaxJudgeErrors = Annotated[
    Any,
    _option(
        "--max-judge-errors",
        parser=_max_judge_errors,
        metavar="N|P%",
        help="Exit with 4 when more rows have failed calls. After N no call is made any more; P% "
        "of the open rows is looked at in the end.",
    ),
]
Unparseable = Annotated[
    OnUnparseable | None,
    _option(
        "--on-unparseable",
        help="The verdict of a row whose reply holds no vote; by default as the gate says, else "
        "pass.",
    ),
]
Price = Annotated[
    Any,
    _option(
        "--price",
        parser=_price,
        metavar="IN,OUT",
        help="Prices of a million input and output tokens, to tell what the run cost.",
    ),
]


def file_judge(
    gate: Gate,
    names: list[str] | None,
    *,
    base_url: str | None,
    api_key_env: str,
    timeout: float,
    cache: str | None,
    cache_ttl: float | None,
    max_errors: tuple[int | None, float | None] | None,
    **options: Any,
) -> FileJudge | None:
    """The judge of a run, which can be reached; None when none is asked for.

    Raises:
        ValueError: an option is out of its range, or goes with a judge that is absent.
        CacheError: the cache cannot be opened.
        UsageError: the judge cannot be reached.
    """
    if not names:
        if cache is not None or base_url is not None:
            raise ValueError("--cache and --base-url need --judge")
        return None
    from ..judge import JudgeCache, named_judge
    from ..judge._files import FileJudge

    asked = "judge" in gate.spec
    if not asked:
        look.tell("note", "the gate names no judge, so --judge is never asked")
    try:
        judges = [
            named_judge(name, base_url=base_url, api_key_env=api_key_env, timeout=timeout)
            for name in names
        ]
    except ImportError as error:
        raise ValueError(str(error)) from None
    found = FileJudge(
        gate,
        judge=judges,
        cache=None if cache is None else JudgeCache(os.fspath(cache), ttl=cache_ttl),
        max_errors=max_errors or (None, None),
        **options,
    )
    # Without calls, a cache serves where no judge can be reached.
    if asked and options.get("max_calls") != 0:
        try:
            found.check()
        except JudgeError as error:
            raise UsageError(f"--judge: {error}") from None
    return found


def tell_interrupted(judge: FileJudge | None, price: tuple[float, float] | None) -> None:
    """Says what is left of an interrupted run that no cache keeps."""
    if judge is None or judge.kept is None:
        return
    tell_usage(judge, price)
    place = "standard output" if judge.kept in ("", "-") else judge.kept
    look.tell("note", f"what is decided is in {place}")


def tell_usage(judge: FileJudge | None, price: tuple[float, float] | None) -> None:
    """Prints what the judges cost, a line each, on standard error."""
    for usage in judge.usage if judge is not None else ():
        tokens = usage.usage
        words = f"{usage.judge}: {plural(usage.calls, 'call')}"
        if usage.failed:
            words += f", {usage.failed:,} failed"
        if usage.cached:
            words += f", {usage.cached:,} from the cache"
        if tokens.total:
            words += f", {tokens.input_tokens:,} tokens in, {tokens.output_tokens:,} out"
        if price is not None:
            words += f", cost {usage.cost({usage.judge: price}) or 0.0:.4f}"
        look.tell("judge", words)


#: A placeholder, as flows fill it.
_PLACEHOLDER = re.compile(r"\{[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\}")

#: The target that a flow scores by default.
_TARGET = "{previous.output}"


def placeholders(block: dict[str, Any]) -> list[SpecIssue]:
    """What an author may take for filled: outside a flow, placeholders stay as they are."""
    texts = [("score.target", block.get("target"))] if block.get("target") != _TARGET else []
    for index, scorer in enumerate(block["scorers"]):
        texts.append((f"score.scorers[{index}].value", scorer.get("value")))
    texts.append(("score.judge.task", (block.get("judge") or {}).get("task")))
    found = []
    for path, text in texts:
        for name in dict.fromkeys(_PLACEHOLDER.findall(text) if isinstance(text, str) else ()):
            message = f"{name} is not filled outside a flow, and stays as it is"
            found.append(SpecIssue("unfilled_placeholder", path, message))
    return found


def judge_lines(judge: dict[str, Any] | None) -> list[str]:
    """What is asked of the judge, and what of its reply is read."""
    if judge is None:
        return []
    from ..judge._prompt import Asks

    form = judge.get("reply") or {}
    lines = [f"judge: asked to end with: {Asks.of(form).closing}"]
    if judge.get("fields"):
        lines.append(f"judge: is shown the row's {', '.join(judge['fields'])}")
    for side in ("pass", "block"):
        if form.get(side):
            lines.append(f"judge: reads as {side}: {', '.join(form[side])}")
    for kind, what in (("labels", "label"), ("keys", "key")):
        for name, names in (form.get(kind) or {}).items():
            lines.append(f"judge: reads as {what} of the {name}: {', '.join(names)}")
    if form.get("scale") is not None:
        worst, best = form["scale"]
        bar = form.get("passAt", 0.5)
        edge = worst + bar * (best - worst)
        lines.append(
            f"judge: scores from {worst:.10g} (worst) to {best:.10g} (best); passes from "
            f"{edge:.10g} on"
        )
    policy = judge.get("onUnparseable", "pass")
    lines.append(f"judge: a reply without a vote gives: {policy}")
    return lines
