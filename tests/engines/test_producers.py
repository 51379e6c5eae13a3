"""Libraries of tables: what each gives is what the list of texts gives."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from conftest import GATE, need, texts

if TYPE_CHECKING:
    from pathlib import Path

    from scoregate import BatchResult

SMALL = [*texts(3000), None, "\0", "x" * 13, "é" * 6, '{"a": "ok"}', "ok"]
SETS = pytest.mark.parametrize(
    "given", [SMALL, [None, None], ["ok", None], []], ids=["many", "nulls", "one", "empty"]
)


def same(batch: BatchResult, wanted: list[str | None]) -> None:
    whole = GATE.score_batch(wanted)
    assert list(batch) == list(whole)
    for name in GATE.output_schema().names:
        assert list(batch[name]) == list(whole[name]), name


def numbered(given: list[str | None]) -> pa.Table:
    """The texts with their numbers."""
    numbers = pa.array(range(len(given)), pa.int64())
    return pa.table({"n": numbers, "output": pa.array(given, pa.string())})


@SETS
def test_pandas(given: list[str | None]) -> None:
    need("pandas")
    import pandas as pd

    for dtype in (None, object, "str", "string", "category", pd.ArrowDtype(pa.string())):
        series = pd.Series(given, dtype=dtype)
        plain = [None if pd.isna(text) else text for text in series]
        assert plain == given
        same(GATE.score_batch(series), given)
        same(GATE.score_batch(series.tolist()), given)
        same(GATE.score_batch(series[1:]), given[1:])
        if plain.count(None) < len(plain):
            frame = pd.DataFrame({"id": range(len(given)), "output": series})
            same(GATE.score_table(frame), given)
            same(GATE.score_table(frame[1:]), given[1:])
    with pytest.raises(TypeError, match="got a DataFrame; pass the column"):
        GATE.score_batch(pd.DataFrame({"output": given}))
    with pytest.raises(TypeError, match=r"texts\[1\]: expected str or None, got int"):
        GATE.score_batch(pd.Series(["ok", 1]))
    # Halves of a pair are text of Python's that Arrow cannot hold.
    halves = pd.Series(["ok \ud83d", None], dtype=object)
    same(GATE.score_batch(halves), ["ok \ud83d", None])


@SETS
def test_pandas_gets_the_columns(given: list[str | None]) -> None:
    need("pandas")
    import pandas as pd

    ids = [f"r{i}" if i % 3 else None for i in range(len(given))]
    table = pa.table({"id": pa.array(ids, pa.string()), "output": pa.array(given, pa.string())})
    batch = GATE.score_table(table, id="id")
    frame = batch.to_pandas()
    assert list(frame.columns) == ["id", *GATE.output_schema().names]
    assert len(frame) == len(given)
    assert str(frame["passed"].dtype) == "boolean"
    assert str(frame["verdict"].dtype) == "category"
    for name in frame.columns:
        plain = [None if pd.isna(value) else value for value in frame[name]]
        assert plain == list(batch[name]), name


def test_pandas_needs_no_pyarrow_for_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    need("pandas")
    import pandas as pd

    def absent(*_: Any, **__: Any) -> None:
        raise ImportError("no pyarrow")

    series = pd.Series(["ok", None, "no"], dtype=pd.StringDtype("python"))
    monkeypatch.setattr(pd.Series, "__arrow_c_stream__", absent)
    same(GATE.score_batch(series), ["ok", None, "no"])
    assert len(GATE.score_batch(["ok"]).to_pandas()) == 1


@SETS
def test_duckdb(given: list[str | None]) -> None:
    need("duckdb")
    import duckdb

    con = duckdb.connect()
    con.register("outputs", numbered(given))
    relation = con.sql("select n, output from outputs order by n")
    batch = GATE.score_table(relation, id="n")
    same(batch, given)
    assert batch["n"] == list(range(len(given)))
    with pytest.raises(TypeError, match="pass the column that holds them"):
        GATE.score_batch(relation)
    kinds = con.sql("select 'ok'::enum('ok', 'no') as output union all select null")
    assert sorted(r is None for r in GATE.score_table(kinds)["reason"]) == [False, True]


@SETS
def test_duckdb_takes_the_results(given: list[str | None]) -> None:
    need("duckdb")
    import duckdb

    batch = GATE.score_batch(given)
    con = duckdb.connect()
    con.register("results", pa.RecordBatchReader.from_stream(batch))
    counted = dict(con.sql("select verdict, count(*) from results group by 1").fetchall())
    summary = batch.summary()
    assert counted == {name: summary[name] for name in ("pass", "block") if summary[name]}


@SETS
def test_datafusion(given: list[str | None], tmp_path: Path) -> None:
    need("datafusion")
    import datafusion
    import pyarrow.parquet as pq

    pq.write_table(numbered(given), tmp_path / "t.parquet")
    context = datafusion.SessionContext()
    context.register_parquet("t", str(tmp_path / "t.parquet"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(GATE.score_table(context.sql("select * from t order by n"), id="n"), given)


@SETS
def test_daft(given: list[str | None]) -> None:
    need("daft")
    import daft

    same(GATE.score_table(daft.from_arrow(numbered(given)).sort("n")), given)
