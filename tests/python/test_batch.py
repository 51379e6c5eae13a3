"""Scoring many texts: columns, threads, forks, Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoregate import BatchResult, Gate, ScorerResult
from scoregate._native import Gate as NativeGate

GATE = Gate(
    {
        "scorers": [
            {"type": "contains", "value": "ok", "name": "says-ok"},
            {"type": "json-schema", "schema": {"required": ["a"]}, "name": "has-a"},
            {"type": "length-range", "max": 20},
        ],
        "combine": "weighted",
        "weights": [1, 1, 2],
    }
)
TEXTS: list[str | None] = ["ok", '{"a": 1}', None, "x" * 30, "ok é 😀", "\ud83d", '{"a": "ok"}']


def test_columns_and_rows_agree() -> None:
    batch = GATE.score_batch(TEXTS)
    assert len(batch) == 7
    singles = [GATE.score(text) for text in TEXTS]
    assert [batch[i] for i in range(7)] == singles == list(batch)
    assert batch[-1] == singles[-1]
    columns = batch.columns
    scorers = ("says-ok", "has-a", "length-range-2")
    assert list(columns) == [
        *("verdict", "verdict_code", "passed", "combined", "reason"),
        *(f"{name}.{part}" for name in scorers for part in ("passed", "score", "detail")),
    ]
    assert list(columns) == GATE.output_schema().names
    assert columns["verdict"] == [r.verdict for r in singles]
    assert columns["verdict_code"].tolist() == [int(r.passed) for r in singles]
    assert columns["reason"] == [r.reason for r in singles]
    assert columns["has-a.detail"][0] == singles[0].results[1].detail
    assert batch["combined"].tolist() == columns["combined"].tolist()
    assert batch.to_dicts() == [
        {name: column[i] for name, column in columns.items()} for i in range(7)
    ]
    with pytest.raises(KeyError, match='no column \\"x\\"; there are verdict, verdict_code'):
        batch["x"]
    assert columns["passed"] == [r.passed for r in singles]
    assert columns["combined"].tolist() == [r.combined for r in singles]
    assert columns["says-ok.passed"].tolist() == [True, False, False, False, True, False, True]
    assert columns["has-a.score"].tolist() == [0, 1, 0, 0, 0, 0, 1]
    with pytest.raises(IndexError, match="row 7 of a batch of 7 rows"):
        batch[7]
    with pytest.raises(IndexError):
        batch[-8]


def test_summary_names_all_counts() -> None:
    summary = GATE.score_batch(TEXTS).summary()
    assert summary == {
        "rows": 7,
        "pass": 5,
        "block": 2,
        "undecided": 0,
        "missing": 1,
        "pass_rate": 5 / 7,
        "scorers": [
            {"name": "says-ok", "type": "contains", "passed": 3},
            {"name": "has-a", "type": "json-schema", "passed": 2},
            {"name": "length-range-2", "type": "length-range", "passed": 5},
        ],
    }
    empty = GATE.score_batch([])
    assert (len(empty), empty.summary()["pass_rate"]) == (0, None)


def test_undecided_rows_have_no_passed() -> None:
    gate = Gate({"scorers": [{"type": "contains", "value": "a"}], "judge": {"task": "?"}})
    batch = gate.score_batch(["a", "b", None])
    assert batch.columns["passed"] == [True, None, False]
    assert batch["verdict"] == ["pass", "undecided", "block"]
    assert batch["verdict_code"].tolist() == [1, 2, 0]
    assert repr(batch) == "<BatchResult 3 rows: 1 pass, 1 block, 1 undecided>"


def test_shared_names_are_told_apart() -> None:
    scorer = {"type": "contains", "value": "a", "name": "x"}
    columns = Gate({"scorers": [scorer, scorer]}).score_batch(["a"]).columns
    assert {"x[0].passed", "x[1].passed"} <= set(columns)


def test_details_only_when_wanted() -> None:
    kept = GATE.score_batch(["no"])[0]
    dropped = GATE.score_batch(["no"], details="none")[0]
    assert [r.detail for r in kept.results] == [
        'target does not contain "ok"',
        "target is not valid JSON",
        None,
    ]
    assert [r.detail for r in dropped.results] == [None, None, None]
    assert [r.passed for r in kept.results] == [r.passed for r in dropped.results]
    with pytest.raises(ValueError, match=r"details: must be one of failed\|none"):
        GATE.score_batch([], details="some")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [1, b"x", ["x"], 1.5])
def test_other_types_name_their_index(bad: Any) -> None:
    kind = type(bad).__name__
    with pytest.raises(TypeError, match=rf"texts\[70001\]: expected str or None, got {kind}"):
        GATE.score_batch(["x"] * 70_001 + [bad])
    with pytest.raises(TypeError, match="expected a list of str, got one text"):
        GATE.score_batch("one text")
    with pytest.raises(ValueError, match="threads: must be at least 1"):
        GATE.score_batch(["x"], threads=0)
    with pytest.raises(ValueError, match="rows: 1 rows for 2 texts"):
        GATE.score_batch(["x", "y"], [{}])


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_order_does_not_depend_on_threads(threads: int) -> None:
    rng = random.Random(threads)
    texts = [rng.choice(TEXTS) for _ in range(70_003)]
    batch = GATE.score_batch(texts, threads=threads)
    wanted = {text: GATE.score(text) for text in TEXTS}
    assert len(batch) == len(texts)
    assert batch.columns["combined"].tolist() == [wanted[text].combined for text in texts]
    for i in rng.sample(range(len(texts)), 500):
        assert batch[i] == wanted[texts[i]]


def test_any_iterable_is_taken() -> None:
    assert [r.verdict for r in GATE.score_iter(iter(TEXTS))] == [
        r.verdict for r in GATE.score_batch(tuple(TEXTS))
    ]
    endless = iter(lambda: "ok", None)
    results = GATE.score_iter(endless)
    assert next(results).passed
    assert next(results).passed


def test_a_state_of_another_gate_is_refused() -> None:
    spec, untrusted, state, _ = GATE.score_batch(TEXTS).__reduce__()[1]
    assert len(BatchResult(spec, untrusted, state)) == 7
    for other in ['{"scorers": [{"type": "contains", "value": "a"}]}']:
        with pytest.raises(ValueError, match="columns: not of this gate"):
            BatchResult(other, untrusted, state)
    for broken in [(state[0][:-1], *state[1:]), (*state[:5], [(0, 9, "x")], *state[6:])]:
        with pytest.raises(ValueError, match="columns: not of this gate"):
            BatchResult(spec, untrusted, broken)


class Loud(str):
    __slots__ = ()


def test_subclasses_of_str_are_texts() -> None:
    assert GATE.score(Loud("ok")) == GATE.score("ok")
    assert GATE.score_batch([Loud("ok")])[0] == GATE.score("ok")


def test_rows_are_read_as_mappings() -> None:
    assert len(GATE.score_batch(["x", "y"], [{"id": 1}, None])) == 2
    with pytest.raises(TypeError, match="row: keys must be str"):
        GATE.score("x", {1: 2})  # type: ignore[dict-item]


def test_impure_columns_fill_their_scorers() -> None:
    spec = {
        "scorers": [
            {"type": "contains", "value": "a"},
            {"type": "code-compiles", "language": "javascript"},
        ]
    }
    gate = NativeGate(spec)
    assert gate.impure() == [(1, "code-compiles")]
    alone = gate.score("a")
    assert (
        alone.results[1].detail == "code-compiles must be evaluated by the runtime (impure scorer)"
    )
    column = [
        ScorerResult("x", "code-compiles", True, 0.5),
        ScorerResult("x", "code-compiles", False, detail="no"),
    ]
    batch = gate.score_batch(["a", "a"], impure={1: column})
    assert [r.verdict for r in (batch[0], batch[1])] == ["pass", "block"]
    assert batch[0].results[1] == ScorerResult("code-compiles-1", "code-compiles", True, 0.5)
    assert batch[1].results[1].detail == "no"
    with pytest.raises(IndexError, match="scorer 0 is not impure"):
        gate.score_batch(["a"], impure={0: column})
    with pytest.raises(ValueError, match=r"impure\[1\]: 2 results for 1 texts"):
        gate.score_batch(["a"], impure={1: column})


def test_many_threads_share_a_gate() -> None:
    wanted = [GATE.score(text) for text in TEXTS]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: [GATE.score(text) for text in TEXTS], range(200)):
            assert found == wanted


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_children_score_after_the_parent_has(method: str) -> None:
    assert GATE.score_batch(["ok"] * 5000, threads=4).summary()["pass"] == 5000
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        batches = [pool.submit(GATE.score_batch, ["ok"] * 5000) for _ in range(4)]
        for batch in batches:
            assert batch.result(timeout=30).summary()["pass"] == 5000


def test_a_fork_during_a_batch_is_safe() -> None:
    texts = ["ok " * 50] * 200_000
    worker = threading.Thread(target=lambda: GATE.score_batch(texts, threads=2))
    worker.start()
    pids = []
    for _ in range(5):
        pid = os.fork()
        if pid == 0:
            ok = GATE.score_batch(["ok"] * 2000, threads=2).summary()["pass"] == 2000
            os._exit(0 if ok else 1)
        pids.append(pid)
    worker.join()
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * 5


def test_thread_count_comes_from_the_environment() -> None:
    code = "import scoregate; g = scoregate.Gate({'scorers': [{'type': 'contains', 'value': 'x'}]}); print(len(g.score_batch(['x'] * 3000)))"
    for name in ("SCOREGATE_NUM_THREADS", "RAYON_NUM_THREADS"):
        env = {**os.environ, name: "3"}
        out = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert out.stdout == "3000\n"


def test_ctrl_c_ends_a_batch() -> None:
    code = (
        "import scoregate, sys\n"
        "g = scoregate.Gate({'scorers': [{'type': 'contains', 'value': 'nowhere'}]})\n"
        "t = ['some text that is searched ' * 400] * 60000\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    g.score_batch(t, threads=2)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in err


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("x", "s.Gate({'scorers': [{'type': 'contains', 'value': 'y'}]}).score_batch(texts)"),
        ("VERDICT: PASS", "s.parse_verdict_batch(texts)"),
        ("VERDICT: PASS", "s.parse_verdict_batch(texts, threads=1)"),
        ("SCORE: 0.9", "s.parse_judge_batch(texts)"),
        ("WINNER: 2", "s.parse_winner_batch(texts, 3)"),
        ("WINNER: 2", "s.parse_winner_batch(texts, [3] * len(texts))"),
        ('{"a": 1}', "s.extract_json_batch(texts)"),
        ('{"a": 1}', "s.extract_json_batch(texts, threads=1, as_text=True)"),
    ],
)
def test_ctrl_c_ends_every_batch_before_its_time(text: str, call: str) -> None:
    code = (
        "import scoregate as s, time\n"
        f"texts = [{text!r}] * 3_000_000\n"
        "start = time.monotonic()\n"
        f"{call}\n"
        "print(time.monotonic() - start, flush=True)\n"
        "try:\n"
        f"    {call}\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', flush=True)\n"
    )
    argv = [sys.executable, "-c", code]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        whole = float(process.stdout.readline())
        time.sleep(whole / 10)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        waited = time.monotonic() - start
    assert waited < whole / 2 + 0.1
    assert process.returncode == 0


@pytest.mark.parametrize("rows", [60, 1500])
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_waits_for_few_slow_rows(threads: int, rows: int) -> None:
    code = (
        "import scoregate, sys\n"
        "threads, rows = map(int, sys.argv[1:])\n"
        # Backreferences that meet the budget: some hundredths of a second a row.
        "pattern = r'^(?:(a|aa)+)\\1{3}[bc]*$'\n"
        "scorers = [{'type': 'regex', 'pattern': pattern[:-1] + 'x?' * i + '$'} for i in range(8)]\n"
        "gate = scoregate.Gate({'scorers': scorers})\n"
        "texts = ['fast'] * 40 + ['a' * 61 + 'b' * i + 'd' for i in range(rows)]\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    gate.score_batch(texts, threads=threads)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', flush=True)\n"
    )
    argv = [sys.executable, "-c", code, str(threads), str(rows)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.4)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        waited = time.monotonic() - start
    # A row may take 0.5 s on a busy machine; the whole batch takes longer than the test may.
    assert waited < 3


@settings(max_examples=200, deadline=None)
@given(st.lists(st.none() | st.text(st.characters(), max_size=40), max_size=30))
def test_any_texts_are_scored(texts: list[str | None]) -> None:
    batch = GATE.score_batch(texts)
    for i, text in enumerate(texts):
        single = GATE.score(text)
        assert batch[i] == single
        if text is not None:
            assert single.results[0].passed is ("ok" in text)
            units = len(text.encode("utf-16-le", "surrogatepass")) // 2
            assert single.results[2].passed is (units <= 20)


def test_a_slice_is_a_list_of_results() -> None:
    batch = GATE.score_batch(["ok", "no", None, "ok 2"])
    rows = list(batch)
    for at in (slice(0, 1), slice(None), slice(None, None, -1), slice(3, 0, -2), slice(9, 12)):
        assert batch[at] == rows[at]
    with pytest.raises(IndexError):
        batch[4]
    with pytest.raises(TypeError):
        batch[1.5]  # type: ignore[call-overload]


def test_one_text_is_no_iterable_of_texts() -> None:
    for text in ("xy", b"xy"):
        with pytest.raises(TypeError, match="expected a list of str, got one text"):
            GATE.score_iter(text)  # type: ignore[arg-type]
