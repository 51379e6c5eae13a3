"""Building a gate, scoring one text, and what a judge may still change."""

from __future__ import annotations

import copy
import json
import pickle
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
import scoregate
from scoregate import Gate, GateResult, ScorerResult, SpecError

from .conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FLOW = json.loads((ROOT / "examples" / "validate.json").read_text(encoding="utf-8"))
BLOCK: dict[str, Any] = FLOW["phases"][1]["score"]
A = {"type": "contains", "value": "a"}
B = {"type": "contains", "value": "b"}
JUDGE = {"task": "Good enough?"}


def test_the_complete_example_builds_and_decides() -> None:
    gate = Gate(BLOCK)
    good = gate.score('{"status": "success", "data": {"users": []}, "message": "all is well"}')
    assert (good.verdict, good.passed, good.combined, good.decided_by) == (
        "pass",
        True,
        1,
        "scorers",
    )
    assert good.threshold == 0.7
    poor = gate.score('{"status": "error", "data": null}')
    assert (poor.verdict, poor.passed, poor.decided_by, poor.reason) == (
        "undecided",
        False,
        None,
        None,
    )
    assert poor.report.splitlines() == [
        "## Deterministic scorer report",
        "- [PASS] has-status-field (contains)",
        '- [FAIL] status-is-success (regex): /"status"\\s*:\\s*"success"/ did not match',
        "- [PASS] valid-schema (json-schema)",
        "- [FAIL] reasonable-length (length-range): length 33 outside [50, 5000]",
        "Combined score: 0.600 (threshold 0.7)",
    ]


@pytest.mark.parametrize(
    ("block", "text", "verdict", "combined", "reason"),
    [
        ({"scorers": [A, B]}, "ab", "pass", 1.0, None),
        ({"scorers": [A, B]}, "a", "block", 0.0, "deterministic scorers below threshold"),
        ({"scorers": [A, B], "combine": "any"}, "a", "pass", 1.0, None),
        ({"scorers": [A, B], "combine": None}, "a", "block", 0.0, "deterministic scorers below threshold"),
        ({"scorers": [A, B], "judge": JUDGE}, "a", "undecided", 0.0, None),
        ({"scorers": [A, B], "judge": JUDGE}, "ab", "pass", 1.0, None),
        ({"scorers": [A, B], "judge": {**JUDGE, "when": "always"}}, "ab", "undecided", 1.0, None),
        ({"scorers": [A, B], "combine": "any", "judge": {**JUDGE, "when": "always"}}, "b", "undecided", 1.0, None),
        # N weights: the judge's verdict decides what falls short.
        ({"scorers": [A, B], "combine": "weighted", "weights": [3, 1], "judge": JUDGE}, "b", "undecided", 0.25, None),
        ({"scorers": [A, B], "combine": "weighted", "weights": [3, 1], "judge": JUDGE}, "a", "pass", 0.75, None),
        # N+1 weights: a lower bound that clears the threshold needs no judge ...
        ({"scorers": [A, B], "combine": "weighted", "weights": [3, 1, 1], "judge": JUDGE}, "a", "pass", 0.6, None),
        # ... one that the judge could still lift is open ...
        ({"scorers": [A, B], "combine": "weighted", "weights": [1, 1, 2], "judge": JUDGE}, "a", "undecided", 0.25, None),
        # ... and one out of reach blocks without a token.
        (
            {"scorers": [A, B], "combine": "weighted", "weights": [3, 1, 1], "threshold": 0.9, "judge": JUDGE},
            "b",
            "block",
            0.2,
            "scorers too low for any judge score to reach the threshold",
        ),
        # A judge's score of 1 that reaches the threshold exactly is enough.
        ({"scorers": [A, B], "combine": "weighted", "weights": [1, 1, 2], "threshold": 0.5, "judge": JUDGE}, "x", "undecided", 0.0, None),
        # The cut-off holds in weighted mode under "always" too: the judge could not change it.
        (
            {"scorers": [A], "combine": "weighted", "weights": [1, 1], "threshold": 0.5, "judge": {**JUDGE, "when": "always"}},
            "a",
            "pass",
            0.5,
            None,
        ),
    ],
)  # fmt: skip
def test_decisions(
    block: dict[str, Any], text: str, verdict: str, combined: float, reason: str | None
) -> None:
    result = Gate(block).score(text)
    assert (result.verdict, result.combined, result.reason) == (verdict, combined, reason)
    assert result.passed is (verdict == "pass")
    assert result.decided_by == (None if verdict == "undecided" else "scorers")
    batch = Gate(block).score_batch([text])
    assert batch[0] == result


