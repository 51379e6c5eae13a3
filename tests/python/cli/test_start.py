from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import scoregate
from scoregate._cli.examples import EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_pass_and_fail_as_they_say(name: str) -> None:
    example = EXAMPLES[name]
    gate = scoregate.Gate(example.gate)
    assert gate.warnings() == []
    passed = [i for i, text in enumerate(example.outputs) if gate.score(text).passed]
    assert tuple(passed) == example.passing


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_init_writes_runs(cli: Any, name: str) -> None:
    ran = cli("init", "new", "--example", name)
    assert ran.code == 0
    commands = [line.strip() for line in ran.out.partition("next:\n")[2].splitlines()]
    assert commands[0] == "cd new"
    for command in commands[1:]:
        words = command.replace("scoregate ", "-m scoregate ").split()
        argv = [sys.executable, *(word for word in words if word != "python")]
        done = subprocess.run(
            argv, cwd=cli.folder / "new", capture_output=True, check=False, env=cli.env
        )
        assert done.returncode == 0, done.stderr + done.stdout
    again = cli("init", "new")
    assert (again.code, "nothing is overwritten" in again.err) == (2, True)


def test_demo(cli: Any) -> None:
    before = cli.files
    ran = cli("demo")
    assert ran.code == 0
    assert "8 rows in " in ran.out
    assert max(map(len, ran.out.splitlines())) <= 120
    assert cli.files == before


def test_left_files_are_removed_and_those_in_use_stay(cli: Any) -> None:
    fcntl = pytest.importorskip("fcntl")
    left, used = (cli.folder / f".scoregate-{name}.tmp" for name in ("left", "used"))
    left.write_text("x")
    with used.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert cli.score(cli.rows("in.jsonl", "ok"), "-o", "out.jsonl").code == 0
    assert used.exists()
    assert not left.exists()


def test_null_replies_and_other_line_ends(cli: Any) -> None:
    cli.write("r.jsonl", '{"reply": null}\n')
    for command in (["verdict"], ["judge-reply"], ["winner", "--count", "2"]):
        assert cli(*command, "--jsonl", "r.jsonl").code == 0
    ran = cli.score(cli.write("cr.jsonl", b'{"output": "a"}\r{"output": "b"}\r'))
    assert (ran.code, "lines end in CR alone" in ran.err) == (3, True)
    ran = cli.score(cli.write("u.jsonl", '{"output": "a"}\n'.encode("utf-16")))
    assert (ran.code, "UTF-16" in ran.err) == (3, True)


def test_files_without_an_end_and_pipes_are_refused(cli: Any) -> None:
    ran = cli("check", "/dev/zero")
    assert (ran.code, ran.err) == (
        2,
        "error: /dev/zero: holds more than 64 MiB, which is no gate\n",
    )
    ran = cli("repair", "-i", "/dev/null")
    assert (ran.code, ran.err) == (2, "error: -i needs a regular file, and /dev/null is none\n")


def test_strict(cli: Any) -> None:
    cli.write("warn.json", '{"scorers": [{"type": "regex", "pattern": "(?i)a"}]}')
    assert cli("check", "warn.json").code == 0
    ran = cli("check", "warn.json", "--strict")
    assert ran.code == 1
    assert ran.err.endswith('hint: flags are a field of their own: "pattern": "a", "flags": "i"\n')
    assert cli("check", "gate.json", "--strict").code == 0


def test_the_help_of_score_fits_on_a_screen(cli: Any) -> None:
    lines = cli("score", "--help").out.splitlines()
    assert len(lines) < 60
    groups = [line for line in lines if line in ("Results", "Input", "Bad rows", "Run", "Judge")]
    assert groups == ["Results", "Input", "Bad rows", "Run", "Judge"]
