"""Spark, for real: 200,000 rows in Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from conftest import GATE, by_id, resident, same

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


def test_verdicts_equal_the_local_ones(
    spark: Any, folder: Path, local: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql.classic.dataframe import DataFrame
    from scoregate.engines.spark import score_dataframe

    for name in ("collect", "toPandas", "toArrow", "toLocalIterator"):
        monkeypatch.setattr(DataFrame, name, None)
    before = resident()
    scored = score_dataframe(spark.read.parquet(str(folder)), GATE)
    scored.write.parquet(str(tmp_path / "out"))
    grown = resident() - before
    monkeypatch.undo()
    print(f"driver grew by {grown >> 20} MiB")
    assert grown < 60_000_000
    found = by_id(tmp_path / "out")
    same(found, local)
    assert set(found["input.verdict"].to_pylist()) == {"old"}


def test_columns_are_checked_before_any_row_is_read(spark: Any) -> None:
    from scoregate.engines.spark import score_dataframe

    frame = spark.createDataFrame([(1, "ok"), (2, None)], "id int, output string")
    few = score_dataframe(frame, GATE, keep=["id"], details="none")
    assert few.columns[:3] == ["id", "verdict", "verdict_code"]
    assert [row.verdict for row in few.orderBy("id").collect()] == ["pass", "block"]
    with pytest.raises(ValueError, match="keep: no column 'key'; the table has id, output"):
        score_dataframe(frame, GATE, keep=["key"])
    with pytest.raises(ValueError, match="column: no column 'text'; the table has id, output"):
        score_dataframe(frame, GATE, "text")


def test_a_task_has_its_own_threads(spark: Any) -> None:
    from scoregate.engines.spark import task_cpus

    assert spark.sparkContext.parallelize([0], 1).map(lambda _: task_cpus()).collect() == [1]
    assert task_cpus() == 1
