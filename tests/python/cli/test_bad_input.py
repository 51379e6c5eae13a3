"""Bad input: a clear message, the right exit code, nothing half-written."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from typing import Any

import pytest

GOOD = b'{"id": "a", "output": "ok"}\n'


def bad(line: bytes) -> bytes:
    return GOOD + line + b"\n" + GOOD


LINES = {
    "not JSON": (b"{oops", "not JSON: expected a key in double quotes at byte 1"),
    "cut off": (b'{"output": "a', "not JSON: the text ends inside a value"),
    "not an object": (b"[1, 2]", "expected an object, got array"),
    "a scalar": (b"17", "expected an object, got number"),
    "lacks the field": (b'{"text": "ok"}', 'no field "output"'),
    "field a number": (b'{"output": 7}', 'field "output": expected a string or null, got number'),
    "field an object": (b'{"output": {}}', 'field "output": expected a string or null, got object'),
    "id an object": (b'{"output": "a", "id": {}}', 'field "id": expected a string or a number'),
    "invalid UTF-8": (b'{"output": "\xff\xfe"}', "invalid UTF-8 at byte 12"),
    "raw surrogate": (b'{"output": "\xed\xa0\xbd"}', "invalid UTF-8 at byte 12"),
    "NaN": (b'{"output": "a", "x": NaN}', "not JSON: expected a value at byte 21"),
    "two values": (b'{"output": "a"} {}', "not JSON: text after the value at byte 16"),
    "brackets in an unread field": (
        b'{"output": "ok", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "not JSON: nested deeper than 512 levels",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_bad_line(cli: Any, name: str) -> None:
    line, message = LINES[name]
    cli.write("in.jsonl", bad(line))
    before = cli.files
    failed = cli.score("in.jsonl", "-o", "out.jsonl")
    assert failed.code == 3
    assert f"error: in.jsonl:2: {message}" in failed.err
    assert failed.out == ""
    assert cli.files == before

    skipped = cli.score("in.jsonl", "--on-error", "skip")
    assert skipped.code == 0
    # A bad row keeps its number.
    assert [row["verdict"] for row in skipped.rows] == ["pass", "pass"]
    assert f"warning: in.jsonl:2: {message}" in skipped.err


FINE = {
    "blank lines": b"\n  \n" + GOOD + b"\n\t\n" + GOOD + b"\n",
    "byte order mark": b"\xef\xbb\xbf" + GOOD + GOOD,
    "CRLF": GOOD.replace(b"\n", b"\r\n") * 2,
    "no final newline": GOOD + GOOD.rstrip(),
    "lone surrogate escapes": b'{"output": "ok \\ud83d"}\n{"output": "\\udc00 ok"}\n',
    "duplicate keys": b'{"output": "no", "output": "ok"}\n' + GOOD,
    "an escaped key": b'{"\\u006futput": "ok"}\n' + GOOD,
    "NUL": b'{"output": "ok\\u0000"}\n' + GOOD,
    "long integers": b'{"output": "ok", "n": ' + b"9" * 40 + b"}\n" + GOOD,
}


@pytest.mark.parametrize("name", FINE)
def test_odd_but_fine(cli: Any, name: str) -> None:
    cli.write("in.jsonl", FINE[name])
    ran = cli.score("in.jsonl")
    assert (ran.code, [row["verdict"] for row in ran.rows]) == (0, ["pass", "pass"]), ran.err


def test_duplicate_keys_last_wins(cli: Any) -> None:
    cli.write("in.jsonl", '{"id": 1, "output": "ok", "output": "no", "id": 2}\n')
    assert [(row["id"], row["verdict"]) for row in cli.score("in.jsonl").rows] == [(2, "block")]


def test_null_is_missing_input(cli: Any) -> None:
    ran = cli.score(cli.rows("in.jsonl", None, "ok"))
    assert ran.code == 0
    assert ran.rows[0] == {
        "id": 0,
        "verdict": "block",
        "combined": 0,
        "reason": "missing input",
        "decided_by": "policy",
        "results": [],
    }
    assert "1 without text" in ran.err


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"])
def test_empty_file(cli: Any, data: bytes) -> None:
    cli.write("in.jsonl", data)
    ran = cli.score("in.jsonl", "-o", "out.jsonl")
    assert ran.code == 0
    assert "warning: in.jsonl: no rows" in ran.err
    assert (cli.folder / "out.jsonl").read_bytes() == b""
    # No rows are no proof that enough rows pass.
    assert cli.score("in.jsonl", "--fail-under", "0").code == 1


def test_missing_file(cli: Any) -> None:
    cli.rows("in.jsonl", "ok")
    ran = cli.score("in.jsonl", "none.jsonl")
    # Told before anything is scored.
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "error: none.jsonl: no such file\n"


def test_directory(cli: Any) -> None:
    ran = cli.score(".")
    assert (ran.code, ran.err) == (
        3,
        "error: .: is a directory, expected a file of JSON lines\n",
    )


def test_long_line(cli: Any) -> None:
    text = "x" * (50 << 20) + "ok"
    cli.write("in.jsonl", GOOD + json.dumps({"output": text}).encode() + b"\n" + GOOD)
    ran = cli.score("in.jsonl")
    assert ran.code == 0
    assert [row["verdict"] for row in ran.rows] == ["pass", "pass", "pass"]


def test_line_over_the_limit(cli: Any) -> None:
    with open(cli.folder / "in.jsonl", "wb") as file:
        file.write(GOOD + b'{"output": "')
        for _ in range(66):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n' + GOOD)
    message = "in.jsonl:2: line is longer than the limit of 67108864 bytes"
    ran = cli.score("in.jsonl", "-o", "out.jsonl")
    assert (ran.code, ran.err) == (3, f"error: {message}\n")
    ran = cli.score("in.jsonl", "--on-error", "quarantine", "-o", "out.jsonl")
    assert ran.code == 0
    row = json.loads((cli.folder / "out.bad.jsonl").read_text())
    assert (row["line"], row["byte_offset"]) == (2, len(GOOD))
    assert len(row["raw_b64"]) < 100_000
    lines = (cli.folder / "out.jsonl").read_text().splitlines()
    ids = [json.loads(line)["id"] for line in lines]
    assert ids == ["a", "a"]


@pytest.mark.parametrize("seed", range(5))
def test_random_bytes(cli: Any, seed: int) -> None:
    cli.write("in.jsonl", b"x" + random.Random(seed).randbytes(200_000))
    before = cli.files
    ran = cli.score("in.jsonl", "-o", "out.jsonl")
    assert ran.code == 3
    assert ran.err.startswith("error: in.jsonl:1: ")
    assert cli.files == before
    ran = cli.score("in.jsonl", "--on-error", "skip", "--json")
    assert (ran.code, ran.out) == (0, "")
    assert json.loads(ran.err.splitlines()[-1])["rows"] == 0


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (gzip.compress(GOOD), "gzip"),
        (b"\x28\xb5\x2f\xfd\x00", "zstd"),
        (GOOD.decode().encode("utf-16"), "UTF-16"),
    ],
)
def test_compressed_or_wide(cli: Any, data: bytes, word: str) -> None:
    cli.write("in.jsonl", data)
    for ran in (cli.score("in.jsonl", "--on-error", "skip"), cli.score("-", stdin=data)):
        assert (ran.code, ran.out) == (3, "")
        assert word in ran.err
        assert "decompress it first" in ran.err or "convert it to UTF-8" in ran.err


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("folder", "folder: is a directory, expected a file to write"),
        ("none/out.jsonl", "none/out.jsonl: cannot be written: its folder does not exist"),
        ("gate.json/out.jsonl", "gate.json/out.jsonl: cannot be written: Not a directory"),
    ],
)
def test_unwritable_output(cli: Any, output: str, message: str) -> None:
    (cli.folder / "folder").mkdir()
    cli.rows("in.jsonl", "ok")
    before = cli.files
    ran = cli.score("in.jsonl", "-o", output)
    assert (ran.code, ran.err) == (3, f"error: {message}\n")
    assert cli.files == before
    assert list((cli.folder / "folder").iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk(cli: Any) -> None:
    cli.rows("in.jsonl", *["ok"] * 1000)
    ran = cli.score("in.jsonl", "-o", "/dev/full")
    message = "cannot be written: no space left on the device"
    assert (ran.code, ran.err) == (3, f"error: /dev/full: {message}\n")
    with open("/dev/full", "wb") as full:
        import subprocess

        done = subprocess.run(
            [*cli.argv, "score", "gate.json", "in.jsonl"],
            cwd=cli.folder,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.decode() == f"error: standard output: {message}\n"


PRINTING = [
    ["--version"],
    ["--help"],
    ["verdict", "--help"],
    ["score", "gate.json", "in.jsonl"],
    ["check", "gate.json"],
    ["schema"],
    ["scorers"],
    ["scorers", "--json"],
    ["extract", "value.json"],
    ["repair", "value.json"],
    ["verdict", "reply.txt"],
    ["judge-reply", "-"],
    ["winner", "--count", "2", "reply.txt"],
    ["cache", "cache.db"],
    ["cache", "cache.db", "--json"],
]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_an_output_that_takes_nothing(cli: Any, arguments: list[str]) -> None:
    import subprocess

    from scoregate.judge import JudgeCache

    cli.rows("in.jsonl", "ok")
    cli.write("value.json", "[1]")
    cli.write("reply.txt", "VERDICT: PASS")
    JudgeCache(cli.folder / "cache.db").close()

    def run(output: int) -> tuple[int, str]:
        done = subprocess.run(
            [*cli.argv, *arguments],
            cwd=cli.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            check=False,
        )
        os.close(output)
        return done.returncode, done.stderr.decode()

    message = "error: standard output: cannot be written: no space left on the device\n"
    assert run(os.open("/dev/full", os.O_WRONLY)) == (3, message)
    reader, writer = os.pipe()
    os.close(reader)
    assert run(writer) == (141, "")
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *cli.argv, *arguments],
        cwd=cli.folder,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if "--help" not in arguments:
        message = "error: standard output: is closed\n"
        assert (closed.returncode, closed.stderr.decode()) == (3, message)


@pytest.mark.parametrize("bad", ["true", "false", "[1]", "{}"])
def test_an_id_is_a_string_or_a_number(cli: Any, bad: str) -> None:
    cli.write("in.jsonl", f'{{"id": {bad}, "output": "ok", "reply": "VERDICT: PASS"}}\n')
    message = 'field "id": expected a string or a number as id'
    for ran in (cli.score("in.jsonl"), cli("verdict", "--jsonl", "in.jsonl")):
        assert ran.code == 3
        assert message in ran.err


def test_rows_of_replies_are_numbered_over_all_files(cli: Any) -> None:
    cli.write("a.jsonl", '{"reply": "VERDICT: PASS"}\n\n{"id": "x", "reply": "VERDICT: BLOCK"}\n')
    cli.write("b.jsonl", '{"id": null, "reply": "VERDICT: PASS"}\n{"reply": "VERDICT: PASS"}\n')
    rows = cli("verdict", "--jsonl", "a.jsonl", "b.jsonl").rows
    assert [row["id"] for row in rows] == [0, "x", 2, 3]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX only")
def test_full_disk_under_a_file(cli: Any) -> None:
    """A file-size limit is met like a full disk, while the temporary file grows."""
    import subprocess

    cli.rows("in.jsonl", *["ok"] * 10_000)
    before = cli.files
    code = (
        "import resource, runpy, signal, sys;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000));"
        "sys.argv[0] = 'scoregate'; runpy.run_module('scoregate', run_name='__main__')"
    )
    done = subprocess.run(
        [cli.argv[0], "-c", code, "score", "gate.json", "in.jsonl", "-o", "out.jsonl"],
        cwd=cli.folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert b"error: out.jsonl: cannot be written: File too large" in done.stderr
    assert cli.files == before


def test_same_file_as_input_and_output(cli: Any) -> None:
    cli.rows("in.jsonl", "ok")
    os.symlink("in.jsonl", cli.folder / "link.jsonl")
    data = (cli.folder / "in.jsonl").read_bytes()
    for name in ("in.jsonl", "./in.jsonl", "link.jsonl"):
        ran = cli.score("in.jsonl", "-o", name)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == f"error: {name}: is also an input (in.jsonl); write to another file\n"
    ran = cli.score("in.jsonl", "-o", "x", "--on-error", "quarantine", "--quarantine", "in.jsonl")
    assert ran.code == 2
    ran = cli.score("in.jsonl", "-o", "gate.json")
    assert (ran.code, ran.err) == (2, "error: gate.json: is the gate; write to another file\n")
    assert (cli.folder / "in.jsonl").read_bytes() == data


def test_standard_output_into_the_input(cli: Any) -> None:
    import subprocess

    cli.rows("in.jsonl", "ok")
    with open(cli.folder / "in.jsonl", "ab") as file:
        done = subprocess.run(
            [*cli.argv, "score", "gate.json", "in.jsonl"],
            cwd=cli.folder,
            stdout=file,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert b"standard output: is also an input (in.jsonl)" in done.stderr
    assert (cli.folder / "in.jsonl").read_bytes().count(b"\n") == 1


GATES = {
    "not JSON": ("{oops", "not JSON: expected a key in double quotes at byte 1"),
    "empty": ("", "not JSON: "),
    "not an object": ("[]", "score: must be an object ({scorers: [...], combine?, threshold?"),
    "5,000 deep": ("[" * 5000 + "]" * 5000, "not JSON: nested deeper than 512 levels"),
    "5,000 deep in a block": (
        '{"scorers": [{"type": "json-schema", "schema": ' + '{"items": ' * 5000 + "{}" + "}" * 5002,
        "not JSON: nested deeper than 512 levels",
    ),
    "fenced JSON": ('```json\n{"scorers": []}\n```', "not JSON: expected a value at byte 0"),
    "UTF-16": (b"\xff\xfe{\x00", "is UTF-16 text; save it as UTF-8"),
    "not UTF-8": (b'{"a": "\xff"}', "not UTF-8 text (byte 7)"),
    "unknown key": (
        '{"scorers": [{"type": "contains", "value": "a"}], "mode": "all"}',
        "score.mode: unknown score keyword (supported: target, scorers, combine, weights, "
        "threshold, judge)",
    ),
    "unknown key of a scorer": (
        '{"scorers": [{"type": "contains", "value": "a", "negate": true}]}',
        "score.scorers[0].negate: not applicable to 'contains' scorers (allowed: type, name, value)",
    ),
}

#: Flows: what check says, and what score says.
FLOWS: dict[str, tuple[str, str, str]] = {
    "flow without gates": (
        '{"name": "f", "phases": [{"id": "a"}]}',
        "Phase 'a': task: required for agent phases",
        "holds no gate phase with a score block",
    ),
    "phases no list": (
        '{"name": "f", "phases": 3}',
        "phases: must be a non-empty array of phases",
        "phases: must be an array of phases",
    ),
}


@pytest.mark.parametrize("name", [*GATES, *FLOWS])
def test_bad_gate(cli: Any, name: str) -> None:
    data, *messages = GATES.get(name) or FLOWS[name]
    cli.write("bad.json", data)
    cli.rows("in.jsonl", "ok")
    before = cli.files
    for args, message in (
        (("check", "bad.json"), messages[0]),
        (("score", "bad.json", "in.jsonl", "-o", "out.jsonl"), messages[-1]),
    ):
        ran = cli(*args)
        assert (ran.code, ran.out) == (2, "")
        # Where the place in the file is known, it stands behind the name.
        assert re.match(rf"error: bad\.json(:\d+:\d+)?: {re.escape(message)}", ran.err)
    assert cli.files == before


def test_no_gate(cli: Any) -> None:
    for command in ("check", "score"):
        ran = cli(command, "none.json")
        assert (ran.code, ran.err) == (2, "error: none.json: no such file\n")
        ran = cli(command, ".")
        assert (ran.code, ran.err) == (2, "error: .: is a directory\n")
