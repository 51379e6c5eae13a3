"""Properties over generated documents and texts."""

from __future__ import annotations

import json
from typing import Any

import pytest
import scoregate
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)
CONTAINERS = DOCUMENTS.filter(lambda value: isinstance(value, (dict, list)) and bool(value))
TEXTS = st.text() | st.text(st.characters(codec=None)) | st.text(alphabet="{}[]\",:\\'ab1 \n`<>/-#")
WRITINGS = st.sampled_from(
    [
        {},
        {"ensure_ascii": False},
        {"indent": 2},
        {"indent": 1, "ensure_ascii": False},
        {"separators": (",", ":")},
    ]
)


@given(DOCUMENTS, WRITINGS)
def test_valid_json_is_what_json_loads_gives(value: Any, writing: Any) -> None:
    text = json.dumps(value, **writing)
    for mode in ("strict", "repair"):
        result = scoregate.parse_json(text, mode=mode)
        assert result.ok
        assert result.diagnostics == []
        assert result.source == "whole"
        assert json.dumps(result.value) == json.dumps(json.loads(text))
    assert scoregate.extract_json(text.encode()) == value


@given(DOCUMENTS)
def test_repeated_keys(value: Any) -> None:
    text = f'{{"a": {json.dumps(value)}, "b": 1, "a": {json.dumps([value])}}}'
    result = scoregate.parse_json(text)
    assert result.value == json.loads(text)
    assert "duplicate_key" in [d.code for d in result.diagnostics]


@given(CONTAINERS, WRITINGS, st.sampled_from(["{}", "```json\n{}\n```", "```\n{}\n```"]))
@settings(max_examples=60)
def test_wrapping_leaves_the_value(value: Any, writing: Any, fence: str) -> None:
    assume(isinstance(value, dict))
    document = json.dumps(value, **writing)
    assume("```" not in document)
    for around in ("{}", "Here is the answer:\n\n{}\n\nI hope this helps.", "{} Done."):
        text = around.replace("{}", fence).replace("{}", document)
        result = scoregate.parse_json(text)
        assert result.ok, text
        assert result.value == value, text


@given(CONTAINERS, st.sampled_from(["tool_call", "json", "answer", "output"]))
@settings(max_examples=60)
def test_tags_leave_the_value(value: Any, tag: str) -> None:
    document = json.dumps(value)
    assume("<" not in document and "`" not in document)
    result = scoregate.parse_json(f"<{tag}>\n{document}\n</{tag}>")
    assert result.ok
    assert result.value == value


@given(TEXTS)
@example("\ud83d")
@example("[\ud83d\ude00")
def test_no_text_raises(text: str) -> None:
    for mode in ("strict", "repair"):
        result = scoregate.parse_json(text, mode=mode)
        assert result.ok == (result.error is None)
        if result.span is not None:
            assert 0 <= result.span[0] <= result.span[1] <= len(text)
    scoregate.parse_json(text, candidates="all", partial=True, schema={"type": "object"})
    assert scoregate.json_repair.loads(text) is not NotImplemented
    stream = scoregate.JSONStream()
    stream.feed(text)
    stream.close()


@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    scoregate.parse_json(data)
    scoregate.extract_json(data, default=None)
    stream = scoregate.JSONStream()
    for at in range(0, len(data), 3):
        stream.feed(data[at : at + 3])
    stream.close()


@given(CONTAINERS, st.integers(0, 400))
def test_any_prefix_ends(value: Any, cut: int) -> None:
    text = json.dumps(value, indent=1)[:cut]
    scoregate.parse_json(text)
    scoregate.parse_json(text, partial=True)


@pytest.mark.parametrize(
    "unit", ["[", "{", '"', "\\", '["', '{"', "```", "```json\n", "<think>", "/*", "'", "{a:", ","]
)
def test_hostile_texts_end(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert scoregate.parse_json(text) is not None
    stream = scoregate.JSONStream()
    for at in range(0, len(text), 4096):
        stream.feed(text[at : at + 4096])
    stream.close()
