"""The flows of the document that gates come from, as printed there, with a command as agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from scoregate.flow import Flow

from ..conftest import DATA, ROOT
from .support import BAD, GOOD, command, run, statuses

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = DATA / "flow" / "document"

#: Answers by what the prompt asks for, and keeps each prompt.
AGENT = """
import sys
prompt = sys.stdin.read()
with open({log!r}, "a") as log:
    log.write(prompt.split("\\n")[0] + "\\n")
if prompt.startswith("Generate"):
    print({generated!r})
elif prompt.startswith("The gate verdict was"):
    print("Report: " + prompt)
else:
    print({judged!r})
"""


def agent(folder: Path, generated: str, judged: str = "VERDICT: PASS") -> str:
    log = str(folder / "log.txt")
    return command(folder, AGENT.format(log=log, generated=generated, judged=judged))


def prompts(folder: Path) -> list[str]:
    return (folder / "log.txt").read_text().splitlines()


def printed(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


GENERATE = printed("complete")["phases"][0]
WHOLE = [pytest.param(name, id=name) for name in ("running-example", "complete")]
PHASES = [pytest.param(name, id=name) for name in ("quality", "check-json", "report")]


def with_phase(name: str) -> Flow:
    """A flow around a phase that is printed alone."""
    phases = [*printed("complete")["phases"]] if name == "report" else [GENERATE]
    return Flow({"name": "validate", "phases": [*phases, printed(name)]})


@pytest.mark.parametrize("name", WHOLE)
def test_a_flow_validates_and_runs(name: str, tmp_path: Path) -> None:
    flow = Flow.from_file(FOLDER / f"{name}.json")
    assert flow.validate() == []
    assert flow.warnings() == []
    result = run(flow, agent(tmp_path, GOOD))
    assert statuses(result) == {"generate": "done", "check-response": "done"}
    assert len(prompts(tmp_path)) == 1
    assert result["check-response"].usage.calls == 0
    assert result["check-response"].output == "PASS (scorers passed — no LLM call)"


@pytest.mark.parametrize("name", PHASES)
def test_a_phase_validates_and_runs_in_its_flow(name: str, tmp_path: Path) -> None:
    flow = with_phase(name)
    assert flow.validate() == []
    inner = json.dumps({"response": json.loads(GOOD)})
    result = run(flow, agent(tmp_path, inner if name == "check-json" else GOOD))
    assert set(statuses(result).values()) == {"done"}
    assert len(prompts(tmp_path)) == (2 if name == "report" else 1)


def test_the_first_gate_falls_back_to_its_task(tmp_path: Path) -> None:
    flow = Flow.from_file(FOLDER / "running-example.json")
    result = run(flow, agent(tmp_path, BAD, "I see none.\nVERDICT: BLOCK"))
    assert statuses(result) == {"generate": "done", "check-response": "blocked"}
    assert prompts(tmp_path)[1:] == [printed("running-example")["phases"][1]["task"]]
    assert result.status == "blocked"


def complete() -> Flow:
    return Flow.from_file(ROOT / "examples" / "flow.json")


def test_the_example_is_the_printed_one() -> None:
    spec = complete().spec
    assert spec["phases"][:2] == printed("complete")["phases"]
    assert spec["phases"][2] == printed("report")
    assert complete().validate() == []


def test_a_good_output_passes_without_a_call_of_the_judge(tmp_path: Path) -> None:
    result = run(complete(), agent(tmp_path, GOOD))
    asked = [line.split(" ")[0] for line in prompts(tmp_path)]
    assert asked == ["Generate", "The"]
    report = "Report: The gate verdict was pass with a combined score of 1. Summarize."
    assert (result["report"].output or "").strip() == report


@pytest.mark.parametrize(
    ("judged", "status"),
    [('{"score": 0.9, "verdict": "pass"}', "done"), ("VERDICT: BLOCK", "blocked")],
)
def test_a_bad_output_is_for_the_judge(judged: str, status: str, tmp_path: Path) -> None:
    result = run(complete(), agent(tmp_path, BAD, judged))
    assert prompts(tmp_path)[1] == "Is this a reasonable API response even if some checks failed?"
    state = result["check-response"]
    assert (state.status, state.usage.calls) == (status, 1)
    assert state.gate is not None
    assert state.gate["judge"]["score"] == (0.9 if status == "done" else 0.0)
    if status == "done":
        report = "Report: The gate verdict was pass with a combined score of 0. Summarize."
        assert (result["report"].output or "").strip() == report
    else:
        assert result["report"].status == "skipped"
        assert result["report"].reason == "Gate blocked: the judge's verdict is block"
        assert len(prompts(tmp_path)) == 2


def test_what_a_gate_says_is_there_downstream(tmp_path: Path) -> None:
    flow = complete().spec
    names = ["verdict", "combined", "results.0.passed", "results.length", "threshold"]
    names += ["judge.score", "judge.reason"]
    task = "\n".join(f"{{steps.check-response.json.{name}}}" for name in names)
    flow["phases"][2]["task"] = f"The gate verdict was\n{task}"
    judged = '{"score": 0.9, "verdict": "pass", "reason": "fine"}'
    result = run(Flow(flow), agent(tmp_path, BAD, judged))
    found = (result["report"].output or "").strip().split("\n")[1:]
    assert found == ["pass", "0", "false", "4", "0.7", "0.9", "fine"]
