"""What an author may have meant: hints beside the errors of a gate that cannot be built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from collections.abc import Collection

#: So many hints are given, and names are cut to so many characters.
_MOST, _LENGTH = 8, 40


def hints(spec: Any, errors: list[str]) -> list[str]:
    """Hints for a gate that was refused, at most eight; often none.

    Args:
        spec: the score block, or its JSON text.
        errors: its shape errors.
    """
    if isinstance(spec, str | bytes):
        text = spec if isinstance(spec, str) else spec.decode("utf-8", "replace")
        if errors[0].startswith("score: not JSON: "):
            if text.lstrip().startswith(("{", "[")):
                return []
            return ["a str is JSON text; Gate.from_file opens a file"]
        spec = _native.extract_json(spec, None, has_default=True)
    if not isinstance(spec, Mapping):
        return []
    found = _other_kind(spec) or [*_keys("score", spec, _schema(), listed=errors)]
    scorers = spec.get("scorers")
    for index, scorer in enumerate(scorers if isinstance(scorers, list | tuple) else ()):
        if isinstance(scorer, Mapping):
            found += _scorer(f"score.scorers[{index}]", scorer)
    judge = spec.get("judge")
    if isinstance(judge, Mapping):
        known = _schema()["judge"]["properties"]
        found += [hint for key in judge if (hint := _near(f"score.judge.{key}", key, known))]
    return found[:_MOST]


def _schema() -> dict[str, Any]:
    """The properties of a score block."""
    properties: dict[str, Any] = _native.extract_json(_native.gate_schema())["properties"]
    return properties


def _other_kind(spec: Mapping[str, Any]) -> list[str]:
    """What the object is, where it is no score block."""
    if "scorers" in spec:
        return []
    if "phases" in spec:
        return [
            "this is a flow: the score block of a gate phase is under phases[i].score; the command "
            "line reads flows"
        ]
    if "score" in spec:
        return ["this is a gate phase: its score block is under score"]
    if spec.get("type") in _types():
        return ['this is one scorer; a gate is {"scorers": [...]}']
    return []


def _types() -> dict[str, set[str]]:
    """The scorer types, each with its fields."""
    return {
        row["type"]: {"type", "name", *(field[0] for field in row["fields"])}
        for row in _native.scorer_table()
    }


def _keys(
    path: str, spec: Mapping[str, Any], known: Collection[str], *, listed: list[str]
) -> list[str]:
    """Unknown keys, named where no error lists them."""
    found = []
    for key in spec:
        place = f"{path}.{key}"
        hint = _near(place, key, known)
        if hint is None and key not in known and not any(e.startswith(place) for e in listed):
            hint = f"{_clip(place)}: unknown score keyword"
        if hint is not None:
            found.append(hint)
    return found


def _scorer(path: str, scorer: Mapping[str, Any]) -> list[str]:
    types = _types()
    kind = scorer.get("type")
    if not isinstance(kind, str):
        return []
    if kind not in types:
        near = _nearest(kind, types)
        return [f"{path}.type: got '{_clip(kind)}'; did you mean '{near}'?"] if near else []
    return [hint for key in scorer if (hint := _near(f"{path}.{key}", key, types[kind]))]


def _near(place: str, key: str, known: Collection[str]) -> str | None:
    """A hint for an unknown key that is close to a known one."""
    near = None if key in known else _nearest(key, known)
    return None if near is None else f"{_clip(place)}: did you mean '{near}'?"


def _nearest(name: str, known: Collection[str]) -> str | None:
    # Only a refused gate needs it.
    from difflib import get_close_matches

    found = get_close_matches(name[:_LENGTH].casefold(), [*known], 1, 0.7)
    return found[0] if found else None


def _clip(name: str) -> str:
    return name if len(name) <= 2 * _LENGTH else name[: 2 * _LENGTH] + "…"
