"""Each scorer type alone against the same check in plain Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import scoregate
from harness import Run, compare, fresh, same, seconds, table
from peers import NOTHING, SCHEMA, SUCCESS, utf16_length, with_jsonschema_rs

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Each scorer alone"
ABOUT = """
A gate of one scorer, `threads=1`, `details="none"`, against a list comprehension over the plain
Python check on the same texts. Cheap checks cost what any batch
costs a row: taking the text from Python and writing the columns. That is where a check written as
one Python operator is as fast; a gate pays it once for all of its scorers.
"""
DATE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
#: Beyond the five keywords, so read as JSON Schema.
FULL = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"}},
}


def schema_check(schema: Any) -> Callable[[str], bool]:
    peer = with_jsonschema_rs(schema)
    parse, violations = peer.parse, peer.violations

    def check(text: str) -> bool:
        value = parse(text)
        return value is not NOTHING and violations(value) is None

    return check


def cases() -> list[tuple[str, dict[str, Any], str, Callable[[str], bool]]]:
    """What is timed: label, scorer, the peer's name, the peer."""
    date = DATE.search
    status = SUCCESS.search
    return [
        ("exact-match", {"type": "exact-match", "value": "PASS"}, "==", lambda t: t == "PASS"),
        (
            "contains",
            {"type": "contains", "value": '"status"'},
            "in",
            lambda t: '"status"' in t,
        ),
        (
            "regex, literal start",
            {"type": "regex", "pattern": SUCCESS.pattern},
            "re",
            lambda t: status(t) is not None,
        ),
        (
            "regex, no literal",
            {"type": "regex", "pattern": DATE.pattern.replace(r"\d", "[0-9]")},
            "re",
            lambda t: date(t) is not None,
        ),
        (
            "json-schema, contract",
            {"type": "json-schema", "schema": SCHEMA},
            "orjson + jsonschema-rs",
            schema_check(SCHEMA),
        ),
        (
            "json-schema, JSON Schema",
            {"type": "json-schema", "schema": FULL},
            "orjson + jsonschema-rs",
            schema_check(FULL),
        ),
        (
            "length-range, utf16",
            {"type": "length-range", "min": 50, "max": 5000},
            "len of UTF-16",
            lambda t: 50 <= utf16_length(t) <= 5000,
        ),
        (
            "length-range, word",
            {"type": "length-range", "min": 1, "unit": "word"},
            "re \\w+",
            lambda t, words=re.compile(r"\w+").findall: len(words(t)) >= 1,
        ),
    ]


def run(run: Run) -> str:
    lines = []
    for label, scorer, peer, check in cases():
        gate = scoregate.Gate({"scorers": [scorer]})
        expected = list(gate.score_batch(run.texts, threads=1).columns["passed"])
        same(label, expected, [check(text) for text in run.texts])
        timings = compare(
            {
                "ours": lambda texts, gate=gate: gate.score_batch(texts, threads=1, details="none"),
                "peer": lambda texts, check=check: [check(text) for text in texts],
            },
            run.repeats,
            lambda: fresh(run.texts),
        )
        ours, theirs = timings["ours"].cpu, timings["peer"].cpu
        count = len(run.rows)
        row = [seconds(ours / count), seconds(theirs / count), peer, f"{theirs / ours:.1f}x"]
        lines.append([label, *row])
    return table(["scorer", "CPU a row", "plain Python", "which is", "ratio"], lines)
