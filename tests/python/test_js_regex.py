"""JavaScript regular expressions through the binding. Rust runs the same rows."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import threading
from typing import Any

import pytest
import scoregate
from scoregate import Gate, JsRegex, JsRegexBudgetError, JsRegexError

from .conftest import DATA, need, read_rows

ROWS = [row for path in sorted((DATA / "js_regex").glob("*.jsonl")) for row in read_rows(path)]
LOOSE = {"property", "v_flag", "es2025"}
#: Rows on which V8 itself backtracks for ages.
HOSTILE = {"redos"}


def answer(row: dict[str, Any]) -> tuple[bool | None, str | None]:
    try:
        return JsRegex(row["pattern"], row["flags"]).test(row["target"]), None
    except JsRegexError as error:
        return None, str(error)


def test_every_row_has_the_answer_of_v8() -> None:
    assert len(ROWS) > 400
    wrong, errors, right_texts = [], 0, 0
    for row in ROWS:
        matches, error = answer(row)
        if row["error"] is not None:
            errors += 1
            right_texts += error is not None and row["error"].endswith(error)
        if (matches, error is None) != (row["matches"], row["error"] is None) and row[
            "kind"
        ] not in LOOSE:
            wrong.append(row)
    assert wrong == []
    assert errors > 50
    assert right_texts >= 0.95 * errors


def test_scorers_say_what_v8_says() -> None:
    found = scoregate.evaluate_scorer({"type": "regex", "pattern": "(", "flags": "i"}, "x")
    assert found.detail == "invalid pattern: Invalid regular expression: /(/i: Unterminated group"
    found = scoregate.evaluate_scorer(
        {"type": "regex", "pattern": "a", "flags": "gg", "negate": True}, "x"
    )
    assert found.detail == "invalid pattern: Invalid flags supplied to RegExp constructor 'gg'"


def test_a_spent_budget_is_a_failure_never_an_answer() -> None:
    pattern, text = r"^(a|aa)+\1{3}$", "a" * 60 + "b"
    with pytest.raises(
        JsRegexBudgetError,
        match=r"exceeded the matching budget \(5000000 steps\) on a text of 61 characters",
    ):
        JsRegex(pattern).test(text)
    for negate in (False, True):
        spec = {"type": "regex", "pattern": pattern, "negate": negate}
        found = scoregate.evaluate_scorer(spec, text)
        assert not found.passed
        assert found.detail is not None
        assert "exceeded the matching budget" in found.detail
    schema = {"type": "json-schema", "schema": {"pattern": pattern}}
    found = scoregate.evaluate_scorer(schema, json.dumps(text))
    assert not found.passed
    assert "exceeded the matching budget" in (found.detail or "")


def test_untrusted_refuses_backreferences() -> None:
    with pytest.raises(JsRegexError, match="Backreferences are not allowed"):
        JsRegex(r"(a)\1", untrusted=True)
    assert JsRegex(r"^(?=a)[^b]+$", untrusted=True).test("aa")
    block = {"scorers": [{"type": "regex", "pattern": r"(a)\1"}]}
    assert Gate(block).score("aa").passed
    refused = Gate(block, untrusted=True).score("aa")
    assert "Backreferences are not allowed" in (refused.results[0].detail or "")


def test_a_pattern_is_a_plain_value() -> None:
    regex = JsRegex("a\ud83d", "yi")
    assert (regex.pattern, regex.flags, regex.untrusted) == ("a\ud83d", "iy", False)
    assert regex == JsRegex("a\ud83d", "iy")
    assert hash(regex) == hash(JsRegex("a\ud83d", "iy"))
    assert regex != JsRegex("a\ud83d", "i")
    assert regex != "a"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(regex, protocol))
        assert back == copy.deepcopy(regex) == regex
    assert eval(repr(JsRegex("a/'\n", "i", untrusted=True))) == JsRegex(
        "a/'\n", "i", untrusted=True
    )
    with pytest.raises(TypeError, match="expected str"):
        regex.test(b"a")  # type: ignore[arg-type]


def test_one_pattern_in_many_threads() -> None:
    regex = JsRegex(r"^(?:(?=.*\d)[a-z\d]+|(x)\1)$")
    wrong: list[str] = []

    def work() -> None:
        wrong.extend(
            text
            for text, want in [("abc1", True), ("abc", False), ("xx", True)] * 300
            if regex.test(text) != want
        )

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


NODE = r"""
const rows = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answer = (row) => {
  try { return [new RegExp(row.pattern, row.flags).test(row.target), null]; }
  catch (error) { return [null, error.message]; }
};
console.log(JSON.stringify(rows.map(answer)));
"""


def test_the_rows_are_what_node_answers() -> None:
    node = need("node")
    rows = [row for row in ROWS if row["kind"] not in HOSTILE]
    text = json.dumps(rows)
    out = subprocess.run([node, "-e", NODE], input=text, capture_output=True, text=True, check=True)
    answers = json.loads(out.stdout)
    assert len(answers) == len(rows) > 400
    # A newer Node may know newer Unicode and newer syntax.
    for row, (matches, error) in zip(rows, answers, strict=True):
        if row["kind"] not in LOOSE:
            assert (matches, error is None) == (row["matches"], row["error"] is None), row
