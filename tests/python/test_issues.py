"""Errors of authors as data: kinds, places, hints, in every language of gate files."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import scoregate
from scoregate import Gate, SpecError, SpecIssue, _native

A = {"type": "contains", "value": "a"}
KINDS = dict(_native.issue_kinds())

WEIGHTED = {"scorers": [A], "combine": "weighted"}


def length(**fields: Any) -> dict[str, Any]:
    return {"scorers": [{"type": "length-range", **fields}]}


def regex(pattern: str, **fields: Any) -> dict[str, Any]:
    return {"scorers": [{"type": "regex", "pattern": pattern, **fields}]}


def schema(schema: Any) -> dict[str, Any]:
    return {"scorers": [{"type": "json-schema", "schema": schema}]}


@pytest.mark.parametrize(
    ("spec", "kind", "path"),
    [
        ([], "wrong_type", ""),
        ({}, "missing", ".scorers"),
        ({"scorers": []}, "wrong_value", ".scorers"),
        ({"scorers": 1}, "wrong_type", ".scorers"),
        ({"scorers": [1]}, "wrong_type", ".scorers[0]"),
        ({"scorers": [{}]}, "missing", ".scorers[0].type"),
        ({"scorers": [{"type": "x"}]}, "unknown_type", ".scorers[0].type"),
        ({"scorers": [{"type": "contains"}]}, "missing", ".scorers[0].value"),
        ({"scorers": [A | {"value": 1}]}, "wrong_type", ".scorers[0].value"),
        ({"scorers": [A | {"min": 1}]}, "not_applicable", ".scorers[0].min"),
        (length(min=-1), "wrong_value", ".scorers[0].min"),
        (length(min=2, max=1), "conflict", ".scorers[0]"),
        (schema({"type": "text"}), "bad_schema", ".scorers[0].schema"),
        ({"scorers": [A], "combine": "most"}, "wrong_value", ".combine"),
        ({"scorers": [A], "threshold": 1}, "conflict", ".threshold"),
        (WEIGHTED, "missing", ".weights"),
        (WEIGHTED | {"weights": [1, 2]}, "conflict", ".weights"),
        (WEIGHTED | {"weights": [0]}, "wrong_value", ".weights[0]"),
        (WEIGHTED | {"weights": [1], "threshold": 2}, "wrong_value", ".threshold"),
        ({"scorers": [A], "judge": 1}, "wrong_type", ".judge"),
        ({"scorers": [A], "judge": {}}, "missing", ".judge.task"),
        ({"scorers": [A], "judge": {"task": "t", "x": 1}}, "unknown_key", ".judge.x"),
        ({"scorers": [A], "x": 1}, "unknown_key", ".x"),
    ],
)
def test_kinds_and_paths(spec: Any, kind: str, path: str) -> None:
    for given in (spec, json.dumps(spec)):
        with pytest.raises(SpecError) as caught:
            Gate(given)
        (issue,) = caught.value.issues
        assert (issue.kind, issue.path) == (kind, f"score{path}")
        assert kind in KINDS
        assert [str(issue)] == caught.value.errors == scoregate.score_shape_errors(spec)
        assert (issue.line is None) == isinstance(given, dict | list)
        assert pickle.loads(pickle.dumps(caught.value)).issues == caught.value.issues


TEXT = """{
  // a gate as people write it
  "$schema": "gate.schema.json", "name": "n", "description": "d", "$comment": [1],
  "scorers": [
    {"type": "contains", "valu": "a"}, /* two
    lines */ {"type": "regexp"},
  ],
  "judge": {"task": 1, "wen": "x"},
}
"""


def test_places_in_json() -> None:
    with pytest.raises(SpecError) as caught:
        Gate(TEXT)
    found = [(i.line, i.column, i.kind, i.path, i.hint) for i in caught.value.issues]
    assert found == [
        (5, 26, "not_applicable", "score.scorers[0].valu", "did you mean 'value'?"),
        (5, 5, "missing", "score.scorers[0].value", None),
        (6, 23, "unknown_type", "score.scorers[1].type", "got 'regexp'; did you mean 'regex'?"),
        (8, 21, "wrong_type", "score.judge.task", None),
        (8, 24, "unknown_key", "score.judge.wen", "did you mean 'when'?"),
    ]


GATES = {
    "json": '{\n  "scorers": [\n    {"type": "contains", "value": "a", "negat": true}\n  ]\n}',
    "yaml": "# a gate\nscorers:\n  - type: contains\n    value: a\n    negat: true\n",
    "toml": "# a gate\n[[scorers]]\ntype = 'contains'\nvalue = '''\na\nb = 1'''\nnegat = true\n",
}


@pytest.mark.parametrize(
    ("language", "place"), [("json", (3, 40)), ("yaml", (5, 5)), ("toml", (7, 1))]
)
def test_languages_keep_places(language: str, place: tuple[int, int], tmp_path: Path) -> None:
    path = tmp_path / f"gate.{language}"
    path.write_text(GATES[language])
    with pytest.raises(SpecError) as caught:
        Gate.from_file(path)
    (issue,) = caught.value.issues
    assert (issue.kind, issue.path) == ("not_applicable", "score.scorers[0].negat")
    assert (issue.line, issue.column) == place
    path.write_text(GATES[language].replace("negat", "name").replace("true", '"n"'))
    assert Gate.from_file(path).score("a\nb = 1").passed


@pytest.mark.parametrize(
    ("name", "data", "kind", "message"),
    [
        ("g.json", b"\xff\xfe{\0}\0", "not_utf8", "is UTF-16 text; save it as UTF-8"),
        ("g.json", b"{\xff}", "not_utf8", "not UTF-8 text (byte 1)"),
        ("g.json", b"{", "not_json", "not JSON: "),
        ("g.yaml", b"a: [", "not_yaml", "not YAML: "),
        ("g.yaml", b"a: 1\na: 2", "not_yaml", 'not YAML: repeated key "a"'),
        ("g.yaml", b"? [1]\n: 2", "not_yaml", "not YAML: keys must be texts"),
        ("g.yaml", b"[" * 5000, "too_deep", "nested deeper than 512 levels"),
        ("g.toml", b"a = ", "not_toml", "not TOML: "),
    ],
)
def test_files_that_are_no_gates(
    name: str, data: bytes, kind: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(SpecError) as caught:
        Gate.from_file(path)
    (issue,) = caught.value.issues
    assert issue.kind == kind
    assert issue.message.startswith(message)
    assert caught.value.source == str(path)


def test_yaml_aliases_are_bounded(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    path = tmp_path / "g.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(SpecError, match="aliases hold more than the text"):
        Gate.from_file(path)


def test_hints_are_bounded() -> None:
    # Sixteen thousand misspelt keys: each is told of, and only the first are looked up.
    spec = {"scorers": [A | {f"valu{i}": 1 for i in range(16_000)}]}
    with pytest.raises(SpecError) as caught:
        Gate(json.dumps(spec))
    assert len(caught.value.issues) == 16_000
    assert sum(issue.hint is not None for issue in caught.value.issues) <= 64
    assert len(caught.value.hints) <= 8


def test_issues_are_values() -> None:
    issue = SpecIssue("missing", "score.x", "is not there", hint="h", line=1, column=2)
    assert str(issue) == "score.x: is not there"
    assert repr(issue) == "<SpecIssue missing at 1:2: score.x: is not there>"
    assert str(issue.within("Phase 'a'")) == "Phase 'a': score.x: is not there"
    assert pickle.loads(pickle.dumps(issue, 0)) == issue
    assert issue != "x"
    assert issue != issue.at(2, 1)


def test_the_package_tests_no_message() -> None:
    # Facts travel as data: nothing asks how a message begins, or cuts it.
    for path in Path(scoregate.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for words in ("errors[0]", "message.startswith", "words.startswith"):
            assert words not in text, path


@pytest.mark.parametrize(
    ("block", "kind", "path"),
    [
        ({"scorers": [A | {"value": ""}]}, "always_passes", ".scorers[0]"),
        (regex("("), "never_passes", ".scorers[0]"),
        (regex("^a*(b|)"), "always_passes", ".scorers[0]"),
        (regex("x*", negate=True), "never_passes", ".scorers[0]"),
        (regex("/a/i"), "doubtful_pattern", ".scorers[0]"),
        (regex(r"\Aa"), "doubtful_pattern", ".scorers[0]"),
        (regex("[[:alpha:]]"), "doubtful_pattern", ".scorers[0]"),
        (length(min=0), "always_passes", ".scorers[0]"),
        (length(min=0.2, max=0.8), "never_passes", ".scorers[0]"),
        (schema({"minProperties": 1}), "loose_schema", ".scorers[0]"),
        (
            WEIGHTED | {"scorers": [A] * 3, "weights": [0.1, 0.2, 0.7], "threshold": 0.8},
            "inexact_border",
            ".weights",
        ),
    ],
)
def test_warnings_are_issues(block: dict[str, Any], kind: str, path: str) -> None:
    (issue,) = _native.Gate(json.dumps(block)).warnings()
    assert (issue.kind, issue.path) == (kind, f"score{path}")
    assert issue.line == 1
    assert Gate(block).warnings() == [str(issue)]
    assert KINDS[kind].startswith("warning: ")


@pytest.mark.parametrize(
    "pattern", ["a", "a+", "(?=a)", r"\b", "a|b+", "$", "^a", "/usr/bin/", "/a", r"\\A", "[A-Z]"]
)
def test_patterns_that_may_fail_are_not_warned_of(pattern: str) -> None:
    assert Gate(regex(pattern)).warnings() == []


def test_a_score_that_prints_as_the_threshold_and_blocks() -> None:
    scorers = [A, A | {"value": "b"}, A | {"value": "c"}]
    block = {"scorers": scorers, "combine": "weighted", "threshold": 0.8}
    result = Gate(block | {"weights": [0.1, 0.2, 0.7]}).score("a c")
    assert result.verdict == "block"
    assert result.report.endswith("Combined score: 0.7999999999999999 (threshold 0.8)")
    exact = Gate(block | {"weights": [1, 2, 7]}).score("a c")
    assert exact.report.endswith("Combined score: 0.800 (threshold 0.8)")


def test_a_gate_is_built_once() -> None:
    gate = Gate({"scorers": [A]})
    with pytest.raises(TypeError, match="a gate is immutable; build another one"):
        gate.__init__({"scorers": [A]})  # type: ignore[misc]
