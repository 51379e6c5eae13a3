"""What servers, commands and files do wrong: no row is lost, and nothing grows without bound."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from scoregate.judge import (
    CommandJudge,
    FunctionJudge,
    JudgeCache,
    JudgeError,
    JudgeOptions,
    JudgeReply,
    OpenAIJudge,
    Retry,
    Usage,
)
from scoregate.judge._limits import Pace

from .server import BLOCK, PASS, Answer, error
from .support import QUICK, gate, judge_of

if TYPE_CHECKING:
    from pathlib import Path


def completion(message: dict[str, Any], finish: str = "stop", **more: Any) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    value = {"model": "m", "choices": [choice], "usage": usage, **more}
    return Answer(body=json.dumps(value).encode())


P, B = "VERDICT: PASS", "VERDICT: BLOCK"


# What is no reply.


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (completion({"content": None, "refusal": "I cannot. " + P}), "the model refused"),
        (completion({"content": P, "refusal": "I cannot."}), "the model refused"),
        (completion({"content": P}, "content_filter"), "stopped by a content filter"),
        (completion({"content": P}, "length"), "the reply is cut off"),
        (completion({"content": "Well,"}, "length"), "the reply is cut off"),
        (completion({"content": None}, "length"), "the reply is cut off"),
        (
            completion({"content": None, "reasoning_content": P}),
            "reasoning without a reply",
        ),
        (completion({"content": "", "reasoning": P}), "reasoning without a reply"),
        (
            completion({"content": None, "tool_calls": [{"id": "x"}]}, "tool_calls"),
            "tool calls in place of a reply",
        ),
        (completion({"content": " \n"}), "an empty reply"),
        (completion({"content": None}), "an empty reply"),
    ],
)
@pytest.mark.parametrize("policy", ["pass", "block", "undecided"])
def test_what_is_no_reply_is_a_failed_call(
    chat: Any, answer: Answer, words: str, policy: Any
) -> None:
    chat.script = [answer]
    result = gate().decide("bad", judge=judge_of(chat), on_unparseable=policy)
    assert (result.verdict, result.decided_by) == ("undecided", None)
    assert result.reason == f"judge failed: {words}"
    assert result.judge is not None
    assert (result.judge.state, result.judge.usage.total) == ("failed", 7)
    assert len(chat.calls) == 1


def test_a_cut_reply_that_blocks_counts(chat: Any) -> None:
    chat.script = [completion({"content": '{"verdict": "block", "reason": "it'}, "length")]
    result = gate().decide("bad", judge=judge_of(chat))
    assert (result.verdict, result.decided_by) == ("block", "judge")


def test_faults_of_judges_of_ones_own() -> None:
    result = gate().decide("bad", judge=lambda prompt: JudgeReply(P, fault="refusal"))
    assert result.reason == "judge failed: the model refused"
    assert gate().decide("bad", judge=lambda prompt: "").reason == "judge failed: an empty reply"
    long = FunctionJudge(lambda prompt: "x" * 2_000_000)
    assert "longer than 1048576 bytes" in str(gate().decide("bad", judge=long).reason)


# Bodies, redirects, statuses.


MEMORY = """
import resource, sys
import scoregate
from scoregate.judge import JudgeOptions, OpenAIJudge, Retry
gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}], "judge": {"task": "?"}})
judge = OpenAIJudge("m", base_url=sys.argv[1], timeout=20)
options = JudgeOptions(retry=Retry(attempts=1))
gate.decide("bad", judge=judge, options=options)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(2):
    print(gate.decide("bad", judge=judge, options=options).reason)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
def test_small_bodies_that_unpack_to_large_ones_cost_nothing(chat: Any) -> None:
    bomb = gzip.compress(b"\0" * (500 << 20), 9)
    assert len(bomb) < 600_000
    chat.script = [
        PASS,
        Answer(status=500, body=bomb, headers={"Content_Encoding": "gzip"}),
        Answer(body=bomb, headers={"Content_Encoding": "gzip"}),
    ]
    command = [sys.executable, "-c", MEMORY, chat.url]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=50)
    first, second, grown = done.stdout.splitlines()
    assert first == "judge failed: HTTP 500"
    assert second == "judge failed: the response is longer than 1048576 bytes"
    assert int(grown) < 32 << 10


