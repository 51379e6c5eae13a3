"""The rows of tests/data/schema, through Python: by value and by text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import scoregate
from scoregate import _native

PATH = Path(__file__).resolve().parents[2] / "data" / "schema" / "keywords.jsonl"
ROWS = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[f"{i}-{row['keyword']}" for i, row in enumerate(ROWS)])
def test_rows_of_keywords(row: dict[str, Any]) -> None:
    schema = row["schema"]
    scorer = {"type": "json-schema", "schema": schema}
    for key in ("fits", "unfit"):
        for value in row[key]:
            found = _native.schema_violations(value, schema)
            assert (not found) == (key == "fits"), (value, found)
            if isinstance(value, (dict, list)) and value:
                outcome = scoregate.evaluate_scorer(scorer, json.dumps(value))
                assert outcome.passed == (key == "fits"), (value, outcome.detail)


def test_every_keyword_has_rows() -> None:
    source = (PATH.parents[3] / "src" / "contract" / "keywords.rs").read_text(encoding="utf-8")
    table = source.partition("const KEYWORDS")[2].partition("];")[0]
    keywords = {line.split('"')[1] for line in table.splitlines() if line.strip().startswith('("')}
    assert len(keywords) > 60
    assert keywords <= {row["keyword"] for row in ROWS}
