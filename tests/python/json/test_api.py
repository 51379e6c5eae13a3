"""Arguments, types, limits."""

from __future__ import annotations

import copy
import pickle
import re
import sys
import threading
from pathlib import Path
from typing import Any, Literal

import pytest
import scoregate
from scoregate import JSONDiagnostic, JSONResult, _native

BROKEN = 'Sure:\n{\'é\': [1, 2,], "b": "x'


def test_a_result() -> None:
    result = scoregate.parse_json(BROKEN)
    assert result.ok
    assert result.value == {"é": [1, 2], "b": "x"}
    assert result.source == "brackets"
    assert result.span == (6, len(BROKEN))
    assert result.severity == "lossy"
    assert result.error is None
    assert result.others == []
    first = result.diagnostics[0]
    assert (first.code, first.severity, first.offset) == ("discarded_text", "lossless", 0)
    assert (first.line, first.column, first.before, first.path) == (1, 1, "Sure:", None)
    comma = next(d for d in result.diagnostics if d.code == "trailing_comma")
    assert BROKEN[comma.offset] == ","
    assert (comma.line, comma.column) == (2, 12)
    assert str(comma).startswith("line 2, column 12: trailing_comma: ")
    assert comma.to_dict()["code"] == "trailing_comma"
    match result:
        case JSONResult(value, True, [JSONDiagnostic(code="discarded_text"), *_], (6, _)):
            assert value == result.value
        case _:
            pytest.fail("does not match")


def test_results_are_copied_and_pickled() -> None:
    for text in (BROKEN, "nothing", '{"a": 1}', '{"a": 1} and {"b": 2}, {"c": 3}'):
        result = scoregate.parse_json(text, candidates="all")
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(result, protocol)) == result
        assert copy.deepcopy(result) == result == copy.copy(result)
        assert result != scoregate.parse_json("[]")
    assert JSONResult(1, True) == JSONResult(1, True, [], None, None)
    assert repr(JSONResult(1, True)).startswith("<JSONResult ok")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "fix"}, "mode: must be one of repair|strict"),
        ({"candidates": "some"}, "candidates: must be one of best|all"),
        ({"max_severity": "none"}, "max_severity: must be one of lossless|guess|lossy"),
        ({"max_depth": 0}, "max_depth: must be at least 1"),
        ({"mode": "strict", "partial": True}, "partial: needs mode repair"),
        ({"mode": "strict", "candidates": "all"}, "candidates: all needs mode repair"),
    ],
)
def test_wrong_arguments_are_exceptions(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        scoregate.parse_json("1", **options)


def test_wrong_types_are_exceptions() -> None:
    for wrong in (None, 1, ["x"], bytearray(b"1")):
        with pytest.raises(TypeError, match="text: expected str or bytes, got"):
            scoregate.parse_json(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            scoregate.extract_json(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="one text"):
        scoregate.extract_json_batch("[1]")
    with pytest.raises(TypeError, match=r"texts\[1\]: expected str or bytes, got int"):
        scoregate.extract_json_batch(["1", 2])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="threads: must be at least 1"):
        scoregate.extract_json_batch(["1"], threads=0)


@pytest.mark.parametrize(
    ("text", "code", "offset"),
    [
        ("nothing here", "no_json", 0),
        ("", "no_json", 0),
        ("[" * 600, "too_deep", 512),
        ("[1, " + "9" * 5000 + "]", "integer_too_long", 4),
        (b'{"a": "\xff"}', "not_utf8", 7),
        (b'{"a": "\xed', "not_utf8", 7),
    ],
)
@pytest.mark.parametrize("mode", ["repair", "strict"])
def test_errors_are_results(text: str | bytes, code: str, offset: int, mode: Any) -> None:
    result = scoregate.parse_json(text, mode=mode)
    assert not result.ok
    assert result.value is None
    assert result.span is None
    assert result.error is not None
    assert (result.error.code, result.error.severity) == (code, "error")
    assert result.error.offset == offset
    with pytest.raises(scoregate.JSONNotFoundError) as caught:
        scoregate.extract_json(text, repair=mode == "repair")
    assert caught.value.offset == offset
    assert isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.offset) == (str(caught.value), offset)
    assert scoregate.extract_json_batch([text, "1"], default=0) == [0, 1]


