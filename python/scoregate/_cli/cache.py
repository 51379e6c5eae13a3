"""``cache``: what a cache of judge replies holds."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._errors import InputError
from . import look
from .common import UsageError, exit_codes, help_text, plural, stdout

if TYPE_CHECKING:
    from ..judge._cache import CacheInfo

app = typer.Typer()


@app.command(
    help=help_text(
        "Show a cache of judge replies, or clear it.",
        ("scoregate cache j.db", "What it holds, by judge."),
        ("scoregate cache j.db --clear", "Remove every reply."),
        ("scoregate cache j.db --prune --ttl 604800", "Remove replies older than a week."),
    )
)
def cache(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="The file that score --cache wrote.", show_default=False
        ),
    ],
    clear: Annotated[bool, typer.Option("--clear", metavar="", help="Remove every reply.")] = False,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            metavar="",
            help="Remove the replies that --ttl makes expired, and give back the space.",
        ),
    ] = False,
    ttl: Annotated[
        float | None,
        typer.Option(min=1, metavar="SECONDS", help="The age from which a reply is expired."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="What the cache holds, as one line of JSON.")
    ] = False,
) -> None:
    """Shows a cache of judge replies, or clears it."""
    with exit_codes():
        # Only this command needs sqlite3.
        from ..judge._cache import JudgeCache

        # A cache that is absent would be made.
        if not os.path.exists(file):
            raise InputError(f"{file}: no such file")
        if prune and ttl is None:
            raise UsageError("--prune needs --ttl: how many seconds a reply is good")
        with JudgeCache(file, ttl=ttl) as found:
            if clear or prune:
                removed = found.clear() if clear else found.prune()
                look.tell("note", f"{file}: {plural(removed, 'reply')} removed")
                return
            info = found.info()
        models = _models(info)
        if as_json:
            stdout().write(_line(info, models))
        else:
            _show(file, info, models)


def _models(info: CacheInfo) -> list[dict[str, Any]]:
    return [
        {
            "judge": model.judge,
            "replies": model.replies,
            "input_tokens": model.usage.input_tokens,
            "output_tokens": model.usage.output_tokens,
        }
        for model in info.models
    ]


def _line(info: CacheInfo, models: list[dict[str, Any]]) -> str:
    value = {
        "path": info.path,
        "replies": info.replies,
        "bytes": info.bytes,
        "expired": info.expired,
        "oldest": info.oldest,
        "newest": info.newest,
        "judges": models,
    }
    return json.dumps(value) + "\n"


def _show(path: str, info: CacheInfo, models: list[dict[str, Any]]) -> None:
    replies, size = plural(info.replies, "reply"), plural(info.bytes, "byte")
    stdout().write(f"{look.printable(path)}: {replies}, {size}\n")
    if info.expired:
        stdout().write(f"expired: {info.expired:,}\n")
    if info.oldest is not None and info.newest is not None:
        first, last = (
            time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
            for at in (info.oldest, info.newest)
        )
        stdout().write(f"written: {first} to {last}\n")
    for model in models:
        words = f"{model['judge']}: {plural(model['replies'], 'reply')}, "
        words += f"{plural(model['input_tokens'], 'token')} in, {model['output_tokens']:,} out"
        stdout().write(look.printable(words) + "\n")
