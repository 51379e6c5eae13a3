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
