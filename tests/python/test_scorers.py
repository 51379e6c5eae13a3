"""The table of each scorer type, run through the binding. Rust runs the same rows."""

from __future__ import annotations

from typing import Any

import pytest
import scoregate

from .conftest import DATA, read_rows

TABLES = {path.stem: read_rows(path) for path in sorted((DATA / "scorers").glob("*.jsonl"))}
ROWS = [
    pytest.param(row, id=f"{kind}: {row['name']}") for kind, rows in TABLES.items() for row in rows
]


def test_every_type_has_a_table() -> None:
    assert sorted(TABLES) == sorted(scoregate.scorer_types())


@pytest.mark.parametrize("row", ROWS)
def test_row(row: dict[str, Any]) -> None:
    block = {"scorers": [row["spec"]]}
    assert scoregate.score_shape_errors(block) == row.get("errors", [])
    if "errors" in row:
        with pytest.raises(scoregate.SpecError):
            scoregate.Gate(block)
        return
    found = scoregate.evaluate_scorer(row["spec"], row["text"], row=row.get("row"))
    assert found.passed is row["passed"], found.detail
    assert found.score == row.get("score", float(row["passed"]))
    if "detail" in row:
        assert found.detail == row["detail"]
    gate = scoregate.Gate(block)
    assert gate.score(row["text"], row.get("row")).results == [found]
    batch = gate.score_batch([row["text"]], [row.get("row")])
    assert batch[0].results == [found]