def test_depth() -> None:
    def nested(levels: int) -> str:
        return "[" * levels + "]" * levels

    assert scoregate.parse_json(nested(512)).ok
    assert not scoregate.parse_json(nested(513)).ok
    assert not scoregate.parse_json(nested(4), max_depth=3).ok
    assert not scoregate.parse_json(nested(4), max_depth=3, mode="strict").ok
    for text in (nested(100_000), "[" * 100_000, '{"a":' * 100_000):
        assert scoregate.parse_json(text).error is not None
    value = scoregate.parse_json(nested(100_000), max_depth=200_000).value
    levels = 1
    while value:
        value, levels = value[0], levels + 1
    assert levels == 100_000
    assert scoregate.parse_json('{"a":' * 50_000, max_depth=200_000).ok
    deep = scoregate.parse_json(nested(600), max_depth=1000, schema={"type": "array"})
    assert deep.error is not None
    assert deep.error.code == "too_deep"


def test_integers_are_exact() -> None:
    digits = "9" * 4300
    assert scoregate.parse_json(f"[{digits}, -{digits}]").value == [int(digits), -int(digits)]
    value = scoregate.parse_json("[9223372036854775807, 9223372036854775808, -0, 1e2, 1.0]").value
    assert value == [2**63 - 1, 2**63, 0, 100.0, 1.0]
    assert [type(v) for v in value] == [int, int, int, float, float]
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(0)
        assert scoregate.parse_json("9" * 5000).ok
    finally:
        sys.set_int_max_str_digits(before)


def test_surrogates() -> None:
    assert scoregate.parse_json('["\\ud83d", "\\ud83d\\ude00"]').value == ["\ud83d", "😀"]
    split = '["\ud83d\ude00", "\ud83d", 1,]'
    result = scoregate.parse_json(split)
    assert result.value == ["😀", "\ud83d", 1]
    assert result.span == (0, len(split))
    assert split[result.diagnostics[0].offset] == ","
    data = split.encode("utf-8", "surrogatepass")
    of_bytes = scoregate.parse_json(data)
    assert of_bytes.value == result.value
    assert of_bytes.span == (0, len(data))
    assert data[of_bytes.diagnostics[0].offset : of_bytes.diagnostics[0].offset + 1] == b","


def test_severity_is_a_policy() -> None:
    def ok(text: str, most: Any) -> bool:
        return scoregate.parse_json(text, max_severity=most).ok

    assert ok('{"a": 1,}', "lossless")
    assert not ok('{"a": [1', "lossless")
    assert ok('{"a": [1', "guess")
    assert not ok('{"a": "x', "guess")
    assert ok('{"a": "x', "lossy")
    refused = scoregate.parse_json('{"a": "x', max_severity="guess")
    assert refused.error is not None
    assert refused.error.code == "above_max_severity"
    assert [d.code for d in refused.diagnostics[:-1]] != []
    assert refused.value is None
    twice = '{"a": 1, "a": 2}'
    modes: tuple[Literal["repair", "strict"], ...] = ("repair", "strict")
    for mode in modes:
        result = scoregate.parse_json(twice, mode=mode)
        assert result.value == {"a": 2}
        assert [d.code for d in result.diagnostics] == ["duplicate_key"]
        assert not scoregate.parse_json(twice, mode=mode, max_severity="guess").ok


def test_schema() -> None:
    schema = {"properties": {"n": {"type": "integer"}, "tags": {"type": "array"}}}
    result = scoregate.parse_json('{"n": "5", "tags": "x", "n": "6"}', schema=schema)
    assert result.value == {"n": 6, "tags": ["x"]}
    found = {(d.code, d.path) for d in result.diagnostics}
    assert found == {
        ("coerced_number", "$.n"),
        ("coerced_array", "$.tags"),
        ("duplicate_key", None),
    }
    assert scoregate.parse_json('{"n": "5"}').value == {"n": "5"}
    refused = scoregate.parse_json('{"n": "5"}', schema=schema, max_severity="lossless")
    assert refused.error is not None
    assert refused.error.code == "above_max_severity"
    assert scoregate.parse_json('{"n": 5}', schema=schema, max_severity="lossless").ok
    with pytest.raises(TypeError, match="schema"):
        scoregate.parse_json("1", schema={"a": object()})


def test_partial() -> None:
    assert scoregate.parse_json('{"a": [1, 2', partial=True).value == {"a": [1]}
    assert scoregate.parse_json('{"a": [1, 2').value == {"a": [1, 2]}
    assert scoregate.parse_json('{"a": "x', partial=True, max_severity="lossless").ok


