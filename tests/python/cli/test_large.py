"""Memory stays bounded on files of any size."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

GATE = {
    "scorers": [
        {"type": "contains", "value": "ok"},
        {"type": "regex", "pattern": "\\d{3}"},
        {"type": "json-schema", "schema": {"type": "object", "required": ["status"]}},
        {"type": "length-range", "min": 10, "max": 4000},
    ],
    "combine": "weighted",
    "weights": [1, 1, 2, 1],
    "threshold": 0.6,
}

LIMIT = 200 << 20
SIZE = 1 << 30


@pytest.fixture(autouse=True)
def _tidy(tmp_path: Path) -> Iterator[None]:
    """Removes the files, which pytest would keep."""
    yield
    for path in tmp_path.iterdir():
        path.unlink()


def rows() -> bytes:
    texts = []
    for i in range(2000):
        body = json.dumps({"status": "ok", "n": i, "text": "lorem \n ipsum " * (i % 40)})
        texts.append(body if i % 3 else f"Here it is:\n```json\n{body}\n```")
    return b"".join(
        json.dumps({"id": i, "prompt": "p" * 80, "output": text}).encode() + b"\n"
        for i, text in enumerate(texts)
    )


def peak(cli: Any, *args: str) -> tuple[int, float]:
    """Peak memory in bytes and seconds of a run that ends well."""
    started = time.monotonic()
    run = subprocess.Popen([*cli.argv, *args], cwd=cli.folder, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    assert run.returncode == 0
    return usage.ru_maxrss * 1024, time.monotonic() - started


def fill(path: Path, block: bytes) -> int:
    count = SIZE // len(block) + 1
    with path.open("wb") as file:
        for _ in range(count):
            file.write(block)
    return count


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_gigabyte(cli: Any, threads: str) -> None:
    cli.write("gate.json", json.dumps(GATE))
    count = fill(cli.folder / "in.jsonl", rows()) * 2000
    memory, seconds = peak(
        cli, "score", "gate.json", "in.jsonl", "-o", "out.jsonl", "--threads", threads
    )
    print(f"{threads} threads: {memory >> 20} MiB, {seconds:.1f} s, {count / seconds:,.0f} rows/s")
    assert memory < LIMIT
    with (cli.folder / "out.jsonl").open("rb") as file:
        assert sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")) == count


def test_short_rows_with_all_details(cli: Any) -> None:
    """Results are forty times as large as such rows."""
    cli.write("gate.json", json.dumps(GATE))
    with (cli.folder / "in.jsonl").open("wb") as file:
        for _ in range(32):
            file.write(b'{"output":""}\n' * (1 << 16))
    memory, _ = peak(cli, "score", "gate.json", "in.jsonl", "-o", "/dev/null", "--details", "all")
    print(f"{memory >> 20} MiB")
    assert memory < LIMIT


def test_bad_rows_only(cli: Any) -> None:
    (cli.folder / "in.jsonl").write_bytes(b"x\n" * (4 << 20))
    memory, _ = peak(
        cli, "score", "gate.json", "in.jsonl", "-o", "o.jsonl", "--on-error", "quarantine"
    )
    print(f"{memory >> 20} MiB")
    assert memory < LIMIT


def test_one_endless_line(cli: Any) -> None:
    fill(cli.folder / "in.jsonl", b"x" * (1 << 20))
    memory, _ = peak(
        cli, "score", "gate.json", "in.jsonl", "-o", "o.jsonl", "--on-error", "quarantine"
    )
    print(f"{memory >> 20} MiB")
    assert memory < LIMIT
