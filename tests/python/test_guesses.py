"""Wrong guesses: each ends in a message that a stranger can act on."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import scoregate
from scoregate import Gate, SpecError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

A = {"type": "contains", "value": "a"}
API: Any = scoregate
GATE: Any = Gate({"scorers": [A]})


def hints(block: Any) -> str:
    with pytest.raises(SpecError) as caught:
        Gate(block)
    return "\n".join(caught.value.hints)


#: Scorers of other tools: the hint's scorer, and texts that it passes and fails.
OTHERS: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "not-contains", "value": "a.b"}, "axb", "a.b"),
    ({"type": "icontains", "value": "Hello"}, "oh HELLO", "hell"),
    ({"type": "contains-any", "value": ["cat", "d.g"]}, "my d.g", "dig"),
    ({"type": "contains-all", "value": "cat, dog"}, "dog\ncat", "cat"),
    ({"type": "not-icontains-any", "value": ["x", "y"]}, "z", "Y"),
    ({"type": "is-json"}, "[1]", "x"),
    ({"type": "equals", "value": "a"}, "a", "ab"),
    ({"type": "not-equals", "value": "a"}, "ab", "a"),
    ({"type": "starts-with", "value": "$1"}, "$1 or so", "for $1"),
    ({"type": "not-regex", "value": "a|b"}, "c", "cab"),
]


@pytest.mark.parametrize(("scorer", "passes", "fails"), OTHERS, ids=lambda v: str(v)[:40])
def test_scorers_of_other_tools_keep_their_meaning(
    scorer: dict[str, Any], passes: str, fails: str
) -> None:
    (hint,) = hints({"scorers": [scorer]}).splitlines()
    shown = json.JSONDecoder().raw_decode(hint, hint.index("{"))[0]
    gate = Gate({"scorers": [shown]})
    assert (gate.score(passes).passed, gate.score(fails).passed) == (True, False)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("llm-rubric", '"judge": {"task": '),
        ("g-eval", '"judge": {"task": '),
        ("python", "scorers run no code"),
        ("similar", "no scorer measures likeness"),
        ("latency", "a gate sees the text alone"),
        ("not-is-json", "no scorer says the opposite"),
    ],
)
def test_what_no_scorer_does_is_said(kind: str, words: str) -> None:
    assert words in hints({"scorers": [{"type": kind, "value": "a"}]})


WEIGHTED = {"scorers": [A], "combine": "weighted", "weights": [1]}


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"assert": [A]}, "did you mean 'scorers'?"),
        ({"scorers": [A], "treshold": 0.5}, "did you mean 'threshold'?"),
        ({"scorers": [A | {"nmae": "x"}]}, "did you mean 'name'?"),
        ({"scorers": [A | {"ignoreCase": True}]}, '"flags": "i"}'),
        ({"scorers": [A | {"negate": True}]}, '"pattern": "a", "negate": true}'),
        ({"scorers": [{"type": "length-range", "maximum": 3, "min": 1}]}, "did you mean 'max'?"),
        ({"scorers": [A | {"weight": 2}]}, '"combine": "weighted", "weights"'),
        ({"scorers": [A], "combine": "and"}, "got 'and'; did you mean 'all'?"),
        (WEIGHTED | {"threshold": "80%"}, "a share, such as 0.8"),
        ({"scorers": [{"type": "length-range", "max": "9"}]}, "write 9, without quotes"),
        ({"scorers": [{"type": "length-range", "max": 9, "unit": "chars"}]}, "'codepoint'"),
        ({"scorers": [A], "judge": {"task": "t", "onUnparseable": "blok"}}, "'block'"),
        ({"scorers": [A], "judge": {"prompt": "t"}}, "did you mean 'task'?"),
        ({"scorers": [A], "judge": "is it good?"}, '{"task": "is it good?"}'),
        ({"scorers": [A | {"value": 3}]}, 'write "3", in quotes'),
    ],
)
def test_misspelt_keys_and_values(block: Any, words: str) -> None:
    assert words in hints(block)


@pytest.mark.parametrize(
    ("block", "never"),
    [
        ({"scorers": [{"type": "notcontains", "value": "a"}]}, "mean 'contains'"),
        ({"scorers": [{"type": "length-range", "mix": 3, "min": 1}]}, "did you mean"),
        ({"scorers": [A], "combine": "aly"}, "did you mean"),
        ({"scorers": [A], "judge": {"task": "t", "when": "never"}}, "did you mean"),
    ],
)
def test_a_hint_never_turns_a_rule_round(block: Any, never: str) -> None:
    assert never not in hints(block)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?i)hello", '"pattern": "hello", "flags": "i"'),
        ("(?P<year>x)", "(?<name>…)"),
        ("a++", "possessive"),
        ("/hello/i", '"pattern": "hello", "flags": "i"'),
        (r"\Ahello", "write ^"),
    ],
)
def test_patterns_of_other_languages(pattern: str, words: str) -> None:
    (issue,) = Gate({"scorers": [{"type": "regex", "pattern": pattern}]})._native.warnings()
    assert words in str(issue.hint)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: API.Gate(GATE), "spec: got a Gate; use it as it is"),
        (lambda: API.Gate([A]), '{"scorers": [...]}'),
        (lambda: GATE.score(b"a"), "expected str, got bytes; decode it first"),
        (lambda: GATE.score({"output": "a"}), "got dict; pass the field that holds the text"),
        (lambda: GATE.score("a", row="x"), "row: expected a mapping, got str"),
        (lambda: GATE.score_batch("abc"), "texts: expected a list of str, got one text"),
        (lambda: GATE.score_batch(None), "texts: expected a list of str, got NoneType"),
        (lambda: GATE.score_batch([{"output": "a"}]), "texts[0]: expected str or None, got dict"),
        (lambda: GATE.score_batch(["a"], rows={"a": 1}), "rows: expected a list of mappings"),
        (lambda: GATE.score_batch(["a"], rows=["x"]), "rows[0]: expected a mapping or None"),
        (lambda: GATE.score_batch(["a"], threads="2"), "threads: expected int or None, got str"),
        (lambda: API.score_file("gate.json", "x"), "gate: expected a Gate, got str"),
        (lambda: API.score_file(GATE, None), "inputs: expected a path or a list of paths"),
        (lambda: API.score_file(GATE, [], limit="5"), "limit: expected int or None, got str"),
        (lambda: API.evaluate_scorer("contains", "a"), "spec: expected a mapping, got str"),
    ],
)
def test_wrong_types(call: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, SpecError)) as caught:
        call()
    told = [str(caught.value), *getattr(caught.value, "__notes__", [])]
    assert words in "\n".join(told)


def test_numbers_past_64_bits() -> None:
    assert len(GATE.score_batch(["a"], threads=2**70)) == 1
    assert API.score_file(GATE, [], limit=2**70).rows == 0
    with pytest.raises(ValueError, match="threads: must be at least 1"):
        GATE.score_batch(["a"], threads=-(2**70))


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["validate", "gate.json"], "Did you mean 'check'?"),
        (["evaluate", "gate.json"], "Did you mean 'score'?"),
        (["score", "gate.json", "in.jsonl", "--out", "x"], "Did you mean --output?"),
        (["score", "gate.json", "in.jsonl", "--column", "x"], "Did you mean --field?"),
        (["score", "gate.json", "in.jsonl", "--jobs", "2"], "Did you mean --threads?"),
        (["score", "gate.json", "in.jsonl", "--verbose"], "Did you mean --details all?"),
        (["score", "gate.json", "in.jsonl", "--min-pass-rate", "1"], "Did you mean --fail-under?"),
        (["score", "gate.json", "in.jsonl", "--model", "m"], "Did you mean --judge?"),
        (["score", "--gate", "gate.json", "in.jsonl"], "The gate is an argument"),
        (["check", "gate.json", "--werror"], "Did you mean --strict?"),
        (["score", "gate.json", "in.jsonl", "--outptu", "x"], "--output"),
        (["scorers", "icontains"], '"flags": "i"'),
        (["score", "gate.json", "-o", "x", "--cache", "x"], "x: is both -o and --cache"),
        (["score", "gate.json", "-o", ""], "-o: the name is empty"),
        (["score", "gate.json", "-", "-"], "standard input can be read only once"),
        (["verdict", "-", "-"], "standard input can be read only once"),
    ],
)
def test_guessed_commands_and_options(args: list[str], words: str, tmp_path: Path) -> None:
    pytest.importorskip("typer")
    (tmp_path / "gate.json").write_text(json.dumps({"scorers": [A]}))
    (tmp_path / "in.jsonl").write_text('{"output": "a"}\n')
    done = subprocess.run(
        [sys.executable, "-m", "scoregate", *args],
        cwd=tmp_path,
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    told = " ".join(done.stderr.decode().replace("│", " ").split())
    assert words in told
