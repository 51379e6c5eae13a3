"""The judge on the command line: the options of ``score``, and what they build."""

from __future__ import annotations

import os
import shlex
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import look

if TYPE_CHECKING:
    from ..gate import Gate
    from ..judge import AnyJudge
    from ..judge.files import FileJudge

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


class OnUnparseable(StrEnum):
    """What an unreadable reply gives."""

    passes = "pass"
    block = "block"


def _price(value: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in value.split(","))
        if first >= 0 and second >= 0:
            return first, second
    except ValueError:
        pass
    raise typer.BadParameter(f"{value!r}: must be two numbers, such as 0.15,0.6")


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
JudgeError = Annotated[
    OnJudgeError, _option("--on-judge-error", help="The verdict of a row whose call failed.")
]
Unparseable = Annotated[
    OnUnparseable | None,
    _option(
        "--on-unparseable",
        help="The verdict of a row whose reply cannot be read; by default as the gate says, else "
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


def read_judge(text: str, *, base_url: str | None, api_key_env: str, timeout: float) -> AnyJudge:
    """A judge from ``openai:MODEL`` or ``cmd:COMMAND``.

    Raises:
        ValueError: it is neither, or cannot be built.
    """
    kind, _, rest = text.partition(":")
    if kind == "openai" and rest:
        from ..judge import OpenAIJudge

        try:
            return OpenAIJudge(rest, base_url=base_url, api_key_env=api_key_env, timeout=timeout)
        except ImportError as error:
            raise ValueError(str(error)) from None
    if kind == "cmd" and rest.strip():
        from ..judge import CommandJudge

        try:
            return CommandJudge(shlex.split(rest), timeout=timeout)
        except ValueError as error:
            raise ValueError(f"--judge: cmd: {error}") from None
    raise ValueError("--judge: must be openai:MODEL or cmd:COMMAND")


def file_judge(
    gate: Gate,
    names: list[str] | None,
    *,
    base_url: str | None,
    api_key_env: str,
    timeout: float,
    concurrency: int,
    max_calls: int | None,
    max_tokens: int | None,
    deadline: float | None,
    cache: str | None,
    cache_ttl: float | None,
    reducer: str,
    on_judge_error: str,
    on_unparseable: str | None,
) -> FileJudge | None:
    """The judge of a run; None when none is asked for.

    Raises:
        ValueError: an option is out of its range, or goes with a judge that is absent.
        CacheError: the cache cannot be opened.
    """
    if not names:
        if cache is not None or base_url is not None:
            raise ValueError("--cache and --base-url need --judge")
        return None
    from ..judge import JudgeCache
    from ..judge.files import FileJudge

    if "judge" not in gate.spec:
        look.tell("note", "the gate names no judge, so --judge is never asked")
    judges = [
        read_judge(name, base_url=base_url, api_key_env=api_key_env, timeout=timeout)
        for name in names
    ]
    options: Any = {
        "reducer": reducer,
        "on_judge_error": on_judge_error,
        "on_unparseable": on_unparseable,
    }
    return FileJudge(
        gate,
        judge=judges,
        concurrency=concurrency,
        max_calls=max_calls,
        max_tokens=max_tokens,
        deadline=deadline,
        cache=None if cache is None else JudgeCache(os.fspath(cache), ttl=cache_ttl),
        **options,
    )


def tell_usage(judge: FileJudge | None, price: tuple[float, float] | None) -> None:
    """Prints what the judges cost, a line each, on standard error."""
    for usage in judge.usage if judge is not None else ():
        tokens = usage.usage
        words = f"{usage.judge}: {usage.calls:,} call{'s' if usage.calls != 1 else ''}"
        if usage.failed:
            words += f", {usage.failed:,} failed"
        if usage.cached:
            words += f", {usage.cached:,} from the cache"
        if tokens.total:
            words += f", {tokens.input_tokens:,} tokens in, {tokens.output_tokens:,} out"
        if price is not None:
            words += f", cost {usage.cost({usage.judge: price}) or 0.0:.4f}"
        look.tell("judge", words)
