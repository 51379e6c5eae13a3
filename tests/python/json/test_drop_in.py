"""The drop-in against the package json_repair, where that is installed."""

from __future__ import annotations

import inspect
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scoreboard import same
from scoregate import json_repair as ours

DATA = Path(__file__).resolve().parents[2] / "data" / "json"

NAMES = ["repair_json", "loads", "load", "from_file"]

#: What the package documents, in our words and with our texts: both give the same.
AGREED = [
    '{"a": 1, "b": [2, 3]}',
    '{"a": 1, "b": [2, 3',
    "{'a': 1, 'b': None, 'c': True, 'd': False}",
    '{"a": 1,}',
    "[1, 2,]",
    '{"a": 1 "b": 2}',
    '["x" "y"]',
    '{a: 1, b: "two"}',
    '{"a": two, "b": 3}',
    '{"a": "x", // a note\n "b": 2}',
    '{"a": "x", /* a note */ "b": 2}',
    '{"a": "say "hi" now", "b": 1}',
    '{"a": "first\nsecond"}',
    'Sure, here it is:\n```json\n{"a": 1}\n```\nBye.',
    '```\n{"a": [1]}\n```',
    '{"a": “x”}',
    '{"a": 1, ...}',
    "[1, 2, 3, ...]",
    '{"a": "x',
    '{"a": [1, {"b": 2',
    '{"a": NaN}' if False else '{"a": null}',
    '{"a": 12345678901234567890}',
    "",
    "only words",
]


@pytest.mark.parametrize("name", NAMES)
def test_signatures(name: str) -> None:
    theirs = pytest.importorskip("json_repair")

    def shape(function: Any) -> list[Any]:
        found = inspect.signature(function).parameters.values()
        return [(p.name, p.kind, p.default) for p in found]

    assert shape(getattr(ours, name)) == shape(getattr(theirs, name))


@pytest.mark.parametrize("text", AGREED)
def test_values_agree(text: str) -> None:
    theirs = pytest.importorskip("json_repair")
    assert ours.loads(text) == theirs.loads(text)
    assert ours.repair_json(text) == theirs.repair_json(text)
    assert ours.repair_json(text, ensure_ascii=False, indent=1) == theirs.repair_json(
        text, ensure_ascii=False, indent=1
    )
    assert ours.repair_json(text, True) == theirs.repair_json(text, True)


def test_dump_arguments_pass_through() -> None:
    text = "{'b': 'é', 'a': 1}"
    assert ours.repair_json(text) == '{"b": "\\u00e9", "a": 1}'
    assert ours.repair_json(text, ensure_ascii=False) == '{"b": "é", "a": 1}'
    assert ours.repair_json(text, sort_keys=True, separators=(",", ":")) == (
        '{"a":1,"b":"\\u00e9"}'
    )


def test_the_log() -> None:
    value, log = ours.repair_json("{'a': 1,}", logging=True)
    assert value == {"a": 1}
    assert {"text", "context", "code", "severity", "offset", "line", "column"} <= log[0].keys()
    assert "'a'" in log[0]["context"]
    assert log[0]["code"] == "single_quotes"
    assert ours.loads('{"a": 1}', logging=True) == ({"a": 1}, [])
    assert ours.loads("{'a': 1}", logging=True)[0] == {"a": 1}  # type: ignore[index]


