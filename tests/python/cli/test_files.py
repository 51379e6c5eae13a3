"""The functions under the command line."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
import scoregate
from hypothesis import given, settings
from hypothesis import strategies as st
from scoregate import _files as files
from scoregate._cli import look
from scoregate._files import source as inputs

if TYPE_CHECKING:
    from pathlib import Path

GATE = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok", "name": "says-ok"}]})


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_summary(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"output": t} for t in ("ok", "no", None)])
    seen: list[tuple[int, int]] = []
    found = scoregate.score_file(GATE, source, progress=lambda b, r: seen.append((b, r)))
    assert (found.rows, found.passed, found.blocked, found.undecided) == (3, 1, 2, 0)
    assert (found.missing, found.bad_rows, found.output, found.quarantine) == (1, 0, None, None)
    assert found.scorers == (files.ScorerCount("says-ok", "contains", 1),)
    assert found.details == (files.DetailCount("says-ok", 'target does not contain "ok"', 1),)
    assert found.pass_rate == 1 / 3
    assert seen == [(source.stat().st_size, 3)]
    assert isinstance(found, scoregate.FileSummary)


def test_errors(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"output": "ok"}, {}, {}])
    with pytest.raises(scoregate.InputError, match=r"in\.jsonl:2: no field \"output\"$"):
        scoregate.score_file(GATE, source)
    with pytest.raises(scoregate.TooManyBadRowsError, match=r"in\.jsonl:3: .*bad row 2"):
        scoregate.score_file(GATE, source, on_error="skip", max_errors=1)
    with pytest.raises(scoregate.InputError, match="no such file"):
        scoregate.score_file(GATE, [tmp_path / "none"])
    with pytest.raises(scoregate.OutputError, match="is a directory"):
        scoregate.score_file(GATE, source, tmp_path)
    for options in (
        {"on_error": "ignore"},
        {"max_errors": 1},
        {"on_error": "skip", "max_errors": -1},
        {"on_error": "skip", "max_errors": "many"},
        {"limit": 0},
        {"threads": 0},
        {"details": "some"},
        {"on_error": "quarantine"},
        {"on_error": "quarantine", "quarantine": "-"},
        {"on_error": "quarantine", "output": tmp_path / "o", "quarantine": tmp_path / "o"},
        {"output": source},
    ):
        with pytest.raises(ValueError, match=": "):
            scoregate.score_file(GATE, source, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_an_error_in_the_callback_leaves_nothing(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"output": "ok"}])

    def fail(size: int, rows: int) -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        scoregate.score_file(GATE, source, tmp_path / "out.jsonl", progress=fail)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_max_line_bytes(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"output": "ok"}, {"output": "x" * 100}])
    with pytest.raises(scoregate.InputError, match="longer than the limit of 50 bytes"):
        scoregate.score_file(GATE, source, max_line_bytes=50)


def test_blocks_do_not_change_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    rows = [{"id": i, "output": "ok" * rng.randrange(90)} for i in range(400)]
    source = write(tmp_path / "in.jsonl", rows)
    wanted = None
    for block, lines in ((4 << 20, 16384), (4096, 7), (100, 1), (17, 3)):
        monkeypatch.setattr(inputs, "_BLOCK", block)
        monkeypatch.setattr(inputs, "_LINES", lines)
        scoregate.score_file(GATE, source, tmp_path / "out.jsonl")
        got = (tmp_path / "out.jsonl").read_bytes()
        wanted = wanted or got
        assert got == wanted
    assert wanted is not None
    assert [json.loads(line)["id"] for line in wanted.splitlines()] == list(range(400))


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=300), st.sampled_from([5, 64, 1000]))
def test_any_bytes_are_scored_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, block: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    source = folder / "in.jsonl"
    source.write_bytes(b"\n" + data)
    saved, inputs._BLOCK = inputs._BLOCK, block
    try:
        found = scoregate.score_file(
            GATE, source, folder / "out.jsonl", on_error="quarantine", threads=1
        )
    finally:
        inputs._BLOCK = saved
    lines = [line.strip(b" \t\r") for line in data.split(b"\n")]
    assert found.rows + found.bad_rows == sum(bool(line) for line in lines)
    bad = (folder / "out.bad.jsonl").read_text().splitlines()
    assert len(bad) == found.bad_rows


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0", (0, None)),
        ("12", (12, None)),
        (3, (3, None)),
        ("2%", (None, 2.0)),
        (" .5% ", (None, 0.5)),
    ],
)
def test_parse_max_errors(text: int | str, wanted: object) -> None:
    assert files.parse_max_errors(text) == wanted


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "-1%", "101%", "%", "nan%", "inf%"])
def test_parse_max_errors_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="must be a whole number, or a percentage"):
        files.parse_max_errors(text)


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (None, "-"),
        (0.0, "0.0%"),
        (0.0004, "<0.1%"),
        (0.29, "29.0%"),
        (0.9999, "99.9%"),
        (1.0, "100.0%"),
    ],
)
def test_percent(rate: float | None, text: str) -> None:
    assert look.percent(rate) == text


def test_printable() -> None:
    assert look.printable("é “x”") == "é “x”"
    assert look.printable("a\nb\x1b\u202e\ud83d") == "a\\nb\\x1b\\u202e\\ud83d"
