"""Streams: one live value that only grows."""

from __future__ import annotations

import json
from typing import Any

import pytest
import scoregate
from hypothesis import given, settings
from hypothesis import strategies as st
from scoregate import JSONStream

DOCUMENT = (
    'Sure:\n```json\n{"a": [1, 22, {"b": "héllo 😀"}], "c": true, "d": {"e": null}}\n```\nDone.'
)
VALUE = {"a": [1, 22, {"b": "héllo 😀"}], "c": True, "d": {"e": None}}


def extends(earlier: Any, later: Any) -> bool:
    """True when `later` only adds to `earlier`; the last string may grow."""
    if isinstance(earlier, dict):
        return isinstance(later, dict) and all(
            key in later and extends(value, later[key]) for key, value in earlier.items()
        )
    if isinstance(earlier, list):
        return (
            isinstance(later, list)
            and len(earlier) <= len(later)
            and all(extends(a, b) for a, b in zip(earlier, later, strict=False))
        )
    if isinstance(earlier, str):
        return isinstance(later, str) and later.startswith(earlier)
    return bool(earlier == later)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 1000])
@pytest.mark.parametrize("as_bytes", [False, True])
def test_every_cut_gives_the_value(size: int, as_bytes: bool) -> None:
    data: Any = DOCUMENT.encode() if as_bytes else DOCUMENT
    stream = JSONStream()
    assert stream.value is None
    assert stream.tail is None
    assert not stream.done
    earlier = None
    for at in range(0, len(data), size):
        stream.feed(data[at : at + size])
        snapshot = stream.snapshot()
        if earlier is not None:
            assert extends(earlier, snapshot)
        earlier = snapshot
    assert stream.done
    result = stream.close()
    assert result.ok
    assert result.value == VALUE
    assert result.source == "stream"
    assert result.value is stream.value
    assert stream.close() is result
    start, end = result.span or (0, 0)
    assert json.loads(DOCUMENT[start:end]) == VALUE


def test_containers_keep_their_identity() -> None:
    stream = JSONStream()
    stream.feed('{"a": [1, ')
    value, inner = stream.value, stream.value["a"]
    assert value == {"a": [1]}
    copy = stream.snapshot()
    stream.feed('2, "x')
    assert stream.value is value
    assert inner == [1, 2]
    assert stream.tail == "x"
    assert stream.snapshot() == {"a": [1, 2, "x"]}
    stream.feed("y\\u00e9")
    assert stream.tail == "xyé"
    assert inner == [1, 2]
    stream.feed('", 3], "a')
    assert inner == [1, 2, "xyé", 3]
    assert stream.tail is None
    assert copy == {"a": [1]}
    result = stream.close()
    assert result.value is value
    assert value == {"a": [1, 2, "xyé", 3]}
    assert [d.code for d in result.diagnostics][-1] == "closed_at_eof"


def test_faults_are_repaired_on_the_way() -> None:
    stream = JSONStream()
    for piece in '{\'a\': True, b: [1, 2,], // note\n "c": "d':
        stream.feed(piece)
    result = stream.close()
    assert result.value == {"a": True, "b": [1, 2], "c": "d"}
    codes = {d.code for d in result.diagnostics}
    assert {"single_quotes", "unquoted_key", "trailing_comma", "comment"} <= codes


def test_a_key_that_comes_again_is_set_again() -> None:
    stream = JSONStream()
    stream.feed('{"a": [1], "b": 2, "a": {"c": 3}')
    assert stream.value == {"a": {"c": 3}, "b": 2}
    assert [d.code for d in stream.close().diagnostics] == ["duplicate_key", "closed_at_eof"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nothing here", "no_json"),
        ("[" * 600, "too_deep"),
        (b'{"a": "\xff\xff"}', "not_utf8"),
        (b'{"a": "\xe2', "not_utf8"),
        ('{"a": ' + "9" * 5000 + "}", "integer_too_long"),
    ],
)
def test_errors_are_results(text: Any, code: str) -> None:
    stream = JSONStream()
    for at in range(0, len(text), 100):
        stream.feed(text[at : at + 100])
    result = stream.close()
    assert not result.ok
    assert result.value is None
    assert result.span is None
    assert result.error is not None
    assert result.error.code == code
    assert stream.done


def test_misuse_is_an_exception() -> None:
    stream = JSONStream()
    with pytest.raises(TypeError, match="chunk: expected str or bytes, got int"):
        stream.feed(1)  # type: ignore[arg-type]
    stream.feed("[1]")
    stream.close()
    with pytest.raises(ValueError, match="the stream is closed"):
        stream.feed("1")
    with pytest.raises(ValueError, match="max_depth: must be at least 1"):
        JSONStream(max_depth=0)


def test_what_no_piece_shows_is_found_at_the_end() -> None:
    stream = JSONStream()
    for piece in "The list is [1, 2, 3], as asked.":
        stream.feed(piece)
    assert stream.close().value == scoregate.extract_json("The list is [1, 2, 3], as asked.")


def test_surrogates_in_two_pieces() -> None:
    stream = JSONStream()
    stream.feed('["\ud83d')
    stream.feed('\ude00", "\\ud83d')
    stream.feed('\\ude00", "\ud800"]')
    assert stream.close().value == ["😀", "😀", "\ud800"]


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
).filter(lambda value: isinstance(value, (dict, list)))


@given(DOCUMENTS, st.lists(st.integers(1, 9), min_size=1), st.booleans())
@settings(max_examples=80)
def test_any_cut_of_any_document(value: Any, sizes: list[int], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).replace("Infinity", "1e999")
    stream = JSONStream()
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        stream.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    assert stream.close().value == json.loads(text)


WORDS = st.sampled_from(
    [
        *"{}[]:,;-\"'`\n \\“é",
        "```",
        "//",
        "/*",
        "*/",
        "# ",
        "...",
        '\\"',
        "\\u{1F6",
        "tru",
        "null",
        "key",
        "12",
        ",5",
        "</",
        "t>",
        "<think>",
        '"a": ',
        '"x", ',
        '"y" + ',
        "[tru ",
        "[docs](http://x.y)",
        "prose ",
    ]
)


@given(st.lists(WORDS, max_size=20), st.integers(1, 9))
@settings(max_examples=200)
def test_any_cut_of_any_text(words: list[str], size: int) -> None:
    text = "".join(words)
    results = []
    for step in (len(text) + 1, 1, size):
        stream = JSONStream()
        for at in range(0, len(text), step):
            stream.feed(text[at : at + step])
        results.append(stream.close())
    once, *others = results
    for result in others:
        assert result.value == once.value
        assert result.ok == once.ok
        assert [d.code for d in result.diagnostics] == [d.code for d in once.diagnostics]
