"""The case tables through the binding."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import pytest
import scoregate

DATA = Path(__file__).resolve().parents[2] / "data" / "json"


def cases() -> list[Any]:
    found = []
    for path in sorted(DATA.glob("*.jsonl")):
        for line in path.read_bytes().decode().split("\n"):
            if line:
                row = json.loads(line)
                found += [
                    pytest.param(row, mode, id=f"{row['id']}-{mode}") for mode in row["modes"]
                ]
    return found


def same(a: Any, b: Any) -> bool:
    """Equality by value; True is no number, NaN equals itself."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and math.isnan(a):
        return isinstance(b, float) and math.isnan(b)
    return bool(a == b)


@pytest.mark.parametrize(("row", "mode"), cases())
def test_rows(row: dict[str, Any], mode: str) -> None:
    text = row["input"]
    result = scoregate.parse_json(text, mode=mode)  # type: ignore[arg-type]
    missing = scoregate.extract_json(text, repair=mode == "repair", default=KeyError)
    codes = [found.code for found in result.diagnostics]
    if row.get("expected_none"):
        assert not result.ok, result.value
        assert result.value is None
        assert missing is KeyError
        assert result.error is not None
        assert result.diagnostics[-1] == result.error
    else:
        assert result.ok, result
        assert same(result.value, row["expected"]), result.value
        assert same(missing, row["expected"])
        start, end = result.span or (0, 0)
        assert 0 <= start <= end <= len(text)
    if mode == "repair" and "codes" in row:
        assert set(row["codes"]) <= set(codes)
        assert row["codes"] or not codes
    for found in result.diagnostics:
        assert 0 <= found.offset <= len(text)
        assert found.line == text.count("\n", 0, found.offset) + 1
        assert found.column == found.offset - (text.rfind("\n", 0, found.offset) + 1) + 1
    if "nan" not in repr(result.value):
        assert pickle.loads(pickle.dumps(result)) == result


@pytest.mark.parametrize(("row", "mode"), cases())
def test_bytes_give_the_same(row: dict[str, Any], mode: str) -> None:
    text = row["input"]
    data = text.encode("utf-8", "surrogatepass")
    of_str = scoregate.parse_json(text, mode=mode)  # type: ignore[arg-type]
    of_bytes = scoregate.parse_json(data, mode=mode)  # type: ignore[arg-type]
    assert of_str.ok == of_bytes.ok
    assert same(of_str.value, of_bytes.value)
    assert [d.code for d in of_str.diagnostics] == [d.code for d in of_bytes.diagnostics]
    if of_str.span is not None and of_bytes.span is not None:
        start, end = of_bytes.span
        sliced = text[of_str.span[0] : of_str.span[1]]
        assert data[start:end] == sliced.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("repair", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_batch_gives_the_same(repair: bool, threads: int) -> None:
    texts = [case.values[0]["input"] for case in cases()] * 4
    alone = [scoregate.extract_json(text, repair=repair, default=None) for text in texts]
    batch = scoregate.extract_json_batch(texts, repair=repair, threads=threads)
    assert all(same(a, b) for a, b in zip(alone, batch, strict=True))
    written = scoregate.extract_json_batch(texts, repair=repair, as_text=True, threads=threads)
    for value, text in zip(alone, written, strict=True):
        if text is None:
            assert value is None
        elif "NaN" not in repr(value) and "nan" not in repr(value) and "inf" not in repr(value):
            assert same(json.loads(text), value)
