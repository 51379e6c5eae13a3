"""What the tests of engines share: rows with their verdicts, and the engines themselves."""

from __future__ import annotations

import os
import random
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scoregate import Gate

if TYPE_CHECKING:
    from collections.abc import Iterator

GATE = Gate(
    {
        "scorers": [
            {"type": "contains", "value": "ok", "name": "says-ok"},
            {"type": "json-schema", "schema": {"required": ["a"]}, "name": "has-a"},
            {"type": "length-range", "max": 400, "name": "short"},
        ],
        "combine": "weighted",
        "weights": [1, 1, 2],
        "threshold": 0.6,
    }
)
ROWS = 200_000
FILES = 8


def texts(rows: int, seed: int = 3) -> list[str | None]:
    rng = random.Random(seed)
    words = ["ok", "no", "é", "😀", '{"a": 1}', "a longer text of a model " * 30, "\n", ""]
    return [
        None if rng.random() < 0.05 else " ".join(rng.choices(words, k=rng.randint(0, 9)))
        for _ in range(rows)
    ]


def need(library: str, tool: str | None = None) -> None:
    """Skips where a library or its tool is absent, unless SCOREGATE_REQUIRE names it."""
    if find_spec(library) is None or (tool is not None and shutil.which(tool) is None):
        if library in os.environ.get("SCOREGATE_REQUIRE", "").split(","):
            pytest.fail(f"{library} is required and absent")
        pytest.skip(f"{library} is absent")


@pytest.fixture(scope="session")
def table() -> pa.Table:
    """Outputs with ids, and a column whose name the results have too."""
    outputs = texts(ROWS)
    old = ["old"] * ROWS
    return pa.table({"id": range(ROWS), "output": outputs, "verdict": old})


@pytest.fixture(scope="session")
def local(table: pa.Table) -> pa.Table:
    """What this process says of the rows."""
    return pa.table(GATE.score_table(table, id="id"))


@pytest.fixture(scope="session")
def folder(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table in files of Parquet."""
    path = tmp_path_factory.mktemp("outputs")
    step = ROWS // FILES
    for number in range(FILES):
        part = table.slice(number * step, step)
        pq.write_table(part, path / f"{number}.parquet", row_group_size=10_000)
    return path


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """Ray in this machine, for all tests."""
    need("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    import ray

    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=300 << 20,
        log_to_driver=False,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Spark in this process, for all tests."""
    need("pyspark", "java")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .getOrCreate()
    )
    yield session
    session.stop()


def by_id(path: Path) -> pa.Table:
    """Results that an engine wrote, in the order of the ids."""
    return pq.read_table(path).sort_by("id")


def same(found: pa.Table, local: pa.Table) -> None:
    """Results of an engine are those of this process."""
    assert found.num_rows == local.num_rows
    for name in local.column_names:
        if name in found.column_names:
            assert found[name].to_pylist() == local[name].to_pylist(), name
    assert {"verdict", "passed", "combined", "has-a.detail"} <= set(found.column_names)


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096
