"""What compilers say: the table, one way and the other, and through a gate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
import scoregate
from scoregate import _native, compile_check
from scoregate.compile_check import Checker, Command, Language
from scoregate.compile_check import _checker as checker
from scoregate.compile_check import _process as process
from scoregate.compile_check import _registry as registry
from scoregate.compile_check import _tools as tools

from .compile_cases import ROWS, code_of
from .conftest import DATA, need, read_rows

if TYPE_CHECKING:
    from pathlib import Path

LONG = 120.0
BY_LANGUAGE: dict[str, list[dict[str, Any]]] = defaultdict(list)
for _row in ROWS:
    BY_LANGUAGE[_row["language"]].append(_row)
TYPED = ("typescript", "tsx", "jsx")


def language_of(name: str) -> Language:
    """A language whose compiler is there; skips where it is not."""
    language = registry.find(name)
    assert language is not None
    if name == "javascript" or name in TYPED:
        need("node")
    if name in TYPED:
        need("tsc")
    try:
        language.commands(b"")
    except tools.UnavailableError as error:
        pytest.skip(str(error))
    return language


def test_the_table_is_of_some_size() -> None:
    assert len(ROWS) >= 120
    assert set(BY_LANGUAGE) <= set(compile_check.languages())


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", BY_LANGUAGE)
def test_workers_answer_as_the_table_says(name: str) -> None:
    language = language_of(name)
    for row in BY_LANGUAGE[name]:
        found = checker.check_pooled(language, code_of(row).encode(), LONG)
        assert found.accepted is row["accepted"], (row["name"], found.detail)
        assert (found.detail is None) is found.accepted
        assert found.lasting, (row["name"], found.detail)
        if "detail" in row:
            assert found.detail == row["detail"]
        if found.detail is not None:
            assert len(found.detail.split("\n")) <= 5
            assert "/tmp" not in found.detail
            assert "scoregate-" not in found.detail


def one_shot_equals_pooled(rows: list[dict[str, Any]]) -> None:
    def both(row: dict[str, Any]) -> tuple[str, Any, Any]:
        language = language_of(row["language"])
        code = code_of(row).encode()
        alone = checker.check_once(language, code, LONG)
        return row["name"], alone, checker.check_pooled(language, code, LONG)

    with ThreadPoolExecutor(2) as pool:
        for name, alone, pooled in pool.map(both, rows):
            assert alone == pooled, name


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", BY_LANGUAGE)
def test_one_shot_and_worker_agree(name: str) -> None:
    language_of(name)
    rows = BY_LANGUAGE[name]
    # Each costs a start of the TypeScript compiler: the rest is run by `make test-slow`.
    one_shot_equals_pooled(rows[::8] if name in TYPED else rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", TYPED)
def test_one_shot_and_worker_agree_on_all_of_typescript(name: str) -> None:
    language_of(name)
    one_shot_equals_pooled(BY_LANGUAGE[name])


@pytest.mark.slow
def test_the_real_tsc_says_the_same(tmp_path: Path) -> None:
    language = language_of("typescript")
    flags = "--noEmit --skipLibCheck --target es2022 --module esnext --moduleResolution bundler"
    for row in BY_LANGUAGE["typescript"]:
        (tmp_path / "snippet.ts").write_bytes(code_of(row).encode())
        ran = subprocess.run(
            [need("tsc"), *flags.split(), "snippet.ts"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        found = checker.check_pooled(language, code_of(row).encode(), LONG)
        assert found.accepted is (ran.returncode == 0), (row["name"], ran.stdout)
        if found.detail is not None:
            assert found.detail == "\n".join(ran.stdout.rstrip().split("\n")[:5]), row["name"]


@pytest.mark.parametrize(
    "row", read_rows(DATA / "compile" / "fences.jsonl"), ids=lambda r: r["name"]
)
def test_what_is_compiled(row: dict[str, Any]) -> None:
    pieces, detail = _native.what_to_compile(row["spec"], row["text"])
    if isinstance(row["gives"], str):
        assert (pieces, detail) == ([], row["gives"])
    else:
        assert ([list(piece) for piece in pieces], detail) == (row["gives"], None)


SPEC: dict[str, Any] = {
    "scorers": [
        {"type": "contains", "value": "x"},
        {"type": "code-compiles", "language": "javascript"},
        {"type": "code-compiles", "language": "auto", "fence": "all", "name": "all"},
    ],
    "combine": "any",
}
TEXTS = [
    "let x = 1;",
    "```js\nlet x = ;\n```",
    "```js\na\n```\n```py\nb = 1\n```",
    "```js\na\n```\n```py\nb = = 1\n```",
    "```js\na\n```\n```brainfuck\n+\n```",
    None,
    "",
    "let \ud800",
] * 3


def test_batch_equals_one_by_one(tmp_path: Path) -> None:
    need("node")
    gate = scoregate.Gate(SPEC)
    alone = [gate.score(text) for text in TEXTS]
    assert [r.passed for r in alone[0].results] == [True, True, False]
    assert [r.detail for r in alone[2].results[1:]] == [
        "target has 2 fenced code blocks, expected one",
        None,
    ]
    assert str(alone[3].results[2].detail).startswith('block 2 of 2:   File "snippet.py", line 1')
    assert alone[4].results[2].detail == (
        "block 2 of 2: compiler unavailable: no language 'x-brainfuck' is registered"
    )
    batch = gate.score_batch(TEXTS)
    assert list(batch) == alone
    assert list(gate.score_iter(iter(TEXTS), threads=2)) == alone
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    lines = [json.dumps({"id": i, "output": text}) for i, text in enumerate(TEXTS)]
    lines[5:5] = ["", "not json"]
    source.write_text("\n".join(lines), encoding="ascii")
    found = scoregate.score_file(gate, source, target, on_error="skip", details="all", limit=20)
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    wanted = [json.loads(json.dumps(r.to_dict())) for r in alone]
    assert found.rows == 19
    for row in rows:
        assert [r.get("detail") for r in row["results"]] == [
            None if r.detail is None else r.detail.replace("\ud800", "\ufffd")
            for r in alone[row["id"]].results
        ], wanted[row["id"]]


def test_lines_and_their_texts_agree_in_any_pieces() -> None:
    gate = _native.Gate({"scorers": [{"type": "code-compiles", "language": "json"}]})
    rows = ['{"output": "a"}', "", "bad", '{"output": null}', '{"output": 1}', '{"output": "b"}']
    data = ("\ufeff" + "\r\n".join(rows)).encode()
    for size in (1, 3, 7, 16, len(data)):
        lines = _native.LineScorer(gate, details="all", max_line=40)
        seen: list[str | None] = []
        blocks = [data[i : i + size] for i in range(0, len(data), size)]
        output = b""
        for number, block in enumerate(blocks, 1):
            last = number == len(blocks)
            texts = lines.texts(block, last=last)
            seen += texts
            column = [
                scoregate.ScorerResult(
                    "x", "code-compiles", text == "a", detail=None if text == "a" else str(text)
                )
                for text in texts
            ]
            got, count, bad = lines.feed(block, last=last, impure={0: column})
            assert count + len(bad) == len(texts)
            output += got
        assert seen == ["a", None, None, None, "b"]
        results = [json.loads(line)["results"] for line in output.splitlines()]
        assert [[r.get("detail") for r in row] for row in results] == [[None], [], ["b"]]


def test_the_core_refuses_what_is_no_text() -> None:
    gate = scoregate.Gate({"scorers": [{"type": "code-compiles", "language": "json"}]})
    with pytest.raises(TypeError, match=r"texts\[1\]: expected str or None, got int"):
        gate.score_batch(["1", 2])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="expected a list of str, got one text"):
        gate.score_batch("1")
    with pytest.raises(ValueError, match="threads: must be at least 1"):
        gate.score_batch(["1"], threads=0)
    with pytest.raises(TypeError, match="expected str"):
        gate.score(1)  # type: ignore[arg-type]
    assert gate.score_batch(iter(["[1]", "[1"])).summary()["pass"] == 1


def test_tables_are_compiled() -> None:
    polars = pytest.importorskip("polars")
    gate = scoregate.Gate({"scorers": [{"type": "code-compiles", "language": "json"}]})
    table = polars.DataFrame({"output": ["[1]", "[1", None, "{}"], "id": ["a", "b", "c", "d"]})
    found = gate.score_table(table, id="id")
    assert [r.verdict for r in found] == ["pass", "block", "block", "pass"]
    assert list(found) == list(gate.score_batch(table["output"]))
    assert [r.verdict for r in gate.score_iter(table["output"])] == [r.verdict for r in found]


def test_a_judge_decides_on_compiled_rows() -> None:
    block = {
        "scorers": [{"type": "code-compiles", "language": "json"}],
        "judge": {"task": "Is it fine?"},
    }
    asked: list[str] = []

    def judge(prompt: str) -> str:
        asked.append(prompt)
        return "VERDICT: PASS"

    batch = scoregate.Gate(block).decide_batch(["[1]", "[1"], judge=judge)
    assert [r.decided_by for r in batch] == ["scorers", "judge"]
    assert len(asked) == 1
    assert "JSONDecodeError" in asked[0]


def test_equal_code_is_compiled_once() -> None:
    calls: list[bytes] = []

    def commands(code: bytes) -> list[Command]:
        calls.append(code)
        return [Command((tools.tool("true"),), None)]

    compile_check.register(Language("x-once", commands))
    gate = scoregate.Gate({"scorers": [{"type": "code-compiles", "language": "x-once"}]})
    assert gate.score_batch(["a", "b", "```\na```", "a"] * 5).summary()["pass"] == 20
    assert sorted(calls) == [b"a", b"a```", b"b"]


def test_a_cache_keeps_what_compilers_say(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = tmp_path / "compiler.sh"
    script.write_text(f"echo x >> {log}\necho no >&2\nexit 1\n", encoding="ascii")

    def commands(_: bytes) -> list[Command]:
        return [Command((tools.tool("bash"), str(script)), "a", (str(script), str(log)))]

    compile_check.register(Language("x-kept", commands))
    spec = {"scorers": [{"type": "code-compiles", "language": "x-kept"}]}
    gate = scoregate.Gate(spec, compile_cache=tmp_path / "c.db")
    first = gate.score("a")
    assert first.results[0].detail is not None
    compile_check.close()
    script.touch()  # as it was, but for its time
    for _ in range(2):
        with Checker(cache=compile_check.CompileCache(tmp_path / "c.db")) as one:
            one.result("x-kept", "b")
    assert gate.score("a") == first
    with pytest.raises(scoregate.CacheError):
        scoregate.Gate(spec, compile_cache=tmp_path).score("a")


def test_options() -> None:
    spec = {"scorers": [{"type": "code-compiles", "language": "json"}]}
    with pytest.raises(ValueError, match="must be more than 0"):
        scoregate.Gate(spec, compile_timeout=0)
    with pytest.raises(TypeError, match="expected a number of seconds, got str"):
        scoregate.Gate(spec, compile_timeout="1")  # type: ignore[arg-type]
    import pickle

    gate = scoregate.Gate(spec, compile_timeout=5)
    again = pickle.loads(pickle.dumps(gate))
    assert again == gate
    assert again != scoregate.Gate(spec)
    with pytest.raises(ValueError, match="must be x-NAME"):
        compile_check.register(Language("lua", lambda _: []))


def test_one_scorer_alone() -> None:
    spec = {"type": "code-compiles", "language": "json"}
    assert scoregate.evaluate_scorer(spec, "[1]").passed
    found = scoregate.evaluate_scorer(spec, "[1", index=3)
    assert (found.name, found.passed) == ("code-compiles-3", False)
    found = scoregate.evaluate_scorer({"type": "code-compiles", "language": 3}, "x")
    assert found.detail == "compiler unavailable: no language '' is registered"


def test_a_worker_is_replaced_after_some_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "WORKER_CHECKS", 2)
    compile_check.close()
    made: list[Command] = []

    class Counted(process.Worker):
        def __init__(self, command: Command) -> None:
            made.append(command)
            super().__init__(command)

    monkeypatch.setattr(checker, "Worker", Counted)
    language = registry.find("json")
    assert language is not None
    for _ in range(5):
        assert checker.check_pooled(language, b"[1]", LONG).accepted
    assert len(made) == 3


def test_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    report = compile_check.doctor()
    assert report.problem is None
    by_name = {found.language: found for found in report.compilers}
    assert by_name["python"].version == f"Python {sys.version.split()[0]}"
    assert by_name["json"].worker
    assert set(report.isolation) == {"network", "processes", "files", "connections"}
    monkeypatch.setenv("PATH", "")
    by_name = {found.language: found for found in compile_check.doctor().compilers}
    assert by_name["javascript"].missing == "node is not installed"
    assert by_name["typescript"].missing == "tsc is not installed"
    assert json.dumps(report.to_dict())


def test_doctor_on_the_command_line() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "scoregate", "doctor", "--json"], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert {"compilers", "isolation", "problem"} == set(json.loads(ran.stdout))
    env = {**os.environ, "PATH": ""}
    ran = subprocess.run(
        [sys.executable, "-m", "scoregate", "doctor"], capture_output=True, text=True, env=env
    )
    assert "not found: node is not installed" in ran.stdout


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(
        '{"scorers": [{"type": "code-compiles", "language": "json"}]}', encoding="ascii"
    )
    (tmp_path / "in.jsonl").write_text('{"output": "[1]"}\n{"output": "[1"}\n', encoding="ascii")
    command = [sys.executable, "-m", "scoregate", "score", "g.json", "in.jsonl"]
    for _ in range(2):
        ran = subprocess.run(
            [*command, "--compile-timeout", "50", "--compile-cache", "c.db"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert ran.returncode == 0, ran.stderr
        verdicts = [json.loads(line)["verdict"] for line in ran.stdout.splitlines()]
        assert verdicts == ["pass", "block"]
    command += ["--compile-timeout", "0"]
    assert subprocess.run(command, capture_output=True, cwd=tmp_path).returncode == 2
