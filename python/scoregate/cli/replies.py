"""``verdict``, ``winner``, ``judge-reply``: the reply grammars on files; ``cache``."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import _native
from ..errors import CacheError, InputError
from ..files import reason
from . import look
from .judging import OnUnparseable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="REPLY.txt|-",
        help="Files that hold a reply each; - or nothing is standard input.",
        show_default=False,
    ),
]
Lines = Annotated[
    bool,
    typer.Option("--jsonl", help="The files hold JSON lines, with a reply in each."),
]
Field = Annotated[str, typer.Option(metavar="NAME", help="With --jsonl, the key of the reply.")]
IdField = Annotated[str, typer.Option(metavar="NAME", help="With --jsonl, the key of the id.")]
Policy = Annotated[
    OnUnparseable, typer.Option("--on-unparseable", help="What an unreadable reply gives.")
]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when a reply blocks.")]


def _replies(
    files: list[str] | None, lines: bool, field: str, id_field: str
) -> Iterator[tuple[dict[str, Any], str]]:
    """The replies, each with what its output line starts with."""
    places = files or ["-"]
    row = 0
    for place in places:
        name = "<stdin>" if place == "-" else place
        try:
            if place == "-":
                yield from _of(sys.stdin.buffer, name, {}, lines, field, id_field, row)
            else:
                head = {"file": place} if len(places) > 1 and not lines else {}
                with open(place, "rb") as file:
                    yield from _of(file, name, head, lines, field, id_field, row)
        except (OSError, ValueError) as error:
            raise InputError(f"{name}: {reason(error)}") from None


def _of(
    file: Any, name: str, head: dict[str, Any], lines: bool, field: str, id_field: str, row: int
) -> Iterator[tuple[dict[str, Any], str]]:
    if not lines:
        yield head, file.read().decode("utf-8", "replace").removeprefix("\ufeff")
        return
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError):
            raise InputError(f"{name}:{number}: is no JSON") from None
        text = value.get(field) if isinstance(value, dict) else None
        if not isinstance(text, str):
            raise InputError(f'{name}:{number}: field "{field}": expected a string')
        yield {"id": value.get(id_field, row)}, text
        row += 1


def _write(
    files: list[str] | None,
    lines: bool,
    field: str,
    id_field: str,
    read: Callable[[str], dict[str, Any]],
) -> bool:
    """Writes a line for each reply, and tells whether one blocks."""
    blocked = False
    for head, text in _replies(files, lines, field, id_field):
        found = {key: value for key, value in read(text).items() if value is not None}
        blocked |= found.get("verdict") == "block"
        line = json.dumps({**head, **found}, ensure_ascii=False)
        sys.stdout.write(line.encode("utf-8", "replace").decode() + "\n")
    return blocked


def verdict(files: Any, lines: bool, field: str, id_field: str, policy: Any) -> bool:
    """Reads replies by the verdict grammar."""

    def read(text: str) -> dict[str, Any]:
        found = _native.parse_verdict(text, on_unparseable=policy)
        return {"verdict": found.verdict, "reason": found.reason}

    return _write(files, lines, field, id_field, read)


def judge_reply(files: Any, lines: bool, field: str, id_field: str, policy: Any) -> bool:
    """Reads replies by the judge grammar."""

    def read(text: str) -> dict[str, Any]:
        found = _native.parse_judge(text, on_unparseable=policy)
        return {
            "score": found.score,
            "verdict": found.verdict,
            "reason": found.reason,
            "parsed": found.parsed,
        }

    return _write(files, lines, field, id_field, read)


def winner(files: Any, lines: bool, field: str, id_field: str, count: int) -> None:
    """Reads replies by the winner grammar."""

    def read(text: str) -> dict[str, Any]:
        found = _native.parse_winner(text, count)
        return {"winner": found.winner, "reason": found.reason}

    _write(files, lines, field, id_field, read)


def cache(path: str, *, ttl: float | None, clear: bool, prune: bool, as_json: bool) -> None:
    """Shows a cache, or removes replies from it.

    Raises:
        InputError: it is no cache.
    """
    import os

    from ..judge.cache import JudgeCache

    if not os.path.exists(path):
        raise InputError(f"{path}: no such file")
    try:
        with JudgeCache(path, ttl=ttl) as found:
            if clear or prune:
                removed = found.clear() if clear else found.prune()
                look.tell("note", f"{path}: {removed:,} replies removed")
                return
            info = found.info()
    except CacheError as error:
        raise InputError(str(error)) from None
    models = [
        {
            "judge": model.judge,
            "replies": model.replies,
            "input_tokens": model.usage.input_tokens,
            "output_tokens": model.usage.output_tokens,
        }
        for model in info.models
    ]
    if as_json:
        value = {
            "path": info.path,
            "replies": info.replies,
            "bytes": info.bytes,
            "expired": info.expired,
            "oldest": info.oldest,
            "newest": info.newest,
            "judges": models,
        }
        sys.stdout.write(json.dumps(value) + "\n")
        return
    sys.stdout.write(f"{look.printable(path)}: {info.replies:,} replies, {info.bytes:,} bytes\n")
    if info.expired:
        sys.stdout.write(f"expired: {info.expired:,}\n")
    if info.oldest is not None and info.newest is not None:
        first, last = (
            time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
            for at in (info.oldest, info.newest)
        )
        sys.stdout.write(f"written: {first} to {last}\n")
    for model in models:
        words = "{judge}: {replies:,} replies, {input_tokens:,} tokens in, {output_tokens:,} out"
        sys.stdout.write(look.printable(words.format(**model)) + "\n")