def test_failure_is_an_empty_text() -> None:
    assert ours.repair_json("only words") == ""
    assert ours.repair_json() == ""
    assert ours.loads("only words") == ""
    assert ours.repair_json("only words", logging=True)[0] == ""
    assert ours.repair_json('""') == '""'


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1 "b": 2}',
        '[{"a": 1, "a": 2}]',
        '{"a" 1}',
        '{"a": , "b": 1}',
        '{"a": 1}\n{"b": 2}',
        "[1,,2]",
    ],
)
def test_strict_raises(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        ours.loads(text, strict=True)
    assert ours.loads(text) not in ("", None)
    assert ours.loads('{"a": 1}', strict=True) == {"a": 1}


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{'a': 'é',", encoding="utf-8")
    assert ours.from_file(path) == {"a": "é"} == ours.from_file(str(path))
    assert ours.load(io.StringIO("[1, 2")) == [1, 2]
    assert ours.load(io.StringIO("[1, 2"), chunk_length=1, logging=True)[0] == [1, 2]  # type: ignore[index]
    assert ours.repair_json(json_fd=io.StringIO("[1, 2")) == "[1, 2]"


def test_streams_stay_stable() -> None:
    text = '{"a": 12, "b": ["x y", true]}'
    seen: Any = {}
    for end in range(1, len(text) + 1):
        value = ours.repair_json(text[:end], return_objects=True, stream_stable=True)
        if isinstance(value, dict):
            for key in seen:
                assert key in value
            assert value.get("a", 12) == 12
            seen = value
    assert seen == json.loads(text)


def test_schemas() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert ours.loads('{"n": "5",}', schema=schema) == {"n": 5}
    with pytest.raises(ValueError, match="required"):
        ours.loads('{"m": 5}', schema=schema)
    with pytest.raises(ValueError, match="cannot be used together"):
        ours.loads("{}", schema=schema, strict=True)
    with pytest.raises(ValueError, match="requires schema"):
        ours.loads("{}", schema_repair_mode="salvage")
    with pytest.raises(ValueError, match="must be one of"):
        ours.loads("{}", schema=schema, schema_repair_mode="best")  # type: ignore[arg-type]

    class Model:
        @staticmethod
        def model_json_schema() -> Any:
            return schema

    assert ours.loads("{'n': '7'}", schema=Model) == {"n": 7}


def rows(folder: str) -> list[dict[str, Any]]:
    text = (DATA / folder / f"{folder}.jsonl").read_bytes().decode()
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.parametrize("row", rows("drop_in"), ids=lambda row: row["id"])
def test_documents_are_chosen_as_the_package_does(row: dict[str, Any]) -> None:
    assert same(ours.loads(row["input"]), row["expected"])
    theirs = pytest.importorskip("json_repair")
    assert same(theirs.loads(row["input"]), row["expected"])


def salvaged(module: Any, row: dict[str, Any]) -> Any:
    return module.loads(row["input"], schema=row["schema"], schema_repair_mode="salvage")


@pytest.mark.parametrize("row", rows("salvage"), ids=lambda row: row["id"])
def test_salvage_is_that_of_the_package(row: dict[str, Any]) -> None:
    sides = [ours]
    # The schema part of the package needs jsonschema.
    try:
        import json_repair
        import jsonschema  # type: ignore[import-untyped]  # noqa: F401
    except ImportError:
        pass
    else:
        sides.append(json_repair)
    for side in sides:
        if row.get("refused"):
            with pytest.raises(ValueError, match=r"."):
                salvaged(side, row)
        else:
            assert salvaged(side, row) == row["expected"]


def test_salvage_says_what_it_did() -> None:
    item = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "unit": {"enum": ["km", "mi"]}},
        "required": ["n", "unit"],
        "additionalProperties": False,
    }
    schema = {"type": "array", "items": item}
    text = '[{"n": "1", "x": 0}, [2, "km"], "none"]'
    value, log = ours.repair_json(text, schema=schema, schema_repair_mode="salvage", logging=True)
    assert value == [{"n": 1, "unit": "km"}, {"n": 2, "unit": "km"}]
    assert [(entry["code"], entry["context"], entry["severity"]) for entry in log] == [
        ("coerced_number", "$[0].n", "guess"),
        ("unfit_key", "$[0].x", "lossy"),
        ("filled_value", "$[0].unit", "guess"),
        ("list_as_object", "$[1]", "guess"),
        ("unfit_item", "$[2]", "lossy"),
    ]


