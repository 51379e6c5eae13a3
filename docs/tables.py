"""Writes the tables of the documentation that the core knows: python docs/tables.py.

Each stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; a test holds that they are right.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from scoregate import _native
from scoregate.flow._fields import FLOW_FIELDS, KINDS, PHASE_FIELDS, TYPES, Field

DOCS = Path(__file__).parent


def fields(row: dict[str, Any]) -> str:
    """The fields of a scorer."""
    lines = ["| field | type | default | meaning |", "| --- | --- | --- | --- |"]
    for field in row["fields"]:
        default = field["default"] or "required"
        lines.append(f"| `{field['name']}` | {field['values']} | {default} | {field['doc']} |")
    return "\n".join(lines)


def kinds() -> str:
    """The kinds of issues."""
    rows = [f"| `{name}` | {doc} |" for name, doc in _native.issue_kinds()]
    return "\n".join(["| kind | meaning |", "| --- | --- |", *rows])


def flow_fields(given: tuple[Field, ...]) -> str:
    """The fields of a flow or of its phases."""
    typed = any(field.types != TYPES for field in given)
    heads = ["field", *(["phases"] if typed else []), "holds", "default", "meaning", "example"]
    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join(['---'] * len(heads))} |"]
    for field in given:
        types = "all" if field.types == TYPES else ", ".join(field.types)
        example = json.dumps(field.example, ensure_ascii=False).replace("|", "\\|")
        cells = [f"`{field.name}`", *([types] if typed else []), field.values, field.default]
        lines.append(f"| {' | '.join([*cells, field.doc, f'`{example}`'])} |")
    return "\n".join(lines)


def flow_kinds() -> str:
    """The kinds of issues that only flows have."""
    rows = [f"| `{name}` | {doc} |" for name, doc in KINDS.items()]
    return "\n".join(["| kind | meaning |", "| --- | --- |", *rows])


def written(text: str) -> str:
    """A page with its tables as the core has them."""
    made = {row["type"]: fields(row) for row in _native.scorer_table()} | {"kinds": kinds()}
    made |= {"flow-fields": flow_fields(FLOW_FIELDS), "phase-fields": flow_fields(PHASE_FIELDS)}
    made |= {"flow-kinds": flow_kinds()}
    return re.sub(
        r"(<!-- table: ([a-z-]+) -->\n).*?(\n<!-- end -->)",
        lambda found: found[1] + made[found[2]] + found[3],
        text,
        flags=re.DOTALL,
    )


if __name__ == "__main__":
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (new := written(text)) != text:
            page.write_text(new, encoding="utf-8")
            sys.stdout.write(f"{page.name}\n")
