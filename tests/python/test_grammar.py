"""The reply grammars through the binding: the rows that Rust runs, types, batches."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import scoregate
from hypothesis import given, settings
from hypothesis import strategies as st
from scoregate import JudgeVerdict, Verdict, Winner
from scoregate._native import ReplyForm

from .conftest import DATA, read_rows

TABLES = [
    DATA / "gate_vectors.jsonl",
    DATA / "grammar_extra.jsonl",
    *(DATA / "grammar" / f"{name}.jsonl" for name in ("verdict", "winner", "judge")),
]
ROWS = [row for table in TABLES for row in read_rows(table)]

# Text that Python can hold, surrogates included, with the characters that the grammars know.
TEXTS = st.one_of(
    st.text(st.characters(codec=None)),
    st.text(st.sampled_from('{}[]":,=*_`~|/%.#01 \nVERDICTSCOREWINNERpasblokf“\uff1a\ud83d\ude00')),
)


def rows(function: str) -> list[Any]:
    found = [row for row in ROWS if row["fn"] == function]
    return [
        pytest.param(
            row["args"], row["out"], id=row.get("name", str(i)).encode("ascii", "replace").decode()
        )
        for i, row in enumerate(found)
    ]


def present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def agrees(found: Any, out: dict[str, Any]) -> None:
    """A reading is that of its row; what the row does not name is not compared."""
    fields = {name: getattr(found, name) for name in out}
    assert present(**fields | {"reason": found.reason}) == out


@pytest.mark.parametrize(("args", "out"), rows("parse_verdict"))
def test_verdict(args: list[Any], out: dict[str, Any]) -> None:
    found = scoregate.parse_verdict(args[0], on_unparseable="block")
    agrees(found, out)
    other = scoregate.parse_verdict(args[0])
    if found.state == "silent":
        assert (other.verdict, other.state) == ("pass", "silent")
    else:
        assert other == found


@pytest.mark.parametrize(("args", "out"), rows("parse_winner"))
def test_winner(args: list[Any], out: dict[str, Any]) -> None:
    agrees(scoregate.parse_winner(*args), out)


@pytest.mark.parametrize(("args", "out"), rows("parse_judge"))
def test_judge(args: list[Any], out: dict[str, Any]) -> None:
    found = scoregate.parse_judge(args[0], on_unparseable="block")
    agrees(found, out)
    other = scoregate.parse_judge(args[0])
    if found.state == "silent":
        assert (other.verdict, other.score, other.state) == ("pass", 1.0, "silent")
    else:
        assert other == found


REPLIES = [
    row
    for name in ("public", "own", "unseen")
    for row in read_rows(DATA / "grammar" / f"replies_{name}.jsonl")
]
#: Of a score and a later verdict the verdict wins, where a reader may hesitate.
UNDECIDED = "SCORE: 0.1\nVERDICT: PASS"


def test_no_reply_passes_that_a_reader_blocks() -> None:
    assert len(REPLIES) > 800
    for row in REPLIES:
        human, reply = str(row["human"]), row["reply"]
        if row["kind"] == "winner":
            found = scoregate.parse_winner(reply, row["count"])
            said = "tie" if found.tie else str(found.winner)
            assert not found.parsed or said == human, row
        elif not human.startswith("pass") and reply != UNDECIDED:
            parse = scoregate.parse_verdict if row["kind"] == "verdict" else scoregate.parse_judge
            read = parse(reply, on_unparseable="block")
            assert not (read.parsed and read.verdict == "pass"), row


def test_types() -> None:
    judge = scoregate.parse_judge('{"score": 1, "reason": "a\\ud800"}')
    assert repr(judge) == (
        "JudgeVerdict(score=1.0, verdict='pass', reason='a\\ud800', parsed=True, "
        "disputed=False, clamped=False)"
    )
    verdict = scoregate.parse_verdict("VERDICT: BLOCK")
    assert repr(verdict) == ("Verdict(verdict='block', reason=None, parsed=True, disputed=False)")
    winner = scoregate.parse_winner("WINNER: 2", 3)
    assert repr(winner) == (
        "Winner(winner=2, reason=None, parsed=True, disputed=False, tie=False, clamped=False)"
    )
    assert (type(judge.score), type(judge.parsed), type(winner.winner)) == (float, bool, int)
    assert (judge.state, verdict.state, winner.state) == ("read", "read", "read")
    match judge:
        case JudgeVerdict(score, "pass", reason, True, False, False):
            assert (score, reason) == (1.0, "a\ud800")
        case _:
            pytest.fail("no match")
    match (verdict, winner):
        case (Verdict("block", None, True, False), Winner(2, None, True, False, False, False)):
            pass
        case _:
            pytest.fail("no match")
    for value in (judge, verdict, winner):
        assert pickle.loads(pickle.dumps(value)) == value == copy.deepcopy(value)
        assert value != judge or value is judge
        with pytest.raises(AttributeError):
            value.reason = "x"  # type: ignore[misc]
        with pytest.raises(TypeError):
            hash(value)


def test_mistakes_of_the_caller() -> None:
    with pytest.raises(ValueError, match=r"count: must be at least 1, got 0"):
        scoregate.parse_winner("WINNER: 1", 0)
    with pytest.raises(ValueError, match=r"count: must be at least 1, got -3"):
        scoregate.parse_winner_batch(["WINNER: 1"], -3)
    with pytest.raises(ValueError, match=r"count\[1\]: must be at least 1, got 0"):
        scoregate.parse_winner_batch(["a", "b"], [1, 0])
    with pytest.raises(ValueError, match=r"count: 1 counts for 2 texts"):
        scoregate.parse_winner_batch(["a", "b"], [1])
    for function in (scoregate.parse_verdict, scoregate.parse_judge):
        with pytest.raises(
            ValueError, match=r"on_unparseable: must be one of pass\|block\|undecided"
        ):
            function("x", on_unparseable="fail")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="expected str, got bytes"):
            function(b"x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="on_unparseable"):
        scoregate.parse_judge_batch(["x"], on_unparseable="")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"texts\[1\]: expected str or None, got int"):
        scoregate.parse_verdict_batch(["x", 1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="got one text"):
        scoregate.parse_verdict_batch("VERDICT: PASS")
    with pytest.raises(ValueError, match=r"verdict: must be one of pass\|block\|undecided"):
        Verdict("maybe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="disputed: a disputed reply is not a parsed one"):
        Verdict("block", disputed=True)
    with pytest.raises(ValueError, match="score: only an undecided reply has none"):
        JudgeVerdict(None, "pass")
    with pytest.raises(ValueError, match="clamped: a clamped winner is not a parsed one"):
        Winner(1, clamped=True)
    with pytest.raises(ValueError, match="labels: 1 labels for 2 variants"):
        scoregate.parse_winner("a", 2, labels=["a"])
    with pytest.raises(TypeError, match="labels: expected a list of str, got one text"):
        scoregate.parse_winner("a", 2, labels="ab")
    with pytest.raises(ValueError, match=r"score: must be in \[0, 1\]"):
        JudgeVerdict(2, "pass")
    with pytest.raises(ValueError, match="winner: must be at least 1"):
        Winner(0)


def test_a_silent_reply_may_stay_undecided() -> None:
    verdict = scoregate.parse_verdict("Hm.", on_unparseable="undecided")
    assert verdict == Verdict("undecided", parsed=False)
    assert verdict.state == "silent"
    judge = scoregate.parse_judge("Hm.", on_unparseable="undecided")
    assert judge == JudgeVerdict(None, "undecided", parsed=False)
    assert pickle.loads(pickle.dumps(judge)) == judge


def test_a_clamped_winner_is_not_parsed() -> None:
    found = scoregate.parse_winner('{"winner": 9, "reason": "r"}', 3)
    assert found == Winner(3, "r", parsed=False, clamped=True)
    assert found.state == "read"
    assert pickle.loads(pickle.dumps(found)) == found


REPLY = {
    "pass": ["APPROVE", "PROCEED"],
    "block": ["REQUEST_CHANGES"],
    "labels": {"verdict": ["STATUS", "Decision"], "score": ["Rating"]},
    "keys": {"verdict": ["decision"]},
    "scale": [1, 5],
    "passAt": 0.6,
}


def test_reply_forms() -> None:
    form = ReplyForm(REPLY)
    assert (form.pass_words, form.block_words) == (REPLY["pass"], REPLY["block"])
    assert (form.verdict_labels, form.score_labels) == (["STATUS", "Decision"], ["Rating"])
    assert form.keys == {"verdict": ["decision"], "score": [], "reason": []}
    assert (form.scale, form.pass_at) == ((1.0, 5.0), 0.6)
    assert pickle.loads(pickle.dumps(form)) == form == copy.deepcopy(form)
    assert repr(form).startswith("ReplyForm({'pass': ['APPROVE', 'PROCEED']")
    with pytest.raises(scoregate.SpecError) as caught:
        ReplyForm({"pass": [], "scale": [1, 1], "keys": 3, "x": 1}, path="score.judge.reply")
    assert caught.value.errors == [
        "score.judge.reply.pass: must be a non-empty array of words",
        "score.judge.reply.keys: must be an object ({verdict?, score?, reason?})",
        "score.judge.reply.scale: must be two different numbers ([worst, best])",
        "score.judge.reply.x: unknown reply keyword "
        "(supported: pass, block, labels, keys, scale, passAt)",
    ]
    with pytest.raises(scoregate.SpecError, match=r"reply.block\[0\]: is also a word of 'pass'"):
        scoregate.parse_verdict("x", reply={"pass": ["a"], "block": ["A"]})
    with pytest.raises(scoregate.SpecError, match=r"reply.passAt: must be a number in \(0, 1\]"):
        scoregate.parse_judge_batch(["x"], reply={"passAt": 0})


@pytest.mark.parametrize(
    ("text", "verdict", "state"),
    [
        ("STATUS: APPROVE", "pass", "read"),
        ("decision: proceed", "pass", "read"),
        ("STATUS: REQUEST_CHANGES", "block", "read"),
        ("STATUS: request changes", "block", "read"),
        ('{"decision": "approve"}', "pass", "read"),
        ('{"decision": "request_changes", "reason": "r"}', "block", "read"),
        ("VERDICT: PASS", "pass", "read"),
        ("VERDICT: BLOCK", "block", "read"),
        ("STATUS: LGTM", "pass", "silent"),
        ("STATUS: APPROVE once it builds", "block", "disputed"),
    ],
)
def test_own_words_are_read(text: str, verdict: str, state: str) -> None:
    found = scoregate.parse_verdict(text, reply=REPLY)
    assert (found.verdict, found.state) == (verdict, state)
    assert scoregate.parse_verdict_batch([text], reply=ReplyForm(REPLY)) == [found]


@pytest.mark.parametrize(
    ("text", "score", "verdict"),
    [
        ("Rating: 5", 1.0, "pass"),
        ("Rating: 1", 0.0, "block"),
        ("Rating: 3", 0.5, "block"),
        ("Rating: 4/5", 0.75, "pass"),
        ('{"score": 4}', 0.75, "pass"),
        ('{"score": "2"}', 0.25, "block"),
        ("SCORE: 3.4", 0.6, "pass"),
    ],
)
def test_own_scales_are_read(text: str, score: float, verdict: str) -> None:
    found = scoregate.parse_judge(text, reply=REPLY)
    assert (round(found.score or 0, 9), found.verdict, found.parsed) == (score, verdict, True)


def test_off_the_scale_nothing_is_read() -> None:
    for text in ("Rating: 0", "Rating: 6", '{"score": 0.8}'):
        assert scoregate.parse_judge(text, reply=REPLY).state == "silent"
    # The worst score may be the larger number.
    turned = {"scale": [10, 0]}
    assert scoregate.parse_judge("SCORE: 2", reply=turned).score == 0.8


def test_variants_have_names() -> None:
    labels = ["baseline", "candidate v2"]
    found = scoregate.parse_winner("WINNER: candidate v2", 2, labels=labels)
    assert (found.winner, found.parsed) == (2, True)
    assert scoregate.parse_winner('{"winner": "Baseline"}', 2, labels=labels).winner == 1
    assert scoregate.parse_winner_batch(["WINNER: baseline"], 2, labels=labels)[0].winner == 1


def test_the_judge_of_a_gate_takes_a_reply_and_fields() -> None:
    spec = {"scorers": [{"type": "contains", "value": "x"}]}
    judge = {"task": "t", "onUnparseable": "undecided", "reply": REPLY, "fields": ["prompt"]}
    scoregate.Gate({**spec, "judge": judge})
    bad = {"task": "t", "onUnparseable": "x", "reply": {"block": [1]}, "fields": [""], "y": 1}
    assert scoregate.score_shape_errors({**spec, "judge": bad}) == [
        "score.judge.onUnparseable: must be one of pass|block|undecided",
        "score.judge.reply.block[0]: must be a non-empty string",
        "score.judge.fields[0]: must be a non-empty string",
        "score.judge.y: unknown judge keyword "
        "(supported: task, agent, when, onUnparseable, reply, fields)",
    ]


def test_a_missing_reply_blocks() -> None:
    assert scoregate.parse_verdict(None) == Verdict("block", "missing input", False)
    assert scoregate.parse_judge(None) == JudgeVerdict(0.0, "block", "missing input", False)
    assert scoregate.parse_winner(None, 3) == scoregate.parse_winner("", 3)
    assert scoregate.parse_verdict_batch([None]) == [scoregate.parse_verdict(None)]


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_batches_are_singles(threads: int | None) -> None:
    texts = [row["args"][0] for row in ROWS if row["fn"].startswith("parse_")]
    assert len(texts) > 1000
    for policy in ("pass", "block"):
        verdicts = scoregate.parse_verdict_batch(texts, on_unparseable=policy, threads=threads)
        assert verdicts == [scoregate.parse_verdict(t, on_unparseable=policy) for t in texts]
        judges = scoregate.parse_judge_batch(iter(texts), on_unparseable=policy, threads=threads)
        assert judges == [scoregate.parse_judge(t, on_unparseable=policy) for t in texts]
    counts = [1 + i % 4 for i in range(len(texts))]
    winners = scoregate.parse_winner_batch(texts, counts, threads=threads)
    assert winners == [scoregate.parse_winner(t, n) for t, n in zip(texts, counts, strict=True)]
    assert scoregate.parse_winner_batch(texts, 3) == [scoregate.parse_winner(t, 3) for t in texts]
    assert scoregate.parse_judge_batch([]) == []


@settings(max_examples=500, deadline=None)
@given(TEXTS, st.integers(1, 9))
def test_no_text_raises(text: str, count: int) -> None:
    assert 1 <= scoregate.parse_winner(text, count).winner <= count
    judge = scoregate.parse_judge(text, on_unparseable="block")
    assert judge.score is not None
    assert 0 <= judge.score <= 1
    assert scoregate.parse_verdict(text).verdict in ("pass", "block")
    assert pickle.loads(pickle.dumps(judge)) == judge


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(codec=None, exclude_characters="{[")))
def test_a_last_marker_that_blocks_is_no_pass(head: str) -> None:
    text = f"{head}\nVERDICT: BLOCK"
    assert scoregate.parse_verdict(text) == Verdict("block")
    assert scoregate.parse_judge(text).verdict == "block"
