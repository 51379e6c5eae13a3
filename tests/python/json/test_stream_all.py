"""Every document of a stream: one behind the other, a line each, tool calls in a row."""

from __future__ import annotations

import json
from typing import Any

import pytest
import scoregate
from hypothesis import given, settings
from hypothesis import strategies as st

#: Words: what a stream makes of signs inside strings is tested elsewhere.
WORDS = st.text("abé 漢\n1", min_size=1, max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | st.just("") | WORDS
INNER = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
DOCUMENTS = st.lists(st.dictionaries(WORDS, INNER, max_size=2), min_size=1, max_size=4)
#: How documents are written one behind the other.
FORMS = {
    "concatenated": "{}",
    "with a space": "{} ",
    "a line each": "{}\n",
    "lines of Windows": "{}\r\n",
    "with a blank line": "{}\n\n",
    "with commas": "{},",
    "tool calls": "<tool_call>{}</tool_call>",
    "tool calls on lines": "<tool_call>\n{}\n</tool_call>\n",
    "records": "\x1e{}\n",
}


def pieces(text: str, sizes: list[int]) -> list[str]:
    found, at, i = [], 0, 0
    while at < len(text):
        size = sizes[i % len(sizes)]
        found.append(text[at : at + size])
        at, i = at + size, i + 1
    return found


def read(chunks: list[Any]) -> tuple[list[Any], scoregate.JSONResult]:
    """The documents in the order in which they were complete, and the result.

    What only the end of the text completes is in the result alone.
    """
    stream = scoregate.JSONStream(documents="all")
    found: list[Any] = []
    for chunk in chunks:
        found.extend(stream.feed(chunk))
    return found, stream.close()


@settings(deadline=None, max_examples=40)
@given(DOCUMENTS, st.sampled_from(sorted(FORMS)), st.lists(st.integers(1, 9), min_size=1))
def test_every_cut_gives_every_document(documents: list[Any], form: str, sizes: list[int]) -> None:
    text = "".join(FORMS[form].replace("{}", json.dumps(one)) for one in documents)
    wanted = documents[0] if len(documents) == 1 else documents
    whole, result = read([text])
    assert result.value in (wanted, documents)
    assert whole in (documents, documents[:-1])
    for chunks in (pieces(text, sizes), [piece.encode() for piece in pieces(text, sizes)]):
        found, cut = read(chunks)
        assert found == whole
        assert cut.value == result.value
        assert [d.code for d in cut.diagnostics] == [d.code for d in result.diagnostics]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("{'a': 1,}\n{'a': 2}", [{"a": 1}, {"a": 2}]),
        ('{"a": 1}\n// next\n{"a": 2}', [{"a": 1}, {"a": 2}]),
        ('First {"a": 1}, then {"b": [2]}.', [{"a": 1}, {"b": [2]}]),
        ('```json\n{"a": 1}\n```\nand\n```json\n{"a": 2}\n```', [{"a": 1}, {"a": 2}]),
        (
            '<tool_call>{"n": 1}</tool_call> so <tool_call>{"n": 2}</tool_call>',
            [{"n": 1}, {"n": 2}],
        ),
        ('[{"a": 1}]\n[{"a": 2}]', [[{"a": 1}], [{"a": 2}]]),
        ('{"a": 1}; {"a": 2},\n{}', [{"a": 1}, {"a": 2}, {}]),
        ("{}{}", [{}, {}]),
    ],
)
def test_faults_and_prose_between(text: str, documents: list[Any]) -> None:
    for size in (1, 2, 3, 7, len(text)):
        found, result = read(pieces(text, [size]))
        assert found == documents, size
        assert result.value == documents


def test_a_document_that_the_end_cuts_is_in_the_result() -> None:
    text = '{"a": 1}\n{"a": [2, {"b": "cu'
    for size in (1, 4, len(text)):
        found, result = read(pieces(text, [size]))
        assert found == [{"a": 1}]
        assert result.value == [{"a": 1}, {"a": [2, {"b": "cu"}]}]
        assert result.severity == "lossy"


def test_the_live_value_is_the_open_document() -> None:
    stream = scoregate.JSONStream(documents="all")
    assert stream.feed('{"a": 1}{"b": [2') == [{"a": 1}]
    assert stream.value == {"b": []}
    assert not stream.done
    assert stream.feed("]}") == [{"b": [2]}]
    assert stream.feed(" {") == []
    assert stream.value == {}


def test_documents_do_not_change_once_they_are_given() -> None:
    stream = scoregate.JSONStream(documents="all")
    (first,) = stream.feed('{"a": [1]}')
    before = json.dumps(first)
    stream.feed('{"a": [2, 3]}{"a": 4}')
    assert json.dumps(first) == before


def test_the_first_alone_names_the_others() -> None:
    stream = scoregate.JSONStream()
    stream.feed('{"a": 1}\n{"a": 2}')
    result = stream.close()
    assert result.value == {"a": 1}
    assert "other_candidate" in {found.code for found in result.diagnostics}
