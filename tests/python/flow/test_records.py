"""Records: a run that is killed goes on, and comes to what it would have come to."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from scoregate import InputError
from scoregate.flow import Flow, FlowResult, read_record

from .support import SCORERS, Script, flow, run

if TYPE_CHECKING:
    from pathlib import Path

#: Runs a flow in a process of its own; each call is logged, synced, before it is answered.
RUNNER = """
import asyncio, json, os, sys
from scoregate.flow import Flow

folder, seconds = sys.argv[1], float(sys.argv[2])
log = os.open(os.path.join(folder, "calls.txt"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

async def agent(prompt):
    os.write(log, (prompt.split()[0] + "\\n").encode())
    await asyncio.sleep(seconds)
    if prompt.startswith("w") and "[FAIL]" not in prompt:
        return "bad " + prompt
    return "ok " + prompt

flow = Flow.from_file(os.path.join(folder, "flow.json"))
print("ready", flush=True)
asyncio.run(flow.run(agent, {"x": 1}, record=os.path.join(folder, "record"), resume=True))
"""


def big() -> dict[str, Any]:
    """Chains that meet in gates, of which some have to be mended."""
    phases: list[dict[str, Any]] = []
    for chain in range(8):
        before: list[str] = []
        for link in range(10):
            id = f"c{chain}-{link}"
            task = f"{id} {{args.x}}" + (f" {{steps.{before[0]}.output}}" if before else "")
            phases.append({"id": id, "task": task, "dependsOn": before})
            before = [id]
        phases += [
            {"id": f"w{chain}", "task": f"w{chain} {{reflexion}}", "dependsOn": before},
            {
                "id": f"g{chain}",
                "type": "gate",
                "dependsOn": [f"w{chain}"],
                "score": {"scorers": SCORERS},
                "onBlock": "retry",
            },
        ]
    phases.append({"id": "end", "task": "end", "dependsOn": [f"g{chain}" for chain in range(8)]})
    return {"name": "big", "phases": phases, "concurrency": 3}


def outcome(result: FlowResult) -> dict[str, Any]:
    return {
        id: (s.status, s.output, s.json, s.gate, s.reason, s.warnings)
        for id, s in result.phases.items()
    }


async def twin(prompt: str) -> str:
    """The agent of the runner."""
    if prompt.startswith("w") and "[FAIL]" not in prompt:
        return "bad " + prompt
    return "ok " + prompt


def test_a_run_that_is_killed_ten_times_goes_on(tmp_path: Path) -> None:
    (tmp_path / "flow.json").write_text(json.dumps(big()))
    whole = run(Flow(big()), twin, args={"x": 1})
    assert whole.status == "done"
    chance = random.Random(15)
    record = tmp_path / "record"
    done: dict[str, int] = {}
    kills = 0
    argv = [sys.executable, "-c", RUNNER, str(tmp_path), "0.02"]
    while kills < 10 or (not done and kills < 30):
        log = tmp_path / "calls.txt"
        before = log.read_text().split() if log.exists() else []
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(chance.uniform(0.0, 0.06))
            process.send_signal(signal.SIGKILL)
            process.wait()
        kills += 1
        called = log.read_text().split()[len(before) :] if log.exists() else []
        assert not [id for id in called if id in done], "a done phase ran again"
        # What is done stays done, but for phases that a gate has done again.
        done = {
            id: state.attempts
            for id, state in (read_record(record) if _begun(record) else {}).items()
            if state.status == "done" and not id.startswith("w")
        }
    assert 0 < len(done) < len(big()["phases"]), "the kills came at no telling moments"
    calls: list[str] = []

    async def agent(prompt: str) -> str:
        calls.append(prompt.split()[0])
        return await twin(prompt)

    result = asyncio.run(Flow(big()).run(agent, record=record, resume=True))
    assert not [id for id in calls if id in done]
    assert outcome(result) == outcome(whole)
    again = Script()
    assert outcome(run(Flow(big()), again, record=record, resume=True)) == outcome(whole)
    assert again.calls == 0


def _begun(record: Path) -> bool:
    file = record / "run.jsonl"
    return file.exists() and b"\n" in file.read_bytes()


def states(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "run.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_each_change_is_a_line(tmp_path: Path) -> None:
    made = flow({"id": "a", "task": "x"}, {"id": "b", "task": "y {args.n}", "dependsOn": ["a"]})
    run(made, Script("\ud800 é"), args={"n": 1}, record=tmp_path)
    lines = states(tmp_path)
    assert lines[0]["args"] == {"n": 1}
    changes = [(line["id"], line["status"]) for line in lines[1:-1]]
    assert changes == [("a", "running"), ("a", "done"), ("b", "running"), ("b", "done")]
    assert lines[-1]["end"] == "done"
    assert lines[2]["output"] == "\ud800 é"


def test_lines_are_synced_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[float] = []
    real = os.fsync

    def fsync(file: int) -> None:
        synced.append(time.monotonic())
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    chain = [
        {"id": f"p{i}", "task": "x", **({"dependsOn": [f"p{i - 1}"]} if i else {})}
        for i in range(30)
    ]

    async def agent(prompt: str) -> str:
        await asyncio.sleep(0.01)
        return "ok"

    began = time.monotonic()
    run(flow(*chain), agent, record=tmp_path)
    took = time.monotonic() - began
    assert len(states(tmp_path)) == 62
    # One in every 50 ms at most, and the last at the end.
    assert 2 <= len(synced) <= took / 0.05 + 2


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_a_line_that_is_cut_is_none(cut: int, tmp_path: Path) -> None:
    made = flow({"id": "a", "task": "x"}, {"id": "b", "task": "y", "dependsOn": ["a"]})
    run(made, Script("1", "2"), record=tmp_path)
    file = tmp_path / "run.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:4]) + lines[4][:-cut])
    agent = Script("again")
    result = run(made, agent, record=tmp_path, resume=True)
    assert (agent.prompts, result["a"].output, result["b"].output) == (["y"], "1", "again")
    assert [line.get("end") for line in states(tmp_path)][-1] == "done"
    assert run(made, Script(), record=tmp_path, resume=True)["b"].output == "again"


def test_what_failed_runs_again(tmp_path: Path) -> None:
    made = flow(
        {"id": "a", "task": "x"},
        {"id": "g", "type": "gate", "dependsOn": ["a"], "task": "Fine?"},
        {"id": "b", "task": "y", "dependsOn": ["g"]},
    )
    first = run(made, Script("1", "VERDICT: BLOCK"), record=tmp_path)
    assert first["b"].status == "skipped"
    agent = Script("VERDICT: PASS", "end")
    result = run(made, agent, record=tmp_path, resume=True)
    assert (result.status, agent.prompts) == ("done", ["Fine?", "y"])


def test_a_record_is_of_one_run(tmp_path: Path) -> None:
    made = flow({"id": "a", "task": "x {args.n}"})
    run(made, Script("1"), args={"n": 1}, record=tmp_path)
    other = flow({"id": "a", "task": "other"})
    with pytest.raises(InputError, match="holds a run; resume it"):
        run(made, Script("1"), record=tmp_path)
    with pytest.raises(InputError, match="record of another flow"):
        run(other, Script("1"), record=tmp_path, resume=True)
    with pytest.raises(InputError, match="other arguments"):
        run(made, Script("1"), args={"n": 2}, record=tmp_path, resume=True)
    # The arguments are the record's where none are given.
    assert run(made, Script(), record=tmp_path, resume=True).status == "done"
    (tmp_path / "run.jsonl").write_text("no record\n")
    with pytest.raises(InputError, match=r"run\.jsonl:1: is no line of a record"):
        run(made, Script("1"), record=tmp_path, resume=True)
    with pytest.raises(InputError, match="cannot be read"):
        read_record(tmp_path / "absent")


def test_two_runs_do_not_share_a_record(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    made = flow({"id": "a", "task": "x"})

    async def main() -> None:
        started, go_on = asyncio.Event(), asyncio.Event()

        async def agent(prompt: str) -> str:
            started.set()
            await go_on.wait()
            return "ok"

        first = asyncio.create_task(made.run(agent, record=tmp_path))
        await started.wait()
        with pytest.raises(InputError, match="another run writes to it"):
            await made.run(agent, record=tmp_path, resume=True)
        go_on.set()
        assert (await first).status == "done"

    asyncio.run(main())
