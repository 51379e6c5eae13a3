"""What ``json_repair`` and ``scoregate repair`` take a text to mean."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from . import _native

#: What a schema changed: a code, its severity, the place in the value, a message.
Change: TypeAlias = "tuple[str, str, str, str]"

#: Repairs of structure, which ``strict`` refuses.
_STRUCTURAL = frozenset(
    {
        "array_as_object",
        "dropped_key",
        "dropped_text",
        "duplicate_key",
        "extra_comma",
        "missing_colon",
        "missing_comma",
        "missing_value",
        "several_documents",
        "surplus_closer",
        "wrong_closer",
    }
)


def value_of(result: _native.JSONResult) -> Any:
    """The value, and ``""`` where the text holds none; limits are errors."""
    if result.ok:
        return result.value
    error = result.error
    if error is not None and error.code not in ("no_json", "not_utf8"):
        raise ValueError(str(error))
    return ""


def documents(result: _native.JSONResult, text: str) -> Any:
    """The value; of documents with prose between them the last of each shape."""
    if not any(found.code == "other_candidate" for found in result.diagnostics):
        return value_of(result)
    kept: list[Any] = []
    for one in _candidates(text):
        if not _is_data(one):
            continue
        if kept and _alike(kept[-1], one.value):
            kept[-1] = one.value
        else:
            kept.append(one.value)
    if not kept:
        return value_of(result)
    return kept[0] if len(kept) == 1 else kept


def _candidates(text: str) -> list[_native.JSONResult]:
    """The documents of a text with prose between them, in order."""
    best = _native.parse_json(text, candidates="all")
    found = [one for one in (best, *best.others) if isinstance(one.value, dict | list)]
    return sorted(found, key=lambda one: one.span or (0, 0))


def _is_data(found: _native.JSONResult) -> bool:
    """True for what has members; a list of one scalar in prose may be a citation."""
    value: Any = found.value
    if isinstance(value, dict) or found.source == "fence":
        return bool(value)
    return len(value) > 1 or any(isinstance(item, dict | list) and item for item in value)


def fitted(
    result: _native.JSONResult, text: str, schema: Any, *, salvage: bool
) -> tuple[Any, list[Change]]:
    """The value of a text as a schema wants it, and what that changed.

    Without ``salvage`` the schema has guided the result.

    Raises:
        ValueError: the value does not fit, or the schema is malformed.
    """
    if not result.ok:
        value_of(result)
        _native.schema_violations(None, schema)
        raise ValueError("no JSON found")
    several = any(found.code == "other_candidate" for found in result.diagnostics)
    whole = documents(result, text)
    found: list[str] = []
    for piece in [*_pieces(result, text), whole] if salvage else [whole]:
        value, changes = piece, list[Change]()
        if several or salvage:
            value, changes = _native.coerce_json(json.dumps(piece), schema, salvage=salvage)
        found = _native.schema_violations(value, schema)
        if not found:
            return value, changes
    raise ValueError("; ".join(found))


def _pieces(result: _native.JSONResult, text: str) -> list[Any]:
    """The documents of a text, where it holds several."""
    codes = {found.code for found in result.diagnostics}
    if "other_candidate" in codes:
        return [one.value for one in _candidates(text)]
    if "several_documents" in codes and isinstance(result.value, list):
        return result.value
    return []


def _alike(a: Any, b: Any) -> bool:
    """True for values with the same keys and lengths, at any depth."""
    pairs = [(a, b)]
    while pairs:
        a, b = pairs.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, dict):
            if a.keys() != b.keys():
                return False
            pairs.extend((a[key], b[key]) for key in a)
        elif isinstance(a, list):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
    return True


def refuse(result: _native.JSONResult) -> None:
    """Raises where a repair touched the structure."""
    for found in result.diagnostics:
        if found.code in _STRUCTURAL:
            raise ValueError(str(found))
