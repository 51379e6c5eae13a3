"""``verdict``, ``judge-reply``, ``winner``: the reply grammars on files."""

from __future__ import annotations

import itertools
import json
import sys
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from .. import _native
from .._errors import InputError
from .._files import reason
from .common import UNDER, UsageError, exit_codes, help_text, stdout
from .judging import OnUnparseable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

app = typer.Typer()

_EXITS = (
    "Exit codes: 0 done; 1 a reply blocks, with --exit-code; 2 usage; 3 input or output failed."
)

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
    typer.Option("--jsonl", metavar="", help="The files hold JSON lines, a reply in each line."),
]
Field = Annotated[str, typer.Option(metavar="NAME", help="With --jsonl, the key of the reply.")]
IdField = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="With --jsonl, the key of the id. A row without one gets its number, from 0 over all files.",
    ),
]
Policy = Annotated[
    OnUnparseable,
    typer.Option("--on-unparseable", help="The verdict of a reply that holds no vote."),
]
ExitCode = Annotated[
    bool, typer.Option("--exit-code", metavar="", help="Exit with 1 when a reply blocks.")
]


@app.command(
    help=help_text(
        "Read a gate's reply: pass or block.\n\n"
        'A reply is JSON such as {"verdict": "block", "reason": "..."}, or text with a line such as '
        "VERDICT: BLOCK, the last of which counts. Writes a line of JSON for each reply.",
        ("scoregate verdict reply.txt", 'One reply; gives {"verdict": "block", "reason": "..."}.'),
        (
            "scoregate verdict --jsonl --field reply replies.jsonl",
            "Many replies, a line each.",
        ),
    ),
    epilog=_EXITS,
)
def verdict(
    files: Files = None,
    lines: Lines = False,
    field: Field = "reply",
    id_field: IdField = "id",
    on_unparseable: Policy = OnUnparseable.passes,
    exit_code: ExitCode = False,
) -> None:
    """Reads replies by the verdict grammar."""

    def read(text: str | None) -> dict[str, Any]:
        found = _native.parse_verdict(text, on_unparseable=on_unparseable.value)
        return {"verdict": found.verdict, "reason": found.reason, **_standing(found)}

    with exit_codes():
        if _write(files, lines, field, id_field, read) and exit_code:
            raise typer.Exit(UNDER)


@app.command(
    name="judge-reply",
    help=help_text(
        "Read a judge's reply: score, verdict and reason.\n\n"
        'A reply is JSON such as {"score": 0.8, "verdict": "pass"}, or text with lines such as '
        "SCORE: 0.8 and VERDICT: PASS. Writes a line of JSON for each reply; disputed is true where "
        "it contradicts or qualifies itself, which blocks, and parsed is false there and where "
        "--on-unparseable gave the verdict.",
        ("scoregate judge-reply < reply.txt", "One reply from standard input."),
        (
            "scoregate judge-reply --jsonl --field reply replies.jsonl --on-unparseable block",
            "Many replies; one that cannot be read blocks.",
        ),
    ),
    epilog=_EXITS,
)
def judge_reply(
    files: Files = None,
    lines: Lines = False,
    field: Field = "reply",
    id_field: IdField = "id",
    on_unparseable: Policy = OnUnparseable.passes,
    exit_code: ExitCode = False,
) -> None:
    """Reads replies by the judge grammar."""

    def read(text: str | None) -> dict[str, Any]:
        found = _native.parse_judge(text, on_unparseable=on_unparseable.value)
        return {
            "score": found.score,
            "verdict": found.verdict,
            "reason": found.reason,
            **_standing(found),
            **({"clamped": True} if found.clamped else {}),
        }

    with exit_codes():
        if _write(files, lines, field, id_field, read) and exit_code:
            raise typer.Exit(UNDER)


@app.command(
    help=help_text(
        "Read a reply that chooses among numbered variants.\n\n"
        'A reply is JSON such as {"winner": 2}, or text with a line such as WINNER: 2. Writes a '
        "line of JSON for each reply; one that cannot be read gives variant 1, with a reason.",
        ("scoregate winner --count 3 reply.txt", 'One reply; gives {"winner": 2}.'),
    ),
    epilog="Exit codes: 0 done; 2 usage; 3 input or output failed.",
)
def winner(
    count: Annotated[
        int, typer.Option("--count", min=1, metavar="N", help="How many variants there are.")
    ],
    files: Files = None,
    lines: Lines = False,
    field: Field = "reply",
    id_field: IdField = "id",
) -> None:
    """Reads replies by the winner grammar."""

    def read(text: str | None) -> dict[str, Any]:
        found = _native.parse_winner(text, count)
        return {
            "winner": found.winner,
            "reason": found.reason,
            **_standing(found),
            "tie": found.tie,
            **({"clamped": True} if found.clamped else {}),
        }

    with exit_codes():
        _write(files, lines, field, id_field, read)


def _standing(found: Any) -> dict[str, Any]:
    """Whether a reply says plainly what it says, or contradicts itself."""
    return {"parsed": found.parsed, "disputed": found.disputed}


def _replies(
    files: list[str] | None, lines: bool, field: str, id_field: str
) -> Iterator[tuple[dict[str, Any], str | None]]:
    """The replies, each with what its output line starts with."""
    places = files or ["-"]
    if places.count("-") > 1:
        raise UsageError("-: standard input can be read only once")
    rows = itertools.count()
    for place in places:
        name = "<stdin>" if place == "-" else place
        try:
            if place == "-":
                yield from _of(_stdin(name), name, {}, lines, field, id_field, rows)
            else:
                head = {"file": place} if len(places) > 1 and not lines else {}
                with open(place, "rb") as file:
                    yield from _of(file, name, head, lines, field, id_field, rows)
        except (OSError, ValueError) as error:
            raise InputError(f"{name}: {reason(error)}") from None


def _stdin(name: str) -> IO[bytes]:
    if sys.stdin is None:
        raise InputError(f"{name}: is closed")
    return sys.stdin.buffer


def _of(
    file: IO[bytes],
    name: str,
    head: dict[str, Any],
    lines: bool,
    field: str,
    id_field: str,
    rows: Iterator[int],
) -> Iterator[tuple[dict[str, Any], str | None]]:
    """The replies of one file; a row without an id gets its number, from 0 over all files."""
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
        # A call that failed has no reply: null, which the grammars know.
        missing = not isinstance(value, dict) or field not in value
        if missing or not isinstance(text, str | None):
            raise InputError(f'{name}:{number}: field "{field}": expected a string or null')
        row, found = next(rows), value.get(id_field)
        if isinstance(found, bool | list | dict):
            wanted = "expected a string or a number as id"
            raise InputError(f'{name}:{number}: field "{id_field}": {wanted}')
        yield {"id": row if found is None else found}, text


def _write(
    files: list[str] | None,
    lines: bool,
    field: str,
    id_field: str,
    read: Callable[[str | None], dict[str, Any]],
) -> bool:
    """Writes a line for each reply, and tells whether one blocks."""
    blocked = False
    for head, text in _replies(files, lines, field, id_field):
        found = {key: value for key, value in read(text).items() if value is not None}
        blocked |= found.get("verdict") == "block"
        line = json.dumps({**head, **found}, ensure_ascii=False)
        stdout().write(line.encode("utf-8", "replace").decode() + "\n")
    return blocked
