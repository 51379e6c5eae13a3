"""``run``, ``gate``, ``graph`` and ``check`` of flows."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

FLOW = {
    "name": "f",
    "args": {"what": {"default": "users"}},
    "phases": [
        {"id": "generate", "agent": "writer", "task": "List {args.what}."},
        {
            "id": "check",
            "type": "gate",
            "dependsOn": ["generate"],
            "score": {
                "scorers": [{"type": "contains", "value": "ok"}],
                "judge": {"agent": "reviewer", "task": "Fine?"},
            },
        },
        {"id": "report", "dependsOn": ["check"], "task": "{steps.check.json.verdict}"},
    ],
}

ECHO = "import sys; print(sys.stdin.read().split('\\n')[0])"


def agent(code: str, *arguments: str) -> str:
    words = [f'"{argument}"' for argument in arguments]
    return " ".join([f'cmd:"{sys.executable}" -c "{code}"', *words])


@pytest.fixture
def flow(cli: Any) -> str:
    name: str = cli.write("flow.json", json.dumps(FLOW))
    return name


def test_run(cli: Any, flow: str) -> None:
    says = agent("print('ok')")
    ran = cli("run", flow, "--agent", f"writer={says}", "--agent", agent(ECHO))
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert [line.split(" ")[:2] for line in lines[:3]] == [
        ["generate:", "done"],
        ["check:", "done"],
        ["report:", "done"],
    ]
    assert lines[0].endswith(" tokens")
    assert lines[1].endswith(", pass by scorers")
    assert lines[3].startswith("done: 3 done; 2 calls, ")
    assert ran.err == ""


def test_run_as_json(cli: Any, flow: str) -> None:
    says = agent("print('bad')")
    blocks = agent("print('VERDICT: BLOCK')")
    given = ["--agent", f"writer={says}", "--agent", f"reviewer={blocks}", "--arg", "what=dogs"]
    ran = cli("run", flow, *given, "--json", "--record", "record")
    assert ran.code == 1
    (found,) = ran.rows
    assert found["status"] == "blocked"
    states = {state["id"]: state for state in found["phases"]}
    assert [state["status"] for state in states.values()] == ["done", "blocked", "skipped"]
    assert states["check"]["json"]["judge"]["score"] == 0.0
    assert "note: no agent is given for default; see --agent\n" in ran.err
    assert "check: blocked in " in ran.err
    # What failed runs again; arguments are the record's.
    passes = agent("print('VERDICT: PASS')")
    given = ["--agent", f"reviewer={passes}", "--agent", agent(ECHO)]
    again = cli("run", flow, *given, "--json", "--record", "record", "--resume")
    assert (again.code, again.rows[0]["status"]) == (0, "done")
    assert again.rows[0]["phases"][2]["output"] == "pass\n"
    ran = cli("run", flow, *given, "--record", "record")
    assert (ran.code, ran.err.count("holds a run; resume it")) == (3, 1)
    mermaid = cli("graph", flow, "--record", "record").out
    assert "class n2 done" in mermaid


def test_a_failed_phase_ends_with_3(cli: Any, flow: str) -> None:
    ran = cli("run", flow, "--agent", agent("raise SystemExit(1)"))
    assert ran.code == 3
    words = "generate: failed"
    assert ran.out.startswith(words)
    assert "the command ended with exit code 1" in ran.out
    assert "check: skipped: Phase 'generate' failed: " in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", "nobody"], "--agent: must be openai:MODEL or cmd:COMMAND"),
        (["--agent", "a=cmd:x y", "--agent", "a=cmd:z"], "--agent: "),
        (["--agent", "cmd:/no/such/program"], "--agent: cmd:program: there is no such command"),
        (["--arg", "what"], "--arg: expected NAME=TEXT, got 'what'"),
        (["--arg", "waht=x"], "--arg: the flow has no argument 'waht'; did you mean 'what'?"),
        (["--resume"], "--resume needs --record"),
    ],
)
def test_what_cannot_be_used(cli: Any, flow: str, arguments: list[str], words: str) -> None:
    ran = cli("run", flow, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert f"error: {words}" in ran.err


def test_gate_scores_recorded_outputs(cli: Any, flow: str) -> None:
    cli.write(
        "outputs.jsonl",
        '{"id": "x", "output": "ok"}\n\n{"output": "bad"}\n{"id": 7, "output": null}\n',
    )
    ran = cli("gate", flow, "--phase", "check", "--step", "generate=@outputs.jsonl")
    assert ran.code == 0, ran.err
    rows = ran.rows
    assert [(row["id"], row["verdict"]) for row in rows] == [
        ("x", "pass"),
        (2, "undecided"),
        (7, "block"),
    ]
    assert rows[0]["decided_by"] == "scorers"
    assert rows[1]["reason"] == "judge failed: there is no agent 'reviewer'"
    assert ran.err == "note: 3 outputs: 1 pass, 1 block, 1 undecided\n"
    blocks = agent("print('VERDICT: BLOCK')")
    options = ["--agent", f"reviewer={blocks}", "-o", "out.jsonl"]
    ran = cli("gate", flow, "--phase", "check", "--step", "generate=@outputs.jsonl", *options)
    lines = [json.loads(line) for line in (cli.folder / "out.jsonl").read_text().splitlines()]
    assert [row["verdict"] for row in lines] == ["pass", "block", "block"]
    one = cli("gate", flow, "--phase", "check", "--step", "generate=all ok")
    assert [row["verdict"] for row in one.rows] == ["pass"]


def test_gate_says_what_is_wrong(cli: Any, flow: str) -> None:
    cli.write("bad.jsonl", '{"output": "ok"}\n{"text": "ok"}\n')
    for arguments, code, words in (
        (["--phase", "chek", "--step", "generate=x"], 2, "'chek' is no phase (gates: check)"),
        (["--phase", "report", "--step", "generate=x"], 2, "'report' is no gate phase"),
        (["--phase", "check", "--step", "genrate=x"], 2, "expected ID=@FILE or ID=TEXT"),
        (["--phase", "check", "--step", "generate=@no.jsonl"], 3, "no.jsonl: no such file"),
        (
            ["--phase", "check", "--step", "generate=@bad.jsonl"],
            3,
            "bad.jsonl:2: expected an object",
        ),
    ):
        ran = cli("gate", flow, *arguments)
        assert (ran.code, words in ran.err) == (code, True), ran.err


def test_graph(cli: Any, flow: str) -> None:
    ran = cli("graph", flow)
    assert ran.out == (
        "flowchart TD\n"
        '  n0["generate"]\n'
        '  n1{{"check"}}\n'
        '  n2["report"]\n'
        "  n0 --> n1\n"
        "  n1 --> n2\n"
    )
    assert cli("graph", flow, "-o", "flow.svg").code == 0
    image = ElementTree.parse(cli.folder / "flow.svg").getroot()
    texts = [one.text for one in image.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["generate", "agent", "check", "gate", "report", "agent"]


def test_check_tells_every_error_with_its_place_and_the_nearest_name(cli: Any) -> None:
    text = json.dumps(FLOW, indent=2).replace(
        '"dependsOn": [\n        "generate"', '"dependsOn": [\n        "genrate"'
    )
    text = text.replace('"agent": "writer"', '"agnet": "writer"')
    cli.write("bad.json", text)
    for command in (["check"], ["run"], ["graph"], ["gate", "--phase", "check", "--step", "a=b"]):
        ran = cli(command[0], "bad.json", *command[1:])
        assert ran.code == 2
        errors = [line for line in ran.err.splitlines() if not line.startswith("hint")]
        assert errors[0].startswith("error: bad.json:11:7: Phase 'generate': agnet: unknown field")
        assert errors[1].startswith(
            "error: bad.json:18:9: Phase 'check': dependsOn[0]: there is no phase 'genrate'"
        )
        hints = [line for line in ran.err.splitlines() if line.startswith("hint")]
        assert hints == ["hint: did you mean 'agent'?", "hint: did you mean 'generate'?"]


def test_check_of_a_flow_without_score_blocks(cli: Any) -> None:
    cli.write("flow.json", json.dumps({"name": "f", "phases": [{"id": "a", "task": "x {y}"}]}))
    ran = cli("check", "flow.json")
    assert (ran.code, ran.out) == (0, "ok: flow.json: a flow of 1 phase\n")
    assert "Phase 'a': task: {y} stands for nothing" in ran.err
    assert cli("check", "flow.json", "--strict").code == 1


def test_an_untrusted_flow_is_refused(cli: Any) -> None:
    spec = {"name": "f", "phases": [{"id": "s", "type": "script", "run": ["ls"]}]}
    cli.write("flow.json", json.dumps(spec))
    ran = cli("run", "flow.json", "--untrusted")
    assert (ran.code, ran.out) == (2, "")
    assert "Phase 's': type: an untrusted flow runs no script" in ran.err
    assert cli("run", "flow.json").code == 0
