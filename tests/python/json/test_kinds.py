"""Rows by kind, the kinds of other packages' suites, streams, the drop-in: their form and values."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import scoregate
from scoreboard import same

DATA = Path(__file__).resolve().parents[2] / "data" / "json"
FOLDERS = ("kinds", "peers")
#: Characters of a piece of a stream.
PIECE = 5
#: Rows that a kind has at least.
LEAST = 6


def rows(folder: str) -> list[dict[str, Any]]:
    texts = (path.read_bytes().decode() for path in sorted((DATA / folder).glob("*.jsonl")))
    return [json.loads(line) for text in texts for line in text.split("\n") if line]


@pytest.mark.parametrize("folder", FOLDERS)
def test_rows_are_well_formed(folder: str) -> None:
    found = rows(folder)
    assert len({row["id"] for row in found}) == len(found)
    assert len({row["input"] for row in found}) == len(found)
    codes = {code for code, _, _ in scoregate._native.json_codes()} | {"suspicious_escape"}
    for row in found:
        assert ("expected" in row) != (row.get("expected_none") is True), row["id"]
        assert set(row["modes"]) <= {"strict", "repair"}
        assert set(row.get("codes", [])) <= codes
        if "strict" in row["modes"] and "expected" in row and row.get("codes") == []:
            assert same(scoregate.extract_json(row["input"]), row["expected"]), row["id"]


def test_every_kind_has_rows_enough() -> None:
    counts = Counter(row["kind"] for row in rows("kinds"))
    assert {kind: count for kind, count in counts.items() if count < LEAST} == {}


@pytest.mark.parametrize("folder", FOLDERS)
def test_rows_are_right(folder: str) -> None:
    wrong = []
    for row in rows(folder):
        result = scoregate.parse_json(row["input"])
        right = not result.ok if "expected" not in row else same(result.value, row["expected"])
        if not right or row.get("severity", result.severity) != result.severity:
            wrong.append(f"{row['id']} {row['kind']}: {row['input'][:120]!r}: {result.value!r}")
    assert wrong == []


def test_streams_are_right() -> None:
    wrong = []
    for row in rows("streams"):
        stream = scoregate.JSONStream()
        for at in range(0, len(row["input"]), PIECE):
            stream.feed(row["input"][at : at + PIECE])
        result = stream.close()
        codes = {found.code for found in result.diagnostics}
        if (
            not same(result.value, row["first"])
            or not set(row.get("codes", [])) <= codes
            or row.get("severity", result.severity) != result.severity
        ):
            wrong.append(f"{row['id']} {row['kind']}: {row['input']!r}: {result.value!r}")
    assert wrong == []


@pytest.mark.parametrize("size", [1, 7])
def test_a_stream_says_what_it_reads_otherwise(size: int) -> None:
    """The codes that `docs/json.md` lists for streams cover every row of every table."""
    listed = {"reads_otherwise", "other_candidate"}
    differ, unsaid = 0, []
    for row in (row for folder in ("", *FOLDERS) for row in rows(folder)):
        whole = scoregate.parse_json(row["input"])
        stream = scoregate.JSONStream()
        for at in range(0, len(row["input"]), size):
            stream.feed(row["input"][at : at + size])
        result = stream.close()
        if result.ok == whole.ok and same(result.value, whole.value):
            continue
        differ += 1
        said = {found.code for found in result.diagnostics if found.severity == "lossy"}
        if result.ok and not said & listed:
            unsaid.append(row["id"])
    assert unsaid == []
    assert differ