def test_a_compressed_body_is_read(chat: Any) -> None:
    body = completion({"content": B}).body or b""
    chat.script = [Answer(body=gzip.compress(body), headers={"Content_Encoding": "gzip"})]
    assert gate().decide("bad", judge=judge_of(chat)).verdict == "block"
    chat.script = [Answer(body=body, headers={"Content_Encoding": "br"})]
    result = gate().decide("bad", judge=judge_of(chat))
    assert result.reason == "judge failed: the response has an encoding that was not asked for"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(chat: Any, status: int) -> None:
    chat.script = [Answer(status=status, headers={"Location": chat.url + "/chat/completions"})]
    result = gate().decide("bad", judge=judge_of(chat), options=QUICK)
    assert result.reason == f"judge failed: HTTP {status} (redirects are not followed)"
    assert len(chat.calls) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_ends_the_runs_calls(chat: Any, status: int) -> None:
    chat.script = [error(status)]
    texts: list[str | None] = [f"bad {i}" for i in range(20)]
    batch = gate().decide_batch(texts, judge=judge_of(chat), concurrency=2)
    assert {result.reason for result in batch} == {f"judge failed: HTTP {status}"}
    assert len(chat.calls) <= 2
    assert batch.summary()["judge"]["replies"]["failed"] == 20


def test_too_long_a_wait_holds_for_every_call(chat: Any) -> None:
    chat.script = [error(429, Retry_After="3600")]
    texts: list[str | None] = [f"bad {i}" for i in range(10)]
    batch = gate().decide_batch(texts, judge=judge_of(chat), concurrency=1, options=QUICK)
    assert {result.reason for result in batch} == {"judge failed: HTTP 429"}
    assert len(chat.calls) == 1


@pytest.mark.parametrize("wait", ["0", "-5", "Wed, 21 Oct 2015 07:28:00 GMT", "nan", "x"])
def test_no_answer_shortens_our_own_wait(chat: Any, wait: str) -> None:
    chat.script = [error(503, Retry_After=wait), PASS]
    options = JudgeOptions(retry=Retry(base=0.3, most=0.3))
    assert gate().decide("bad", judge=judge_of(chat), options=options).passed
    assert chat.times[1] - chat.times[0] >= 0.15


@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_bad_request_costs_one_request_and_counts(chat: Any, status: int) -> None:
    chat.script = [error(status)]
    batch = gate().decide_batch(["bad"], judge=judge_of(chat), max_calls=5)
    assert len(chat.calls) == batch.calls == 1
    assert batch.usage[0].failed == 1


