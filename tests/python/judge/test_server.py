"""What servers do, well and badly. No client is mocked: all go over a socket."""

from __future__ import annotations

import asyncio
import email.utils
import logging
import time
import traceback
from typing import Any

import pytest
from scoregate import JudgeError
from scoregate.judge import JudgeOptions, OpenAIJudge, Retry
from scoregate.judge._openai import retry_after

from .conftest import KEY
from .server import BLOCK, PASS, Answer, error
from .support import QUICK, gate, judge_of


def decide(chat: Any, **options: Any) -> Any:
    judge = judge_of(chat, **options.pop("client", {}))
    return gate().decide("bad", judge=judge, **{"options": QUICK, **options})


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"score": 0.9, "verdict": "pass", "reason": "fine"}', "pass"),
        ('{"verdict": "block"}', "block"),
        ("After some thought I find this poor.\n\nVERDICT: BLOCK", "block"),
        ("It will do. VERDICT: PASS", "pass"),
        ('```json\n{"score": 0.2, "verdict": "block"}\n```', "block"),
        ('{"verdict": "block", "reason": "it says "VERDICT: PASS" itself"}', "block"),
        ('{"reason": "he said "no", twice", "score": 0.1, "verdict": "block"}', "block"),
        ('{"score": 0.1, "verdict": "block", "reason": "the answer is', "block"),
    ],
)
def test_replies_are_read(chat: Any, text: str, verdict: str) -> None:
    chat.script = [Answer(text)]
    result = decide(chat)
    assert (result.verdict, result.decided_by) == (verdict, "judge")
    assert len(chat.calls) == 1


def test_an_unreadable_reply_is_asked_for_again_with_another_prompt(chat: Any) -> None:
    chat.script = [Answer("Hard to say."), BLOCK]
    result = decide(chat, options=JudgeOptions(keep_replies=True))
    assert (result.verdict, result.decided_by) == ("block", "judge")
    first, second = chat.prompts
    assert second.startswith(first)
    assert "could not be read" in second[len(first) :]
    assert result.judge.attempts == 2
    assert result.judge.replies == ("Hard to say.", BLOCK.text)
    assert result.judge.usage.output_tokens == 20


@pytest.mark.parametrize("block", [None, "pass", "block"])
@pytest.mark.parametrize("argument", [None, "pass", "block"])
def test_what_stays_unreadable_follows_the_policy(
    chat: Any, block: str | None, argument: str | None
) -> None:
    chat.script = [Answer("Hard to say.")]
    built = gate(judge={"onUnparseable": block} if block else {})
    result = built.decide("bad", judge=judge_of(chat), on_unparseable=argument)  # type: ignore[arg-type]
    wanted = argument or block or "pass"
    assert (result.verdict, result.decided_by) == (wanted, "policy")
    assert result.judge is not None
    assert result.judge.score == (1.0 if wanted == "pass" else 0.0)
    assert not result.judge.parsed
    assert "unparseable judge output" in str(result.reason)
    assert len(chat.calls) == 2


@pytest.mark.parametrize("policy", ["pass", "block"])
def test_the_policy_also_holds_where_the_score_is_folded_in(chat: Any, policy: Any) -> None:
    chat.script = [Answer("Hard to say.")]
    built = gate(combine="weighted", weights=[1, 1], threshold=0.5)
    result = built.decide("bad", judge=judge_of(chat), on_unparseable=policy)
    assert (result.verdict, result.decided_by) == (policy, "policy")
    assert result.combined == (0.5 if policy == "pass" else 0.0)


def test_the_echoed_closing_line_is_no_vote(chat: Any) -> None:
    line = 'Return JSON {"score": 0.0-1.0, "verdict": "pass"|"block", "reason": "..."} (or end with VERDICT: PASS|BLOCK).'
    chat.script = [Answer(line)]
    assert decide(chat).decided_by == "policy"
    assert decide(chat, on_unparseable="block").verdict == "block"


def test_a_busy_server_is_asked_again_when_it_says(chat: Any) -> None:
    chat.script = [error(429, Retry_After="0.3"), PASS]
    result = decide(chat)
    assert result.verdict == "pass"
    assert result.judge.attempts == 2
    assert chat.times[1] - chat.times[0] >= 0.3


def test_retry_after_holds_for_every_call_of_the_run(chat: Any) -> None:
    chat.script = [error(429, Retry_After="0.3"), PASS]
    texts = [f"bad {i}" for i in range(6)]
    gate().decide_batch(texts, judge=judge_of(chat), concurrency=1, options=QUICK)
    assert len(chat.calls) == 7
    assert chat.times[1] - chat.times[0] >= 0.3


def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(chat: Any) -> None:
    chat.script = [error(429, Retry_After="3600")]
    result = decide(chat)
    assert (result.verdict, result.reason) == ("undecided", "judge failed: HTTP 429")
    assert len(chat.calls) == 1


def test_failures_of_the_server_pass(chat: Any) -> None:
    chat.script = [error(500), error(503), Answer(drop=True), BLOCK]
    result = decide(chat)
    assert result.verdict == "block"
    assert result.judge.attempts == len(chat.calls) == 4


@pytest.mark.parametrize("policy", ["undecided", "pass", "block"])
def test_a_call_that_fails_is_no_verdict(chat: Any, policy: Any) -> None:
    chat.script = [error(500)]
    result = decide(chat, on_judge_error=policy)
    assert result.verdict == policy
    assert result.decided_by == (None if policy == "undecided" else "policy")
    assert result.reason == "judge failed: HTTP 500 after 4 calls"
    assert result.judge.score is None
    assert result.judge.error == "HTTP 500 after 4 calls"
    assert "judge" not in result.to_dict()
    assert len(chat.calls) == 4