def test_large_weights_do_not_overflow() -> None:
    weights = [1e308, 1e308]
    block = {"scorers": [A, A], "combine": "weighted", "weights": weights, "threshold": 0.9}
    assert Gate(block).score("a").combined == 1.0
    results = Gate(block).score("a").results
    found = scoregate.combine_scores(results, "weighted", weights=weights, judge_weight=1e308)
    assert found.combined == 2 / 3
    folded = scoregate.combine_with_judge(results, [*weights, 1e308], 0.5, 0.5)
    assert folded.combined == 2.5 / 3


def test_missing_input_is_blocked_without_results() -> None:
    result = Gate({"scorers": [A], "judge": JUDGE}).score(None)
    assert (result.verdict, result.reason, result.decided_by) == (
        "block",
        "missing input",
        "policy",
    )
    assert (result.results, result.combined) == ([], 0.0)
    assert result.to_dict() == {
        "verdict": "block",
        "combined": 0.0,
        "results": [],
        "reason": "missing input",
        "decided_by": "policy",
    }


@pytest.mark.parametrize(
    ("block", "errors"),
    [
        ({"scorers": [A], "target": 3}, ['score.target: must be a string interpolation ref (e.g. "{steps.gen.output}")']),
        ({"scorers": [A], "combine": "most"}, ["score.combine: must be one of all|any|weighted"]),
        ({"scorers": [A], "combine": "weighted", "judge": JUDGE}, ['score.weights: required array for combine:"weighted" (2 entries — last one is the judge\'s weight)']),
        ({"scorers": [A], "combine": "weighted", "weights": [1, 2, 3], "judge": JUDGE}, ["score.weights: expected 2 entries (scorers + judge), got 3"]),
        (
            {"scorers": [A], "combine": "weighted", "weights": [1, float("nan"), True], "threshold": 0},
            [
                "score.weights: expected 1 entries (scorers), got 3",
                "score.weights[1]: must be a number > 0",
                "score.weights[2]: must be a number > 0",
                "score.threshold: must be a number in (0, 1]",
            ],
        ),
        ({"scorers": [A], "combine": "weighted", "weights": [float("inf")]}, ["score.weights[0]: must be a number > 0"]),
        ({"scorers": [A], "threshold": None}, ['score.threshold: only valid with combine:"weighted"']),
        ({"scorers": [A], "judge": {"task": " "}}, ["score.judge.task: required non-empty string"]),
        (
            {"scorers": [A], "judge": {"task": "t", "when": "never", "onUnparseable": "stop", "model": "m"}},
            [
                "score.judge.when: must be one of onFail|always",
                "score.judge.onUnparseable: must be one of pass|block|undecided",
                "score.judge.model: unknown judge keyword (supported: task, agent, when, onUnparseable, reply, fields)",
            ],
        ),
    ],
)  # fmt: skip
def test_shape_errors(block: dict[str, Any], errors: list[str]) -> None:
    assert scoregate.score_shape_errors(block) == errors
    with pytest.raises(SpecError) as caught:
        Gate(block)
    assert caught.value.errors == errors
    assert str(caught.value) == "\n".join(errors)
    assert isinstance(caught.value, ValueError)
    assert pickle.loads(pickle.dumps(caught.value)).errors == errors


