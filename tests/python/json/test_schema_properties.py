"""Schemas by property: coercion, contracts against their definition, models, repaired passes."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
import scoregate
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from scoregate import _native

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
KEYS = st.sampled_from(["a", "b", "c"])
SCALARS = st.sampled_from(
    [None, True, False, 0, 1, -2, 1.0, 0.5, 10**20, "", "a", "1", "2.5", "true", "NULL", "[1]"]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def _contract(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keywords = {
        "type": st.sampled_from(TYPES),
        "properties": st.dictionaries(KEYS, inner, max_size=3),
        "required": st.lists(KEYS, max_size=2, unique=True),
        "items": inner,
        "enum": st.lists(VALUES, min_size=1, max_size=3),
    }
    return st.fixed_dictionaries({}, optional=keywords)


CONTRACTS = st.recursive(_contract(st.just({})), _contract, max_leaves=5)
SCHEMAS = st.recursive(
    CONTRACTS | st.booleans(),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "properties": st.dictionaries(KEYS, inner, max_size=2),
            "additionalProperties": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "const": VALUES,
        },
    ),
    max_leaves=5,
)
TEXTS = st.builds(
    lambda value, cut, around: around.format(json.dumps(value)[: len(json.dumps(value)) - cut]),
    VALUES,
    st.integers(0, 3),
    st.sampled_from(["{}", "So: {}", "```json\n{}\n```", "{},", "{} // end"]),
)


@settings(deadline=None)
@given(TEXTS, SCHEMAS, st.booleans())
def test_a_coercing_scorer_reads_as_parse_json_does(text: str, schema: Any, repair: bool) -> None:
    scorer = {"type": "json-schema", "schema": schema, "coerce": True, "repair": repair}
    outcome = scoregate.evaluate_scorer(scorer, text)
    mode: Literal["repair", "strict"] = "repair" if repair else "strict"
    found = scoregate.parse_json(text, mode=mode, schema=schema)
    holds = found.ok and not _native.schema_violations(found.value, schema)
    assert outcome.passed == holds, (outcome.detail, found.value)
    if holds and found.diagnostics:
        assert outcome.repaired == found.severity


def is_type(value: Any, name: str) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
        "string": isinstance(value, str),
        "number": number,
        "integer": number and value == int(value),
        "boolean": isinstance(value, bool),
        "null": value is None,
    }[name]


def equal(a: Any, b: Any) -> bool:
    """Equality of JSON: booleans are no numbers."""
    if isinstance(a, bool) or isinstance(b, bool) or type(a) is not type(b):
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (a, b))
        return a is b or (numbers and a == b)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    return bool(a == b)


def holds(value: Any, contract: Any) -> bool:
    """A contract by its definition."""
    kind = contract.get("type")
    if kind is None and ("properties" in contract or "required" in contract):
        kind = "object"
    elif kind is None and "items" in contract:
        kind = "array"
    if kind is not None and not is_type(value, kind):
        return False
    if "enum" in contract and not any(equal(value, member) for member in contract["enum"]):
        return False
    if isinstance(value, dict):
        inner = contract.get("properties", {})
        return all(key in value for key in contract.get("required", [])) and all(
            holds(value[key], inner[key]) for key in inner if key in value
        )
    if isinstance(value, list) and "items" in contract:
        return all(holds(item, contract["items"]) for item in value)
    return True


@settings(deadline=None)
@given(VALUES, CONTRACTS)
def test_a_contract_is_what_its_definition_says(value: Any, contract: Any) -> None:
    found = scoregate.contract_violations(value, contract)
    assert (not found) == holds(value, contract), found
    assert len(found) <= 8
    scorer = {"type": "json-schema", "schema": contract}
    text = json.dumps(value)
    strict = scoregate.parse_json(text, mode="strict")
    outcome = scoregate.evaluate_scorer(scorer, text)
    assert outcome.passed == (strict.ok and holds(strict.value, contract)), outcome.detail


class Line(BaseModel):
    name: str
    count: int = 1


class Order(BaseModel):
    id: int
    lines: list[Line] = []
    note: str | None = None


@settings(deadline=None)
@given(
    st.builds(
        Order,
        id=st.integers(),
        lines=st.lists(st.builds(Line, name=st.text(), count=st.integers()), max_size=3),
        note=st.none() | st.text(),
    ),
    st.sampled_from(["{}", "Here: {} as asked", "```json\n{}\n```", "{},"]),
)
def test_a_model_gives_its_instance(order: Order, around: str) -> None:
    found = scoregate.parse_json(around.replace("{}", order.model_dump_json()), model=Order)
    assert found.ok, found.error
    assert isinstance(found.value, Order)
    assert found.value == order


@settings(deadline=None)
@given(TEXTS)
def test_a_repaired_pass_says_so(text: str) -> None:
    scorer = {"type": "json-schema", "schema": {}, "repair": True}
    gate = scoregate.Gate({"scorers": [scorer]})
    found = scoregate.parse_json(text)
    batch = gate.score_batch([text])
    for outcome in (gate.score(text).results[0], batch[0].results[0]):
        assert outcome.passed == found.ok
        assert outcome.repaired == (found.severity if found.ok and found.diagnostics else None)
    counted = batch.summary()["scorers"][0]
    assert counted.get("repaired", 0) == int(found.ok and bool(found.diagnostics))


@pytest.mark.parametrize("count", [10, 1_023, 1_024, 1_025, 5_000])
def test_the_worst_severity_does_not_depend_on_how_many_repairs_are_listed(count: int) -> None:
    text = '{"a": [' + "'x', " * count + '1], "b": "cut'
    scorer = {"type": "json-schema", "schema": {}, "repair": True}
    assert scoregate.parse_json(text).severity == "lossy"
    assert scoregate.evaluate_scorer(scorer, text).repaired == "lossy"
    refused = scoregate.evaluate_scorer({**scorer, "maxSeverity": "guess"}, text)
    assert (refused.passed, refused.repaired) == (False, None)
    coerced = {**scorer, "coerce": True, "schema": {"properties": {"b": {"type": "string"}}}}
    assert scoregate.evaluate_scorer(coerced, text).repaired == "lossy"


def test_a_schema_that_was_changed_is_read_again() -> None:
    schema: dict[str, Any] = {"properties": {"n": {"type": "integer"}}}
    for _ in range(3):
        assert scoregate.parse_json('{"n": "5"}', schema=schema).value == {"n": 5}
        schema["properties"]["n"] = {"type": "string"}
        assert scoregate.parse_json('{"n": "5"}', schema=schema).value == {"n": "5"}
        schema["properties"]["n"] = {"type": "integer"}
    many = [{"type": "integer", "title": str(i)} for i in range(40)]
    for one in many * 2:
        assert scoregate.parse_json('"5"', schema=one).value == 5


def test_a_model_is_asked_once_for_its_schema() -> None:
    asked = []

    class Counted(BaseModel):
        n: int

        @classmethod
        def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
            asked.append(cls)
            return super().model_json_schema(*args, **options)

    class Other(Counted):
        n: str  # type: ignore[assignment]

    for _ in range(3):
        assert scoregate.parse_json('{"n": "5"}', schema=Counted).value == {"n": 5}
        assert scoregate.parse_json('{"n": 5}', schema=Other).value == {"n": "5"}
    assert asked == [Counted, Other]
    Counted.__annotations__["n"] = str
    Counted.model_fields["n"].annotation = str
    Counted.model_rebuild(force=True)
    scoregate.parse_json('{"n": "5"}', schema=Counted)
    assert asked == [Counted, Other, Counted]