def test_salvage_is_bounded() -> None:
    # Each level has two ways to read what is below, the first of which fails.
    tree: dict[str, Any] = {"type": "object", "required": ["c"]}
    node = {**tree, "properties": {"c": {"$ref": "#/$defs/n"}}}
    leaf = {"type": "object", "required": ["leaf"], "properties": {"leaf": {"type": "integer"}}}
    other = {**node, "required": ["c", "zz"]}
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [other, node, leaf]}}}
    text = '{"c":' * 400 + '{"leaf": "1"}' + "}" * 400
    value, log = ours.repair_json(text, schema=schema, schema_repair_mode="salvage", logging=True)
    assert json.dumps(value) == json.dumps(json.loads(text)).replace('"1"', "1")
    assert len(log) == 1
    text = '{"c":' * 400 + '"x"' + "}" * 400
    with pytest.raises(ValueError, match=r"fits none|expected|required"):
        ours.loads(text, schema=schema, schema_repair_mode="salvage")
    # What is made up is bounded as well.
    made: dict[str, Any] = {f"d{i}": {"type": "object"} for i in range(60)}
    for i in range(59):
        inner = {"$ref": f"#/$defs/d{i + 1}"}
        made[f"d{i}"] |= {"properties": {"a": inner, "b": inner}, "required": ["a", "b"]}
    schema = {"type": "object", "properties": {"m": {"$ref": "#/$defs/d0"}}, "required": ["m"]}
    with pytest.raises(ValueError, match=r"required key is missing"):
        ours.loads('{"n": 1}', schema={**schema, "$defs": made}, schema_repair_mode="salvage")


def test_several_documents_and_a_schema() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert ours.loads('{"n": "1"} and {"n": "2"}', schema=schema) == {"n": 2}


def test_a_discriminator_of_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic")
    from typing import Annotated, Literal, Union

    class Cat(pydantic.BaseModel):  # type: ignore[misc, name-defined, unused-ignore]
        kind: Literal["cat"]
        lives: int

    class Dog(pydantic.BaseModel):  # type: ignore[misc, name-defined, unused-ignore]
        kind: Literal["dog"]
        tricks: list[int]

    pet = Annotated[Union[Cat, Dog], pydantic.Field(discriminator="kind")]  # noqa: UP007
    owner = pydantic.create_model("Owner", pet=(pet, ...))
    assert ours.loads("{'pet': {'kind': 'dog', 'tricks': '7'}}", schema=owner) == {
        "pet": {"kind": "dog", "tricks": [7]}
    }
    with pytest.raises(ValueError, match=r"\$\.pet\.lives: required"):
        ours.loads("{'pet': {'kind': 'cat', 'tricks': '7'}}", schema=owner)
    text = "{'pet': {'kind': 'dog', 'tricks': ['7', 'sit']}}"
    assert ours.loads(text, schema=owner, schema_repair_mode="salvage") == {
        "pet": {"kind": "dog", "tricks": [7]}
    }


def test_the_submodules_that_users_import() -> None:
    from scoregate.json_repair import cli
    from scoregate.json_repair.json_repair import JSONReturnType, loads, repair_json

    assert (loads, repair_json) == (ours.loads, ours.repair_json)
    assert JSONReturnType is ours.JSONReturnType
    assert callable(cli.cli)
    flags = ["-q", "--indent", "0", "-"]
    code = "import sys; from scoregate.json_repair.json_repair import cli; sys.exit(cli({!r}))"
    for words in (["-c", code.format(flags)], ["-m", "scoregate.json_repair", *flags]):
        done = subprocess.run(
            [sys.executable, *words], input="[1,", capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == [1]


def test_limits_are_errors() -> None:
    with pytest.raises(ValueError, match="too_deep"):
        ours.loads("[" * 1000)


def test_deliberate_differences() -> None:
    assert ours.loads('{"a": 1}\n{"a": 2}') == [{"a": 1}, {"a": 2}]
    assert ours.loads('As in [1]: {"a": 1,}') == {"a": 1}
    assert ours.loads('{"a": "x\\n",}') == {"a": "x\n"}
    assert ours.loads('{"a": "\\ud83d\\ude00",}') == {"a": "😀"}
    assert ours.loads('{"a": "```json\\n1\\n```",}') == {"a": "```json\n1\n```"}


@pytest.mark.parametrize(
    ("file", "got"),
    [("a.json", "got str"), (5, "got int"), (io.BytesIO(b"[1]"), "got one that reads bytes")],
)
def test_what_is_no_file_is_named(file: Any, got: str) -> None:
    with pytest.raises(TypeError, match=f"^json_fd: expected a file opened as text, {got}$"):
        ours.repair_json(json_fd=file)
    with pytest.raises(TypeError, match=got):
        ours.load(file)