def test_specs_come_as_mapping_text_bytes_and_file(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    path.write_text("\ufeff" + json.dumps(BLOCK), encoding="utf-8")
    gates = [
        Gate(BLOCK),
        Gate(MappingProxyType(BLOCK)),
        Gate(json.dumps(BLOCK)),
        Gate(json.dumps(BLOCK).encode()),
        Gate(path),
        Gate.from_file(str(path)),
    ]
    assert all(gate == gates[0] and hash(gate) == hash(gates[0]) for gate in gates)
    assert gates[0].spec == BLOCK
    assert gates[0] != Gate({"scorers": [A]})
    with pytest.raises(SpecError, match="score: not JSON: expected a value at byte 0"):
        Gate("gate.json")
    with pytest.raises(FileNotFoundError):
        Gate.from_file(str(tmp_path / "none.json"))


def test_specs_that_are_not_json_values_are_type_errors() -> None:
    for spec in [{"scorers": {1, 2}}, {"scorers": [{"type": "contains", "value": object()}]}, 3.5j]:
        with pytest.raises(TypeError, match="is not a JSON value"):
            Gate(spec)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^score\.scorers\[1\]\.schema\.enum\[2\]: set is not"):
        Gate({"scorers": [A, {"type": "json-schema", "schema": {"enum": [1, [], {1}]}}]})
    with pytest.raises(TypeError, match="keys must be str, got int"):
        Gate({1: 2})  # type: ignore[dict-item]


def test_a_spec_that_is_too_deep_is_refused() -> None:
    spec: Any = []
    for _ in range(10_000):
        spec = [spec]
    for given in (spec, {"scorers": spec}, "[" * 10_000 + "]" * 10_000):
        with pytest.raises(SpecError, match="nested deeper than 512 levels"):
            Gate(given)
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(SpecError, match="nested deeper"):
        Gate(cyclic)  # type: ignore[arg-type]


def test_texts_of_other_types_are_type_errors() -> None:
    gate = Gate({"scorers": [A]})
    for text in (1, b"a", ["a"]):
        with pytest.raises(TypeError, match="expected str"):
            gate.score(text)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected str, got None"):
        scoregate.evaluate_scorer(A, None)  # type: ignore[arg-type]


def test_lone_surrogates_are_scored() -> None:
    gate = Gate(
        {
            "scorers": [
                {"type": "length-range", "min": 2, "max": 2},
                {"type": "contains", "value": "\ud83d"},
            ]
        }
    )
    for text in ("\ud83d\ud83d", "\ud83d\ude00", "😀"):
        assert gate.score(text).passed, text
    assert scoregate.extract_json('"\\ud83d"') == "\ud83d"
    assert scoregate.extract_json('"\ud83d\ude00"') == "😀"


def test_warnings_name_scorers_that_cannot_pass() -> None:
    gate = Gate(
        {
            "scorers": [
                {"type": "regex", "pattern": "(", "name": "broken"},
                {"type": "json-schema", "schema": {"$ref": "https://example.com/x"}},
                {"type": "json-schema", "schema": {"minProperties": 1}},
                A,
                {"type": "code-compiles", "language": "typescript"},
            ]
        }
    )
    first, second, third = gate.warnings()
    assert first.startswith(
        "score.scorers[0] (broken): invalid pattern: Invalid regular expression: /(/"
    )
    assert second == (
        "score.scorers[1] (json-schema-1): unusable JSON Schema: "
        "$ref https://example.com/x: references are never fetched"
    )
    assert "accepts values that are not objects" in third
    assert not gate.score("{}").passed


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_everything_pickles_and_copies(protocol: int) -> None:
    gate = Gate(BLOCK, untrusted=True)
    result = gate.score('{"status": "error"}')
    combination = scoregate.combine_scores(result.results, "any")
    batch = gate.score_batch(["x", None, '{"status": "success", "data": 1}' * 3])
    for thing in (gate, result, result.results[1], combination):
        assert pickle.loads(pickle.dumps(thing, protocol)) == thing
        assert copy.copy(thing) == copy.deepcopy(thing) == thing
    back = pickle.loads(pickle.dumps(batch, protocol))
    assert [back[i] for i in range(3)] == [batch[i] for i in range(3)]
    assert back.summary() == batch.summary()


def test_results_are_plain_values() -> None:
    result = ScorerResult("n", "contains", False, detail="d")
    assert (
        repr(result)
        == "ScorerResult(name='n', type='contains', passed=False, score=0.0, detail='d')"
    )
    assert eval(repr(result)) == result
    match result:
        case ScorerResult(name, kind, passed):
            assert (name, kind, passed) == ("n", "contains", False)
    for score in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match=r"score: must be in \[0, 1\]"):
            ScorerResult("n", "contains", True, score)
    made = GateResult("pass", 0.9, [result], reason="because", decided_by="judge")
    assert (made.passed, made.reason, made.decided_by) == (True, "because", "judge")
    assert "pass" in repr(made)
    with pytest.raises(ValueError, match="verdict: must be one of"):
        GateResult("maybe", 0.9, [])  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        result.score = 1.0  # type: ignore[misc]


