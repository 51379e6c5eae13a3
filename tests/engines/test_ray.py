"""Ray Data, for real: 200,000 rows in Parquet and lines of JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import FILES, GATE, ROWS, by_id, need, resident, same

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def engine(ray: Any) -> Any:
    return ray


def test_verdicts_equal_the_local_ones(
    ray: Any, folder: Path, local: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scoregate.engines.ray import score_dataset

    # Nothing brings rows to this process: not the call, and not the run.
    for name in ("take", "take_all", "iter_rows", "iter_batches", "to_pandas"):
        monkeypatch.setattr(ray.data.Dataset, name, None)
    before = resident()
    scored = score_dataset(ray.data.read_parquet(str(folder)), GATE)
    scored.write_parquet(str(tmp_path / "out"))
    grown = resident() - before
    monkeypatch.undo()
    size = pq.read_table(folder, columns=["output"]).nbytes
    print(f"driver grew by {grown >> 20} MiB for {size >> 20} MiB of texts")
    assert size > 80_000_000
    assert grown < size
    found = by_id(tmp_path / "out")
    same(found, local)
    assert set(found["input.verdict"].to_pylist()) == {"old"}
    assert found["output"].null_count == local["reason"].to_pylist().count("missing input")


def test_columns_that_stay_are_named(ray: Any, table: pa.Table) -> None:
    from scoregate.engines.ray import score_dataset

    ds = ray.data.from_arrow(table.slice(0, 500))
    few = score_dataset(ds, GATE, keep=["id"], details="none").take_all()
    assert list(few[0])[:3] == ["id", "verdict", "verdict_code"]
    assert {row["says-ok.detail"] for row in few} == {None}
    with pytest.raises(Exception, match="keep: no column 'key'; the table has id, output, verdict"):
        score_dataset(ds, GATE, keep=["key"]).take_all()
    with pytest.raises(Exception, match='column: no column "text"'):
        score_dataset(ds, GATE, "text").take_all()


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_task_has_its_own_threads(ray: Any, cpus: int) -> None:
    from scoregate.engines.ray import task_cpus

    found = ray.remote(num_cpus=cpus)(task_cpus).remote()
    assert ray.get(found) == cpus


def run(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "scoregate", "score", "gate.json", *args]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)


def test_the_command_line_scores_folders(folder: Path, local: pa.Table, tmp_path: Path) -> None:
    need("typer")
    (tmp_path / "gate.json").write_text(json.dumps(GATE.spec))
    done = run(str(folder), "-o", "out", "--engine", "ray", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    counts = GATE.score_table(pq.read_table(folder, columns=["output"])).summary()
    for name in ("rows", "pass", "block", "undecided", "missing", "pass_rate"):
        assert summary[name] == counts[name], name
    assert [s["passed"] for s in summary["scorers"]] == [s["passed"] for s in counts["scorers"]]
    same(by_id(tmp_path / "out"), local)
    again = run(str(folder), "-o", "out", "--engine", "ray", cwd=tmp_path)
    assert (again.returncode, "name an empty folder" in again.stderr) == (3, True)


def test_lines_of_json_are_read(table: pa.Table, local: pa.Table, tmp_path: Path) -> None:
    need("typer")
    (tmp_path / "gate.json").write_text(json.dumps(GATE.spec))
    (tmp_path / "in").mkdir()
    step = 1000
    for number in range(FILES):
        rows = table.slice(number * step, step).to_pylist()
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "in" / f"{number}.jsonl").write_text(lines)
    done = run("in", "-o", "out", "--engine", "ray", "--fail-under", "99%", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    same(by_id(tmp_path / "out"), local.slice(0, FILES * step))
    assert FILES * step < ROWS


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["in", "-o", "out", "--limit", "3"], "--limit: is not for --engine ray"),
        (["in", "-o", "out", "--judge", "openai:m"], "--judge: is not for --engine ray"),
        (["in"], "name a folder of outputs, and with -o one for the results"),
        (["in", "-o", "out", "--details", "all"], "--details: with --engine ray, failed or none"),
        (["absent", "-o", "out"], "absent: no such file or folder"),
        (["in", "-o", "out"], "in: expected .parquet or .jsonl, .ndjson, .json files alone"),
    ],
)
def test_mistakes_of_the_command_line(args: list[str], words: str, tmp_path: Path) -> None:
    need("typer")
    (tmp_path / "gate.json").write_text(json.dumps(GATE.spec))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.txt").write_text("x")
    done = run(*args, "--engine", "ray", cwd=tmp_path)
    assert done.returncode in (2, 3)
    assert words in " ".join(done.stderr.split())