def test_all_candidates() -> None:
    text = 'é {"a": 1} or {"b": 2} <think>{"c": 3}</think>'
    result = scoregate.parse_json(text, candidates="all")
    assert result.value == {"a": 1}
    others = {other.source: other.value for other in result.others}
    assert {"b": 2} in others.values()
    for other in result.others:
        assert other.ok
        assert other.span is not None
        assert scoregate.parse_json(text[slice(*other.span)]).value == other.value
    assert scoregate.parse_json(text).others == []


def test_batches_take_any_iterable() -> None:
    texts = ['{"a": 1,}', None, "prose", b"[1]", "x ```json\n2\n```"]
    assert scoregate.extract_json_batch(iter(texts), repair=True) == [{"a": 1}, None, None, [1], 2]
    assert scoregate.extract_json_batch(texts, default="") == ["", "", "", [1], 2]
    written = scoregate.extract_json_batch(texts, repair=True, as_text=True)
    assert written == ['{"a":1}', None, None, "[1]", "2"]
    many = scoregate.extract_json_batch(f"[{i}]" for i in range(20_000))
    assert many == [[i] for i in range(20_000)]
    assert scoregate.extract_json_batch([]) == []


def test_one_text_and_many_are_read_alike() -> None:
    """What is found, and what a default does, is the same; only many texts need a default."""
    texts = ['{"a": 1}', '{"a": 1,}', "x [1] y", "prose", "", "null", "```json\n[2\n```"]
    for repair in (False, True):
        one = [scoregate.extract_json(text, repair=repair, default="none") for text in texts]
        assert scoregate.extract_json_batch(texts, repair=repair, default="none") == one
    assert scoregate.extract_json(texts[1], default=0) == 0
    assert scoregate.extract_json_batch(texts[1:2], default=0) == [0]


def test_canonical_text() -> None:
    texts = ['{"b": 1.50, "a": "é\\n", "b": 12345678901234567890123}', '["\\ud800", NaN]']
    assert scoregate.extract_json_batch(texts, repair=True, as_text=True) == [
        '{"b":12345678901234567890123,"a":"é\\n"}',
        '["\\ud800",null]',
    ]


def test_threads() -> None:
    texts = [f'{{"key{i % 7}": [{i}, "{"x" * i}"],}}' for i in range(200)]
    wanted = [scoregate.parse_json(text).value for text in texts]
    failed = []

    def work() -> None:
        for text, value in zip(texts, wanted, strict=True):
            if scoregate.parse_json(text).value != value:
                failed.append(text)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_keys_that_share_a_place_stay_apart() -> None:
    for start in range(0, 20_000, 1000):
        keys = {f"k{i}" * (1 + i % 9): i for i in range(start, start + 1000)}
        text = "{" + ", ".join(f'"{key}": {i}' for key, i in keys.items()) + "}"
        assert scoregate.parse_json(text).value == keys


def test_a_result_that_holds_itself_is_collected() -> None:
    import gc
    import weakref

    class Marker:
        pass

    result = scoregate.parse_json("[]")
    marker = Marker()
    seen = weakref.ref(marker)
    result.value.extend([result, marker])
    del result, marker
    gc.collect()
    assert seen() is None


def test_the_documentation_lists_every_code() -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "json.md"
    table = page.read_text(encoding="utf-8").partition("\n## Codes\n")[2]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+) \|$", table, re.MULTILINE)
    assert rows == _native.json_codes()


@pytest.mark.parametrize(
    "text",
    ['{"a": 1}}, b: 2}', "[1]], two]", '```json\n{"a": 1}}, b: 2}\n```'],
)
def test_what_seems_to_go_on_is_lossy(text: str) -> None:
    result = scoregate.parse_json(text)
    assert result.severity == "lossy"
    assert [found.code for found in result.diagnostics] == ["discarded_text"]
    assert not scoregate.parse_json(text, max_severity="guess").ok


def test_a_member_behind_an_early_closer_is_kept() -> None:
    result = scoregate.parse_json('{"a": 1}}\n"b": 2}')
    assert (result.value, result.severity) == ({"a": 1, "b": 2}, "guess")


@pytest.mark.parametrize("text", ['{"a": 1}}', '{"a": 1}}, as you asked', '{"a": 1}, see {x}'])
def test_prose_behind_a_document_costs_nothing(text: str) -> None:
    assert scoregate.parse_json(text).severity == "lossless"