def test_what_can_never_work_is_refused_at_once(monkeypatch: pytest.MonkeyPatch, chat: Any) -> None:
    for url in ("localhost:8000/v1", "api.openai.com", "ftp://x/v1", "http://", "http://x:y/"):
        with pytest.raises(ValueError, match="base_url: must be a URL"):
            OpenAIJudge("m", base_url=url)
    for key in ("sk-1\n", "sk-\r\nX: y", "sk-\u201cx"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with pytest.raises(ValueError, match="OPENAI_API_KEY: holds a character") as told:
            OpenAIJudge("m", base_url=chat.url)
        assert "sk-" not in str(told.value)
    assert chat.calls == []


# Values that nobody would send.


@pytest.mark.parametrize(
    "more",
    [
        {"usage": {"prompt_tokens": 2**63, "completion_tokens": 2**200}},
        {"usage": {"prompt_tokens": -1, "completion_tokens": True}},
        {"usage": {"prompt_tokens": "many"}},
        {"usage": [1]},
        {"usage": {"prompt_tokens": 1e308, "completion_tokens": None}},
        {"model": "m-\ud800"},
        {"model": ["m"]},
        {"model": "m" * 100_000},
    ],
)
def test_no_value_of_a_server_ends_a_run(chat: Any, tmp_path: Path, more: dict[str, Any]) -> None:
    chat.script = [completion({"content": B}, **more)]
    for turn in range(2):
        batch = gate().decide_batch(["bad"], judge=judge_of(chat), cache=tmp_path / "c")
        assert (batch[0].verdict, batch[0].decided_by) == ("block", "judge")
        assert batch.calls == 1 - turn
        assert json.dumps(batch[0].to_dict(details=True))
        assert batch.tokens.total < 2**54


def test_no_reply_of_a_function_ends_a_run() -> None:
    replies: list[Any] = [
        JudgeReply(B, Usage(2**80, 1), "m\udfff"),
        JudgeReply(B, "much", 7),  # type: ignore[arg-type]
        JudgeReply(7),  # type: ignore[arg-type]
        JudgeReply(B, fault="odd"),  # type: ignore[arg-type]
        '{"verdict": "block", "reason": "' + "\ud800" * 5000 + '"}',
    ]
    turns = iter(replies)
    texts: list[str | None] = [f"bad {i}" for i in range(len(replies))]
    batch = gate().decide_batch(texts, judge=lambda prompt: next(turns), concurrency=1)
    assert [r.verdict for r in batch] == ["block", "block", "undecided", "block", "block"]
    assert batch.tokens.total == 0
    assert len(str(batch[4].reason).encode("utf-8", "surrogatepass")) <= 4096


def test_reasons_are_kept_short(chat: Any) -> None:
    chat.script = [Answer(json.dumps({"verdict": "block", "reason": "ä" * 100_000}))]
    result = gate().decide("bad", judge=judge_of(chat))
    reason = str(result.reason)
    assert len(reason.encode()) <= 4096
    assert reason.endswith("ä…")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("text", b"\xff\xfe"),
        ("text", 7),
        ("input_tokens", "many"),
        ("input_tokens", 2**62),
        ("model", b"\xed\xa0\x80"),
        ("created", "yesterday"),
        ("used", b"x"),
        ("text", "no verdict at all"),
    ],
)
def test_no_value_of_a_cache_file_ends_a_run(
    chat: Any, tmp_path: Path, column: str, value: Any
) -> None:
    chat.script = [BLOCK]
    path = tmp_path / "c"
    for _ in range(2):
        with JudgeCache(path, ttl=3600) as cache:
            batch = gate().decide_batch(["bad"], judge=judge_of(chat), cache=cache)
        assert (batch[0].verdict, batch[0].decided_by) == ("block", "judge")
        file = sqlite3.connect(path)
        file.execute(f"UPDATE reply SET {column} = ?", (value,))
        file.commit()
        file.close()
    assert len(chat.calls) <= 2


# Caches that do not answer.


