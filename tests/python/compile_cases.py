"""The table of snippets that compilers accept or refuse."""

from __future__ import annotations

from typing import Any

from .conftest import DATA, read_rows

ROWS = read_rows(DATA / "compile" / "snippets.jsonl")


def code_of(row: dict[str, Any]) -> str:
    """The code of a row, which may be repeated."""
    code = row["code"] * row.get("repeat", 1)
    return f"{row.get('start', '')}{code}{row.get('end', '')}"
