"""A command as a judge. No shell, a time limit, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import TYPE_CHECKING

import pytest
from scoregate import JudgeError
from scoregate.judge import CommandJudge, JudgeReply

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="process groups")


def python(code: str, **options: float) -> CommandJudge:
    return CommandJudge(
        [sys.executable, "-I", "-S", "-c", code], timeout=options.get("timeout", 10)
    )


def ask(judge: CommandJudge, prompt: str = "a prompt") -> JudgeReply:
    return asyncio.run(judge.ask(prompt))


def test_the_prompt_goes_in_and_the_reply_comes_out() -> None:
    judge = python("import sys; sys.stdout.write(sys.stdin.read()[::-1])")
    assert ask(judge, "päß").text == "ßäp"
    long = "x" * 1_000_000
    assert ask(judge, long).text == long


def test_a_command_need_not_read() -> None:
    assert ask(python("print('VERDICT: PASS')"), "x" * 1_000_000).text == "VERDICT: PASS\n"


def test_no_shell_is_between() -> None:
    judge = CommandJudge([sys.executable, "-c", "import sys; print(sys.argv[1])", "$HOME; echo"])
    assert ask(judge).text == "$HOME; echo\n"


def test_a_failure_tells_the_code_and_nothing_else() -> None:
    judge = python("import sys; sys.stderr.write('secret'); sys.exit(3)")
    with pytest.raises(JudgeError, match=r"^the command ended with exit code 3$"):
        ask(judge)
    with pytest.raises(JudgeError, match="cannot be started: No such file"):
        ask(CommandJudge(["/no/such/command", "secret"]))
    assert "secret" not in repr(CommandJudge(["/no/such/command", "secret"]))


def test_too_long_a_reply_is_a_failure() -> None:
    judge = CommandJudge(
        [sys.executable, "-c", "while True: print('x' * 10000)"], max_reply_bytes=100_000
    )
    with pytest.raises(JudgeError, match="longer than 100000 bytes"):
        ask(judge)


def test_the_whole_group_is_killed_when_the_time_is_up(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    started = time.monotonic()
    with pytest.raises(JudgeError, match=r"timed out after 1\.5 s"):
        ask(python(code, timeout=1.5))
    assert time.monotonic() - started < 10
    assert _gone(int(mark.read_text()))


def _gone(pid: int) -> bool:
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_arguments_are_a_list() -> None:
    with pytest.raises(TypeError, match="expected a list"):
        CommandJudge("echo hello")
    with pytest.raises(ValueError, match="must name a command"):
        CommandJudge([])
