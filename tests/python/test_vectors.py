"""The table of the gate's behaviour, run through the binding. Rust runs the same rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
import scoregate
from scoregate import ScorerResult

from .conftest import DATA, read_rows

ROWS = read_rows(DATA / "gate_vectors.jsonl")


def rows(function: str) -> list[Any]:
    found = [row for row in ROWS if row["fn"] == function]
    return [pytest.param(row["args"], row, id=str(i)) for i, row in enumerate(found)]


def results(passed: list[bool]) -> list[ScorerResult]:
    return [ScorerResult(f"s{i}", "contains", p) for i, p in enumerate(passed)]


def typed(value: Any) -> Any:
    """Numbers by value, and True apart from 1."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return (type(value).__name__.replace("int", "float"), value)


def test_the_table_is_whole() -> None:
    assert len(ROWS) == 1338


@pytest.mark.parametrize(("args", "row"), rows("lenient_parse"))
def test_lenient_parse(args: list[Any], row: dict[str, Any]) -> None:
    if row.get("none"):
        with pytest.raises(scoregate.JSONNotFoundError):
            scoregate.extract_json(args[0])
        assert scoregate.extract_json(args[0], default=7) == 7
    else:
        assert typed(scoregate.extract_json(args[0])) == typed(row["out"])


@pytest.mark.parametrize(("args", "row"), rows("contract_violations"))
def test_contract_violations(args: list[Any], row: dict[str, Any]) -> None:
    assert scoregate.contract_violations(args[0], args[1]) == row["out"]


@pytest.mark.parametrize(("args", "row"), rows("contract_shape_errors"))
def test_contract_shape_errors(args: list[Any], row: dict[str, Any]) -> None:
    assert scoregate.contract_shape_errors(args[0]) == row["out"]


@pytest.mark.parametrize(("args", "row"), rows("score_shape_errors"))
def test_score_shape_errors(args: list[Any], row: dict[str, Any]) -> None:
    found = scoregate.score_shape_errors(args[0])
    # The lists of types, languages, fields and keywords may go on after the original ones.
    assert len(found) == len(row["out"])
    for mine, wanted in zip(found, row["out"], strict=True):
        assert mine == wanted or mine.startswith(wanted.removesuffix(")"))
    if found:
        with pytest.raises(scoregate.SpecError) as caught:
            scoregate.Gate(json.dumps(args[0]))
        assert caught.value.errors == found
    else:
        scoregate.Gate(args[0])


@pytest.mark.parametrize(("args", "row"), rows("evaluate_scorer"))
def test_evaluate_scorer(args: list[Any], row: dict[str, Any]) -> None:
    spec, index, text = args
    found = scoregate.evaluate_scorer(spec, text, index=index)
    assert found.to_dict() == row["out"]


@pytest.mark.parametrize(("args", "row"), rows("combine"))
def test_combine(args: list[Any], row: dict[str, Any]) -> None:
    passed, mode, weights, threshold, judge_weight = args
    found = scoregate.combine_scores(
        results(passed),
        mode,
        weights=weights,
        threshold=0.5 if threshold is None else threshold,
        judge_weight=judge_weight,
    )
    assert (found.combined, found.passed) == (row["out"]["combined"], row["out"]["passed"])


@pytest.mark.parametrize(("args", "row"), rows("combine_with_judge"))
def test_combine_with_judge(args: list[Any], row: dict[str, Any]) -> None:
    passed, weights, threshold, score = args
    threshold = 0.5 if threshold is None else threshold
    found = scoregate.combine_with_judge(results(passed), weights, threshold, score)
    assert (found.combined, found.passed) == (row["out"]["combined"], row["out"]["passed"])


@pytest.mark.parametrize(("args", "row"), rows("format_report"))
def test_format_report(args: list[Any], row: dict[str, Any]) -> None:
    found = [ScorerResult(**result) for result in args[0]]
    assert scoregate.format_report(found, args[1], threshold=args[2]) == row["out"]


OWN = read_rows(DATA / "template.jsonl")


def template_rows(function: str) -> list[Any]:
    found = [row for row in [*ROWS, *OWN] if row["fn"] == function]
    return [pytest.param(row["args"], row["out"], id=str(i)) for i, row in enumerate(found)]


def context(given: dict[str, Any]) -> scoregate.Context:
    return scoregate.Context(
        args=given.get("args"),
        steps=given.get("steps"),
        previous_output=given.get("previousOutput"),
        locals=given.get("locals"),
    )


@pytest.mark.parametrize(("args", "out"), template_rows("interpolate"))
def test_interpolate(args: list[Any], out: dict[str, Any]) -> None:
    found = scoregate.interpolate(args[0], context(args[1]))
    assert (found.text, found.missing) == (out["text"], out["missing"])


@pytest.mark.parametrize(("args", "out"), template_rows("evaluate_condition"))
def test_evaluate_condition(args: list[Any], out: dict[str, Any]) -> None:
    found = scoregate.evaluate_condition(args[0], context(args[1]))
    assert (found.value, found.error is not None) == (out["value"], "error" in out)


def test_a_context_says_what_is_wrong() -> None:
    for keywords, words in (
        ({"args": []}, "args: expected a mapping, got list"),
        ({"steps": {"a": "x"}}, "steps.a: expected a mapping with output and json"),
        ({"steps": {"a": {"output": 3}}}, "steps.a: output: expected str"),
        ({"previous_output": 3}, "expected str, got int"),
        ({"locals": {"x": object()}}, "locals.x: object is not a JSON value"),
    ):
        arguments: Any = keywords
        with pytest.raises(TypeError, match=words):
            scoregate.Context(**arguments)
    lone = scoregate.Context(locals={"x": "\ud800"})
    assert scoregate.interpolate("{x}", lone).text == "\ud800"
    with pytest.raises(TypeError, match="no truth value"):
        bool(scoregate.evaluate_condition("0", lone))
    long = scoregate.Context(locals={"x": "x" * (1 << 25)})
    with pytest.raises(ValueError, match="longer than 67108864 bytes"):
        scoregate.interpolate("{x}{x}{x}", long)
