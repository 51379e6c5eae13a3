"""The judge and the reply grammars on the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from scoregate.judge._files import FileJudge

from .conftest import KEY
from .server import BLOCK, Answer
from .support import gate

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("typer")

GATE = {
    "scorers": [{"type": "contains", "value": "ok", "name": "says-ok"}],
    "judge": {"task": "Fine?"},
}


class Ran:
    """What a run gave."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        assert "Traceback" not in err, err

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Cli:
    """Runs commands in a folder of their own; in this process, which is quicker."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("gate.json", json.dumps(GATE))

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return name

    def __call__(self, *args: str, stdin: str = "") -> Ran:
        from scoregate._cli.app import app
        from typer.testing import CliRunner

        old = os.getcwd()
        os.chdir(self.folder)
        try:
            done = CliRunner().invoke(app, list(args), input=stdin, prog_name="scoregate")
        finally:
            os.chdir(old)
        return Ran(done.exit_code, done.stdout, done.stderr)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


TEXTS = ["ok", "bad", None, "worse", "bad"]


def rows(texts: list[Any]) -> str:
    return "".join(json.dumps({"id": f"r{i}", "output": t}) + "\n" for i, t in enumerate(texts))


def test_score_with_a_model(cli: Cli, chat: Any) -> None:
    cli.write("in.jsonl", rows(TEXTS))
    chat.script = lambda call: BLOCK if "worse" in call["messages"][0]["content"] else Answer()
    args = ["score", "gate.json", "in.jsonl", "--judge", "openai:m", "--base-url", chat.url]
    args += ["--cache", "c.db", "--concurrency", "4", "--price", "1,2"]
    first = cli(*args)
    assert first.code == 0, first.err
    assert [(r["id"], r["verdict"], r.get("decided_by")) for r in first.rows] == [
        ("r0", "pass", "scorers"),
        ("r1", "pass", "judge"),
        ("r2", "block", "policy"),
        ("r3", "block", "judge"),
        ("r4", "pass", "judge"),
    ]
    assert first.rows[3]["reason"] == "poor"
    assert first.rows[3]["judge"] == {"score": 0.1, "reason": "poor"}
    assert first.rows[3]["results"][0]["name"] == "says-ok"
    assert list(first.rows[3]) == [
        "id", "verdict", "combined", "reason", "decided_by", "results", "judge",
    ]  # fmt: skip
    assert len(chat.calls) == 2
    assert "judge: openai:m: 2 calls, " in first.err
    assert "tokens in, 20 out, cost 0.0" in first.err
    assert KEY not in first.err + first.out
    second = cli(*args)
    assert second.out == first.out
    assert "openai:m: 0 calls, 2 from the cache" in second.err
    assert len(chat.calls) == 2
    shown = cli("cache", "c.db", "--json").rows[0]
    assert (shown["replies"], shown["judges"][0]["judge"]) == (2, "openai:m")
    assert "c.db: 2 replies, " in cli("cache", "c.db").out
    assert "2 replies removed" in cli("cache", "c.db", "--clear").err
    assert cli("cache", "c.db").out.startswith("c.db: 0 replies")
    assert cli("cache", "no.db").code == 3
    cli.write("text", "x" * 5000)
    assert "cannot be opened as a cache" in cli("cache", "text").err


def test_score_with_a_command(cli: Cli) -> None:
    cli.write(
        "judge.py",
        "import sys\nprompt = sys.stdin.read()\n"
        "print('VERDICT: ' + ('BLOCK' if '\\nworse\\n' in prompt else 'PASS'))\n",
    )
    cli.write("in.jsonl", rows(TEXTS))
    command = f"cmd:'{sys.executable}' judge.py"
    ran = cli("score", "gate.json", "in.jsonl", "--judge", command, "--json", "--details", "none")
    assert [r["verdict"] for r in ran.rows] == ["pass", "pass", "block", "block", "pass"]
    assert "results" not in ran.rows[1]
    summary = json.loads(ran.err.splitlines()[0])
    assert (summary["pass"], summary["block"], summary["undecided"]) == (3, 2, 0)
    assert summary["judge"] == {
        "rows": 3, "calls": 2, "failed": 0, "cached": 0, "input_tokens": 0, "output_tokens": 0,
        "replies": {"read": 3, "disputed": 0, "silent": 0, "failed": 0, "unasked": 0},
        "clamped": 0, "failures": [], "trouble": None,
    }  # fmt: skip
    assert summary["decided_by"] == {"scorers": 1, "judge": 3, "policy": 1, "nobody": 0}
    under = cli("score", "gate.json", "in.jsonl", "--judge", command, "--fail-under", "0.7")
    assert under.code == 1


def test_a_budget_leaves_rows_undecided(cli: Cli, chat: Any) -> None:
    cli.write("in.jsonl", rows([f"bad {i}" for i in range(5)]))
    args = ["score", "gate.json", "in.jsonl", "--judge", "openai:m", "--base-url", chat.url]
    ran = cli(*args, "--max-calls", "2", "--concurrency", "1")
    assert [r["verdict"] for r in ran.rows] == ["pass"] * 2 + ["undecided"] * 3
    assert ran.rows[4]["reason"] == "max_calls reached"
    assert "decided_by" not in ran.rows[4]
    assert len(chat.calls) == 2


def test_usage_errors(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write("in.jsonl", rows(TEXTS))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for args, message in (
        (["--judge", "claude"], "--judge: must be openai:MODEL or cmd:COMMAND"),
        (["--judge", "cmd:"], "--judge: must be openai:MODEL or cmd:COMMAND"),
        (["--judge", "cmd:'x"], "--judge: cmd: No closing quotation"),
        (["--judge", "openai:m"], "OPENAI_API_KEY is not set"),
        (["--cache", "c"], "--cache and --base-url need --judge"),
        (["--judge", "cmd:x", "--price", "1"], "must be two numbers"),
    ):
        ran = cli("score", "gate.json", "in.jsonl", *args)
        assert ran.code == 2
        assert message in " ".join(ran.err.replace("│", " ").split())


def test_without_the_extra_one_sentence_names_it(cli: Cli) -> None:
    cli.write("in.jsonl", rows(TEXTS))
    hide = "import sys; sys.modules['openai'] = None; from scoregate.__main__ import main; "
    code = hide + "sys.exit(main())"
    argv = ["score", "gate.json", "in.jsonl", "--judge", "openai:m"]
    done = subprocess.run(
        [sys.executable, "-c", code, *argv],
        cwd=cli.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    wanted = "error: OpenAIJudge needs the openai package: pip install openai\n"
    assert done.stderr == wanted


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_and_again(cli: Cli, chat: Any) -> None:
    cli.write("in.jsonl", rows([f"bad {i}" for i in range(6)]))
    argv = [sys.executable, "-m", "scoregate", "score", "gate.json", "in.jsonl", "-o", "out.jsonl"]
    argv += ["--judge", "openai:m", "--base-url", chat.url, "--cache", "c", "--concurrency", "1"]
    chat.script = [Answer(), Answer(), Answer(), Answer(wait=30)]
    process = subprocess.Popen(argv, cwd=cli.folder, stderr=subprocess.PIPE)
    while len(chat.calls) < 4:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, b"error: interrupted\n")
    assert not (cli.folder / "out.jsonl").exists()
    chat.script = [Answer()]
    chat.calls.clear()
    assert subprocess.run(argv, cwd=cli.folder, capture_output=True, check=False).returncode == 0
    assert len(chat.calls) == 3
    assert len((cli.folder / "out.jsonl").read_text().splitlines()) == 6


def test_awkward_lines_keep_their_places(tmp_path: Path) -> None:
    """Whatever blocks the input comes in, each reply lands on its own row."""
    from scoregate._files import score_file

    lines = [
        b'\xef\xbb\xbf{"id":"a\\",\\"verdict\\":\\"undecided\\",\\"combined\\":","output":"bad 0"}\r\n',
        b"\n",
        b'  \t\r\n{"output":"ok 1","id":1.50}\n',
        b"not json\n",
        b'{"output":"' + b"x" * 400 + b'"}\n',
        b'{"output":"bad 2","other":{"output":"ok"},"id":7}\n',
        b'{"output":null}\n',
        b'{"output":"bad \\ud83d\\ude00 \\ud800 3"}',
    ]
    place = tmp_path / "in.jsonl"
    place.write_bytes(b"".join(lines))
    seen: list[str] = []

    def judge(prompt: str) -> str:
        prompt.encode()
        seen.append(prompt.split("```\n")[1])
        return '{"verdict": "block", "reason": "' + seen[-1].split()[-1] + '"}'

    from scoregate._files import source

    whole = None
    old = source._BLOCK
    for block in (1, 7, 64, 1 << 20):
        source._BLOCK = block
        try:
            decider = FileJudge(gate(), judge=judge, concurrency=1)
            out = tmp_path / "out.jsonl"
            found = score_file(
                gate(), place, out, on_error="skip", max_line_bytes=300, judge=decider
            )
        finally:
            source._BLOCK = old
        data = out.read_text()
        whole = whole or data
        assert data == whole
        assert (found.rows, found.bad_rows, found.blocked, found.undecided) == (5, 2, 4, 0)
    made = [json.loads(line) for line in (whole or "").splitlines()]
    assert [(r["id"], r["verdict"], r.get("reason")) for r in made] == [
        ('a","verdict":"undecided","combined":', "block", "0"),
        (1.5, "pass", None),
        (7, "block", "2"),
        (5, "block", "missing input"),
        (6, "block", "3"),
    ]
    assert '"id":1.50' in (whole or "")
    assert seen[:3] == ["bad 0\n", "bad 2\n", "bad \U0001f600 \ufffd 3\n"]


def test_a_limit_and_a_second_input(tmp_path: Path) -> None:
    from scoregate._files import score_file

    places = []
    for name in ("a", "b"):
        place = tmp_path / name
        place.write_text("".join(f'{{"output":"bad {name}{i}"}}\n' for i in range(4)))
        places.append(place)
    decider = FileJudge(gate(), judge=lambda p: '{"verdict":"block","reason":"' + p[60:75] + '"}')
    out = tmp_path / "out"
    score_file(gate(), places, out, limit=6, judge=decider)
    made = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(made) == 6
    assert decider.to_dict()["rows"] == decider.to_dict()["calls"] == 6


def test_replies_on_the_command_line(cli: Cli) -> None:
    cli.write("a.txt", "All good. VERDICT: PASS")
    cli.write("b.txt", '{"verdict": "block", "reason": "no"}')
    plain = {"parsed": True, "disputed": False}
    silent = {"parsed": False, "disputed": False}
    assert cli("verdict", "a.txt").rows == [{"verdict": "pass", **plain}]
    both = cli("verdict", "a.txt", "b.txt", "--exit-code")
    assert both.rows == [
        {"file": "a.txt", "verdict": "pass", **plain},
        {"file": "b.txt", "verdict": "block", "reason": "no", **plain},
    ]
    assert both.code == 1
    assert cli("verdict", stdin="hm").rows == [{"verdict": "pass", **silent}]
    blocked = cli("verdict", "--on-unparseable", "block", stdin="hm").rows[0]
    reason = "unparseable gate verdict (fail-closed)"
    assert blocked == {"verdict": "block", "reason": reason, **silent}
    open_ = cli("verdict", "--on-unparseable", "undecided", stdin="hm").rows[0]
    assert (open_["verdict"], open_["parsed"]) == ("undecided", False)
    reply = cli("judge-reply", "b.txt").rows[0]
    assert reply == {"score": 0.0, "verdict": "block", "reason": "no", **plain}
    lines = '{"id": "x", "reply": "WINNER: 2"}\n\n{"reply": "hm"}\n'
    assert cli("winner", "--count", "3", "--jsonl", stdin=lines).rows == [
        {"id": "x", "winner": 2, **plain, "tie": False},
        {
            "id": 1,
            "winner": 1,
            "reason": "no parseable winner; defaulted to variant 1",
            **silent,
            "tie": False,
        },
    ]
    assert cli("verdict", "--jsonl", stdin='{"reply": 1}').code == 3
    assert "<stdin>:1: is no JSON" in cli("verdict", "--jsonl", stdin="x").err
    assert cli("verdict", "none.txt").code == 3


def test_failed_calls_are_counted(cli: Cli) -> None:
    cli.write("judge.py", "import sys\nsys.exit(3)\n")
    cli.write("in.jsonl", rows(["bad", "worse"]))
    args = ["score", "gate.json", "in.jsonl", "--judge", f"cmd:'{sys.executable}' judge.py"]
    args += ["--max-calls", "2"]
    ran = cli(*args, "-o", "out.jsonl")
    assert ran.code == 4
    assert "2 calls, 2 failed" in ran.err
    summary = json.loads(cli(*args, "-o", "out.jsonl", "--json").out)
    assert (summary["judge"]["calls"], summary["judge"]["failed"]) == (2, 2)


def judged(cli: Cli, code: str, *args: str, count: int = 2) -> Ran:
    cli.write("judge.py", code)
    cli.write("in.jsonl", rows([f"bad {i}" for i in range(count)]))
    judge = f"cmd:'{sys.executable}' judge.py"
    return cli("score", "gate.json", "in.jsonl", "-o", "out.jsonl", "--judge", judge, *args)


def test_a_dead_judge_cannot_look_like_success(cli: Cli) -> None:
    """The exit code and the first screen say so, whatever the policies."""
    for policy in ("undecided", "pass"):
        args = ("--max-calls", "4", "--concurrency", "1", "--on-judge-error", policy)
        ran = judged(cli, "raise SystemExit(3)", *args)
        assert ran.code == 4
        words = "every call of the judge failed: the command ended with exit code 3"
        assert ran.err.splitlines()[-1] == f"error: {words}" or words in ran.err
        assert "4 failed: the command ended with exit code 3" in ran.err
    ran = judged(cli, "print('Hard to say.')")
    assert ran.code == 4
    assert "no reply of the judge holds a verdict" in ran.err
    assert "judge replies: 2 silent" in ran.err
    assert "policy" in ran.err
    assert judged(cli, "print('VERDICT: BLOCK')").code == 0


def test_failed_calls_can_be_bounded(cli: Cli) -> None:
    code = "import sys\nt = sys.stdin.read()\nprint('VERDICT: PASS' if 'bad 0' in t else '' )\n"
    args = ("--concurrency", "1")
    ran = judged(cli, code, "--max-judge-errors", "1", *args, count=6)
    assert ran.code == 4
    assert "the judge failed on 2 of 6 open rows, and at most 1 are tolerated" in ran.err
    made = [json.loads(line) for line in (cli.folder / "out.jsonl").read_text().splitlines()]
    assert [row["verdict"] for row in made] == ["pass"] + ["undecided"] * 5
    assert [row["reason"] for row in made[3:]] == [
        "too many failed rows (last error: an empty reply)"
    ] * 3
    assert judged(cli, code, "--max-judge-errors", "50%", *args, count=2).code == 0
    assert judged(cli, code, "--max-judge-errors", "50%", *args, count=4).code == 4
    ran = judged(cli, code, "--max-judge-errors", "some")
    assert ran.code == 2
    ran = judged(cli, code, "--on-judge-error", "fail", *args)
    assert (ran.code, ran.err) == (3, "error: judge failed: an empty reply\n")


def test_a_judge_that_cannot_be_reached_is_found_before_the_run(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, chat: Any
) -> None:
    cli.write("in.jsonl", rows(TEXTS))
    for judge, words in (
        (["--judge", "cmd:no-such-command-anywhere x"], "there is no such command"),
        (
            ["--judge", "openai:m", "--base-url", "http://127.0.0.1:1/v1"],
            "127.0.0.1:1 cannot be reached",
        ),
        (["--judge", "openai:m", "--base-url", "localhost:1"], "base_url: must be a URL"),
    ):
        ran = cli("score", "gate.json", "in.jsonl", "-o", "new.jsonl", *judge)
        assert ran.code == 2, ran.err
        assert words in ran.err
        assert not (cli.folder / "new.jsonl").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_without_a_cache_keeps_what_is_decided(cli: Cli, chat: Any) -> None:
    cli.write("in.jsonl", rows(["ok", *[f"bad {i}" for i in range(6)]]))
    argv = [sys.executable, "-m", "scoregate", "score", "gate.json", "in.jsonl", "-o", "out.jsonl"]
    argv += ["--judge", "openai:m", "--base-url", chat.url, "--concurrency", "1"]
    chat.script = [Answer(), Answer(), Answer(), Answer(wait=30)]
    process = subprocess.Popen(argv, cwd=cli.folder, stderr=subprocess.PIPE, text=True)
    while len(chat.calls) < 4:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors.startswith("judge: openai:m: 4 calls")
    assert "note: what is decided is in out.partial.jsonl\nerror: interrupted\n" in errors
    assert not (cli.folder / "out.jsonl").exists()
    made = (cli.folder / "out.partial.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in made] == ["r0", "r1", "r2", "r3"]


def test_check_shows_what_is_read_and_what_is_not_filled(cli: Cli) -> None:
    reply = {
        "pass": ["APPROVE"],
        "block": ["REJECT"],
        "scale": [1, 5],
        "labels": {"verdict": ["STATUS"]},
    }
    block = {
        "target": "{steps.gen.output}",
        "scorers": [{"type": "contains", "value": "a {args.name} b"}],
        "judge": {"task": "Is {prompt} answered?", "reply": reply, "fields": ["prompt"]},
    }
    cli.write("own.json", json.dumps(block))
    ran = cli("check", "own.json")
    assert ran.code == 0, ran.err
    for path, name in (
        ("target", "{steps.gen.output}"),
        ("scorers[0].value", "{args.name}"),
        ("judge.task", "{prompt}"),
    ):
        assert f"score.{path}: {name} is not filled outside a flow" in ran.err
    assert '"verdict": "APPROVE"|"REJECT"' in ran.out
    assert "scores from 1 (worst) to 5 (best); passes from 3 on" in ran.out
    assert "is shown the row's prompt" in ran.out
    flow = {"phases": [{"id": "g", "type": "gate", "score": block}]}
    cli.write("flow.json", json.dumps(flow))
    assert "not filled" not in cli("check", "flow.json").err
