"""Pydantic models and malformed schemas, and calls that must not end the process."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import Annotated, Any, Literal

import pytest
import scoregate
from pydantic import BaseModel, Field


class Card(BaseModel):
    kind: Literal["card"]
    number: str


class Cash(BaseModel):
    kind: Literal["cash"]
    amount: float


class Order(BaseModel):
    id: int
    tags: list[str] = []
    paid: Annotated[Card | Cash, Field(discriminator="kind")]


def test_a_value_is_an_instance_of_the_model() -> None:
    text = '{"id": "5", "tags": "x", "paid": {"kind": "cash", "amount": "2.5"}}'
    result = scoregate.parse_json(text, model=Order)
    assert result.value == Order(id=5, tags=["x"], paid=Cash(kind="cash", amount=2.5))
    assert [d.code for d in result.diagnostics] == [
        "coerced_number",
        "coerced_array",
        "coerced_number",
    ]


def test_what_the_model_refuses_is_an_error() -> None:
    result = scoregate.parse_json('{"id": "five"}', model=Order)
    assert not result.ok
    assert result.value is None
    assert result.error is not None
    assert result.error.code == "model_refused"


def test_a_model_stands_for_its_schema() -> None:
    spec = {"type": "json-schema", "schema": Order, "coerce": True}
    good = '{"id": "5", "paid": {"kind": "card", "number": 7}}'
    found = scoregate.evaluate_scorer(spec, good)
    assert (found.passed, found.repaired) == (True, "guess")
    bad = scoregate.evaluate_scorer(spec, '{"id": 5, "paid": {"kind": "cash", "amount": "z"}}')
    assert bad.detail == "$.paid.amount: expected number, got string"
    assert scoregate.Gate({"scorers": [spec]}).spec["scorers"][0]["schema"]["title"] == "Order"


@pytest.mark.parametrize(
    "schema",
    [{"type": "strng"}, {"minimum": "a"}, {"$ref": "http://a/b"}, {"requierd": []}, 5],
)
def test_a_malformed_schema_is_an_error(schema: Any) -> None:
    with pytest.raises(ValueError, match="schema"):
        scoregate.parse_json("{}", schema=schema)


def test_schema_and_model_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="together"):
        scoregate.parse_json("{}", schema={}, model=Order)
    with pytest.raises(TypeError, match="pydantic"):
        scoregate.parse_json("{}", model=dict)


def test_shared_parts_are_bounded() -> None:
    schema: dict[str, Any] = {}
    for _ in range(40):
        schema = {"anyOf": [schema, schema]}
    with pytest.raises(ValueError, match="shared parts"):
        scoregate.parse_json("{}", schema=schema)


def test_a_summary_counts_repairs() -> None:
    scorer = {"type": "json-schema", "schema": {"type": "object"}, "repair": True}
    batch = scoregate.Gate({"scorers": [scorer]}).score_batch(["{}", '{"a": 1', "[1,"])
    assert [result.results[0].repaired for result in batch] == [None, "guess", "guess"]
    assert batch.summary()["scorers"][0]["repaired"] == 1


_ENDINGS = {
    "a claimed length": """
        class Claims(list):
            def __len__(self): return 2**62
        print(scoregate.combine_scores(Claims(), weights=Claims()).passed)
    """,
    "a claimed length of texts": """
        class Claims(list):
            def __len__(self): return 2**62
            def __length_hint__(self): return 2**62
        for take in (scoregate.extract_json_batch, scoregate.parse_verdict_batch):
            take(Claims(["[1]"]))
        gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "x"}]})
        try:
            print(gate.score_batch(Claims(["y"]))[0].passed)
        except (MemoryError, OverflowError, ValueError, TypeError):
            print(False)
    """,
    "an error near the recursion limit": """
        def down(n):
            try:
                scoregate.Gate({})
            except (scoregate.SpecError, RecursionError):
                pass
            down(n + 1)
        try:
            down(0)
        except RecursionError:
            print(False)
    """,
    "an error at the end of the interpreter": """
        class Late:
            def __del__(self, gate=scoregate.Gate):
                try:
                    gate({})
                except Exception:
                    pass
        late = Late()
        import sys
        sys.late = late
        print(False)
    """,
}


@pytest.mark.parametrize("name", _ENDINGS)
def test_nothing_ends_the_process(name: str) -> None:
    import textwrap

    code = "import scoregate\n" + textwrap.dedent(_ENDINGS[name])
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "False\n"), ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("unit", ['{"a": "b" c "', '["', "[a](", "```json\n[\n"])
def test_ctrl_c_ends_the_wait_for_one_text(unit: str) -> None:
    """The work on a text has a budget; Ctrl-C is seen at its end at the latest."""
    code = (
        "import scoregate, sys, time\n"
        "text = sys.argv[1] * (8_000_000 // len(sys.argv[1]))\n"
        "start = time.monotonic()\n"
        "scoregate.parse_json(text)\n"
        "try:\n"
        "    print(time.monotonic() - start, flush=True)\n"
        "    scoregate.parse_json(text)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', flush=True)\n"
        "else:\n"
        "    print('ended', flush=True)\n"
    )
    argv = [sys.executable, "-c", code, unit]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        whole = float(process.stdout.readline())
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() in ("stopped\n", "ended\n")
        waited = time.monotonic() - start
        process.wait()
    assert waited < 2 * whole + 1