@pytest.mark.parametrize(
    ("answer", "message", "calls"),
    [
        (error(401, code="invalid_api_key"), "HTTP 401 (invalid_api_key)", 1),
        (error(404), "HTTP 404", 1),
        (error(400), "HTTP 400", 1),
        (error(429, code="insufficient_quota"), "HTTP 429 (insufficient_quota)", 1),
        (Answer(drop=True), "the connection failed after 4 calls", 4),
        (Answer(cut=True), "the connection was lost (", 4),
        (Answer(body=b"<html>"), "the response is no chat completion after 4 calls", 4),
        (Answer(body=b'{"choices": []}'), "the response is no chat completion", 4),
        (Answer(body=b"[" * 100_000), "the response is no chat completion", 4),
    ],
)
def test_errors_have_names(chat: Any, answer: Answer, message: str, calls: int) -> None:
    chat.script = [answer]
    result = decide(chat)
    assert result.verdict == "undecided"
    assert result.reason.startswith(f"judge failed: {message}")
    assert len(chat.calls) == calls


def test_a_stall_is_cut_off(chat: Any) -> None:
    chat.script = [Answer(wait=30), BLOCK]
    started = time.monotonic()
    result = decide(chat, client={"timeout": 0.3})
    assert result.verdict == "block"
    assert time.monotonic() - started < 5
    chat.script = [Answer(wait=30)]
    result = decide(chat, client={"timeout": 0.2}, options=JudgeOptions(retry=Retry(attempts=1)))
    assert result.reason == "judge failed: timed out after 0.2 s"


def test_ten_megabytes_are_read(chat: Any) -> None:
    chat.script = [Answer("blah {[\"'`` " * 900_000 + "\nVERDICT: BLOCK")]
    result = decide(chat, client={"max_reply_bytes": 32 << 20})
    assert (result.verdict, result.decided_by) == ("block", "judge")
    result = decide(chat)
    assert result.reason == "judge failed: the response is longer than 1048576 bytes"


def test_a_refused_response_format_is_left_out_once(chat: Any) -> None:
    chat.refuse_formats = True
    judge = judge_of(chat)
    assert gate().decide("bad", judge=judge).verdict == "pass"
    assert ["response_format" in call for call in chat.calls] == [True, False]
    assert gate().decide("bad", judge=judge).verdict == "pass"
    assert ["response_format" in call for call in chat.calls] == [True, False, False]
    strict = judge_of(chat, response_format="json_schema")
    assert gate().decide("bad", judge=strict).reason == "judge failed: HTTP 400"
    assert gate().decide("bad", judge=judge_of(chat, response_format="none")).verdict == "pass"


def test_the_request(chat: Any) -> None:
    judge = judge_of(chat, params={"temperature": 0, "seed": 7}, system="Be strict.")
    gate().decide("bad", judge=judge)
    (call,) = chat.calls
    assert call["model"] == "test-model"
    assert (call["temperature"], call["seed"]) == (0, 7)
    assert [message["role"] for message in call["messages"]] == ["system", "user"]
    form = call["response_format"]["json_schema"]
    assert form["schema"]["required"] == ["score", "verdict", "reason"]
    assert chat.keys == [f"Bearer {KEY}"]


def test_a_server_of_ones_own_needs_no_key(chat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = judge_of(chat, api_key_env="NO_SUCH_KEY")
    assert gate().decide("bad", judge=judge).verdict == "pass"
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ValueError, match=r"^OPENAI_API_KEY is not set; it must hold"):
        OpenAIJudge("m")


def test_parts_are_a_text(chat: Any) -> None:
    parts = b'{"choices": [{"message": {"content": [{"type": "text", "text": "VERDICT: BLOCK"}]}}]}'
    chat.script = [Answer(body=parts)]
    assert decide(chat).verdict == "block"


def test_retry_after_in_all_its_forms() -> None:
    assert retry_after({"retry-after": "2"}) == 2
    assert retry_after({"retry-after": "2", "retry-after-ms": "150"}) == 0.15
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    assert 95 < (retry_after({"retry-after": date}) or 0) <= 100
    assert retry_after({"retry-after": "-5"}) == 0
    for text in ("soon", "nan", "inf", ""):
        assert retry_after({"retry-after": text}) is None


def test_no_secret_leaves(chat: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    target, said = "TARGET-WORDS", "REPLY-WORDS"
    chat.script = [
        error(500, f"{KEY} {target}", code=KEY),
        error(400, f"{KEY} {target}"),
        Answer(said),
        Answer(body=said.encode()),
        error(401, f"Incorrect API key provided: {KEY}; {target}"),
    ]
    judge = judge_of(chat)
    shown = [repr(judge)]
    for _ in range(3):
        result = gate().decide(target, judge=judge, options=QUICK)
        assert result.verdict == "undecided"
        shown += [str(result.reason), repr(result), repr(result.judge), str(result.to_dict())]

    async def ask() -> None:
        try:
            await judge.ask(target)
        finally:
            await judge.aclose()

    for answer in (error(401, f"{KEY} {target}"), Answer(body=said.encode()), Answer(drop=True)):
        chat.script = [answer]
        with pytest.raises(JudgeError) as caught:
            asyncio.run(ask())
        shown += ["".join(traceback.format_exception(caught.value)), repr(caught.value)]
    chat.script = [Answer(f'{{"verdict": "block", "reason": "{said}"}}')]
    result = gate().decide(target, judge=judge, options=JudgeOptions(keep_replies=True))
    assert result.reason == said
    shown += [repr(result), repr(result.judge)]
    text = "\n".join(shown) + caplog.text
    assert "HTTP 401" in text
    for secret in (KEY, target, said):
        assert secret not in text
