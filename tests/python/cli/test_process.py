"""Signals, closed pipes, terminals, imports."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


def wait_for_temporary(cli: Any) -> None:
    for _ in range(500):
        if any(name.endswith(".tmp") for name in cli.files):
            return
        time.sleep(0.02)
    raise AssertionError("the run did not start")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_leave_nothing(cli: Any, number: int, code: int) -> None:
    before = cli.files
    # The input stays open, so the run is in the middle.
    args = [*cli.argv, "score", "gate.json", "-", "-o", "out.jsonl"]
    with subprocess.Popen(
        args, cwd=cli.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdin is not None
        assert run.stderr is not None
        run.stdin.write(b'{"output": "ok"}\n' * 1000)
        run.stdin.flush()
        wait_for_temporary(cli)
        time.sleep(0.1)
        run.send_signal(number)
        assert run.wait(20) == code
        err = run.stderr.read()
    assert b"Traceback" not in err
    if number == signal.SIGINT:
        assert err == b"error: interrupted\n"
    assert cli.files == before


def test_interrupt_while_scoring(cli: Any) -> None:
    cli.rows("in.jsonl", *["ok" * 2000] * 2000)
    before = cli.files
    args = [*cli.argv, "score", "gate.json", *["in.jsonl"] * 500, "-o", "out.jsonl"]
    with subprocess.Popen(args, cwd=cli.folder, stderr=subprocess.PIPE) as run:
        wait_for_temporary(cli)
        run.send_signal(signal.SIGINT)
        started = time.monotonic()
        assert run.wait(20) == 130
        assert time.monotonic() - started < 5
    assert cli.files == before


def test_closed_pipe_is_quiet(cli: Any) -> None:
    cli.rows("in.jsonl", *["ok"] * 50_000)
    for command in ("score gate.json in.jsonl --progress never", "schema", "scorers --json"):
        script = f"'{sys.executable}' -m scoregate {command} | head -c 1; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(
            ["bash", "-c", script], cwd=cli.folder, capture_output=True, check=False
        )
        assert done.stderr == b""
        assert len(done.stdout) == 1
        assert done.returncode in ((141,) if command.startswith("score ") else (0, 141))


def test_rows_of_a_slow_pipe_do_not_wait(cli: Any) -> None:
    args = [*cli.argv, "score", "gate.json", "-"]
    with subprocess.Popen(
        args,
        cwd=cli.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        for number in range(3):
            run.stdin.write(json.dumps({"id": number, "output": "ok"}).encode() + b"\n")
            run.stdin.flush()
            assert json.loads(run.stdout.readline())["id"] == number
        run.stdin.close()
        assert run.wait(20) == 0


def test_a_pipe_that_does_not_block(cli: Any) -> None:
    read, write = os.pipe()
    os.set_blocking(read, False)
    args = [*cli.argv, "score", "gate.json", "-"]
    with subprocess.Popen(
        args, cwd=cli.folder, stdin=read, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as run:
        os.close(read)
        assert run.stdout is not None
        time.sleep(0.5)
        os.write(write, b'{"output": "ok"}\n')
        time.sleep(0.2)
        os.write(write, b'{"output": "ok"}\n')
        os.close(write)
        assert len(run.stdout.read().splitlines()) == 2
        assert run.wait(20) == 0


def test_closed_standard_streams(cli: Any) -> None:
    cli.rows("in.jsonl", "ok")
    for redirect, code in (("<&-", 3), (">&-", 3), ("2>&-", 0)):
        place = "-" if redirect == "<&-" else "in.jsonl"
        script = f"'{sys.executable}' -m scoregate score gate.json {place} {redirect}"
        done = subprocess.run(
            ["bash", "-c", script], cwd=cli.folder, capture_output=True, check=False
        )
        assert done.returncode == code, (redirect, done.stderr)
        assert b"Traceback" not in done.stderr


def on_terminal(cli: Any, *args: str, columns: int = 80, **env: str) -> tuple[int, str]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**cli.env, "TERM": "xterm-256color", **env}
    run = subprocess.Popen(
        [*cli.argv, *args], cwd=cli.folder, stdin=slave, stdout=slave, stderr=slave, env=environment
    )
    os.close(slave)
    seen = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    os.close(master)
    return run.wait(20), seen.decode()


@pytest.mark.parametrize("columns", [80, 200])
def test_terminal(cli: Any, columns: int) -> None:
    cli.rows("in.jsonl", *["ok", "no"] * 2000)
    code, seen = on_terminal(cli, "score", "gate.json", "in.jsonl", "-o", "o", columns=columns)
    assert code == 0
    assert "\x1b[32mpass" in seen
    assert "rows/s" in seen
    assert "ETA" in seen
    # The bar is gone at the end, and the cursor is back.
    assert seen.rindex("\x1b[?25h") < seen.rindex("4,000 rows")
    code, seen = on_terminal(
        cli, "score", "gate.json", "in.jsonl", "-o", "o", columns=columns, NO_COLOR="1"
    )
    assert code == 0
    assert "\x1b[32m" not in seen


def test_no_bar_among_results(cli: Any) -> None:
    cli.rows("in.jsonl", "ok")
    code, seen = on_terminal(cli, "score", "gate.json", "in.jsonl")
    assert code == 0
    assert "ETA" not in seen
    code, seen = on_terminal(
        cli, "score", "gate.json", "in.jsonl", "-o", "o", "--progress", "never"
    )
    assert (code, "ETA" in seen) == (0, False)


def test_no_input_on_a_terminal(cli: Any) -> None:
    code, seen = on_terminal(cli, "score", "gate.json")
    assert (code, "no input: name a file of outputs" in seen) == (2, True)


def test_imports(cli: Any) -> None:
    code = (
        "import sys, scoregate;"
        "bad = {'asyncio', 'subprocess', 'rich', 'typer', 'dataclasses'} & set(sys.modules);"
        "sys.exit(f'{bad}' if bad else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    code = (
        "import sys; sys.argv = ['scoregate', 'score', 'gate.json', 'in.jsonl'];"
        "from scoregate.__main__ import main; code = main();"
        "sys.exit('asyncio' if 'asyncio' in sys.modules else code)"
    )
    cli.rows("in.jsonl", "ok")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=cli.folder, capture_output=True)


@pytest.mark.parametrize("name", ["typer", "rich"])
def test_without_the_extra(name: str) -> None:
    code = (
        f"import sys; sys.modules['{name}'] = None;"
        "from scoregate.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "scoregate: the command line needs two packages: pip install typer rich\n"
    )


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["score", "gate.json", "in.jsonl", "-o", "out.jsonl"], 0),
        (["score", "gate.json", "in.jsonl", "-o", "out.jsonl", "--fail-under", "1"], 1),
        (["score", "gate.json", "in.jsonl", "--nope"], 2),
        (["score", "gate.json", "absent.jsonl"], 3),
        (["check", "absent.json"], 2),
        (["--help"], 0),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else str(value),
)
def test_what_cannot_be_told_changes_no_exit_code(cli: Any, args: list[str], code: int) -> None:
    cli.rows("in.jsonl", "ok", "no")
    reading, writing = os.pipe()
    os.close(reading)
    with open("/dev/full", "w") as full:
        for stderr in (full, writing, None):
            argv = [*cli.argv, *args]
            if stderr is None:
                argv = ["sh", "-c", '"$@" 2>&-', "sh", *argv]
            done = subprocess.run(
                argv, cwd=cli.folder, stdout=subprocess.DEVNULL, stderr=stderr, check=False
            )
            assert done.returncode == code
    os.close(writing)


@pytest.mark.parametrize("args", [["--help"], ["scorers"], ["schema"], ["score", "--help"]])
def test_a_reader_that_goes_away_is_141(cli: Any, args: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*cli.argv, *args], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
    with open("/dev/full", "w") as full:
        done = subprocess.run([*cli.argv, *args], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith(b"error: ")
    assert done.stderr.count(b"\n") == 1


def test_a_full_memory_is_no_fault_of_ours(cli: Any) -> None:
    resource = pytest.importorskip("resource")
    with open(cli.folder / "huge.json", "wb") as file:
        file.truncate(8 << 30)  # holes only

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

    done = subprocess.run(
        [*cli.argv, "repair", "huge.json"],
        cwd=cli.folder,
        env=cli.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=limit,
    )
    assert (done.returncode, done.stderr) == (3, "error: out of memory\n")