def test_combine_refuses_unknown_modes() -> None:
    with pytest.raises(ValueError, match=r"combine: must be one of all\|any\|weighted"):
        scoregate.combine_scores([], "most")


def test_values_that_are_not_json_are_type_errors() -> None:
    with pytest.raises(TypeError, match=r"\$.*is not a JSON value"):
        scoregate.contract_violations({1, 2}, {})
    assert scoregate.contract_violations(float("nan"), {"type": "number"}) == []
    assert scoregate.contract_violations(float("nan"), {"type": "integer"}) == [
        "$: expected integer, got number"
    ]
    assert scoregate.contract_violations((1, True), {"items": {"type": "integer"}}) == [
        "$[1]: expected integer, got boolean"
    ]
    assert scoregate.contract_violations(10**30, {"enum": [10**30]}) == []


def test_a_result_has_no_truth_value() -> None:
    gate = Gate({"scorers": [A], "judge": {"task": "t"}})
    result = gate.score("x")
    combination = scoregate.combine_scores(result.results)
    for thing in (result, result.results[0], combination, gate.decide("x", judge=lambda _: "")):
        with pytest.raises(TypeError, match=r"has no truth value; use \.passed"):
            assert thing
        assert thing == copy.copy(thing)
    readings = {
        "verdict": (scoregate.parse_verdict("PASS"), scoregate.parse_judge("SCORE: 1")),
        "winner": (scoregate.parse_winner("WINNER: 1", 2),),
        "ok": (scoregate.parse_json("[]"),),
    }
    for field, things in readings.items():
        for reading in things:
            with pytest.raises(TypeError, match=rf"has no truth value; use \.{field}"):
                bool(reading)


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"scorer": [A]}, ["score.scorers: the block has 'scorer'; did you mean 'scorers'?"]),
        ({"rules": [A]}, ["score.scorers: the block has 'rules'; did you mean 'scorers'?"]),
        ({"xyz": [A]}, ["score.scorers: the block has 'xyz', which means nothing here"]),
        ({"scorers": [A], "treshold": 1}, ["score.treshold: did you mean 'threshold'?"]),
        (
            {"scorers": [{"type": "Contain", "value": ""}, {"type": "x"}]},
            ["score.scorers[0].type: got 'Contain'; did you mean 'contains'?"],
        ),
        (
            {"scorers": [{"type": "regex", "patern": "a"}], "judge": {"tsk": "t"}},
            [
                "score.scorers[0].patern: did you mean 'pattern'?",
                "score.judge.tsk: did you mean 'task'?",
            ],
        ),
        (
            {"type": "contains", "value": "a"},
            ['score.scorers: this is one scorer; a gate is {"scorers": [...]}'],
        ),
        (
            {"id": "a", "score": {}},
            ["score.scorers: this is a gate phase: its score block is under score"],
        ),
        ([], []),
        ({"scorers": []}, []),
        (
            {5 * "a" * 99: 1},
            ["score.scorers: the block has '" + "a" * 80 + "…', which means nothing here"],
        ),
    ],
)
def test_hints_name_what_may_be_meant(spec: Any, wanted: list[str]) -> None:
    for given in (spec, json.dumps(spec)):
        with pytest.raises(SpecError) as caught:
            Gate(given)
        assert caught.value.hints == wanted
        assert caught.value.errors == scoregate.score_shape_errors(spec)
        assert getattr(caught.value, "__notes__", []) == [f"hint: {hint}" for hint in wanted]