def test_a_locked_cache_stalls_nothing_and_outlasts_no_deadline(chat: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    JudgeCache(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    chat.script = [Answer(B)]

    async def main() -> tuple[Any, float]:
        late = 0.0

        async def watch() -> None:
            nonlocal late
            while True:
                before = time.monotonic()
                await asyncio.sleep(0.01)
                late = max(late, time.monotonic() - before)

        watcher = asyncio.ensure_future(watch())
        judge = judge_of(chat)
        batch = await gate().adecide_batch(["bad", "bad 2"], judge=judge, cache=path, deadline=20)
        await judge.aclose()
        watcher.cancel()
        return batch, late

    try:
        started = time.monotonic()
        batch, late = asyncio.run(main())
        assert time.monotonic() - started < 10
        assert late < 2.0
        assert [result.verdict for result in batch] == ["block", "block"]
        started = time.monotonic()
        gate().decide_batch(["bad 3"], judge=judge_of(chat), cache=path, deadline=0.5)
        assert time.monotonic() - started < 3
    finally:
        other.close()


def test_a_slow_cache_is_passed_over(chat: Any, tmp_path: Path) -> None:
    cache = JudgeCache(tmp_path / "c")
    release = threading.Event()
    asked: list[bytes] = []

    def get(key: bytes) -> None:
        asked.append(key)
        release.wait(20)

    cache.get = get  # type: ignore[method-assign]
    texts: list[str | None] = [f"bad {i}" for i in range(30)]
    started = time.monotonic()
    batch = gate().decide_batch(texts, judge=judge_of(chat), cache=cache, concurrency=4)
    assert time.monotonic() - started < 10
    release.set()
    assert [result.verdict for result in batch] == ["pass"] * 30
    assert len(chat.calls) == 30


def test_one_judge_given_three_times_is_three_samples(chat: Any, tmp_path: Path) -> None:
    chat.script = [BLOCK, PASS, PASS]
    for _ in range(2):
        judges = [judge_of(chat)] * 3
        batch = gate().decide_batch(["bad"], judge=judges, cache=tmp_path / "c", concurrency=1)
        votes = batch[0].judge.votes if batch[0].judge else ()
        assert [vote.verdict for vote in votes] == ["block", "pass", "pass"]
    assert len(chat.calls) == 3
    assert {vote.source for vote in votes} == {"cache"}


# Rates.


def test_a_pace_is_kept() -> None:
    pace = Pace(600)  # ten a second, a second's worth at once
    waits = [pace.take(1) for _ in range(30)]
    assert waits[9] < 0.01
    assert 1.8 < waits[29] < 2.1
    pace = Pace(60)
    assert pace.take(100) == 0  # overdrawn, which the next one waits for
    assert 99 < pace.take(1) <= 100
    pace.give(50)
    assert 50 < pace.take(1) <= 51


def test_calls_are_made_no_faster_than_allowed(chat: Any) -> None:
    chat.script = [error(500), PASS]
    texts: list[str | None] = [f"bad {i}" for i in range(14)]
    started = time.monotonic()
    batch = gate().decide_batch(
        texts, judge=judge_of(chat), requests_per_minute=600, concurrency=14, options=QUICK
    )
    assert time.monotonic() - started >= 0.45  # fifteen calls with the retry
    assert batch.summary()["pass"] == 14
    assert len(chat.calls) == 15
    late = gate().decide_batch(
        texts, judge=judge_of(chat), tokens_per_minute=60, deadline=1.5, concurrency=14
    )
    assert late.calls <= 2
    assert {r.reason for r in late if r.verdict == "undecided"} == {"deadline reached"}


# Commands and signals.


KILLED = """
import sys
import scoregate
from scoregate.judge import CommandJudge
gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}], "judge": {"task": "?"}})
judge = CommandJudge([sys.executable, "-c", sys.argv[1]], timeout=60)
gate.decide_batch(["a", "b"], judge=judge, concurrency=2)
"""

LIVES = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
open(FOLDER + '/' + str(os.getpid()), 'w').write(str(child.pid))
time.sleep(60)
"""


@pytest.mark.skipif(os.name == "nt", reason="process groups")
def test_a_killed_run_leaves_no_judge_process(tmp_path: Path) -> None:
    code = LIVES.replace("FOLDER", repr(str(tmp_path)))
    process = subprocess.Popen([sys.executable, "-c", KILLED, code])
    while len([p for p in tmp_path.iterdir() if p.read_text()]) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    pids = [int(text) for p in tmp_path.iterdir() for text in (p.name, p.read_text())]
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    for pid in pids:
        assert _gone(pid)


def _gone(pid: int) -> bool:
    for _ in range(200):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_what_cannot_be_reached_is_found_without_a_call(chat: Any) -> None:
    for command in ("/no/such/command", "no-such-command-anywhere"):
        with pytest.raises(JudgeError, match="there is no such command"):
            CommandJudge([command]).check()
    CommandJudge([sys.executable]).check()
    asyncio.run(judge_of(chat).check())
    with pytest.raises(JudgeError, match=r"127\.0\.0\.1:1 cannot be reached: "):
        asyncio.run(OpenAIJudge("m", base_url="http://127.0.0.1:1/v1").check())
    assert chat.calls == []


NOTEBOOK = """
import asyncio, os, signal, threading, time
import scoregate
gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}], "judge": {"task": "?"}})
async def judge(prompt):
    if "bad 3" in prompt:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        await asyncio.sleep(60)
    return "VERDICT: PASS"
done = []
async def main():
    texts = [f"bad {i}" for i in range(8)]
    if KIND == "sync":
        try:
            gate.decide_batch(texts, judge=judge, concurrency=1)
        except KeyboardInterrupt as stop:
            print(type(stop).__name__, [r.verdict[0] for r in stop.batch])
    else:
        await gate.adecide_batch(
            texts, judge=judge, concurrency=1, on_result=lambda i, r: done.append(i)
        )
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("KeyboardInterrupt", done)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_inside_a_loop_the_first_ctrl_c_ends_the_batch(kind: str) -> None:
    code = NOTEBOOK.replace("KIND", repr(kind))
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=40
    )
    assert time.monotonic() - started < 20
    wanted = {
        "sync": f"JudgingInterrupted {['p'] * 3 + ['u'] * 5}\n",
        "async": "KeyboardInterrupt [0, 1, 2]\n",
    }
    assert done.stdout == wanted[kind]
    assert done.stderr == ""
