"""`scoregate extract` and `scoregate repair`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .conftest import Cli

BROKEN = 'Sure:\n{"a": 1 "b": \'é\',}\n'


def test_repair_prints_and_points(cli: Cli) -> None:
    cli.write("b.json", BROKEN)
    ran = cli("repair", "b.json")
    assert ran.code == 0
    assert ran.out == '{\n  "a": 1,\n  "b": "é"\n}\n'
    lines = ran.err.splitlines()
    at = next(i for i, line in enumerate(lines) if "missing_comma" in line)
    assert lines[at].startswith("b.json:2:9: lossless: missing_comma: ")
    assert lines[at + 1].endswith(BROKEN.splitlines()[1])
    caret = lines[at + 2].index("^")
    assert lines[at + 1][caret:].startswith('"b"') or lines[at + 1][caret] == " "


def test_repair_takes_the_flags_of_json_repair(cli: Cli) -> None:
    cli.write("b.json", BROKEN)
    assert cli("repair", "--ensure_ascii", "--indent", "0", "b.json").out == (
        '{\n"a": 1,\n"b": "\\u00e9"\n}\n'
    )
    assert cli("repair", "b.json", "-o", "out.json", "--skip-json-loads").out == ""
    assert json.loads((cli.folder / "out.json").read_text("utf-8")) == {"a": 1, "b": "é"}
    assert cli("repair", "-i", "-q", "b.json").err == ""
    assert json.loads((cli.folder / "b.json").read_text("utf-8")) == {"a": 1, "b": "é"}
    assert cli("repair", "-", stdin="[1, 2").out == "[\n  1,\n  2\n]\n"
    assert cli("repair", stdin="[1, 2").code == 0


def test_repair_refuses(cli: Cli) -> None:
    cli.write("b.json", BROKEN)
    ran = cli("repair", "-i", "--strict", "b.json")
    assert ran.code == 1
    assert "error: b.json: line 2, column 9: missing_comma" in ran.err
    assert (cli.folder / "b.json").read_text("utf-8") == BROKEN
    assert cli("repair", "--max-severity", "lossless", "-", stdin="[1, 2").code == 1
    ran = cli("repair", "-", stdin="only words")
    assert (ran.code, ran.out) == (1, "")
    assert "no_json" in ran.err
    assert cli("repair", "nowhere.json").code == 3
    assert cli("repair", "-i", "-o", "x", "b.json").code == 2
    assert cli("repair", "-i", "-", stdin="1").code == 2
    assert cli("repair", "--max-severity", "some", "b.json").code == 2


def test_repair_with_a_schema(cli: Cli) -> None:
    cli.write("s.json", json.dumps({"properties": {"n": {"type": "integer"}}}))
    assert cli("repair", "--schema", "s.json", "--indent", "0", "-", stdin='{"n": "5"}').out == (
        '{\n"n": 5\n}\n'
    )
    assert cli("repair", "--schema", "s.json", "--strict", "-", stdin="1").code == 2


def test_repair_with_a_model(cli: Cli) -> None:
    cli.write(
        "models.py",
        "class Answer:\n"
        "    @staticmethod\n"
        "    def model_json_schema():\n"
        '        return {"properties": {"n": {"type": "integer"}}}\n',
    )
    model = ["repair", "--indent", "0", "--schema-model"]
    assert cli(*model, "models:Answer", "-", stdin='{"n": "5"}').out == '{\n"n": 5\n}\n'
    for name in ("models:None", "models", "nowhere:Answer"):
        ran = cli(*model, name, "-", stdin="1")
        assert (ran.code, "--schema-model" in ran.err) == (2, True)
    ran = cli("repair", "--schema-repair-mode", "best", "-", stdin="1")
    assert (ran.code, "must be one of standard|salvage" in ran.err) == (2, True)
    ran = cli("repair", "--schema-repair-mode", "salvage", "-", stdin="1")
    assert (ran.code, "needs a schema" in ran.err) == (2, True)


def test_repair_says_why_a_value_does_not_fit(cli: Cli) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    cli.write("s.json", json.dumps(schema))
    for text, why in (
        ('{"m": 5,}', "$.n: required key is missing"),
        ('{"n": "x"}', "$.n: expected integer, got string"),
    ):
        ran = cli("repair", "-q", "--schema", "s.json", "-", stdin=text)
        assert (ran.code, ran.out) == (1, "")
        assert f"error: <stdin>: the value does not fit the schema: {why}" in ran.err
    cli.rows("r.jsonl", '{"n": "1",}', '{"m": 5,}')
    ran = cli("repair", "--schema", "s.json", "--field", "output", "r.jsonl")
    assert ran.code == 1
    assert "r.jsonl:2: the value does not fit the schema: $.n: required key is missing" in ran.err


def test_repair_salvages(cli: Cli) -> None:
    cli.write("s.json", json.dumps({"type": "array", "items": {"type": "integer"}}))
    salvage = ["repair", "--indent", "0", "--schema", "s.json", "--schema-repair-mode", "salvage"]
    ran = cli(*salvage, "-", stdin='[1, "x", "2",')
    assert (ran.code, json.loads(ran.out)) == (0, [1, 2])
    assert "note: <stdin>: $[1]: lossy: unfit_item" in ran.err
    ran = cli(*salvage, "--max-severity", "guess", "-", stdin='[1, "x"]')
    assert (ran.code, ran.out) == (1, "")
    assert "error: <stdin>: $[1]: lossy: unfit_item" in ran.err
    ran = cli(*salvage, "-", stdin='{"a": 1}, nothing')
    assert json.loads(ran.out) == []
    cli.rows("r.jsonl", '[1, "x"]', "[1]", "none")
    ran = cli(*salvage, "--field", "output", "r.jsonl")
    assert [json.loads(line)["output"] for line in ran.out.splitlines()] == ["[1]", "[1]", "none"]
    assert "note: 3 rows, 1 repaired, 1 without JSON" in ran.err


def test_repair_of_a_field_in_place(cli: Cli) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 1, "output": "```json\n{'a': 1,}\n```"},
        {"id": 2, "output": '{"a":  1}'},
        {"id": 3, "output": "only words"},
        {"id": 4},
    ]
    cli.write("r.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    ran = cli("repair", "--field", "output", "-i", "r.jsonl")
    assert ran.code == 1
    assert "note: 4 rows, 1 repaired, 1 without JSON" in ran.err
    rows[0]["output"] = '{"a": 1}'
    lines = (cli.folder / "r.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == rows
    cli.write("bad.jsonl", "{}\n[\n")
    ran = cli("repair", "--field", "output", "-i", "bad.jsonl")
    assert ran.code == 3
    assert "bad.jsonl:2: not a JSON line" in ran.err
    assert (cli.folder / "bad.jsonl").read_text("utf-8") == "{}\n[\n"


def test_extract(cli: Cli) -> None:
    cli.write("a.txt", 'Here: {"a": [1, 2.5]} as asked')
    cli.write("b.json", BROKEN)
    assert cli("extract", "a.txt").out == '{"a": [1, 2.5]}\n'
    ran = cli("extract", "a.txt", "b.json")
    assert ran.code == 1
    assert ran.out == '{"a": [1, 2.5]}\n'
    assert "b.json:1:1: error" in ran.err
    ran = cli("extract", "--repair", "a.txt", "b.json")
    assert ran.code == 0
    assert ran.out == '{"a": [1, 2.5]}\n{"a": 1, "b": "é"}\n'
    assert cli("extract", "--max-severity", "guess", "a.txt").code == 2


def test_extract_of_a_field(cli: Cli) -> None:
    cli.rows("r.jsonl", "{'a': 1}", "only words", None)
    ran = cli("extract", "--repair", "-q", "--field", "output", "r.jsonl")
    assert ran.code == 1
    assert ran.out == '{"a": 1}\nnull\nnull\n'
    assert ran.err == ""


def test_rows_are_read_in_blocks(cli: Cli) -> None:
    # Longer than two blocks of input, with lines and characters across their ends.
    rows = [
        json.dumps({"output": f"{{'n': {n}, 't': '{'é' * 1_500}',}}"}, ensure_ascii=False)
        for n in range(3_000)
    ]
    cli.write("r.jsonl", "\ufeff" + "\r\n\n".join(rows))
    ran = cli("extract", "--repair", "-q", "--field", "output", "r.jsonl")
    assert ran.code == 0
    assert [row["n"] for row in ran.rows] == list(range(3_000))
    ran = cli("repair", "--field", "output", "-i", "r.jsonl")
    assert (ran.code, "note: 3,000 rows, 3,000 repaired" in ran.err) == (0, True)
    lines = (cli.folder / "r.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(json.loads(line)["output"])["n"] for line in lines] == list(range(3_000))


def test_bytes_that_are_no_text_are_named(cli: Cli) -> None:
    cli.write("r.jsonl", b'{"output": "[1]"}\n\n{"output": "\xff"}\n')
    for command in ("extract", "repair"):
        ran = cli(command, "--field", "output", "r.jsonl")
        assert ran.code == 3
        assert "r.jsonl: not UTF-8 text (byte 31)" in ran.err


@pytest.mark.parametrize("command", ["extract", "repair"])
def test_help_and_odd_text(cli: Cli, command: str) -> None:
    assert "Examples" in cli(command, "--help").out
    flags = ["--repair"] if command == "extract" else []
    ran = cli(command, *flags, "-", stdin='{"a": "\\ud800 \u202e",' + " " * 300 + "'b': 1}")
    assert ran.code == 0
    assert "\u202e" not in ran.err
    assert cli(command, "-", stdin=b"\xff").code == 3