def test_errors_of_a_file_name_it(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    cases = {
        b'{"scorers": []}': "score.scorers: must be a non-empty array of scorers",
        b"\xef\xbb\xbf{\n \xff}": "score: not UTF-8 text (byte 3)",
        b'{"scorers":\n  nul}': "score: not JSON: expected a value at byte 14 (line 2, column 3)",
    }
    for data, message in cases.items():
        path.write_bytes(data)
        for build in (Gate.from_file, Gate):
            with pytest.raises(SpecError) as caught:
                build(path)
            assert str(caught.value) == f"{path}: {message}"
            assert (caught.value.errors, caught.value.source) == ([message], str(path))
            assert pickle.loads(pickle.dumps(caught.value)).source == str(path)
    with pytest.raises(SpecError) as caught:
        Gate.from_file(ROOT / "examples" / "validate.json")
    assert caught.value.hints[0].startswith("score.scorers: this is a flow: ")
    assert Gate.from_file(ROOT / "examples" / "gate.json").score("x").verdict == "block"


def test_a_str_is_no_path() -> None:
    with pytest.raises(SpecError) as caught:
        Gate("gate.json")
    assert caught.value.hints == ["score: a str is JSON text; Gate.from_file opens a file"]


def test_repeated_keys_are_warned_of() -> None:
    gate = Gate('{"scorers": [\n {"type": "contains", "value": "a", "value": "b"}]}')
    assert gate.score("b").passed
    assert gate.warnings() == [
        'score: repeated key "value" (line 2, column 24); its last value counts'
    ]
    assert Gate(gate.spec).warnings() == []


def test_one_scorer_wants_a_mapping() -> None:
    for spec in ('{"type": "contains", "value": "a"}', [A], None):
        with pytest.raises(TypeError, match="spec: expected a mapping, got"):
            scoregate.evaluate_scorer(spec, "a")  # type: ignore[arg-type]


def test_score_file_wants_a_gate() -> None:
    with pytest.raises(TypeError, match=r"gate: expected a Gate, got str; Gate\.from_file"):
        scoregate.score_file("gate.json", "in.jsonl")  # type: ignore[arg-type]


def test_a_result_names_its_failures() -> None:
    gate = Gate(
        {
            "scorers": [
                {"type": "contains", "value": "ok", "name": "says-ok"},
                {"type": "json-schema", "schema": {"required": ["a"]}, "name": "has-a"},
            ]
        }
    )
    result = gate.score('{"b": 1}')
    assert result.failed == ["says-ok", "has-a"]
    assert result.failures == result.results
    assert gate.score('{"a": "ok"}').failed == []
    assert gate.score_batch(["ok"])[0].failed == ["has-a"]
    assert gate.score(None).failures == []


def test_a_result_has_the_json_that_was_read() -> None:
    def value(text: str | None, **fields: Any) -> Any:
        scorer = {"type": "json-schema", "schema": {"properties": {"n": {"type": "number"}}}}
        return Gate({"scorers": [scorer | fields]}).score(text).value()

    assert value('so: {"n": 12345678901234567890123, "x": "\\ud83d"}') == {
        "n": 12345678901234567890123,
        "x": "\ud83d",
    }
    assert value("{'n': 1,}") is None
    assert value("{'n': 1,}", repair=True) == {"n": 1}
    assert value('{"n": "3"}', coerce=True) == {"n": 3}
    assert value("none") is None
    assert value(None) is None
    gate = Gate({"scorers": [{"type": "contains", "value": "1"}]})
    result = gate.score("[1]")
    assert result.value() is None
    for other in (gate.score_batch(["[1]"])[0], pickle.loads(pickle.dumps(result))):
        assert other == result
        with pytest.raises(ValueError, match=r"gate.score\(text\).value\(\) has it"):
            other.value()
