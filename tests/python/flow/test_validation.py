"""Broken flows: every mistake with its kind, its words, its place and what may be meant."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from scoregate import SpecError
from scoregate.flow import Flow
from scoregate.flow._fields import FLOW_FIELDS, KINDS, PHASE_FIELDS

from ..conftest import DATA, ROOT, read_rows
from .support import SCORERS, flow

if TYPE_CHECKING:
    from pathlib import Path

ROWS = read_rows(DATA / "flow" / "broken.jsonl")


@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in ROWS])
def test_a_broken_flow(row: dict[str, Any]) -> None:
    text = row.get("text") or json.dumps(row["flow"], indent=2)
    issues = Flow(text).validate()
    found = []
    for issue in issues:
        one: dict[str, Any] = {"kind": issue.kind, "text": str(issue)}
        if issue.hint is not None:
            one["hint"] = issue.hint
        if "text" in row:
            one |= {"line": issue.line, "column": issue.column}
        assert issue.line is not None
        assert issue.column is not None
        found.append(one)
    assert found == row["issues"]
    # The same flow as a value has the same mistakes, without places.
    if "flow" in row:
        assert [str(issue) for issue in Flow(row["flow"]).validate()] == [str(i) for i in issues]


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 60
    assert len({row["name"] for row in ROWS}) == len(ROWS)


def test_a_text_that_is_no_flow() -> None:
    with pytest.raises(SpecError) as caught:
        Flow('{"name": "f",\n "phases": [}')
    assert (caught.value.issues[0].kind, caught.value.issues[0].line) == ("not_json", 2)


def files(folder: Path) -> dict[str, Path]:
    """One flow, with one mistake, in four languages."""
    texts = {
        "f.json": '{"name": "f", "phases": [\n  {"id": "a", "tsk": "x", "task": "y"}\n]}',
        "f.jsonc": '// a flow\n{"name": "f", "phases": [{"id": "a", "task": "y", "tsk": "x",}],}',
        "f.yaml": "name: f\nphases:\n  - id: a\n    task: y\n    tsk: x\n",
        "f.toml": 'name = "f"\n[[phases]]\nid = "a"\ntask = "y"\ntsk = "x"\n',
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: folder / name for name in texts}


def test_files_in_four_languages(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    places = {"f.json": (2, 15), "f.jsonc": (2, 51), "f.yaml": (5, 5), "f.toml": (5, 1)}
    for name, path in files(tmp_path).items():
        (issue,) = Flow.from_file(path).validate()
        assert issue.hint == "did you mean 'task'?", name
        assert (issue.line, issue.column) == places[name], name
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(SpecError) as caught:
        Flow.from_file(tmp_path / "bad.yaml")
    assert caught.value.source == str(tmp_path / "bad.yaml")
    with pytest.raises(FileNotFoundError):
        Flow.from_file(tmp_path / "absent.json")


def test_warnings_are_no_errors() -> None:
    made = flow(
        {"id": "a", "task": "say {this}", "when": "x ="},
        {
            "id": "g",
            "type": "gate",
            "dependsOn": ["a"],
            "eval": ["true"],
            "score": {"scorers": [{"type": "regex", "pattern": "(a"}]},
        },
    )
    assert made.validate() == []
    kinds = [issue.kind for issue in made.warnings()]
    assert kinds == ["bad_condition", "literal_placeholder", "eval_with_score", "never_passes"]
    assert all(str(issue).startswith("Phase '") for issue in made.warnings())
    assert Flow('{"name": "f", "name": "g", "phases": [{"id": "a", "task": "x"}]}').warnings()
    assert flow({"id": "a"}).warnings() == []
    lone = {"id": "g", "type": "gate", "score": {"scorers": SCORERS}}
    assert [issue.kind for issue in flow(lone).warnings()] == ["nothing_to_score"]


def test_mistakes_by_the_thousand_are_found_in_time() -> None:
    phases = [{"id": f"p{i}", "tsk": "x", "dependsOn": [f"q{i}"]} for i in range(2000)]
    text = json.dumps({"name": "f", "phases": phases}, indent=1)
    began = time.monotonic()
    issues = Flow(text).validate()
    assert len(issues) == 6000
    assert all(issue.line is not None for issue in issues)
    assert sum(issue.hint is not None for issue in issues) <= 64
    assert time.monotonic() - began < 20
    many = flow(*({"id": f"p{i}", "task": "x"} for i in range(10_001)))
    assert [issue.kind for issue in many.validate()] == ["wrong_value"]


UNTRUSTED: dict[str, dict[str, Any]] = {
    "a script": {"id": "s", "type": "script", "run": ["ls"]},
    "a compiler": {
        "id": "g",
        "type": "gate",
        "score": {"scorers": [{"type": "code-compiles", "language": "javascript"}]},
    },
    "a backreference": {
        "id": "g",
        "type": "gate",
        "score": {"scorers": [*SCORERS, {"type": "regex", "pattern": r"(a)\1", "negate": True}]},
    },
    "a named backreference": {
        "id": "g",
        "type": "gate",
        "score": {"scorers": [{"type": "regex", "pattern": r"(?<x>a)\k<x>"}]},
    },
    "a backreference in a schema": {
        "id": "g",
        "type": "gate",
        "score": {
            "scorers": [
                {"type": "json-schema", "schema": {"properties": {"a": {"pattern": r"(a)\1"}}}}
            ]
        },
    },
}

WORDS = {
    "a script": "Phase 's': type: an untrusted flow runs no script",
    "a compiler": "Phase 'g': score.scorers[0].type: an untrusted flow has no code-compiles scorers",
    "a backreference": "Phase 'g': score.scorers[1]: an untrusted flow has no patterns with backreferences",
}


@pytest.mark.parametrize("name", UNTRUSTED)
def test_an_untrusted_flow_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    spec = {
        "name": "f",
        "phases": [{"id": "a", "task": "x"}, UNTRUSTED[name] | {"dependsOn": ["a"]}],
    }
    path.write_text(json.dumps(spec))
    with pytest.raises(SpecError) as caught:
        Flow.from_file(path, untrusted=True)
    assert [issue.kind for issue in caught.value.issues] == ["untrusted"]
    assert caught.value.issues[0].line == 1
    if name in WORDS:
        assert caught.value.errors == [WORDS[name]]
    assert "untrusted" not in [issue.kind for issue in Flow.from_file(path).validate()]


def test_an_untrusted_flow_that_is_harmless_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    path.write_text((ROOT / "examples" / "flow.json").read_text())
    assert Flow.from_file(path, untrusted=True).validate() == []


def test_a_template_reads_what_it_names_and_nothing_else() -> None:
    names = ["args.__class__", "steps.__dict__", "previous.output.__class__", "args.x.format"]
    names += ["args.x.0", "locals.x", "self.x", "env.HOME", "args.x.__len__"]
    import scoregate

    context = scoregate.Context(args={"x": "secret"}, steps={"a": {"output": "o"}})
    for name in names:
        assert scoregate.interpolate(f"{{{name}}}", context).missing == [name]


PAGE = (ROOT / "docs" / "flows.md").read_text(encoding="utf-8")


def rows_of(table: str) -> dict[str, list[str]]:
    """The rows of a table of the page, by their first cell."""
    body = re.search(rf"<!-- table: {table} -->\n(.*?)\n<!-- end -->", PAGE, re.DOTALL)
    assert body is not None
    rows = [re.split(r"(?<!\\)\|", line.strip("|")) for line in body[1].split("\n")[2:]]
    return {row[0].strip(" `"): [cell.strip() for cell in row] for row in rows}


def test_the_page_lists_every_field_with_type_default_and_example() -> None:
    assert set(rows_of("flow-fields")) == {field.name for field in FLOW_FIELDS}
    assert set(rows_of("phase-fields")) == {field.name for field in PHASE_FIELDS}
    assert set(rows_of("flow-kinds")) == set(KINDS)
    for row in (*rows_of("flow-fields").values(), *rows_of("phase-fields").values()):
        assert all(row)


@pytest.mark.parametrize("field", PHASE_FIELDS, ids=lambda field: field.name)
def test_the_example_of_a_field_is_valid_and_its_absence_is_its_default(field: Any) -> None:
    base: dict[str, dict[str, Any]] = {
        "agent": {"id": "x", "task": "y"},
        "gate": {"id": "x", "type": "gate", "task": "y"},
        "tournament": {"id": "x", "type": "tournament", "variants": 2, "task": "y"},
        "script": {"id": "x", "type": "script", "run": ["ls"]},
    }
    first = {"id": "generate", "task": "z"}
    args: dict[str, Any] = {"what": {}}
    for kind, phase in base.items():
        if field.name == "type" and kind != "gate":
            continue
        made = {**phase, "dependsOn": ["generate"], field.name: field.example}
        issues = flow(first, made, args=args).validate()
        if kind in field.types:
            assert issues == [], (kind, issues)
        else:
            assert {issue.kind for issue in issues} == {"not_applicable"}, kind
        if field.name == REQUIRED.get(kind) or field.name == "id":
            del made[field.name]
            assert [issue.kind for issue in flow(first, made).validate()] == ["missing"]
            assert field.default.startswith("required")


REQUIRED = {"agent": "task", "tournament": "variants", "script": "run"}


@pytest.mark.parametrize("field", FLOW_FIELDS, ids=lambda field: field.name)
def test_the_example_of_a_flow_field_is_valid(field: Any) -> None:
    spec = {"name": "f", "phases": [{"id": "a", "task": "x"}], field.name: field.example}
    assert Flow(spec).validate() == []
    del spec[field.name]
    missing = [issue.kind for issue in Flow(spec).validate()]
    assert missing == (["missing"] if field.default == "required" else [])
