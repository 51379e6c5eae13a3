"""Code and compilers that mean no good: each is a failed scorer, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import scoregate
from scoregate import compile_check
from scoregate.compile_check import Command, Language
from scoregate.compile_check import _checker as checker
from scoregate.compile_check import _process as process
from scoregate.compile_check import _registry as registry
from scoregate.compile_check import _tools as tools

from .conftest import need

if TYPE_CHECKING:
    from collections.abc import Iterator

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
pytestmark = [LINUX, pytest.mark.timeout(180)]


def processes_of(folder: Path) -> list[int]:
    """The processes whose environment names a folder."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                if os.fsencode(folder) in Path(f"/proc/{name}/environ").read_bytes():
                    found.append(int(name))
    return found


def left_behind(folder: Path) -> list[Any]:
    """What a check has left: processes that ran in a folder, and what is in it."""
    return [*processes_of(folder), *sorted(p.name for p in folder.iterdir())]


def nothing_is_left(folder: Path) -> bool:
    """Whether nothing is left, at the latest in some seconds."""
    deadline = time.monotonic() + 20
    while left_behind(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not left_behind(folder)


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the checks, which is empty afterwards."""
    folder = tmp_path / "checks"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    compile_check.close()
    yield folder
    compile_check.close()
    assert left_behind(folder) == []


def detail_of(name: str, code: str, timeout: float = 60.0, *, isolate: bool = True) -> str:
    """Why code is refused; where it is accepted, nothing."""
    language = registry.find(name)
    assert language is not None
    found = checker.check_once(language, code.encode(), timeout, isolate=isolate)
    assert found.accepted is (found.detail is None)
    return found.detail or ""


def has(name: str) -> None:
    language = registry.find(name)
    assert language is not None
    try:
        language.commands(b"")
    except tools.UnavailableError as error:
        pytest.skip(str(error))


ENDLESS = {
    "typescript: type recursion": (
        "typescript",
        "type R<T extends number[]> = T['length'] extends 1e6 ? T : R<[...T, 1]>;\n"
        "export type X = R<[]>;\nexport const x: X = 1;",
        "error TS2589",
    ),
    "cpp: template recursion": (
        "cpp",
        "template<int N> struct A { static const int v = A<N + 1>::v; };\nint x = A<0>::v;",
        "template instantiation depth exceeds maximum",
    ),
    "cpp: const-eval loop": (
        "cpp",
        "constexpr int f() { for (;;) {} return 1; }\nconstexpr int x = f();",
        "error:",
    ),
    "rust: const-eval loop": (
        "rust",
        "pub const X: u32 = { loop {} };",
        "compiler timed out after 1500ms",
    ),
    "c: include of a device": ("c", '#include "/dev/zero"\n', "ermission denied"),
    "c: include of a file": ("c", '#include "/etc/passwd"\n', "ermission denied"),
    "c: include of itself": ("c", '#include "snippet.c"\n', "In file included from snippet.c:1"),
    "cpp: has_include": (
        "cpp",
        '#if __has_include("/etc/passwd")\n#error it is there\n#endif\nint x = ;',
        "ermission denied",
    ),
    "rust: include_str of a device": (
        "rust",
        'pub const X: &str = include_str!("/dev/zero");',
        "couldn't read `/dev/zero`: Permission denied",
    ),
    "rust: include_str of a file": (
        "rust",
        'pub const X: &str = include_str!("/etc/passwd");',
        "couldn't read `/etc/passwd`: Permission denied",
    ),
    "rust: an environment variable": (
        "rust",
        'pub const X: &str = env!("SCOREGATE_SECRET");',
        "not defined at compile time",
    ),
    "typescript: import of a file": (
        "typescript",
        "import x from '/etc/passwd';",
        "Cannot find module '/etc/passwd'",
    ),
    "typescript: reference of a file": (
        "typescript",
        '/// <reference path="/etc/passwd" />\nexport {};',
        "error TS6231",
    ),
    "typescript: reference of types": (
        "typescript",
        '/// <reference types="node" />\nexport {};',
        "error TS2688",
    ),
    "yaml: aliases of aliases": (
        "yaml",
        "a: &a [x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(50)) + "c: [",
        "ParserError",
    ),
    "xml: entities of files": (
        "xml",
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        "entities are not read",
    ),
    "python: nesting": ("python", "-" * 200_000 + "1", ""),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_code_that_means_no_good(name: str, temp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    language, code, wanted = ENDLESS[name]
    has(language)
    monkeypatch.setenv("SCOREGATE_SECRET", "hush")
    timeout = 1.5 if "timed out" in wanted else 60.0
    guards = compile_check.doctor().isolation
    if "ermission denied" in wanted and not guards["files"]:
        pytest.skip("this system keeps no files from a process")
    found = detail_of(language, code, timeout)
    assert found, "it is accepted"
    assert wanted in found
    assert "root:" not in found
    assert "hush" not in found


FAKES = {
    "ignores SIGTERM": (
        "import signal, time\n"
        "for n in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(n, signal.SIG_IGN)\n"
        "time.sleep(60)",
        "compiler timed out after 1000ms",
    ),
    "leaves its group": (
        "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(60)\ntime.sleep(60)",
        "compiler timed out after 1000ms",
    ),
    "ends before its children": (
        "import os, sys, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\nprint('no', file=sys.stderr)\nsys.exit(1)",
        "no",
    ),
    "forks without end": (
        "import os, time\nend = time.monotonic() + 5\nwhile time.monotonic() < end:\n"
        "    try: os.fork()\n    except OSError: pass\n    time.sleep(0.002)",
        "compiler started more than 64 processes",
    ),
    "writes 10 GB": (
        "import os, sys\nos.write(2, b'first\\n')\nfor _ in range(10 << 10): os.write(2, b'x' * (1 << 20))\nsys.exit(1)",
        "first\nxxxx",
    ),
    "writes a big file": (
        "open('big', 'wb').truncate(65 << 20)",
        "Traceback (most recent call last):",
    ),
    "takes much memory": (
        "import time\nx = b'x' * (400 << 20)\ntime.sleep(60)",
        "compiler took more than",
    ),
    "locks its folder": (
        "import os, sys\nos.makedirs('a/b/c')\nopen('a/b/c/f', 'w')\n"
        "for p in ('a/b/c', 'a/b', 'a', '.'): os.chmod(p, 0)\nprint('no', file=sys.stderr)\nsys.exit(1)",
        "no",
    ),
    "crashes": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
        "compiler crashed (SIGSEGV)",
    ),
    "aborts": ("import os\nos.abort()", "compiler crashed (SIGABRT)"),
    "says nothing": ("raise SystemExit(3)", "compiler ended with exit code 3"),
    "says no text": (
        "import os\nos.write(2, b'\\xff\\x1b[31mred\\x1b[0m')\nraise SystemExit(1)",
        "\ufffdred",
    ),
    "reads its input": ("import sys\nraise SystemExit(repr(sys.stdin.read()))", "''"),
    "shows its folder": (
        "import os, sys\nst = os.stat('.')\nprint(oct(st.st_mode & 0o777), sorted(os.listdir('.')), os.getcwd() + '/x', file=sys.stderr)\nsys.exit(1)",
        "0o700 ['snippet.x'] x",
    ),
    "shows its variables": (
        "import os, sys\nprint(sorted(os.environ), file=sys.stderr)\nsys.exit(1)",
        "['HOME', 'LANG', 'LC_ALL', 'PATH', 'TMPDIR']",
    ),
    "removes its folder": (
        "import os, shutil, sys\nshutil.rmtree(os.getcwd(), ignore_errors=True)\nprint('no', file=sys.stderr)\nsys.exit(1)",
        "no",
    ),
}


def fake(tmp_path: Path, code: str) -> str:
    """A language whose compiler is a Python script."""
    script = tmp_path / "compiler.py"
    script.write_text(code, encoding="utf-8")
    reads = (str(script), sys.prefix, sys.base_prefix)

    def commands(_: bytes) -> list[Command]:
        return [Command((sys.executable, "-I", "-S", str(script)), "snippet.x", reads)]

    compile_check.register(Language("x-fake", commands))
    return "x-fake"


@pytest.mark.parametrize("isolate", [True, False], ids=["isolated", "bare"])
@pytest.mark.parametrize("name", FAKES)
def test_compilers_that_mean_no_good(
    name: str, isolate: bool, temp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, wanted = FAKES[name]
    monkeypatch.setenv("SCOREGATE_SECRET", "hush")
    monkeypatch.setattr(process, "MEMORY_BYTES", 200 << 20)
    found = detail_of(
        fake(tmp_path, code), "x", 1.0 if "timed out" in wanted else 60.0, isolate=isolate
    )
    assert found.startswith(wanted), found
    assert len(found) < 2000


def test_the_network_is_out_of_reach(temp: Path, tmp_path: Path) -> None:
    if not compile_check.doctor().isolation["network"]:
        pytest.skip("this system gives no namespaces")
    code = "import socket\nsocket.create_connection(('127.0.0.1', PORT), 2)"
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = detail_of(fake(tmp_path, code.replace("PORT", str(port))), "x")
    assert "Traceback" in found


def test_links_are_removed_and_not_followed(temp: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x", encoding="ascii")
    (temp / "link").symlink_to(kept)
    code = f"import os, sys\nos.symlink({str(kept)!r}, 'link')\nos.symlink({str(kept / 'file')!r}, 'file')\nsys.exit(1)"
    for isolate in (True, False):
        assert detail_of(fake(tmp_path, code), "x", isolate=isolate)
    assert (kept / "file").read_text(encoding="ascii") == "x"
    (temp / "link").unlink()


def test_what_stands_in_the_folder_of_the_caller_does_not_count(
    temp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("node")
    need("tsc")
    marker = tmp_path / "marker"
    evil = f"require('fs').writeFileSync({str(marker)!r}, '')"
    project = tmp_path / "project"
    for place in (project, temp):
        modules = place / "node_modules"
        (modules / ".bin").mkdir(parents=True)
        (modules / "evil").mkdir()
        (modules / "evil" / "index.d.ts").write_text("export const x: number;", encoding="ascii")
        (modules / "evil" / "package.json").write_text('{"types": "index.d.ts"}', encoding="ascii")
        for name in ("tsc", "node"):
            tool = modules / ".bin" / name
            tool.write_text(f"#!/bin/sh\ntouch {marker}\n", encoding="ascii")
            tool.chmod(0o755)
        (place / "tsconfig.json").write_text(
            '{"compilerOptions": {"strict": false}', encoding="ascii"
        )
        (place / ".npmrc").write_text("node-options=--require ./evil.js\n", encoding="ascii")
        (place / "package.json").write_text('{"type": "commonjs"}', encoding="ascii")
        (place / "evil.js").write_text(evil, encoding="ascii")
    monkeypatch.chdir(project)
    monkeypatch.setenv("NODE_OPTIONS", f"--require {project}/evil.js")
    monkeypatch.setenv("NODE_PATH", str(project / "node_modules"))
    monkeypatch.setenv("PATH", os.pathsep.join(["node_modules/.bin", ".", "", os.environ["PATH"]]))
    for check in (checker.check_once, checker.check_pooled):
        typescript, javascript = registry.find("typescript"), registry.find("javascript")
        assert typescript is not None
        assert javascript is not None
        found = check(typescript, b"import { x } from 'evil';", 60.0)
        assert "Cannot find module 'evil'" in str(found.detail)
        assert check(typescript, b"export const x: number = 1;", 60.0).accepted
        assert check(javascript, b"import 'evil'; await 1;", 60.0).accepted
    assert not marker.exists()
    for name in ("node_modules", "tsconfig.json", ".npmrc", "package.json", "evil.js"):
        path = temp / name
        subprocess.run(["rm", "-r", str(path)], check=True)


def test_no_folder_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_check.close()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    gate = scoregate.Gate({"scorers": [{"type": "code-compiles", "language": "shell"}]})
    assert gate.score("echo no folder").results[0].detail == (
        "compiler unavailable: No such file or directory"
    )
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    assert gate.score("echo no folder").results[0].detail == "compiler unavailable: Not a directory"


def test_no_compiler_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_check.close()
    monkeypatch.setenv("PATH", "relative:.")
    for language, wanted in {
        "javascript": "node is not installed",
        "typescript": "tsc is not installed",
        "rust": "rustc is not installed",
        "c": "gcc and clang and cc are not installed",
        "shell": "bash is not installed",
    }.items():
        spec = {"scorers": [{"type": "code-compiles", "language": language}]}
        batch = scoregate.Gate(spec).score_batch(["a", "b"])
        assert {r.results[0].detail for r in batch} == {f"compiler unavailable: {wanted}"}


def test_a_compiler_that_cannot_be_run(temp: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(stat.S_IRWXU)

    compile_check.register(
        Language("x-fake", lambda _: [Command((str(broken),), "a", (str(broken),))])
    )
    assert detail_of("x-fake", "x") == "compiler unavailable: Exec format error"


DISK = """
import resource, sys, tempfile
tempfile.tempdir = sys.argv[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
import scoregate
gate = scoregate.Gate({"scorers": [{"type": "code-compiles", "language": "shell"}]})
print(gate.score("echo " + "x" * 100).results[0].detail)
"""


def test_a_full_disk(temp: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", DISK, str(temp)], capture_output=True, text=True, check=False
    )
    assert ran.stdout == "compiler unavailable: File too large\n", ran.stderr
    assert nothing_is_left(temp)


def keepers() -> list[int]:
    """The processes that keep runs, of any caller that has this package."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                command = Path(f"/proc/{name}/cmdline").read_bytes()
                status = Path(f"/proc/{name}/stat").read_text(encoding="ascii").split()
                if os.fsencode(process.HOSTS) in command and status[2] != "Z":
                    found.append(int(name))
    return found


LONG_RUN = """
import os, sys, tempfile, threading, time
tempfile.tempdir = sys.argv[1]
from pathlib import Path
from scoregate import Gate, compile_check
from scoregate.compile_check import Command, Language
script = sys.argv[2]
reads = (script, sys.prefix, sys.base_prefix)
def commands(code):
    return [Command((sys.executable, "-I", "-S", script), "snippet.x", reads)]
compile_check.register(Language("x-slow", commands))
Gate({"scorers": [{"type": "code-compiles", "language": "json"}]}).score("[1]")
def tell():
    while sum(1 for _ in Path(sys.argv[1]).iterdir()) < 3:
        time.sleep(0.01)
    time.sleep(0.2)
    print("go", flush=True)
threading.Thread(target=tell, daemon=True).start()
gate = Gate({"scorers": [{"type": "code-compiles", "language": "x-slow"}]})
try:
    gate.score_batch([str(n) for n in range(8)], threads=2)
except KeyboardInterrupt:
    sys.exit(130)
"""
SLOW = """
import os, time
if os.fork() == 0:
    os.setsid()
time.sleep(60)
"""


@pytest.mark.parametrize(
    "ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=["kill -9", "Ctrl-C", "SIGTERM"]
)
def test_the_end_of_the_caller_ends_all(ending: signal.Signals, temp: Path, tmp_path: Path) -> None:
    script = tmp_path / "slow.py"
    script.write_text(SLOW, encoding="ascii")
    command = [sys.executable, "-c", LONG_RUN, str(temp), str(script)]
    before = set(keepers())
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ran:
        assert ran.stdout is not None
        assert ran.stdout.readline() == "go\n"
        assert len(processes_of(temp)) >= 5  # a worker, and two compilers with a child each
        os.kill(ran.pid, ending)
        code = ran.wait(60)
    if ending == signal.SIGINT:
        assert code == 130
        # Nothing is left by the time that the caller ends, but for a worker that is ending.
        assert not [p for p in temp.iterdir() if any(p.glob("snippet.x"))]
    assert nothing_is_left(temp)
    deadline = time.monotonic() + 20
    while set(keepers()) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert set(keepers()) - before == set()


def test_the_end_of_the_keeper_ends_all(temp: Path, tmp_path: Path) -> None:
    import threading

    name = fake(tmp_path, SLOW)
    details: list[str] = []
    thread = threading.Thread(target=lambda: details.append(detail_of(name, "x")))
    thread.start()
    while not processes_of(temp):
        time.sleep(0.01)
    mine = [pid for pid in keepers() if _ancestor(processes_of(temp)[0], pid)]
    for pid in mine:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    thread.join(60)
    assert details == ["compiler unavailable: the keeper of the process was killed"]
    assert nothing_is_left(temp)


def _ancestor(pid: int, above: int) -> bool:
    while pid > 1:
        with suppress(OSError):
            stat_of = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
            pid = int(stat_of.rpartition(")")[2].split()[1])
            if pid == above:
                return True
            continue
        return False
    return False


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_its_own(temp: Path) -> None:
    gate = scoregate.Gate({"scorers": [{"type": "code-compiles", "language": "json"}]})
    assert gate.score("[10]").passed
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if gate.score("[11]").passed and not gate.score("[12").passed else 1
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gate.score("[13]").passed
    assert not gate.score("[14").passed
    compile_check.close()
    assert nothing_is_left(temp)
